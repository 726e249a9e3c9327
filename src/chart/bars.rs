//! Horizontal stacked bars in groups, one scale from 0 a group.
//!
//! A group compares one quantity (FLOPs, bytes read, ...) between scenarios; a row is a scenario and a segment its
//! component. The length of a bar is its total; a component too small to see still gets one pixel, taken from the
//! largest one beside it.

use plotters::backend::DrawingBackend;

use super::paint::Painter;
use super::rect::Rect;
use super::scale::Linear;
use super::text::{self, Align, BODY, SMALL, Text, Tone};
use super::theme::{Colour, Theme};
use super::{Failure, Frame};

/// Height of a bar, and the distance from one to the next.
const BAR: f64 = 18.0;
const PITCH: f64 = 26.0;
/// Height of a heading, and the distance between groups.
const HEADING: f64 = 22.0;
const GAP: f64 = 10.0;
/// Distance between a text and its bar.
const SPACE: f64 = 8.0;
/// The narrowest area that a pointer finds.
const REACH: f64 = 6.0;

/// A chart of stacked bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// The groups, from top to bottom.
    pub groups: Vec<BarGroup>,
    /// A hairline between segments, for those of similar colours.
    pub parted: bool,
}

/// Bars that share a unit and a scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarGroup {
    /// What is compared, and its unit: "FLOPs, T".
    pub heading: String,
    /// One bar a row.
    pub rows: Vec<BarRow>,
}

/// One bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarRow {
    /// A short bold mark before the label ("A"), the same as in other charts; may be empty.
    pub key: String,
    /// What the bar stands for; elided if too long.
    pub label: String,
    /// The parts, from the left; values that are not positive numbers count as 0.
    pub segments: Vec<Segment>,
    /// The text beside the bar.
    pub total: String,
}

/// One part of a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Its size, in the unit of the group.
    pub value: f64,
    /// Its fill.
    pub colour: Colour,
    /// What it stands for; not drawn, but at hand for whoever draws a tooltip.
    pub label: String,
}

impl Segment {
    fn size(&self) -> f64 {
        if self.value.is_finite() { self.value.max(0.0) } else { 0.0 }
    }
}

/// Where a segment can be pointed at, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// As high as its row, and never too narrow to hit.
    pub area: Rect,
    /// Place in [`Bars::groups`].
    pub group: usize,
    /// Place in [`BarGroup::rows`].
    pub row: usize,
    /// Place in [`BarRow::segments`].
    pub segment: usize,
}

/// The height in CSS pixels that the chart needs at any width.
#[must_use]
pub fn height(bars: &Bars) -> f64 {
    let group = |group: &BarGroup| heading_height(group) + PITCH * group.rows.len() as f64;
    let gaps = GAP * bars.groups.len().saturating_sub(1) as f64;
    bars.groups.iter().map(group).sum::<f64>() + gaps
}

/// Draws the chart. The regions returned come narrowest first: the first that holds the pointer is the one meant.
///
/// # Errors
///
/// Passes on what the backend returns.
pub fn draw<DB: DrawingBackend>(
    backend: &mut DB,
    frame: &Frame,
    theme: &Theme,
    bars: &Bars,
) -> Result<Vec<Region>, Failure<DB>> {
    if frame.is_empty() {
        return Ok(Vec::new());
    }
    let layout = layout(bars, frame.width);
    let mut painter = Painter::start(frame, theme);
    for (area, colour) in &layout.fills {
        painter.rect(area, *colour);
    }
    for area in layout.fills.iter().map(|(area, _)| area).filter(|area| bars.parted && area.width() > 3.0) {
        painter.line((area.x1, area.y0), (area.x1, area.y1), 1.0, theme.surface);
    }
    for base in &layout.bases {
        painter.line((base.x0, base.y0), (base.x0, base.y1), 1.0, theme.muted);
    }
    for text in &layout.texts {
        painter.text(text);
    }
    painter.finish(backend)?;
    Ok(layout.regions)
}

#[derive(Debug, Default)]
struct Layout {
    fills: Vec<(Rect, Colour)>,
    bases: Vec<Rect>,
    texts: Vec<Text>,
    regions: Vec<Region>,
}

fn layout(bars: &Bars, width: f64) -> Layout {
    let columns = Columns::fit(bars, width);
    let mut layout = Layout::default();
    let mut top = 0.0;
    for (place, group) in bars.groups.iter().enumerate() {
        if !group.heading.is_empty() {
            let heading = text::elide(&group.heading, SMALL, width);
            layout.texts.push(Text::new(heading, (0.0, top + 9.0), Align::Start, SMALL, Tone::Muted));
        }
        top += heading_height(group);
        layout.group(&columns, place, group, top);
        top += PITCH * group.rows.len() as f64 + GAP;
    }
    super::order::sort(&mut layout.regions, |a, b| a.area.width().total_cmp(&b.area.width()));
    layout
}

impl Layout {
    fn group(&mut self, columns: &Columns, place: usize, group: &BarGroup, top: f64) {
        let sums = group.rows.iter().map(|row| row.segments.iter().map(Segment::size).sum());
        let scale = Linear::fit(sums).over(columns.bar, columns.end);
        for (row, content) in group.rows.iter().enumerate() {
            let y = top + PITCH * row as f64;
            let middle = y + PITCH / 2.0;
            let mut x = columns.bar;
            for (segment, (part, width)) in content.segments.iter().zip(lengths(content, &scale)).enumerate() {
                if width > 0.0 {
                    let fill = Rect::new(x, middle - BAR / 2.0, x + width, middle + BAR / 2.0);
                    let spare = ((REACH - width) / 2.0).max(0.0);
                    let area = Rect::new(x - spare, y, x + width + spare, y + PITCH);
                    self.fills.push((fill, part.colour));
                    self.regions.push(Region { area, group: place, row, segment });
                }
                x += width;
            }
            let body = |text, x, align| Text::new(text, (x, middle), align, BODY, Tone::Ink);
            let label = text::elide(&content.label, BODY, columns.bar - SPACE - columns.label);
            let total = text::elide(&content.total, BODY, columns.total);
            self.texts.push(body(content.key.clone(), 0.0, Align::Start).bold());
            self.texts.push(body(label, columns.label, Align::Start));
            self.texts.push(body(total, x + SPACE, Align::Start));
        }
        if !group.rows.is_empty() {
            let bottom = top + PITCH * group.rows.len() as f64;
            self.bases.push(Rect::new(columns.bar, top + 2.0, columns.bar, bottom - 2.0));
        }
        self.texts.retain(|text| !text.words.is_empty());
    }
}

/// The lengths of a row's segments: true to scale in sum, and at least a pixel each if above 0. Only a bar that has
/// fewer pixels than segments becomes longer than it should be, by less than their number.
fn lengths(row: &BarRow, scale: &Linear) -> Vec<f64> {
    let sum: f64 = row.segments.iter().map(Segment::size).sum();
    let whole = scale.at(sum) - scale.at(0.0);
    let length = |segment: &Segment| {
        let share = segment.size() / sum;
        if share > 0.0 { (share * whole).max(1.0) } else { 0.0 }
    };
    let mut lengths: Vec<f64> = row.segments.iter().map(length).collect();
    let excess = lengths.iter().sum::<f64>() - whole;
    if let Some(largest) = lengths.iter_mut().max_by(|a, b| a.total_cmp(b)) {
        *largest = (*largest - excess).max(largest.min(1.0));
    }
    lengths
}

/// Where the columns of all groups begin: labels, bars, and the room to the right that is kept for totals.
struct Columns {
    label: f64,
    bar: f64,
    end: f64,
    total: f64,
}

impl Columns {
    fn fit(bars: &Bars, width: f64) -> Self {
        let widest = |of: fn(&BarRow) -> f64| {
            bars.groups.iter().flat_map(|group| &group.rows).map(of).fold(0.0, f64::max).ceil()
        };
        let key = widest(|row| text::width(&row.key, BODY, true));
        let label = if key > 0.0 { key + 5.0 } else { 0.0 };
        let total = widest(|row| text::width(&row.total, BODY, false)).min(width * 0.4);
        let end = width - total - SPACE;
        let names = widest(|row| text::width(&row.label, BODY, false)).min(width * 0.35);
        let bar = (label + names + SPACE).min(end - 1.0).max(0.0);
        Self { label, bar, end: end.max(bar + 1.0), total }
    }
}

fn heading_height(group: &BarGroup) -> f64 {
    if group.heading.is_empty() { 0.0 } else { HEADING }
}

#[cfg(test)]
mod tests;

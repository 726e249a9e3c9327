//! Lines over a quantity that is varied: up to eight series, each named at its right end.
//!
//! A value that does not exist leaves a gap. Linear axes begin at 0, logarithmic ones of x end exactly at the data.
//! Lines that coincide share their course in stripes, so that none hides another. A place where something flips is a
//! hollow circle on the line with a few words beside it, where there is room for them.

mod course;
mod layout;
mod queue;

use plotters::backend::DrawingBackend;

use super::paint::Painter;
use super::rect::Rect;
use super::theme::{Colour, Shape, Theme};
use super::{Axes, Failure, Frame};

/// What the chart shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// The series; later ones are drawn on top.
    pub series: Vec<Line>,
    /// How x is spread.
    pub x: Spread,
    /// How y is spread.
    pub y: Spread,
}

/// How an axis spreads its values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// Evenly, from 0.
    #[default]
    Linear,
    /// By their logarithm, ticks at powers of ten; values that are not positive have no place.
    Log,
    /// By their logarithm, ticks at powers of two; of y the same as [`Spread::Log`].
    Log2,
}

/// One series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Written into the marker at its end (its first two characters): "A".
    pub key: String,
    /// Written beside that where there is room; elided if too long.
    pub label: String,
    /// Its colour.
    pub colour: Colour,
    /// Its markers.
    pub shape: Shape,
    /// x and y in the order of x; a `None`, like any other value without a place, is a gap.
    pub points: Vec<(f64, Option<f64>)>,
    /// Where something flips.
    pub flips: Vec<Flip>,
}

/// A place on a line at which something flips.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flip {
    /// Place in [`Line::points`] of the first point behind it.
    pub point: usize,
    /// What flips: "memory → compute".
    pub label: String,
}

/// What came of a drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// One band for each x that has a value, side by side, as high as the plot: for a tooltip that tells of every series.
    pub bands: Vec<Band>,
    /// Flips whose words found no room: series and place in [`Line::flips`].
    pub unlabelled: Vec<(usize, usize)>,
    /// Series whose name or marker found no room at the end.
    pub unnamed: Vec<usize>,
}

/// All that a chart says of one x.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Where it can be pointed at, in CSS pixels.
    pub area: Rect,
    /// The points with that x: one at most of each series, from the top.
    pub hits: Vec<Hit>,
}

/// A point that can be pointed at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Place in [`Lines::series`].
    pub series: usize,
    /// Place in [`Line::points`].
    pub point: usize,
    /// Where it is drawn, in CSS pixels.
    pub x: f64,
    /// Where it is drawn, in CSS pixels.
    pub y: f64,
}

impl Drawn {
    /// The point nearest to a pointer: within the band under it, the nearest in height.
    #[must_use]
    pub fn nearest(&self, x: f64, y: f64) -> Option<Hit> {
        let band = self.bands.iter().find(|band| band.area.contains(x, y))?;
        band.hits.iter().copied().min_by(|a, b| (a.y - y).abs().total_cmp(&(b.y - y).abs()))
    }
}

/// Draws the chart; without values, or without room for axes, only the empty surface.
///
/// # Errors
///
/// Passes on what the backend returns.
pub fn draw<DB: DrawingBackend>(
    backend: &mut DB,
    frame: &Frame,
    theme: &Theme,
    lines: &Lines,
    axes: &Axes<'_>,
) -> Result<Drawn, Failure<DB>> {
    let layout = layout::layout(lines, axes, frame.width, frame.height);
    if !frame.is_empty() {
        let mut painter = Painter::start(frame, theme);
        paint(&mut painter, theme, &layout);
        painter.finish(backend)?;
    }
    Ok(Drawn { bands: layout.bands, unlabelled: layout.unlabelled, unnamed: layout.unnamed })
}

fn paint(painter: &mut Painter<'_>, theme: &Theme, layout: &layout::Layout) {
    for (from, to) in &layout.grid {
        painter.line(*from, *to, 1.0, theme.grid);
    }
    for text in &layout.texts {
        painter.rect(&text.area(), theme.surface);
    }
    for (from, to) in &layout.pointers {
        painter.line(*from, *to, 1.0, theme.muted);
    }
    for leader in &layout.leaders {
        if leader.dashed {
            painter.dashes(leader.from, leader.to, 1.0, leader.colour);
        } else {
            painter.line(leader.from, leader.to, 1.0, leader.colour);
        }
    }
    for stroke in &layout.strokes {
        painter.path(&stroke.points, 2.0, stroke.colour);
    }
    for mark in &layout.marks {
        painter.fill(mark.shape, mark.centre, mark.radius, theme.surface);
        painter.outline(mark.shape, mark.centre, mark.radius, mark.colour);
    }
    for end in &layout.ends {
        painter.fill(Shape::Circle, end.centre, layout::END, end.colour);
        painter.text(&end.letter);
    }
    layout.texts.iter().for_each(|text| painter.text(text));
}

#[cfg(test)]
mod tests;

//! Where everything on the roofline stands, in CSS pixels.

use super::{Axes, Mark, Roof, Roofline, Slope};
use crate::chart::place::Placer;
use crate::chart::rect::{Point, Rect};
use crate::chart::scale::Log;
use crate::chart::text::{self, Align, SMALL, Text, Tone};
use crate::chart::theme::{Colour, Shape};

/// Radius of an emphasised marker and of any other.
const LARGE: f64 = 8.0;
const SMALL_MARK: f64 = 5.0;
/// How far a marker moves out of the way of another.
const PITCH: f64 = 19.0;
/// How much larger the outline around a coinciding one is, and how many there are at most.
const RING: f64 = 2.5;
const RINGS: u32 = 3;
/// Decades to spare beyond the outermost mark or ridge.
const SPARE: f64 = 0.15;
/// Height of a row of small text.
const ROW: f64 = 15.0;
/// The smallest area inside the axes that is worth drawing.
const LEAST: f64 = 40.0;

#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) grid: Vec<(Point, Point)>,
    pub(super) lines: Vec<Line>,
    /// From the ridge point down to the axis.
    pub(super) ridges: Vec<(Point, Point)>,
    /// In drawing order.
    pub(super) marks: Vec<Placed>,
    pub(super) texts: Vec<Text>,
    pub(super) left_out: Vec<usize>,
    pub(super) unlabelled: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Line {
    pub(super) from: Point,
    pub(super) to: Point,
    pub(super) dashed: bool,
}

/// A mark with its place.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) mark: usize,
    /// What it marks, and where its marker is: elsewhere if another marker is in the way.
    pub(super) point: Point,
    pub(super) centre: Point,
    pub(super) radius: f64,
    /// How many outlines of the same shape lie inside.
    pub(super) ring: u32,
    pub(super) shape: Shape,
    pub(super) colour: Colour,
    pub(super) emphasised: bool,
    pub(super) letter: Option<Text>,
}

impl Placed {
    fn new(place: usize, mark: &Mark, plot: &Plot, radius: f64) -> Self {
        let point = plot.at(mark.intensity, mark.rate);
        let Mark { shape, colour, emphasised, .. } = *mark;
        Self { mark: place, point, centre: point, radius, ring: 0, shape, colour, emphasised, letter: None }
    }

    pub(super) fn area(&self) -> Rect {
        Rect::around(self.centre, self.radius + 1.0)
    }
}

/// The highest roof, which the axes make room for.
struct Top {
    peak: f64,
    ridge: Option<f64>,
    /// The length of its label, or of its ridge's.
    room: f64,
}

/// The part of the chart inside the axes, with its scales.
struct Plot {
    area: Rect,
    x: Log,
    y: Log,
}

impl Plot {
    fn at(&self, intensity: f64, rate: f64) -> Point {
        (self.x.at(intensity), self.y.at(rate))
    }
}

pub(super) fn layout(roofline: &Roofline, axes: &Axes<'_>, width: f64, height: f64) -> Layout {
    let mut layout = Layout::default();
    let is_number = |value: f64| value.is_finite() && value > 0.0;
    let (points, left_out): (Vec<_>, Vec<_>) =
        roofline.points.iter().enumerate().partition(|(_, mark)| is_number(mark.intensity) && is_number(mark.rate));
    layout.left_out = left_out.into_iter().map(|(place, _)| place).collect();

    let mut roofs: Vec<&Roof> = roofline.roofs.iter().filter(|roof| is_number(roof.peak)).collect();
    crate::chart::order::sort(&mut roofs, |a, b| b.peak.total_cmp(&a.peak));
    let bandwidth = |slope: &Slope| Some(slope.bytes_per_second).filter(|rate| is_number(*rate));
    // A ridge beyond the largest number is no ridge.
    let ridge = |roof: &Roof| {
        let rate = roofline.slopes.get(roof.slope).and_then(bandwidth)?;
        Some(roof.peak / rate).filter(|ridge| is_number(*ridge))
    };
    if points.is_empty() && roofs.is_empty() {
        return layout;
    }

    let intensities = points.iter().map(|(_, mark)| mark.intensity).chain(roofs.iter().copied().filter_map(ridge));
    let rates = points.iter().map(|(_, mark)| mark.rate).chain(roofs.iter().map(|roof| roof.peak));
    let scales = (Log::fit(intensities, SPARE), Log::fit(rates, SPARE));
    let top = roofs.first().map(|roof| Top {
        peak: roof.peak,
        ridge: ridge(roof),
        room: {
            let label = width_of(&roof.label);
            let label = if label > width * 0.35 && !roof.short.is_empty() { width_of(&roof.short) } else { label };
            label.max(roof.ridge.as_deref().map_or(0.0, width_of)) + 10.0
        },
    });
    let mut placer = Placer::new(Rect::new(0.0, 0.0, width, height));
    let Some(plot) = layout.axes(&mut placer, scales, top.as_ref(), axes, (width, height)) else {
        return layout;
    };

    let slopes: Vec<(&Slope, (Point, Point))> = roofline
        .slopes
        .iter()
        .enumerate()
        .filter_map(|(place, slope)| {
            // Links meet no roof of their own, and none is above the highest one.
            let highest = roofs.iter().find(|roof| roof.slope == place).or(roofs.first()).map(|roof| roof.peak);
            Some((slope, line_of(&plot, bandwidth(slope)?, highest)?))
        })
        .collect();
    layout.lines.extend(slopes.iter().map(|(_, (from, to))| Line { from: *from, to: *to, dashed: false }));
    for roof in &roofs {
        let left = ridge(roof).map_or(plot.area.x0, |ridge| plot.x.at(ridge));
        let y = plot.y.at(roof.peak);
        layout.lines.push(Line { from: (left, y), to: (plot.area.x1, y), dashed: roof.dashed });
        if roof.ridge.is_some() && ridge(roof).is_some() {
            layout.ridges.push(((left, y), (left, plot.area.y1)));
        }
    }
    layout.marks = marks(&plot, &points);

    for line in &layout.lines {
        placer.line(line.from, line.to);
    }
    for (from, to) in &layout.ridges {
        placer.line(*from, *to);
        placer.block(Rect::around(*from, 4.0));
    }
    for mark in &layout.marks {
        placer.block(mark.area());
        placer.block(Rect::around(mark.point, 3.0));
        placer.line(mark.point, mark.centre);
    }

    for (place, roof) in roofs.iter().enumerate() {
        let left = ridge(roof).map_or(plot.area.x0, |ridge| plot.x.at(ridge));
        let y = plot.y.at(roof.peak);
        let beside = |label| beside_roof(label, left, plot.area.x1, y, place == 0);
        placer.place(&roof.label, [&roof.label, &roof.short].into_iter().flat_map(|label| beside(label)));
    }
    for (slope, (from, to)) in slopes {
        let beside = [&slope.label, &slope.short].into_iter().flat_map(|label| beside_slope(label, from, to));
        placer.place(&slope.label, beside.filter(|text| plot.area.encloses(&text.area())));
    }
    for roof in &roofs {
        if let (Some(label), Some(ridge)) = (&roof.ridge, ridge(roof)) {
            placer.place(label, beside_ridge(label, plot.x.at(ridge), plot.area.y1));
        }
    }
    (layout.texts, layout.unlabelled) = placer.finish();
    layout.unlabelled.retain(|label| !label.is_empty());
    layout.texts.retain(|text| !text.words.is_empty());
    layout
}

impl Layout {
    /// Fits the plot between the texts of both axes; none if nothing is left of it.
    fn axes(
        &mut self,
        placer: &mut Placer,
        (x, y): (Log, Log),
        roof: Option<&Top>,
        axes: &Axes<'_>,
        (width, height): (f64, f64),
    ) -> Option<Plot> {
        let tick = |text: String, at: Point, align: Align| Text::new(text, at, align, SMALL, Tone::Muted);
        let top = if axes.y_title.is_empty() { 8.0 } else { 22.0 };
        let bottom = height - if axes.x_title.is_empty() { 20.0 } else { 20.0 + ROW };
        if bottom - top < LEAST {
            return None;
        }
        let mut y = y.over(bottom, top);
        // The label of the highest roof stands above it.
        while roof.is_some_and(|roof| y.at(roof.peak) - top < ROW + 6.0 && y.domain().1.is_finite()) {
            y = y.raised();
        }
        let y_ticks: Vec<_> =
            y.ticks(fitting(bottom - top, 24.0)).iter().map(|t| (y.at(*t), (axes.y_tick)(*t))).collect();
        let left = y_ticks.iter().map(|(_, tick)| width_of(tick)).fold(0.0, f64::max).ceil() + 8.0;
        let right = width - 10.0;
        if right - left < LEAST {
            return None;
        }
        let mut x = x.over(left, right);
        // Its right part is long enough for its label, unless that would squeeze the rest.
        for _ in 0..2 {
            if roof.and_then(|roof| Some(right - x.at(roof.ridge?) < roof.room)) == Some(true) {
                x = x.raised();
            }
        }
        let widest = x.ticks(usize::MAX).iter().map(|t| width_of(&(axes.x_tick)(*t))).fold(0.0, f64::max);
        let x_ticks = x.ticks(fitting(right - left, widest + 16.0));

        for (at, label) in y_ticks {
            self.grid.push(((left, at), (right, at)));
            placer.fix(tick(label, (left - 7.0, at), Align::End));
        }
        for value in x_ticks {
            let (at, label) = (x.at(value), (axes.x_tick)(value));
            let half = width_of(&label) / 2.0;
            self.grid.push(((at, top), (at, bottom)));
            placer.fix(tick(label, (at.min(width - half), bottom + 13.0), Align::Middle));
        }
        self.grid.push(((left, bottom), (right, bottom)));
        self.grid.push(((left, top), (left, bottom)));
        let x_title = text::elide(axes.x_title, SMALL, right - left);
        placer.fix(tick(x_title, (right, bottom + 13.0 + ROW), Align::End));
        placer.fix(tick(text::elide(axes.y_title, SMALL, width), (0.0, 8.0), Align::Start));
        Some(Plot { area: Rect::new(left, top, right, bottom), x, y })
    }
}

/// A memory's slope, from where it enters the plot to its highest roof; none if it does not pass through.
fn line_of(plot: &Plot, bandwidth: f64, roof: Option<f64>) -> Option<(Point, Point)> {
    let ((x_low, x_high), (y_low, y_high)) = (plot.x.domain(), plot.y.domain());
    let low = x_low.max(y_low / bandwidth);
    let high = (roof.unwrap_or(y_high) / bandwidth).min(x_high);
    (low < high).then(|| (plot.at(low, low * bandwidth), plot.at(high, high * bandwidth)))
}

/// How many things fit, each this long.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn fitting(room: f64, each: f64) -> usize {
    (room / each).clamp(1.0, 1000.0) as usize
}

/// Places the large marks first, then the small ones beside them; all in drawing order, small ones below.
fn marks(plot: &Plot, points: &[(usize, &Mark)]) -> Vec<Placed> {
    let mut large: Vec<Placed> = Vec::new();
    for (place, mark) in points.iter().filter(|(_, mark)| mark.emphasised) {
        let mut placed = Placed::new(*place, mark, plot, LARGE);
        placed.centre = free_place(plot, placed.point, &large, 2.0 * LARGE);
        let letter: String = mark.letter.chars().take(2).collect();
        let text = || Text::new(&letter, placed.centre, Align::Middle, SMALL, Tone::On(mark.colour)).bold();
        placed.letter = (!letter.is_empty()).then(text);
        large.push(placed);
    }
    let mut small: Vec<Placed> = Vec::new();
    for (place, mark) in points.iter().filter(|(_, mark)| !mark.emphasised) {
        let mut placed = Placed::new(*place, mark, plot, SMALL_MARK);
        placed.centre = free_place(plot, placed.point, &large, LARGE + 2.0);
        let same = |other: &&Placed| other.shape == mark.shape && distance(other.centre, placed.centre) < RING;
        let inside = u32::try_from(small.iter().filter(same).count()).unwrap_or(RINGS);
        placed.ring = inside.min(RINGS);
        placed.radius += RING * f64::from(placed.ring);
        small.push(placed);
    }
    // Outer rings lie below inner ones.
    crate::chart::order::sort(&mut small, |a, b| b.ring.cmp(&a.ring));
    small.extend(large);
    small
}

/// Where a marker is more than `reach` away from the large ones: at its point, or else below it, where the roof leaves
/// room; only then above, where nothing can run.
fn free_place(plot: &Plot, point: Point, large: &[Placed], reach: f64) -> Point {
    let inside = plot.area.grow(-LARGE);
    let free = |centre: &Point| large.iter().all(|other| distance(other.centre, *centre) > reach);
    let steps = (1..=9).map(f64::from).chain((1..=9).map(|step| -f64::from(step)));
    let places =
        steps.map(|step| (point.0, point.1 + step * PITCH)).filter(|(_, y)| inside.y0 <= *y && *y <= inside.y1);
    std::iter::once(point).chain(places).find(free).unwrap_or(point)
}

fn distance(a: Point, b: Point) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

fn width_of(label: &str) -> f64 {
    text::width(label, SMALL, false)
}

fn small(label: &str, at: Point, align: Align) -> Text {
    Text::new(label, at, align, SMALL, Tone::Ink)
}

/// Above the roof at its right end, or further left, or beyond a marker on the roof; then below. Only the highest roof's
/// label goes higher: another's would stand at the roof above.
fn beside_roof(label: &str, left: f64, right: f64, y: f64, is_highest: bool) -> impl Iterator<Item = Text> {
    let slack = right - left - width_of(label);
    let (above, below, far) = ([-10.0, -17.0], [10.0, 17.0], [10.0 + ROW, 17.0 + ROW]);
    let rows = if is_highest { [above, far.map(|row| -row), below] } else { [above, below, far] };
    let steps = (0..40).map(|step| f64::from(step) * 8.0);
    rows.into_iter().flatten().flat_map(move |row| {
        let steps = steps.clone().take_while(move |step| *step <= slack.max(0.0));
        steps.map(move |step| small(label, (right - step, y + row), Align::End))
    })
}

/// To the right of the slope and below it, else to its left and above; about the middle first.
fn beside_slope(label: &str, from: Point, to: Point) -> impl Iterator<Item = Text> {
    let shares = [0.4, 0.5, 0.3, 0.6, 0.2, 0.7, 0.1, 0.8, 0.9, 0.0];
    [(Align::Start, 1.0), (Align::End, -1.0)].into_iter().flat_map(move |(align, side)| {
        shares.map(|share| {
            let at = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
            small(label, (at.0 + side * 7.0, at.1 + side * 9.0), align)
        })
    })
}

/// Beside the ridge's line, just above the axis; then a row further up.
fn beside_ridge(label: &str, x: f64, bottom: f64) -> impl Iterator<Item = Text> {
    (0..6).map(f64::from).flat_map(move |row| {
        let y = bottom - 11.0 - row * ROW;
        [small(label, (x + 6.0, y), Align::Start), small(label, (x - 6.0, y), Align::End)]
    })
}

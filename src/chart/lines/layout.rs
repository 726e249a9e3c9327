//! Where everything on a chart of lines stands, in CSS pixels.

use super::course::{straightened, stripes};
use super::queue::spread;
use super::{Band, Hit, Line, Lines, Spread};
use crate::chart::Axes;
use crate::chart::order;
use crate::chart::place::Placer;
use crate::chart::rect::{Point, Rect};
use crate::chart::scale::{Base, Exact, Linear, Log};
use crate::chart::text::{self, Align, SMALL, Text, Tone};
use crate::chart::theme::{Colour, Shape};

/// Radius of the marker at a line's end, of one on the line, and of a flip.
pub(super) const END: f64 = 8.0;
const MARK: f64 = 3.5;
const FLIP: f64 = 5.5;
/// From the plot to the markers at the ends.
const LEAD: f64 = 12.0;
/// The distance from one end's marker to the next.
const PITCH: f64 = 18.0;
/// About how far apart markers are on a line.
const SPARSE: f64 = 90.0;
/// Height of a row of small text.
const ROW: f64 = 15.0;
/// The smallest area inside the axes that is worth drawing.
const LEAST: f64 = 40.0;
/// From this width on, names stand beside the ends.
const WIDE: f64 = 520.0;

#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) grid: Vec<(Point, Point)>,
    pub(super) leaders: Vec<Leader>,
    /// From flips to their words.
    pub(super) pointers: Vec<(Point, Point)>,
    pub(super) strokes: Vec<Stroke>,
    pub(super) marks: Vec<Mark>,
    pub(super) ends: Vec<End>,
    pub(super) texts: Vec<Text>,
    pub(super) bands: Vec<Band>,
    pub(super) unlabelled: Vec<(usize, usize)>,
    pub(super) unnamed: Vec<usize>,
}

/// From a line's last point to the marker that names it.
#[derive(Debug)]
pub(super) struct Leader {
    pub(super) from: Point,
    pub(super) to: Point,
    /// Broken where the line ends within the plot, so that it does not seem to go on.
    pub(super) dashed: bool,
    pub(super) colour: Colour,
}

/// A line, or a stripe of one.
#[derive(Debug)]
pub(super) struct Stroke {
    pub(super) points: Vec<Point>,
    pub(super) colour: Colour,
}

/// A marker on a line.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) centre: Point,
    pub(super) radius: f64,
    pub(super) shape: Shape,
    pub(super) colour: Colour,
}

/// The marker at a line's end.
#[derive(Debug)]
pub(super) struct End {
    pub(super) centre: Point,
    pub(super) colour: Colour,
    pub(super) letter: Text,
}

/// The part of the chart inside the axes, with its scales.
struct Plot {
    area: Rect,
    x: X,
    y: Y,
}

enum X {
    Linear(Linear),
    Log(Exact),
}

enum Y {
    Linear(Linear),
    Log(Log),
}

impl Plot {
    fn at(&self, x: f64, y: f64) -> Point {
        let x = match &self.x {
            X::Linear(scale) => scale.at(x),
            X::Log(scale) => scale.at(x),
        };
        let y = match &self.y {
            Y::Linear(scale) => scale.at(y),
            Y::Log(scale) => scale.at(y),
        };
        (x, y)
    }
}

/// A point with its place in the series and on the chart.
#[derive(Clone, Copy, Debug)]
struct Placed {
    point: usize,
    value: f64,
    at: Point,
}

pub(super) fn layout(lines: &Lines, axes: &Axes<'_>, width: f64, height: f64) -> Layout {
    let mut layout = Layout::default();
    let mut placer = Placer::new(Rect::new(0.0, 0.0, width, height));
    let Some(plot) = layout.axes(&mut placer, lines, axes, (width, height)) else { return layout };
    // Runs of points between gaps.
    let runs: Vec<Vec<Vec<Placed>>> = lines.series.iter().map(|line| runs(lines, line, &plot)).collect();
    for (place, line) in lines.series.iter().enumerate() {
        let Some(own) = runs.get(place) else { continue };
        let twins: Vec<usize> =
            (0..runs.len()).filter(|other| runs.get(*other).is_some_and(|r| coincide(r, own))).collect();
        let turn = twins.iter().position(|other| *other == place).unwrap_or(0);
        for run in own {
            let course = straightened(&run.iter().map(|placed| placed.at).collect::<Vec<_>>());
            for pair in course.windows(2) {
                if let [from, to] = pair {
                    placer.line(*from, *to);
                }
            }
            let parts = stripes(&course, turn, twins.len()).into_iter();
            layout.strokes.extend(parts.map(|points| Stroke { points, colour: line.colour }));
        }
        layout.markers(line, own, (place, lines.series.len()));
    }
    for mark in &layout.marks {
        placer.block(Rect::around(mark.centre, mark.radius + 1.0));
    }
    layout.name_ends(&mut placer, lines, &runs, &plot, width);
    layout.flips(&mut placer, lines, &runs, &plot);
    layout.bands = bands(&runs, &plot);
    layout.texts.extend(placer.finish().0);
    layout.texts.retain(|text| !text.words.is_empty());
    layout
}

impl Layout {
    /// Fits the plot between the texts of both axes and the names; none if nothing is left of it.
    fn axes(
        &mut self,
        placer: &mut Placer,
        lines: &Lines,
        axes: &Axes<'_>,
        (width, height): (f64, f64),
    ) -> Option<Plot> {
        let values = |of: fn((f64, f64)) -> f64| {
            let points = lines.series.iter().flat_map(|line| &line.points);
            points.filter_map(|point| shown(lines, *point)).map(of).collect::<Vec<f64>>()
        };
        let (xs, ys) = (values(|(x, _)| x), values(|(_, y)| y));
        let tick = |text: String, at: Point, align: Align| Text::new(text, at, align, SMALL, Tone::Muted);
        let top = if axes.y_title.is_empty() { 10.0 } else { 24.0 };
        let bottom = height - if axes.x_title.is_empty() { 21.0 } else { 21.0 + ROW };
        if bottom - top < LEAST || xs.is_empty() {
            return None;
        }
        let y = match lines.y {
            Spread::Linear => Y::Linear(Linear::fit(ys.iter().map(|y| y * 1.04)).over(bottom, top)),
            Spread::Log | Spread::Log2 => Y::Log(Log::fit(ys, 0.03).over(bottom, top)),
        };
        let rows = fitting(bottom - top, 34.0);
        let y_ticks: Vec<(f64, String)> = match &y {
            Y::Linear(scale) => {
                let ticks = scale.ticks(u32::try_from(rows).unwrap_or(10));
                ticks.iter().map(|t| (scale.at(*t), (axes.y_tick)(*t))).collect()
            }
            Y::Log(scale) => scale.ticks(rows).iter().map(|t| (scale.at(*t), (axes.y_tick)(*t))).collect(),
        };
        let left = y_ticks.iter().map(|(_, tick)| width_of(tick)).fold(0.0, f64::max).ceil() + 8.0;
        let right = width - names_width(lines, width) - 2.0 * END - LEAD - 4.0;
        if right - left < LEAST {
            return None;
        }
        let widest = |ticks: &[f64]| ticks.iter().map(|t| width_of(&(axes.x_tick)(*t))).fold(0.0, f64::max);
        let room = right - left;
        let (x, x_ticks) = match lines.x {
            Spread::Linear => {
                let scale = Linear::fit(xs).over(left, right);
                let each = widest(&scale.ticks(10)) + 18.0;
                let ticks = scale.ticks(u32::try_from(fitting(room, each)).unwrap_or(10));
                let ticks = ticks.iter().map(|t| (scale.at(*t), (axes.x_tick)(*t))).collect::<Vec<_>>();
                (X::Linear(scale), ticks)
            }
            spread => {
                let scale = Exact::fit(xs).over(left, right);
                let base = if spread == Spread::Log2 { Base::Two } else { Base::Ten };
                let each = widest(&scale.ticks(base, usize::MAX)) + 14.0;
                let ticks = scale.ticks(base, fitting(room, each));
                let ticks = ticks.iter().map(|t| (scale.at(*t), (axes.x_tick)(*t))).collect::<Vec<_>>();
                (X::Log(scale), ticks)
            }
        };
        for (at, label) in y_ticks {
            self.grid.push(((left, at), (right, at)));
            placer.fix(tick(label, (left - 7.0, at), Align::End));
        }
        for (at, label) in x_ticks {
            let half = width_of(&label) / 2.0;
            self.grid.push(((at, top), (at, bottom)));
            placer.fix(tick(label, (at.clamp(half, (width - half).max(half)), bottom + 14.0), Align::Middle));
        }
        self.grid.push(((left, bottom), (right, bottom)));
        self.grid.push(((left, top), (left, bottom)));
        placer.fix(tick(text::elide(axes.x_title, SMALL, right - left), (right, bottom + 14.0 + ROW), Align::End));
        placer.fix(tick(text::elide(axes.y_title, SMALL, width), (0.0, 8.0), Align::Start));
        Some(Plot { area: Rect::new(left, top, right, bottom), x, y })
    }

    /// Markers about every [`SPARSE`] pixels, those of the series by turns, and on every point that stands alone.
    fn markers(&mut self, line: &Line, runs: &[Vec<Placed>], (turn, of): (usize, usize)) {
        for run in runs {
            let mut next =
                run.first().map_or(0.0, |first| first.at.0) + SPARSE * (turn as f64 + 0.5) / of.max(1) as f64;
            for placed in run {
                let flips = line.flips.iter().filter_map(|flip| run.iter().find(|other| other.point == flip.point));
                let taken = flips.into_iter().any(|flip| (flip.at.0 - placed.at.0).abs() < FLIP + MARK + 3.0);
                if !taken && (placed.at.0 >= next || run.len() == 1) {
                    next = next.max(placed.at.0) + SPARSE;
                    let (shape, colour) = (line.shape, line.colour);
                    self.marks.push(Mark { centre: placed.at, radius: MARK, shape, colour });
                }
            }
        }
    }

    /// The letters to the right of the plot, as near to their lines' heights as they get without touching.
    fn name_ends(&mut self, placer: &mut Placer, lines: &Lines, runs: &[Vec<Vec<Placed>>], plot: &Plot, width: f64) {
        let last = |place: usize| runs.get(place).and_then(|runs| runs.last()?.last().map(|placed| placed.at));
        let mut ends: Vec<(usize, Point)> =
            (0..lines.series.len()).filter_map(|place| Some((place, last(place)?))).collect();
        order::sort(&mut ends, |a, b| a.1.1.total_cmp(&b.1.1));
        let most = fitting(plot.area.y1 - plot.area.y0 + PITCH, PITCH);
        self.unnamed.extend(ends.split_off(ends.len().min(most)).iter().map(|(place, _)| *place));
        let bounds = (plot.area.y0, plot.area.y1);
        let heights = spread(&ends.iter().map(|(_, at)| at.1).collect::<Vec<_>>(), PITCH, bounds);
        let x = plot.area.x1 + LEAD + END;
        let room = width - x - END - 5.0;
        for ((place, from), y) in ends.into_iter().zip(heights) {
            let Some(line) = lines.series.get(place) else { continue };
            let centre = (x, y);
            placer.block(Rect::around(centre, END));
            let to = (x - END, y);
            placer.line(from, to);
            let dashed = to.0 - from.0 > LEAD + 1.0;
            self.leaders.push(Leader { from, to, dashed, colour: line.colour });
            let letter: String = line.key.chars().take(2).collect();
            let letter = Text::new(letter, centre, Align::Middle, SMALL, Tone::On(line.colour)).bold();
            self.ends.push(End { centre, colour: line.colour, letter });
            if names_width(lines, width) > 0.0 {
                let name = text::elide(&line.label, SMALL, room);
                placer.fix(Text::new(name, (x + END + 4.0, y), Align::Start, SMALL, Tone::Ink));
            }
        }
    }

    /// The circles of the flips and their words, beside them or a little further off.
    fn flips(&mut self, placer: &mut Placer, lines: &Lines, runs: &[Vec<Vec<Placed>>], plot: &Plot) {
        let mut found = Vec::new();
        for (place, (line, runs)) in lines.series.iter().zip(runs).enumerate() {
            for (number, flip) in line.flips.iter().enumerate() {
                let Some(placed) = runs.iter().flatten().find(|placed| placed.point == flip.point) else { continue };
                placer.block(Rect::around(placed.at, FLIP + 2.0));
                found.push((place, number, placed.at, flip));
                let (shape, colour) = (Shape::Circle, line.colour);
                self.marks.push(Mark { centre: placed.at, radius: FLIP, shape, colour });
            }
        }
        order::sort(&mut found, |a, b| a.2.0.total_cmp(&b.2.0));
        let circles: Vec<Point> = found.iter().map(|(_, _, at, _)| *at).collect();
        for (place, number, at, flip) in found {
            let inside = |text: &Text| plot.area.encloses(&text.area());
            let far = aside(&flip.label, at).filter(|text| placer.passes(at, way(text, at)));
            let far: Vec<Text> = far.filter(inside).collect();
            // Words without a pointer stand nearest to their own circle.
            let own = |text: &Text| {
                let distance = |circle: Point| distance(way(text, circle), circle);
                circles.iter().all(|other| *other == at || distance(*other) > distance(at) + FLIP)
            };
            let near = beside(&flip.label, at).filter(|text| inside(text) && own(text));
            if placer.place(&flip.label, near).is_some() {
                continue;
            }
            match placer.place(&flip.label, far) {
                Some(text) => {
                    let end = way(&text, at);
                    placer.line(at, end);
                    self.pointers.push((at, end));
                }
                None => self.unlabelled.push((place, number)),
            }
        }
    }
}

/// Around a point: to the right and left of it first, then above and below.
fn beside(label: &str, (x, y): Point) -> impl Iterator<Item = Text> {
    let small = move |dx: f64, dy: f64, align| Text::new(label, (x + dx, y + dy), align, SMALL, Tone::Ink);
    let side = FLIP + 5.0;
    [0.0, 1.0, -1.0, 1.5, -1.5].into_iter().flat_map(move |rows| {
        let dy = rows * ROW;
        [(side, Align::Start), (-side, Align::End), (0.0, Align::Middle)].map(|(dx, align)| small(dx, dy, align))
    })
}

/// Further away, where a line leads to it.
fn aside(label: &str, (x, y): Point) -> impl Iterator<Item = Text> {
    (4..=20).map(|half| f64::from(half) / 2.0 * ROW).flat_map(move |dy| {
        [-1.0, 1.0].into_iter().flat_map(move |sign| {
            let text = move |(dx, align)| Text::new(label, (x + dx, y + sign * dy), align, SMALL, Tone::Ink);
            [(-12.0, Align::End), (12.0, Align::Start), (0.0, Align::Middle), (-60.0, Align::End), (60.0, Align::Start)]
                .map(text)
        })
    })
}

fn distance(a: Point, b: Point) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

/// Where a line from a point meets a text.
fn way(text: &Text, (x, y): Point) -> Point {
    let area = text.area();
    (x.clamp(area.x0, area.x1), y.clamp(area.y0, area.y1))
}

/// A point that has a place on the axes.
fn shown(lines: &Lines, (x, y): (f64, Option<f64>)) -> Option<(f64, f64)> {
    let has_place =
        |value: f64, spread| value.is_finite() && (value > 0.0 || (spread == Spread::Linear && value == 0.0));
    y.filter(|y| has_place(*y, lines.y) && has_place(x, lines.x)).map(|y| (x, y))
}

fn runs(lines: &Lines, line: &Line, plot: &Plot) -> Vec<Vec<Placed>> {
    let mut runs: Vec<Vec<Placed>> = Vec::new();
    let mut open = false;
    for (point, found) in line.points.iter().map(|point| shown(lines, *point)).enumerate() {
        let Some((x, y)) = found else {
            open = false;
            continue;
        };
        let placed = Placed { point, value: x, at: plot.at(x, y) };
        match runs.last_mut().filter(|_| open) {
            Some(run) => run.push(placed),
            None => runs.push(vec![placed]),
        }
        open = true;
    }
    runs
}

/// Whether two series are drawn over each other all the way.
fn coincide(a: &[Vec<Placed>], b: &[Vec<Placed>]) -> bool {
    let near = |(a, b): (&Placed, &Placed)| (a.at.0 - b.at.0).abs() < 1.0 && (a.at.1 - b.at.1).abs() < 1.0;
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(near))
}

/// The bands by x. Series mostly share their x, so a new one is rarely put between others.
fn bands(runs: &[Vec<Vec<Placed>>], plot: &Plot) -> Vec<Band> {
    let mut found: Vec<(f64, Vec<Hit>)> = Vec::new();
    for (series, runs) in runs.iter().enumerate() {
        for placed in runs.iter().flatten() {
            let (x, y) = placed.at;
            let hit = Hit { series, point: placed.point, x, y };
            match found.binary_search_by(|(value, _)| value.total_cmp(&placed.value)) {
                Ok(at) => found
                    .get_mut(at)
                    .filter(|(_, hits)| hits.iter().all(|other| other.series != series))
                    .into_iter()
                    .for_each(|(_, hits)| hits.push(hit)),
                Err(at) => found.insert(at, (placed.value, vec![hit])),
            }
        }
    }
    let xs: Vec<f64> = found.iter().filter_map(|(_, hits)| hits.first()).map(|hit| hit.x).collect();
    let middle = |a: usize, b: usize| Some(xs.get(a)?.midpoint(*xs.get(b)?));
    let band = |(place, (_, mut hits)): (usize, (f64, Vec<Hit>))| {
        order::sort(&mut hits, |a, b| a.y.total_cmp(&b.y));
        let left = place.checked_sub(1).and_then(|before| middle(before, place)).unwrap_or(plot.area.x0);
        let right = middle(place, place + 1).unwrap_or(plot.area.x1);
        Band { area: Rect::new(left, plot.area.y0, right, plot.area.y1), hits }
    };
    found.into_iter().enumerate().map(band).collect()
}

/// The room for names, 0 where there is none.
fn names_width(lines: &Lines, width: f64) -> f64 {
    if width < WIDE {
        return 0.0;
    }
    let widest = lines.series.iter().map(|line| width_of(&line.label)).fold(0.0, f64::max);
    if widest > 0.0 { widest.ceil().min(width * 0.2) + 4.0 } else { 0.0 }
}

/// How many things fit, each this long.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn fitting(room: f64, each: f64) -> usize {
    (room / each).clamp(1.0, 1000.0) as usize
}

fn width_of(label: &str) -> f64 {
    text::width(label, SMALL, false)
}

//! The roofline: attainable FLOP/s over arithmetic intensity, both logarithmic.
//!
//! A kernel of intensity I runs at no more than min(peak, I x bandwidth) (Williams, Waterman and Patterson, "Roofline",
//! CACM 52(4), 2009). On log-log axes that is a slope, the memory, and a level roof, the arithmetic, that meet in the
//! ridge. The chart draws what it is given: the rate of a mark is the caller's.

mod layout;

use plotters::backend::DrawingBackend;

pub use super::Axes;
use super::paint::Painter;
use super::rect::Rect;
use super::theme::{Colour, Shape, Theme};
use super::{Failure, Frame};

/// What the chart shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roofline {
    /// The peaks of arithmetic, in any order.
    pub roofs: Vec<Roof>,
    /// The memories, and the links.
    pub slopes: Vec<Slope>,
    /// The marks; later ones are drawn on top.
    pub points: Vec<Mark>,
}

/// A level roof.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roof {
    /// Its name and height: "H200 SXM FP8 1.98 PFLOP/s".
    pub label: String,
    /// What stands instead where that has no room: "FP8 1.98 PFLOP/s"; may be empty.
    pub short: String,
    /// FLOP per second.
    pub peak: f64,
    /// Broken where it is not the one that binds.
    pub dashed: bool,
    /// Text at the ridge point, on the axis below it ("ridge 412"); none draws no ridge.
    pub ridge: Option<String>,
    /// Place in [`Roofline::slopes`] of the memory that it meets.
    pub slope: usize,
}

/// The slope of a memory or of a link, up to the highest roof that it meets, or the highest there is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slope {
    /// Its name and steepness: "H200 SXM HBM 4.8 TB/s".
    pub label: String,
    /// What stands instead where that has no room: "HBM 4.8 TB/s"; may be empty.
    pub short: String,
    /// Bytes per second; without a positive number there is no slope.
    pub bytes_per_second: f64,
}

/// A point on the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// What it stands for; not drawn, but at hand for whoever draws a tooltip.
    pub label: String,
    /// Written into the marker if emphasised (its first two characters): "A".
    pub letter: String,
    /// FLOP per byte.
    pub intensity: f64,
    /// FLOP per second.
    pub rate: f64,
    /// The marker.
    pub shape: Shape,
    /// Its colour.
    pub colour: Colour,
    /// Large and filled, with its letter inside; else a small outline.
    pub emphasised: bool,
}

/// What came of a drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// Where marks can be pointed at, topmost first: the first that holds the pointer is the one meant.
    pub regions: Vec<Region>,
    /// Places in [`Roofline::points`] of marks without a place: intensity or rate is not a positive number.
    pub left_out: Vec<usize>,
    /// Labels for which there was no room.
    pub unlabelled: Vec<String>,
}

/// Where a mark can be pointed at, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// The marker and a little around it.
    pub area: Rect,
    /// Place in [`Roofline::points`].
    pub mark: usize,
}

/// Draws the chart; without roofs and marks, or without room for axes, only the empty surface.
///
/// # Errors
///
/// Passes on what the backend returns.
pub fn draw<DB: DrawingBackend>(
    backend: &mut DB,
    frame: &Frame,
    theme: &Theme,
    roofline: &Roofline,
    axes: &Axes<'_>,
) -> Result<Drawn, Failure<DB>> {
    let layout = layout::layout(roofline, axes, frame.width, frame.height);
    if !frame.is_empty() {
        let mut painter = Painter::start(frame, theme);
        paint(&mut painter, theme, &layout);
        painter.finish(backend)?;
    }
    let area = |mark: &layout::Placed| mark.area().grow(3.0);
    let regions = layout.marks.iter().rev().map(|mark| Region { area: area(mark), mark: mark.mark }).collect();
    Ok(Drawn { regions, left_out: layout.left_out, unlabelled: layout.unlabelled })
}

fn paint(painter: &mut Painter<'_>, theme: &Theme, layout: &layout::Layout) {
    for (from, to) in &layout.grid {
        painter.line(*from, *to, 1.0, theme.grid);
    }
    for text in &layout.texts {
        painter.rect(&text.area(), theme.surface);
    }
    for (from, to) in &layout.ridges {
        painter.dashes(*from, *to, 1.0, theme.muted);
        painter.line((to.0, to.1 - 3.0), (to.0, to.1 + 4.0), 2.0, theme.ink);
    }
    for line in &layout.lines {
        if line.dashed {
            painter.dashes(line.from, line.to, 2.0, theme.ink);
        } else {
            painter.line(line.from, line.to, 2.0, theme.ink);
        }
    }
    for (from, _) in &layout.ridges {
        painter.fill(Shape::Circle, *from, 3.0, theme.ink);
    }
    for mark in &layout.marks {
        if mark.centre != mark.point {
            painter.line(mark.point, mark.centre, 2.0, mark.colour);
            painter.fill(Shape::Circle, mark.point, 3.0, mark.colour);
        }
    }
    for mark in &layout.marks {
        if mark.emphasised {
            painter.fill(mark.shape, mark.centre, mark.radius + 2.0, theme.surface);
            painter.fill(mark.shape, mark.centre, mark.radius, mark.colour);
        } else {
            if mark.ring == 0 {
                painter.fill(mark.shape, mark.centre, mark.radius, theme.surface);
            }
            painter.outline(mark.shape, mark.centre, mark.radius, mark.colour);
        }
        if let Some(letter) = &mark.letter {
            painter.text(letter);
        }
    }
    layout.texts.iter().for_each(|text| painter.text(text));
}

#[cfg(test)]
mod tests;

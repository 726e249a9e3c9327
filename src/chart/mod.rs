//! Charts on any plotters backend: one `draw` serves a canvas in the browser and an SVG for export.
//!
//! Each chart has two steps. A pure `layout` turns data and a size in CSS pixels into shapes and placed texts; `draw`
//! paints them. Charts hold no number policy: every text arrives ready-made, ticks through a formatter of the caller's.
//! Text is measured with a table of our own ([`text`]), so both media get the same layout and a browser is never
//! asked to lay out a hidden element.

pub mod bars;
pub mod lines;
pub(crate) mod order;
mod paint;
mod place;
mod rect;
pub mod roofline;
pub mod scale;
pub mod text;
pub mod theme;

use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::drawing::DrawingAreaErrorKind;

pub use rect::Rect;

/// What a backend `DB` can answer instead of a drawing.
pub type Failure<DB> = DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>;

/// The size of a chart in CSS pixels, and how the backend counts them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    width: f64,
    height: f64,
    scale: f64,
    medium: Medium,
}

/// What stands along the axes.
#[derive(Clone, Copy)]
pub struct Axes<'a> {
    /// What x is; below the axis.
    pub x_title: &'a str,
    /// What y is; above the axis.
    pub y_title: &'a str,
    /// Writes a value of x at its tick.
    pub x_tick: &'a dyn Fn(f64) -> String,
    /// Writes a value of y at its tick.
    pub y_tick: &'a dyn Fn(f64) -> String,
}

/// The two backends treat a text's size and vertical anchor differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Medium {
    Canvas,
    Svg,
}

impl Frame {
    /// A canvas shown at `width` x `height` CSS pixels whose backing store is larger by `scale` (`devicePixelRatio`).
    #[must_use]
    pub fn canvas(width: f64, height: f64, scale: f64) -> Self {
        let scale = if scale.is_finite() && scale > 0.0 { scale.clamp(0.25, 16.0) } else { 1.0 };
        Self { width: side(width), height: side(height), scale, medium: Medium::Canvas }
    }

    /// An SVG, whose user unit is the CSS pixel.
    #[must_use]
    pub fn svg(width: f64, height: f64) -> Self {
        Self { medium: Medium::Svg, ..Self::canvas(width, height, 1.0) }
    }

    /// The size of the backing store in its own pixels: what a canvas's `width` and `height` must be set to.
    #[must_use]
    pub fn pixels(&self) -> (u32, u32) {
        (whole(self.width * self.scale), whole(self.height * self.scale))
    }

    /// Whether there is anything to draw on.
    fn is_empty(&self) -> bool {
        self.width < 1.0 || self.height < 1.0
    }
}

/// Draws one chart as an SVG document of its own; returns it with what the drawing returned.
///
/// # Errors
///
/// Passes on what `draw` returns; the SVG backend itself writes to memory and does not fail.
pub fn svg<T, E>(
    width: f64,
    height: f64,
    draw: impl FnOnce(&mut SVGBackend<'_>, &Frame) -> Result<T, E>,
) -> Result<(String, T), E> {
    let frame = Frame::svg(width, height);
    let mut document = String::new();
    let mut backend = SVGBackend::with_string(&mut document, frame.pixels());
    let drawn = draw(&mut backend, &frame)?;
    drop(backend);
    Ok((document, drawn))
}

/// A sane side length: browsers refuse larger canvases, and a hidden element measures 0.
fn side(length: f64) -> f64 {
    if length.is_finite() { length.clamp(0.0, 16_384.0) } else { 0.0 }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the length is clamped by `side`")]
fn whole(length: f64) -> u32 {
    length.round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_sane_whatever_it_is_made_of() {
        assert_eq!(Frame::canvas(300.0, 200.0, 1.5).pixels(), (450, 300));
        assert_eq!(Frame::canvas(f64::NAN, -3.0, f64::INFINITY).pixels(), (0, 0));
        assert_eq!(Frame::svg(1e300, 10.4).pixels(), (16_384, 10));
        assert!(Frame::svg(0.0, 100.0).is_empty());
    }
}

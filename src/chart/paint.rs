//! From CSS pixels to a backend's whole device pixels.
//!
//! Level and upright lines are filled rectangles, whose edges lie on pixels: backends centre a stroke on the pixels'
//! corners, where a thin one blurs. Measured differences between the two backends that [`Painter::text`] evens out:
//! plotters-svg divides the font size by 1.24 and plotters-canvas does not; vertical anchors mean a fixed share of the
//! font size in one and the face's own metrics in the other.

use plotters::backend::DrawingBackend;
use plotters::drawing::DrawingAreaErrorKind::BackendError;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle};

use super::rect::{Point, Rect};
use super::text::{Align, FAMILY, Text, Tone};
use super::theme::{Colour, Shape, Theme};
use super::{Failure, Frame, Medium};

/// The middle of capitals and digits above the baseline, in font sizes; 0.35 to 0.37 in the usual faces.
const MIDDLE: f64 = 0.36;
/// Where plotters-svg puts the baseline below an anchor at the top, in font sizes.
const SVG_TOP: f64 = 0.76;
/// Where a canvas puts the baseline above an anchor at the bottom, in font sizes: a face's descent, 0.21 to 0.29. Its
/// "middle" depends on the face by more.
const CANVAS_BOTTOM: f64 = 0.24;
/// What plotters-svg divides a font size by.
const SVG_FONT: f64 = 1.24;
/// Dash and gap of a broken line.
const DASH: (f64, f64) = (5.0, 4.0);

/// One thing to put on a backend, in its device pixels.
enum Ink {
    Rect((i32, i32), (i32, i32), Colour),
    Path(Vec<(i32, i32)>, u32, Colour),
    Polygon(Vec<(i32, i32)>, Colour),
    Circle { centre: (i32, i32), radius: u32, colour: Colour, stroke: Option<u32> },
    Words { text: String, place: (i32, i32), size: f64, pos: Pos, weight: FontStyle, colour: Colour },
}

/// Collects what is painted, then puts it on a backend: only the last step exists once for each kind of backend.
pub(crate) struct Painter<'a> {
    frame: Frame,
    theme: &'a Theme,
    inks: Vec<Ink>,
}

impl<'a> Painter<'a> {
    /// Starts with the empty surface; what was drawn before is covered.
    pub(crate) fn start(frame: &Frame, theme: &'a Theme) -> Self {
        let mut painter = Self { frame: *frame, theme, inks: Vec::new() };
        painter.rect(&Rect::new(0.0, 0.0, frame.width, frame.height), theme.surface);
        painter
    }

    /// Puts everything on a backend.
    pub(crate) fn finish<DB: DrawingBackend>(self, backend: &mut DB) -> Result<(), Failure<DB>> {
        backend.ensure_prepared().map_err(BackendError)?;
        for ink in self.inks {
            match ink {
                Ink::Rect(from, to, colour) => backend.draw_rect(from, to, &solid(colour), true),
                Ink::Path(points, weight, colour) => backend.draw_path(points, &style(colour, weight)),
                Ink::Polygon(corners, colour) => backend.fill_polygon(corners, &style(colour, 1)),
                Ink::Circle { centre, radius, colour, stroke } => {
                    backend.draw_circle(centre, radius, &style(colour, stroke.unwrap_or(1)), stroke.is_none())
                }
                Ink::Words { text, place, size, pos, weight, colour } => {
                    let font = FontDesc::new(FontFamily::Name(FAMILY), size, weight);
                    backend.draw_text(&text, &TextStyle { pos, ..font.color(&solid(colour)) }, place)
                }
            }
            .map_err(BackendError)?;
        }
        backend.present().map_err(BackendError)
    }

    #[expect(clippy::cast_possible_truncation, reason = "clamped; NaN becomes 0")]
    fn pixel(&self, length: f64) -> i32 {
        (length * self.frame.scale).round().clamp(-1e6, 1e6) as i32
    }

    fn corner(&self, (x, y): Point) -> (i32, i32) {
        (self.pixel(x), self.pixel(y))
    }

    /// A line's width in device pixels, at least one.
    fn weight(&self, width: f64) -> u32 {
        self.pixel(width).max(1).unsigned_abs()
    }

    pub(crate) fn rect(&mut self, area: &Rect, colour: Colour) {
        let (from, to) = (self.corner((area.x0, area.y0)), self.corner((area.x1, area.y1)));
        self.inks.push(Ink::Rect(from, to, colour));
    }

    /// A straight line; one that is level or upright is sharp.
    pub(crate) fn line(&mut self, from: Point, to: Point, width: f64, colour: Colour) {
        let weight = self.weight(width);
        let ((x0, y0), (x1, y1)) = (self.corner(from), self.corner(to));
        if x0 != x1 && y0 != y1 {
            self.inks.push(Ink::Path(vec![(x0, y0), (x1, y1)], weight, colour));
            return;
        }
        let weight = i32::try_from(weight).unwrap_or(1);
        let (left, top) = (x0.min(x1), y0.min(y1));
        let (left, right) = if x0 == x1 { (left - weight / 2, left - weight / 2 + weight) } else { (left, x0.max(x1)) };
        let (top, bottom) = if y0 == y1 { (top - weight / 2, top - weight / 2 + weight) } else { (top, y0.max(y1)) };
        self.inks.push(Ink::Rect((left, top), (right, bottom), colour));
    }

    /// A line through points, its corners joined.
    pub(crate) fn path(&mut self, points: &[Point], width: f64, colour: Colour) {
        let corners = points.iter().map(|point| self.corner(*point)).collect();
        self.inks.push(Ink::Path(corners, self.weight(width), colour));
    }

    pub(crate) fn dashes(&mut self, from: Point, to: Point, width: f64, colour: Colour) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        if !(length > 0.0 && length < 1e5) {
            return;
        }
        let at = |way: f64| (from.0 + dx * way / length, from.1 + dy * way / length);
        let mut way = 0.0;
        while way < length {
            self.line(at(way), at((way + DASH.0).min(length)), width, colour);
            way += DASH.0 + DASH.1;
        }
    }

    /// A marker as a filled shape.
    pub(crate) fn fill(&mut self, shape: Shape, centre: Point, radius: f64, colour: Colour) {
        let ink = if shape == Shape::Circle {
            Ink::Circle { centre: self.corner(centre), radius: self.weight(radius), colour, stroke: None }
        } else {
            Ink::Polygon(self.corners(shape, centre, radius), colour)
        };
        self.inks.push(ink);
    }

    /// A marker as an outline.
    pub(crate) fn outline(&mut self, shape: Shape, centre: Point, radius: f64, colour: Colour) {
        let weight = self.weight(1.6);
        let ink = if shape == Shape::Circle {
            Ink::Circle { centre: self.corner(centre), radius: self.weight(radius), colour, stroke: Some(weight) }
        } else {
            let mut corners = self.corners(shape, centre, radius);
            // Round once and one side further, so that the first corner is joined like the others.
            let again: Vec<_> = corners.iter().take(2).copied().collect();
            corners.extend(again);
            Ink::Path(corners, weight, colour)
        };
        self.inks.push(ink);
    }

    /// Rounds the offsets apart from the centre, so that a shape is symmetric.
    fn corners(&self, shape: Shape, centre: Point, radius: f64) -> Vec<(i32, i32)> {
        let (x, y) = self.corner(centre);
        let corner = |(dx, dy): &Point| (x + self.pixel(dx * radius), y + self.pixel(dy * radius));
        shape.corners().iter().map(corner).collect()
    }

    pub(crate) fn text(&mut self, text: &Text) {
        let (v_pos, y, size) = match self.frame.medium {
            Medium::Canvas => (VPos::Bottom, text.y + (MIDDLE + CANVAS_BOTTOM) * text.size, text.size),
            Medium::Svg => (VPos::Top, text.y + (MIDDLE - SVG_TOP) * text.size, text.size * SVG_FONT),
        };
        let h_pos = match text.align {
            Align::Start => HPos::Left,
            Align::Middle => HPos::Center,
            Align::End => HPos::Right,
        };
        let colour = match text.tone {
            Tone::Ink => self.theme.ink,
            Tone::Muted => self.theme.muted,
            Tone::On(colour) => colour.letter(),
        };
        self.inks.push(Ink::Words {
            text: text.words.clone(),
            place: self.corner((text.x, y)),
            size: size * self.frame.scale,
            pos: Pos::new(h_pos, v_pos),
            weight: if text.bold { FontStyle::Bold } else { FontStyle::Normal },
            colour,
        });
    }
}

fn style(colour: Colour, weight: u32) -> ShapeStyle {
    ShapeStyle { color: solid(colour).to_rgba(), filled: true, stroke_width: weight }
}

fn solid(colour: Colour) -> RGBColor {
    let (red, green, blue) = colour.rgb;
    RGBColor(red, green, blue)
}

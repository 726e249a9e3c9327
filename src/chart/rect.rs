//! Axis-parallel boxes and what they meet, in CSS pixels; y grows downwards.

/// A point: x, y.
pub(crate) type Point = (f64, f64);

/// A box with `x0 <= x1` and `y0 <= y1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x0: f64,
    /// Top edge.
    pub y0: f64,
    /// Right edge.
    pub x1: f64,
    /// Bottom edge.
    pub y1: f64,
}

impl Rect {
    pub(crate) fn new(x0: f64, y0: f64, x1: f64, y1: f64) -> Self {
        Self { x0, y0, x1, y1 }
    }

    /// The square around a point.
    pub(crate) fn around((x, y): Point, reach: f64) -> Self {
        Self::new(x - reach, y - reach, x + reach, y + reach)
    }

    pub(crate) fn width(&self) -> f64 {
        self.x1 - self.x0
    }

    pub(crate) fn grow(&self, by: f64) -> Self {
        Self::new(self.x0 - by, self.y0 - by, self.x1 + by, self.y1 + by)
    }

    /// Whether a pointer at this place is inside; edges count.
    #[must_use]
    pub fn contains(&self, x: f64, y: f64) -> bool {
        (self.x0..=self.x1).contains(&x) && (self.y0..=self.y1).contains(&y)
    }

    pub(crate) fn encloses(&self, other: &Self) -> bool {
        self.contains(other.x0, other.y0) && self.contains(other.x1, other.y1)
    }

    /// Whether the two share more than an edge.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.x0 < other.x1 && other.x0 < self.x1 && self.y0 < other.y1 && other.y0 < self.y1
    }

    /// Whether a straight line from one point to the other passes through, by clipping it against the four edges.
    pub(crate) fn is_crossed(&self, (ax, ay): Point, (bx, by): Point) -> bool {
        let (dx, dy) = (bx - ax, by - ay);
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for (step, room) in [(-dx, ax - self.x0), (dx, self.x1 - ax), (-dy, ay - self.y0), (dy, self.y1 - ay)] {
            if step == 0.0 {
                if room <= 0.0 {
                    return false;
                }
            } else if step < 0.0 {
                enter = enter.max(room / step);
            } else {
                leave = leave.min(room / step);
            }
        }
        enter < leave
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_boxes_do_not_overlap() {
        let unit = Rect::new(0.0, 0.0, 1.0, 1.0);
        assert!(!unit.overlaps(&Rect::new(1.0, 0.0, 2.0, 1.0)));
        assert!(unit.overlaps(&Rect::new(0.9, 0.9, 2.0, 2.0)));
        assert!(unit.grow(1.0).encloses(&unit) && !unit.encloses(&unit.grow(1.0)));
    }

    #[test]
    fn lines_through_beside_and_along_a_box() {
        let square = Rect::new(10.0, 10.0, 20.0, 20.0);
        assert!(square.is_crossed((0.0, 15.0), (30.0, 15.0)));
        assert!(square.is_crossed((0.0, 0.0), (30.0, 30.0)));
        assert!(square.is_crossed((12.0, 12.0), (13.0, 13.0)));
        assert!(!square.is_crossed((0.0, 15.0), (9.0, 15.0)));
        assert!(!square.is_crossed((0.0, 10.0), (30.0, 10.0)), "along the edge");
        assert!(!square.is_crossed((0.0, 25.0), (25.0, 0.0 + 50.0)));
    }
}

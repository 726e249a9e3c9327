//! The course of a line: fewer points where it is straight, and stripes where lines coincide.
//!
//! Backends draw between whole pixels. Points that lie a few pixels apart would make a straight line jitter, so those
//! that lie on the way are left out.

use crate::chart::rect::Point;

/// How far a point may lie beside the line that passes it by, in CSS pixels.
const SLACK: f64 = 0.6;
/// The most points that one straight stretch leaves out.
const REACH: usize = 64;
/// The length of a stripe.
const STRIPE: f64 = 9.0;

/// The points without those that lie on the way.
pub(super) fn straightened(points: &[Point]) -> Vec<Point> {
    let mut kept: Vec<Point> = points.first().copied().into_iter().collect();
    let mut from = 0;
    while from + 1 < points.len() {
        let last = points.len().min(from + REACH) - 1;
        let to = (from + 2..=last).take_while(|to| is_straight(points.get(from..=*to).unwrap_or_default())).last();
        from = to.unwrap_or(from + 1);
        kept.extend(points.get(from));
    }
    kept
}

fn is_straight(points: &[Point]) -> bool {
    let (Some(a), Some(b)) = (points.first(), points.last()) else { return true };
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx.hypot(dy);
    length > 0.0 && points.iter().all(|p| ((p.0 - a.0) * dy - (p.1 - a.1) * dx).abs() <= SLACK * length)
}

/// Every `of`-th stripe of a line, beginning with number `turn`; the whole line where it need not share.
pub(super) fn stripes(points: &[Point], turn: usize, of: usize) -> Vec<Vec<Point>> {
    if of < 2 {
        return vec![points.to_vec()];
    }
    let mut stripes: Vec<Vec<Point>> = Vec::new();
    let mut current: Vec<Point> = Vec::new();
    let (mut left, mut number) = (STRIPE, 0_usize);
    for pair in points.windows(2) {
        let [from, to] = pair else { continue };
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let at = |way: f64| (from.0 + (to.0 - from.0) * way / length, from.1 + (to.1 - from.1) * way / length);
        let mut way = 0.0;
        if current.is_empty() {
            current.push(*from);
        }
        // A plot is some thousand pixels wide: longer lines than this are none.
        while length - way > left && way < 1e5 {
            way += left;
            current.push(at(way));
            let done = std::mem::replace(&mut current, vec![at(way)]);
            if number % of == turn {
                stripes.push(done);
            }
            (left, number) = (STRIPE, number + 1);
        }
        left -= length - way;
        current.push(*to);
    }
    if number % of == turn && current.len() > 1 {
        stripes.push(current);
    }
    stripes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_the_way_are_left_out() {
        let straight: Vec<Point> = (0..50).map(f64::from).map(|x| (x, x / 3.0)).collect();
        assert_eq!(straightened(&straight), [straight[0], straight[49]]);
        let corner = [(0.0, 0.0), (5.0, 0.0), (10.0, 0.0), (10.0, 5.0), (10.0, 10.0)];
        assert_eq!(straightened(&corner), [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)]);
        assert_eq!(straightened(&[]), []);
        assert_eq!(straightened(&[(1.0, 1.0)]), [(1.0, 1.0)]);
        assert_eq!(straightened(&[(1.0, 1.0); 3]).len(), 3);
    }

    #[test]
    fn stripes_take_turns_and_leave_nothing_out() {
        let line = [(0.0, 0.0), (20.0, 0.0), (20.0, 25.0)];
        let length = |stripes: &[Vec<Point>]| -> f64 {
            stripes.iter().flat_map(|s| s.windows(2)).map(|p| (p[1].0 - p[0].0).hypot(p[1].1 - p[0].1)).sum()
        };
        let turns: Vec<f64> = (0..3).map(|turn| length(&stripes(&line, turn, 3))).collect();
        assert_eq!(turns, [18.0, 18.0, 9.0]);
        assert_eq!(stripes(&line, 0, 1), [line.to_vec()]);
        assert!(stripes(&[], 0, 2).is_empty() && stripes(&[(1.0, 1.0)], 0, 2).is_empty());
    }
}

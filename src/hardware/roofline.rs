//! The roofline: the least time that work can take, and what sets it.
//!
//! Work of F FLOPs that moves B bytes takes at least max(F / peak, B / bandwidth), as if computing and moving overlapped
//! perfectly. Its arithmetic intensity is F / B; below the ridge, peak / bandwidth, memory is the limit
//! (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009).

use crate::units::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Intensity, Seconds};

/// What sets the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// The peak compute rate.
    Compute,
    /// The memory bandwidth.
    Memory,
    /// The links between GPUs: of a whole step, never of work on one GPU.
    Communication,
}

/// Where work stands under a roofline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// FLOPs per byte; `None` where nothing is moved.
    pub intensity: Option<Intensity>,
    /// The compute rate at best: the height of the roof over the point, 0 where nothing is computed.
    pub attainable: FlopsPerSecond,
    /// The time at best.
    pub time: Seconds,
    /// What sets it; compute if both do.
    pub bound: Bound,
}

/// Where work stands under the roof of a peak rate and a bandwidth. `None` if there is nothing to do, if one of the
/// rates is not a positive number, or if a result would be no finite number.
#[must_use]
pub fn point(peak: FlopsPerSecond, bandwidth: BytesPerSecond, flops: Flops, bytes: Bytes) -> Option<Point> {
    let (computing, moving) = (flops.at(peak)?, bytes.at(bandwidth)?);
    let bound = if computing >= moving { Bound::Compute } else { Bound::Memory };
    let time = if bound == Bound::Compute { computing } else { moving };
    let attainable = FlopsPerSecond(flops.as_f64() / time.0);
    let exists = time.0 > 0.0 && time.0.is_finite() && attainable.0.is_finite();
    exists.then_some(Point { intensity: flops.per_byte(bytes), attainable, time, bound })
}

impl Bound {
    /// Its name for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Memory => "memory",
            Self::Communication => "communication",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::find;
    use super::*;

    /// A peak of 1000 FLOP/s over 10 B/s: the ridge is at 100.
    fn small(flops: u128, bytes: u128) -> Option<Point> {
        point(FlopsPerSecond(1000.0), BytesPerSecond(10.0), Flops(flops), Bytes(bytes))
    }

    #[track_caller]
    fn stands(flops: u128, bytes: u128, intensity: Option<f64>, attainable: f64, time: f64, bound: Bound) {
        let point = Point {
            intensity: intensity.map(Intensity),
            attainable: FlopsPerSecond(attainable),
            time: Seconds(time),
            bound,
        };
        assert_eq!(small(flops, bytes), Some(point));
    }

    #[test]
    fn both_sides_of_the_ridge_and_the_ridge_itself() {
        stands(50, 1, Some(50.0), 500.0, 0.1, Bound::Memory);
        stands(2000, 10, Some(200.0), 1000.0, 2.0, Bound::Compute);
        stands(1000, 10, Some(100.0), 1000.0, 1.0, Bound::Compute);
    }

    #[test]
    fn only_computing_only_moving_and_neither() {
        stands(1000, 0, None, 1000.0, 1.0, Bound::Compute);
        stands(0, 10, Some(0.0), 0.0, 1.0, Bound::Memory);
        assert_eq!(small(0, 0), None);
    }

    #[test]
    fn no_roof_without_rates() {
        for (peak, bandwidth) in [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY), (1e-320, 1.0)] {
            let point = point(FlopsPerSecond(peak), BytesPerSecond(bandwidth), Flops(0), Bytes(1));
            assert!(point.is_none_or(|point| point.time.0.is_finite()), "{peak} {bandwidth}");
        }
        assert_eq!(point(FlopsPerSecond(f64::INFINITY), BytesPerSecond(1.0), Flops(1), Bytes(0)), None);
    }

    #[test]
    fn an_h200_in_fp8_turns_at_412() {
        let h200 = find("h200-sxm").unwrap();
        let bound = |flops| point(h200.peaks.fp8.unwrap(), h200.bandwidth, Flops(flops), Bytes(1000)).unwrap().bound;
        assert_eq!((bound(412_200), bound(412_300)), (Bound::Memory, Bound::Compute));
    }

    proptest! {
        #[test]
        fn a_point_is_finite_and_under_both_roofs(
            peak in 1e-3..1e18, bandwidth in 1e-3..1e15, flops in any::<u128>(), bytes in any::<u128>(),
        ) {
            let point = point(FlopsPerSecond(peak), BytesPerSecond(bandwidth), Flops(flops), Bytes(bytes)).unwrap();
            prop_assert!(point.time.0.is_finite() && point.time.0 > 0.0);
            prop_assert!(point.attainable.0 <= peak * (1.0 + 1e-12));
            let slope = point.intensity.map_or(f64::INFINITY, |intensity| intensity.0 * bandwidth);
            prop_assert!(point.attainable.0 <= slope * (1.0 + 1e-12));
        }
    }
}

//! Quantities as types: a FLOP count is never added to a byte count, and a rate is not an amount.
//!
//! Amounts are exact 128-bit integers (a long prefill of a large model in global scope passes 2^64); rates, times and
//! intensities are `f64`, and a ratio that does not exist (nothing moved, no time passed) is `None`, never `NaN`.

use std::iter::Sum;
use std::ops::Add;

/// A number of floating-point operations; one multiply-add counts as 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flops(pub u128);

/// A number of bytes moved to or from device memory, or held in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u128);

/// A compute rate in FLOP per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct FlopsPerSecond(pub f64);

/// A transfer rate in bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct BytesPerSecond(pub f64);

/// A duration in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Seconds(pub f64);

/// Arithmetic intensity in FLOP per byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Intensity(pub f64);

macro_rules! amount {
    ($($unit:ident)*) => {$(
        impl $unit {
            /// The amount as `f64`, for ratios, rates and drawing; exact below 2^53.
            #[must_use]
            pub fn as_f64(self) -> f64 {
                self.0 as f64
            }
        }

        /// Saturates: a sum that passed 2^128 stays at the largest value instead of wrapping to a small one.
        impl Add for $unit {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl Sum for $unit {
            fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
                amounts.fold(Self::default(), Add::add)
            }
        }
    )*};
}
amount!(Flops Bytes);

impl Flops {
    /// Operations per byte moved; `None` when nothing is moved.
    #[must_use]
    pub fn per_byte(self, moved: Bytes) -> Option<Intensity> {
        (moved.0 > 0).then(|| Intensity(self.as_f64() / moved.as_f64()))
    }

    /// The time this takes at a rate; `None` when the rate is not a positive number.
    #[must_use]
    pub fn at(self, rate: FlopsPerSecond) -> Option<Seconds> {
        (rate.0 > 0.0).then(|| Seconds(self.as_f64() / rate.0))
    }
}

impl Bytes {
    /// The time this takes at a rate; `None` when the rate is not a positive number.
    #[must_use]
    pub fn at(self, rate: BytesPerSecond) -> Option<Seconds> {
        (rate.0 > 0.0).then(|| Seconds(self.as_f64() / rate.0))
    }
}

impl FlopsPerSecond {
    /// The ridge point: the arithmetic intensity from which compute, not memory, is the limit.
    #[must_use]
    pub fn ridge(self, bandwidth: BytesPerSecond) -> Option<Intensity> {
        (bandwidth.0 > 0.0).then(|| Intensity(self.0 / bandwidth.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ridge_point_of_an_h200_in_fp8_is_412_flop_per_byte() {
        let ridge = FlopsPerSecond(1979e12).ridge(BytesPerSecond(4800e9));
        assert_eq!(ridge.map(|r| r.0.round()), Some(412.0));
    }

    #[test]
    fn ratios_that_do_not_exist_are_none() {
        assert_eq!(Flops(1).per_byte(Bytes(0)), None);
        assert_eq!(Flops(1).at(FlopsPerSecond(0.0)), None);
        assert_eq!(Bytes(1).at(BytesPerSecond(f64::NAN)), None);
        assert_eq!(FlopsPerSecond(1.0).ridge(BytesPerSecond(-1.0)), None);
    }

    #[test]
    fn sums_pass_2_to_the_64_and_saturate_at_2_to_the_128() {
        let total: Flops = [Flops(u128::from(u64::MAX)), Flops(1)].into_iter().sum();
        assert_eq!(total, Flops(1 << 64));
        assert_eq!(Bytes(u128::MAX) + Bytes(1), Bytes(u128::MAX));
    }
}

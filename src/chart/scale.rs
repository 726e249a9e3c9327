//! Scales: a domain of numbers onto a range of pixels, and where the ticks stand.
//!
//! A domain is always sane: what is not finite is left out of it, a logarithmic one leaves out what is not positive
//! too, and nothing at all gives 0..1 or one decade from 1. Positions are clamped to the range, so no number, however
//! odd, leads outside the chart.

use crate::decimal::power_of_ten;

/// Half a decade.
const ROOT_OF_TEN: f64 = 3.162_277_660_168_379_5;

/// From 0 to the largest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear {
    max: f64,
    range: (f64, f64),
}

impl Linear {
    /// The scale from 0 to the largest of the values.
    #[must_use]
    pub fn fit(values: impl IntoIterator<Item = f64>) -> Self {
        let max = values.into_iter().filter(|v| v.is_finite()).fold(0.0, f64::max);
        Self { max: if max > 0.0 { max } else { 1.0 }, range: (0.0, 1.0) }
    }

    /// The same domain onto the pixels `from`..`to`.
    #[must_use]
    pub fn over(self, from: f64, to: f64) -> Self {
        Self { range: (from, to), ..self }
    }

    /// The largest value of the domain.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.max
    }

    /// Where a value stands; what is not a number stands at 0.
    #[must_use]
    pub fn at(&self, value: f64) -> f64 {
        between(self.range, value / self.max)
    }

    /// Ticks from 0 in steps of 1, 2 or 5 times a power of ten, at most so many beside the 0.
    #[must_use]
    pub fn ticks(&self, at_most: u32) -> Vec<f64> {
        let rough = self.max / f64::from(at_most.clamp(1, 1000));
        let power = power_of_ten(floor(rough.log10()));
        let step = [1.0, 2.0, 5.0].map(|m| m * power).into_iter().find(|step| *step >= rough * (1.0 - 1e-9));
        let step = step.unwrap_or(10.0 * power);
        (0..=1000).map(|i| f64::from(i) * step).take_while(|tick| *tick <= self.max * (1.0 + 1e-9)).collect()
    }
}

/// Powers of ten at equal distances; ends on a whole or half decade and spans at least one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Log {
    /// Ends in half decades: 0 is 1, 1 is the root of 10, 2 is 10.
    ends: (i32, i32),
    range: (f64, f64),
}

impl Log {
    /// The scale that holds the values with at least so many decades to spare at both ends.
    #[must_use]
    pub fn fit(values: impl IntoIterator<Item = f64>, spare: f64) -> Self {
        let logs = values.into_iter().filter(|v| v.is_finite() && *v > 0.0).map(f64::log10);
        let found = logs.fold(None, |ends: Option<(f64, f64)>, log| {
            Some(ends.map_or((log, log), |(low, high)| (low.min(log), high.max(log))))
        });
        let ends = found.map_or((0, 2), |(low, high)| {
            let (low, high) = (floor((low - spare) * 2.0), -floor((high + spare) * -2.0));
            // Too narrow a domain grows upwards first, then downwards.
            match high - low {
                2.. => (low, high),
                1 => (low, high + 1),
                _ => (low - 1, low + 1),
            }
        });
        Self { ends, range: (0.0, 1.0) }
    }

    /// The same domain onto the pixels `from`..`to`; for an axis that points up, `from` is the larger.
    #[must_use]
    pub fn over(self, from: f64, to: f64) -> Self {
        Self { range: (from, to), ..self }
    }

    /// The same with half a decade more at the upper end.
    #[must_use]
    pub fn raised(self) -> Self {
        Self { ends: (self.ends.0, self.ends.1 + 1), ..self }
    }

    /// The smallest and the largest value of the domain.
    #[must_use]
    pub fn domain(&self) -> (f64, f64) {
        let value =
            |half: i32| power_of_ten(half.div_euclid(2)) * if half.rem_euclid(2) == 1 { ROOT_OF_TEN } else { 1.0 };
        (value(self.ends.0), value(self.ends.1))
    }

    /// Where a value stands; what has no logarithm stands at the lower end.
    #[must_use]
    pub fn at(&self, value: f64) -> f64 {
        let log = if value > 0.0 { value.log10() } else { f64::NEG_INFINITY };
        let (low, high) = self.ends;
        between(self.range, (log * 2.0 - f64::from(low)) / f64::from(high - low))
    }

    /// Ticks on the decades; on every second, third, fifth... if there are more than `at_most`, and on 1, 2 and 5 if a
    /// domain of less than three decades has room for them.
    #[must_use]
    pub fn ticks(&self, at_most: usize) -> Vec<f64> {
        let decades = (self.ends.0 + 1).div_euclid(2)..=self.ends.1.div_euclid(2);
        if decades.clone().count() < 3 {
            let fine = self.fine_ticks();
            if fine.len() <= at_most {
                return fine;
            }
        }
        let thinned = |step: i32| decades.clone().filter(move |decade| decade.rem_euclid(step) == 0);
        let step = [1, 2, 3, 5, 10, 20, 50, 100, 200].into_iter().find(|step| thinned(*step).count() <= at_most.max(1));
        thinned(step.unwrap_or(500)).map(power_of_ten).collect()
    }

    fn fine_ticks(&self) -> Vec<f64> {
        let inside = |tick: &f64| {
            let half = tick.log10() * 2.0;
            half > f64::from(self.ends.0) - 1e-9 && half < f64::from(self.ends.1) + 1e-9
        };
        (self.ends.0.div_euclid(2)..=self.ends.1.div_euclid(2))
            .flat_map(|decade| [1.0, 2.0, 5.0].map(|m| m * power_of_ten(decade)))
            .filter(inside)
            .collect()
    }
}

/// Powers at equal distances, from exactly the smallest value to exactly the largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// Logarithms to the base 2.
    ends: (f64, f64),
    range: (f64, f64),
}

/// The base of the powers that ticks stand at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// 1, 2, 4, 8...
    Two,
    /// 1, 10, 100...
    Ten,
}

impl Exact {
    /// The scale that holds the values; a single one stands in the middle of two doublings.
    #[must_use]
    pub fn fit(values: impl IntoIterator<Item = f64>) -> Self {
        let logs = values.into_iter().filter(|v| v.is_finite() && *v > 0.0).map(f64::log2);
        let ends = logs.fold(None, |ends: Option<(f64, f64)>, log| {
            Some(ends.map_or((log, log), |(low, high)| (low.min(log), high.max(log))))
        });
        let (low, high) = ends.unwrap_or((0.0, 1.0));
        Self { ends: if high > low { (low, high) } else { (low - 1.0, high + 1.0) }, range: (0.0, 1.0) }
    }

    /// The same domain onto the pixels `from`..`to`.
    #[must_use]
    pub fn over(self, from: f64, to: f64) -> Self {
        Self { range: (from, to), ..self }
    }

    /// Where a value stands; what has no logarithm stands at the lower end.
    #[must_use]
    pub fn at(&self, value: f64) -> f64 {
        let log = if value > 0.0 { value.log2() } else { f64::NEG_INFINITY };
        between(self.range, (log - self.ends.0) / (self.ends.1 - self.ends.0))
    }

    /// Ticks at the powers of 2 or 10 within the domain: at every one, or every second, third... if there are more than
    /// `at_most`.
    #[must_use]
    pub fn ticks(&self, base: Base, at_most: usize) -> Vec<f64> {
        let unit = if base == Base::Two { 1.0 } else { std::f64::consts::LOG2_10 };
        let (low, high) = (-floor(1e-9 - self.ends.0 / unit), floor(self.ends.1 / unit + 1e-9));
        let thinned = |step: i32| (low..=high).filter(move |power| power.rem_euclid(step) == 0);
        let step = [1, 2, 3, 4, 5, 8, 10, 20, 50, 100, 200].into_iter().find(|s| thinned(*s).count() <= at_most.max(1));
        let value = |power: i32| if base == Base::Two { power_of_two(power) } else { power_of_ten(power) };
        thinned(step.unwrap_or(500)).map(value).collect()
    }
}

/// Two to a whole power of the normal numbers, held within them.
fn power_of_two(power: i32) -> f64 {
    let biased = u64::from(power.clamp(-1022, 1023).wrapping_add(1023).unsigned_abs());
    f64::from_bits(biased << 52)
}

/// The place at a share of the way from one end to the other, held between them; NaN is at the first.
fn between((from, to): (f64, f64), share: f64) -> f64 {
    let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    from + (to - from) * share
}

#[expect(clippy::cast_possible_truncation, reason = "logarithms of f64 lie within -324..309")]
fn floor(log: f64) -> i32 {
    log.floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: [f64; 8] =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -5.0, f64::MIN_POSITIVE / 8.0, f64::MAX];

    #[track_caller]
    fn linear(max: f64, at_most: u32, ticks: &[f64]) {
        assert_eq!(Linear::fit([max]).ticks(at_most), ticks, "0..{max}, at most {at_most}");
    }

    #[test]
    fn linear_ticks() {
        linear(10.0, 5, &[0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        linear(10.0, 4, &[0.0, 5.0, 10.0]);
        linear(10.0, 1, &[0.0, 10.0]);
        linear(628.0, 4, &[0.0, 200.0, 400.0, 600.0]);
        linear(628.0, 7, &[0.0, 100.0, 200.0, 300.0, 400.0, 500.0, 600.0]);
        linear(0.35, 4, &[0.0, 0.1, 0.2, 0.300_000_000_000_000_04]);
        linear(1.0, 0, &[0.0, 1.0]);
        linear(1e300, 2, &[0.0, 5e299, 1e300]);
        linear(2e-300, 2, &[0.0, 1e-300, 2e-300]);
    }

    #[test]
    fn odd_linear_domains_are_0_to_1() {
        for odd in [f64::NAN, f64::INFINITY, 0.0, -3.0] {
            assert_eq!(Linear::fit([odd]).ticks(2), [0.0, 0.5, 1.0]);
        }
        assert_eq!(Linear::fit([]), Linear::fit([1.0]));
        assert!((Linear::fit([f64::NAN, 7.0, f64::INFINITY]).max() - 7.0).abs() < f64::EPSILON);
    }

    #[test]
    fn positions_stay_in_the_range() {
        let (linear, log) = (Linear::fit([10.0]).over(100.0, 200.0), Log::fit([1.0, 1000.0], 0.0).over(300.0, 0.0));
        assert!((linear.at(5.0) - 150.0).abs() < 1e-9);
        assert!((log.at(10.0) - 200.0).abs() < 1e-9);
        for odd in ODD {
            assert!((100.0..=200.0).contains(&linear.at(odd)), "{odd}");
            assert!((0.0..=300.0).contains(&log.at(odd)), "{odd}");
        }
    }

    #[track_caller]
    fn log(values: &[f64], at_most: usize, ticks: &[f64]) {
        assert_eq!(Log::fit(values.iter().copied(), 0.0).ticks(at_most), ticks, "{values:?}, at most {at_most}");
    }

    #[test]
    fn log_ticks() {
        log(&[1.0, 1e4], 9, &[1.0, 10.0, 100.0, 1e3, 1e4]);
        log(&[1.0, 1e4], 4, &[1.0, 100.0, 1e4]);
        log(&[1.0, 1e4], 1, &[1.0]);
        log(&[0.02, 700.0], 9, &[0.01, 0.1, 1.0, 10.0, 100.0, 1e3]);
        log(&[0.04, 300.0], 9, &[0.1, 1.0, 10.0, 100.0]);
        log(&[2.0, 30.0], 9, &[1.0, 2.0, 5.0, 10.0, 20.0]);
        log(&[2.0, 30.0], 3, &[1.0, 10.0]);
        log(&[5.0], 9, &[5.0, 10.0, 20.0]);
        log(&[100.0, 100.0], 9, &[50.0, 100.0, 200.0]);
        log(&[1e-300, 1e300], 7, &[1e-300, 1e-200, 1e-100, 1.0, 1e100, 1e200, 1e300]);
        log(&[1e-300, 1e300], 0, &[1.0]);
    }

    #[test]
    fn odd_log_domains_are_one_decade_from_1() {
        for odd in [f64::NAN, f64::INFINITY, 0.0, -3.0] {
            log(&[odd], 9, &[1.0, 2.0, 5.0, 10.0]);
        }
        log(&[], 9, &[1.0, 2.0, 5.0, 10.0]);
        for odd in ODD {
            let ticks = Log::fit([odd], 0.1).ticks(5);
            assert!(!ticks.is_empty() && ticks.iter().all(|t| *t > 0.0), "{odd}: {ticks:?}");
        }
    }

    #[test]
    fn exact_domains_end_at_the_data() {
        let scale = Exact::fit([3.0, 24.0, f64::NAN, -1.0]).over(0.0, 300.0);
        assert!((scale.at(3.0), scale.at(6.0), scale.at(24.0)) == (0.0, 100.0, 300.0));
        assert_eq!(scale.ticks(Base::Two, 9), [4.0, 8.0, 16.0]);
        assert_eq!(scale.ticks(Base::Ten, 9), [10.0]);
        assert_eq!(Exact::fit([1.0, 131_072.0]).ticks(Base::Two, 9), (0..9).map(|i| 4_f64.powi(i)).collect::<Vec<_>>());
        assert_eq!(Exact::fit([8.0]).ticks(Base::Two, 9), [4.0, 8.0, 16.0]);
        assert_eq!(Exact::fit([0.001, 1000.0]).ticks(Base::Ten, 9).len(), 7);
        for odd in ODD {
            let scale = Exact::fit([odd]).over(0.0, 300.0);
            assert!((0.0..=300.0).contains(&scale.at(odd)), "{odd}");
            assert!(scale.ticks(Base::Two, 5).len() <= 5, "{odd}");
        }
    }

    #[test]
    fn log_domains_span_a_decade_and_hold_the_spare() {
        for (values, spare) in [([20.0, 30.0], 0.0), ([1.0, 10.0], 0.1), ([3e-9, 4e11], 0.2), ([10.0, 10.0], 0.0)] {
            let (low, high) = Log::fit(values, spare).domain();
            let margin = 10_f64.powf(spare) * (1.0 - 1e-9);
            assert!(low * margin <= values[0] && high >= values[1] * margin, "{values:?}");
            assert!(high / low > 9.99, "{values:?}");
        }
    }
}

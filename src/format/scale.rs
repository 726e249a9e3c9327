//! One prefix for all the values of a column.

use super::{Unit, round, significant, with_suffix};

/// One prefix for a whole column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    unit: Unit,
    prefix: &'static str,
    factor: f64,
}

impl Scale {
    /// The prefix for the largest of these values, whatever its sign; values that do not exist have no say.
    #[must_use]
    pub fn of(unit: Unit, values: &[f64]) -> Self {
        let finite = values.iter().map(|value| value.abs()).filter(|value| value.is_finite());
        Self::for_largest(unit, finite.fold(0.0, f64::max))
    }

    /// The largest prefix that leaves the value, once rounded, at 1 or above: 999.6 M is `1.00 G`.
    #[must_use]
    pub fn for_largest(unit: Unit, largest: f64) -> Self {
        let bare = ("", 1.0);
        let fits = |&&(_, factor): &&(&'static str, f64)| round(largest / factor).is_some_and(|(_, power)| power >= 0);
        let (prefix, factor) = if largest == 0.0 || !largest.is_finite() {
            bare
        } else {
            let found = unit.prefixes.iter().rev().find(fits).or(unit.prefixes.first());
            found.copied().unwrap_or(bare)
        };
        Self { unit, prefix, factor }
    }

    /// The unit with its prefix, for the head of the column: `TFLOP`.
    #[must_use]
    pub fn symbol(&self) -> String {
        [self.prefix, self.unit.symbol].concat()
    }

    /// A value in that unit, without it: `129`. What is too small for the column is `<0.001`, not zero.
    #[must_use]
    pub fn number(&self, value: f64) -> String {
        let scaled = value / self.factor;
        // So small that the division lost it: still not zero.
        let text = significant(if scaled == 0.0 && value != 0.0 { f64::MIN_POSITIVE.copysign(value) } else { scaled });
        let counted = self.unit.counts && self.prefix.is_empty() && value.fract() == 0.0;
        if counted && text.contains('.') {
            return text.trim_end_matches('0').trim_end_matches('.').to_owned();
        }
        text
    }

    /// This scale, or the value's own where it is too small for this one to say more than `<0.001`.
    #[must_use]
    pub fn fitting(&self, value: f64) -> Self {
        let lost = value != 0.0 && round(value / self.factor).is_none_or(|(_, power)| power < -3);
        if lost { Self::for_largest(self.unit, value) } else { *self }
    }

    /// A value as a cell of a column in that unit: bare, or with its own unit where it is too small for the column.
    #[must_use]
    pub fn cell(&self, value: f64) -> String {
        let own = self.fitting(value);
        if own == *self { self.number(value) } else { own.text(value) }
    }

    /// A value with its unit: `129 TFLOP`; only [`NONE`](super::NONE) stands without one.
    #[must_use]
    pub fn text(&self, value: f64) -> String {
        let own = self.fitting(value);
        with_suffix(own.number(value), &[" ", own.prefix, own.unit.symbol].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::super::NONE;
    use super::*;

    #[test]
    fn a_column_has_one_prefix_and_hides_nothing_as_zero() {
        let scale = Scale::of(Unit::FLOP, &[1.2e9, -3.4e12, f64::NAN, 0.0]);
        assert_eq!(scale.symbol(), "TFLOP");
        let column = [-3.4e12, 1.2e9, 452.0, 0.0, f64::INFINITY].map(|value| scale.number(value));
        assert_eq!(column, ["-3.40", "0.00120", "<0.001", "0", NONE]);
        assert_eq!(Scale::of(Unit::BYTE, &[]).symbol(), "B");
        assert_eq!(Scale::of(Unit::BYTE, &[999.7e9]).symbol(), "TB");
    }

    #[test]
    fn what_is_too_small_for_a_column_has_its_own_prefix() {
        let scale = Scale::of(Unit::FLOP, &[3.4e18]);
        assert_eq!(scale.cell(3.4e18), "3.40");
        assert_eq!(scale.cell(5.2e15), "0.00520");
        assert_eq!(scale.cell(5.2e12), "5.20 TFLOP");
        assert_eq!(scale.text(5.2e12), "5.20 TFLOP");
        assert_eq!((scale.cell(0.0).as_str(), scale.cell(f64::NAN).as_str()), ("0", NONE));
        assert_eq!(scale.fitting(5.2e12).symbol(), "TFLOP");
    }
}

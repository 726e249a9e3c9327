//! All print policy: how a number becomes text, the same in tables, tiles, charts and exports.
//!
//! Three significant digits, decimal prefixes for amounts moved and rates, binary ones for capacity, and one prefix for
//! a whole column. A number that does not exist prints as [`NONE`]; a quantity that is not zero never prints as zero.

mod scale;
mod unit;

pub use scale::Scale;
pub use unit::Unit;

use crate::units::{Bytes, Seconds};

/// What stands for a value that does not exist: not a number, or infinite.
pub const NONE: &str = "–";

/// The separator of thousands: a narrow no-break space, so that a number neither breaks nor reads as a decimal comma.
pub const THIN_SPACE: char = '\u{202f}';

/// From this power of ten on, a plain number would be all zeros, and the exponent says more.
const SCIENTIFIC: usize = 15;

/// A single value, with the prefix that suits it: `129 TFLOP`, `85.9 GB`, `452 FLOP/B`, `0 B`, [`NONE`].
#[must_use]
pub fn si(value: f64, unit: Unit) -> String {
    Scale::for_largest(unit, value).text(value)
}

/// Bytes held in memory, with a binary prefix: `79.2 GiB`.
#[must_use]
pub fn capacity(held: Bytes) -> String {
    si(held.as_f64(), Unit::CAPACITY)
}

/// A duration, from nanoseconds to seconds: `65.0 ms`.
#[must_use]
pub fn duration(time: Seconds) -> String {
    si(time.0, Unit::SECOND)
}

/// How many times as much: `1.42×`.
#[must_use]
pub fn ratio(value: f64) -> String {
    with_suffix(significant(value), "×")
}

/// A fraction of 1 as a percentage: 0.452 is `45.2%`.
#[must_use]
pub fn percent(fraction: f64) -> String {
    with_suffix(significant(fraction * 100.0), "%")
}

/// Three significant digits: `0.0123`, `1.23`, `12.3`, `123`, `1 230` (with a [`THIN_SPACE`]); `<0.001` below 0.001,
/// an exponent from 10^15 on.
#[must_use]
pub fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let Some((digits, power)) = round(value) else { return NONE.to_owned() };
    let sign = if value < 0.0 { "-" } else { "" };
    let Ok(places) = usize::try_from(power) else {
        let zeros = usize::try_from(power.unsigned_abs()).unwrap_or(usize::MAX);
        return match (zeros, sign) {
            (1..=3, _) => format!("{sign}0.{}{digits}", "0".repeat(zeros - 1)),
            (_, "") => "<0.001".to_owned(),
            _ => ">-0.001".to_owned(),
        };
    };
    let point = if places < SCIENTIFIC { places + 1 } else { 1 };
    let number = match digits.split_at_checked(point) {
        Some((whole, "")) => whole.to_owned(),
        Some((whole, decimals)) => [whole, ".", decimals].concat(),
        None => group(&[digits.as_str(), &"0".repeat(point - digits.len())].concat()),
    };
    let exponent = if places < SCIENTIFIC { String::new() } else { format!("e{places}") };
    [sign, &number, &exponent].concat()
}

/// A whole number, exact, its thousands set apart by a [`THIN_SPACE`]; it can be typed back as it stands.
#[must_use]
pub fn grouped(value: u128) -> String {
    group(&value.to_string())
}

/// Somebody's text inside a message: in backticks, and cut if it is long.
#[must_use]
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST).and_then(|(end, _)| text.get(..end)) {
        Some(start) => format!("`{start}…`"),
        None => format!("`{text}`"),
    }
}

/// The end of a message: a full stop, or the suggestion that there is.
#[must_use]
pub fn did_you_mean(meant: Option<&str>) -> String {
    meant.map_or_else(|| ".".to_owned(), |meant| format!("; did you mean {}?", quoted(meant)))
}

/// The three leading digits of the magnitude and the power of ten of the first; `None` if there are none. The standard
/// formatting rounds the exact value and carries into the power.
fn round(value: f64) -> Option<(String, i32)> {
    if !value.is_finite() || value == 0.0 {
        return None;
    }
    let text = format!("{:.2e}", value.abs());
    let (mantissa, power) = text.split_once('e')?;
    Some((mantissa.replace('.', ""), power.parse().ok()?))
}

fn group(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() * 2);
    for (place, digit) in (0..digits.len()).rev().zip(digits.chars()) {
        out.push(digit);
        if place > 0 && place % 3 == 0 {
            out.push(THIN_SPACE);
        }
    }
    out
}

fn with_suffix(number: String, suffix: &str) -> String {
    if number == NONE { number } else { number + suffix }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn prints(value: f64, unit: Unit, expected: &str) {
        assert_eq!(si(value, unit).replace(THIN_SPACE, "_"), expected);
    }

    #[test]
    fn single_values_have_three_digits_and_a_prefix_that_suits_them() {
        prints(1.294e14, Unit::FLOP, "129 TFLOP");
        prints(85.9e9, Unit::BYTE, "85.9 GB");
        prints(452.1, Unit::INTENSITY, "452 FLOP/B");
        prints(4523.0, Unit::INTENSITY, "4_520 FLOP/B");
        prints(0.0123, Unit::INTENSITY, "0.0123 FLOP/B");
        prints(1979e12, Unit::FLOP_PER_SECOND, "1.98 PFLOP/s");
        prints(900e9, Unit::BYTE_PER_SECOND, "900 GB/s");
        prints(1e27, Unit::FLOP, "1_000 YFLOP");
        prints(-1.5e9, Unit::BYTE, "-1.50 GB");
    }

    #[test]
    fn durations_go_down_to_nanoseconds_and_stay_in_seconds() {
        prints(0.065, Unit::SECOND, "65.0 ms");
        prints(12.34e-6, Unit::SECOND, "12.3 µs");
        prints(5e-10, Unit::SECOND, "0.500 ns");
        prints(3723.0, Unit::SECOND, "3_720 s");
        assert_eq!(duration(Seconds(2.0)), "2.00 s");
    }

    #[test]
    fn capacity_is_binary_and_never_called_gb() {
        assert_eq!(capacity(Bytes(85_018_877_624)), "79.2 GiB");
        assert_eq!(capacity(Bytes(70_272)), "68.6 KiB");
        prints(1023.99 * 1024.0 * 1024.0, Unit::CAPACITY, "1.00 GiB");
        prints(1020.0 * 1024.0 * 1024.0, Unit::CAPACITY, "1_020 MiB");
    }

    #[test]
    fn rounding_carries_into_the_prefix() {
        prints(999.6e6, Unit::BYTE, "1.00 GB");
        prints(999.4e6, Unit::BYTE, "999 MB");
        prints(999.6e-6, Unit::SECOND, "1.00 ms");
        assert_eq!(significant(9.996), "10.0");
        assert_eq!(significant(0.09996), "0.100");
    }

    #[test]
    fn counted_things_without_a_prefix_have_no_decimals() {
        prints(5.0, Unit::BYTE, "5 B");
        prints(10.0, Unit::FLOP, "10 FLOP");
        prints(0.5, Unit::BYTE, "0.500 B");
        prints(5e3, Unit::BYTE, "5.00 kB");
    }

    #[test]
    fn zero_tiny_huge_and_missing_values_are_defined() {
        prints(0.0, Unit::BYTE, "0 B");
        prints(-0.0, Unit::SECOND, "0 s");
        prints(1e-15, Unit::SECOND, "<0.001 ns");
        prints(-1e-15, Unit::SECOND, ">-0.001 ns");
        prints(f64::MIN_POSITIVE / 8.0, Unit::FLOP, "<0.001 FLOP");
        prints(f64::MAX, Unit::FLOP, "1.80e284 YFLOP");
        for missing in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            prints(missing, Unit::FLOP, NONE);
            assert_eq!((ratio(missing), percent(missing)), (NONE.to_owned(), NONE.to_owned()));
        }
    }

    #[test]
    fn ratios_percentages_and_exact_numbers() {
        assert_eq!(ratio(1.4249), "1.42×");
        assert_eq!(percent(0.4523), "45.2%");
        assert_eq!(percent(1.0), "100%");
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_050_673_152).replace(THIN_SPACE, "_"), "1_050_673_152");
        assert_eq!(grouped(u128::MAX).chars().count(), 39 + 12);
    }

    #[test]
    fn quotes_are_cut() {
        assert_eq!(quoted("8k"), "`8k`");
        assert_eq!(quoted(&"é".repeat(41)), format!("`{}…`", "é".repeat(40)));
    }
}

//! Decimal texts as floats, correctly rounded.
//!
//! The standard library does the same faster, with a table of powers that would be a thirtieth of the page's whole
//! weight. Here most numbers are one division or product of integers; for the rest a big integer is multiplied or divided by
//! ten until the exponent is used up.

/// The most digits that are looked at; further ones can only decide between neighbours when all of these are equal.
const MOST_DIGITS: usize = 400;

/// Reads `[+-]digits[.digits][e[+-]digits]`; `None` for anything else. Too large becomes infinite, too small 0.
#[must_use]
pub fn parse(text: &str) -> Option<f64> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, small_integer(exponent)?),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    if let Some(value) = short(whole, fraction, exponent) {
        return Some(if negative { -value } else { value });
    }
    let (mut digits, mut power, mut seen) = (Big::default(), exponent, 0);
    for (at, byte) in whole.bytes().chain(fraction.bytes()).enumerate() {
        if !byte.is_ascii_digit() {
            return None;
        }
        let in_fraction = at >= whole.len();
        if seen < MOST_DIGITS {
            digits.times_plus(10, u32::from(byte - b'0'));
            seen += usize::from(!digits.is_zero());
            power -= i64::from(in_fraction);
        } else {
            power += i64::from(!in_fraction);
        }
    }
    let value = digits.scaled(power);
    Some(if negative { -value } else { value })
}

/// The powers of ten that are floats without rounding.
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The value where the digits fit 64 bits and the power of ten is small; `None` elsewhere. If both are exact as floats,
/// one operation on them rounds once (Clinger: How to read floating point numbers accurately, 1990).
fn short(whole: &str, fraction: &str, exponent: i64) -> Option<f64> {
    if whole.len() + fraction.len() > 19 {
        return None;
    }
    let mut digits = 0_u64;
    for byte in whole.bytes().chain(fraction.bytes()) {
        if !byte.is_ascii_digit() {
            return None;
        }
        digits = digits * 10 + u64::from(byte - b'0');
    }
    let power = exponent - i64::try_from(fraction.len()).ok()?;
    let size = usize::try_from(power.unsigned_abs()).ok()?;
    match EXACT.get(size) {
        Some(factor) if digits <= 1 << 53 => {
            Some(if power < 0 { digits as f64 / factor } else { digits as f64 * factor })
        }
        _ if power < 0 => quotient(digits, 10_u64.checked_pow(u32::try_from(size).ok()?)?),
        _ => None,
    }
}

/// The quotient of two integers, the first of them positive, rounded to the nearest float, ties to even.
fn quotient(digits: u64, divisor: u64) -> Option<f64> {
    let (digits, divisor) = (u128::from(digits), u128::from(divisor));
    // With its first bit in the first of 128 places, a quotient by less than 2^64 keeps at least 64 bits.
    let shift = digits.leading_zeros();
    let scaled = digits.checked_shl(shift)?;
    let (quotient, rest) = (scaled.checked_div(divisor)?, scaled.checked_rem(divisor)?);
    let dropped = (128 - quotient.leading_zeros()).checked_sub(53)?;
    let (mantissa, below) = (quotient >> dropped, quotient & ((1 << dropped) - 1));
    let half = 1 << dropped.checked_sub(1)?;
    let up = below > half || (below == half && (rest > 0 || mantissa & 1 == 1));
    let exponent = 1023 + i64::from(dropped) - i64::from(shift);
    Some((mantissa + u128::from(up)) as f64 * f64::from_bits(u64::try_from(exponent).ok()? << 52))
}

/// An exponent; far beyond any float it may be cut.
fn small_integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = digits.bytes().fold(0_i64, |value, byte| (value * 10 + i64::from(byte - b'0')).min(100_000));
    Some(if negative { -value } else { value })
}

/// An unsigned integer of any size, 32 bits a place, the lowest first.
#[derive(Default)]
struct Big(Vec<u32>);

impl Big {
    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    #[expect(clippy::cast_possible_truncation, reason = "the low half of 64 bits is meant")]
    fn times_plus(&mut self, factor: u32, add: u32) {
        let mut carry = u64::from(add);
        for place in &mut self.0 {
            carry += u64::from(*place) * u64::from(factor);
            *place = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// Divides by ten; whether a remainder was lost.
    #[expect(clippy::cast_possible_truncation, reason = "a digit of the quotient fits")]
    fn divide_by_ten(&mut self) -> bool {
        let mut rest = 0_u64;
        for place in self.0.iter_mut().rev() {
            rest = rest << 32 | u64::from(*place);
            *place = (rest / 10) as u32;
            rest %= 10;
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        rest > 0
    }

    fn bits(&self) -> i64 {
        let top = self.0.last().map_or(32, |top| i64::from(top.leading_zeros()));
        i64::try_from(self.0.len()).unwrap_or(i64::MAX / 64) * 32 - top
    }

    /// The bits from `low` on, which must be at most 64, and whether any bit below is set.
    fn bits_from(&self, low: i64) -> (u64, bool) {
        let (mut value, mut below) = (0_u64, false);
        for (at, place) in (0_i64..).step_by(32).zip(&self.0) {
            let shift = at - low;
            if shift >= 0 {
                value |= u64::from(*place).checked_shl(u32::try_from(shift).unwrap_or(64)).unwrap_or(0);
            } else if shift > -32 {
                value |= u64::from(*place) >> -shift;
                below |= *place << (32 + shift) != 0;
            } else {
                below |= *place != 0;
            }
        }
        (value, below)
    }

    /// The value times ten to the `power`, rounded to the nearest float, ties to even.
    fn scaled(mut self, power: i64) -> f64 {
        if self.is_zero() || power < -1_200 {
            return 0.0;
        }
        if power > 400 {
            return f64::INFINITY;
        }
        let (mut twos, mut lost) = (0_i64, false);
        for _ in 0..power.max(0) {
            self.times_plus(10, 0);
        }
        if power < 0 {
            // Enough zeros below that 64 bits are left after the divisions: ten is less than 2^4.
            let places = -power / 8 + 3;
            twos = places * 32;
            let zeros = vec![0; usize::try_from(places).unwrap_or(0)];
            self.0.splice(0..0, zeros);
            for _ in power..0 {
                lost |= self.divide_by_ten();
            }
        }
        let top = self.bits() - 1 - twos;
        if top > 1023 {
            return f64::INFINITY;
        }
        // Below the smallest normal number, fewer than 53 bits are kept.
        let kept = 53 - (-1022 - top).max(0);
        if kept < 0 {
            return 0.0;
        }
        let low = self.bits() - kept;
        let (mantissa, _) = self.bits_from(low);
        let (half, below) = self.bits_from(low - 1);
        let round = half & 1 == 1 && (below || lost || mantissa & 1 == 1);
        let mantissa = mantissa + u64::from(round);
        let exponent = u64::try_from(top + 1022).unwrap_or(0);
        // A normal number's leading bit adds itself to the exponent; a carry out of the mantissa moves it on.
        f64::from_bits(if kept == 53 { (exponent << 52) + mantissa } else { mantissa })
    }
}

/// Ten to a power.
#[must_use]
pub fn power_of_ten(power: i32) -> f64 {
    let mut one = Big::default();
    one.times_plus(0, 1);
    one.scaled(power.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn same(text: &str) {
        let expected: f64 = text.parse().unwrap();
        assert_eq!(parse(text).map(f64::to_bits), Some(expected.to_bits()), "{text}");
    }

    #[test]
    fn the_standard_library_agrees() {
        for text in [
            "0",
            "-0.0",
            "1",
            "989.4",
            "1e22",
            "1e23",
            "1e300",
            "1e308",
            "1.7976931348623157e308",
            "1.7976931348623159e308",
            "1e309",
            "2.2250738585072014e-308",
            "2.2250738585072011e-308",
            "5e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "1e-400",
            "0.1",
            "0.30000000000000004",
            "9007199254740993",
            "123456789012345678901234567890",
            "8.5",
            "3.",
            ".5",
            "1E5",
            "1e+5",
            "4503599627370497.5",
            "9.5367431640625e-7",
            "1234.500000000000113",
            "9007199254740993.0",
            "9007199254740993e-1",
            "9999999999999999999e-19",
            "0.0000000000000000001",
        ] {
            same(text);
        }
        same(&format!("1.{}1", "0".repeat(300)));
        same(&"9".repeat(300));
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", ".", "-", "e5", "1e", "1e+", "1.2.3", "x", "1x", " 1", "inf", "NaN"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn powers_of_ten() {
        for power in -320..=308 {
            assert_eq!(
                power_of_ten(power).to_bits(),
                format!("1e{power}").parse::<f64>().unwrap().to_bits(),
                "{power}"
            );
        }
    }

    proptest! {
        #[test]
        fn floats_read_back(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            for text in [format!("{value}"), format!("{value:e}"), format!("{value:.3e}")] {
                prop_assert_eq!(parse(&text).map(f64::to_bits), Some(text.parse::<f64>().unwrap().to_bits()), "{}", text);
            }
        }

        #[test]
        fn times_and_the_like_read_back(value in 1e-6_f64..1e9, digits in 1_u64.., power in -25_i32..25) {
            for text in [format!("{value}"), format!("{value:.9}"), format!("{digits}e{power}")] {
                prop_assert_eq!(parse(&text).map(f64::to_bits), Some(text.parse::<f64>().unwrap().to_bits()), "{}", text);
            }
        }

        #[test]
        fn no_text_panics(text in "[-+0-9.eE]{0,40}") {
            prop_assert_eq!(parse(&text).is_some(), text.parse::<f64>().is_ok());
        }
    }
}

//! Whole numbers as people type them: `8192`, `128,000`, `131_072`, `128k`, `8Ki`, `1.5M`, `1e6`.
//!
//! `k`, `M` and `G` are decimal and `Ki`, `Mi` and `Gi` binary, always. A context of `128k` is thus 128 000 tokens,
//! though people who say so often mean 131 072: the letter has one meaning everywhere on the page, the parsed value
//! stands beside the field, and `128Ki` says the other. The arithmetic is exact; nothing passes through `f64`.

use thiserror::Error;

use crate::format::{did_you_mean, quoted};

/// The largest number that is accepted: 2^53, up to which every whole number is exact as `f64` too.
pub const LARGEST: u64 = 1 << 53;

/// Decimal digits of [`LARGEST`].
const MOST_DIGITS: i64 = 16;

/// Why a text is not a whole number. The message says what was found and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CountError {
    /// No text at all.
    #[error("Nothing was entered; expected a whole number such as `8192`, `128k` or `8Ki`.")]
    Empty,
    /// A minus sign.
    #[error("{} is negative; expected a whole number, 0 or above.", quoted(.0))]
    Negative(String),
    /// Anything that is not digits with an optional fraction, exponent and suffix.
    #[error("{} is not a number; expected a whole number such as `8192`, `128k` or `8Ki`.", quoted(.0))]
    NotANumber(String),
    /// A separator that does not set thousands apart.
    #[error("{} has a separator out of place; expected groups of three digits, as in `128,000`.", quoted(.0))]
    Separator(String),
    /// A suffix that is not known, and the text with the one that may be meant.
    #[error(
        "{} ends in {}; expected k, M, G (decimal) or Ki, Mi, Gi (binary){}",
        quoted(.text), quoted(.suffix), did_you_mean(.meant.as_deref())
    )]
    Suffix {
        /// The whole text.
        text: String,
        /// Its suffix.
        suffix: String,
        /// The text with a suffix that exists, if one resembles it.
        meant: Option<String>,
    },
    /// A fraction with neither suffix nor exponent, or one that they do not make whole.
    #[error("{} is not a whole number; a fraction needs a suffix that makes it whole, as in `1.5k`.", quoted(.0))]
    NotWhole(String),
    /// Above [`LARGEST`].
    #[error("{} is too large; expected at most {LARGEST} (2^53).", quoted(.0))]
    TooLarge(String),
}

/// Reads a whole number from 0 to [`LARGEST`].
///
/// # Errors
/// If the text is not such a number; see [`CountError`].
pub fn parse_count(text: &str) -> Result<u64, CountError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(CountError::Empty);
    }
    if text.starts_with(['-', '\u{2212}']) {
        return Err(CountError::Negative(text.to_owned()));
    }
    let not_a_number = || CountError::NotANumber(text.to_owned());
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || is_separator(c))).unwrap_or(text.len());
    let (mantissa, tail) = text.split_at_checked(end).ok_or_else(not_a_number)?;
    let mantissa = mantissa.trim_end();
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    if !mantissa.starts_with(|c: char| c.is_ascii_digit() || c == '.') || fraction.is_some_and(|f| !is_digits(f)) {
        return Err(not_a_number());
    }
    let power = if tail.is_empty() {
        // `128.000` would be 128 to some and 128 000 to others.
        if fraction.is_some() {
            return Err(CountError::NotWhole(text.to_owned()));
        }
        Power::default()
    } else {
        exponent(tail).or_else(|| suffix(tail)).ok_or_else(|| unknown_suffix(text, mantissa, tail))?
    };
    let mut digits = ungroup(whole).ok_or_else(|| CountError::Separator(text.to_owned()))?;
    digits.push_str(fraction.unwrap_or_default());
    let decimals = fraction.map_or(0, length);
    value(&digits, Power { ten: power.ten - decimals, two: power.two }, text)
}

/// A factor of 10^ten * 2^two.
#[derive(Clone, Copy, Default)]
struct Power {
    ten: i64,
    two: u32,
}

/// digits * 10^ten * 2^two, if that is whole and small enough.
fn value(digits: &str, power: Power, text: &str) -> Result<u64, CountError> {
    let too_large = || CountError::TooLarge(text.to_owned());
    let not_whole = || CountError::NotWhole(text.to_owned());
    let digits = digits.trim_start_matches('0');
    // Without its trailing zeros the number is not a multiple of 10, which settles most of what follows.
    let odd = digits.trim_end_matches('0');
    let ten = power.ten + length(digits) - length(odd);
    if odd.is_empty() {
        return Ok(0);
    }
    if ten > 0 && length(odd) + ten > MOST_DIGITS {
        return Err(too_large());
    }
    let number = if ten >= 0 {
        let zeros = usize::try_from(ten).map_err(|_| too_large())?;
        [odd, &"0".repeat(zeros)].concat().parse::<u128>().ok().and_then(|n| n.checked_mul(1 << power.two))
    } else {
        // Only 2^two can make it whole: n / 10^k * 2^two = n / 5^k * 2^(two - k).
        let k = u32::try_from(-ten).map_err(|_| not_whole())?;
        let rest = power.two.checked_sub(k).ok_or_else(not_whole)?;
        let fives = 5_u128.checked_pow(k).ok_or_else(not_whole)?;
        let number = odd.parse::<u128>().map_err(|_| too_large())?;
        if number % fives != 0 {
            return Err(not_whole());
        }
        (number / fives).checked_mul(1 << rest)
    };
    number.and_then(|n| u64::try_from(n).ok()).filter(|&n| n <= LARGEST).ok_or_else(too_large)
}

fn suffix(tail: &str) -> Option<Power> {
    let (ten, two) = match tail {
        "k" | "K" => (3, 0),
        "M" => (6, 0),
        "G" => (9, 0),
        "ki" | "Ki" => (0, 10),
        "Mi" => (0, 20),
        "Gi" => (0, 30),
        _ => return None,
    };
    Some(Power { ten, two })
}

fn exponent(tail: &str) -> Option<Power> {
    /// Far beyond every outcome but "too large" and "not whole", and far from the ends of the type.
    const ENOUGH: i64 = 1 << 40;
    let signed = tail.strip_prefix(['e', 'E'])?;
    let digits = signed.strip_prefix(['+', '-']).unwrap_or(signed);
    if !is_digits(digits) {
        return None;
    }
    let size = digits.parse::<i64>().unwrap_or(ENOUGH).min(ENOUGH);
    Some(Power { ten: if signed.starts_with('-') { -size } else { size }, two: 0 })
}

fn unknown_suffix(text: &str, mantissa: &str, tail: &str) -> CountError {
    if !tail.chars().all(char::is_alphabetic) {
        return CountError::NotANumber(text.to_owned());
    }
    let meant = match tail.to_ascii_lowercase().as_str() {
        "kb" => Some("k"),
        "m" | "mb" => Some("M"),
        "g" | "gb" => Some("G"),
        "ki" | "kib" => Some("Ki"),
        "mi" | "mib" => Some("Mi"),
        "gi" | "gib" => Some("Gi"),
        _ => None,
    };
    let meant = meant.map(|suffix| [mantissa, suffix].concat());
    CountError::Suffix { text: text.to_owned(), suffix: tail.to_owned(), meant }
}

/// The digits without separators, which set apart groups of three and are all the same; `None` if they are not.
fn ungroup(whole: &str) -> Option<String> {
    let Some(separator) = whole.chars().find(|&c| is_separator(c)) else { return Some(whole.to_owned()) };
    let mut groups = whole.split(separator);
    let mut digits = groups.next().filter(|first| is_digits(first) && first.len() <= 3)?.to_owned();
    for group in groups {
        digits.push_str(Some(group).filter(|group| is_digits(group) && group.len() == 3)?);
    }
    Some(digits)
}

/// What people and this page set thousands apart with: comma, underscore, and spaces of several widths.
fn is_separator(c: char) -> bool {
    matches!(c, ',' | '_' | ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::from(i32::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn reads(text: &str, expected: u64) {
        assert_eq!(parse_count(text), Ok(expected));
    }

    #[track_caller]
    fn fails(text: &str, expected: fn(String) -> CountError) {
        assert_eq!(parse_count(text), Err(expected(text.trim().to_owned())));
    }

    #[test]
    fn the_ways_people_write_whole_numbers() {
        for (text, expected) in [
            ("0", 0),
            ("000", 0),
            (" 8192\t", 8192),
            ("128,000", 128_000),
            ("131_072", 131_072),
            ("1 000 000", 1_000_000),
            ("0e99999999999999999999", 0),
            ("9007199254740992", LARGEST),
            ("128k", 128_000),
            ("128K", 128_000),
            ("128 k", 128_000),
            ("1,000k", 1_000_000),
            ("1.5k", 1500),
            ("1.500k", 1500),
            (".5M", 500_000),
            ("2G", 2_000_000_000),
            ("8Ki", 8192),
            ("8ki", 8192),
            ("0.5Ki", 512),
            ("1.0009765625Ki", 1025),
            ("1Mi", 1 << 20),
            ("0.000000000931322574615478515625Gi", 1),
            ("1e6", 1_000_000),
            ("1E+3", 1000),
            ("2.5e1", 25),
            ("8000e-3", 8),
        ] {
            reads(text, expected);
        }
    }

    #[test]
    fn what_is_refused() {
        assert_eq!(parse_count("  "), Err(CountError::Empty));
        fails("-1", CountError::Negative);
        for text in ["x", "k", ".", "5.", "5.k", "1.2.3k", "1e3k", "0x10", "+1", "\u{ff11}", "1/2", ",1", "1e1.5"] {
            fails(text, CountError::NotANumber);
        }
        for text in ["1,2", "1,2345", "1,,000", "1,000_000", "1234,000", "1,000,", "12 34"] {
            fails(text, CountError::Separator);
        }
        for text in ["1.5", "128.000", "1.0001k", "0.1Ki", "1e-1", "1.5e-99999999999999999999", "0.0000000001Gi"] {
            fails(text, CountError::NotWhole);
        }
        for text in ["9007199254740993", "1e16", "1e99999999999999999999", "8388609Gi", &"9".repeat(99)] {
            fails(text, CountError::TooLarge);
        }
    }

    #[test]
    fn messages_say_what_was_found_and_expected() {
        let message = |text| parse_count(text).unwrap_err().to_string();
        assert_eq!(
            message("1,2"),
            "`1,2` has a separator out of place; expected groups of three digits, as in `128,000`."
        );
        assert_eq!(
            message("8 kb"),
            "`8 kb` ends in `kb`; expected k, M, G (decimal) or Ki, Mi, Gi (binary); did you mean `8k`?"
        );
        assert_eq!(message("8x"), "`8x` ends in `x`; expected k, M, G (decimal) or Ki, Mi, Gi (binary).");
        assert_eq!(message("1e16"), "`1e16` is too large; expected at most 9007199254740992 (2^53).");
    }

    proptest! {
        #[test]
        fn what_the_page_prints_reads_back(value in 0..=LARGEST) {
            prop_assert_eq!(parse_count(&value.to_string()), Ok(value));
            prop_assert_eq!(parse_count(&crate::format::grouped(value.into())), Ok(value));
        }

        #[test]
        fn no_text_panics(text in r"\PC*|[0-9.,_ eEkKMGi+-]{0,60}") {
            let _ = parse_count(&text);
        }
    }
}

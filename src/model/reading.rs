//! Integer fields of a config: what counts as an integer, and what is said when it is none.

use super::attributes::Attribute;
use super::origin::Origin;
use crate::json::{Node, Span, Value};

/// An integer field: its value, or why there is none, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The value, or the reason why there is none, as the end of a sentence ("is null").
    pub value: Result<u64, String>,
    /// Where it came from.
    pub origin: Origin,
}

/// The integer that a value stands for: an integer, an integral float or a numeric string.
#[must_use]
pub fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Int(value) => Some(*value),
        // Beyond 2^63 a float's integer is an accident of its exponent.
        #[expect(clippy::cast_possible_truncation, reason = "checked to be integral and small")]
        Value::Float(value) if value.fract() == 0.0 && value.abs() < 9.0e18 => Some(*value as i128),
        Value::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

impl Reading {
    /// A value with its origin.
    #[must_use]
    pub fn new(value: u64, origin: Origin) -> Self {
        Self { value: Ok(value), origin }
    }

    /// A field that is nowhere.
    #[must_use]
    pub fn missing(names: &str) -> Self {
        Self { value: Err(format!("is missing (no {names} anywhere)")), origin: Origin::Fallback("nothing") }
    }

    /// Reads an attribute as an integer >= 0.
    #[must_use]
    pub fn of(attribute: &Attribute<'_>) -> Self {
        let value = if let Some(value) = integer(&attribute.value) {
            u64::try_from(value)
                .ok()
                .filter(|value| *value <= i64::MAX.unsigned_abs())
                .ok_or_else(|| format!("is {value}, outside 0 to 2^63"))
        } else {
            let node = Node { value: attribute.value.clone().into_owned(), span: Span::default() };
            Err(format!("is {}, not an integer", node.describe()))
        };
        Self { value, origin: attribute.origin.clone() }
    }

    /// The value, where there is one.
    #[must_use]
    pub fn ok(&self) -> Option<u64> {
        self.value.as_ref().ok().copied()
    }

    /// The value, where it is positive; else the reason as a sentence about the field `name`.
    ///
    /// # Errors
    /// The sentence, where the value is missing, not an integer or zero.
    pub fn positive(&self, name: &str) -> Result<u64, String> {
        match &self.value {
            Ok(0) => Err(format!("{name} is 0")),
            Ok(value) => Ok(*value),
            Err(reason) => Err(format!("{name} {reason}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_integral_floats_and_numeric_strings_count() {
        assert_eq!(integer(&Value::Int(8)), Some(8));
        assert_eq!(integer(&Value::Float(8.0)), Some(8));
        assert_eq!(integer(&Value::Text(" 8 ".to_owned())), Some(8));
        for value in [Value::Float(8.5), Value::Float(f64::NAN), Value::Float(1e30), Value::Null, Value::Bool(true)] {
            assert_eq!(integer(&value), None, "{value:?}");
        }
    }
}

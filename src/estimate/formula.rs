//! Formulas as data: the formula that is shown is the one that is computed.
//!
//! An [`Expr`] is evaluated left to right the way Python evaluates it: integers multiply and add exactly (128 bits)
//! until the first factor that is a float, from there on in `f64`. That is what makes results equal to vLLM's to the
//! last integer, also beyond 2^53 and 2^64.

use super::symbol::Symbol;
use std::fmt::Write as _;

/// A formula over [`Symbol`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A constant.
    Const(u32),
    /// A named input.
    Sym(Symbol),
    /// The sum of its parts, added left to right.
    Sum(&'static [Expr]),
    /// The product of its parts, multiplied left to right.
    Product(&'static [Expr]),
}

/// A value of a formula: exact as long as every input is an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An exact integer.
    Int(u128),
    /// A float, from the first fractional input on.
    Real(f64),
}

/// The values of the symbols for one component and batch; what is not set is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Values([Number; Symbol::COUNT]);

impl Default for Values {
    fn default() -> Self {
        Self([Number::Int(0); Symbol::COUNT])
    }
}

impl Values {
    /// The value of a symbol.
    #[must_use]
    pub fn get(&self, symbol: Symbol) -> Number {
        self.0.get(symbol as usize).copied().unwrap_or(Number::Int(0))
    }

    /// Sets a symbol to an integer.
    pub fn set(&mut self, symbol: Symbol, value: impl Into<u128>) {
        self.put(symbol, Number::Int(value.into()));
    }

    /// Sets a symbol.
    pub fn put(&mut self, symbol: Symbol, value: Number) {
        if let Some(slot) = self.0.get_mut(symbol as usize) {
            *slot = value;
        }
    }
}

impl Number {
    /// The value as a float, rounded once.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Real(value) => value,
        }
    }

    /// Whether the value is 0.
    #[must_use]
    pub fn is_zero(self) -> bool {
        match self {
            Self::Int(value) => value == 0,
            Self::Real(value) => value == 0.0,
        }
    }

    /// The integer part; `None` where it does not fit 128 bits.
    #[must_use]
    pub fn truncated(self) -> Option<u128> {
        const LIMIT: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;
        match self {
            Self::Int(value) => Some(value),
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
            Self::Real(value) if (0.0..LIMIT).contains(&value) => Some(value as u128),
            Self::Real(_) => None,
        }
    }

    fn times(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.checked_mul(b).map(Self::Int),
            (a, b) => Some(Self::Real(a.as_f64() * b.as_f64())),
        }
    }

    fn plus(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.checked_add(b).map(Self::Int),
            (a, b) => Some(Self::Real(a.as_f64() + b.as_f64())),
        }
    }
}

impl Expr {
    /// The value; `None` where an integer passes 2^128.
    #[must_use]
    pub fn value(&self, values: &Values) -> Option<Number> {
        match self {
            Self::Const(value) => Some(Number::Int(u128::from(*value))),
            Self::Sym(symbol) => Some(values.get(*symbol)),
            Self::Sum(parts) => fold(parts, values, Number::Int(0), Number::plus),
            Self::Product(parts) => fold(parts, values, Number::Int(1), Number::times),
        }
    }

    /// The formula as people write it: `2·T·D·(q + 2·kv)·d·L`.
    #[must_use]
    pub fn text(&self) -> String {
        self.written(&|symbol| symbol.name().to_owned())
    }

    /// The formula with the numbers put in.
    #[must_use]
    pub fn with_values(&self, values: &Values) -> String {
        self.written(&|symbol| match values.get(symbol) {
            Number::Int(value) => value.to_string(),
            Number::Real(value) => value.to_string(),
        })
    }

    /// The symbols, each once, in the order of their first mention.
    #[must_use]
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut symbols = Vec::new();
        self.visit(&mut |symbol| {
            if !symbols.contains(&symbol) {
                symbols.push(symbol);
            }
        });
        symbols
    }

    fn visit(&self, seen: &mut dyn FnMut(Symbol)) {
        match self {
            Self::Const(_) => {}
            Self::Sym(symbol) => seen(*symbol),
            Self::Sum(parts) | Self::Product(parts) => parts.iter().for_each(|part| part.visit(seen)),
        }
    }

    fn written(&self, name: &dyn Fn(Symbol) -> String) -> String {
        match self {
            Self::Const(value) => value.to_string(),
            Self::Sym(symbol) => name(*symbol),
            Self::Sum(parts) => join(parts, " + ", |part| part.written(name)),
            Self::Product(parts) => join(parts, "·", |part| match part {
                Self::Sum(_) => format!("({})", part.written(name)),
                _ => part.written(name),
            }),
        }
    }
}

fn fold(parts: &[Expr], values: &Values, unit: Number, op: fn(Number, Number) -> Option<Number>) -> Option<Number> {
    parts.iter().try_fold(unit, |so_far, part| op(so_far, part.value(values)?))
}

fn join(parts: &[Expr], between: &str, write: impl Fn(&Expr) -> String) -> String {
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        let _ = write!(out, "{}{}", if at > 0 { between } else { "" }, write(part));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use Expr::{Const, Product, Sum, Sym};

    const QKV: Expr = Product(&[
        Const(2),
        Sym(Symbol::Tokens),
        Sum(&[Sym(Symbol::Heads), Product(&[Const(2), Sym(Symbol::KvHeads)])]),
        Sym(Symbol::Layers),
    ]);

    #[test]
    fn the_text_is_the_formula_and_the_numbers_are_put_in() {
        let mut values = Values::default();
        values.set(Symbol::Tokens, 10_u64);
        values.set(Symbol::Heads, 32_u64);
        values.set(Symbol::KvHeads, 8_u64);
        values.put(Symbol::Layers, Number::Real(15.5));
        assert_eq!(QKV.text(), "2·T·(q + 2·kv)·L");
        assert_eq!(QKV.with_values(&values), "2·10·(32 + 2·8)·15.5");
        assert_eq!(QKV.value(&values), Some(Number::Real(14880.0)));
    }

    #[test]
    fn integers_stay_exact_until_the_first_float() {
        let mut values = Values::default();
        values.set(Symbol::Tokens, 1_u128 << 70);
        values.set(Symbol::Heads, 1_u64);
        values.set(Symbol::Layers, 3_u64);
        assert_eq!(QKV.value(&values), Some(Number::Int(6 << 70)));
        values.set(Symbol::Tokens, u128::MAX);
        assert_eq!(QKV.value(&values), None);
    }

    #[test]
    fn truncation_refuses_what_is_no_amount() {
        assert_eq!(Number::Real(2.9).truncated(), Some(2));
        for value in [f64::NAN, f64::INFINITY, -1.0, 4e38] {
            assert_eq!(Number::Real(value).truncated(), None);
        }
    }
}

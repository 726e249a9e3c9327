//! Short constructors for tables of terms.

use crate::estimate::formula::Expr;
use crate::estimate::symbol::Symbol;
use crate::estimate::{Quantity, TermDef, Traffic};

pub(super) use Expr::{Product, Sum, Sym};

/// The constant 2.
pub(super) const TWO: Expr = Expr::Const(2);

/// The constant 3.
pub(super) const THREE: Expr = Expr::Const(3);

/// A term that computes.
pub(super) const fn flops(
    operation: &'static str,
    name: &'static str,
    formula: Expr,
    needs: &'static [Symbol],
) -> TermDef {
    TermDef { name, operation, quantity: Quantity::Flops, traffic: Traffic::None, formula, needs }
}

/// A term that reads weights.
pub(super) const fn weights(
    operation: &'static str,
    name: &'static str,
    formula: Expr,
    needs: &'static [Symbol],
) -> TermDef {
    TermDef { name, operation, quantity: Quantity::Read, traffic: Traffic::Weights, formula, needs }
}

/// A term that reads activations.
pub(super) const fn reads(
    operation: &'static str,
    name: &'static str,
    formula: Expr,
    needs: &'static [Symbol],
) -> TermDef {
    TermDef { name, operation, quantity: Quantity::Read, traffic: Traffic::Activations, formula, needs }
}

/// A term that reads the KV cache and what goes with it.
pub(super) const fn reads_kv(
    operation: &'static str,
    name: &'static str,
    formula: Expr,
    needs: &'static [Symbol],
) -> TermDef {
    TermDef { name, operation, quantity: Quantity::Read, traffic: Traffic::KvCache, formula, needs }
}

/// A term that writes activations.
pub(super) const fn writes(
    operation: &'static str,
    name: &'static str,
    formula: Expr,
    needs: &'static [Symbol],
) -> TermDef {
    TermDef { name, operation, quantity: Quantity::Write, traffic: Traffic::Activations, formula, needs }
}

/// A term that writes the KV cache.
pub(super) const fn writes_kv(
    operation: &'static str,
    name: &'static str,
    formula: Expr,
    needs: &'static [Symbol],
) -> TermDef {
    TermDef { name, operation, quantity: Quantity::Write, traffic: Traffic::KvCache, formula, needs }
}

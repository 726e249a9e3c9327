//! A breakdown as rows of a table: one an operation, its FLOPs beside its bytes.

use crate::estimate::{Cost, Part};
use crate::format::{Scale, Unit};

/// What one operation of a component costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The operation.
    pub operation: &'static str,
    /// The sum of its terms.
    pub cost: Cost,
}

/// The operations of a component, in the order in which its terms first name them.
#[must_use]
pub fn rows(part: &Part) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for term in &part.terms {
        let operation = term.def.operation;
        match rows.iter_mut().find(|row| row.operation == operation) {
            Some(row) => row.cost = [row.cost, term.cost()].into_iter().sum(),
            None => rows.push(Row { operation, cost: term.cost() }),
        }
    }
    rows
}

/// FLOPs, bytes read and bytes written, each with one prefix for its whole column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Columns {
    flops: Scale,
    read: Scale,
    write: Scale,
}

impl Columns {
    /// The columns above this total, the largest of their values.
    #[must_use]
    pub fn of(total: &Cost) -> Self {
        Self {
            flops: Scale::for_largest(Unit::FLOP, total.flops.as_f64()),
            read: Scale::for_largest(Unit::BYTE, total.read.as_f64()),
            write: Scale::for_largest(Unit::BYTE, total.write.as_f64()),
        }
    }

    /// The heads: `GFLOP`, `read GB`, `written MB`.
    #[must_use]
    pub fn heads(&self) -> [String; 3] {
        [self.flops.symbol(), format!("read {}", self.read.symbol()), format!("written {}", self.write.symbol())]
    }

    /// The cells of a row.
    #[must_use]
    pub fn cells(&self, cost: &Cost) -> [String; 3] {
        [
            self.flops.number(cost.flops.as_f64()),
            self.read.number(cost.read.as_f64()),
            self.write.number(cost.write.as_f64()),
        ]
    }
}

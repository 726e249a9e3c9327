//! The number columns of an operations table.

use crate::estimate::{Cost, Quantity};
use crate::format::{Scale, Unit};

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
            self.cell(Quantity::Flops, cost.flops.0),
            self.cell(Quantity::Read, cost.read.0),
            self.cell(Quantity::Write, cost.write.0),
        ]
    }

    /// One cell.
    #[must_use]
    pub fn cell(&self, quantity: Quantity, amount: u128) -> String {
        let scale = match quantity {
            Quantity::Flops => &self.flops,
            Quantity::Read => &self.read,
            Quantity::Write => &self.write,
        };
        scale.cell(amount as f64)
    }
}

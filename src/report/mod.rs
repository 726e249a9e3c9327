//! A breakdown made ready to be shown: sums against the roofline, rows of a table, inputs of the charts.
//!
//! Pure functions from numbers to labelled numbers and texts; the page, the exports and tests read the same ones.

pub mod charts;
mod columns;
mod explain;
mod model;
mod precision;
mod rows;
mod summary;

pub use columns::Columns;
pub use explain::{Input, explain};
pub use model::{engine_note, facts, left_out};
pub use precision::{ComputePrecision, compute_precision};
pub use rows::{OperationRow, PartRows, rows};
pub use summary::{Roof, Summary};
/// TEMP
pub fn names(
    c: &crate::scenario::state::Comparison,
    _m: impl Fn(&crate::scenario::state::ModelChoice) -> String,
) -> Vec<String> {
    c.scenarios().iter().map(|s| if s.name.is_empty() { s.layout.label() } else { s.name.clone() }).collect()
}

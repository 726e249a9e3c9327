//! A breakdown made ready to be shown: sums against the roofline, rows of a table, inputs of the charts.
//!
//! Pure functions from numbers to labelled numbers and texts; the page, the exports and tests read the same ones.

pub mod answer;
pub mod charts;
mod columns;
mod compare;
mod explain;
pub mod figures;
#[cfg(test)]
pub(crate) mod fixtures;
mod model;
mod names;
pub mod outcome;
pub mod physics;
mod precision;
mod rows;
mod summary;
mod sweep;

pub use columns::Columns;
pub use compare::{CompareCell, CompareRow, Entry, Verdict, compare_rows};
pub use explain::{Input, explain};
pub use model::{engine_note, facts, left_out};
pub use names::names;
pub use precision::{ComputePrecision, compute_precision};
pub use rows::{OperationRow, PartRows, SortBy, rows, sort};
pub use summary::{Roof, Summary};
pub use sweep::{SweepRow, SweepTable, sweep_table};

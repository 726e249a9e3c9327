//! A sweep as a table: a row for each value of the axis, a column for each scenario.

use super::charts::{Swept, sweep_scale};
use crate::format::{NONE, grouped};
use crate::hardware::roofline::Bound;
use crate::sweep::{Axis, Measure};

/// A sweep ready to be shown; all cells have the unit that stands in `unit`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepTable {
    /// What is measured and its unit: `step, at least, ms`.
    pub caption: String,
    /// The unit with its prefix, one for all cells.
    pub unit: String,
    /// The head of the first column, then one a scenario: `A TP8`.
    pub heads: Vec<String>,
    /// The rows, ascending.
    pub rows: Vec<SweepRow>,
}

/// A row of the table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepRow {
    /// The value of the axis.
    pub x: u64,
    /// The same as text.
    pub head: String,
    /// Number, value and bound for each scenario; [`NONE`] where there is none.
    pub cells: Vec<(String, Option<f64>, Option<Bound>)>,
}

/// The table of some scenarios' sweeps, which may have different values of the axis.
#[must_use]
pub fn sweep_table(swept: &[Swept<'_>], axis: Axis, measure: Measure) -> SweepTable {
    let samples = || swept.iter().flat_map(|swept| &swept.series.points);
    let scale = sweep_scale(swept, measure);
    let mut xs: Vec<u64> = Vec::new();
    for sample in samples() {
        if let Err(at) = xs.binary_search(&sample.x) {
            xs.insert(at, sample.x);
        }
    }
    let cell = |swept: &Swept<'_>, x: u64| {
        let found = swept.series.points.iter().find(|sample| sample.x == x);
        let value = found.and_then(|sample| sample.value);
        let text = value.map_or_else(|| NONE.to_owned(), |value| scale.cell(value));
        (text, value, found.and_then(|sample| sample.bound))
    };
    let row =
        |x: u64| SweepRow { x, head: grouped(x.into()), cells: swept.iter().map(|swept| cell(swept, x)).collect() };
    let heads = swept.iter().map(|swept| format!("{} {}", swept.key, swept.name).trim().to_owned());
    SweepTable {
        caption: format!("{}, {}", measure.label(), scale.symbol()),
        unit: scale.symbol(),
        heads: std::iter::once(axis.label().to_owned()).chain(heads).collect(),
        rows: xs.into_iter().map(row).collect(),
    }
}

//! Two files side by side.

use super::{time, time_cell};
use crate::bench::results::compare::Row;
use crate::bench::table::{Cell, row, table};
use crate::bench::view::{View, element};
use crate::format::{NONE, ratio};

/// One row a case.
#[must_use]
pub fn compared(rows: &[Row<'_>]) -> View {
    let heads = ["case", "before", "after", "change", "after / before", "speed-up", "remark"];
    let rows = rows.iter().map(|found| {
        let change = found.change;
        let class = match change {
            Some(change) if change.within_spread != Some(false) || !change.same_requests => None,
            Some(change) if change.delta_us < 0.0 => Some("faster"),
            Some(change) if change.delta_us > 0.0 => Some("slower"),
            _ => None,
        };
        let remark = match (found.before, found.after) {
            (Some(_), None) => "only before",
            (None, Some(_)) => "only after",
            _ => change.map_or("", |change| change.remark()),
        };
        let delta = match change {
            Some(change) => Cell::number(signed(change.delta_us)).exactly(format!("{:+} µs", change.delta_us)),
            None => Cell::number(NONE),
        };
        let factor = |value: Option<f64>| match value {
            Some(value) => Cell::number(ratio(value)).exactly(value.to_string()),
            None => Cell::number(NONE),
        };
        let cells = [
            time_cell(found.before.map(|case| case.median_us)),
            time_cell(found.after.map(|case| case.median_us)),
            delta,
            factor(change.map(|change| change.ratio)),
            factor(change.map(|change| change.speedup)),
            Cell::text(remark),
        ];
        row(found.name, cells).maybe("class", class)
    });
    table("Before and after", &heads).with("class", "compared").and(element("tbody").all(rows)).into()
}

/// A difference in microseconds, with its sign.
#[must_use]
pub(crate) fn signed(us: f64) -> String {
    if us > 0.0 { format!("+{}", time(us)) } else { time(us) }
}

//! The summary view: the figures of a step and the kernels that took longest.

use super::summary::{Kernel, Summary};

/// How many kernels the summary view shows.
pub const TOP: usize = 20;

/// The kernels that took longest, and what the others add up to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Table<'a> {
    /// The kernels that are shown, the one that took longest first.
    pub rows: &'a [Kernel],
    /// How many more there are.
    pub more: usize,
    /// What those took, in µs.
    pub more_us: f64,
}

/// The first `top` kernels of a summary.
#[must_use]
pub fn table(summary: &Summary, top: usize) -> Table<'_> {
    let (rows, rest) = summary.kernels.split_at_checked(top).unwrap_or((&summary.kernels, &[]));
    Table { rows, more: rest.len(), more_us: rest.iter().map(|kernel| kernel.us).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shown_is_added_up() {
        let summary = Summary::read(include_str!("../../../tests/bench/decode.rank0.kernels.json")).unwrap();
        let shown = |top| {
            let table = table(&summary, top);
            (table.rows.len(), table.more, table.more_us)
        };
        assert_eq!(shown(TOP), (6, 0, 0.0));
        assert_eq!(shown(6), (6, 0, 0.0));
        assert_eq!(shown(3), (3, 3, 20.5));
        assert_eq!(shown(0), (0, 6, 190.5));
    }
}

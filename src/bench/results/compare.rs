//! Two result files, before and after a change.

use super::{Measured, ResultFile};

/// A case in both files, or in one.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'a> {
    /// The name of the case.
    pub name: &'a str,
    /// The case in the first file.
    pub before: Option<&'a Measured>,
    /// The case in the second file.
    pub after: Option<&'a Measured>,
    /// What changed, where both have it.
    pub change: Option<Change>,
}

/// What changed between two measurements of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// After minus before, in microseconds.
    pub delta_us: f64,
    /// After over before.
    pub ratio: f64,
    /// Before over after: above 1 it became faster.
    pub speedup: f64,
    /// Whether the change is smaller than the spreads of both together; `None` where a spread is unknown.
    pub within_spread: Option<bool>,
    /// Whether both measured the same requests; if not, the times are of different work.
    pub same_requests: bool,
}

impl Change {
    fn of(before: &Measured, after: &Measured) -> Self {
        let delta_us = after.median_us - before.median_us;
        let spreads = before.spread_us().zip(after.spread_us());
        Self {
            delta_us,
            ratio: after.median_us / before.median_us,
            speedup: before.median_us / after.median_us,
            within_spread: spreads.map(|(first, second)| delta_us.abs() < first + second),
            same_requests: before.case.requests() == after.case.requests(),
        }
    }

    /// The change in words, empty where the numbers say it all.
    #[must_use]
    pub fn remark(&self) -> &'static str {
        match (self.same_requests, self.within_spread) {
            (false, _) => "different requests",
            (true, Some(true)) => "within the spread",
            (true, None) => "spread unknown",
            (true, Some(false)) => "",
        }
    }
}

/// The cases by name: those of the first file in its order, then those that only the second has. Of equal names the
/// first meets the first, the second the second, and so on.
#[must_use]
pub fn compare<'a>(before: &'a ResultFile, after: &'a ResultFile) -> Vec<Row<'a>> {
    let mut left: Vec<Option<&Measured>> = after.cases.iter().map(Some).collect();
    let mut rows: Vec<Row<'a>> = before
        .cases
        .iter()
        .map(|case| {
            let place = left.iter_mut().find(|other| other.is_some_and(|other| other.name == case.name));
            let other = place.and_then(Option::take);
            let change = other.map(|other| Change::of(case, other));
            Row { name: case.title(), before: Some(case), after: other, change }
        })
        .collect();
    rows.extend(left.into_iter().flatten().map(|case| Row {
        name: case.title(),
        before: None,
        after: Some(case),
        change: None,
    }));
    rows
}

//! One summary against another: which kernels made the difference.
//!
//! Kernels are joined by name, one that a side lacks counts 0 there, and the largest change of time comes first,
//! whatever its sign; equal ones are in the order of their names. Ranks must be the same: under expert parallelism
//! they do different work, and waiting for another rank shows as time of a communication kernel.

use super::file_name::FileName;
use super::summary::{Summary, share};
use crate::bench::order::{Names, largest_first};

/// Two summaries, joined.
#[derive(Clone, Debug, PartialEq)]
pub struct Diff<'a> {
    /// The time from the first kernel to the last, in µs.
    pub span: Change,
    /// The sum of all kernels, in µs.
    pub busy: Change,
    /// A row for each name, the largest change first.
    pub rows: Vec<Row<'a>>,
}

/// A value in A and in B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// In the first file.
    pub a: f64,
    /// In the second one.
    pub b: f64,
}

/// A kernel in both files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// Its name.
    pub name: &'a str,
    /// In the first file.
    pub a: Side,
    /// In the second one.
    pub b: Side,
}

/// A kernel in one file; zeros where the file lacks it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// Its time, in µs.
    pub us: f64,
    /// Its launches.
    pub calls: f64,
}

impl Change {
    /// B less A.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.b - self.a
    }

    /// B less A over A; none where A is 0.
    #[must_use]
    pub fn relative(&self) -> Option<f64> {
        share(self.delta(), self.a)
    }
}

impl Row<'_> {
    /// The time in B less that in A, in µs.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.b.us - self.a.us
    }
}

/// Joins two summaries. A name that a file holds twice counts once, with the sum.
#[must_use]
pub fn diff<'a>(a: &'a Summary, b: &'a Summary) -> Diff<'a> {
    let (mut names, mut rows) = (Names::default(), Vec::<Row<'_>>::new());
    let first = a.kernels.iter().map(|kernel| (kernel, false));
    for (kernel, second) in first.chain(b.kernels.iter().map(|kernel| (kernel, true))) {
        let place = names.place(&kernel.name);
        if place == rows.len() {
            rows.push(Row { name: &kernel.name, a: Side::default(), b: Side::default() });
        }
        if let Some(row) = rows.get_mut(place) {
            if second { &mut row.b } else { &mut row.a }.add(kernel.us, kernel.calls);
        }
    }
    let rows = largest_first(rows, |row| (row.delta().abs(), row.name));
    Diff { span: Change { a: a.span_us, b: b.span_us }, busy: Change { a: a.busy_us, b: b.busy_us }, rows }
}

impl Side {
    fn add(&mut self, us: f64, calls: f64) {
        self.us += us;
        self.calls += calls;
    }
}

/// Why two files may not compare, as sentences: their names tell of different ranks or cases, or they were recorded or
/// summarised in different ways.
#[must_use]
pub fn cautions(a: (&FileName, &Summary), b: (&FileName, &Summary)) -> Vec<String> {
    let mut cautions = Vec::new();
    if let (Some(a), Some(b)) = (a.0.rank, b.0.rank)
        && a != b
    {
        cautions.push(format!(
            "The files are of different ranks ({a} and {b}); compare the same rank: under expert parallelism ranks do \
             different work, and waiting for another rank counts as time of communication kernels."
        ));
    }
    if let (Some(a), Some(b)) = (&a.0.case, &b.0.case)
        && a != b
    {
        cautions.push(format!("The files are of different cases ({a} and {b})."));
    }
    if a.1.origin != b.1.origin {
        cautions.push(
            "One file is a kernel summary and the other a trace; only a summary leaves out the work before the forward \
             pass."
                .to_owned(),
        );
    }
    if let (Some(a), Some(b)) = (a.1.replays, b.1.replays)
        && a != b
    {
        cautions.push(format!("The files state different numbers of replays ({a} and {b})."));
    }
    cautions
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: &str = include_str!("../../../tests/bench/decode.rank0.kernels.json");
    const B: &str = include_str!("../../../tests/bench/decode.rank1.kernels.json");

    fn summary(kernels: &[(&str, f64)]) -> Summary {
        let kernels: Vec<_> =
            kernels.iter().map(|(name, us)| format!(r#"{{"name": "{name}", "us": {us}, "calls": 1}}"#)).collect();
        let kernels = kernels.join(",");
        Summary::read(&format!(r#"{{"span_us": 1, "busy_us": 1, "activities": 1, "kernels": [{kernels}]}}"#)).unwrap()
    }

    #[test]
    fn rows_are_joined_by_name_and_the_largest_change_is_first() {
        let (a, b) = (Summary::read(A).unwrap(), Summary::read(B).unwrap());
        let diff = diff(&a, &b);
        assert_eq!((diff.span.delta(), diff.span.relative()), (-20.0, Some(-0.1)));
        assert_eq!(diff.busy, Change { a: 190.5, b: 189.0 });
        let rows: Vec<_> = diff.rows.iter().map(|row| (row.delta(), row.a.calls, row.b.calls, row.name)).collect();
        assert_eq!(
            rows,
            [
                (25.25, 2.0, 2.0, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"),
                (-20.0, 4.0, 4.0, "nvjet_tst_128x64"),
                (-12.5, 1.0, 0.0, "only_in_a_kernel"),
                (5.75, 0.0, 1.0, "only_in_b_kernel"),
                (-1.0, 1.0, 1.0, "tie_a"),
                (1.0, 2.0, 3.0, "tie_b"),
                (0.0, 2.0, 2.0, "flash::FlashAttnFwdSm90"),
            ]
        );
    }

    #[test]
    fn a_name_twice_counts_once_and_nothing_against_nothing_is_nothing() {
        let (a, b) = (summary(&[("k", 1.0), ("k", 2.0)]), summary(&[]));
        let joined = diff(&a, &b).rows;
        assert_eq!(joined, [Row { name: "k", a: Side { us: 3.0, calls: 2.0 }, b: Side::default() }]);
        assert!(diff(&b, &b).rows.is_empty());
        assert_eq!(Change { a: 0.0, b: 1.0 }.relative(), None);
    }

    #[test]
    fn what_does_not_compare_is_said() {
        let summary = summary(&[]);
        let said = |a: &str, b: &str| {
            let (a, b) = (FileName::of(a), FileName::of(b));
            cautions((&a, &summary), (&b, &summary)).iter().map(|text| text[..32].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(said("a.rank0.kernels.json", "a.rank0.kernels.json"), [""; 0]);
        assert_eq!(said("a.rank0.kernels.json", "notes.json"), [""; 0]);
        assert_eq!(said("a.rank0.kernels.json", "a.rank1.kernels.json"), ["The files are of different ranks"]);
        assert_eq!(said("a.rank0.kernels.json", "b.rank0.kernels.json"), ["The files are of different cases"]);
        let a = Summary { replays: Some(1), ..summary.clone() };
        let b = Summary { replays: Some(2), origin: super::super::Origin::Trace, ..summary.clone() };
        let name = FileName::of("x");
        assert_eq!(cautions((&name, &a), (&name, &b)).len(), 2);
    }

    proptest! {
        #[test]
        fn changes_add_up_and_fall(a in prop::collection::vec(("[a-e]", 0.0..1e3), 0..8),
                                   b in prop::collection::vec(("[a-e]", 0.0..1e3), 0..8)) {
            let named = |list: &[(String, f64)]| {
                summary(&list.iter().map(|(name, us)| (name.as_str(), *us)).collect::<Vec<_>>())
            };
            let (a, b) = (named(&a), named(&b));
            let diff = diff(&a, &b);
            let total = |summary: &Summary| summary.kernels.iter().map(|kernel| kernel.us).sum::<f64>();
            let deltas: Vec<f64> = diff.rows.iter().map(Row::delta).collect();
            prop_assert!((deltas.iter().sum::<f64>() - (total(&b) - total(&a))).abs() < 1e-6);
            prop_assert!(deltas.windows(2).all(|pair| pair[0].abs() >= pair[1].abs()));
        }
    }
}

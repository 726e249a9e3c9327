//! Summaries and their comparison as lines for a terminal.
//!
//! Times are microseconds with three decimals, which is what GPUs record, so that two files can be compared by eye and
//! by tools; a time that would round to zero has an exponent.

use super::diff::{Change, Diff};
use super::group::Grouping;
use super::summary::Summary;
use super::table::table;
use crate::export::{aligned, printable};
use crate::format::{NONE, percent};
use std::fmt::Write as _;

/// How many kernels without a component are named.
pub const UNMATCHED_NAMES: usize = 5;

/// The summary table: the figures, then the first `top` kernels, then what the others add up to.
#[must_use]
pub fn summary(summary: &Summary, top: usize) -> String {
    let mut facts = vec![
        ("span", format!("{} us", micros(summary.span_us))),
        (
            "busy",
            format!("{} us, {} of the span{}", micros(summary.busy_us), part(summary.overlap()), streams(summary)),
        ),
        ("before forward", summary.pre_forward_us.map_or(NONE.to_owned(), |us| format!("{} us", micros(us)))),
        ("activities", count(summary.activities)),
    ];
    if let Some(replays) = summary.replays {
        facts.push(("replays", replays.to_string()));
    }
    let facts: Vec<_> = facts.into_iter().map(|(name, value)| [name.to_owned(), value]).collect();
    let table = table(summary, top);
    let head = (["us", "of busy", "calls"].map(str::to_owned), "name");
    let rows = table.rows.iter().map(|kernel| {
        let share = super::summary::share(kernel.us, summary.busy_us);
        ([micros(kernel.us), part(share), count(kernel.calls)], kernel.name.as_str())
    });
    let mut text = format!("{}\n{}", aligned(&facts, 2), named(std::iter::once(head).chain(rows)));
    if table.more > 0 {
        let _ = writeln!(text, "and {} more: {} us", table.more, micros(table.more_us));
    }
    text
}

/// Kernel time by component, and below it the largest kernels that no rule matches.
#[must_use]
pub fn grouping(grouping: &Grouping<'_>) -> String {
    let head = (["us", "of busy", "calls"].map(str::to_owned), "component");
    let row = |us: f64, calls: String, title| ([micros(us), part(grouping.share(us)), calls], title);
    let rows = grouping.rows().map(|group| row(group.us, count(group.calls), group.title()));
    let unlisted = grouping.unlisted_us.map(|us| row(us, NONE.to_owned(), "not listed in the file"));
    let mut text = named(std::iter::once(head).chain(rows).chain(unlisted));
    let kernels = &grouping.unmatched.kernels;
    if !kernels.is_empty() {
        text.push_str("\nunmatched, the largest:\n");
        let rows = kernels.iter().take(UNMATCHED_NAMES).map(|kernel| ([micros(kernel.us)], kernel.name.as_str()));
        text.push_str(&named(rows));
        if let Some(more) = kernels.len().checked_sub(UNMATCHED_NAMES).filter(|&more| more > 0) {
            let _ = writeln!(text, "and {more} more");
        }
    }
    text
}

/// The change of span and busy, then a row a kernel, the largest change first; `top` limits the rows.
#[must_use]
pub fn diff(diff: &Diff<'_>, top: Option<usize>) -> String {
    let change = |name: &str, change: Change| {
        let relative = change.relative().map_or(String::new(), |relative| format!(" ({})", signed_percent(relative)));
        let (a, b, delta) = (micros(change.a), micros(change.b), delta(change.delta()));
        format!("{name}  {a} us -> {b} us, {delta} us{relative}\n")
    };
    let changes = [change("span", diff.span), change("busy", diff.busy)].concat();
    let shown = top.unwrap_or(diff.rows.len());
    let head = (["delta_us", "A_us", "B_us", "A_calls", "B_calls"].map(str::to_owned), "name");
    let rows = diff.rows.iter().take(shown).map(|row| {
        let cells = [delta(row.delta()), micros(row.a.us), micros(row.b.us), count(row.a.calls), count(row.b.calls)];
        (cells, row.name)
    });
    let mut text = format!("{changes}\n{}", named(std::iter::once(head).chain(rows)));
    if let Some(rest) = diff.rows.get(shown..).filter(|rest| !rest.is_empty()) {
        let sum: f64 = rest.iter().map(|row| row.delta()).sum();
        let _ = writeln!(text, "and {} more: {} us", rest.len(), delta(sum));
    }
    text
}

/// Columns of numbers, then a name that may be as long as it likes.
fn named<'a, const N: usize>(rows: impl Iterator<Item = ([String; N], &'a str)>) -> String {
    let (cells, names): (Vec<_>, Vec<_>) = rows.unzip();
    let numbers = aligned(&cells, 0);
    let lines = numbers.lines().zip(names).map(|(line, name)| format!("{line}  {}\n", printable(name)));
    lines.collect()
}

fn streams(summary: &Summary) -> &'static str {
    if summary.overlap().is_some_and(|overlap| overlap > 1.0) { " (streams overlap)" } else { "" }
}

/// Microseconds: `12.500`.
fn micros(us: f64) -> String {
    if us != 0.0 && us.abs() < 0.0005 { format!("{us:.1e}") } else { format!("{us:.3}") }
}

/// A change of microseconds, with its sign: `+12.500`.
fn delta(us: f64) -> String {
    if us > 0.0 { format!("+{}", micros(us)) } else { micros(us + 0.0) }
}

fn signed_percent(fraction: f64) -> String {
    format!("{}{}", if fraction > 0.0 { "+" } else { "" }, plain(&percent(fraction)))
}

fn part(share: Option<f64>) -> String {
    share.map_or(NONE.to_owned(), |share| plain(&percent(share)))
}

/// A count, exact; an average over replays may have decimals.
fn count(count: f64) -> String {
    count.to_string()
}

/// Thousands without a separator, so that tools read the numbers.
fn plain(number: &str) -> String {
    number.replace(crate::format::THIN_SPACE, "")
}

#[cfg(test)]
mod tests {
    use super::super::{self as kernels, Rules, Summary};
    use super::*;

    const A: &str = include_str!("../../../tests/bench/decode.rank0.kernels.json");
    const B: &str = include_str!("../../../tests/bench/decode.rank1.kernels.json");

    #[test]
    fn the_diff_is_the_one_written_by_hand() {
        let (a, b) = (Summary::read(A).unwrap(), Summary::read(B).unwrap());
        let expected = include_str!("../../../tests/bench/decode.rank0-rank1.diff.txt");
        assert_eq!(diff(&kernels::diff(&a, &b), None), expected);
        let short = diff(&kernels::diff(&a, &b), Some(5));
        assert!(short.ends_with("tie_a\nand 2 more: +1.000 us\n"), "{short}");
    }

    #[test]
    fn a_summary_and_its_components() {
        let a = Summary::read(A).unwrap();
        insta::assert_snapshot!(summary(&a, 4), @"
        span            200.000 us
        busy            190.500 us, 95.2% of the span
        before forward  3.500 us
        activities      12
        replays         5

             us  of busy  calls  name
        100.000    52.5%      4  nvjet_tst_128x64
         40.000    21.0%      2  flash::FlashAttnFwdSm90
         30.000    15.7%      2  ncclDevKernel_AllReduce_Sum_bf16_RING_LL
         12.500    6.56%      1  only_in_a_kernel
        and 2 more: 8.000 us
        ");
        let rules = Rules::default();
        insta::assert_snapshot!(grouping(&kernels::group(&a, &rules)), @"
             us  of busy  calls  component
        100.000    52.5%      4  GEMM/FFN
         40.000    21.0%      2  attention
         30.000    15.7%      2  communication
         20.500    10.8%      4  unmatched

        unmatched, the largest:
        12.500  only_in_a_kernel
         5.000  tie_b
         3.000  tie_a
        ");
    }

    #[test]
    fn no_time_prints_as_zero_that_is_none() {
        let cells = [0.0, 0.0004, 0.0005, 12.5, 1e6].map(micros);
        assert_eq!(cells, ["0.000", "4.0e-4", "0.001", "12.500", "1000000.000"]);
        let changes = [0.0, -0.0, 0.0001, -0.0001, 2.0, -2.0].map(delta);
        assert_eq!(changes, ["0.000", "0.000", "+1.0e-4", "-1.0e-4", "+2.000", "-2.000"]);
        assert_eq!((count(2.5), count(1e7), signed_percent(-0.5)), ("2.5".into(), "10000000".into(), "-50.0%".into()));
    }
}

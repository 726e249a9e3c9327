//! Scenarios side by side: the rows of the compare table, one prefix a row, ratios to the baseline.
//!
//! FLOPs, bytes and intensity are of the scope that is shown; bound and time are those of one GPU, since all of them
//! run at once. Less work and less time are better, unless the two sums hold different components, or the two times are
//! those of stages of different pipelines. Intensity has no better side: it rises with fewer bytes and with more FLOPs
//! alike.

use super::answer::Step;
use super::{Roof, Summary};
use crate::estimate::{Breakdown, Component};
use crate::format::{NONE, Scale, Unit, grouped, ratio};
use crate::hardware::Accelerator;

/// A scenario as tables and charts of a comparison see it.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its letter, `A` to `H`.
    pub key: char,
    /// What to call it.
    pub name: &'a str,
    /// Its place among the colours of a theme.
    pub place: usize,
    /// What it costs in the scope that is shown.
    pub breakdown: &'a Breakdown,
    /// What it costs one GPU.
    pub per_gpu: &'a Breakdown,
    /// What that is held against, where the accelerator has a rate.
    pub roof: Option<&'a Roof>,
    /// What it runs on.
    pub accelerator: &'a Accelerator,
    /// Pipeline stages: the time of one GPU is that of one stage.
    pub stages: u32,
    /// The time of a step, where the physical model's costs stand here.
    pub step: Option<&'a Step>,
}

impl Entry<'_> {
    /// The step of one GPU against its roof. Where the physical model counts, its time is that of the whole step.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary::of(self.per_gpu.cost(), self.roof).within(self.step)
    }

    /// The links that a step goes over, where the physical model counts.
    #[must_use]
    pub fn links(&self) -> Vec<(&'static str, Summary)> {
        self.step.map(|step| step.links(self.per_gpu.cost())).unwrap_or_default()
    }
}

/// A row of the compare table.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareRow {
    /// What is compared.
    pub label: &'static str,
    /// One cell a scenario, in order.
    pub cells: Vec<CompareCell>,
}

/// A cell of the compare table.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareCell {
    /// The number in the row's unit, or a word; [`NONE`] where there is none.
    pub text: String,
    /// The unit with the row's prefix; empty for words.
    pub unit: String,
    /// The whole number and its unit, for a tooltip; empty where there is none.
    pub exact: String,
    /// How many times the baseline's: `1.42×`; none for the baseline itself and where either does not exist.
    pub ratio: Option<String>,
    /// Whether that is for the better.
    pub verdict: Verdict,
}

/// What a difference to the baseline means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Less work or time.
    Better,
    /// More work or time.
    Worse,
    /// No difference that the ratio shows, or one that is neither.
    #[default]
    Neutral,
}

/// The rows of the compare table; ratios are to the entry at `baseline`, and there are none without one.
#[must_use]
pub fn compare_rows(entries: &[Entry<'_>], baseline: Option<usize>) -> Vec<CompareRow> {
    let base = baseline.and_then(|place| entries.get(place));
    let same_parts = |entry: &Entry<'_>| base.is_some_and(|base| parts(base).eq(parts(entry)));
    let comparable: Vec<bool> = entries.iter().map(same_parts).collect();
    let same_stages = |entry: &Entry<'_>| base.is_some_and(|base| base.stages == entry.stages || entry.step.is_some());
    let timed: Vec<bool> = entries.iter().map(|entry| same_parts(entry) && same_stages(entry)).collect();
    let never = vec![false; entries.len()];
    let summaries: Vec<Summary> = entries.iter().map(Entry::summary).collect();
    let costs: Vec<_> = entries.iter().map(|entry| entry.breakdown.cost()).collect();
    let amounts = |label, unit, name: &str, amounts: Vec<u128>| {
        let exact = amounts.iter().map(|amount| format!("{} {name}", grouped(*amount))).collect();
        let values: Vec<_> = amounts.iter().map(|amount| Some(*amount as f64)).collect();
        row(label, unit, &values, exact, baseline, &comparable)
    };
    let measured = |label, unit, name: &str, values: Vec<Option<f64>>, less_is_better: &[bool]| {
        let exact = values.iter().map(|value| value.map_or_else(String::new, |v| format!("{v} {name}"))).collect();
        row(label, unit, &values, exact, baseline, less_is_better)
    };
    let bound = |summary: &Summary| CompareCell {
        text: summary.bound.map_or(NONE, |bound| bound.label()).to_owned(),
        unit: String::new(),
        exact: String::new(),
        ratio: None,
        verdict: Verdict::Neutral,
    };
    let step = entries.iter().find_map(|entry| entry.step);
    let whole_step = step.is_some();
    let mut rows = vec![
        amounts("FLOPs", Unit::FLOP, "FLOP", costs.iter().map(|cost| cost.flops.0).collect()),
        amounts("Read", Unit::BYTE, "bytes", costs.iter().map(|cost| cost.read.0).collect()),
        amounts("Written", Unit::BYTE, "bytes", costs.iter().map(|cost| cost.write.0).collect()),
        measured(
            "Arithmetic intensity",
            Unit::INTENSITY,
            "FLOP per byte read or written",
            costs.iter().map(|cost| cost.intensity().map(|intensity| intensity.0)).collect(),
            &never,
        ),
        CompareRow {
            label: if whole_step { "Bound of a step" } else { "Bound of one GPU" },
            cells: summaries.iter().map(bound).collect(),
        },
        measured(
            if whole_step { "Step, at least" } else { "Time on one GPU, at least" },
            Unit::SECOND,
            "s",
            summaries.iter().map(|summary| summary.time.map(|time| time.0)).collect(),
            &timed,
        ),
    ];
    if let Some(step) = step {
        let values = entries.iter().map(|entry| entry.step.map(|step| step.expected.0)).collect();
        rows.push(measured(step.label(), Unit::SECOND, "s", values, &timed));
    }
    rows
}

/// What a sum is made of.
fn parts<'a>(entry: &'a Entry<'_>) -> impl Iterator<Item = Component> + 'a {
    entry.breakdown.parts.iter().map(|part| part.component)
}

fn row(
    label: &'static str,
    unit: Unit,
    values: &[Option<f64>],
    exact: Vec<String>,
    baseline: Option<usize>,
    less_is_better: &[bool],
) -> CompareRow {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    let scale = Scale::of(unit, &known);
    let base = baseline.and_then(|place| values.get(place).copied().flatten());
    let cell = |(place, (value, exact)): (usize, (&Option<f64>, String))| {
        let times =
            (*value).zip(base).map(|(value, base)| value / base).filter(|r| r.is_finite() && Some(place) != baseline);
        let text = times.map(ratio);
        let verdict = match (&text, times) {
            (Some(text), Some(times)) if less_is_better.get(place) == Some(&true) && *text != ratio(1.0) => {
                if times < 1.0 { Verdict::Better } else { Verdict::Worse }
            }
            _ => Verdict::Neutral,
        };
        CompareCell {
            text: value.map_or_else(|| NONE.to_owned(), |value| scale.fitting(value).number(value)),
            unit: value.map_or_else(String::new, |value| scale.fitting(value).symbol()),
            exact,
            ratio: text,
            verdict,
        }
    };
    CompareRow { label, cells: values.iter().zip(exact).enumerate().map(cell).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::Precision;
    use crate::report::fixtures::{self, Case};

    #[test]
    fn the_rows_of_the_example() {
        let cases = [Case::of("", 8, false), Case::of("", 8, true), Case::of("decode=1@8192", 1, false)];
        let entries: Vec<_> = cases.iter().enumerate().map(|(place, case)| case.entry(place)).collect();
        let row = |row: &CompareRow| {
            let cells = row.cells.iter().map(|cell| {
                let ratio = cell.ratio.as_deref().unwrap_or("");
                format!("{} {} {ratio} {:?} [{}]", cell.text, cell.unit, cell.verdict, cell.exact)
            });
            format!("{}: {}", row.label, cells.collect::<Vec<_>>().join(" | "))
        };
        let text = compare_rows(&entries, Some(0)).iter().map(row).collect::<Vec<_>>().join("\n");
        insta::assert_snapshot!(text.replace(crate::format::THIN_SPACE, "_"));
    }

    #[test]
    fn what_does_not_exist_has_neither_number_nor_ratio() {
        let nothing = Breakdown::default();
        let case = Case::of("", 8, false);
        let empty = Entry { breakdown: &nothing, per_gpu: &nothing, ..case.entry(0) };
        for baseline in [Some(0), Some(1), Some(7), None] {
            let rows = compare_rows(&[case.entry(0), empty], baseline);
            assert!(rows[3..].iter().all(|row| row.cells[1].text == NONE && row.cells[1].ratio.is_none()));
        }
        assert!(compare_rows(&[], Some(0)).iter().all(|row| row.cells.is_empty()));
        let without = Entry { roof: None, ..case.entry(0) };
        assert_eq!(compare_rows(&[without], None)[5].cells[0].text, NONE);
    }

    #[test]
    fn equal_scenarios_differ_by_nothing() {
        let case = fixtures::example();
        let rows = compare_rows(&[case.entry(0), case.entry(1)], Some(0));
        assert!(rows.iter().all(|row| row.cells[1].verdict == Verdict::Neutral));
        assert_eq!(rows[0].cells[1].ratio.as_deref(), Some("1.00×"));
    }

    #[test]
    fn sums_of_other_components_and_other_stages_are_not_better() {
        let (whole, staged) = (fixtures::example(), Case::new(fixtures::scenario("", 8, 2, 1, false), Precision::Fp8));
        let mut partial = Case::of("", 8, false);
        partial.breakdown.parts.truncate(1);
        let rows = compare_rows(&[whole.entry(0), staged.entry(1), partial.entry(2)], Some(0));
        let verdicts = |row: usize| rows[row].cells.iter().map(|cell| cell.verdict).collect::<Vec<_>>();
        assert_eq!(verdicts(0), [Verdict::Neutral, Verdict::Better, Verdict::Neutral]);
        assert_eq!(verdicts(5), [Verdict::Neutral; 3]);
        assert!(rows[5].cells[1].ratio.is_some());
    }
}

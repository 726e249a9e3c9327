//! What the page shows of result files, as trees of text.

mod compare;
mod ranks;
mod strip;

pub use compare::compared;
pub use ranks::ranks;
pub use strip::{Strip, strip};

use super::against::Against;
use super::warning::Warning;
use super::{Measured, ResultFile};
use crate::bench::table::{Cell, row, table};
use crate::bench::view::{Element, View, element};
use crate::format::{NONE, Unit, duration, percent, ratio, si};
use crate::units::Seconds;

/// A measured case with what there is to say about it.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    /// The measurement.
    pub measured: &'a Measured,
    /// Reasons for care.
    pub warnings: Vec<Warning>,
    /// The time against estimates, each with the name of its model.
    pub against: Vec<(&'a str, Against)>,
}

/// A case: its median and what that makes of the hardware, the reasons for care, its samples and its ranks.
#[must_use]
pub fn case(shown: &Shown<'_>) -> View {
    let measured = shown.measured;
    let mut article = element("article")
        .with("class", "measured")
        .and(element("h3").and(measured.title()))
        .and(element("p").with("class", "requests-text").and(measured.case.body()))
        .and(headline(shown));
    if !shown.warnings.is_empty() {
        let items = shown.warnings.iter().map(|warning| element("li").and(warning.to_string()));
        article = article.and(element("ul").with("class", "warnings").all(items));
    }
    if !shown.against.is_empty() {
        article = article.and(estimates(&shown.against));
    }
    for (_, against) in &shown.against {
        if let Some(text) = against.beaten() {
            article = article.and(element("p").with("class", "caution").and(text));
            break;
        }
    }
    let samples =
        measured.ranks.iter().filter_map(|rank| rank.latency.as_ref()).flat_map(|latency| &latency.samples_us);
    article = match Strip::of(samples.copied()) {
        Some(marks) => article.and(strip(&marks)),
        None => article,
    };
    if !measured.ranks.is_empty() {
        let count = measured.ranks.len();
        let summary = format!("{count} rank{}", if count == 1 { "" } else { "s" });
        let details = element("details").and(element("summary").and(summary)).and(ranks(measured));
        article = article.and(details);
    }
    article.into()
}

/// What was left out of a file; nothing where nothing was.
#[must_use]
pub fn notes(file: &ResultFile) -> Option<View> {
    if file.notes.is_empty() {
        return None;
    }
    Some(
        element("ul").with("class", "notes").all(file.notes.iter().map(|note| element("li").and(note.as_str()))).into(),
    )
}

/// Microseconds as people read them.
pub(super) fn time(us: f64) -> String {
    duration(Seconds(us * 1e-6))
}

/// Microseconds as a cell with the exact value.
pub(super) fn time_cell(us: Option<f64>) -> Cell {
    match us {
        Some(us) => Cell::number(time(us)).exactly(format!("{us} µs")),
        None => Cell::number(NONE),
    }
}

/// A percentage that a file gives as such.
pub(super) fn percent_cell(pct: Option<f64>) -> Cell {
    match pct {
        Some(pct) => Cell::number(percent(pct / 100.0)).exactly(format!("{pct} %")),
        None => Cell::number(NONE),
    }
}

fn headline(shown: &Shown<'_>) -> Element {
    let measured = shown.measured;
    let median = element("b").with("title", format!("{} µs", measured.median_us)).and(time(measured.median_us));
    let spread = match measured.spread_pct() {
        Some(pct) => format!("spread {}", percent(pct / 100.0)),
        None => "spread unknown".to_owned(),
    };
    let mut line = element("p").with("class", "headline").and(median).and(element("span").and(spread));
    if let Some((model, Against { share: Some(share), .. })) = shown.against.first() {
        let parts = [
            format!("MFU {}", percent(share.mfu)),
            format!("MBU {}", percent(share.mbu)),
            format!("{} the {} bound of the {model} model", ratio(share.ratio), share.limit.label()),
        ];
        line = line.all(parts.map(|part| element("span").and(part)));
    }
    line
}

fn estimates(against: &[(&str, Against)]) -> Element {
    let heads = ["model", "FLOP/s per GPU", "B/s per GPU", "MFU", "MBU", "bound", "measured / bound"];
    let rows = against.iter().map(|(model, against)| {
        let share = against.share;
        let fraction = |value: Option<f64>| match value {
            Some(value) => Cell::number(percent(value)).exactly(value.to_string()),
            None => Cell::number(NONE),
        };
        row(
            *model,
            [
                Cell::number(si(against.computed.0, Unit::FLOP_PER_SECOND))
                    .exactly(format!("{} FLOP in {} s", against.cost.flops.0, against.time.0)),
                Cell::number(si(against.moved.0, Unit::BYTE_PER_SECOND)).exactly(format!(
                    "{} B in {} s",
                    against.cost.moved().0,
                    against.time.0
                )),
                fraction(share.map(|share| share.mfu)),
                fraction(share.map(|share| share.mbu)),
                match share {
                    Some(share) => Cell::number(format!("{} ({})", duration(share.bound), share.limit.label()))
                        .exactly(format!("{} s", share.bound.0)),
                    None => Cell::number(NONE),
                },
                match share {
                    Some(share) => Cell::number(ratio(share.ratio)).exactly(share.ratio.to_string()),
                    None => Cell::number(NONE),
                },
            ],
        )
    });
    table("Measured against estimated", &heads).and(element("tbody").all(rows))
}

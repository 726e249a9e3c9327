//! The ranks of a case as a table, the slowest and the least steady marked.

use super::{percent_cell, time_cell};
use crate::bench::results::{Measured, Rank};
use crate::bench::table::{Cell, row, table};
use crate::bench::view::{Element, element};
use crate::format::{NONE, grouped, percent};

/// One row a rank.
#[must_use]
pub fn ranks(measured: &Measured) -> Element {
    let heads = ["rank", "median", "spread", "min", "p90", "std", "tokens", "padded", "busy / span", "graph"];
    let largest = |of: fn(&Rank) -> Option<f64>| {
        let known = measured.ranks.iter().enumerate().filter_map(|(at, rank)| Some((at, of(rank)?)));
        let worst = known.reduce(|worst, next| if next.1 > worst.1 { next } else { worst });
        // Alone, or as slow as all others, a rank is no worst one.
        worst.filter(|(_, value)| measured.ranks.iter().any(|rank| of(rank).is_some_and(|other| other < *value)))
    };
    let (slowest, unsteady) = (largest(Rank::median_us), largest(Rank::spread_pct));
    let rows = measured.ranks.iter().enumerate().map(|(at, rank)| {
        let is = |worst: Option<(usize, f64)>| worst.is_some_and(|(worst, _)| worst == at);
        let mark = match (is(slowest), is(unsteady)) {
            (true, true) => Some("slowest, largest spread"),
            (true, false) => Some("slowest"),
            (false, true) => Some("largest spread"),
            (false, false) => None,
        };
        let head = mark.map_or_else(|| at.to_string(), |mark| format!("{at} ({mark})"));
        with_class(row(head, cells(rank)), mark.is_some())
    });
    let caption = format!("Ranks of {}", measured.title());
    table(caption, &heads).with("class", "ranks").and(element("tbody").all(rows))
}

fn with_class(row: Element, worst: bool) -> Element {
    row.maybe("class", worst.then_some("worst"))
}

fn cells(rank: &Rank) -> [Cell; 9] {
    let latency = rank.latency.clone().unwrap_or_default();
    let count = |value: Option<u64>| match value {
        Some(value) => Cell::number(grouped(value.into())).exactly(value.to_string()),
        None => Cell::number(NONE),
    };
    let busy = rank.profile.as_ref().and_then(|profile| profile.busy_us.zip(profile.span_us));
    let busy = match busy.filter(|(_, span)| *span > 0.0) {
        Some((busy, span)) => Cell::number(percent(busy / span)).exactly(format!("{busy} of {span} µs")),
        None => Cell::number(NONE),
    };
    [
        time_cell(latency.median),
        percent_cell(latency.sample_spread_pct),
        time_cell(latency.min),
        time_cell(latency.p90),
        time_cell(latency.std),
        count(rank.num_local_tokens.or(rank.num_tokens)),
        count(rank.num_tokens_after_padding),
        busy,
        Cell::text(graph(rank)),
    ]
}

/// What is wrong with the graph, or that nothing is.
fn graph(rank: &Rank) -> String {
    let mut words = Vec::new();
    if rank.finite == Some(false) {
        words.push("not finite".to_owned());
    }
    if rank.graph_deterministic == Some(false) {
        words.push("not deterministic".to_owned());
    }
    if let Some(rms) = rank.graph_vs_eager.and_then(|agreement| agreement.relative_rms) {
        words.push(format!("{rms:.1e} from eager"));
    }
    match (words.is_empty(), rank.finite, rank.graph_deterministic) {
        (false, _, _) => words.join(", "),
        (true, Some(true), Some(true)) => "ok".to_owned(),
        (true, _, _) => NONE.to_owned(),
    }
}

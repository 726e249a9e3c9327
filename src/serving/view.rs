//! What the page shows of a server's metrics, logs and steps, as trees of text.

use super::compare::{Row, Verdict};
use super::counters::Counters;
use super::log::Log;
use super::rates::{EngineRate, Outcome, PROMQL_GBPS, PROMQL_TFLOPS, Shares};
use super::step::Step;
use crate::batch::Phase;
use crate::bench::table::{Cell, row, table};
use crate::bench::view::{Element, View, element};
use crate::estimate::Quantity;
use crate::format::{NONE, Unit, grouped, percent, si};
use crate::report::Roof;

/// The counters of each engine, and the queries that turn them into rates.
#[must_use]
pub fn counters(counters: &Counters) -> View {
    let rows = counters.engines.iter().map(|engine| {
        let cell = |value: Option<f64>, unit| match value {
            Some(value) => Cell::number(si(value, unit)).exactly(value.to_string()),
            None => Cell::number(NONE),
        };
        row(
            engine.title(),
            [cell(engine.flops, Unit::FLOP), cell(engine.read, Unit::BYTE), cell(engine.write, Unit::BYTE)],
        )
    });
    let body = table("Estimated per GPU since the server's start", &["engine", "FLOPs", "read", "written"])
        .and(element("tbody").all(rows));
    element("section").and(body).and(queries()).all(listed("notes", &counters.notes)).into()
}

/// The rates of each engine, with their shares of a roof if there is one.
#[must_use]
pub fn rates(rates: &[EngineRate], roof: Option<&Roof>) -> View {
    let rows = rates.iter().map(|found| {
        let Outcome::Rates(rates) = found.outcome else {
            let none = std::iter::repeat_n(Cell::number(NONE), 4);
            return row(found.engine.title(), none.chain([Cell::text(found.outcome.remark())]));
        };
        let shares = roof.and_then(|roof| rates.shares(roof));
        let share = |of: fn(&Shares) -> f64| match &shares {
            Some(shares) => Cell::number(percent(of(shares))).exactly(of(shares).to_string()),
            None => Cell::number(NONE),
        };
        row(
            found.engine.title(),
            [
                Cell::number(si(rates.flops.0, Unit::FLOP_PER_SECOND)).exactly(format!("{} FLOP/s", rates.flops.0)),
                Cell::number(si(rates.moved().0, Unit::BYTE_PER_SECOND))
                    .exactly(format!("{} B/s read, {} B/s written", rates.read.0, rates.write.0)),
                share(|shares| shares.mfu),
                share(|shares| shares.mbu),
                Cell::text(""),
            ],
        )
    });
    let heads = ["engine", "FLOP/s", "read and written", "MFU", "MBU", "remark"];
    let body = table("Estimated rates per GPU", &heads).and(element("tbody").all(rows));
    element("section").and(body).and(queries()).into()
}

/// The rates of a log's intervals, and what could not be read of it.
#[must_use]
pub fn log(log: &Log, roof: Option<&Roof>) -> View {
    let rows = log.intervals.iter().map(|interval| {
        let share = |rate: f64, of: fn(&Roof) -> f64| match roof {
            Some(roof) if of(roof) > 0.0 => Cell::number(percent(rate / of(roof))),
            _ => Cell::number(NONE),
        };
        row(
            format!("line {}", interval.line),
            [
                Cell::text(interval.engine.clone()),
                Cell::number(format!("{:.1}", interval.tflops)),
                Cell::number(format!("{:.1}", interval.gbps)),
                share(interval.tflops * 1e12, |roof| roof.peak.rate.0),
                share(interval.gbps * 1e9, |roof| roof.bandwidth.0),
            ],
        )
    });
    let heads = ["where", "engine", "TFLOP/s per GPU", "GB/s per GPU", "MFU", "MBU"];
    let mut section = element("section");
    if !log.intervals.is_empty() {
        section = section.and(table("Intervals of the log", &heads).and(element("tbody").all(rows)));
    }
    section.all(listed("warnings", &log.problems)).into()
}

/// A server's terms beside ours.
#[must_use]
pub fn compared(rows: &[Row]) -> View {
    let count = |verdict: &dyn Fn(&Verdict) -> bool| rows.iter().filter(|row| verdict(&row.verdict)).count();
    let differ = count(&|verdict| matches!(verdict, Verdict::Differs | Verdict::OnlyTheirs | Verdict::OnlyOurs));
    let open = count(&|verdict| matches!(verdict, Verdict::NotComparable(_)));
    let agree = rows.len() - differ - open;
    let summary = format!("{agree} of {} terms agree, {differ} do not, {open} cannot be compared.", rows.len());
    let body = rows.iter().map(|found| {
        let unit = if found.quantity == Quantity::Flops { Unit::FLOP } else { Unit::BYTE };
        let class = match found.verdict {
            Verdict::Equal | Verdict::Possible => None,
            Verdict::NotComparable(_) => Some("open"),
            _ => Some("differs"),
        };
        let ours = match found.ours {
            Some(range) if range.low == range.high => {
                Cell::number(si(range.middle(), unit)).exactly(range.high.to_string())
            }
            Some(range) => {
                let (low, high) = (si(range.low as f64, unit), si(range.high as f64, unit));
                let text = if low == high { low } else { format!("{low} to {high}") };
                Cell::number(text).exactly(format!("{} to {}", range.low, range.high))
            }
            None => Cell::number(NONE),
        };
        let quantity = match found.quantity {
            Quantity::Flops => "FLOPs",
            Quantity::Read => "read",
            Quantity::Write => "written",
        };
        let theirs = found.theirs.as_ref().map_or(NONE, |figure| figure.printed.as_str());
        let cells = [Cell::text(quantity), Cell::number(theirs), ours, Cell::text(found.verdict.text())];
        row(found.key.as_str(), cells).maybe("class", class)
    });
    let heads = ["term", "quantity", "server", "estimate", "verdict"];
    let table = table("The server's estimate beside ours, per GPU", &heads).with("class", "compared");
    element("section").and(element("p").and(summary)).and(table.and(element("tbody").all(body))).into()
}

/// The batch of a step.
#[must_use]
pub fn step(step: &Step) -> View {
    let rows = step.batch.groups().iter().map(|group| {
        let phase = match group.phase {
            Phase::Prefill => "prefill",
            Phase::Decode => "decode",
        };
        let number = |value: u64| Cell::number(grouped(value.into())).exactly(value.to_string());
        row(phase, [number(group.count), number(group.tokens), number(group.context)])
    });
    let body =
        table("The step as a batch", &["phase", "requests", "new tokens", "KV length"]).and(element("tbody").all(rows));
    let case = element("p").and("As a case: ").and(element("code").and(step.case.to_text()));
    element("section").and(body).and(case).all(listed("notes", &step.notes)).into()
}

/// The queries, to be copied.
fn queries() -> Element {
    let item = |what: &str, query: &str| element("li").and(format!("{what}: ")).and(element("code").and(query));
    element("ul")
        .with("class", "queries")
        .and(item("TFLOP/s per GPU in PromQL", PROMQL_TFLOPS))
        .and(item("GB/s per GPU in PromQL", PROMQL_GBPS))
}

fn listed(class: &str, sentences: &[String]) -> Option<Element> {
    if sentences.is_empty() {
        return None;
    }
    Some(element("ul").with("class", class).all(sentences.iter().map(|text| element("li").and(text.as_str()))))
}

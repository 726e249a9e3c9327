//! The report as columns for a terminal, or as a Markdown table.

use super::Reported;
use rooflens::bench::results::Measured;
use rooflens::bench::results::compare::Row;
use rooflens::export::{aligned, escaped, printable};
use rooflens::format::{NONE, Unit, duration, percent, ratio, si};
use rooflens::units::Seconds;

const HEADS: [&str; 12] =
    ["case", "requests", "median", "spread", "ranks", "FLOP/s", "B/s", "MFU", "MBU", "bound", "x bound", "warnings"];

/// Columns that only an estimate fills, and of these the ones that need a roof.
const ESTIMATED: std::ops::Range<usize> = 5..11;
const ROOFED: std::ops::Range<usize> = 7..11;

/// A table a file.
pub(super) fn report(files: &[Reported], markdown: bool) -> String {
    let mut text = String::new();
    for reported in files {
        if files.len() > 1 {
            if !text.is_empty() {
                text.push('\n');
            }
            heading(&mut text, &reported.name, markdown);
        }
        text.push_str(&table(&rows(reported), 2, markdown));
        if reported.cases.iter().any(|about| about.against.is_some()) {
            text.extend(["\nEstimated by the ", reported.model.name(), " model.\n"]);
        }
    }
    text
}

fn heading(text: &mut String, name: &str, markdown: bool) {
    if markdown {
        text.extend(["**", &escaped(name), "**\n\n"]);
    } else {
        text.extend([&printable(name), "\n"]);
    }
}

fn rows(reported: &Reported) -> Vec<Vec<String>> {
    let against = |at: fn(&super::About) -> bool| reported.cases.iter().any(at);
    let estimated = against(|about| about.against.is_some());
    let roofed = against(|about| about.against.is_some_and(|against| against.share.is_some()));
    let kept = |(column, _): &(usize, String)| match column {
        column if ROOFED.contains(column) => roofed,
        column if ESTIMATED.contains(column) => estimated,
        _ => true,
    };
    let line = |cells: Vec<String>| cells.into_iter().enumerate().filter(kept).map(|(_, cell)| cell).collect();
    let mut rows: Vec<Vec<String>> = vec![line(HEADS.map(str::to_owned).to_vec())];
    for (case, about) in reported.file.cases.iter().zip(&reported.cases) {
        let none = || NONE.to_owned();
        let share = about.against.and_then(|against| against.share);
        rows.push(line(vec![
            case.title().to_owned(),
            case.case.body(),
            duration(case.median()),
            case.spread_pct().map_or_else(none, |pct| percent(pct / 100.0)),
            case.ranks.len().to_string(),
            about.against.map_or_else(none, |against| si(against.computed.0, Unit::FLOP_PER_SECOND)),
            about.against.map_or_else(none, |against| si(against.moved.0, Unit::BYTE_PER_SECOND)),
            share.map_or_else(none, |share| percent(share.mfu)),
            share.map_or_else(none, |share| percent(share.mbu)),
            share.map_or_else(none, |share| format!("{} ({})", duration(share.bound), share.limit.label())),
            share.map_or_else(none, |share| ratio(share.ratio)),
            about.said().len().to_string(),
        ]));
    }
    rows
}

/// Two files side by side.
pub(super) fn compared(names: [&str; 2], rows: &[Row<'_>], markdown: bool) -> String {
    let heads = ["case", "before", "after", "change", "after / before", "speed-up", "remark"];
    let mut lines: Vec<Vec<String>> = vec![heads.map(str::to_owned).to_vec()];
    for row in rows {
        let time = |case: Option<&Measured>| case.map_or_else(|| NONE.to_owned(), |case| duration(case.median()));
        let change = |of: &dyn Fn(&rooflens::bench::results::compare::Change) -> String| {
            row.change.as_ref().map_or_else(|| NONE.to_owned(), of)
        };
        let remark = match (row.before, row.after) {
            (Some(_), None) => "only before",
            (None, Some(_)) => "only after",
            _ => row.change.map_or("", |change| change.remark()),
        };
        lines.push(vec![
            row.name.to_owned(),
            time(row.before),
            time(row.after),
            change(&|change| {
                let sign = if change.delta_us > 0.0 { "+" } else { "" };
                format!("{sign}{}", duration(Seconds(change.delta_us * 1e-6)))
            }),
            change(&|change| ratio(change.ratio)),
            change(&|change| ratio(change.speedup)),
            remark.to_owned(),
        ]);
    }
    let [before, after] = names;
    let mut text = String::new();
    for (word, name) in [("before", before), ("after", after)] {
        if markdown {
            text.extend(["- ", word, ": ", &escaped(name), "\n"]);
        } else {
            text.extend([format!("{word:<6}"), "  ".to_owned(), printable(name), "\n".to_owned()]);
        }
    }
    text + "\n" + &table(&lines, 1, markdown)
}

/// Rows with the first `left` columns aligned left.
fn table(rows: &[Vec<String>], left: usize, markdown: bool) -> String {
    if !markdown {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|cell| cut(&printable(cell))).collect()).collect();
        return aligned(&rows, left);
    }
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        text.push('|');
        for cell in row {
            text.extend([" ", &escaped(cell), " |"]);
        }
        text.push('\n');
        if at == 0 {
            text.push('|');
            for column in 0..row.len() {
                text.push_str(if column < left { " :-- |" } else { " --: |" });
            }
            text.push('\n');
        }
    }
    text
}

/// A cell of a terminal's table: jittered requests go on for pages.
fn cut(text: &str) -> String {
    const WIDEST: usize = 40;
    match text.char_indices().nth(WIDEST).and_then(|(end, _)| text.get(..end)) {
        Some(start) => format!("{start}…"),
        None => text.to_owned(),
    }
}

//! A table for a review document, in the dialect of GitHub.

use super::{Case, ExportError, Exporter, Report, step_time};
use crate::format::{NONE, Unit, si};
use crate::report::{Columns, left_out, rows};
use std::fmt::Write as _;

/// Facts as a list, and a table a case.
#[derive(Clone, Copy, Debug, Default)]
pub struct Markdown;

impl Exporter for Markdown {
    fn export(&self, report: &Report<'_>) -> Result<String, ExportError> {
        let mut text = String::new();
        for (word, value) in report.facts() {
            let _ = writeln!(text, "- {word}: {}", escaped(&value));
        }
        if let Some(case) = report.cases.first().filter(|case| case.answer.physical.is_none()) {
            for (component, reason) in left_out(&case.answer.vllm, &case.answer.spec) {
                let _ = writeln!(text, "- not counted: {}, {}", component.title(), escaped(reason));
            }
        }
        for case in report.cases {
            table(&mut text, case, report);
        }
        Ok(text)
    }
}

fn table(text: &mut String, case: &Case, report: &Report<'_>) {
    let breakdown = case.answer.breakdown(report.scope);
    let total = breakdown.cost();
    let columns = Columns::of(&total);
    let _ = writeln!(text, "\n**{}**\n", escaped(&case.title()));
    let mut row = |first: &str, second: &str, [flops, read, write]: [String; 3]| {
        let _ = writeln!(text, "| {first} | {second} | {flops} | {read} | {write} |");
    };
    row("component", "operation", columns.heads());
    row(":--", ":--", ["--:", "--:", "--:"].map(str::to_owned));
    for part in rows(breakdown, None, None) {
        for operation in &part.operations {
            row(part.component.title(), operation.name, columns.cells(&operation.summary.cost));
        }
    }
    row("**total**", "", columns.cells(&total));
    let intensity = total.intensity().map_or_else(|| NONE.to_owned(), |i| si(i.0, Unit::INTENSITY));
    let _ = writeln!(text, "\nArithmetic intensity: {intensity}");
    if let Some(time) = step_time(case) {
        let _ = writeln!(text, "\nStep time: {time}");
    }
}

/// Somebody's text, so that it stands as it is: on one line, without markup, and without ending a cell.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() => out.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '#' | '&' | '$' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

//! A table for a terminal.

use super::{Case, ExportError, Exporter, Report, aligned, printable, step_time};
use crate::estimate::Component;
use crate::format::{NONE, Unit, si};
use crate::report::{Columns, left_out, rows};

/// Aligned columns of text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Table;

impl Exporter for Table {
    fn export(&self, report: &Report<'_>) -> Result<String, ExportError> {
        let facts: Vec<[String; 2]> =
            report.facts().into_iter().map(|(word, value)| [word.to_owned(), printable(&value)]).collect();
        let mut text = aligned(&facts, 2);
        for case in report.cases {
            text.push('\n');
            text.push_str(&table(case, report));
        }
        if let Some(case) = report.cases.first().filter(|case| case.answer.physical.is_none()) {
            text.push_str(&skipped(&left_out(&case.answer.vllm, &case.answer.spec)));
        }
        Ok(text)
    }
}

fn table(case: &Case, report: &Report<'_>) -> String {
    let breakdown = case.answer.breakdown(report.scope);
    let total = breakdown.cost();
    let columns = Columns::of(&total);
    let line = |first: String, cells: [String; 3]| {
        let [flops, read, write] = cells;
        [first, flops, read, write]
    };
    let mut lines = vec![line(String::new(), columns.heads())];
    for part in rows(breakdown, None, None) {
        lines.push(line(part.component.title().to_owned(), columns.cells(&part.summary.cost)));
        let operations = part.operations.iter();
        lines.extend(operations.map(|row| line(format!("  {}", row.name), columns.cells(&row.summary.cost))));
    }
    lines.push(line("total".to_owned(), columns.cells(&total)));
    let intensity = total.intensity().map_or_else(|| NONE.to_owned(), |i| si(i.0, Unit::INTENSITY));
    let time = step_time(case).map_or_else(String::new, |time| format!("step time: {time}\n"));
    format!("{}\n{}arithmetic intensity: {intensity}\n{time}", printable(&case.title()), aligned(&lines, 1))
}

fn skipped(components: &[(Component, &str)]) -> String {
    let mut text = String::new();
    if !components.is_empty() {
        text.push_str("\nnot counted:\n");
    }
    for (component, reason) in components {
        text.extend(["  ", component.title(), ": ", &printable(reason), "\n"]);
    }
    text
}

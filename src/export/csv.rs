//! Every term, exact, for a spreadsheet.
//!
//! `case,scope,component,operation,term,quantity,unit,value`, a row a term, no sums: they would count twice in a pivot
//! table. Cells are quoted after RFC 4180 where they must be. A cell of text that begins with `=`, `+`, `-`, `@`, a tab
//! or a carriage return gets an apostrophe in front, since spreadsheets would run it as a formula.

use super::{ExportError, Exporter, Report};
use crate::estimate::{Breakdown, Quantity, Scope};
use std::borrow::Cow;
use std::fmt::Write as _;

/// Comma-separated values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Csv;

impl Exporter for Csv {
    fn export(&self, report: &Report<'_>) -> Result<String, ExportError> {
        let mut text = "case,scope,component,operation,term,quantity,unit,value\n".to_owned();
        for case in report.cases {
            terms(&mut text, &case.name, report.scope, case.answer.breakdown(report.scope), "");
        }
        Ok(text)
    }
}

/// A row for each term of a breakdown, with something at its end.
pub(super) fn terms(text: &mut String, name: &str, scope: Scope, breakdown: &Breakdown, end: &str) {
    let (name, scope) = (cell(name), scope_name(scope));
    for part in &breakdown.parts {
        for (def, amount) in part.sums() {
            let (quantity, unit) = match def.quantity {
                Quantity::Flops => ("flops", "FLOP"),
                Quantity::Read => ("read", "B"),
                Quantity::Write => ("write", "B"),
            };
            let (component, operation) = (part.component.name(), cell(def.operation));
            let term = def.name;
            let _ = writeln!(text, "{name},{scope},{component},{operation},{term},{quantity},{unit},{amount}{end}");
        }
    }
}

/// What a scope is called in files.
pub(super) fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::PerGpu => "per_gpu",
        Scope::Global => "global",
    }
}

/// A cell of text.
fn cell(text: &str) -> Cow<'_, str> {
    let text = match text.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r') => Cow::Owned(format!("'{text}")),
        _ => Cow::Borrowed(text),
    };
    if text.contains([',', '"', '\n', '\r']) {
        return Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn cells_neither_break_the_row_nor_run() {
        for (text, expected) in [
            ("decode", "decode"),
            ("", ""),
            ("2*1@8,4@9", "\"2*1@8,4@9\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@sum(a,b)", "\"'@sum(a,b)\""),
            ("\tx", "'\tx"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(cell(text), expected);
        }
    }
}

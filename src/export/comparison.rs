//! Scenarios beside each other: Markdown for a review document, CSV and JSON with every term exact.

use super::csv;
use super::markdown::escaped;
use crate::estimate::{Breakdown, Quantity};
use crate::hardware::Accelerator;
use crate::json::{Member, Node, Span, Value};
use crate::report::{Entry, Roof, compare_rows};
use std::fmt::Write as _;

/// One scenario.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its letter and name.
    pub name: String,
    /// Whether the others are held against it.
    pub baseline: bool,
    /// Its inputs in words: model, layout, precision, batch, accelerator.
    pub inputs: [String; 5],
    /// The estimate in the scope that is shown.
    pub breakdown: Breakdown,
    /// The estimate per GPU.
    pub per_gpu: Breakdown,
    /// The roofline.
    pub roof: Option<Roof>,
    /// The accelerator.
    pub accelerator: Accelerator,
}

const INPUTS: [&str; 5] = ["model", "layout", "precision", "batch", "accelerator"];

/// A table of inputs and figures, with the link at its end.
#[must_use]
pub fn markdown(columns: &[Column], link: &str) -> String {
    let mut out = String::new();
    let mut row = |first: &str, cells: &mut dyn Iterator<Item = String>| {
        let _ = write!(out, "| {first} |");
        for cell in cells {
            let _ = write!(out, " {cell} |");
        }
        out.push('\n');
    };
    let name = |column: &Column| {
        let baseline = if column.baseline && columns.len() > 1 { " (baseline)" } else { "" };
        format!("{}{baseline}", escaped(&column.name))
    };
    row("", &mut columns.iter().map(name));
    row(":--", &mut columns.iter().map(|_| "--:".to_owned()));
    for (at, input) in INPUTS.iter().enumerate() {
        row(
            input,
            &mut columns.iter().map(|column| column.inputs.get(at).map_or_else(String::new, |text| escaped(text))),
        );
    }
    let base = columns.iter().position(|column| column.baseline).unwrap_or(0);
    for figures in compare_rows(&entries(columns), base) {
        let cell = |cell: &crate::report::CompareCell| {
            let ratio = cell.ratio.as_ref().filter(|_| columns.len() > 1);
            let ratio = ratio.map_or_else(String::new, |ratio| format!(" ({ratio})"));
            format!("{} {}{ratio}", cell.text, cell.unit).trim().to_owned()
        };
        row(figures.label, &mut figures.cells.iter().map(cell));
    }
    let _ = write!(
        out,
        "\nFLOPs and bytes: vLLM's estimator, with its simplifications. Time: the least that the roofline allows.\n"
    );
    if !link.is_empty() {
        let _ = write!(out, "\n<{link}>\n");
    }
    out
}

fn entries(columns: &[Column]) -> Vec<Entry<'_>> {
    let entry = |(place, column)| {
        let column: &Column = column;
        Entry {
            key: u8::try_from(place).ok().and_then(|place| b'A'.checked_add(place)).map_or('?', char::from),
            name: &column.name,
            place,
            breakdown: &column.breakdown,
            per_gpu: &column.per_gpu,
            roof: column.roof.as_ref(),
            accelerator: &column.accelerator,
        }
    };
    columns.iter().enumerate().map(entry).collect()
}

/// Every term of every scenario: `scenario,component,operation,term,quantity,unit,value`.
#[must_use]
pub fn csv(columns: &[Column]) -> String {
    let mut out = "scenario,component,operation,term,quantity,unit,value\n".to_owned();
    for column in columns {
        csv::terms(&mut out, &column.name, &column.breakdown);
    }
    out
}

/// The link, and of every scenario the inputs and the exact terms, in the scope that is shown and per GPU.
#[must_use]
pub fn json(columns: &[Column], link: &str) -> String {
    let scenario = |column: &Column| {
        let inputs = INPUTS.iter().zip(&column.inputs).map(|(name, text)| (*name, Value::Text(text.clone())));
        object([
            ("name", Value::Text(column.name.clone())),
            ("inputs", object(inputs)),
            ("shown", amounts(&column.breakdown)),
            ("per_gpu", amounts(&column.per_gpu)),
        ])
    };
    let scenarios = columns.iter().map(|column| node(scenario(column))).collect();
    let whole = object([("link", Value::Text(link.to_owned())), ("scenarios", Value::List(scenarios))]);
    node(whole).to_text() + "\n"
}

fn amounts(breakdown: &Breakdown) -> Value {
    let terms = |quantity| {
        let terms = breakdown.terms(quantity).map(|(component, term)| {
            let amount = i128::try_from(term.amount).map_or(Value::Null, Value::Int);
            member(format!("{}.{}", component.name(), term.def.name), amount)
        });
        Value::Object(terms.collect())
    };
    object([
        ("flops", terms(Quantity::Flops)),
        ("read_bytes", terms(Quantity::Read)),
        ("write_bytes", terms(Quantity::Write)),
    ])
}

fn object<'a>(members: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(key, value)| member(key.to_owned(), value)).collect())
}

fn member(key: String, value: Value) -> Member {
    Member { key, key_span: Span::default(), node: node(value) }
}

fn node(value: Value) -> Node {
    Node { value, span: Span::default() }
}

//! Scenarios beside each other: Markdown for a review document, CSV and JSON with every term exact.

use super::csv;
use super::markdown::escaped;
use crate::estimate::{Breakdown, Method, Quantity, Scope};
use crate::hardware::Accelerator;
use crate::json::{Member, Node, Span, Value};
use crate::report::answer::Step;
use crate::report::{Entry, Roof, compare_rows};
use std::fmt::Write as _;

/// Scenarios beside each other, as exports take them.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The scope that is shown.
    pub scope: Scope,
    /// The model that counts.
    pub method: Method,
    /// The scenarios that have numbers.
    pub columns: Vec<Column>,
    /// What a reader of the numbers must know: estimates that do not exist or are not whole, layouts that are refused.
    pub notes: Vec<String>,
    /// The link that opens the same; may be empty.
    pub link: String,
}

/// One scenario.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its letter and name.
    pub name: String,
    /// Its letter.
    pub key: char,
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
    /// Pipeline stages.
    pub stages: u32,
    /// The time of a step under the physical model, where that counts.
    pub step: Option<Step>,
}

const INPUTS: [&str; 5] = ["model", "layout", "precision", "batch", "accelerator"];

/// A table of inputs and figures, with the link at its end.
#[must_use]
pub fn markdown(sheet: &Sheet) -> String {
    let columns = &sheet.columns;
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
    let scope = match sheet.scope {
        Scope::PerGpu => "per GPU",
        Scope::Global => "whole model",
    };
    row(scope, &mut columns.iter().map(name));
    row(":--", &mut columns.iter().map(|_| "--:".to_owned()));
    for (at, input) in INPUTS.iter().enumerate() {
        row(
            input,
            &mut columns.iter().map(|column| column.inputs.get(at).map_or_else(String::new, |text| escaped(text))),
        );
    }
    let base = columns.iter().position(|column| column.baseline);
    for figures in compare_rows(&entries(columns), base) {
        let cell = |cell: &crate::report::CompareCell| {
            let ratio = cell.ratio.as_ref().filter(|_| columns.len() > 1);
            let ratio = ratio.map_or_else(String::new, |ratio| format!(" ({ratio})"));
            format!("{} {}{ratio}", cell.text, cell.unit).trim().to_owned()
        };
        row(figures.label, &mut figures.cells.iter().map(cell));
    }
    for (at, note) in sheet.notes.iter().enumerate() {
        let _ = writeln!(out, "{}- {}", if at == 0 { "\n" } else { "" }, escaped(note));
    }
    if sheet.method == Method::Physical {
        let step = columns.iter().find_map(|column| column.step.as_ref());
        let expected = step.map_or_else(String::new, |step| format!(", and {}: {}", step.preset, step.source()));
        let _ = writeln!(
            out,
            "\nFLOPs and bytes, {scope}: what the hardware has to do (physical model). Time: the least that a step can take, communication included{expected}.",
        );
    } else {
        let _ = writeln!(
            out,
            "\nFLOPs and bytes, {scope}: vLLM's estimator, with its simplifications. Time: the least that the roofline allows one GPU{}.",
            if columns.iter().any(|column| column.stages > 1) {
                ", with pipeline stages that of its stage"
            } else {
                ""
            }
        );
    }
    if !sheet.link.is_empty() {
        let _ = write!(out, "\n<{}>\n", sheet.link);
    }
    out
}

fn entries(columns: &[Column]) -> Vec<Entry<'_>> {
    let entry = |(place, column)| {
        let column: &Column = column;
        Entry {
            key: column.key,
            name: &column.name,
            place,
            breakdown: &column.breakdown,
            per_gpu: &column.per_gpu,
            roof: column.roof.as_ref(),
            accelerator: &column.accelerator,
            stages: column.stages,
            step: column.step.as_ref(),
        }
    };
    columns.iter().enumerate().map(entry).collect()
}

/// Every term of every scenario: `scenario,scope,component,operation,term,quantity,unit,value,estimator`.
#[must_use]
pub fn csv(sheet: &Sheet) -> String {
    let mut out = "scenario,scope,component,operation,term,quantity,unit,value,estimator\n".to_owned();
    let end = format!(",{}", sheet.method.name());
    for column in &sheet.columns {
        csv::terms(&mut out, &column.name, sheet.scope, &column.breakdown, &end);
    }
    out
}

/// The link, the scope that is shown, notes, and of every scenario the inputs and the exact terms, in the scope that is shown and per GPU.
#[must_use]
pub fn json(sheet: &Sheet) -> String {
    let scenario = |column: &Column| {
        let inputs = INPUTS.iter().zip(&column.inputs).map(|(name, text)| (*name, Value::Text(text.clone())));
        object([
            ("name", Value::Text(column.name.clone())),
            ("inputs", object(inputs)),
            ("shown", amounts(&column.breakdown)),
            ("per_gpu", amounts(&column.per_gpu)),
            ("step_seconds", column.step.as_ref().map_or(Value::Null, step)),
        ])
    };
    let scenarios = sheet.columns.iter().map(|column| node(scenario(column))).collect();
    let notes = sheet.notes.iter().map(|note| node(Value::Text(note.clone()))).collect();
    let whole = object([
        ("link", Value::Text(sheet.link.clone())),
        ("scope", Value::Text(csv::scope_name(sheet.scope).to_owned())),
        ("estimator", Value::Text(sheet.method.name().to_owned())),
        ("notes", Value::List(notes)),
        ("scenarios", Value::List(scenarios)),
    ]);
    node(whole).to_text() + "\n"
}

/// The time of a step under the physical model.
fn step(step: &Step) -> Value {
    object([
        ("bound", Value::Float(step.bound.0)),
        (step.preset, Value::Float(step.expected.0)),
        ("bound_by", Value::Text(step.limit.label().to_owned())),
    ])
}

fn amounts(breakdown: &Breakdown) -> Value {
    let terms = |quantity| {
        let sums = breakdown.parts.iter().flat_map(|part| part.sums().into_iter().map(|sum| (part.component, sum)));
        let terms = sums.filter(|(_, (def, _))| def.quantity == quantity).map(|(component, (def, sum))| {
            let amount = i128::try_from(sum).map_or(Value::Null, Value::Int);
            member(format!("{}.{}", component.name(), def.name), amount)
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

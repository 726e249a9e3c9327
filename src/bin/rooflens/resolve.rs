//! `rooflens resolve`: what was read out of a config, and where each value came from.

use crate::args::{Resolve, ResolveFormat};
use crate::estimate::notes;
use crate::failure::{Failure, print};
use rooflens::export::{aligned, printable};
use rooflens::model::{ModelSpec, Origin, Weight};
use serde::Serialize;
use std::collections::BTreeMap;

/// Resolves and prints.
pub(crate) fn run(args: &Resolve) -> Result<(), Failure> {
    let spec = args.config.load(args.companion.read()?.as_ref())?;
    match args.format {
        ResolveFormat::Table => {
            notes(&spec.notes);
            print(&table(&args.config.name(), &spec))
        }
        ResolveFormat::Json => {
            let text = serde_json::to_string(&Resolved::of(&spec)).map_err(|error| Failure::Output(error.into()))?;
            print(&(text + "\n"))
        }
    }
}

/// A resolved model in JSON.
#[derive(Serialize)]
struct Resolved<'a> {
    model_type: &'a str,
    text_type: &'a str,
    text_path: &'a str,
    class_known: bool,
    unreadable: Option<&'a str>,
    attention: &'static str,
    fields: BTreeMap<&'static str, Field<'a>>,
    dtype: Named<'a>,
    quantization: Named<'a>,
    notes: Vec<Remark<'a>>,
}

/// An integer or the reason why there is none.
#[derive(Serialize)]
struct Field<'a> {
    value: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
    origin: String,
}

#[derive(Serialize)]
struct Named<'a> {
    value: Option<&'a str>,
    origin: String,
}

#[derive(Serialize)]
struct Remark<'a> {
    weight: &'static str,
    text: &'a str,
}

impl<'a> Resolved<'a> {
    fn of(spec: &'a ModelSpec) -> Self {
        let fields = spec.fields().into_iter().map(|(name, reading)| {
            let problem = reading.value.as_ref().err().map(String::as_str);
            (name, Field { value: reading.ok(), problem, origin: reading.origin.to_string() })
        });
        let notes = spec.notes.iter().map(|note| Remark { weight: weight(note.weight), text: &note.text });
        Self {
            model_type: &spec.model_type,
            text_type: &spec.text_type,
            text_path: &spec.text_path,
            class_known: spec.class_known,
            unreadable: spec.unreadable.as_deref(),
            attention: attention(spec),
            fields: fields.collect(),
            dtype: Named { value: Some(spec.dtype.dtype.name()), origin: spec.dtype.origin.to_string() },
            quantization: Named { value: method(spec), origin: spec.quantization_origin().to_string() },
            notes: notes.collect(),
        }
    }
}

fn table(name: &str, spec: &ModelSpec) -> String {
    let or_none = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
    let class = if spec.class_known { "known" } else { "not known: no aliases and no class defaults" };
    let facts = [
        ("model", name.to_owned()),
        ("model type", or_none(&spec.model_type)),
        ("config class", class.to_owned()),
        ("language model", format!("{} ({})", or_none(&spec.text_type), place(&spec.text_path))),
        ("attention", attention(spec).to_owned()),
    ];
    let facts = facts.map(|(word, value)| [word.to_owned(), printable(&value)]);
    let mut rows = vec![["FIELD", "VALUE", "ORIGIN"].map(str::to_owned)];
    let mut row = |name: &str, value: String, origin: &Origin| {
        rows.push([name.to_owned(), printable(&value), printable(&origin.to_string())]);
    };
    for (name, reading) in spec.fields() {
        let value = reading.value.as_ref().map_or_else(|reason| format!("none, it {reason}"), u64::to_string);
        row(name, value, &reading.origin);
    }
    row("dtype", spec.dtype.dtype.name().to_owned(), &spec.dtype.origin);
    row("quantization", or_none(method(spec).unwrap_or_default()), &spec.quantization_origin());
    format!("{}\n{}", aligned(&facts, 2), aligned(&rows, 3))
}

fn place(path: &str) -> String {
    if path.is_empty() { "top level".to_owned() } else { path.to_owned() }
}

fn attention(spec: &ModelSpec) -> &'static str {
    if spec.mla.is_some() { "latent (MLA)" } else { "heads" }
}

fn method(spec: &ModelSpec) -> Option<&str> {
    spec.quantization.method.as_deref().filter(|method| !method.is_empty())
}

fn weight(weight: Weight) -> &'static str {
    match weight {
        Weight::Info => "info",
        Weight::Caution => "caution",
        Weight::Strong => "strong",
    }
}

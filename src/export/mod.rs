//! Estimates as text: for a terminal, a review document, a spreadsheet, a program.
//!
//! Each format is a file with an [`Exporter`]. Formats for people print by the policy of [`crate::format`]; formats for
//! programs hold exact integers. A new format is a new file here.

pub mod comparison;
mod csv;
mod grid;
mod json;
mod markdown;
mod table;

pub use csv::Csv;
pub use grid::{aligned, printable};
pub use json::Json;
pub use markdown::{Markdown, escaped};
pub use table::Table;

use crate::estimate::Scope;
use crate::format::{Unit, capacity, duration, grouped, si};
use crate::job::{Answer, PhysicalAnswer};
use crate::model::anatomy::Parameters;
use crate::model::{ModelSpec, Origin};
use crate::settings::Settings;

/// A format.
pub trait Exporter {
    /// The report in this format, with a line break at its end.
    ///
    /// # Errors
    /// Where the format cannot hold it.
    fn export(&self, report: &Report<'_>) -> Result<String, ExportError>;
}

/// What a format cannot hold, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExportError(pub String);

/// The estimates of one model under one layout.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// What the user calls the model.
    pub model: &'a str,
    /// Of what the numbers are; formats that hold both have no use for it.
    pub scope: Scope,
    /// The batches with their estimates, all of the same model and settings.
    pub cases: &'a [Case],
}

/// A named batch with its estimate.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its estimate.
    pub answer: Answer,
}

impl Report<'_> {
    /// What the numbers are of, as pairs of a word and a value.
    #[must_use]
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let Some(Case { answer: Answer { spec, settings, physical, .. }, .. }) = self.cases.first() else {
            return Vec::new();
        };
        let mut facts = vec![
            ("model", named(self.model, spec)),
            ("layout", layout(settings, self.scope)),
            ("dtype", dtype(settings, spec)),
            ("KV cache", kv_cache(settings, spec)),
            ("quantization", quantization(settings, spec)),
        ];
        if settings.disable_sliding_window {
            facts.push(("sliding window", "disabled".to_owned()));
        }
        if let Some(physical) = physical {
            facts.retain(|(word, _)| *word != "KV cache");
            facts.extend(physical_facts(physical));
        }
        facts
    }
}

/// What the physical model says about a model and its GPU.
fn physical_facts(physical: &PhysicalAnswer) -> Vec<(&'static str, String)> {
    let Parameters { active, .. } = physical.parameters;
    let parameters = |count: u128| si(count as f64, Unit::PARAMETERS);
    let (bytes, every) = physical.token;
    let token = bytes as f64 / every.max(1) as f64;
    let mut facts = vec![
        ("counted", "what the hardware has to do (physical model)".to_owned()),
        ("parameters", format!("{}, {} for a token", parameters(physical.parameters.total()), parameters(active))),
        ("weights", format!("{} per GPU", capacity(physical.loaded))),
        ("KV cache", format!("{}, {} a token per GPU", physical.model.cache.name, si(token, Unit::BYTE))),
    ];
    if let Some((on, accelerator)) = physical.on.as_ref().zip(physical.accelerator) {
        let fits = if on.fit.fits() { "fits" } else { "does not fit" };
        facts.push(("hardware", format!("{}, {fits} in {}", accelerator.name, capacity(on.fit.taken))));
    }
    facts
}

/// The time of a step: from the ideal bound to what is expected.
fn step_time(case: &Case) -> Option<String> {
    let on = case.answer.physical.as_ref()?.on.as_ref()?;
    let (bound, expected) = (duration(on.bound.latency), duration(on.expected.latency));
    Some(format!("{bound} at least ({}-bound), {expected} {}", on.step.limit().label(), on.preset.name))
}

impl Case {
    /// The name and the size of the batch: `decode: 32 requests, 32 new tokens`.
    fn title(&self) -> String {
        let counted =
            |count: u128, what: &str| format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" });
        let groups = self.answer.batch.groups().iter();
        let (requests, tokens) = groups.fold((0_u128, 0_u128), |(requests, tokens), group| {
            let count = u128::from(group.count);
            (requests.saturating_add(count), tokens.saturating_add(count.saturating_mul(group.tokens.into())))
        });
        format!("{}: {}, {}", self.name, counted(requests, "request"), counted(tokens, "new token"))
    }
}

/// `deepseek-v3 (deepseek_v3)`, with the language model's type where it is another.
fn named(model: &str, spec: &ModelSpec) -> String {
    let class = if spec.model_type.is_empty() { "no model_type" } else { &spec.model_type };
    match spec.text_type.as_str() {
        "" => format!("{model} ({class})"),
        text if text == spec.model_type => format!("{model} ({class})"),
        text => format!("{model} ({class}, its language model {text})"),
    }
}

fn layout(settings: &Settings, scope: Scope) -> String {
    let (label, gpus) = (settings.layout.label(), settings.layout.gpus());
    let of = match scope {
        Scope::PerGpu => "per GPU",
        Scope::Global => "of the whole model",
    };
    if gpus == 1 && !settings.layout.ep {
        return format!("{label}, numbers {of}");
    }
    format!("{label} ({gpus} GPU{}), numbers {of}", if gpus == 1 { "" } else { "s" })
}

fn dtype(settings: &Settings, spec: &ModelSpec) -> String {
    let origin = settings.dtype.map_or_else(|| spec.dtype.origin.clone(), |_| Origin::Setting("dtype"));
    format!("{} ({origin})", settings.dtype(spec).name())
}

fn kv_cache(settings: &Settings, spec: &ModelSpec) -> String {
    format!("{}, {} B an element", settings.kv_cache.name(), settings.kv_cache.bytes(settings.dtype(spec)))
}

fn quantization(settings: &Settings, spec: &ModelSpec) -> String {
    let method = settings.quantization(spec).filter(|method| !method.is_empty());
    format!("{} ({})", method.as_deref().unwrap_or("none"), settings.quantization_origin(spec))
}

#[cfg(test)]
mod tests;

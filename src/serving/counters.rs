//! The three counters of vLLM's estimator, per engine.
//!
//! They are floats: up to 2^53 (9 PFLOP, a fraction of a second) each step is counted exactly, above it the last digits
//! of a counter are rounded, about 1 part in 10^16. Rates do not suffer from it.

use super::exposition::{Page, read};

/// The name of the counter of FLOPs, without the `_total` that Prometheus adds.
pub const FLOPS: &str = "vllm:estimated_flops_per_gpu";
/// The name of the counter of bytes read.
pub const READ: &str = "vllm:estimated_read_bytes_per_gpu";
/// The name of the counter of bytes written.
pub const WRITE: &str = "vllm:estimated_write_bytes_per_gpu";

/// From here on a float does not hold every integer: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The counters of a metrics page.
#[derive(Clone, Debug, PartialEq)]
pub struct Counters {
    /// One for each engine and model, in the order of the page; at least one.
    pub engines: Vec<Engine>,
    /// What was odd, as sentences.
    pub notes: Vec<String>,
}

/// The counters of one engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Engine {
    /// The label `engine`; empty where there is none.
    pub engine: String,
    /// The label `model_name`; empty where there is none.
    pub model: String,
    /// FLOPs of one GPU since the start.
    pub flops: Option<f64>,
    /// Bytes read by one GPU since the start.
    pub read: Option<f64>,
    /// Bytes written by one GPU since the start.
    pub write: Option<f64>,
}

/// A page without the counters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "None of the estimator's counters is in this text ({found}); expected a metrics page of a vLLM server with \
     `{FLOPS}_total`, `{READ}_total` and `{WRITE}_total`.{bad}"
)]
pub struct NoCounters {
    /// What there is instead, in words.
    pub found: String,
    /// The first line that is not valid, in words with a space before; may be empty.
    pub bad: String,
}

impl Engine {
    /// A name for people: `engine 0, deepseek-v3`.
    #[must_use]
    pub fn title(&self) -> String {
        let engine = if self.engine.is_empty() { "engine".to_owned() } else { format!("engine {}", self.engine) };
        if self.model.is_empty() { engine } else { format!("{engine}, {}", self.model) }
    }

    /// Whether a value is too large for a float to count every step exactly.
    #[must_use]
    pub fn is_rounded(&self) -> bool {
        [self.flops, self.read, self.write].into_iter().flatten().any(|value| value.abs() > EXACT)
    }

    /// Whether both are of the same engine and model.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.engine == other.engine && self.model == other.model
    }

    fn slot(&mut self, name: &str) -> Option<&mut Option<f64>> {
        match name.strip_suffix("_total").unwrap_or(name) {
            FLOPS => Some(&mut self.flops),
            READ => Some(&mut self.read),
            WRITE => Some(&mut self.write),
            _ => None,
        }
    }
}

/// Reads the counters from a metrics page.
///
/// # Errors
/// Where the text has none of them.
pub fn counters(text: &str) -> Result<Counters, NoCounters> {
    let page = read(text);
    let mut engines: Vec<Engine> = Vec::new();
    let mut notes = Vec::new();
    for sample in &page.samples {
        let label = |name| sample.label(name).unwrap_or_default().to_owned();
        let mut fresh = Engine { engine: label("engine"), model: label("model_name"), ..Engine::default() };
        if fresh.slot(&sample.name).is_none() {
            continue;
        }
        if !(sample.value >= 0.0 && sample.value.is_finite()) {
            notes.push(format!("Line {}: {} is {}; expected a finite number.", sample.line, sample.name, sample.value));
            continue;
        }
        let known = engines.iter_mut().position(|engine| engine.is(&fresh));
        let at = known.unwrap_or_else(|| {
            engines.push(fresh);
            engines.len() - 1
        });
        let title = engines.get(at).map(Engine::title).unwrap_or_default();
        if let Some(slot) = engines.get_mut(at).and_then(|engine| engine.slot(&sample.name)) {
            // The same value twice is harmless: some exporters give a counter under both of its names.
            if slot.is_some_and(|value| value.to_bits() != sample.value.to_bits()) {
                notes.push(format!(
                    "Line {}: {} of {title} stands there again with another value; the last one counts.",
                    sample.line, sample.name
                ));
            }
            *slot = Some(sample.value);
        }
    }
    if engines.is_empty() {
        return Err(none(&page));
    }
    for engine in &engines {
        let missing = [(FLOPS, engine.flops), (READ, engine.read), (WRITE, engine.write)];
        let missing: Vec<&str> = missing.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| *name).collect();
        if !missing.is_empty() {
            notes.push(format!("{} lacks {}.", engine.title(), missing.join(" and ")));
        }
    }
    if engines.iter().any(Engine::is_rounded) {
        notes.push("Counters above 2^53 are rounded by about 1 part in 10^16: they are floats.".to_owned());
    }
    notes.extend(bad_lines(&page));
    Ok(Counters { engines, notes })
}

fn none(page: &Page) -> NoCounters {
    let count = page.samples.len();
    let vllm = page.samples.iter().filter(|sample| sample.name.starts_with("vllm:")).count();
    let found = match (count, vllm) {
        (0, _) => "it has no metrics at all".to_owned(),
        (count, 0) => format!("it has {count} metrics, none of vLLM"),
        (count, vllm) => format!("it has {count} metrics, {vllm} of them of vLLM"),
    };
    NoCounters { found, bad: bad_lines(page).map_or_else(String::new, |line| format!(" {line}")) }
}

fn bad_lines(page: &Page) -> Option<String> {
    let first = page.bad.first()?;
    let more = match page.bad.len() {
        1 => String::new(),
        2 => " One more line is not valid.".to_owned(),
        count => format!(" {} more lines are not valid.", count - 1),
    };
    Some(format!("{first}{more}"))
}

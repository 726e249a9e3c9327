//! A kernel summary: what `vllm bench forward --profile-dir` writes as `CASE.rankR.kernels.json`.
//!
//! `{"trace", "replays", "span_us", "busy_us", "pre_forward_us", "activities", "kernels": [{"name", "us", "pct",
//! "calls", "example"}, ...]}`. Fields of other names are ignored. Every number must be there as a finite number of 0 or
//! more, so that no sum below can become negative or nothing.

use crate::bench::order::largest_first;
use crate::json::{self, JsonError, Node, Position, Value};

/// What is expected, in every error.
const KIND: &str = "a kernel summary of `vllm bench forward --profile-dir`";

/// The time of a step, by kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Who added the times up.
    pub origin: Origin,
    /// The file name of the trace that was summarised; its folders, which name a host's paths, are left out.
    pub trace: Option<String>,
    /// How often the step was replayed while it was recorded.
    pub replays: Option<u64>,
    /// From the start of the first kernel to the end of the last, in µs.
    pub span_us: f64,
    /// The sum of all kernels, in µs: above the span where streams overlap.
    pub busy_us: f64,
    /// Work before the forward pass, which the other figures leave out, in µs.
    pub pre_forward_us: Option<f64>,
    /// How many activities of the GPU there were: kernels, copies and fills.
    pub activities: f64,
    /// The kernels, the one that took longest first.
    pub kernels: Vec<Kernel>,
}

/// Who added the times up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// vLLM, which knows what belongs to the forward pass.
    Summary,
    /// This program, from a Chrome trace. A trace does not say what is the forward part, so nothing is left out as work
    /// before it, and all replays count.
    Trace,
}

impl Origin {
    /// What a reader must know about the figures, if anything.
    #[must_use]
    pub fn note(self) -> Option<&'static str> {
        match self {
            Self::Summary => None,
            Self::Trace => Some(
                "Summarised from a trace, which does not say what is the forward pass: all that the GPU did while it \
                 was recorded is included, nothing is left out as work before the forward pass.",
            ),
        }
    }
}

/// All the launches of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Its name, as the file gives it.
    pub name: String,
    /// The time of all its launches, in µs.
    pub us: f64,
    /// That time in percent of the busy time, as the file gives it.
    pub pct: Option<f64>,
    /// How often it was launched; vLLM may give an average over replays.
    pub calls: f64,
    /// One full name, where `name` is a shortened one.
    pub example: Option<String>,
}

/// Why a text is no kernel summary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError {
    /// There is nothing in it.
    #[error("The file is empty; expected {KIND}.")]
    Empty,
    /// It is not JSON, or ends early.
    #[error("The file is not {KIND}: {0}.")]
    Json(JsonError),
    /// It is JSON of another kind.
    #[error("The file is {found}; expected {KIND}.")]
    Foreign {
        /// What it seems to be.
        found: &'static str,
    },
    /// A field is missing or is something else.
    #[error("The file is not {KIND}: {at}: found {found} for `{path}`, expected {expected}.")]
    Field {
        /// Where.
        at: Position,
        /// Which field: `kernels[3].us`.
        path: String,
        /// What is there.
        found: String,
        /// What should be there.
        expected: &'static str,
    },
}

impl Summary {
    /// Reads a file's text.
    ///
    /// # Errors
    /// Where the text is no kernel summary: not JSON, cut off, another kind of file, or with a field that is missing or
    /// no number of 0 or more. Sizes and nesting are limited as in [`crate::json`].
    pub fn read(text: &str) -> Result<Self, SummaryError> {
        if text.trim_start_matches('\u{feff}').trim().is_empty() {
            return Err(SummaryError::Empty);
        }
        let document = json::parse(text).map_err(SummaryError::Json)?;
        if let Some(found) = foreign(&document.root) {
            return Err(SummaryError::Foreign { found });
        }
        let fields = Fields { text, node: &document.root, path: String::new() };
        let list = fields.required("kernels", "a list of kernels")?;
        let items = list.items().ok_or_else(|| fields.wrong("kernels", list, "a list of kernels"))?;
        let kernels = items.iter().enumerate().map(|(at, node)| kernel(text, node, at));
        let kernels = kernels.collect::<Result<Vec<_>, _>>()?;
        // Files are in this order; what was edited by hand is put back into it.
        let kernels = largest_first(kernels, |kernel: &Kernel| (kernel.us, ""));
        Ok(Self {
            origin: Origin::Summary,
            trace: fields.text("trace")?.map(file_name),
            replays: fields.whole("replays")?,
            span_us: fields.number("span_us", MICROSECONDS)?,
            busy_us: fields.number("busy_us", MICROSECONDS)?,
            pre_forward_us: fields.optional("pre_forward_us", MICROSECONDS)?,
            activities: fields.number("activities", COUNT)?,
            kernels,
        })
    }

    /// Busy time over span: above 1 where streams overlap. None where the span is 0.
    #[must_use]
    pub fn overlap(&self) -> Option<f64> {
        share(self.busy_us, self.span_us)
    }
}

/// A part of a whole, where the whole is above 0.
pub(super) fn share(part: f64, whole: f64) -> Option<f64> {
    Some(part / whole).filter(|share| whole > 0.0 && share.is_finite())
}

const MICROSECONDS: &str = "microseconds, a number of 0 or more";
const COUNT: &str = "a count, a number of 0 or more";

fn kernel(text: &str, node: &Node, at: usize) -> Result<Kernel, SummaryError> {
    let path = format!("kernels[{at}]");
    let fields = Fields { text, node, path };
    if !node.is_object() {
        return Err(fields.wrong("", node, "a kernel, an object with name, us and calls"));
    }
    let name = fields.required("name", "the kernel's name")?;
    Ok(Kernel {
        name: name.text().ok_or_else(|| fields.wrong("name", name, "the kernel's name"))?.to_owned(),
        us: fields.number("us", MICROSECONDS)?,
        pct: fields.optional("pct", "a percentage, a number of 0 or more")?,
        calls: fields.number("calls", COUNT)?,
        example: fields.text("example")?.map(str::to_owned),
    })
}

/// What JSON without kernels seems to be.
fn foreign(root: &Node) -> Option<&'static str> {
    if root.get("kernels").is_some() && root.is_object() {
        return None;
    }
    let has = |node: &Node, key| node.get(key).is_some();
    match &root.value {
        Value::Object(_) if has(root, "traceEvents") => {
            Some("a Chrome trace (name it .trace.json to have it summarised)")
        }
        Value::Object(_) if has(root, "cases") => Some("a shapes file"),
        Value::Object(_) if has(root, "model_type") => Some("a model's config"),
        Value::Object(_) if has(root, "span_us") => None,
        Value::Object(_) => Some("another JSON object, without kernels"),
        Value::List(items) => match items.first() {
            Some(first) if has(first, "median_us") => Some("a result file of `vllm bench forward --output-json`"),
            Some(first) if has(first, "ph") => Some("a Chrome trace (name it .trace.json to have it summarised)"),
            _ => Some("a JSON list"),
        },
        _ => Some("a single JSON value"),
    }
}

fn file_name(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
}

/// The fields of one object, for messages that say where it is.
struct Fields<'a> {
    text: &'a str,
    node: &'a Node,
    path: String,
}

impl<'a> Fields<'a> {
    fn fail(&self, key: &str, node: &Node, found: String, expected: &'static str) -> SummaryError {
        let dot = if self.path.is_empty() || key.is_empty() { "" } else { "." };
        let path = [self.path.as_str(), dot, key].concat();
        SummaryError::Field { at: Position::of(self.text, node.span.start), path, found, expected }
    }

    fn wrong(&self, key: &str, node: &Node, expected: &'static str) -> SummaryError {
        self.fail(key, node, node.describe(), expected)
    }

    /// A field's value; null counts as missing.
    fn get(&self, key: &str) -> Option<&'a Node> {
        self.node.get(key).filter(|node| !node.is_null())
    }

    fn required(&self, key: &str, expected: &'static str) -> Result<&'a Node, SummaryError> {
        self.get(key).ok_or_else(|| self.fail(key, self.node, "nothing".to_owned(), expected))
    }

    fn number(&self, key: &str, expected: &'static str) -> Result<f64, SummaryError> {
        let node = self.required(key, expected)?;
        let number = match node.value {
            Value::Int(value) => value as f64,
            Value::Float(value) => value,
            _ => f64::NAN,
        };
        // Far above any time or count, and low enough that sums stay finite.
        if (0.0..=1e18).contains(&number) { Ok(number) } else { Err(self.wrong(key, node, expected)) }
    }

    fn optional(&self, key: &str, expected: &'static str) -> Result<Option<f64>, SummaryError> {
        self.get(key).map(|_| self.number(key, expected)).transpose()
    }

    fn whole(&self, key: &str) -> Result<Option<u64>, SummaryError> {
        let Some(node) = self.get(key) else { return Ok(None) };
        let whole = match node.value {
            Value::Int(value) => u64::try_from(value).ok(),
            _ => None,
        };
        whole.map(Some).ok_or_else(|| self.wrong(key, node, "a whole number of 0 or more"))
    }

    fn text(&self, key: &str) -> Result<Option<&'a str>, SummaryError> {
        let Some(node) = self.get(key) else { return Ok(None) };
        node.text().map(Some).ok_or_else(|| self.wrong(key, node, "a text"))
    }
}

#[cfg(test)]
mod tests;

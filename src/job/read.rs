//! Reading a job.

use super::Question;
use crate::batch::case::Case;
use crate::batch::{Batch, Group, Phase};
use crate::bench::run::Run;
use crate::estimate::Method;
use crate::estimate::physical::{Assumptions, Modules};
use crate::hardware;
use crate::json::{Node, Value};
use crate::layout::Layout;
use crate::model::scheme::Scheme;
use crate::model::{Dtype, KvDtype, dtype};
use crate::settings::{QuantizationChoice, Settings};
use crate::step::Served;
use std::num::NonZeroU32;

/// A job that could not be read. The sentence names the key, what was found and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JobError(pub String);

/// Where the config of a job is.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigSource {
    /// In a file of that path.
    Path(String),
    /// In the job.
    Inline(Node),
}

/// By what a job is told from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Id {
    /// A string.
    Text(String),
    /// An integer.
    Number(i128),
}

/// An estimate that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// What the answer repeats.
    pub id: Option<Id>,
    /// The model's config.
    pub config: ConfigSource,
    /// A `hf_quant_config.json` that belongs to it.
    pub companion: Option<ConfigSource>,
    /// How the model is served.
    pub settings: Settings,
    /// The batch.
    pub batch: Batch,
    /// What is asked about it.
    pub question: Question,
}

/// The keys of a job, beside [`Run::TOLD`].
const JOB_KEYS: [&str; 10] = [
    "id",
    "config",
    "quant_config",
    "settings",
    "batch",
    "model",
    "hardware",
    "gpus_per_node",
    "weights",
    "balanced_experts",
];
const SETTINGS_KEYS: [&str; 8] =
    ["dtype", "kv_cache_dtype", "quantization", "tp", "pp", "dp", "ep", "disable_sliding_window"];

impl Job {
    /// Reads a job.
    ///
    /// # Errors
    /// Where a key is unknown, missing or of the wrong kind.
    pub fn read(root: &Node) -> Result<Self, JobError> {
        if !root.is_object() {
            return fail(format!(
                "expected a job such as {{\"config\": ..., \"batch\": ...}}, found {}",
                root.describe()
            ));
        }
        known_keys(root, &[&JOB_KEYS[..], Run::TOLD].concat(), "a job")?;
        let Some(config) = root.get("config") else {
            return fail("a job needs \"config\": the path of a config.json, or the config itself".to_owned());
        };
        Ok(Self {
            id: id(root)?,
            config: source(config, "config")?,
            companion: root.get("quant_config").map(|node| source(node, "quant_config")).transpose()?,
            settings: root.get("settings").map_or_else(|| Ok(Settings::default()), settings)?,
            batch: root.get("batch").map_or_else(|| Ok(Batch::default()), batch)?,
            question: question(root)?,
        })
    }
}

/// Which estimator, and on which hardware.
fn question(root: &Node) -> Result<Question, JobError> {
    let method = match word(root, "model")? {
        None => Method::default(),
        Some(name) => Method::named(name)
            .ok_or_else(|| JobError(format!("\"model\" is {name:?}; expected \"vllm\" or \"physical\"")))?,
    };
    let hardware = word(root, "hardware")?.map(hardware::find).transpose();
    let hardware = hardware.map_err(|error| JobError(format!("\"hardware\": {error}")))?;
    let node = root.get("gpus_per_node").filter(|node| !node.is_null());
    let node = node.map(|_| size(root, "gpus_per_node")).transpose()?.map(NonZeroU32::get);
    let mut assumptions = Assumptions::default();
    for member in root.get("weights").map(Node::members).unwrap_or_default() {
        let place = Modules::ALL.iter().position(|(_, name)| *name == member.key);
        let format = member.node.text().and_then(Scheme::named_or_none);
        match place.and_then(|place| assumptions.formats.get_mut(place)).zip(format) {
            Some((slot, format)) => *slot = Some(format),
            None => {
                let names = Modules::ALL.map(|(_, name)| name).join(", ");
                let found = member.node.describe();
                return fail(format!(
                    "\"weights\" has {:?}: {found}; expected one of {names} with a quantization method or none",
                    member.key
                ));
            }
        }
    }
    let mut run = Run::default();
    for key in Run::TOLD {
        let Some(found) = root.get(key).filter(|found| !found.is_null()) else { continue };
        let text = match &found.value {
            Value::Text(text) => text.clone(),
            _ => found.to_compact(),
        };
        run.set(key, &text).map_err(|problem| JobError(format!("\"{key}\": {problem}")))?;
    }
    run.balanced |= flag(root, "balanced_experts")?;
    let served = Served { node, assumptions: Assumptions { balanced: run.balanced, ..assumptions }, ..run.served() };
    Ok(Question { method, hardware, served })
}

fn fail<T>(sentence: String) -> Result<T, JobError> {
    Err(JobError(sentence))
}

fn known_keys(node: &Node, known: &[&str], whose: &str) -> Result<(), JobError> {
    match node.members().iter().find(|member| !known.contains(&member.key.as_str())) {
        None => Ok(()),
        Some(member) => fail(format!("{:?} is no key of {whose}; its keys are {}", member.key, known.join(", "))),
    }
}

impl Id {
    /// The id of a job, if it has one that can be repeated.
    #[must_use]
    pub fn of(job: &Node) -> Option<Self> {
        match &job.get("id")?.value {
            Value::Text(text) => Some(Self::Text(text.clone())),
            Value::Int(number) => Some(Self::Number(*number)),
            _ => None,
        }
    }
}

impl serde::Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => serializer.serialize_i128(*number),
        }
    }
}

fn id(root: &Node) -> Result<Option<Id>, JobError> {
    match (root.get("id"), Id::of(root)) {
        (None, _) => Ok(None),
        (_, Some(id)) => Ok(Some(id)),
        (Some(node), None) => fail(format!("\"id\" is {}; expected a string or an integer", node.describe())),
    }
}

fn source(node: &Node, key: &str) -> Result<ConfigSource, JobError> {
    match &node.value {
        Value::Text(path) => Ok(ConfigSource::Path(path.clone())),
        Value::Object(_) => Ok(ConfigSource::Inline(node.clone())),
        _ => fail(format!("\"{key}\" is {}; expected a path or an object", node.describe())),
    }
}

fn settings(node: &Node) -> Result<Settings, JobError> {
    if !node.is_object() {
        return fail(format!("\"settings\" is {}; expected an object", node.describe()));
    }
    known_keys(node, &SETTINGS_KEYS, "\"settings\"")?;
    let dtype = match word(node, "dtype")? {
        None | Some("auto") => None,
        Some(name) => Some(Dtype::named(name).ok_or_else(|| {
            let known = Dtype::ALL.map(Dtype::name).join(", ");
            JobError(format!("\"dtype\" is {name:?}; expected auto, {known}"))
        })?),
    };
    let kv_cache = match word(node, "kv_cache_dtype")? {
        None => KvDtype::AUTO,
        Some(name) => KvDtype::named(name).ok_or_else(|| {
            JobError(format!("\"kv_cache_dtype\" is {name:?}; expected one of {}", dtype::KV_CACHE_DTYPES.join(", ")))
        })?,
    };
    Ok(Settings {
        dtype,
        kv_cache,
        quantization: QuantizationChoice::named(word(node, "quantization")?.unwrap_or("auto")),
        disable_sliding_window: flag(node, "disable_sliding_window")?,
        layout: Layout { tp: size(node, "tp")?, pp: size(node, "pp")?, dp: size(node, "dp")?, ep: flag(node, "ep")? },
    })
}

fn word<'a>(node: &'a Node, key: &str) -> Result<Option<&'a str>, JobError> {
    match node.get(key).map(|node| (node, &node.value)) {
        None | Some((_, Value::Null)) => Ok(None),
        Some((_, Value::Text(text))) => Ok(Some(text)),
        Some((node, _)) => fail(format!("\"{key}\" is {}; expected a string", node.describe())),
    }
}

fn flag(node: &Node, key: &str) -> Result<bool, JobError> {
    match node.get(key).map(|node| (node, &node.value)) {
        None | Some((_, Value::Null)) => Ok(false),
        Some((_, Value::Bool(value))) => Ok(*value),
        Some((node, _)) => fail(format!("\"{key}\" is {}; expected true or false", node.describe())),
    }
}

fn size(node: &Node, key: &str) -> Result<NonZeroU32, JobError> {
    let Some(found) = node.get(key).filter(|found| !found.is_null()) else { return Ok(NonZeroU32::MIN) };
    let size = match found.value {
        Value::Text(_) => None,
        ref value => crate::model::reading::integer(value).and_then(|value| u32::try_from(value).ok()),
    };
    size.and_then(NonZeroU32::new).ok_or_else(|| {
        JobError(format!("\"{key}\" is {}; expected an integer from 1 to {}", found.describe(), u32::MAX))
    })
}

/// A batch: a list of `[new tokens, KV length, is prefill]`, or a text in the case language.
fn batch(node: &Node) -> Result<Batch, JobError> {
    match &node.value {
        Value::Text(text) => {
            let case = Case::parse(text).map_err(|error| JobError(format!("\"batch\": {error}")))?;
            Ok(case.batch())
        }
        Value::List(items) => {
            let mut groups: Vec<Group> = Vec::new();
            for (at, item) in items.iter().enumerate() {
                let request = request(item).map_err(|wrong| JobError(format!("\"batch\"[{at}] {wrong}")))?;
                match groups.last_mut() {
                    Some(last) if Group { count: 1, ..*last } == request => last.count += 1,
                    _ => groups.push(request),
                }
            }
            Ok(Batch::new(groups))
        }
        _ => fail(format!(
            "\"batch\" is {}; expected a list of requests or a case such as \"32*1@8192\"",
            node.describe()
        )),
    }
}

/// A request, or what is wrong with it.
fn request(item: &Node) -> Result<Group, String> {
    const EXPECTED: &str = "expected [new tokens, KV length, true for a prefill]";
    let Some([tokens, context, prefill]) = item.items() else {
        return Err(format!("is {}; {EXPECTED}", item.describe()));
    };
    let amount = |node: &Node, what: &str| {
        let count = match node.value {
            Value::Text(_) => None,
            ref value => crate::model::reading::integer(value),
        };
        count
            .and_then(|count| u64::try_from(count).ok())
            .ok_or_else(|| format!("has {what} {}; expected an integer from 0 to {}", node.describe(), u64::MAX))
    };
    let Value::Bool(is_prefill) = prefill.value else {
        return Err(format!("has {} in third place; {EXPECTED}", prefill.describe()));
    };
    let phase = if is_prefill { Phase::Prefill } else { Phase::Decode };
    Ok(Group { count: 1, tokens: amount(tokens, "new tokens")?, context: amount(context, "a KV length of")?, phase })
}

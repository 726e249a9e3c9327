//! A comparison from JSON, strictly: what is not understood is refused, as it may be what the numbers depend on.
//!
//! | where | keys |
//! | --- | --- |
//! | top | `scenarios`, `baseline` (place, from 0), `shared` (sections), `scope` (`gpu`, `global`), `estimator` (`vllm`, `physical`), `run`, `revisions` |
//! | scenario | `name`, `model`, `tp`, `pp`, `dp`, `ep`, `quantization`, `kv_cache`, `dtype`, `disable_sliding_window`, `cases`, `active` (place, from 0), `verify`, `accelerator`, `precision` |
//! | model | a preset's id, or `name`, `config`, `companion` |
//! | run | the settings of [`Run`] as texts |
//! | accelerator | an id, or `id`, `name` and numbers: `bf16_tflops`, ..., `memory_gbs`, `usable_gib` |
//!
//! A key that is missing is as in the first scenario, in the first scenario as by default.

#![expect(clippy::unnecessary_box_returns, reason = "errors are passed through many hands")]

use super::encode::{SHARED, number_name, precision_name, scope_name, section_name, verify_name};
use super::{Misfit, Opened, revision};
use crate::batch::case::{Case, VerifyAs};
use crate::bench::run::Run;
use crate::estimate::{Method, Scope};
use crate::format::quoted;
use crate::hardware::{self, Precision};
use crate::json::{Node, Span, Value};
use crate::layout::Layout;
use crate::model::presets::Preset;
use crate::model::reading::integer;
use crate::model::{Dtype, KvDtype};
use crate::scenario::LARGEST_SIZE;
use crate::scenario::hardware::{AcceleratorChoice, Number};
use crate::scenario::state::{Comparison, CustomModel, MOST_CASES, MOST_SCENARIOS, ModelChoice, Scenario, Section};
use crate::settings::QuantizationChoice;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;

/// The place of what is in no other.
const TOP: &str = "top level";

const OF_TOP: [&str; 7] = ["scenarios", "baseline", "shared", "scope", "estimator", "run", "revisions"];
const OF_SCENARIO: [&str; 15] = [
    "name",
    "model",
    "tp",
    "pp",
    "dp",
    "ep",
    "quantization",
    "kv_cache",
    "dtype",
    "disable_sliding_window",
    "cases",
    "active",
    "verify",
    "accelerator",
    "precision",
];
const OF_MODEL: [&str; 3] = ["name", "config", "companion"];

/// The longest name of a scenario or an accelerator, in characters.
const LONGEST_NAME: usize = 60;

/// Reads what [`super::encode`] writes. `besides` are keys of the top that somebody else reads.
pub(in crate::scenario) fn read(root: &Node, presets: &[Preset], besides: &[&str]) -> Result<Opened, Fail> {
    let top = At { node: root, path: TOP.to_owned() };
    let fields = Fields::new(top, &[&OF_TOP, besides].concat())?;
    let Some(listed) = fields.at("scenarios") else { return Err(fields.missing("scenarios")) };
    let mut scenarios: Vec<Scenario> = Vec::new();
    for at in listed.items("a list of scenarios", 1..=MOST_SCENARIOS)? {
        let read = scenario(at, scenarios.first(), presets)?;
        scenarios.push(read);
    }
    let shared = fields.or("shared", Some(SHARED.to_vec()), |at| {
        at.items("a list of sections", 0..=Section::ALL.len())?
            .into_iter()
            .map(|at| at.one_of(&Section::ALL, section_name, "a section"))
            .collect()
    })?;
    let baseline = fields.or("baseline", Some(0), |at| at.place(scenarios.len()))?;
    let scopes = [Scope::PerGpu, Scope::Global];
    let scope = fields.or("scope", Some(Scope::default()), |at| at.one_of(&scopes, scope_name, "a scope"))?;
    let refused = |reason: String| listed.misfit(&reason);
    let mut comparison = Comparison::new(scenarios, baseline, shared, scope).map_err(refused)?;
    let methods = Method::ALL.map(|(method, _)| method);
    comparison.method =
        fields.or("estimator", Some(Method::default()), |at| at.one_of(&methods, Method::name, "an estimator"))?;
    comparison.run = fields.or("run", Some(Run::default()), run)?;
    let changed = fields.or("revisions", Some(Vec::new()), |at| changed(&at, &comparison, presets))?;
    Ok(Opened { comparison, changed })
}

fn run(at: At<'_>) -> Result<Run, Fail> {
    let fields = Fields::new(at, &Run::KEYS)?;
    let mut run = Run::default();
    for key in Run::KEYS {
        if let Some(at) = fields.at(key) {
            let text = at.text("a setting as a text")?;
            run.set(key, text)
                .map_err(|problem| at.misfit(&format!("a setting: {}", problem.trim_end_matches('.'))))?;
        }
    }
    Ok(run)
}

fn scenario(at: At<'_>, base: Option<&Scenario>, presets: &[Preset]) -> Result<Scenario, Fail> {
    let fields = Fields::new(at, &OF_SCENARIO)?;
    let of_base = base.map(|base| base.layout).unwrap_or_default();
    let cases = fields.or("cases", base.map(|base| base.cases.clone()), |at| {
        at.items("a list of cases", 1..=MOST_CASES)?.into_iter().map(|at| case(&at)).collect()
    })?;
    Ok(Scenario {
        id: 0,
        name: fields.or("name", Some(String::new()), |at| at.name())?,
        model: fields.or("model", base.map(|base| base.model.clone()), |at| model(at, presets))?,
        layout: Layout {
            tp: fields.or("tp", Some(of_base.tp), |at| at.size())?,
            pp: fields.or("pp", Some(of_base.pp), |at| at.size())?,
            dp: fields.or("dp", Some(of_base.dp), |at| at.size())?,
            ep: fields.or("ep", Some(of_base.ep), |at| at.flag())?,
        },
        quantization: fields.or(
            "quantization",
            Some(base.map_or(QuantizationChoice::Auto, |base| base.quantization.clone())),
            |at| at.text("`auto`, `as-engine`, `none` or a method").map(QuantizationChoice::named),
        )?,
        kv_cache: fields.or("kv_cache", Some(base.map_or(KvDtype::AUTO, |base| base.kv_cache)), |at| {
            KvDtype::named(at.text(KV_DTYPE)?).ok_or_else(|| at.misfit(KV_DTYPE))
        })?,
        dtype: fields.or("dtype", Some(base.and_then(|base| base.dtype)), |at| {
            at.unless_null(|at| at.one_of(&Dtype::ALL, Dtype::name, "a dtype"))
        })?,
        disable_sliding_window: fields.or(
            "disable_sliding_window",
            Some(base.is_some_and(|base| base.disable_sliding_window)),
            |at| at.flag(),
        )?,
        active: fields.or("active", Some(base.map_or(0, |base| base.active)), |at| at.place(cases.len()))?,
        cases,
        verify: fields.or("verify", Some(base.map_or(VerifyAs::default(), |base| base.verify)), |at| {
            at.one_of(&[VerifyAs::Decode, VerifyAs::Prefill], verify_name, "what a verify counts as")
        })?,
        accelerator: fields.or("accelerator", base.map(|base| base.accelerator.clone()), accelerator)?,
        precision: fields.or("precision", Some(base.and_then(|base| base.precision)), |at| {
            at.unless_null(|at| at.one_of(&Precision::ALL, precision_name, "a precision"))
        })?,
    })
}

const KV_DTYPE: &str = "a format of the KV cache, such as `auto` or `fp8`";

fn case(at: &At<'_>) -> Result<Case, Fail> {
    let text = at.text("a case such as `decode=32*1@8192`")?;
    Case::parse(text).map_err(|error| at.misfit(&format!("a case: {error}")))
}

fn model(at: At<'_>, presets: &[Preset]) -> Result<ModelChoice, Fail> {
    if let Some(id) = at.node.text() {
        if presets.iter().any(|preset| preset.id == id) {
            return Ok(ModelChoice::Preset(id.to_owned()));
        }
        return Err(at.misfit("the id of a model that this version offers"));
    }
    let fields = Fields::new(at, &OF_MODEL)?;
    let name = fields.or("name", Some(String::new()), |at| at.name())?;
    // An object is a config; one that could not be read stays a text, for the page to say why.
    let text = |at: At<'_>| match &at.node.value {
        Value::Text(text) => Ok(text.clone()),
        Value::Object(_) => Ok(at.node.to_compact()),
        _ => Err(at.misfit("a config")),
    };
    let config = fields.or("config", None, text)?;
    let companion = fields.or("companion", Some(None), |at| text(at).map(Some))?;
    Ok(ModelChoice::Custom(CustomModel { name, config, companion }.normal()))
}

fn accelerator(at: At<'_>) -> Result<AcceleratorChoice, Fail> {
    let id = |at: &At<'_>| {
        let id = at.text("the id of an accelerator")?;
        let found = hardware::by_id(id).map(|found| found.id.clone().into_owned());
        found.ok_or_else(|| at.misfit("the id of an accelerator of the list"))
    };
    if at.node.text().is_some() {
        return Ok(AcceleratorChoice { id: id(&at)?, name: String::new(), numbers: Vec::new() });
    }
    let keys: Vec<&str> = ["id", "name"].into_iter().chain(Number::ALL.map(number_name)).collect();
    let fields = Fields::new(at, &keys)?;
    let mut choice = AcceleratorChoice {
        id: fields.or("id", None, |at| id(&at))?,
        name: fields.or("name", Some(String::new()), |at| at.name())?,
        numbers: Vec::new(),
    };
    // In the order in which they stand, which is that of the edits.
    for member in fields.at.node.members() {
        let number = Number::ALL.into_iter().find(|number| number_name(*number) == member.key);
        if let (Some(number), Some(at)) = (number, fields.at(&member.key)) {
            choice.numbers.push((number, at.unless_null(|at| at.positive())?));
        }
    }
    Ok(choice)
}

/// Sentences on what has changed since the revisions were noted.
fn changed(at: &At<'_>, comparison: &Comparison, presets: &[Preset]) -> Result<Vec<String>, Fail> {
    if !at.node.is_object() {
        return Err(at.misfit("an object of revisions"));
    }
    let mut changed: Vec<String> = Vec::new();
    let mut compare = |id: &str, now: u32, sentence: String| {
        let then = at.node.get(id).and_then(|node| integer(&node.value));
        if then.is_some_and(|then| then != i128::from(now)) && !changed.contains(&sentence) {
            changed.push(sentence);
        }
    };
    for scenario in comparison.scenarios() {
        if let ModelChoice::Preset(id) = &scenario.model
            && let Some(preset) = presets.iter().find(|preset| preset.id == *id)
        {
            let name = &preset.name;
            let sentence = format!(
                "{name}: the model's data has changed since this was made, so figures may differ from those of then."
            );
            compare(id, revision::of_preset(preset), sentence);
        }
        if let Some(listed) = hardware::by_id(&scenario.accelerator.id) {
            let name = &listed.name;
            let sentence = format!(
                "{name}: the accelerator's data has changed since this was made, so times may differ from those of then."
            );
            compare(&listed.id, revision::of_accelerator(listed), sentence);
        }
    }
    Ok(changed)
}

/// What is wrong, boxed: results are passed through many hands, and small ones make small code.
pub(in crate::scenario) type Fail = Box<Misfit>;

fn fail(path: &str, found: String, expected: &str, span: Span) -> Fail {
    Box::new(Misfit::new(path, found, expected, span))
}

/// A value and its place in words.
struct At<'a> {
    node: &'a Node,
    path: String,
}

impl<'a> At<'a> {
    fn misfit(&self, expected: &str) -> Fail {
        fail(&self.path, self.node.describe(), expected, self.node.span)
    }

    fn text(&self, expected: &str) -> Result<&'a str, Fail> {
        self.node.text().ok_or_else(|| self.misfit(expected))
    }

    fn name(&self) -> Result<String, Fail> {
        Ok(self.text("a name")?.trim().chars().take(LONGEST_NAME).collect::<String>().trim_end().to_owned())
    }

    fn flag(&self) -> Result<bool, Fail> {
        match self.node.value {
            Value::Bool(flag) => Ok(flag),
            _ => Err(self.misfit("true or false")),
        }
    }

    fn size(&self) -> Result<NonZeroU32, Fail> {
        let size = match self.node.value {
            Value::Int(size) if size <= i128::from(LARGEST_SIZE) => u32::try_from(size).ok().and_then(NonZeroU32::new),
            _ => None,
        };
        size.ok_or_else(|| self.misfit(&format!("a whole number from 1 to {LARGEST_SIZE}")))
    }

    fn place(&self, length: usize) -> Result<usize, Fail> {
        let place = match self.node.value {
            Value::Int(place) => usize::try_from(place).ok().filter(|place| *place < length),
            _ => None,
        };
        place.ok_or_else(|| self.misfit(&format!("a whole number from 0 to {}", length.saturating_sub(1))))
    }

    fn positive(&self) -> Result<f64, Fail> {
        let number = match self.node.value {
            Value::Int(number) => number as f64,
            Value::Float(number) => number,
            _ => 0.0,
        };
        if number.is_finite() && number > 0.0 { Ok(number) } else { Err(self.misfit("a number above 0, or null")) }
    }

    fn one_of<T: Copy>(&self, all: &[T], name: fn(T) -> &'static str, what: &str) -> Result<T, Fail> {
        let found = self.node.text().and_then(|text| all.iter().find(|one| name(**one) == text));
        let names = || all.iter().map(|one| quoted(name(*one))).collect::<Vec<_>>().join(", ");
        found.copied().ok_or_else(|| self.misfit(&format!("{what}: one of {}", names())))
    }

    fn unless_null<T>(&self, read: impl FnOnce(&Self) -> Result<T, Fail>) -> Result<Option<T>, Fail> {
        if self.node.is_null() { Ok(None) } else { read(self).map(Some) }
    }

    /// The items of a list of `range` many.
    fn items(&self, expected: &str, range: RangeInclusive<usize>) -> Result<Vec<At<'a>>, Fail> {
        let items = self.node.items().ok_or_else(|| self.misfit(expected))?;
        if !range.contains(&items.len()) {
            return Err(self.misfit(&format!("{expected}, {} to {} of them", range.start(), range.end())));
        }
        let one = self.path.strip_suffix('s').unwrap_or(&self.path);
        let place = |at: usize| format!("{one} {}", at + 1);
        Ok(items.iter().enumerate().map(|(at, node)| At { node, path: place(at) }).collect())
    }
}

/// An object whose keys are all known.
struct Fields<'a> {
    at: At<'a>,
    inside: String,
}

impl<'a> Fields<'a> {
    fn new(at: At<'a>, keys: &[&str]) -> Result<Self, Fail> {
        if !at.node.is_object() {
            return Err(at.misfit("an object"));
        }
        let members = at.node.members();
        for (place, member) in members.iter().enumerate() {
            let twice = members.iter().take(place).any(|other| other.key == member.key);
            let known = keys.contains(&member.key.as_str());
            if twice || !known {
                let expected = if twice { "each key once" } else { "a key that this version knows" };
                let found = format!("the key {}", quoted(&member.key));
                return Err(fail(&at.path, found, expected, member.key_span));
            }
        }
        let inside = if at.path == TOP { String::new() } else { format!("{}, ", at.path) };
        Ok(Self { at, inside })
    }

    fn at(&self, key: &str) -> Option<At<'a>> {
        let node = self.at.node.get(key)?;
        Some(At { node, path: format!("{}{key}", self.inside) })
    }

    fn missing(&self, key: &str) -> Fail {
        let expected = format!("the key {}", quoted(key));
        fail(&self.at.path, "nothing".to_owned(), &expected, self.at.node.span)
    }

    /// The value of a key, or what holds where it is missing; without that, it must be there.
    fn or<T>(&self, key: &str, otherwise: Option<T>, read: impl FnOnce(At<'a>) -> Result<T, Fail>) -> Result<T, Fail> {
        match self.at(key) {
            Some(at) => read(at),
            None => otherwise.ok_or_else(|| self.missing(key)),
        }
    }
}

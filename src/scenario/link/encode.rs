//! A comparison as JSON.
//!
//! ```json
//! {"scenarios": [{"model": "deepseek-v3", "tp": 8, "cases": ["mix=8192,32*1@8192"], "accelerator": "h200-sxm"},
//!                {"ep": true}],
//!  "revisions": {"deepseek-v3": 1234567, "h200-sxm": 7654321}}
//! ```
//!
//! The first scenario holds what differs from the defaults, every other one what differs from the first: what all
//! share costs nothing. `null` is none where the first has one. [`super::decode`] lists the keys.

use super::revision;
use crate::batch::case::{Case, VerifyAs};
use crate::bench::run::Run;
use crate::estimate::{Method, Scope};
use crate::hardware::Precision;
use crate::hardware::{self, Accelerator};
use crate::json::build::{Object, decimal, flag, list, null, text, whole};
use crate::json::{Node, Value, parse};
use crate::model::presets::Preset;
use crate::model::{Dtype, KvDtype};
use crate::scenario::hardware::{AcceleratorChoice, Number};
use crate::scenario::state::{Comparison, CustomModel, ModelChoice, Scenario, Section};
use crate::settings::QuantizationChoice;

/// The sections that a new comparison shares.
pub(super) const SHARED: [Section; 4] = [Section::Model, Section::Precision, Section::Batch, Section::Accelerator];

/// A deeper config than any real one travels as a text: the parser has an end.
const DEEPEST: usize = 64;

/// The comparison as JSON; `presets` are what their ids stand for.
#[must_use]
pub(in crate::scenario) fn write(comparison: &Comparison, presets: &[Preset]) -> Node {
    let mut out = Object::default();
    let first = comparison.scenarios().first();
    let scenarios = comparison.scenarios().iter();
    let base = |at: usize| first.filter(|_| at > 0);
    out.put("scenarios", list(scenarios.enumerate().map(|(at, one)| scenario(one, base(at)))));
    let baseline = comparison.place(comparison.baseline()).unwrap_or(0);
    out.put_unless("baseline", count(baseline as u64), baseline == 0);
    let shared = comparison.shared();
    out.put_unless("shared", list(shared.iter().map(|section| text(section_name(*section)))), shared == SHARED);
    out.put_unless("scope", text(scope_name(comparison.scope)), comparison.scope == Scope::default());
    let method = comparison.method;
    out.put_unless("estimator", text(method.name()), method == Method::default());
    let run = run(&comparison.run);
    let default = run.members().is_empty();
    out.put_unless("run", run, default);
    out.put("revisions", revisions(comparison, presets));
    out.node()
}

/// The settings of a run that are not vLLM's own, as the texts of their fields.
fn run(run: &Run) -> Node {
    let usual = Run::default();
    let mut out = Object::default();
    for key in Run::KEYS {
        let value = run.get(key);
        let default = value == usual.get(key);
        out.put_unless(key, text(&value), default);
    }
    out.node()
}

fn scenario(scenario: &Scenario, base: Option<&Scenario>) -> Node {
    let mut out = Object::default();
    out.put_unless("name", text(&scenario.name), scenario.name.is_empty());
    if base.is_none_or(|base| base.model != scenario.model) {
        out.put("model", model(&scenario.model));
    }
    let (layout, of_base) = (scenario.layout, base.map(|base| base.layout).unwrap_or_default());
    for (key, size, of_base) in
        [("tp", layout.tp, of_base.tp), ("pp", layout.pp, of_base.pp), ("dp", layout.dp, of_base.dp)]
    {
        out.put_unless(key, count(u64::from(size.get())), size == of_base);
    }
    out.put_unless("ep", flag(layout.ep), layout.ep == of_base.ep);
    let quantization = base.map_or(QuantizationChoice::Auto, |base| base.quantization.clone());
    out.put_unless("quantization", text(scenario.quantization.name()), scenario.quantization == quantization);
    let kv_cache = base.map_or(KvDtype::AUTO, |base| base.kv_cache);
    out.put_unless("kv_cache", text(scenario.kv_cache.name()), scenario.kv_cache == kv_cache);
    let dtype = base.and_then(|base| base.dtype);
    out.put_unless(
        "dtype",
        scenario.dtype.map_or_else(null, |dtype| text(Dtype::name(dtype))),
        scenario.dtype == dtype,
    );
    let off = base.is_some_and(|base| base.disable_sliding_window);
    out.put_unless("disable_sliding_window", flag(!off), scenario.disable_sliding_window == off);
    if base.is_none_or(|base| base.cases != scenario.cases) {
        out.put("cases", list(scenario.cases.iter().map(|case| text(&Case::to_text(case)))));
    }
    let active = base.map_or(0, |base| base.active);
    out.put_unless("active", count(scenario.active as u64), scenario.active == active);
    let verify = base.map_or(VerifyAs::default(), |base| base.verify);
    out.put_unless("verify", text(verify_name(scenario.verify)), scenario.verify == verify);
    if base.is_none_or(|base| base.accelerator != scenario.accelerator) {
        out.put("accelerator", accelerator(&scenario.accelerator));
    }
    let precision = base.and_then(|base| base.precision);
    let named = scenario.precision.map_or_else(null, |precision| text(precision_name(precision)));
    out.put_unless("precision", named, scenario.precision == precision);
    out.node()
}

/// A preset is its id, another model an object.
fn model(model: &ModelChoice) -> Node {
    let custom = match model {
        ModelChoice::Preset(id) => return text(id),
        ModelChoice::Custom(custom) => custom.normal(),
    };
    let mut out = Object::default();
    let CustomModel { name, config, companion } = &custom;
    out.put_unless("name", text(name), name.is_empty());
    out.put("config", embedded(config));
    if let Some(companion) = companion {
        out.put("companion", embedded(companion));
    }
    out.node()
}

/// A JSON object as that, any other text as a text.
fn embedded(json: &str) -> Node {
    match parse(json) {
        Ok(document) if document.root.is_object() && is_shallow(&document.root, DEEPEST) => document.root,
        _ => text(json),
    }
}

fn is_shallow(node: &Node, levels: usize) -> bool {
    match &node.value {
        Value::List(items) => levels > 0 && items.iter().all(|item| is_shallow(item, levels - 1)),
        Value::Object(members) => levels > 0 && members.iter().all(|member| is_shallow(&member.node, levels - 1)),
        _ => true,
    }
}

/// One of the list is its id, an edited one an object.
fn accelerator(choice: &AcceleratorChoice) -> Node {
    if !choice.is_edited() {
        return text(&choice.id);
    }
    let mut out = Object::default();
    out.put("id", text(&choice.id));
    out.put_unless("name", text(&choice.name), choice.name.is_empty());
    for (number, value) in &choice.numbers {
        // What is not positive counts as not supported.
        let value = value.filter(|value| value.is_finite() && *value > 0.0);
        out.put_again(number_name(*number), value.map_or_else(null, decimal));
    }
    out.node()
}

/// What the comparison refers to, by id: the numbers behind an id may change.
fn revisions(comparison: &Comparison, presets: &[Preset]) -> Node {
    let mut out = Object::default();
    for scenario in comparison.scenarios() {
        if let ModelChoice::Preset(id) = &scenario.model
            && let Some(preset) = presets.iter().find(|preset| preset.id == *id)
        {
            once(&mut out, id, || revision::of_preset(preset));
        }
        let listed: Option<&Accelerator> = hardware::by_id(&scenario.accelerator.id);
        if let Some(listed) = listed {
            once(&mut out, &listed.id, || revision::of_accelerator(listed));
        }
    }
    out.node()
}

/// The word for a section.
pub(super) fn section_name(section: Section) -> &'static str {
    match section {
        Section::Model => "model",
        Section::Layout => "layout",
        Section::Precision => "precision",
        Section::Batch => "batch",
        Section::Accelerator => "accelerator",
    }
}

/// The word for a scope.
pub(super) fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::PerGpu => "gpu",
        Scope::Global => "global",
    }
}

/// The word for what a verify counts as.
pub(super) fn verify_name(verify: VerifyAs) -> &'static str {
    match verify {
        VerifyAs::Decode => "decode",
        VerifyAs::Prefill => "prefill",
    }
}

/// The word for a precision.
pub(super) fn precision_name(precision: Precision) -> &'static str {
    match precision {
        Precision::Bf16 => "bf16",
        Precision::Fp16 => "fp16",
        Precision::Fp8 => "fp8",
        Precision::Int8 => "int8",
        Precision::Fp4 => "fp4",
    }
}

/// The word for a number of an accelerator, with its unit.
pub(super) fn number_name(number: Number) -> &'static str {
    match number {
        Number::Bf16 => "bf16_tflops",
        Number::Fp16 => "fp16_tflops",
        Number::Fp8 => "fp8_tflops",
        Number::Int8 => "int8_tops",
        Number::Fp4 => "fp4_tflops",
        Number::Bandwidth => "memory_gbs",
        Number::Memory => "usable_gib",
    }
}

fn once(out: &mut Object, key: &str, revision: impl FnOnce() -> u32) {
    if !out.has(key) {
        out.put(key, count(revision().into()));
    }
}

pub(in crate::scenario) fn count(count: u64) -> Node {
    whole(count.into())
}

//! Everything that is shown of one scenario: its model as resolved, its estimate, and the roof above it.

use super::answer::{Answer, Step};
use super::{ComputePrecision, Roof, compute_precision};
use crate::batch::case::Case;
use crate::estimate::vllm::Vllm;
use crate::estimate::{Breakdown, EstimateError, Estimator, Scope};
use crate::hardware::Accelerator;
use crate::model::presets::Preset;
use crate::model::{ClassTable, Depth, ModelSpec};
use crate::scenario::state::{ModelChoice, Scenario};
use crate::settings::Settings;
use std::sync::Arc;

/// A resolved model and what to call it.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// Where the config is from, in words.
    pub source: String,
    /// What was read.
    pub spec: ModelSpec,
}

/// Everything that is shown of one scenario.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was put in.
    pub scenario: Scenario,
    /// Its model.
    pub model: Arc<Model>,
    /// How it is served.
    pub settings: Settings,
    /// The case that is shown.
    pub case: Case,
    /// The estimator, for further batches.
    pub vllm: Vllm,
    /// In the scope that is chosen.
    pub breakdown: Result<Breakdown, EstimateError>,
    /// Per GPU: what a GPU's roofline is about.
    pub per_gpu: Result<Breakdown, EstimateError>,
    /// The accelerator, edits included.
    pub accelerator: Accelerator,
    /// The precision that is computed in, and what was assumed for it.
    pub computed: ComputePrecision,
    /// The roofs; `None` where the accelerator has no such rate.
    pub roof: Option<Roof>,
    /// The scope that is chosen.
    pub scope: Scope,
    /// The physical model's answer, where its costs stand here, or why it has none; `None` for the vllm model.
    pub physical: Option<Result<Arc<Answer>, String>>,
}

impl Outcome {
    /// The time of a step, where the physical model counts.
    #[must_use]
    pub fn step(&self) -> Option<&Step> {
        Some(&self.physical.as_ref()?.as_ref().ok()?.step)
    }
}

/// The estimate of a scenario whose model is known; `None` where it names an accelerator that does not exist.
#[must_use]
pub fn estimated(scenario: &Scenario, model: Arc<Model>, scope: Scope) -> Option<Outcome> {
    let accelerator = scenario.accelerator.accelerator()?;
    let (case, settings) = (scenario.case()?.clone(), scenario.settings());
    let vllm = Vllm::new(&model.spec, &settings);
    let batch = case.batch_with(scenario.verify);
    let per_gpu = vllm.estimate(&batch, Scope::PerGpu);
    let breakdown = match scope {
        Scope::PerGpu => per_gpu.clone(),
        Scope::Global => vllm.estimate(&batch, Scope::Global),
    };
    let by_method = || compute_precision(settings.quantization(&model.spec).as_deref(), settings.dtype(&model.spec));
    let computed = scenario.precision.map_or_else(by_method, |precision| ComputePrecision { precision, assumed: None });
    let roof = Roof::of(&accelerator, computed.precision);
    let scenario = scenario.clone();
    Some(Outcome {
        scenario,
        model,
        settings,
        case,
        vllm,
        breakdown,
        per_gpu,
        accelerator,
        computed,
        roof,
        scope,
        physical: None,
    })
}

/// The model of a choice; `None` where there is no such preset, or where a config cannot be read.
#[must_use]
pub fn resolved(choice: &ModelChoice, presets: &[Preset], classes: &ClassTable, depth: Depth) -> Option<Arc<Model>> {
    let model = match choice {
        ModelChoice::Preset(id) => {
            let preset = presets.iter().find(|preset| preset.id == *id)?;
            Model {
                name: preset.name.clone(),
                source: format!("config.json of {}, read {}", preset.source, preset.as_of),
                spec: depth.resolve(&preset.config, None, classes).ok()?,
            }
        }
        ModelChoice::Custom(custom) => {
            let spec = depth.read(&custom.config, custom.companion.as_deref(), classes).ok()?;
            let named = if spec.model_type.is_empty() { "custom model" } else { spec.model_type.as_str() };
            let beside = if custom.companion.is_some() { " with hf_quant_config.json" } else { "" };
            Model {
                name: if custom.name.is_empty() { named.to_owned() } else { custom.name.clone() },
                source: format!("a config.json of your own{beside}"),
                spec,
            }
        }
    };
    Some(Arc::new(model))
}

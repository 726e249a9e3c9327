//! The page's state: what was put in, and what follows from it.
//!
//! Data goes one way: inputs are signals, everything else is a memo of them. A memo of an input that can be wrong
//! keeps the last valid value beside the error, so a typing mistake never empties the page.

use super::facts::Facts;
use crate::batch::case::{Case, CaseError};
use crate::estimate::vllm::Vllm;
use crate::estimate::{Breakdown, EstimateError, Estimator, Scope};
use crate::hardware::{self, Accelerator, Precision};
use crate::layout::Layout;
use crate::model::{ConfigError, Dtype, KvDtype, ModelSpec, read, resolve};
use crate::report::{ComputePrecision, Roof, compute_precision};
use crate::scenario::LayoutInput;
use crate::settings::{QuantizationChoice, Settings};
use leptos::prelude::*;
use std::sync::Arc;

/// Where the model comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ModelInput {
    /// A preset, by id.
    Preset(String),
    /// A config text, with the name of the file it came from and a quantization document beside it.
    Custom { text: String, companion: Option<String>, file: Option<String> },
}

/// A resolved model and what to call it.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) name: String,
    pub(super) source: String,
    pub(super) spec: ModelSpec,
    pub(super) input: ModelInput,
}

/// The last valid value of an input, and what is wrong with the input now.
#[derive(Clone, Debug)]
pub(super) struct Kept<T, E> {
    pub(super) value: Option<Arc<T>>,
    pub(super) error: Option<E>,
}

impl<T, E: PartialEq> PartialEq for Kept<T, E> {
    fn eq(&self, other: &Self) -> bool {
        let same = match (&self.value, &other.value) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        same && self.error == other.error
    }
}

impl<T, E> Kept<T, E> {
    fn next(previous: Option<&Self>, now: Result<T, E>) -> Self {
        match now {
            Ok(value) => Self { value: Some(Arc::new(value)), error: None },
            Err(error) => Self { value: previous.and_then(|kept| kept.value.clone()), error: Some(error) },
        }
    }
}

/// Everything that is shown of one estimate.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) model: Arc<Model>,
    pub(super) settings: Settings,
    pub(super) case: Arc<Case>,
    pub(super) vllm: Vllm,
    /// In the scope that is chosen.
    pub(super) breakdown: Result<Breakdown, EstimateError>,
    /// Per GPU: what a GPU's roofline is about.
    pub(super) per_gpu: Result<Breakdown, EstimateError>,
    pub(super) accelerator: &'static Accelerator,
    pub(super) computed: ComputePrecision,
    pub(super) roof: Option<Roof>,
}

/// Signals and memos; copied freely.
#[derive(Clone, Copy)]
pub(super) struct State {
    pub(super) facts: RwSignal<Facts>,
    pub(super) model: RwSignal<ModelInput>,
    pub(super) layout: RwSignal<LayoutInput>,
    pub(super) quantization: RwSignal<QuantizationChoice>,
    pub(super) kv_cache: RwSignal<KvDtype>,
    pub(super) dtype: RwSignal<Option<Dtype>>,
    pub(super) disable_sliding_window: RwSignal<bool>,
    pub(super) case: RwSignal<String>,
    pub(super) accelerator: RwSignal<String>,
    pub(super) precision: RwSignal<Option<Precision>>,
    pub(super) scope: RwSignal<Scope>,
    pub(super) dark: RwSignal<bool>,
    pub(super) notice: RwSignal<Option<String>>,
    pub(super) read_model: Memo<Kept<Model, ConfigError>>,
    pub(super) read_layout: Memo<Kept<Layout, ()>>,
    pub(super) read_case: Memo<Kept<Case, CaseError>>,
    pub(super) outcome: Memo<Shared>,
}

/// An outcome that is compared by identity: a new one is always news.
#[derive(Clone, Debug)]
pub(super) struct Shared(pub(super) Option<Arc<Outcome>>);

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_none() && other.0.is_none()
    }
}

impl State {
    /// The worked example that the page opens on.
    pub(super) fn new() -> Self {
        let facts = RwSignal::new(Facts::Loading);
        let model = RwSignal::new(ModelInput::Preset("deepseek-v3".to_owned()));
        let layout =
            RwSignal::new(LayoutInput { tp: "8".to_owned(), pp: "1".to_owned(), dp: "1".to_owned(), ep: false });
        let quantization = RwSignal::new(QuantizationChoice::Auto);
        let kv_cache = RwSignal::new(KvDtype::AUTO);
        let dtype = RwSignal::new(None);
        let disable_sliding_window = RwSignal::new(false);
        let case = RwSignal::new("mix=8192,32*1@8192".to_owned());
        let accelerator = RwSignal::new("h200-sxm".to_owned());
        let precision = RwSignal::new(None);
        let scope = RwSignal::new(Scope::PerGpu);

        let read_model = Memo::new(move |previous: Option<&Kept<Model, ConfigError>>| {
            facts.with(|facts| match facts {
                Facts::Ready(ready) => Kept::next(previous, model.with(|model| resolve_model(model, ready))),
                _ => Kept { value: None, error: None },
            })
        });
        let read_layout = Memo::new(move |previous: Option<&Kept<Layout, ()>>| {
            Kept::next(previous, layout.with(|layout| layout.layout().ok_or(())))
        });
        let read_case = Memo::new(move |previous: Option<&Kept<Case, CaseError>>| {
            Kept::next(previous, case.with(|text| Case::parse(text)))
        });
        let outcome = Memo::new(move |_| {
            let (model, layout, case) = (read_model.get().value, read_layout.get().value, read_case.get().value);
            let settings = |layout| Settings {
                dtype: dtype.get(),
                kv_cache: kv_cache.get(),
                quantization: quantization.get(),
                disable_sliding_window: disable_sliding_window.get(),
                layout,
            };
            let (Some(model), Some(layout), Some(case)) = (model, layout, case) else { return Shared(None) };
            let settings = settings(*layout);
            let chosen = accelerator.with(|id| hardware::by_id(id)).or_else(|| hardware::all().first());
            let Some(accelerator) = chosen else { return Shared(None) };
            let vllm = Vllm::new(&model.spec, &settings);
            let batch = case.batch();
            let per_gpu = vllm.estimate(&batch, Scope::PerGpu);
            let breakdown = match scope.get() {
                Scope::PerGpu => per_gpu.clone(),
                Scope::Global => vllm.estimate(&batch, Scope::Global),
            };
            let by_method =
                || compute_precision(settings.quantization(&model.spec).as_deref(), settings.dtype(&model.spec));
            let computed =
                precision.get().map_or_else(by_method, |precision| ComputePrecision { precision, assumed: None });
            let roof = Roof::of(accelerator, computed.precision);
            let outcome = Outcome { model, settings, case, vllm, breakdown, per_gpu, accelerator, computed, roof };
            Shared(Some(Arc::new(outcome)))
        });
        let (dark, notice) = (super::canvas::dark_mode(), RwSignal::new(None));
        Self {
            facts,
            model,
            layout,
            quantization,
            kv_cache,
            dtype,
            disable_sliding_window,
            case,
            accelerator,
            precision,
            scope,
            dark,
            notice,
            read_model,
            read_layout,
            read_case,
            outcome,
        }
    }

    /// Whether the results belong to an earlier, valid input.
    pub(super) fn is_stale(&self) -> bool {
        self.read_model.with(|kept| kept.error.is_some())
            || self.read_layout.with(|kept| kept.error.is_some())
            || self.read_case.with(|kept| kept.error.is_some())
    }

    /// The text of the config that is being edited.
    pub(super) fn config_text(&self) -> String {
        self.model.with(|model| match model {
            ModelInput::Custom { text, .. } => text.clone(),
            ModelInput::Preset(id) => self.facts.with(|facts| match facts {
                Facts::Ready(ready) => {
                    let preset = ready.presets.iter().find(|preset| preset.id == *id);
                    preset.map(|preset| preset.config.root.to_text()).unwrap_or_default()
                }
                _ => String::new(),
            }),
        })
    }

    /// What is shown now, once there is something.
    pub(super) fn shown(&self) -> Option<Arc<Outcome>> {
        self.outcome.get().0
    }
}

fn resolve_model(input: &ModelInput, facts: &super::facts::Ready) -> Result<Model, ConfigError> {
    match input {
        ModelInput::Preset(id) => {
            let preset = facts.presets.iter().find(|preset| preset.id == *id).or_else(|| facts.presets.first());
            let Some(preset) = preset else {
                return Err(ConfigError::NotALanguageModel("no preset of this version"));
            };
            Ok(Model {
                name: preset.name.clone(),
                source: format!("config.json of {}, read {}", preset.source, preset.as_of),
                spec: resolve(&preset.config, None, &facts.classes)?,
                input: input.clone(),
            })
        }
        ModelInput::Custom { text, companion, file } => {
            let spec = read(text, companion.as_deref(), &facts.classes)?;
            let named = if spec.model_type.is_empty() { "custom model" } else { spec.model_type.as_str() };
            let beside = if companion.is_some() { " with hf_quant_config.json" } else { "" };
            Ok(Model {
                name: file.clone().unwrap_or_else(|| named.to_owned()),
                source: format!("pasted or dropped config.json{beside}"),
                spec,
                input: input.clone(),
            })
        }
    }
}

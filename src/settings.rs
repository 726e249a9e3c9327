//! What the user sets beside the model and the batch.

use crate::layout::Layout;
use crate::model::{Dtype, KvDtype, ModelSpec, Origin, quantization};

/// How a model is served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Forced dtype; else the model's own.
    pub dtype: Option<Dtype>,
    /// Format of the KV cache.
    pub kv_cache: KvDtype,
    /// Quantization.
    pub quantization: QuantizationChoice,
    /// Whether sliding windows are ignored.
    pub disable_sliding_window: bool,
    /// Parallel sizes.
    pub layout: Layout,
}

/// Which quantization counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum QuantizationChoice {
    /// What the checkpoint names.
    #[default]
    Auto,
    /// What a vLLM 0.33.0 engine calls what the checkpoint names: its own counters look up that name.
    AsEngineNames,
    /// None, whatever the checkpoint names.
    None,
    /// This method.
    Method(String),
}

impl QuantizationChoice {
    /// The choice of that name: `auto`, `as-engine`, `none` or a method.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name.trim() {
            "" | "auto" => Self::Auto,
            "as-engine" => Self::AsEngineNames,
            "none" => Self::None,
            method => Self::Method(quantization::normal(method)),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::AsEngineNames => "as-engine",
            Self::None => "none",
            Self::Method(method) => method,
        }
    }
}

impl Settings {
    /// The dtype that counts for a model.
    #[must_use]
    pub fn dtype(&self, model: &ModelSpec) -> Dtype {
        self.dtype.unwrap_or(model.dtype.dtype)
    }

    /// The quantization method that counts for a model, as it was written; `Some("")` counts as none.
    #[must_use]
    pub fn quantization(&self, model: &ModelSpec) -> Option<String> {
        let named = model.quantization.method.clone();
        match &self.quantization {
            QuantizationChoice::Auto => named,
            QuantizationChoice::AsEngineNames => {
                named.map(|m| quantization::engine_name(&m, &model.model_type).map_or(m, str::to_owned))
            }
            QuantizationChoice::None => None,
            QuantizationChoice::Method(method) => Some(method.clone()),
        }
    }

    /// Where the quantization came from.
    #[must_use]
    pub fn quantization_origin(&self, model: &ModelSpec) -> Origin {
        match self.quantization {
            QuantizationChoice::Auto => model.quantization_origin(),
            QuantizationChoice::AsEngineNames if self.quantization(model) == model.quantization.method => {
                model.quantization_origin()
            }
            QuantizationChoice::AsEngineNames => Origin::Derived("as a vLLM 0.33.0 engine renames it".to_owned()),
            _ => Origin::Setting("quantization"),
        }
    }
}

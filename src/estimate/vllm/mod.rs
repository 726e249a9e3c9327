//! The **vllm model**: what `vllm.v1.metrics.perf` of vLLM 0.33.0 counts, to the last integer, simplifications included.
//!
//! Each component is a file: the fields it needs from a model, how a layout divides them, and its terms as formulas.
//! A component whose fields cannot be read, or whose quantization the byte table lacks, does not apply; the reason is
//! kept and shown.

mod attention;
mod ffn;
mod mla;
mod sums;
mod terms;
mod unembed;

use super::formula::{Number, Values};
use super::{Breakdown, Component, EstimateError, Estimator, Scope, Symbol};
use crate::batch::{Batch, Phase};
use crate::model::quantization::{self, WeightBytes};
use crate::model::{Dtype, ModelSpec};
use crate::settings::Settings;
pub use attention::Attention;
pub use ffn::Ffn;
pub use mla::MlaAttention;
pub use sums::PhaseSums;
pub use unembed::Unembed;

/// A field of a component as vLLM names it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Field {
    /// An integer.
    Int(u64),
    /// One half: bytes of a 4-bit weight.
    Half,
    /// Nothing, where that is allowed.
    Null,
}

/// vLLM's estimator for one model and its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Vllm {
    /// Attention, unless it is latent; else why not.
    pub attention: Result<Attention, String>,
    /// Latent attention; else why not.
    pub mla: Result<MlaAttention, String>,
    /// Feed-forward layers; else why not.
    pub ffn: Result<Ffn, String>,
    /// The LM head; else why not.
    pub unembed: Result<Unembed, String>,
}

/// What several components share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Common {
    /// Number of layers.
    pub layers: u64,
    /// Hidden size.
    pub hidden: u64,
    /// Bytes a weight.
    pub weight: WeightBytes,
    /// Bytes an activation.
    pub activation: u64,
    /// Tensor parallel size.
    pub tp: u64,
    /// Pipeline parallel size.
    pub pp: u64,
}

impl Vllm {
    /// The components that apply to a model under these settings.
    #[must_use]
    pub fn new(model: &ModelSpec, settings: &Settings) -> Self {
        if let Some(reason) = &model.unreadable {
            let none = || reason.clone();
            return Self { attention: Err(none()), mla: Err(none()), ffn: Err(none()), unembed: Err(none()) };
        }
        let dtype = settings.dtype(model);
        let weight = weight_bytes(settings.quantization(model).as_deref(), dtype);
        let common = || -> Result<Common, String> {
            Ok(Common {
                layers: model.layers.positive("num_hidden_layers")?,
                hidden: model.hidden.positive("hidden_size")?,
                weight: weight.clone()?,
                activation: dtype.bytes(),
                tp: settings.layout.tp.get().into(),
                pp: settings.layout.pp.get().into(),
            })
        };
        let cache = settings.kv_cache.bytes(dtype);
        Self {
            attention: common().and_then(|common| Attention::new(model, settings, common, cache)),
            mla: common().and_then(|common| MlaAttention::new(model, common, cache)),
            ffn: common().and_then(|common| Ffn::new(model, settings, common)),
            unembed: Unembed::new(model, settings, dtype),
        }
    }

    /// Whether any component applies; else there is nothing to estimate.
    #[must_use]
    pub fn applies(&self) -> bool {
        self.attention.is_ok() || self.mla.is_ok() || self.ffn.is_ok() || self.unembed.is_ok()
    }

    /// The components that do not apply, with the reason.
    #[must_use]
    pub fn skipped(&self) -> Vec<(Component, &str)> {
        fn reason<T>(result: &Result<T, String>, component: Component) -> Option<(Component, &str)> {
            result.as_ref().err().map(|reason| (component, reason.as_str()))
        }
        [
            reason(&self.attention, Component::Attention),
            reason(&self.ffn, Component::Ffn),
            reason(&self.mla, Component::MlaAttention),
            reason(&self.unembed, Component::Unembed),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The resolved fields of the components that apply, under vLLM's names.
    #[must_use]
    pub fn fields(&self) -> Vec<(Component, Vec<(&'static str, Field)>)> {
        let mut fields = Vec::new();
        fields.extend(self.attention.as_ref().ok().map(|c| (Component::Attention, c.fields())));
        fields.extend(self.mla.as_ref().ok().map(|c| (Component::MlaAttention, c.fields())));
        fields.extend(self.ffn.as_ref().ok().map(|c| (Component::Ffn, c.fields())));
        fields.extend(self.unembed.as_ref().ok().map(|c| (Component::Unembed, c.fields())));
        fields
    }
}

impl Estimator for Vllm {
    fn estimate(&self, batch: &Batch, scope: Scope) -> Result<Breakdown, EstimateError> {
        let of = |window| PhaseSums {
            prefill: batch.sums(Phase::Prefill, window),
            decode: batch.sums(Phase::Decode, window),
        };
        let window = self.attention.as_ref().ok().and_then(|attention| attention.window);
        self.evaluate(base_values(&of(None), window.map(|window| of(Some(window)))), scope)
    }
}

impl Vllm {
    /// The components with these inputs.
    fn evaluate(&self, base: Values, scope: Scope) -> Result<Breakdown, EstimateError> {
        let mut parts = Vec::with_capacity(4);
        if let Ok(attention) = &self.attention {
            parts.push(attention.estimate(base.clone(), scope)?);
        }
        if let Ok(mla) = &self.mla {
            parts.push(mla.estimate(base.clone(), scope)?);
        }
        if let Ok(ffn) = &self.ffn {
            parts.push(ffn.estimate(base.clone(), scope)?);
        }
        if let Ok(unembed) = &self.unembed {
            parts.push(unembed.estimate(base, scope)?);
        }
        Ok(Breakdown { parts })
    }
}

impl Common {
    /// The fields under vLLM's names, but for the weight's bytes.
    fn fields(&self) -> Vec<(&'static str, Field)> {
        vec![
            ("num_hidden_layers", Field::Int(self.layers)),
            ("hidden_size", Field::Int(self.hidden)),
            ("activation_byte_size", Field::Int(self.activation)),
            ("pp_size", Field::Int(self.pp)),
            ("weight_byte_size", byte_field(self.weight)),
        ]
    }

    /// Sets what every component's formulas use.
    fn put(&self, values: &mut Values) {
        values.set(Symbol::Hidden, self.hidden);
        values.put(Symbol::WeightBytes, byte_number(self.weight));
        values.set(Symbol::ActivationBytes, self.activation);
    }
}

/// The sums over a batch that formulas use, and the same with KV lengths capped at the window if there is one.
/// Attention inputs of a phase count only where the phase has new tokens.
fn base_values(sums: &PhaseSums, capped: Option<PhaseSums>) -> Values {
    let PhaseSums { prefill, decode } = sums;
    let mut values = Values::default();
    values.set(Symbol::Tokens, prefill.tokens.saturating_add(decode.tokens));
    values.set(Symbol::TokenContext, prefill.product.saturating_add(decode.product));
    values.set(Symbol::LogitsTokens, prefill.requests.saturating_add(decode.tokens));
    values.set(Symbol::PrefillTokens, prefill.tokens);
    values.set(Symbol::DecodeTokens, decode.tokens);
    let used = |context: u128, tokens: u128| if tokens > 0 { context } else { 0 };
    values.set(Symbol::PrefillContext, used(prefill.context, prefill.tokens));
    values.set(Symbol::DecodeContext, used(decode.context, decode.tokens));
    if let Some(PhaseSums { prefill, decode }) = capped {
        values.set(Symbol::TokenWindow, prefill.product.saturating_add(decode.product));
        values.set(Symbol::PrefillWindow, used(prefill.context, prefill.tokens));
        values.set(Symbol::DecodeWindow, used(decode.context, decode.tokens));
    }
    values
}

/// Bytes a weight of attention and FFN; why not, for a quantization that vLLM's table lacks.
fn weight_bytes(method: Option<&str>, dtype: Dtype) -> Result<WeightBytes, String> {
    match method {
        None | Some("") => Ok(WeightBytes::Whole(dtype.bytes())),
        Some(method) => quantization::weight_bytes(method)
            .ok_or_else(|| format!("the quantization \"{method}\" is not in vLLM's table of weight sizes")),
    }
}

fn byte_field(bytes: WeightBytes) -> Field {
    match bytes {
        WeightBytes::Whole(bytes) => Field::Int(bytes),
        WeightBytes::Half => Field::Half,
    }
}

fn byte_number(bytes: WeightBytes) -> Number {
    match bytes {
        WeightBytes::Whole(bytes) => Number::Int(bytes.into()),
        WeightBytes::Half => Number::Real(0.5),
    }
}

#[cfg(test)]
mod tests;

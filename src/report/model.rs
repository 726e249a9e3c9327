//! A model in a few words.

use crate::estimate::Component;
use crate::estimate::vllm::Vllm;
use crate::model::{ModelSpec, Reading, quantization};
use crate::settings::{QuantizationChoice, Settings};

/// The facts by which people recognise a model, each a few words.
#[must_use]
pub fn facts(model: &ModelSpec) -> Vec<String> {
    let mut facts = Vec::new();
    let mut say = |reading: &Reading, text: &dyn Fn(u64) -> String| {
        facts.extend(reading.ok().filter(|value| *value > 0).map(text));
    };
    say(&model.layers, &|n| format!("{n} layers"));
    say(&model.hidden, &|n| format!("hidden {n}"));
    match &model.mla {
        Some(mla) => {
            let rank = (mla.kv_lora_rank.ok(), mla.qk_rope_head_dim.ok());
            say(&model.heads, &|n| match rank {
                (Some(rank), Some(rope)) => format!("{n} heads · MLA {rank}+{rope}"),
                _ => format!("{n} heads · MLA"),
            });
        }
        None => {
            let (kv, dim) = (model.kv_heads.ok().unwrap_or(0), model.head_dim.ok().unwrap_or(0));
            say(&model.heads, &|n| format!("{n} heads · {kv} KV × {dim}"));
            let sliding = model.sliding_layers.ok().unwrap_or(0);
            say(&model.window, &|n| format!("window {n} on {sliding} layers"));
        }
    }
    let (top, shared) = (model.experts_per_token.ok().unwrap_or(0), model.shared_experts.ok().unwrap_or(0));
    say(&model.experts, &|n| match shared {
        0 => format!("{n} experts, top {top}"),
        _ => format!("{n} experts, top {top}, {shared} shared"),
    });
    let layers = model.layers.ok().unwrap_or(0);
    say(&model.moe_layers, &|n| match layers.saturating_sub(n) {
        0 => format!("{n} MoE layers"),
        dense => format!("{n} MoE + {dense} dense"),
    });
    say(&model.vocab, &|n| format!("vocab {n}"));
    facts.push(model.dtype.dtype.name().to_owned());
    facts.extend(model.quantization.method.clone().filter(|method| !method.is_empty()));
    facts
}

/// The components that are missing from the sum although the model has them, with the reason.
#[must_use]
pub fn left_out<'a>(vllm: &'a Vllm, model: &ModelSpec) -> Vec<(Component, &'a str)> {
    let other_kind = if model.mla.is_some() { Component::Attention } else { Component::MlaAttention };
    vllm.skipped().into_iter().filter(|(component, _)| *component != other_kind).collect()
}

/// What a running server would count instead, where it renames the quantization: its own table lacks the new name.
#[must_use]
pub fn engine_note(settings: &Settings, model: &ModelSpec) -> Option<String> {
    let method = model.quantization.method.as_deref()?;
    let renamed = quantization::engine_name(method, &model.model_type)?;
    (quantization::weight_bytes(renamed).is_none() && settings.quantization == QuantizationChoice::Auto).then(|| {
        format!(
            "A vLLM 0.33.0 server counts only the LM head for this checkpoint: it runs {method} as {renamed}, which its table of weight sizes lacks."
        )
    })
}

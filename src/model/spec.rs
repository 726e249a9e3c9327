//! A model as the estimators see it: every field resolved, with its origin, and notes on what could not be.

use super::anatomy::Anatomy;
use super::dtype::ServedDtype;
use super::origin::Origin;
use super::quantization::Quantization;
use super::reading::Reading;
use std::sync::Arc;

/// A resolved model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSpec {
    /// The outermost `model_type`.
    pub model_type: String,
    /// The `model_type` of the language model, equal to the outermost one unless the model is a composite.
    pub text_type: String,
    /// The path of the language model's config, empty for the top level.
    pub text_path: String,
    /// Whether the config class is known: else only the keys that stand in the config count.
    pub class_known: bool,
    /// Why no component can be counted at all, where that is so.
    pub unreadable: Option<String>,
    /// Number of layers L.
    pub layers: Reading,
    /// Hidden size D.
    pub hidden: Reading,
    /// Vocabulary V.
    pub vocab: Reading,
    /// Attention heads q, in all.
    pub heads: Reading,
    /// KV heads, in all.
    pub kv_heads: Reading,
    /// Elements a head.
    pub head_dim: Reading,
    /// Sliding window in tokens; 0 is none.
    pub window: Reading,
    /// Layers that attend within the window, if there is one.
    pub sliding_layers: Reading,
    /// Latent attention, where the model has it.
    pub mla: Option<Mla>,
    /// Routed experts, 0 for a dense model.
    pub experts: Reading,
    /// Experts a token is routed to.
    pub experts_per_token: Reading,
    /// Width of a dense FFN.
    pub intermediate: Reading,
    /// Width of an expert.
    pub moe_intermediate: Reading,
    /// Shared experts.
    pub shared_experts: Reading,
    /// Layers with experts.
    pub moe_layers: Reading,
    /// The dtype it is served in by default.
    pub dtype: ServedDtype,
    /// The quantization that the checkpoint names.
    pub quantization: Quantization,
    /// The model layer by layer; else why it cannot be described.
    pub anatomy: Result<Arc<Anatomy>, String>,
    /// What a reader of the numbers must know.
    pub notes: Vec<Note>,
}

/// Dimensions of multi-head latent attention.
#[derive(Clone, Debug, PartialEq)]
pub struct Mla {
    /// Rank of the KV latent c.
    pub kv_lora_rank: Reading,
    /// Rotary part of a head r.
    pub qk_rope_head_dim: Reading,
    /// Other part of a head n.
    pub qk_nope_head_dim: Reading,
    /// Elements of a value head v.
    pub v_head_dim: Reading,
    /// Rank of the query latent, if queries are compressed too.
    pub q_lora_rank: Option<Reading>,
}

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Good to know.
    Info,
    /// The numbers simplify something.
    Caution,
    /// The numbers may be of something else than meant.
    Strong,
}

/// A remark on how the config was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How much it matters.
    pub weight: Weight,
    /// The remark, in full sentences.
    pub text: String,
}

impl ModelSpec {
    /// Every integer field under the name that configs give it, in reading order; those of the other attention kind
    /// are left out.
    #[must_use]
    pub fn fields(&self) -> Vec<(&'static str, &Reading)> {
        let mut fields = vec![
            ("num_hidden_layers", &self.layers),
            ("hidden_size", &self.hidden),
            ("vocab_size", &self.vocab),
            ("num_attention_heads", &self.heads),
        ];
        match &self.mla {
            Some(mla) => {
                fields.push(("kv_lora_rank", &mla.kv_lora_rank));
                fields.push(("qk_nope_head_dim", &mla.qk_nope_head_dim));
                fields.push(("qk_rope_head_dim", &mla.qk_rope_head_dim));
                fields.push(("v_head_dim", &mla.v_head_dim));
                fields.extend(mla.q_lora_rank.as_ref().map(|rank| ("q_lora_rank", rank)));
            }
            None => fields.extend([
                ("num_key_value_heads", &self.kv_heads),
                ("head_dim", &self.head_dim),
                ("sliding_window", &self.window),
                ("num_swa_layers", &self.sliding_layers),
            ]),
        }
        fields.extend([
            ("intermediate_size", &self.intermediate),
            ("num_experts", &self.experts),
            ("num_experts_per_tok", &self.experts_per_token),
            ("moe_intermediate_size", &self.moe_intermediate),
            ("num_shared_experts", &self.shared_experts),
            ("num_moe_layers", &self.moe_layers),
        ]);
        fields
    }

    /// What a reader of the physical model's numbers must know: what its description lacks, and how the config was read.
    #[must_use]
    pub fn physical_notes(&self) -> Vec<&Note> {
        let read = self.notes.iter().filter(|note| !super::notes::is_of_vllm(note));
        let described = self.anatomy.as_ref().ok().map(|anatomy| anatomy.notes.as_slice()).unwrap_or_default();
        described.iter().chain(read).collect()
    }

    /// Where the quantization's name came from.
    #[must_use]
    pub fn quantization_origin(&self) -> Origin {
        self.quantization.origin.clone().unwrap_or(Origin::Fallback("not quantized"))
    }
}

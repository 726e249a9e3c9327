//! Rotary embeddings, and what is rotated or normed between projections and attention.
//!
//! Keys under `rope_...` are not read: links leave them out, and a link must give the same numbers.

use super::builder::Builder;
use super::facts;
use super::pattern::Mix;
use super::{Dim, Inner, Kind};
use crate::json::Value;

/// No rotary embeddings, by class: learned positions, linear biases, or none.
const NONE: &str = "bloom mpt jamba nemotron_h xglm bart";
/// Half of a head is rotated where no key says how much, or a quarter.
const HALF: &str = "chatglm glm glm4 glm4v glm4v_text glm4_moe nemotron phi persimmon";
const QUARTER: &str = "qwen3_next qwen3_5_text qwen3_5_moe_text gpt_neox stablelm stablelm_epoch";

impl Builder<'_> {
    /// So many elements of a head of a layer are rotated.
    pub(super) fn rotary(&self, mix: Mix, layer: u64, head: u64) -> u64 {
        let mut none = self.is(facts::POSITIONS)
            || self.type_is(NONE)
            || self.type_is("falcon RefinedWeb RefinedWebModel") && self.truthy("alibi")
            || self.type_is("baichuan") && self.hidden >= 5120
            || self.kind_of_positions().is_some_and(|kind| kind == "nope" || kind == "alibi");
        // Layers that attend to everything go without in some models that have others.
        let windows = self.int(&["sliding_window"]).is_some();
        none |= mix == Mix::Full
            && (self.type_is("llama4_text llama4 cohere2 afmoe") || self.type_is("exaone4") && windows);
        if none || self.skips_rotary(layer) {
            return 0;
        }
        if let Some(elements) = self.int(&["rotary_dim", "attn_rotary_emb"]) {
            return elements.min(head);
        }
        let part =
            ["partial_rotary_factor", "rotary_pct"].into_iter().find_map(|name| match *self.text.get(name)?.value {
                Value::Float(part) if part > 0.0 && part <= 1.0 => Some(part),
                Value::Int(1) => Some(1.0),
                _ => None,
            });
        let usual = if self.type_is(HALF) {
            0.5
        } else if self.type_is(QUARTER) || mix == Mix::Full && self.type_is("gemma4_text gemma4_unified_text") {
            0.25
        } else {
            1.0
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a head")]
        let elements = (head as f64 * part.unwrap_or(usual)).round() as u64;
        elements
    }

    /// Whether a layer goes without them that is otherwise like those that have them.
    pub(super) fn skips_rotary(&self, layer: u64) -> bool {
        self.type_is("smollm3")
            && match self.number("no_rope_layers", layer) {
                Some(rotated) => rotated == 0,
                None => (layer + 1).is_multiple_of(self.int_or(&["no_rope_layer_interval"], 4)),
            }
    }

    fn kind_of_positions(&self) -> Option<&str> {
        self.text.json?.get("position_embedding_type")?.text()
    }

    /// What goes through one pass in latent attention: the rotary parts, and norms of both latents, which every rank has
    /// whole.
    pub(super) fn turn_latents(&self, heads: u64, rope: u64, [queries, latent]: [u64; 2], kind: &mut Kind) {
        if !self.truthy("mla_use_nope") {
            kind.inner.push(Inner { elements: Dim::cut(heads, rope), written: true });
            kind.inner.push(Inner { elements: Dim::whole(rope), written: false });
        }
        kind.inner.push(Inner { elements: Dim::whole(queries), written: true });
        kind.inner.push(Inner { elements: Dim::whole(latent), written: false });
    }
}

/// So many elements of each head of queries and keys go through one pass; keys end in the cache.
pub(super) fn turn(elements: u64, queries: u64, keys: u64, kind: &mut Kind) {
    if elements > 0 {
        kind.inner.push(Inner { elements: Dim::cut(queries, elements), written: true });
        kind.inner.push(Inner { elements: Dim::cut(keys, elements), written: false });
    }
}

//! Attention with a KV cache of heads, sliding windows included.
//!
//! Simplifications of the reference: every new token attends to the whole context of its request; layers are divided
//! by pipeline stages as fractions.

use super::terms::{Product, Sum, Sym, TWO, flops, reads, reads_kv, weights, writes, writes_kv};
use super::{Common, Field};
use crate::estimate::formula::{Expr, Number, Values};
use crate::estimate::symbol::Symbol::{
    ActivationBytes as A, CacheBytes as K, DecodeContext, DecodeTokens, DecodeWindow, FullLayers, HeadDim as DIM,
    Heads as Q, Hidden as D, KvHeads as KV, Layers as L, PrefillContext, PrefillTokens, PrefillWindow, SlidingLayers,
    TokenContext, TokenWindow, Tokens as T, WeightBytes as W,
};
use crate::estimate::{Component, EstimateError, Part, Scope, Symbol, TermDef};
use crate::model::ModelSpec;
use crate::settings::Settings;

/// Fields of the component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attention {
    /// What components share.
    pub common: Common,
    /// Attention heads.
    pub heads: u64,
    /// KV heads.
    pub kv_heads: u64,
    /// Elements a head.
    pub head_dim: u64,
    /// Bytes a KV-cache element.
    pub cache: u64,
    /// Sliding window, if there is one.
    pub window: Option<u64>,
    /// Layers that attend within the window.
    pub sliding_layers: u64,
}

const QKV: &str = "QKV projection";
const CORE: &str = "attention";
const OUT: &str = "output projection";

/// Query and both of key and value heads.
const Q_2KV: Expr = Sum(&[Sym(Q), Product(&[TWO, Sym(KV)])]);

/// Pairs of query and key, twice (multiply and add), in full layers and in sliding ones.
const PAIRS: Expr = Sum(&[
    Product(&[TWO, Sym(Q), Sym(TokenContext), Sym(DIM), Sym(FullLayers)]),
    Product(&[TWO, Sym(Q), Sym(TokenWindow), Sym(DIM), Sym(SlidingLayers)]),
]);

/// What attention reads: queries, and keys and values in the activations' format for a prefill, in the cache's for a
/// decode. The two parts of a decode are added to each other before they join the sum: with fractional layers the order
/// of float additions shows in the last integer.
const INPUT: Expr = Sum(&[
    Product(&[
        Sum(&[Product(&[Sym(PrefillTokens), Sym(Q)]), Product(&[TWO, Sym(PrefillContext), Sym(KV)])]),
        Sym(DIM),
        Sym(A),
        Sym(FullLayers),
    ]),
    Sum(&[
        Product(&[Sym(DecodeTokens), Sym(Q), Sym(DIM), Sym(A), Sym(FullLayers)]),
        Product(&[TWO, Sym(DecodeContext), Sym(KV), Sym(DIM), Sym(K), Sym(FullLayers)]),
    ]),
    Product(&[
        Sum(&[Product(&[Sym(PrefillTokens), Sym(Q)]), Product(&[TWO, Sym(PrefillWindow), Sym(KV)])]),
        Sym(DIM),
        Sym(A),
        Sym(SlidingLayers),
    ]),
    Sum(&[
        Product(&[Sym(DecodeTokens), Sym(Q), Sym(DIM), Sym(A), Sym(SlidingLayers)]),
        Product(&[TWO, Sym(DecodeWindow), Sym(KV), Sym(DIM), Sym(K), Sym(SlidingLayers)]),
    ]),
]);

static TERMS: &[TermDef] = &[
    flops(QKV, "qkv_proj", Product(&[TWO, Sym(T), Sym(D), Q_2KV, Sym(DIM), Sym(L)]), &[]),
    flops(CORE, "attn_qk", PAIRS, &[]),
    flops(CORE, "attn_av", PAIRS, &[]),
    flops(OUT, "out_proj", Product(&[TWO, Sym(T), Sym(D), Sym(Q), Sym(DIM), Sym(L)]), &[]),
    reads(QKV, "qkv_input", Product(&[Sym(T), Sym(D), Sym(A), Sym(L)]), &[]),
    weights(QKV, "qkv_weight", Product(&[Sym(D), Q_2KV, Sym(DIM), Sym(W), Sym(L)]), &[]),
    reads_kv(CORE, "attn_input", INPUT, &[T]),
    reads(OUT, "out_input", Product(&[Sym(T), Sym(Q), Sym(DIM), Sym(A), Sym(L)]), &[]),
    weights(OUT, "out_weight", Product(&[Sym(Q), Sym(DIM), Sym(D), Sym(W), Sym(L)]), &[]),
    writes(QKV, "qkv_output", Product(&[Sym(T), Q_2KV, Sym(DIM), Sym(A), Sym(L)]), &[]),
    writes_kv(CORE, "kv_cache", Product(&[TWO, Sym(T), Sym(KV), Sym(DIM), Sym(K), Sym(L)]), &[]),
    writes(OUT, "out_output", Product(&[Sym(T), Sym(D), Sym(A), Sym(L)]), &[]),
];

impl Attention {
    pub(super) fn new(model: &ModelSpec, settings: &Settings, common: Common, cache: u64) -> Result<Self, String> {
        if model.mla.is_some() {
            return Err("the model has latent attention (MLA)".to_owned());
        }
        let window = if settings.disable_sliding_window {
            None
        } else {
            let width = model.window.value.clone().map_err(|reason| format!("sliding_window {reason}"))?;
            (width > 0).then_some(width)
        };
        Ok(Self {
            common,
            heads: model.heads.positive("num_attention_heads")?,
            kv_heads: model.kv_heads.positive("num_key_value_heads")?,
            head_dim: model.head_dim.positive("head_dim")?,
            cache,
            window,
            sliding_layers: window.and(model.sliding_layers.ok()).unwrap_or(0).min(common.layers),
        })
    }

    pub(super) fn fields(&self) -> Vec<(&'static str, Field)> {
        let mut fields = self.common.fields();
        fields.extend([
            ("tp_size", Field::Int(self.common.tp)),
            ("num_attention_heads", Field::Int(self.heads)),
            ("num_key_value_heads", Field::Int(self.kv_heads)),
            ("head_dim", Field::Int(self.head_dim)),
            ("cache_byte_size", Field::Int(self.cache)),
            ("sliding_window", self.window.map_or(Field::Null, Field::Int)),
            ("num_swa_layers", Field::Int(self.sliding_layers)),
        ]);
        fields
    }

    pub(super) fn estimate(&self, mut values: Values, scope: Scope) -> Result<Part, EstimateError> {
        let (tp, pp) = match scope {
            Scope::PerGpu => (self.common.tp, self.common.pp),
            Scope::Global => (1, 1),
        };
        self.common.put(&mut values);
        let mut stage = |symbol: Symbol, layers: u64| values.put(symbol, Number::Real(layers as f64 / pp as f64));
        stage(L, self.common.layers);
        stage(FullLayers, self.common.layers - self.sliding_layers);
        stage(SlidingLayers, self.sliding_layers);
        values.set(Q, (self.heads / tp).max(1));
        values.set(KV, (self.kv_heads / tp).max(1));
        values.set(DIM, self.head_dim);
        values.set(K, self.cache);
        Part::evaluate(Component::Attention, &[TERMS], values)
    }
}

#[cfg(test)]
mod tests {
    use crate::estimate::{Quantity, Scope};
    use crate::job::{Job, answer};
    use crate::json::parse;
    use crate::model::{ClassTable, read};

    /// Computed by hand in the reference's order: ((4881*32 + 2*32566*8)*128*2 * 32/6 + (q + kv of the decode)).
    #[test]
    fn the_parts_of_a_decode_are_added_first() {
        let config = r#"{"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32,
            "num_key_value_heads": 8, "vocab_size": 32000, "intermediate_size": 11008}"#;
        let job = r#"{"config": "-", "settings": {"pp": 6}, "batch": [[4881, 32566, true], [32, 1396, false]]}"#;
        let job = Job::read(&parse(job).unwrap().root).unwrap();
        let answer = answer(&job, read(config, None, ClassTable::builtin()).unwrap()).unwrap();
        let breakdown = answer.breakdown(Scope::PerGpu);
        let read = breakdown.terms(Quantity::Read).find(|(_, term)| term.def.name == "attn_input").unwrap().1.amount;
        let layers = 32.0_f64 / 6.0;
        let prefill = f64::from((4881 * 32 + 2 * 32566 * 8) * 128 * 2) * layers;
        let decode = f64::from(32 * 32 * 128 * 2) * layers + f64::from(2 * 1396 * 8 * 128 * 2) * layers;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive amount")]
        let expected = (prefill + decode) as u128;
        assert_eq!(read, expected);
    }
}

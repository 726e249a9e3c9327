//! Latent attention (MLA).
//!
//! Simplifications of the reference: one form for prefill and decode, whole layers a pipeline stage (rounded down).

use super::terms::{Product, Sum, Sym, TWO, flops, reads, reads_kv, weights, writes, writes_kv};
use super::{Common, Field};
use crate::estimate::formula::{Expr, Values};
use crate::estimate::symbol::Symbol::{
    ActivationBytes as A, CacheBytes as K, DecodeContext, DecodeTokens, Heads as Q, Hidden as D, KvRank as C,
    Layers as L, NopeDim as N, PrefillContext, PrefillTokens, QueryDim as H, QueryRank as QR, RopeDim as R,
    TokenContext, Tokens as T, ValueDim as V, WeightBytes as W,
};
use crate::estimate::{Component, EstimateError, Part, Scope, TermDef};
use crate::model::ModelSpec;

/// Fields of the component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MlaAttention {
    /// What components share.
    pub common: Common,
    /// Attention heads.
    pub heads: u64,
    /// Bytes a KV-cache element.
    pub cache: u64,
    /// Rank of the KV latent.
    pub kv_rank: u64,
    /// Other part of a head.
    pub nope: u64,
    /// Rotary part of a head.
    pub rope: u64,
    /// Elements of a value head.
    pub value: u64,
    /// Rank of the query latent, if queries are compressed.
    pub query_rank: Option<u64>,
}

const QUERY: &str = "Q projection";
const LATENT: &str = "KV down-projection";
const EXPAND: &str = "KV up-projection";
const CORE: &str = "attention";
const OUT: &str = "output projection";

const C_R: Expr = Sum(&[Sym(C), Sym(R)]);
const N_V: Expr = Sum(&[Sym(N), Sym(V)]);
const H_V: Expr = Sum(&[Sym(H), Sym(V)]);
const HIDDEN_IN: Expr = Product(&[Sym(T), Sym(D), Sym(A), Sym(L)]);
const QUERY_OUT: Expr = Product(&[Sym(T), Sym(Q), Sym(H), Sym(A), Sym(L)]);

const INPUT: Expr = Sum(&[
    Product(&[Sym(PrefillTokens), Sym(Q), Sym(H), Sym(A), Sym(L)]),
    Product(&[Sym(PrefillContext), Sym(Q), H_V, Sym(A), Sym(L)]),
    Product(&[Sym(DecodeTokens), Sym(Q), Sym(H), Sym(A), Sym(L)]),
    Product(&[Sym(DecodeContext), C_R, Sym(K), Sym(L)]),
]);

static COMPRESSED_FLOPS: &[TermDef] = &[
    flops(QUERY, "q_a_proj", Product(&[TWO, Sym(T), Sym(D), Sym(QR), Sym(L)]), &[]),
    flops(QUERY, "q_b_proj", Product(&[TWO, Sym(T), Sym(QR), Sym(Q), Sym(H), Sym(L)]), &[]),
];
static DIRECT_FLOPS: &[TermDef] =
    &[flops(QUERY, "q_proj", Product(&[TWO, Sym(T), Sym(D), Sym(Q), Sym(H), Sym(L)]), &[])];
static FLOPS: &[TermDef] = &[
    flops(LATENT, "kv_a_proj", Product(&[TWO, Sym(T), Sym(D), C_R, Sym(L)]), &[]),
    flops(EXPAND, "kv_b_proj", Product(&[TWO, Sym(T), Sym(C), Sym(Q), N_V, Sym(L)]), &[]),
    flops(CORE, "attn_qk", Product(&[TWO, Sym(Q), Sym(TokenContext), Sym(H), Sym(L)]), &[]),
    flops(CORE, "attn_av", Product(&[TWO, Sym(Q), Sym(TokenContext), Sym(V), Sym(L)]), &[]),
    flops(OUT, "out_proj", Product(&[TWO, Sym(T), Sym(Q), Sym(V), Sym(D), Sym(L)]), &[]),
];
static COMPRESSED_READS: &[TermDef] = &[
    reads(QUERY, "q_a_input", HIDDEN_IN, &[]),
    weights(QUERY, "q_a_weight", Product(&[Sym(D), Sym(QR), Sym(W), Sym(L)]), &[]),
    reads(QUERY, "q_b_input", Product(&[Sym(T), Sym(QR), Sym(A), Sym(L)]), &[]),
    weights(QUERY, "q_b_weight", Product(&[Sym(QR), Sym(Q), Sym(H), Sym(W), Sym(L)]), &[]),
];
static DIRECT_READS: &[TermDef] = &[
    reads(QUERY, "q_input", HIDDEN_IN, &[]),
    weights(QUERY, "q_weight", Product(&[Sym(D), Sym(Q), Sym(H), Sym(W), Sym(L)]), &[]),
];
static READS: &[TermDef] = &[
    reads(LATENT, "kv_a_input", HIDDEN_IN, &[]),
    weights(LATENT, "kv_a_weight", Product(&[Sym(D), C_R, Sym(W), Sym(L)]), &[]),
    reads(EXPAND, "kv_b_input", Product(&[Sym(T), Sym(C), Sym(A), Sym(L)]), &[]),
    weights(EXPAND, "kv_b_weight", Product(&[Sym(C), Sym(Q), N_V, Sym(W), Sym(L)]), &[]),
    reads_kv(CORE, "attn_input", INPUT, &[T]),
    reads(OUT, "out_input", Product(&[Sym(T), Sym(Q), Sym(V), Sym(A), Sym(L)]), &[]),
    weights(OUT, "out_weight", Product(&[Sym(Q), Sym(V), Sym(D), Sym(W), Sym(L)]), &[]),
];
static COMPRESSED_WRITES: &[TermDef] = &[
    writes(QUERY, "q_a_output", Product(&[Sym(T), Sym(QR), Sym(A), Sym(L)]), &[]),
    writes(QUERY, "q_b_output", QUERY_OUT, &[]),
];
static DIRECT_WRITES: &[TermDef] = &[writes(QUERY, "q_output", QUERY_OUT, &[])];
static WRITES: &[TermDef] = &[
    writes(LATENT, "kv_a_output", Product(&[Sym(T), C_R, Sym(A), Sym(L)]), &[]),
    writes(EXPAND, "kv_b_output", Product(&[Sym(T), Sym(Q), N_V, Sym(A), Sym(L)]), &[]),
    writes_kv(CORE, "kv_cache", Product(&[Sym(T), C_R, Sym(K), Sym(L)]), &[]),
    writes(OUT, "out_output", HIDDEN_IN, &[]),
];

impl MlaAttention {
    pub(super) fn new(model: &ModelSpec, common: Common, cache: u64) -> Result<Self, String> {
        let Some(mla) = &model.mla else {
            return Err("the model has no latent attention (MLA)".to_owned());
        };
        Ok(Self {
            common,
            heads: model.heads.positive("num_attention_heads")?,
            cache,
            kv_rank: mla.kv_lora_rank.positive("kv_lora_rank")?,
            nope: mla.qk_nope_head_dim.positive("qk_nope_head_dim")?,
            rope: mla.qk_rope_head_dim.positive("qk_rope_head_dim")?,
            value: mla.v_head_dim.positive("v_head_dim")?,
            query_rank: match &mla.q_lora_rank {
                Some(rank) => Some(rank.value.clone().map_err(|reason| format!("q_lora_rank {reason}"))?),
                None => None,
            },
        })
    }

    pub(super) fn fields(&self) -> Vec<(&'static str, Field)> {
        let mut fields = self.common.fields();
        fields.extend([
            ("tp_size", Field::Int(self.common.tp)),
            ("num_attention_heads", Field::Int(self.heads)),
            ("kv_lora_rank", Field::Int(self.kv_rank)),
            ("qk_nope_head_dim", Field::Int(self.nope)),
            ("qk_rope_head_dim", Field::Int(self.rope)),
            ("v_head_dim", Field::Int(self.value)),
            ("q_lora_rank", self.query_rank.map_or(Field::Null, Field::Int)),
            ("cache_byte_size", Field::Int(self.cache)),
        ]);
        fields
    }

    pub(super) fn estimate(&self, mut values: Values, scope: Scope) -> Result<Part, EstimateError> {
        let (tp, pp) = match scope {
            Scope::PerGpu => (self.common.tp, self.common.pp),
            Scope::Global => (1, 1),
        };
        self.common.put(&mut values);
        values.set(L, self.common.layers / pp);
        values.set(Q, (self.heads / tp).max(1));
        values.set(K, self.cache);
        values.set(C, self.kv_rank);
        values.set(R, self.rope);
        values.set(N, self.nope);
        values.set(V, self.value);
        values.set(H, u128::from(self.nope) + u128::from(self.rope));
        values.set(QR, self.query_rank.unwrap_or(0));
        let terms: &[&'static [TermDef]] = if self.query_rank.is_some() {
            &[COMPRESSED_FLOPS, FLOPS, COMPRESSED_READS, READS, COMPRESSED_WRITES, WRITES]
        } else {
            &[DIRECT_FLOPS, FLOPS, DIRECT_READS, READS, DIRECT_WRITES, WRITES]
        };
        Part::evaluate(Component::MlaAttention, terms, values)
    }
}

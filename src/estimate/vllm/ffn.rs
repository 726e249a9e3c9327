//! Feed-forward layers: dense, routed experts, shared experts.
//!
//! Simplifications of the reference: three matrices always; the tokens of one data-parallel rank spread over all ranks
//! of the FFN; as many experts touched as there are token-expert pairs, at most all.

use super::terms::{Product, Sym, THREE, TWO, flops, reads, weights, writes};
use super::{Common, Field};
use crate::estimate::formula::{Expr, Number, Values};
use crate::estimate::symbol::Symbol::{
    ActivationBytes as B, ActiveExperts as A, DenseLayers as LD, DenseWidth as DI, ExpertWidth as MI, Hidden as D,
    MoeLayers as LM, RoutedTokens, SharedExperts as S, Tokens as T, WeightBytes as W,
};
use crate::estimate::{Component, EstimateError, Part, Scope, Symbol, TermDef};
use crate::model::ModelSpec;
use crate::settings::Settings;

/// Fields of the component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ffn {
    /// What components share.
    pub common: Common,
    /// Ranks that slice every matrix.
    pub ffn_tp: u64,
    /// Ranks that experts are spread over.
    pub ffn_ep: u64,
    /// Width of a dense FFN.
    pub intermediate: u64,
    /// Routed experts.
    pub experts: u64,
    /// Experts a token is routed to.
    pub experts_per_token: u64,
    /// Width of an expert.
    pub moe_intermediate: u64,
    /// Shared experts.
    pub shared_experts: u64,
    /// Layers with experts.
    pub moe_layers: u64,
}

const DENSE: &str = "dense FFN";
const ROUTED: &str = "routed experts";
const SHARED: &str = "shared experts";
const N: Expr = Sym(RoutedTokens);
/// A routed part needs layers with experts, and experts per token: without them there are no pairs to count.
const HAS_DENSE: &[Symbol] = &[LD];
const HAS_SHARED: &[Symbol] = &[LM, S];
const HAS_ROUTED: &[Symbol] = &[LM];

static TERMS: &[TermDef] = &[
    flops(DENSE, "dense_ffn", Product(&[TWO, Sym(D), THREE, Sym(DI), Sym(T), Sym(LD)]), HAS_DENSE),
    flops(ROUTED, "routed_ffn", Product(&[TWO, Sym(D), THREE, Sym(MI), N, Sym(LM)]), HAS_ROUTED),
    flops(SHARED, "shared_ffn", Product(&[TWO, Sym(D), THREE, Sym(MI), Sym(S), Sym(T), Sym(LM)]), HAS_SHARED),
    reads(DENSE, "dense_up_gate_input", Product(&[Sym(T), Sym(D), Sym(B), Sym(LD)]), HAS_DENSE),
    weights(DENSE, "dense_up_gate_weights", Product(&[TWO, Sym(D), Sym(DI), Sym(W), Sym(LD)]), HAS_DENSE),
    reads(DENSE, "dense_silu_input", Product(&[TWO, Sym(T), Sym(DI), Sym(B), Sym(LD)]), HAS_DENSE),
    reads(DENSE, "dense_down_input", Product(&[Sym(T), Sym(DI), Sym(B), Sym(LD)]), HAS_DENSE),
    weights(DENSE, "dense_down_weights", Product(&[Sym(D), Sym(DI), Sym(W), Sym(LD)]), HAS_DENSE),
    reads(ROUTED, "routed_up_gate_input", Product(&[N, Sym(D), Sym(B), Sym(LM)]), HAS_ROUTED),
    weights(ROUTED, "routed_up_gate_weights", Product(&[TWO, Sym(D), Sym(MI), Sym(A), Sym(W), Sym(LM)]), HAS_ROUTED),
    reads(ROUTED, "routed_silu_input", Product(&[TWO, N, Sym(MI), Sym(B), Sym(LM)]), HAS_ROUTED),
    reads(ROUTED, "routed_down_input", Product(&[N, Sym(MI), Sym(B), Sym(LM)]), HAS_ROUTED),
    weights(ROUTED, "routed_down_weights", Product(&[Sym(D), Sym(MI), Sym(A), Sym(W), Sym(LM)]), HAS_ROUTED),
    reads(SHARED, "shared_up_gate_input", Product(&[Sym(T), Sym(D), Sym(B), Sym(LM)]), HAS_SHARED),
    weights(SHARED, "shared_up_gate_weights", Product(&[TWO, Sym(D), Sym(MI), Sym(S), Sym(W), Sym(LM)]), HAS_SHARED),
    reads(SHARED, "shared_silu_input", Product(&[TWO, Sym(T), Sym(MI), Sym(S), Sym(B), Sym(LM)]), HAS_SHARED),
    // The reference does not multiply by the number of shared experts here.
    reads(SHARED, "shared_down_input", Product(&[Sym(T), Sym(MI), Sym(B), Sym(LM)]), HAS_SHARED),
    weights(SHARED, "shared_down_weights", Product(&[Sym(D), Sym(MI), Sym(S), Sym(W), Sym(LM)]), HAS_SHARED),
    writes(DENSE, "dense_up_gate_output", Product(&[TWO, Sym(T), Sym(DI), Sym(B), Sym(LD)]), HAS_DENSE),
    writes(DENSE, "dense_silu_output", Product(&[Sym(T), Sym(DI), Sym(B), Sym(LD)]), HAS_DENSE),
    writes(DENSE, "dense_down_output", Product(&[Sym(T), Sym(D), Sym(B), Sym(LD)]), HAS_DENSE),
    writes(ROUTED, "routed_up_gate_output", Product(&[TWO, N, Sym(MI), Sym(B), Sym(LM)]), HAS_ROUTED),
    writes(ROUTED, "routed_silu_output", Product(&[N, Sym(MI), Sym(B), Sym(LM)]), HAS_ROUTED),
    writes(ROUTED, "routed_down_output", Product(&[N, Sym(D), Sym(B), Sym(LM)]), HAS_ROUTED),
    writes(SHARED, "shared_up_gate_output", Product(&[TWO, Sym(T), Sym(S), Sym(MI), Sym(B), Sym(LM)]), HAS_SHARED),
    writes(SHARED, "shared_silu_output", Product(&[Sym(T), Sym(S), Sym(MI), Sym(B), Sym(LM)]), HAS_SHARED),
    writes(SHARED, "shared_down_output", Product(&[Sym(T), Sym(S), Sym(D), Sym(B), Sym(LM)]), HAS_SHARED),
];

impl Ffn {
    pub(super) fn new(model: &ModelSpec, settings: &Settings, common: Common) -> Result<Self, String> {
        let read = |reading: &crate::model::Reading, name: &str| {
            reading.value.clone().map_err(|reason| format!("{name} {reason}"))
        };
        let ranks = common.tp.saturating_mul(settings.layout.dp.get().into());
        let ep = settings.layout.ep;
        let ffn = Self {
            common,
            ffn_tp: if ep { 1 } else { ranks },
            ffn_ep: if ep { ranks } else { 1 },
            intermediate: model.intermediate.positive("intermediate_size")?,
            experts: read(&model.experts, "num_experts")?,
            experts_per_token: read(&model.experts_per_token, "num_experts_per_tok")?,
            moe_intermediate: read(&model.moe_intermediate, "moe_intermediate_size")?,
            shared_experts: read(&model.shared_experts, "num_shared_experts")?,
            moe_layers: read(&model.moe_layers, "num_moe_layers")?,
        };
        if ffn.moe_layers > 0 {
            for (value, name) in [
                (ffn.experts, "num_experts"),
                (ffn.experts_per_token, "num_experts_per_tok"),
                (ffn.moe_intermediate, "moe_intermediate_size"),
            ] {
                if value == 0 {
                    return Err(format!("the model has {} layers with experts, but {name} is 0", ffn.moe_layers));
                }
            }
        }
        Ok(ffn)
    }

    pub(super) fn fields(&self) -> Vec<(&'static str, Field)> {
        let mut fields = self.common.fields();
        fields.extend([
            ("ffn_tp_size", Field::Int(self.ffn_tp)),
            ("ffn_ep_size", Field::Int(self.ffn_ep)),
            ("intermediate_size", Field::Int(self.intermediate)),
            ("num_experts", Field::Int(self.experts)),
            ("num_experts_per_tok", Field::Int(self.experts_per_token)),
            ("moe_intermediate_size", Field::Int(self.moe_intermediate)),
            ("num_shared_experts", Field::Int(self.shared_experts)),
            ("num_moe_layers", Field::Int(self.moe_layers)),
        ]);
        fields
    }

    pub(super) fn estimate(&self, mut values: Values, scope: Scope) -> Result<Part, EstimateError> {
        let (tp, ep, pp) = match scope {
            Scope::PerGpu => (self.ffn_tp, self.ffn_ep, self.common.pp),
            Scope::Global => (1, 1, 1),
        };
        self.common.put(&mut values);
        let tokens = match values.get(T) {
            Number::Int(tokens) => tokens,
            Number::Real(_) => 0,
        };
        let pairs = tokens.saturating_mul(self.experts_per_token.into()) / u128::from(ep);
        values.set(LD, self.common.layers.saturating_sub(self.moe_layers) / pp);
        values.set(LM, self.moe_layers / pp);
        values.set(DI, self.intermediate / tp);
        values.set(MI, self.moe_intermediate / tp);
        values.set(S, self.shared_experts);
        values.set(RoutedTokens, pairs);
        values.set(A, pairs.min(u128::from(self.experts / ep)));
        Part::evaluate(Component::Ffn, &[TERMS], values)
    }
}

//! The formulas of the physical model: one for all matrices, and one for each kind of core.

use crate::estimate::formula::Expr;
use crate::estimate::symbol::Symbol::{
    ActivationBytes as A, CacheBytes as CACHE, Copies as E, InputBytes as B, Inputs as I, KeyDim, Layers as L,
    LocalHeads as G, Outputs as O, Pairs as P, Rows as M, Seen as C, Sequences, StateBytes, TokenBytes, TokenFlops,
    Tokens as T, ValueDim as V, WeightBytes as W,
};
use crate::estimate::{Quantity, Symbol, TermDef, Traffic};
use Expr::{Product, Sum, Sym};

const TWO: Expr = Expr::Const(2);

const FLOPS: Expr = Product(&[TWO, Sym(M), Sym(I), Sym(O), Sym(L)]);
const INPUT: Expr = Product(&[Sym(M), Sym(I), Sym(B), Sym(L)]);
const WEIGHT: Expr = Product(&[Sym(E), Sym(I), Sym(O), Sym(L), Sym(W)]);
const OUTPUT: Expr = Product(&[Sym(M), Sym(O), Sym(A), Sym(L)]);

const fn term(
    operation: &'static str,
    name: &'static str,
    quantity: Quantity,
    traffic: Traffic,
    formula: Expr,
    needs: &'static [Symbol],
) -> TermDef {
    TermDef { name, operation, quantity, traffic, formula, needs }
}

/// The terms of a product with a matrix: FLOPs, input, weights, output.
pub(crate) const fn matrix_terms(operation: &'static str, names: [&'static str; 4]) -> [TermDef; 4] {
    let [flops, input, weight, output] = names;
    [
        term(operation, flops, Quantity::Flops, Traffic::None, FLOPS, &[M]),
        term(operation, input, Quantity::Read, Traffic::Activations, INPUT, &[M]),
        term(operation, weight, Quantity::Read, Traffic::Weights, WEIGHT, &[M]),
        term(operation, output, Quantity::Write, Traffic::Activations, OUTPUT, &[M]),
    ]
}

/// The terms of a pass over elements: read and written.
const fn pass(operation: &'static str, input: &'static str, output: &'static str) -> [TermDef; 2] {
    [
        term(operation, input, Quantity::Read, Traffic::Activations, Product(&[Sym(M), Sym(I), Sym(A), Sym(L)]), &[M]),
        term(operation, output, Quantity::Write, Traffic::Activations, OUTPUT, &[M]),
    ]
}

/// Looking up the embedding.
pub(super) static LOOKUP: [TermDef; 2] = pass("lookup", "rows", "output");
/// Norms with the addition to the residual.
pub(super) static NORMS: [TermDef; 2] = pass("norms", "input", "output");
/// Rotary embeddings and norms of queries, keys and latents.
pub(super) static INNER: [TermDef; 2] = pass("rotary and inner norms", "inner_input", "inner_output");
/// The activation of a dense FFN.
pub(super) static DENSE_ACT: [TermDef; 2] = pass("dense FFN", "dense_act_input", "dense_act_output");
/// The activation of experts.
pub(super) static ROUTED_ACT: [TermDef; 2] = pass("routed experts", "routed_act_input", "routed_act_output");
/// The activation of shared experts.
pub(super) static SHARED_ACT: [TermDef; 2] = pass("shared experts", "shared_act_input", "shared_act_output");
/// The weighted sum over a token's experts.
pub(super) static COMBINE: [TermDef; 2] = pass("routed experts", "combine_input", "combine_output");

const CORE: &str = "attention";

/// Attention: queries against keys, weights against values; queries and cache read, output and cache written.
pub(super) static ATTENTION: [TermDef; 6] = [
    term(CORE, "attn_qk", Quantity::Flops, Traffic::None, PAIRS_KEY, &[T]),
    term(CORE, "attn_av", Quantity::Flops, Traffic::None, PAIRS_VALUE, &[T]),
    term(CORE, "attn_query", Quantity::Read, Traffic::Activations, QUERIES, &[T]),
    term(CORE, "attn_input", Quantity::Read, Traffic::KvCache, Product(&[Sym(C), Sym(TokenBytes), Sym(L)]), &[T]),
    term(CORE, "attn_output", Quantity::Write, Traffic::Activations, RESULTS, &[T]),
    term(CORE, "kv_cache", Quantity::Write, Traffic::KvCache, Product(&[Sym(M), Sym(CACHE), Sym(L)]), &[M]),
];

const PAIRS_KEY: Expr = Product(&[TWO, Sym(G), Sym(P), Sym(KeyDim), Sym(L)]);
const PAIRS_VALUE: Expr = Product(&[TWO, Sym(G), Sym(P), Sym(V), Sym(L)]);
const QUERIES: Expr = Product(&[Sym(T), Sym(G), Sym(KeyDim), Sym(A), Sym(L)]);
const RESULTS: Expr = Product(&[Sym(T), Sym(G), Sym(V), Sym(A), Sym(L)]);

/// The indexer's scores, against all keys that a token sees.
pub(super) static SCORES: [TermDef; 4] = [
    term("index scores", "index_scores", Quantity::Flops, Traffic::None, PAIRS_KEY, &[T]),
    term("index scores", "index_query", Quantity::Read, Traffic::Activations, QUERIES, &[T]),
    term(
        "index scores",
        "index_cache",
        Quantity::Read,
        Traffic::KvCache,
        Product(&[Sym(C), Sym(TokenBytes), Sym(L)]),
        &[T],
    ),
    term(
        "index scores",
        "index_written",
        Quantity::Write,
        Traffic::KvCache,
        Product(&[Sym(M), Sym(CACHE), Sym(L)]),
        &[M],
    ),
];

/// The convolution before a state: all tokens, and each sequence's last ones.
pub(super) static CONVOLUTION: [TermDef; 5] = state_terms(
    "convolution",
    ["convolution", "convolution_input", "convolution_state_read", "convolution_output", "convolution_state_written"],
);
/// The update of a state: all tokens, each sequence's state read and written once.
pub(super) static UPDATE: [TermDef; 5] =
    state_terms("state update", ["state_update", "state_input", "state_read", "state_output", "state_written"]);

const STATES: Expr = Product(&[Sym(Sequences), Sym(StateBytes), Sym(L)]);

const fn state_terms(operation: &'static str, names: [&'static str; 5]) -> [TermDef; 5] {
    let [flops, input, read, output, written] = names;
    [
        term(operation, flops, Quantity::Flops, Traffic::None, Product(&[Sym(TokenFlops), Sym(L)]), &[T]),
        term(operation, input, Quantity::Read, Traffic::Activations, Product(&[Sym(T), Sym(I), Sym(A), Sym(L)]), &[T]),
        term(operation, read, Quantity::Read, Traffic::KvCache, STATES, &[T]),
        term(
            operation,
            output,
            Quantity::Write,
            Traffic::Activations,
            Product(&[Sym(T), Sym(O), Sym(A), Sym(L)]),
            &[T],
        ),
        term(operation, written, Quantity::Write, Traffic::KvCache, STATES, &[T]),
    ]
}

/// Keys and values that a prefill of latent attention reads after they were computed again from the latent.
pub(super) static EXPANDED: [TermDef; 1] = [term(
    CORE,
    "attn_expanded",
    Quantity::Read,
    Traffic::Activations,
    Product(&[Sym(C), Sym(G), Sum(&[Sym(KeyDim), Sym(V)]), Sym(A), Sym(L)]),
    &[T],
)];

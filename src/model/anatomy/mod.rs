//! What a model is made of, layer by layer: matrices, attention cores, states, norms.
//!
//! A [`Kind`] is a layer with everything in it; equal layers share one, so that costs grow with kinds, not with layers.
//! A kind is data: the [`Matrix`] list says what is multiplied (parameters, FLOPs and weight bytes follow from it) and
//! the [`Core`] list what happens between the projections (pairs of query and key, state updates). A new kind of layer
//! is a function that returns such lists; no estimator learns its name.
//!
//! Sources: the model classes of transformers 5.20 and vLLM 0.33.0. What a config has and this description lacks is a
//! note that says which way numbers err.

mod attention;
mod builder;
mod core;
mod count;
mod facts;
mod ffn;
mod latent;
mod matrix;
mod pattern;
mod recurrent;
mod rotary;
mod whole;

pub use self::core::{Compressed, Core, Heads, Indexer, Latent, Span, State, Update};
pub use count::{Categories, Category, Parameters};
pub use matrix::{Dim, Matrix, Op, Rows};
pub(super) use whole::anatomy;

use super::spec::Note;

/// The most layers that are described one by one. Known models stay below 200.
pub const MOST_LAYERS: u64 = 4096;

/// The largest size of a layer that is described: sizes of known models stay far below, and products of three such
/// sizes fit 64 bits.
pub const LARGEST: u64 = 1 << 20;

/// A model, layer by layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Anatomy {
    /// Hidden size.
    pub hidden: u64,
    /// Streams of the residual: 1, more with hyper-connections.
    pub streams: u64,
    /// The distinct kinds of layers.
    pub kinds: Vec<Kind>,
    /// The layers in order: runs of a kind, as its place in `kinds` and how many of it follow each other.
    pub runs: Vec<(usize, u64)>,
    /// Input embedding, of tokens and of learned positions, and what else is looked up.
    pub embedding: u64,
    /// The LM head.
    pub head: Option<Matrix>,
    /// Whether the head is the embedding's matrix.
    pub tied: bool,
    /// Parameters of norms and whatever else stands outside of layers.
    pub outside: u64,
    /// Layers that predict further tokens, if the config has some: of this kind, as many, with the matrix that joins
    /// token and state. They run with speculative decoding only.
    pub mtp: Option<Mtp>,
    /// The format that the checkpoint asks to keep the KV cache in, if it does.
    pub kv_format: Option<&'static str>,
    /// What this description leaves out or assumes.
    pub notes: Vec<Note>,
}

/// Multi-token prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Mtp {
    /// How many such layers.
    pub layers: u64,
    /// What each is.
    pub kind: Kind,
    /// Copies of embedding and head that the checkpoint stores beside each, in parameters; they are shared when it runs.
    pub stored_copies: u64,
}

/// A layer with everything in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kind {
    /// How it mixes tokens: `full`, `window 4096`, `MLA`, ...; for people.
    pub mixer: &'static str,
    /// What it multiplies.
    pub matrices: Vec<Matrix>,
    /// What happens between the projections.
    pub cores: Vec<Core>,
    /// Experts, where it has some.
    pub experts: Option<Experts>,
    /// What norms and additions to the residual move.
    pub norms: Pass,
    /// What rotary embeddings and norms of queries, keys and latents go over, in one pass.
    pub inner: Vec<Inner>,
    /// Parameters of norms.
    pub norm_params: u64,
    /// All-reduces under tensor parallelism.
    pub reduces: u64,
}

/// How often a token's hidden state is read and written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Times that it is read.
    pub reads: u64,
    /// Times that it is written.
    pub writes: u64,
}

/// Elements that are rotated or normed between a projection and attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inner {
    /// How many, and how they are cut.
    pub elements: Dim,
    /// Whether they are written again; keys and latents go into the cache, which counts on its own.
    pub written: bool,
}

/// Routed experts of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experts {
    /// How many experts have weights.
    pub count: u64,
    /// Experts that only pass their input on; routed to, but free.
    pub idle: u64,
    /// Experts that each token is routed to, idle ones included.
    pub per_token: u64,
    /// Elements of what is sent to an expert: the hidden size, or the latent's.
    pub width: u64,
}

impl Anatomy {
    /// Number of layers.
    #[must_use]
    pub fn layers(&self) -> u64 {
        self.runs.iter().map(|run| run.1).sum()
    }

    /// How many layers of each kind there are from layer `from` on, up to layer `to`, in the order of `kinds`.
    #[must_use]
    pub fn counts(&self, from: u64, to: u64) -> Vec<u64> {
        let mut counts = vec![0; self.kinds.len()];
        let mut at = 0;
        for (kind, length) in &self.runs {
            let inside = to.min(at + length).saturating_sub(from.max(at));
            if let Some(count) = counts.get_mut(*kind) {
                *count += inside;
            }
            at += length;
        }
        counts
    }

    /// The kinds with the number of layers of each.
    pub fn counted(&self) -> impl Iterator<Item = (&Kind, u64)> {
        self.kinds.iter().zip(self.counts(0, u64::MAX))
    }
}

impl Experts {
    /// Of the other parts that experts are spread over evenly, how many a token is sent to where routing is uniform.
    #[must_use]
    pub fn elsewhere(&self, parts: u64) -> f64 {
        let share = self.count as f64 / (self.count.saturating_add(self.idle).max(1) as f64 * parts.max(1) as f64);
        parts.saturating_sub(1) as f64 * (1.0 - (1.0 - share).powf(self.per_token as f64))
    }
}

impl Kind {
    /// Whether its feed-forward layer has experts.
    #[must_use]
    pub fn is_moe(&self) -> bool {
        self.experts.is_some()
    }
}

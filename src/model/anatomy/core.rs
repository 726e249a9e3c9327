//! What happens between projections: attention over a cache, or the update of a state.

use super::Dim;

/// What happens between projections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// Attention over keys and values of heads.
    Heads(Heads),
    /// Latent attention.
    Latent(Latent),
    /// Attention over compressed keys, with a window of fresh ones.
    Compressed(Compressed),
    /// A state of constant size.
    State(State),
}

/// What a token sees of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// All of them.
    Full,
    /// The last so many, itself included.
    Window(u64),
    /// Those of its own chunk of so many.
    Chunk(u64),
    /// A fixed number: the other sequence of cross-attention.
    Fixed(u64),
}

/// Attention of heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    /// Query heads.
    pub heads: u64,
    /// KV heads.
    pub kv_heads: u64,
    /// Elements of a key.
    pub key: u64,
    /// Elements of a value.
    pub value: u64,
    /// What a token sees.
    pub span: Span,
    /// Whether it has a cache of its own; else it reads an earlier layer's.
    pub stores: bool,
}

/// Latent attention (MLA), sparse where it has an indexer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latent {
    /// Heads.
    pub heads: u64,
    /// Elements of the latent.
    pub rank: u64,
    /// Rotary elements of a key, shared by the heads.
    pub rope: u64,
    /// Other elements of a key.
    pub nope: u64,
    /// Elements of a value.
    pub value: u64,
    /// What picks the tokens that it attends to.
    pub indexer: Option<Indexer>,
}

/// What picks the tokens that sparse attention attends to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indexer {
    /// Heads.
    pub heads: u64,
    /// Elements of a head.
    pub dim: u64,
    /// Tokens that it picks.
    pub top: u64,
    /// Whether the layer has one of its own; else it takes what an earlier layer picked.
    pub own: bool,
}

/// Attention over compressed keys (DeepSeek-V4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// Heads.
    pub heads: u64,
    /// Elements of a key, which is the value too.
    pub dim: u64,
    /// Rotary elements among them.
    pub rope: u64,
    /// Tokens that are compressed into one; 0 is none.
    pub ratio: u64,
    /// Fresh tokens that are seen as they are.
    pub window: u64,
    /// What picks among compressed tokens; all are seen without.
    pub indexer: Option<Indexer>,
}

/// The algorithm of a state's update, for what it costs to run a prompt in chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Gated delta rule: key and value elements of a head.
    Delta(u64, u64),
    /// Gated delta rule with a decay per channel: elements of a head.
    DeltaChannels(u64),
    /// Linear attention with a fixed decay: elements of a head.
    Decay(u64),
    /// Mamba: state elements of a channel.
    Scan(u64),
    /// Mamba-2: elements of a head, of its state, heads a group, tokens of a chunk.
    Dual(u64, u64, u64, u64),
    /// A short convolution only.
    None,
}

/// A state of constant size for every sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Name of the kind, for people.
    pub name: &'static str,
    /// Heads, or channels: what tensor parallelism cuts.
    pub heads: u64,
    /// Channels of the convolution before it, and how many of them a head has.
    pub channels: Dim,
    /// Taps of the convolution.
    pub taps: u64,
    /// State elements of a head.
    pub elements: u64,
    /// Bytes of a state element; 0 is the model's dtype.
    pub bytes: u64,
    /// Its algorithm.
    pub update: Update,
}

impl State {
    /// FLOPs of a token and head: in a decode, and in a prompt that runs in chunks.
    #[must_use]
    pub fn flops(&self) -> (u64, u64) {
        /// Tokens of a chunk in the kernels of delta rules.
        const CHUNK: u64 = 64;
        /// Tokens of a block in the kernels of linear attention.
        const BLOCK: u64 = 256;
        match self.update {
            // Decay, S k, rank-1 update, S q: 1 + 2 + 2 + 2 per element.
            Update::Delta(k, v) => (7 * k * v, 6 * k * v + CHUNK * (6 * k + 4 * v) + 2 * CHUNK * CHUNK / 3),
            Update::DeltaChannels(d) => (8 * d * d, 6 * d * d + CHUNK * 10 * d + 2 * CHUNK * CHUNK / 3),
            // A token meets half of its block on average.
            Update::Decay(d) => (5 * d * d, 4 * d * d + 2 * d * BLOCK),
            Update::Scan(n) => (9 * n, 9 * n),
            Update::Dual(p, n, sharing, chunk) => {
                (6 * p * n, 2 * chunk * n / sharing.max(1) + 2 * chunk * p + 4 * p * n)
            }
            Update::None => (0, 0),
        }
    }
}

impl Core {
    /// Elements that it caches for a token on a rank, one of `ways`: of keys and values, or of the latent.
    #[must_use]
    pub fn cached(&self, ways: u64) -> u64 {
        match self {
            Self::Heads(heads) if heads.stores => Dim::cut(heads.kv_heads, heads.key + heads.value).local(ways),
            Self::Latent(latent) => latent.rank + latent.rope,
            _ => 0,
        }
    }
}

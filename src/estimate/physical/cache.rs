//! Bytes that the KV cache takes: of a token in a layer, and of a sequence's state.
//!
//! Formats as vLLM 0.33.0 lays them out: FP8 with one scale for all; integers and FP8 with a 32-bit scale per token and
//! head; FP4 with an FP8 scale for 16 elements; `fp8_ds_mla` with 512 FP8 elements, four 32-bit scales and the rotary part
//! in 16 bit; the indexer's keys in FP8 with a 32-bit scale.

use crate::model::anatomy::{Core, Dim, Heads, Span, State};
use crate::model::{Dtype, ModelSpec};
use crate::settings::Settings;

/// Bytes of an indexer's key of so many elements: FP8 with a 32-bit scale for 128.
#[must_use]
pub fn index_row(dim: u64) -> u64 {
    dim + 4 * dim.div_ceil(128)
}

/// Bytes of a row of compressed attention: FP8, the rotary part in 16 bit, a byte of scale for 64 elements, and one of
/// padding.
#[must_use]
pub fn compressed_row(dim: u64, rope: u64) -> u64 {
    let plain = dim.saturating_sub(rope);
    plain + 2 * rope + (plain / 64 + 1)
}

/// The format of the KV cache: what is set, else what the checkpoint asks for, else the model's dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheFormat {
    /// Its name, as `--kv-cache-dtype` has it; `auto` is the model's dtype.
    pub name: &'static str,
    /// The model's dtype.
    pub dtype: Dtype,
}

impl CacheFormat {
    /// The format that counts.
    #[must_use]
    pub fn of(model: &ModelSpec, settings: &Settings) -> Self {
        let asked = model.anatomy.as_ref().ok().and_then(|anatomy| anatomy.kv_format);
        let name = match settings.kv_cache.name() {
            "auto" => asked.unwrap_or("auto"),
            name => name,
        };
        Self { name, dtype: settings.dtype(model) }
    }

    /// Bytes of one head's key or value of so many elements.
    #[must_use]
    pub fn side(self, elements: u64) -> u64 {
        match self.name {
            "auto" => elements * self.dtype.bytes(),
            "bfloat16" | "float16" => 2 * elements,
            "float32" => 4 * elements,
            "int8_per_token_head" | "fp8_per_token_head" => elements + 4,
            "int4_per_token_head" => elements.div_ceil(2) + 4,
            "nvfp4" => elements.div_ceil(2) + elements.div_ceil(16),
            "mxfp4" => elements.div_ceil(2) + elements.div_ceil(32),
            _ => elements,
        }
    }

    /// Bytes of a token's latent; sparse attention has an FP8 layout of its own.
    #[must_use]
    pub fn latent(self, rank: u64, rope: u64, sparse: bool) -> u64 {
        match self.name {
            "fp8_ds_mla" => rank + 4 * rank.div_ceil(128) + 2 * rope,
            "fp8" | "fp8_e4m3" if sparse => rank + 4 * rank.div_ceil(128) + 2 * rope,
            "nvfp4" => rank.div_ceil(2) + rank.div_ceil(16) + rope,
            "auto" => (rank + rope) * self.dtype.bytes(),
            "bfloat16" | "float16" => 2 * (rank + rope),
            "float32" => 4 * (rank + rope),
            _ => rank + rope,
        }
    }

    /// Whether attention over whole keys and values multiplies in FP8: only where queries are quantized alike. A scale for
    /// each token and head is multiplied in first, so that integers and such FP8 run in the width of activations.
    #[must_use]
    pub fn is_fp8(self) -> bool {
        matches!(self.name, "fp8" | "fp8_e4m3" | "fp8_e5m2" | "nvfp4" | "mxfp4")
    }

    /// The same of latents; those of sparse attention are widened first.
    #[must_use]
    pub fn is_fp8_latent(self, sparse: bool) -> bool {
        !sparse && matches!(self.name, "fp8" | "fp8_e4m3" | "fp8_e5m2" | "nvfp4")
    }

    /// What a token takes in a layer's caches on a rank, one of `ways`, as (bytes, for so many tokens): the main cache and
    /// the indexer's. Windows of compressed attention are not among them: they do not grow.
    #[must_use]
    pub fn token(self, core: &Core, ways: u64) -> [(u64, u64); 2] {
        match core {
            Core::Heads(Heads { kv_heads, key, value, stores: true, .. }) => {
                let heads = Dim::cut(*kv_heads, 1).local(ways);
                [(heads * (self.side(*key) + self.side(*value)), 1), (0, 1)]
            }
            Core::Latent(latent) => {
                let own = latent.indexer.filter(|indexer| indexer.own);
                let index = own.map_or(0, |indexer| index_row(indexer.dim));
                [(self.latent(latent.rank, latent.rope, latent.indexer.is_some()), 1), (index, 1)]
            }
            Core::Compressed(core) if core.ratio > 0 => {
                let index = core.indexer.map_or(0, |indexer| index_row(indexer.dim));
                [(compressed_row(core.dim, core.rope), core.ratio), (index, core.ratio)]
            }
            _ => [(0, 1), (0, 1)],
        }
    }

    /// Bytes of a sequence's state in a layer on a rank, one of `ways`: of the convolution's last tokens, and of the state
    /// itself.
    #[must_use]
    pub fn state(self, state: &State, ways: u64) -> [u64; 2] {
        let element = if state.bytes == 0 { self.dtype.bytes() } else { state.bytes };
        let taps = state.taps.saturating_sub(1);
        let convolution = taps.saturating_mul(state.channels.local(ways)).saturating_mul(self.dtype.bytes());
        let elements = Dim::cut(state.heads, state.elements).local(ways);
        [convolution, elements.saturating_mul(element)]
    }
}

/// The most tokens that a layer keeps for a sequence; `None` is all of them.
#[must_use]
pub fn kept(core: &Core) -> Option<u64> {
    match core {
        Core::Heads(Heads { span: Span::Window(width) | Span::Chunk(width), .. }) => Some(*width),
        _ => None,
    }
}

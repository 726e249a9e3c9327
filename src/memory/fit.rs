//! What fits: tokens of KV cache, sequences of a length, the largest batch.

use super::{Pool, Weights, weights};
use crate::batch::Batch;
use crate::estimate::Scope;
use crate::estimate::physical::{Physical, load::Load};
use crate::hardware::Accelerator;
use crate::model::anatomy::{Op, Span};
use crate::units::Bytes;

/// How memory is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The part of the usable memory that the server takes.
    pub utilization: f64,
    /// Set aside for activations and graphs; `None` estimates it from `tokens`.
    pub reserve: Option<Bytes>,
    /// The most tokens of a step, for which activations are set aside.
    pub tokens: u64,
    /// Tokens of a block.
    pub block: u64,
    /// Whether prefixes are cached: states then take two pages.
    pub prefix_caching: bool,
    /// Whether prediction layers are loaded.
    pub speculative: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self { utilization: 0.9, reserve: None, tokens: 8192, block: 16, prefix_caching: true, speculative: false }
    }
}

impl Plan {
    /// The plan of a server that runs such a batch, with prediction layers if it drafts with them.
    #[must_use]
    pub fn holding(&self, batch: &Batch, drafts: bool) -> Self {
        let tokens = Load::of(batch, Span::Full, |_| true).tokens;
        let tokens = u64::try_from(tokens).unwrap_or(u64::MAX).max(self.tokens);
        Self { tokens, speculative: self.speculative || drafts, ..*self }
    }

    /// What is loaded of a GPU's weights.
    #[must_use]
    pub fn weights(&self, of: &Weights) -> Bytes {
        Bytes(of.total().0.saturating_add(if self.speculative { of.mtp.0 } else { 0 }))
    }
}

/// What a GPU of a stage holds.
#[derive(Clone, Debug, PartialEq)]
pub struct StageFit {
    /// The stage, from 0.
    pub stage: u64,
    /// Its weights.
    pub weights: Weights,
    /// Bytes of them that are loaded: those of prediction layers only where they draft.
    pub loaded: Bytes,
    /// Its KV cache.
    pub pool: Pool,
    /// What is set aside for activations and graphs.
    pub reserve: Bytes,
    /// What is left for the KV cache; `None` where the weights alone are too large.
    pub left: Option<Bytes>,
}

/// What fits on the GPUs of a layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Memory that a program is given.
    pub usable: Bytes,
    /// Memory that the server takes of it.
    pub taken: Bytes,
    /// The stages that differ.
    pub stages: Vec<StageFit>,
}

impl Fit {
    /// What fits on an accelerator.
    #[must_use]
    pub fn of(physical: &Physical, accelerator: &Accelerator, plan: &Plan) -> Self {
        let usable = accelerator.memory();
        let part = plan.utilization.clamp(0.0, 1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fraction of an amount")]
        let taken = Bytes((usable.as_f64() * part) as u128);
        let stage = |stage| {
            let held = weights(physical, Scope::PerGpu, stage);
            let reserve = plan.reserve.unwrap_or_else(|| activations(physical, plan.tokens));
            let loaded = plan.weights(&held);
            let all = loaded.0.saturating_add(reserve.0);
            StageFit {
                stage,
                weights: held,
                loaded,
                pool: Pool::of(physical, stage, plan),
                reserve,
                left: taken.0.checked_sub(all).map(Bytes),
            }
        };
        Self { usable, taken, stages: physical.each_stage().map(stage).collect() }
    }

    /// Whether the weights and at least one block fit on every GPU.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.stages.iter().all(|stage| stage.left.is_some_and(|left| left.0 >= stage.pool.reserved(1).0))
    }

    /// The largest weights of a GPU.
    #[must_use]
    pub fn weights(&self) -> Bytes {
        self.stages.iter().map(|stage| stage.loaded).max().unwrap_or_default()
    }

    /// Bytes that a token reserves on the GPU with the most, as (bytes, for so many tokens).
    #[must_use]
    pub fn token(&self) -> (u128, u128) {
        let each = self.stages.iter().map(|stage| stage.pool.token());
        each.reduce(|most, one| if one.0 * most.1 > most.0 * one.1 { one } else { most }).unwrap_or((0, 1))
    }

    /// Tokens of KV cache that fit, in whole blocks, before any window is full; `None` where no token takes memory.
    #[must_use]
    pub fn tokens(&self) -> Option<u128> {
        let of = |stage: &StageFit| {
            let (bytes, every) = stage.pool.token();
            let left = stage.left.unwrap_or_default().0;
            let block = stage.pool.buckets.iter().map(|bucket| u128::from(bucket.block)).min().unwrap_or(1).max(1);
            Some(left.saturating_mul(every).checked_div(bytes)? / block * block)
        };
        self.stages.iter().filter_map(of).min()
    }

    /// Sequences of a length that fit at the same time; `None` where they take no memory.
    #[must_use]
    pub fn sequences(&self, length: u64) -> Option<u128> {
        let of = |stage: &StageFit| stage.left.unwrap_or_default().0.checked_div(stage.pool.reserved(length).0);
        self.stages.iter().filter_map(of).min()
    }
}

/// What is set aside for activations of so many tokens and for graphs: the widest intermediate twice, three copies of the
/// hidden state, logits in 32 bit, and a gibibyte.
fn activations(physical: &Physical, tokens: u64) -> Bytes {
    const GRAPHS: u128 = 1 << 30;
    let anatomy = physical.anatomy();
    let cut = physical.cut(Scope::PerGpu);
    let matrices = anatomy.kinds.iter().flat_map(|kind| &kind.matrices).filter(|matrix| matrix.op != Op::CrossKv);
    let widest = matrices.map(|matrix| matrix.out(cut.tp)).max().unwrap_or(0);
    let hidden = anatomy.hidden.saturating_mul(anatomy.streams);
    let row = 2 * u128::from(widest) + 3 * u128::from(hidden);
    let bytes = u128::from(tokens).saturating_mul(row).saturating_mul(physical.dtype.bytes().into());
    Bytes(bytes.saturating_add(GRAPHS))
}

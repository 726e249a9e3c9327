//! The KV cache as vLLM reserves it: pages of equal size, groups of layers, one pool of blocks.
//!
//! Layers of one kind of cache form buckets; pages of different sizes are made equal (smaller ones hold more tokens, or
//! are padded); buckets are split into groups of as many layers as the smallest has; a block is a page for each layer of a
//! group. A sequence takes blocks of every group. Source: the planning of KV caches in vLLM 0.33.0.

use super::Plan;
use crate::estimate::Scope;
use crate::estimate::physical::{Physical, cache, stages};
use crate::model::anatomy::Core;
use crate::units::Bytes;

/// Layers with equal caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// How many layers.
    pub layers: u64,
    /// Bytes that are reserved for a token in one of them, as (bytes, for so many tokens); 0 for states.
    pub token: (u64, u64),
    /// Bytes that a token really takes, alike.
    pub row: (u64, u64),
    /// Bytes of a sequence in one of them, whatever its length.
    pub state: u64,
    /// The most tokens that are kept, if that is bounded.
    pub kept: Option<u64>,
    /// Tokens of a block.
    pub block: u64,
}

/// The KV cache of a rank of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// The kinds of caches.
    pub buckets: Vec<Bucket>,
    /// Layers of a group.
    pub group: u64,
    /// Bytes of a layer's page.
    pub page: u64,
    /// Pages of a sequence's state.
    pub state_pages: u64,
}

/// Tokens of a block of compressed attention, and what its pages are rounded up to.
const PACKED: (u64, u64) = (256, 576);

/// What is reserved for rows: compressed ones lie in pages of their own for a block.
fn packed(row: (u64, u64)) -> (u64, u64) {
    let (block, align) = PACKED;
    if row.1 > 1 { ((row.0 * (block / row.1)).next_multiple_of(align), block) } else { row }
}

impl Pool {
    /// The cache of a rank of a stage, with the plan's tokens to a block at least. Prefix caching keeps two pages of a
    /// state; prediction layers that draft have a cache on the last stage.
    #[must_use]
    pub fn of(physical: &Physical, stage: u64, plan: &Plan) -> Self {
        let anatomy = physical.anatomy();
        let (from, to) = stages::layers(anatomy.layers(), physical.stages(), stage);
        let tp = physical.cut(Scope::PerGpu).tp;
        let block = plan.block.max(1);
        let mut pool = Self { state_pages: 1 + u64::from(plan.prefix_caching), ..Self::default() };
        let drafting = anatomy.mtp.iter().filter(|_| plan.speculative && stage + 1 == physical.stages());
        let drafting = drafting.map(|mtp| (&mtp.kind, mtp.layers));
        for (kind, layers) in anatomy.kinds.iter().zip(anatomy.counts(from, to)).chain(drafting) {
            for core in kind.cores.iter().filter(|_| layers > 0) {
                let main_and_index = physical.cache.token(core, tp);
                let ignored = physical.settings.disable_sliding_window && matches!(core, Core::Heads(_));
                let kept = cache::kept(core).filter(|_| !ignored);
                let state = match core {
                    Core::State(state) => physical.cache.state(state, tp).into_iter().fold(0, u64::saturating_add),
                    // A window of fresh rows beside what is compressed.
                    Core::Compressed(core) => core.window * cache::compressed_row(core.dim, core.rope),
                    _ => 0,
                };
                for (place, row) in main_and_index.into_iter().enumerate() {
                    let state = if place == 0 { state } else { 0 };
                    pool.add(Bucket { layers, token: packed(row), row, state, kept, block });
                }
            }
        }
        pool.plan(block);
        pool
    }

    fn add(&mut self, bucket: Bucket) {
        if bucket.token.0 == 0 && bucket.state == 0 {
            return;
        }
        let same =
            |known: &&mut Bucket| (known.token, known.state, known.kept) == (bucket.token, bucket.state, bucket.kept);
        match self.buckets.iter_mut().find(same) {
            Some(known) => known.layers += bucket.layers,
            None => self.buckets.push(bucket),
        }
    }

    /// Sets pages, blocks and groups.
    fn plan(&mut self, block: u64) {
        let uniform = self.is_uniform();
        let states = self.buckets.iter().filter(|bucket| bucket.token.0 == 0).map(|bucket| bucket.state).max();
        let widest = self.buckets.iter().map(|bucket| bucket.token.0).max().unwrap_or(0);
        // Beside states a block of tokens is as large as a state.
        let block = match states {
            Some(state) if widest > 0 => state.div_ceil(widest).next_multiple_of(16).max(block),
            _ => block,
        };
        let page = block.saturating_mul(widest).max(states.unwrap_or(0));
        for bucket in &mut self.buckets {
            // A smaller page holds more tokens, where they divide.
            let own = bucket.token.0.saturating_mul(block);
            let fits = !uniform && own > 0 && page.is_multiple_of(own);
            bucket.block = if fits { block * (page / own) } else { block };
        }
        self.page = page;
        let sizes = self.buckets.iter().map(|bucket| bucket.layers);
        let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
        self.group = if 2 * most < 3 * least { most } else { least };
    }

    /// Whether all layers grow alike: then a block is the sum of their pages, whatever they are.
    fn is_uniform(&self) -> bool {
        self.buckets.iter().all(|bucket| bucket.state == 0 && bucket.kept.is_none())
            || self.is_packed()
            || self.buckets.len() == 1
    }

    /// Whether blocks hold the pages of all layers, each as large as it is (compressed attention).
    fn is_packed(&self) -> bool {
        self.buckets.iter().any(|bucket| bucket.token.1 > 1)
    }

    fn groups(&self, bucket: &Bucket) -> u64 {
        bucket.layers.checked_div(self.group).map_or(0, |_| bucket.layers.div_ceil(self.group.max(1)))
    }

    /// Bytes that are reserved for a token of a sequence that is shorter than every window, exact as (bytes, for so many
    /// tokens).
    #[must_use]
    pub fn token(&self) -> (u128, u128) {
        if self.is_uniform() {
            let every = self.buckets.iter().map(|bucket| bucket.token.1).max().unwrap_or(1);
            let of = |bucket: &Bucket| {
                u128::from(bucket.layers) * u128::from(bucket.token.0) * u128::from(every / bucket.token.1.max(1))
            };
            return (self.buckets.iter().map(of).sum(), every.into());
        }
        let caching = self.buckets.iter().filter(|bucket| bucket.token.0 > 0);
        let groups: u64 = caching.clone().map(|bucket| self.groups(bucket)).sum();
        let block = caching.map(|bucket| bucket.block).min().unwrap_or(1).max(1);
        let bytes = u128::from(groups) * u128::from(self.group) * u128::from(self.page);
        if bytes.is_multiple_of(block.into()) { (bytes / u128::from(block), 1) } else { (bytes, block.into()) }
    }

    /// Bytes that a sequence of that length really uses.
    #[must_use]
    pub fn used(&self, length: u64) -> Bytes {
        let of = |bucket: &Bucket| {
            let tokens = u128::from(bucket.kept.map_or(length, |kept| kept.min(length)));
            let cached = tokens * u128::from(bucket.row.0) / u128::from(bucket.row.1.max(1));
            u128::from(bucket.layers) * (cached + u128::from(bucket.state))
        };
        Bytes(self.buckets.iter().map(of).sum())
    }

    /// Bytes that are reserved for a sequence of that length while it decodes, in whole blocks.
    #[must_use]
    pub fn reserved(&self, length: u64) -> Bytes {
        /// Blocks of windows and of compressors' states that a decoding sequence holds beside its tokens: two groups of
        /// windows of 128 in blocks of 64, states of 8 tokens in blocks of 4 and of 128 in blocks of 8.
        const BESIDE: u128 = 2 * 3 + 3 + 17;
        if self.is_packed() {
            let (bytes, block) = self.token();
            return Bytes((u128::from(length).div_ceil(block) + BESIDE) * bytes);
        }
        let uniform = self.is_uniform();
        let of = |bucket: &Bucket| {
            let block = bucket.block.max(1);
            let all = length.div_ceil(block);
            let blocks = match (bucket.kept, bucket.token.0) {
                (_, 0) => self.state_pages,
                (Some(kept), _) => all.min(kept.div_ceil(block) + 1),
                (None, _) => all,
            };
            if uniform {
                let cached =
                    u128::from(blocks * block) * u128::from(bucket.token.0) / u128::from(bucket.token.1.max(1));
                return u128::from(bucket.layers) * (cached + u128::from(bucket.state));
            }
            u128::from(blocks) * u128::from(self.groups(bucket)) * u128::from(self.group) * u128::from(self.page)
        };
        Bytes(self.buckets.iter().map(of).sum())
    }
}

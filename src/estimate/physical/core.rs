//! What happens between a layer's projections.

use super::cache::{compressed_row, index_row};
use super::load::compressed;
use super::terms::{ATTENTION, CONVOLUTION, EXPANDED, SCORES, UPDATE};
use super::{Ledger, Load};
use crate::batch::{Group, Phase};
use crate::estimate::{Component, EstimateError, Symbol};
use crate::model::anatomy::{Compressed, Core, Dim, Heads, Indexer, Kind, Latent, Matrix, Op, Span, State};
use crate::model::number::Format;

/// What an attention core is given.
struct Attending {
    component: Component,
    heads: u64,
    key: u64,
    value: u64,
    load: Load,
    /// Bytes that are read of a token's cache, and that a new token writes.
    row: (u64, u64),
    /// Whether it multiplies in FP8.
    fp8: bool,
}

impl Ledger<'_> {
    /// A layer's core, so many times.
    pub(super) fn core(&mut self, core: &Core, kind: &Kind, layers: u64) -> Result<(), EstimateError> {
        match core {
            Core::Heads(heads) => self.heads(heads, core, layers),
            Core::Latent(latent) => self.latent(latent, core, layers),
            Core::Compressed(compressed) => self.compressed(compressed, layers),
            Core::State(state) => self.state(state, kind, layers),
        }
    }

    fn heads(&mut self, heads: &Heads, core: &Core, layers: u64) -> Result<(), EstimateError> {
        let ignored = self.physical.settings.disable_sliding_window;
        let span = match heads.span {
            Span::Window(_) if ignored => Span::Full,
            span => span,
        };
        let load = Load::of(self.batch, span, |_| true);
        let stored = Core::Heads(Heads { stores: true, ..*heads });
        let read = self.physical.cache.token(&stored, self.cut.tp)[0].0;
        let written = self.physical.cache.token(core, self.cut.tp)[0].0;
        self.attending(
            &Attending {
                component: Component::Attention,
                heads: Dim::cut(heads.heads, 1).local(self.cut.tp),
                key: heads.key,
                value: heads.value,
                load,
                row: (read, written),
                fp8: self.physical.cache.is_fp8(),
            },
            load.tokens,
            layers,
        )
    }

    fn attending(&mut self, what: &Attending, writers: u128, layers: u64) -> Result<(), EstimateError> {
        let mut values = self.values(layers);
        values.set(Symbol::LocalHeads, what.heads);
        values.set(Symbol::KeyDim, what.key);
        values.set(Symbol::ValueDim, what.value);
        values.set(Symbol::Tokens, what.load.tokens);
        values.set(Symbol::Pairs, what.load.pairs);
        values.set(Symbol::Seen, what.load.seen);
        values.set(Symbol::TokenBytes, what.row.0);
        values.set(Symbol::CacheBytes, what.row.1);
        values.set(Symbol::Rows, writers);
        let precision = self.physical.precision(if what.fp8 { Format::FP8 } else { Format::PLAIN });
        self.add(what.component, &ATTENTION, values, Some(precision))
    }

    /// Whether latent attention expands a request's latents again: prefills for which that takes fewer FLOPs than to
    /// attend to the latents themselves, unless tokens are picked from a longer context. Of r elements a latent, heads of
    /// n and v elements and rotary e, over Q new tokens, C of context and S pairs: 2 r (n + v) C + 2 (n + e + v) S,
    /// against 2 (2 r + e) S + 2 r (n + v) Q.
    fn expands(latent: Option<Latent>) -> impl Fn(&Group) -> bool {
        move |group| {
            let Some(Latent { nope, rope, value, rank, indexer, .. }) = latent else { return true };
            let of = |width: u64, amount: u128| u128::from(width).saturating_mul(amount);
            let (new, context) = (u128::from(group.tokens), u128::from(group.context));
            let pairs = super::load::pairs(Span::Full, new, context.saturating_sub(new));
            let up = rank.saturating_mul(nope.saturating_add(value));
            let expanded = of(up, context).saturating_add(of(nope.saturating_add(rope).saturating_add(value), pairs));
            let absorbed = of(rank.saturating_mul(2).saturating_add(rope), pairs).saturating_add(of(up, new));
            group.phase == Phase::Prefill
                && indexer.is_none_or(|indexer| group.context <= indexer.top)
                && expanded <= absorbed
        }
    }

    /// The requests whose latents are expanded by this up-projection, one of several kinds.
    pub(super) fn expanded(&self, _: &Matrix) -> Load {
        Load::of(self.batch, Span::Full, Self::expands(self.latents()))
    }

    pub(super) fn absorbed_tokens(&self) -> u128 {
        let expands = Self::expands(self.latents());
        Load::of(self.batch, Span::Full, |group| !expands(group)).tokens
    }

    /// The model's latent attention, that with an indexer first.
    fn latents(&self) -> Option<Latent> {
        let cores = self.physical.anatomy.kinds.iter().flat_map(|kind| &kind.cores);
        let mut found = None;
        for core in cores {
            if let Core::Latent(latent) = core
                && (found.is_none() || latent.indexer.is_some())
            {
                found = Some(*latent);
            }
        }
        found
    }

    fn latent(&mut self, latent: &Latent, core: &Core, layers: u64) -> Result<(), EstimateError> {
        let expands = Self::expands(Some(*latent));
        let [(row, _), (index, _)] = self.physical.cache.token(core, self.cut.tp);
        let heads = Dim::cut(latent.heads, 1).local(self.cut.tp);
        let component = Component::MlaAttention;
        let load = Load::of(self.batch, Span::Full, &expands);
        let (key, value) = (latent.nope + latent.rope, latent.value);
        if load.tokens > 0 {
            // Of the cache only the prefix is read, to be expanded again; attention reads what it was expanded to.
            let cached = Load { seen: load.context.saturating_sub(load.tokens), ..load };
            // Keys and values that were computed again are as wide as activations.
            let what = Attending { component, heads, key, value, load: cached, row: (row, row), fp8: false };
            self.attending(&what, load.tokens, layers)?;
            let mut values = self.values(layers);
            values.set(Symbol::Tokens, load.tokens);
            values.set(Symbol::Seen, load.seen);
            values.set(Symbol::LocalHeads, heads);
            values.set(Symbol::KeyDim, latent.nope);
            values.set(Symbol::ValueDim, value);
            self.add(component, &EXPANDED, values, None)?;
        }
        let picked = latent.indexer.map_or(Span::Full, |indexer| Span::Window(indexer.top));
        let load = Load::with(
            self.batch,
            |group| !expands(group),
            |new, prefix| {
                let pairs = super::load::pairs(picked, new, prefix);
                // Picked tokens may stand anywhere: at most one of each pair, at most all of them.
                (pairs, pairs.min(new + prefix))
            },
        );
        if load.tokens > 0 {
            let (key, value) = (latent.rank + latent.rope, latent.rank);
            let fp8 = self.physical.cache.is_fp8_latent(latent.indexer.is_some());
            let what = Attending { component, heads, key, value, load, row: (row, row), fp8 };
            self.attending(&what, load.tokens, layers)?;
        }
        if let Some(Indexer { heads, dim, own: true, .. }) = latent.indexer {
            let scored = Load::of(self.batch, Span::Full, |group| !expands(group));
            let all = self.all();
            self.scores((heads, dim), scored, (index, index), all.tokens, layers)?;
        }
        Ok(())
    }

    /// An indexer's scores: FP8 against FP8.
    fn scores(
        &mut self,
        (heads, dim): (u64, u64),
        load: Load,
        row: (u64, u64),
        writers: u128,
        layers: u64,
    ) -> Result<(), EstimateError> {
        let mut values = self.values(layers);
        values.set(Symbol::LocalHeads, heads);
        values.set(Symbol::KeyDim, dim);
        values.set(Symbol::Tokens, load.tokens);
        values.set(Symbol::Pairs, load.pairs);
        values.set(Symbol::Seen, load.seen);
        values.set(Symbol::TokenBytes, row.0);
        values.set(Symbol::CacheBytes, row.1);
        values.set(Symbol::Rows, writers);
        values.set(Symbol::ActivationBytes, 1_u64);
        let precision = self.physical.precision(Format::FP8);
        self.add(Component::MlaAttention, &SCORES, values, Some(precision))
    }

    fn compressed(&mut self, core: &Compressed, layers: u64) -> Result<(), EstimateError> {
        let component = Component::MlaAttention;
        let row = compressed_row(core.dim, core.rope);
        let top = core.indexer.map(|indexer| indexer.top);
        let window = Span::Window(core.window);
        let load = Load::with(
            self.batch,
            |_| true,
            |new, prefix| {
                let mut pairs = super::load::pairs(window, new, prefix);
                let mut seen = super::load::seen(window, new, prefix);
                if core.ratio > 0 {
                    let picked = compressed(core.ratio, top, new, prefix);
                    pairs = pairs.saturating_add(picked);
                    seen = seen.saturating_add(picked.min((new + prefix) / u128::from(core.ratio)));
                }
                (pairs, seen)
            },
        );
        let heads = Dim::cut(core.heads, 1).local(self.cut.tp);
        // A new token writes its row in the window, and its share of a compressed one.
        let written = row + row.checked_div(core.ratio).unwrap_or(0);
        let (key, value) = (core.dim, core.dim);
        // Rows in FP8 are widened before they are multiplied.
        let what = Attending { component, heads, key, value, load, row: (row, written), fp8: false };
        self.attending(&what, load.tokens, layers)?;
        if let Some(indexer) = core.indexer {
            let index = index_row(indexer.dim);
            let scored = Load::with(
                self.batch,
                |_| true,
                |new, prefix| {
                    (compressed(core.ratio, None, new, prefix), (new + prefix) / u128::from(core.ratio.max(1)))
                },
            );
            let written = index.div_ceil(core.ratio.max(1));
            self.scores((indexer.heads, indexer.dim), scored, (index, written), scored.tokens, layers)?;
        }
        Ok(())
    }

    fn state(&mut self, state: &State, kind: &Kind, layers: u64) -> Result<(), EstimateError> {
        let of = |phase| Load::of(self.batch, Span::Full, |group| group.phase == phase);
        let (prefill, decode) = (of(Phase::Prefill), of(Phase::Decode));
        let heads = Dim::cut(state.heads, 1).local(self.cut.tp);
        let channels = state.channels.local(self.cut.tp);
        let (step, chunked) = state.flops();
        let tokens = prefill.tokens.saturating_add(decode.tokens);
        let sequences = prefill.sequences.saturating_add(decode.sequences);
        let outputs = kind.matrices.iter().rev().find(|matrix| matches!(matrix.op, Op::StateOut | Op::ScanOut));
        let outputs = outputs.map_or(0, |matrix| matrix.inputs.local(self.cut.tp));
        let [convolution, held] = self.physical.cache.state(state, self.cut.tp);
        let precision = self.physical.precision(Format::PLAIN);
        let mut values = self.values(layers);
        values.set(Symbol::Tokens, tokens);
        values.set(Symbol::Sequences, sequences);
        values.set(Symbol::Inputs, channels);
        if state.taps > 1 {
            let mut values = values.clone();
            values.set(Symbol::TokenFlops, tokens.saturating_mul(u128::from(2 * state.taps * channels)));
            values.set(Symbol::StateBytes, convolution);
            values.set(Symbol::Outputs, channels);
            self.add(Component::LinearAttention, &CONVOLUTION, values, Some(precision))?;
        }
        if state.elements == 0 {
            return Ok(());
        }
        let flops = |load: Load, each: u64| load.tokens.saturating_mul(u128::from(heads.saturating_mul(each)));
        values.set(Symbol::TokenFlops, flops(decode, step).saturating_add(flops(prefill, chunked)));
        values.set(Symbol::StateBytes, held);
        values.set(Symbol::Outputs, outputs);
        self.add(Component::LinearAttention, &UPDATE, values, Some(precision))
    }
}

//! Latent attention (MLA), with an indexer or without, and DeepSeek-V4's compressed attention.

use super::builder::{Builder, in_range, size};
use super::{Compressed, Core, Dim, Heads, Indexer, Inner, Kind, Latent, Matrix, Op, Span};
use crate::model::number::Format;
use crate::model::spec::{Mla, Weight};

impl Builder<'_> {
    /// Adds latent attention.
    pub(super) fn latent(&self, mla: &Mla, layer: u64, kind: &mut Kind) -> Result<(), String> {
        let heads = size(&self.spec.heads, "num_attention_heads")?;
        let rank = size(&mla.kv_lora_rank, "kv_lora_rank")?;
        let rope = size(&mla.qk_rope_head_dim, "qk_rope_head_dim")?;
        let nope = size(&mla.qk_nope_head_dim, "qk_nope_head_dim")?;
        let value = size(&mla.v_head_dim, "v_head_dim")?;
        let queries = mla.q_lora_rank.as_ref().and_then(|rank| in_range(rank.ok()?.into()));
        self.latent_projections([heads, rank, rope, nope, value], queries, Op::KvUp, kind);
        if self.truthy("mla_use_output_gate") {
            kind.matrices.push(Matrix::new(Op::LatentGate, Dim::whole(self.hidden), Dim::cut(heads, value)));
        }
        // Copies of the up-projection, head by head, for decodes.
        kind.matrices.push(Matrix::new(Op::AbsorbKey, Dim::whole(nope), Dim::whole(rank)).times(heads));
        kind.matrices.push(Matrix::new(Op::AbsorbValue, Dim::whole(rank), Dim::whole(value)).times(heads));
        let indexer = self.indexer(layer);
        if let Some(Indexer { heads: index_heads, dim, own: true, .. }) = indexer {
            let from = queries.unwrap_or(self.hidden);
            kind.matrices.push(Matrix::new(Op::IndexQuery, Dim::whole(from), Dim::whole(index_heads * dim)));
            let both = Matrix::new(Op::IndexKey, Dim::whole(self.hidden), Dim::whole(dim + index_heads));
            kind.matrices.push(both.and(2 * dim));
            kind.inner.push(Inner { elements: Dim::whole(index_heads * dim), written: true });
            kind.inner.push(Inner { elements: Dim::whole(dim), written: false });
        }
        kind.cores.push(Core::Latent(Latent { heads, rank, rope, nope, value, indexer }));
        Ok(())
    }

    /// The projections of latent attention; sizes are heads, latent rank, rotary, other and value elements of a head.
    fn latent_projections(&self, sizes: [u64; 5], queries: Option<u64>, up: Op, kind: &mut Kind) {
        let [heads, rank, rope, nope, value] = sizes;
        let hidden = self.hidden;
        let bias = self.truthy("attention_bias");
        let biased = |width: u64| if bias { width } else { 0 };
        if let Some(queries) = queries {
            let down = Matrix::new(Op::QueryDown, Dim::whole(hidden), Dim::whole(queries));
            kind.matrices.push(down.and(biased(queries)));
            kind.norm_params += queries;
        }
        self.turn_latents(heads, rope, [queries.unwrap_or(0), rank], kind);
        let from = Dim::whole(queries.unwrap_or(hidden));
        kind.matrices.push(Matrix::new(Op::QueryUp, from, Dim::cut(heads, nope + rope)));
        let down = Matrix::new(Op::KvDown, Dim::whole(hidden), Dim::whole(rank + rope));
        kind.matrices.push(down.and(biased(rank + rope)));
        kind.norm_params += rank;
        kind.matrices.push(Matrix::new(up, Dim::whole(rank), Dim::cut(heads, nope + value)));
        let out = Matrix::new(Op::LatentOut, Dim::cut(heads, value), Dim::whole(hidden));
        kind.matrices.push(out.and(biased(hidden)));
    }

    /// Trained with a latent, but run and cached head by head (`MiniCPM3`).
    pub(super) fn latent_as_heads(&self, kind: &mut Kind) -> Result<(), String> {
        let need = |name: &'static str| self.int(&[name]).ok_or_else(|| format!("{name} is missing"));
        let heads = size(&self.spec.heads, "num_attention_heads")?;
        let (rank, rope, nope) = (need("kv_lora_rank")?, need("qk_rope_head_dim")?, need("qk_nope_head_dim")?);
        let value = self.int_or(&["v_head_dim"], self.hidden / heads);
        self.latent_projections([heads, rank, rope, nope, value], self.int(&["q_lora_rank"]), Op::KvUpAll, kind);
        let key = nope + rope;
        // Values are padded to the width of keys.
        let core = Heads { heads, kv_heads: heads, key, value: key, span: Span::Full, stores: true };
        kind.cores.push(Core::Heads(core));
        Ok(())
    }

    /// The indexer of a layer, if the model has some.
    pub(super) fn indexer(&self, layer: u64) -> Option<Indexer> {
        let top = self.int(&["index_topk"])?;
        let own = match self.word("index_topk_pattern", layer) {
            Some(word) => word != "S",
            None => {
                let offset = self.int_or(&["index_skip_topk_offset"], 2);
                let every = self.int_or(&["index_topk_freq"], 1);
                (layer + 1).saturating_sub(offset).is_multiple_of(every)
            }
        };
        Some(Indexer {
            heads: self.int_or(&["index_n_heads"], 64),
            dim: self.int_or(&["index_head_dim"], 128),
            top,
            own,
        })
    }

    /// Adds compressed attention with hyper-connections around it (DeepSeek-V4).
    pub(super) fn compressed(&self, ratio: u64, kind: &mut Kind) -> Result<(), String> {
        let heads = size(&self.spec.heads, "num_attention_heads")?;
        let hidden = self.hidden;
        let need = |name: &'static str| self.int(&[name]).ok_or_else(|| format!("{name} is missing"));
        let (queries, dim, rope) = (need("q_lora_rank")?, need("head_dim")?, need("qk_rope_head_dim")?);
        let (groups, rank) = (self.int_or(&["o_groups"], 1), need("o_lora_rank")?);
        let whole = Dim::whole;
        let mut push = |matrix: Matrix| kind.matrices.push(matrix);
        push(Matrix::new(Op::QueryDown, whole(hidden), whole(queries)));
        push(Matrix::new(Op::QueryUp, whole(queries), Dim::cut(heads, dim)));
        push(Matrix::new(Op::KvDown, whole(hidden), whole(dim)));
        push(Matrix::new(Op::LatentOutDown, whole(heads * dim / groups.max(1)), whole(rank)).times(groups));
        push(Matrix::new(Op::LatentOut, Dim::cut(groups, rank), whole(hidden)).and(heads));
        let mut norms = queries + dim;
        let mut indexer = None;
        // Overlapping windows of 4 tokens give keys twice as wide, gates alike.
        let overlap = if ratio == 4 { 2 } else { 1 };
        if ratio > 0 {
            let width = overlap * dim;
            push(Matrix::new(Op::Compressor, whole(hidden), whole(2 * width)).and(ratio * width));
            norms += dim;
        }
        if ratio == 4 {
            let (index_heads, index) = (need("index_n_heads")?, need("index_head_dim")?);
            push(Matrix::new(Op::Compressor, whole(hidden), whole(4 * index)).and(ratio * 2 * index));
            push(Matrix::new(Op::IndexQuery, whole(queries), whole(index_heads * index)));
            push(Matrix::new(Op::IndexKey, whole(hidden), whole(index_heads)));
            norms += index;
            indexer = Some(Indexer { heads: index_heads, dim: index, top: need("index_topk")?, own: true });
        }
        let streams = self.int_or(&["hc_mult"], 1);
        if streams > 1 {
            let outputs = (2 + streams) * streams;
            for op in [Op::MixAttention, Op::MixFfn] {
                let mut mix = Matrix::new(op, whole(streams * hidden), whole(outputs)).and(outputs + 3);
                mix.format = Format::SINGLE;
                push(mix);
            }
        }
        kind.norm_params += norms;
        self.turn_latents(heads, rope, [queries, dim], kind);
        let window = self.int_or(&["sliding_window"], 128);
        kind.cores.push(Core::Compressed(Compressed { heads, dim, rope, ratio, window, indexer }));
        self.say(
            Weight::Caution,
            "The compressor's own arithmetic and hash tables are not counted, which errs on the low side; the KV cache \
             is that of vLLM's FP8 layout.",
        );
        Ok(())
    }
}

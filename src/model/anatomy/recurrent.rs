//! Layers with a state of constant size: delta rules, linear attention, Mamba, short convolutions.

use super::builder::{Builder, size};
use super::{Core, Dim, Kind, Matrix, Op, State, Update};
use crate::model::spec::Weight;

/// A state before its convolution is described.
const EMPTY: State = State {
    name: "",
    heads: 0,
    channels: Dim { units: 1, width: 0 },
    taps: 1,
    elements: 0,
    bytes: 0,
    update: Update::None,
};

impl Builder<'_> {
    /// Adds a layer of linear attention or of whatever recurrent kind the config describes.
    pub(super) fn recurrent(&self, kind: &mut Kind) -> Result<(), String> {
        if self.text.has("linear_num_value_heads") {
            self.delta(kind)
        } else if self.text.json.is_some_and(|json| json.get("linear_attn_config").is_some()) {
            self.kimi(kind)
        } else if self.text.has("mamba_dt_rank") || self.type_is("jamba mamba falcon_mamba") {
            self.mamba(kind)
        } else if self.text.has("mamba_num_heads") || self.text.has("mamba_n_heads") || self.text.has("n_mamba_heads") {
            self.mamba2(kind)
        } else if self.text.has("conv_L_cache") {
            self.short_convolution(kind)
        } else {
            self.lightning(kind)
        }
    }

    fn need(&self, names: &[&'static str]) -> Result<u64, String> {
        self.int(names).ok_or_else(|| format!("{} is missing", names.first().unwrap_or(&"a size")))
    }

    /// Bytes of a state element that the config names.
    fn state_bytes(&self, key: &'static str, default: u64) -> u64 {
        match self.text.get(key).as_ref().and_then(|found| match found.value.as_ref() {
            crate::json::Value::Text(text) => crate::model::Dtype::named(text),
            _ => None,
        }) {
            Some(dtype) => dtype.bytes(),
            None => default,
        }
    }

    /// Gated delta net.
    fn delta(&self, kind: &mut Kind) -> Result<(), String> {
        let keys = self.need(&["linear_num_key_heads"])?;
        let values = self.need(&["linear_num_value_heads"])?;
        let (k, v) = (self.need(&["linear_key_head_dim"])?, self.need(&["linear_value_head_dim"])?);
        let taps = self.int_or(&["linear_conv_kernel_dim"], 4);
        let hidden = Dim::whole(self.hidden);
        let channels = 2 * keys * k + values * v;
        let mut input = Matrix::new(Op::StateIn, hidden, Dim::cut(keys, 2 * k)).and(taps * channels + 2 * values);
        input.outputs = [Dim::cut(keys, 2 * k), Dim::cut(values, 2 * v), Dim::default()];
        kind.matrices.push(input);
        kind.matrices.push(Matrix::new(Op::StateGates, hidden, Dim::cut(values, 2)));
        kind.matrices.push(Matrix::new(Op::StateOut, Dim::cut(values, v), hidden));
        kind.norm_params += v;
        kind.cores.push(Core::State(State {
            name: "gated delta net",
            heads: values,
            channels: Dim::cut(keys, channels / keys.max(1)),
            taps,
            elements: k * v,
            bytes: self.state_bytes("mamba_ssm_dtype", 0),
            update: Update::Delta(k, v),
        }));
        Ok(())
    }

    /// Kimi delta attention.
    fn kimi(&self, kind: &mut Kind) -> Result<(), String> {
        let inside = |key: &str| self.nested("linear_attn_config", key).ok_or_else(|| format!("{key} is missing"));
        let (heads, dim) = (inside("num_heads")?, inside("head_dim")?);
        let taps = inside("short_conv_kernel_size").unwrap_or(4);
        let full = self.text.json.and_then(|json| json.get("linear_attn_config")?.get("use_full_rank_gate"));
        let width = heads * dim;
        let hidden = Dim::whole(self.hidden);
        let input = Matrix::new(Op::StateIn, hidden, Dim::cut(heads, 3 * dim));
        kind.matrices.push(input.and(3 * taps * width + width + heads));
        // The decay goes through a low rank, the output gate too unless it has full rank.
        let low_rank = |kind: &mut Kind| {
            kind.matrices.push(Matrix::new(Op::StateGates, hidden, Dim::whole(dim)));
            kind.matrices.push(Matrix::new(Op::StateGates, Dim::whole(dim), Dim::cut(heads, dim)));
        };
        low_rank(kind);
        if full.is_some_and(|flag| flag.is_truthy()) {
            kind.matrices.push(Matrix::new(Op::StateGates, hidden, Dim::cut(heads, dim)));
        } else {
            low_rank(kind);
        }
        kind.matrices.push(Matrix::new(Op::StateGates, hidden, Dim::cut(heads, 1)));
        kind.matrices.push(Matrix::new(Op::StateOut, Dim::cut(heads, dim), hidden));
        kind.norm_params += dim;
        kind.cores.push(Core::State(State {
            name: "Kimi delta attention",
            heads,
            channels: Dim::cut(heads, 3 * dim),
            taps,
            elements: dim * dim,
            bytes: 4,
            update: Update::DeltaChannels(dim),
        }));
        Ok(())
    }

    /// Linear attention with a fixed decay a head.
    fn lightning(&self, kind: &mut Kind) -> Result<(), String> {
        let heads = size(&self.spec.heads, "num_attention_heads")?;
        let dim = size(&self.spec.head_dim, "head_dim")?;
        let hidden = Dim::whole(self.hidden);
        kind.matrices.push(Matrix::new(Op::StateIn, hidden, Dim::cut(heads, 4 * dim)));
        kind.matrices.push(Matrix::new(Op::StateOut, Dim::cut(heads, dim), hidden));
        kind.norm_params += heads * dim;
        let update = Update::Decay(dim);
        kind.cores.push(Core::State(State { name: "linear attention", heads, elements: dim * dim, update, ..EMPTY }));
        self.say(
            Weight::Caution,
            "Linear-attention layers are taken as lightning attention with an output gate, which no counted model \
             confirms: their parameters may be off by a few percent.",
        );
        Ok(())
    }

    /// Mamba, whose matrices no quantization covers.
    fn mamba(&self, kind: &mut Kind) -> Result<(), String> {
        let hidden = self.hidden;
        let inner = match self.int(&["mamba_expand", "expand"]) {
            Some(expand) => expand.saturating_mul(hidden),
            None => self.need(&["intermediate_size"])?,
        };
        let n = self.int_or(&["mamba_d_state", "state_size"], 16);
        let rank = self.int_or(&["mamba_dt_rank", "time_step_rank"], hidden.div_ceil(16));
        let taps = self.int_or(&["mamba_d_conv", "conv_kernel"], 4);
        let bias = if self.text.has("mamba_conv_bias") && !self.truthy("mamba_conv_bias") { 0 } else { inner };
        let input = Matrix::new(Op::ScanIn, Dim::whole(hidden), Dim::cut(inner, 2));
        kind.matrices.push(input.and(inner * taps + bias + inner * n + inner));
        kind.matrices.push(Matrix::new(Op::ScanIn, Dim::cut(inner, 1), Dim::whole(rank + 2 * n)));
        kind.matrices.push(Matrix::new(Op::ScanIn, Dim::whole(rank), Dim::cut(inner, 1)).and(inner));
        kind.matrices.push(Matrix::new(Op::ScanOut, Dim::cut(inner, 1), Dim::whole(hidden)));
        if self.type_is("jamba") {
            kind.norm_params += rank + 2 * n;
        }
        kind.reduces += 1;
        let channels = Dim::cut(inner, 1);
        let update = Update::Scan(n);
        kind.cores.push(Core::State(State {
            name: "Mamba",
            heads: inner,
            channels,
            taps,
            elements: n,
            bytes: 0,
            update,
        }));
        Ok(())
    }

    /// Mamba-2.
    fn mamba2(&self, kind: &mut Kind) -> Result<(), String> {
        let heads = self.need(&["mamba_num_heads", "mamba_n_heads", "n_mamba_heads"])?;
        let dim = self.need(&["mamba_head_dim", "mamba_d_head", "mamba_headdim"])?;
        let n = self.need(&["ssm_state_size", "mamba_d_state", "state_size"])?;
        let groups = self.int_or(&["n_groups", "mamba_n_groups", "mamba_ngroups"], 1);
        let taps = self.int_or(&["conv_kernel", "mamba_d_conv"], 4);
        let chunk = self.int_or(&["mamba_chunk_size", "chunk_size"], 256);
        let inner = heads * dim;
        let channels = inner + 2 * groups * n;
        let no_bias =
            ["use_conv_bias", "mamba_conv_bias"].into_iter().any(|key| self.text.has(key) && !self.truthy(key));
        let hidden = Dim::whole(self.hidden);
        let mut input = Matrix::new(Op::StateIn, hidden, Dim::cut(heads, 2 * dim + 1));
        input.outputs = [Dim::cut(heads, 2 * dim + 1), Dim::cut(groups, 2 * n), Dim::default()];
        input.bias = channels * (taps + u64::from(!no_bias)) + 3 * heads;
        kind.matrices.push(input);
        kind.matrices.push(Matrix::new(Op::StateOut, Dim::cut(heads, dim), hidden));
        kind.norm_params += inner;
        let default = if self.type_is("nemotron_h") { 4 } else { 0 };
        kind.cores.push(Core::State(State {
            name: "Mamba-2",
            heads,
            channels: Dim::cut(heads, channels / heads.max(1)),
            taps,
            elements: dim * n,
            bytes: self.state_bytes("mamba_ssm_cache_dtype", default),
            update: Update::Dual(dim, n, heads / groups.max(1), chunk),
        }));
        Ok(())
    }

    /// A gated short convolution.
    fn short_convolution(&self, kind: &mut Kind) -> Result<(), String> {
        let taps = self.need(&["conv_L_cache"])?;
        let hidden = self.hidden;
        let input = Matrix::new(Op::StateIn, Dim::whole(hidden), Dim::cut(hidden, 3));
        kind.matrices.push(input.and(taps * hidden));
        kind.matrices.push(Matrix::new(Op::StateOut, Dim::cut(hidden, 1), Dim::whole(hidden)));
        let channels = Dim::cut(hidden, 1);
        kind.cores.push(Core::State(State { name: "short convolution", heads: hidden, channels, taps, ..EMPTY }));
        Ok(())
    }
}

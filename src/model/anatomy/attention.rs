//! Attention over keys and values of heads.

use super::builder::{Builder, in_range, size};
use super::pattern::Mix;
use super::rotary::turn;
use super::{Core, Dim, Heads, Kind, Matrix, Op, Span, facts};
use crate::model::spec::Weight;

/// The dimensions of a layer's attention.
struct Sizes {
    heads: u64,
    kv: u64,
    key: u64,
    value: u64,
}

impl Builder<'_> {
    /// Adds attention of heads.
    pub(super) fn attention(&self, mix: Mix, layer: u64, kind: &mut Kind) -> Result<(), String> {
        let span = match mix {
            Mix::Window(width) => Span::Window(width),
            Mix::Chunk(size) => Span::Chunk(size),
            _ => Span::Full,
        };
        let sizes = self.sizes(mix, layer)?;
        if mix == Mix::Cross {
            self.cross(&sizes, kind, "self");
            return Ok(());
        }
        let Sizes { heads, kv, key, value } = sizes;
        let hidden = self.hidden;
        let (qkv_bias, out_bias) = self.biases();
        let mut small = 0;
        if qkv_bias {
            let keys = if self.is(facts::NO_KEY_BIAS) { 0 } else { kv * key };
            small += heads * key + keys + kv * value;
        }
        let flag = self.truthy("use_qk_norm") || self.truthy("qk_layernorm");
        let normed = self.is(facts::QK_NORM) || (flag && self.is(facts::QK_NORM_KEY));
        if normed {
            // Cohere norms each head with weights of its own.
            small += if self.type_is("cohere cohere2") { (heads + kv) * key } else { 2 * key };
        }
        if self.is(facts::QK_NORM_WIDE) {
            small += (heads + kv) * key;
        }
        if self.is(facts::SINKS) {
            small += heads;
        }
        let gate = 1 + u64::from(self.is(facts::GATE) || self.truthy("attn_output_gate"));
        let shared = self.shares_kv(layer);
        // Gemma 4 loads the keys into the place of the values, which its checkpoints do not hold.
        let values = if self.truthy("attention_k_eq_v") && mix == Mix::Full { 0 } else { value };
        if values == 0 && !shared {
            self.say(
                Weight::Info,
                "Full layers take their keys as values. A server loads that matrix twice, which is not counted: memory \
                 errs on the low side, by less than a percent.",
            );
        }
        let none = Dim::default();
        let (keys, values) = if shared { (none, none) } else { (Dim::cut(kv, key), Dim::cut(kv, values)) };
        let mut qkv = Matrix::new(Op::Qkv, Dim::whole(hidden), Dim::cut(heads, key * gate)).and(small);
        qkv.outputs = [Dim::cut(heads, key * gate), keys, values];
        kind.matrices.push(qkv);
        let out = Matrix::new(Op::Out, Dim::cut(heads, value), Dim::whole(hidden));
        kind.matrices.push(out.and(if out_bias { hidden } else { 0 }));
        let wide = if normed || self.is(facts::QK_NORM_WIDE) { key } else { self.rotary(mix, layer, key) };
        turn(wide, heads, if shared { 0 } else { kv }, kind);
        kind.cores.push(Core::Heads(Heads { heads, kv_heads: kv, key, value, span, stores: !shared }));
        if self.is(facts::CROSS) {
            self.cross(&Sizes { heads, kv, key, value }, kind, "beside");
        }
        Ok(())
    }

    fn biases(&self) -> (bool, bool) {
        let key = self.truthy("attention_bias")
            || self.truthy("bias") && self.type_is("PanguEmbedded falcon RefinedWeb RefinedWebModel");
        let qkv_key = ["add_qkv_bias", "use_qkv_bias", "qkv_bias"].into_iter().any(|name| self.truthy(name));
        let qkv = key || qkv_key || self.is(facts::QKV_BIAS);
        let out = self.is(facts::OUT_BIAS) || (key && !self.is(facts::KEY_QKV_ONLY));
        (qkv, out)
    }

    /// Cross-attention: queries of text, keys and values of something that came in before.
    fn cross(&self, sizes: &Sizes, kind: &mut Kind, how: &str) {
        let Sizes { heads, kv, key, value } = *sizes;
        let hidden = self.hidden;
        let length = self.int_or(&["max_source_positions"], 1601);
        let beside = how == "beside";
        // Beside self-attention: biases of query, value and output. Instead of it: norms of query and key, two gates.
        let small = if beside { heads * key + hidden } else { 2 * key + 2 };
        kind.matrices.push(Matrix::new(Op::CrossQuery, Dim::whole(hidden), Dim::cut(heads, key)).and(small));
        let mut both = Matrix::new(Op::CrossKv, Dim::whole(hidden), Dim::cut(kv, key));
        both.outputs = [Dim::cut(kv, key), Dim::cut(kv, value), Dim::default()];
        both.bias = if beside { kv * value } else { 0 };
        kind.matrices.push(both);
        kind.matrices.push(Matrix::new(Op::Out, Dim::cut(heads, value), Dim::whole(hidden)));
        let span = Span::Fixed(length);
        kind.cores.push(Core::Heads(Heads { heads, kv_heads: kv, key, value, span, stores: false }));
        self.say(
            Weight::Caution,
            "Cross-attention reads keys and values of one image or sound a sequence; they are taken as computed before, \
             and memory for them is not counted: both err on the low side.",
        );
    }

    /// Layers at the end that use an earlier layer's keys and values.
    pub(super) fn shares_kv(&self, layer: u64) -> bool {
        let shared = self.int_or(&["num_kv_shared_layers"], 0);
        shared > 0 && layer >= self.layers.saturating_sub(shared)
    }

    fn sizes(&self, mix: Mix, layer: u64) -> Result<Sizes, String> {
        let spec = self.spec;
        let heads = size(&spec.heads, "num_attention_heads")?;
        let kv_heads = size(&spec.kv_heads, "num_key_value_heads")?;
        let dim = size(&spec.head_dim, "head_dim")?;
        let mut sizes = Sizes { heads, kv: kv_heads, key: dim, value: self.int_or(&["v_head_dim"], dim) };
        let windowed = matches!(mix, Mix::Window(_));
        if self.text.has("global_head_dim") {
            // The resolved values are those of the widest layer; here each has its own.
            let own = |wide: &'static str, narrow: &'static str| {
                let key: &[&'static str] = if windowed { &[narrow] } else { &[wide, narrow] };
                key.iter().find_map(|name| self.int(&[*name]))
            };
            sizes.key = own("global_head_dim", "head_dim").unwrap_or(dim);
            sizes.value = sizes.key;
            let global = self.truthy("attention_k_eq_v") && !windowed;
            let kv = if global { self.int(&["num_global_key_value_heads"]) } else { None };
            sizes.kv = kv.or_else(|| self.int(&["num_key_value_heads"])).unwrap_or(kv_heads);
        }
        if self.text.has("hybrid_layer_pattern") && windowed {
            sizes.heads = self.int(&["swa_num_attention_heads"]).unwrap_or(heads);
            sizes.kv = self.int(&["swa_num_key_value_heads"]).unwrap_or(sizes.kv);
            sizes.key = self.int(&["swa_head_dim"]).unwrap_or(dim);
            sizes.value = self.int(&["swa_v_head_dim"]).unwrap_or(sizes.value);
        }
        if let Some(group) = self.block(layer, "attention", "n_heads_in_group") {
            sizes.kv = heads.checked_div(group).unwrap_or(kv_heads).max(1);
        }
        Ok(sizes)
    }

    /// A number of a layer's block where blocks are described one by one.
    pub(super) fn block(&self, layer: u64, part: &str, key: &str) -> Option<u64> {
        let block = self.list("block_configs")?.get(usize::try_from(layer).ok()?)?;
        let value = crate::model::reading::integer(&block.get(part)?.get(key)?.value)?;
        in_range(value)
    }
}

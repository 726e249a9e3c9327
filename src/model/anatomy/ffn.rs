//! Feed-forward layers: dense, experts, both beside each other, or none.

use super::builder::{Builder, in_range};
use super::{Dim, Experts, Kind, Matrix, Op, facts};
use crate::json::Value;
use crate::model::reading::integer;

const EXPERTS: [&str; 5] =
    ["num_experts", "moe_num_experts", "n_routed_experts", "num_local_experts", "num_routed_experts"];

impl Builder<'_> {
    /// Adds whatever the layer has after its mixer.
    pub(super) fn feed_forward(&self, layer: u64, kind: &mut Kind) {
        if self.no_ffn(layer) {
            return;
        }
        let moe = self.experts() > 0 && self.is_moe(layer);
        // Gemma 4 runs a dense FFN beside its experts.
        let beside = self.truthy("enable_moe_block") || self.type_is("arctic longcat_flash");
        if !moe || beside {
            self.dense(self.dense_width(layer), if self.type_is("longcat_flash") { 2 } else { 1 }, kind);
        }
        if moe {
            self.routed_layer(layer, kind);
        }
    }

    /// How many experts the model has.
    pub(super) fn experts(&self) -> u64 {
        let nested = self.nested("ffn_config", "moe_num_experts");
        self.int(&EXPERTS)
            .or(nested)
            .or(self.spec.experts.ok().and_then(|experts| in_range(experts.into())))
            .unwrap_or(0)
    }

    fn no_ffn(&self, layer: u64) -> bool {
        let block = self.list("block_configs").and_then(|blocks| blocks.get(usize::try_from(layer).ok()?));
        block.and_then(|block| block.get("ffn")?.get("no_op")).is_some_and(|no_op| no_op.is_truthy())
    }

    /// Whether a layer has experts.
    pub(super) fn is_moe(&self, layer: u64) -> bool {
        if let Some(kind) = self.word("mlp_layer_types", layer) {
            return kind == "sparse";
        }
        if let Some(on) = self.number("moe_layer_freq", layer) {
            return on > 0;
        }
        if let Some(named) = self.lists("moe_layers", layer).filter(|_| self.list("moe_layers").is_some()) {
            return named;
        }
        if self.truthy("enable_moe_block") {
            return true;
        }
        let steps = |name: &'static str| self.int(&[name]).filter(|step| *step > 1);
        let dense_first = self.int_or(&["first_k_dense_replace", "moe_layer_num_skipped"], 0);
        if layer < dense_first || self.lists("mlp_only_layers", layer) == Some(true) {
            return false;
        }
        if let Some(period) = self.int(&["expert_layer_period"]) {
            return layer % period == self.int_or(&["expert_layer_offset"], 0) % period;
        }
        if let Some(freq) = steps("moe_layer_freq") {
            return layer.is_multiple_of(freq);
        }
        let interval = steps("moe_layer_interval").is_none_or(|step| (layer + 1).is_multiple_of(step));
        let from = self.int_or(&["moe_layer_start_index"], 0);
        let to = self.int_or(&["moe_layer_end_index"], u64::MAX);
        let step = ["decoder_sparse_step", "interleave_moe_layer_step"].into_iter().find_map(steps);
        interval && (from..=to).contains(&layer) && step.is_none_or(|step| (layer + 1).is_multiple_of(step))
    }

    /// A key of an object inside the config.
    pub(super) fn nested(&self, object: &str, key: &str) -> Option<u64> {
        let value = integer(&self.text.json?.get(object)?.get(key)?.value)?;
        in_range(value)
    }

    fn dense_width(&self, layer: u64) -> u64 {
        if let Some(multiple) = self.block_multiple(layer) {
            return multiple;
        }
        if let Some(width) = self.block(layer, "ffn", "intermediate_size") {
            return width;
        }
        if self.type_is("lfm2 lfm2_moe") {
            return self.lfm_width();
        }
        if self.type_is("mpt") {
            return self.int_or(&["expansion_ratio"], 4).saturating_mul(self.hidden);
        }
        let names: &[&'static str] = match self.spec.text_type.as_str() {
            "llama4_text" => &["intermediate_size_mlp", "intermediate_size"],
            "chatglm" => &["ffn_hidden_size"],
            "falcon" | "RefinedWeb" | "RefinedWebModel" => &["ffn_hidden_size"],
            "gpt2" | "gptj" | "codegen" | "gpt_bigcode" => &["n_inner"],
            "opt" => &["ffn_dim"],
            "whisper" => &["decoder_ffn_dim"],
            "phi3small" => &["ff_intermediate_size"],
            "granitemoehybrid" => &["shared_intermediate_size", "intermediate_size"],
            "longcat_flash" => &["ffn_hidden_size", "intermediate_size"],
            _ => &["intermediate_size"],
        };
        let own = match self.spec.text_type.as_str() {
            // The class fills in the width of its smallest model whatever the hidden size.
            "falcon" | "RefinedWeb" | "RefinedWebModel" => self
                .text
                .json
                .and_then(|json| json.get("ffn_hidden_size"))
                .and_then(|node| integer(&node.value))
                .and_then(in_range),
            _ => self.at(names, layer),
        };
        own.unwrap_or(self.hidden.saturating_mul(4))
    }

    /// Nemotron-NAS: a multiple of the hidden size, of two thirds of four times it, rounded up to 256.
    fn block_multiple(&self, layer: u64) -> Option<u64> {
        let block = self.list("block_configs")?.get(usize::try_from(layer).ok()?)?;
        let factor = match block.get("ffn")?.get("ffn_mult")?.value {
            Value::Float(factor) => factor,
            Value::Int(factor) => factor as f64,
            _ => return None,
        };
        let width = 2.0 * factor * self.hidden as f64 / 3.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
        (0.0..1e6).contains(&width).then(|| (width as u64).next_multiple_of(256))
    }

    fn lfm_width(&self) -> u64 {
        let width = self.int_or(&["block_ff_dim", "intermediate_size"], self.hidden.saturating_mul(4));
        if self.text.has("block_auto_adjust_ff_dim") && !self.truthy("block_auto_adjust_ff_dim") {
            return width;
        }
        let multiple = self.int_or(&["block_multiple_of"], 256);
        (2 * width / 3).div_ceil(multiple).saturating_mul(multiple)
    }

    /// Adds `copies` dense feed-forward layers.
    pub(super) fn dense(&self, width: u64, copies: u64, kind: &mut Kind) {
        let up = self.ups();
        let bias = self.is(facts::FFN_BIAS) && !self.is_gpt_oss() || self.truthy("mlp_bias");
        let (up_bias, down_bias) = if bias { (up * width, self.hidden) } else { (0, 0) };
        for _ in 0..copies {
            let wide = Dim::cut(width, up);
            kind.matrices.push(Matrix::new(Op::DenseUp, Dim::whole(self.hidden), wide).and(up_bias));
            let down = Matrix::new(Op::DenseDown, Dim::cut(width, 1), Dim::whole(self.hidden));
            kind.matrices.push(down.and(down_bias));
        }
    }

    /// Matrices before the activation: gate and up, or up alone.
    fn ups(&self) -> u64 {
        if self.is(facts::PLAIN) { 1 } else { 2 }
    }

    fn is_gpt_oss(&self) -> bool {
        self.type_is("gpt_oss")
    }

    pub(super) fn routed_layer(&self, layer: u64, kind: &mut Kind) {
        let (hidden, up) = (self.hidden, self.ups());
        let count = self.at(&EXPERTS, layer).unwrap_or_else(|| self.experts());
        let idle = self.int_or(&["zero_expert_num"], 0);
        let names = &["moe_intermediate_size", "expert_ffn_hidden_size"];
        let width = self.at(names, layer).or_else(|| self.nested("ffn_config", "ffn_hidden_size"));
        let width = width.or(self.at(&["intermediate_size"], layer)).unwrap_or(hidden.saturating_mul(4));
        let latent = self.int(&["moe_latent_size", "routed_expert_hidden_size"]);
        let inside = latent.unwrap_or(hidden);
        let router_bias = if self.is(facts::ROUTER_BIAS) { count } else { 0 };
        // Gemma 4 scales what the router sees, and each expert.
        let scales = if self.truthy("enable_moe_block") { hidden + count } else { 0 };
        let router = Matrix::new(Op::Router, Dim::whole(hidden), Dim::whole(count + idle));
        kind.matrices.push(router.and(router_bias + scales));
        let (up_bias, down_bias) = if self.is_gpt_oss() { (count * up * width, count * inside) } else { (0, 0) };
        let wide = Dim::cut(width, up);
        kind.matrices.push(Matrix::new(Op::RoutedUp, Dim::whole(inside), wide).times(count).and(up_bias));
        let down = Matrix::new(Op::RoutedDown, Dim::cut(width, 1), Dim::whole(inside));
        kind.matrices.push(down.times(count).and(down_bias));
        if let Some(latent) = latent {
            let norm = if self.truthy("latent_moe_use_norm") { latent } else { 0 };
            kind.matrices.push(Matrix::new(Op::LatentIn, Dim::whole(hidden), Dim::whole(latent)).and(norm));
            kind.matrices.push(Matrix::new(Op::LatentBack, Dim::whole(latent), Dim::whole(hidden)));
        }
        self.shared(layer, width, kind);
        let names =
            &["num_experts_per_tok", "num_experts_per_token", "top_k_experts", "moe_topk", "moe_top_k", "moe_k"];
        let per_token = self.at(names, layer).or_else(|| self.nested("ffn_config", "moe_top_k"));
        let per_token = per_token.unwrap_or(1).min(count + idle);
        kind.experts = Some(Experts { count, idle, per_token, width: inside });
    }

    fn shared(&self, layer: u64, width: u64, kind: &mut Kind) {
        let names = &["n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts"];
        let count = self.at(names, layer);
        let own = self.at(
            &["shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size"],
            layer,
        );
        let shared = match (count, own) {
            _ if self.type_is("llama4_text") => width,
            (None, Some(own)) => own,
            (Some(count), Some(own)) => count.saturating_mul(own),
            (Some(count), None) => count.saturating_mul(width),
            (None, None) => return,
        };
        let hidden = self.hidden;
        kind.matrices.push(Matrix::new(Op::SharedUp, Dim::whole(hidden), Dim::cut(shared, self.ups())));
        kind.matrices.push(Matrix::new(Op::SharedDown, Dim::cut(shared, 1), Dim::whole(hidden)));
        if self.is(facts::SHARED_GATE) {
            kind.matrices.push(Matrix::new(Op::SharedGate, Dim::whole(hidden), Dim::whole(1)));
        }
    }
}

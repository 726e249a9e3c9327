//! Which kind of mixer each layer has.

use super::builder::Builder;
use crate::json::Node;
use crate::model::attributes::Attributes;
use crate::model::layers;
use crate::model::spec::Weight;

/// How a layer mixes tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mix {
    /// Attention to everything before.
    Full,
    /// Attention within a window.
    Window(u64),
    /// Attention within a chunk.
    Chunk(u64),
    /// Cross-attention instead of self-attention.
    Cross,
    /// Latent attention.
    Latent,
    /// Compressed attention, of a ratio.
    Compressed(u64),
    /// A recurrent layer.
    State,
    /// A recurrent layer and attention beside each other.
    Both,
    /// Nothing: the layer is a feed-forward layer.
    None,
}

impl Builder<'_> {
    /// The mixer of a layer, and whether a feed-forward layer follows it.
    pub(super) fn mix(&self, layer: u64) -> (Mix, bool) {
        if let Some(letter) = self.letter(layer) {
            return match letter {
                'M' => (Mix::State, false),
                '*' => (self.attending(layer), false),
                _ => (Mix::None, true),
            };
        }
        (self.attending_or_not(layer), true)
    }

    /// The letter of a layer where layers have one part only.
    pub(super) fn letter(&self, layer: u64) -> Option<char> {
        if !self.type_is("nemotron_h nemotron_h_mtp") {
            return None;
        }
        let pattern = self.text.json?.get("hybrid_override_pattern").and_then(|node| node.text());
        if let Some(pattern) = pattern {
            return pattern.chars().nth(usize::try_from(layer).ok()?);
        }
        self.word("layers_block_type", layer).map(|word| match word {
            "mamba" => 'M',
            "attention" => '*',
            "moe" => 'E',
            _ => '-',
        })
    }

    fn attending_or_not(&self, layer: u64) -> Mix {
        if let Some(ratio) = self.number("compress_ratios", layer) {
            return Mix::Compressed(u64::try_from(ratio).unwrap_or(0));
        }
        if self.lists("cross_attention_layers", layer) == Some(true) {
            return Mix::Cross;
        }
        let no_op = self
            .list("block_configs")
            .and_then(|blocks| blocks.get(usize::try_from(layer).ok()?)?.get("attention")?.get("no_op"));
        if no_op.is_some_and(|no_op| no_op.is_truthy()) {
            return Mix::None;
        }
        if self.heads == 0 {
            return if self.has_states() { Mix::State } else { Mix::None };
        }
        match self.is_state(layer) {
            Some(true) => Mix::State,
            _ if self.both() => Mix::Both,
            _ => self.attending(layer),
        }
    }

    /// Whether attention and a state stand beside each other in every layer.
    fn both(&self) -> bool {
        self.type_is("falcon_h1")
    }

    fn has_states(&self) -> bool {
        ["linear_num_value_heads", "mamba_d_state", "ssm_state_size", "state_size"]
            .into_iter()
            .any(|key| self.text.has(key))
    }

    /// Whether a layer is recurrent, by whatever the config says it with; `None` where it says nothing.
    fn is_state(&self, layer: u64) -> Option<bool> {
        let config = self.text.json.and_then(|json| json.get("linear_attn_config"));
        if let Some(config) = config {
            let named = |key: &str| {
                let items = config.get(key)?.items()?;
                // These lists count layers from 1.
                Some(
                    items.iter().any(|item| crate::model::reading::integer(&item.value) == Some(i128::from(layer) + 1)),
                )
            };
            return named("kda_layers").or_else(|| named("full_attn_layers").map(|full| !full));
        }
        if let Some(kind) = self.number("attn_type_list", layer) {
            return Some(kind == 0);
        }
        if let Some(kind) = self.word("layer_types", layer).or_else(|| self.word("layers_block_type", layer)) {
            return Some(["linear", "mamba", "conv", "recurrent"].iter().any(|word| kind.contains(word)));
        }
        if let Some(named) = self.lists("full_attn_idxs", layer) {
            return Some(!named);
        }
        if self.text.has("mamba_d_state")
            && let Some(period) = self.int(&["attn_layer_period"])
        {
            return Some(layer % period != self.int_or(&["attn_layer_offset"], 0) % period);
        }
        if self.text.has("linear_num_value_heads") {
            let every = self.int_or(&["full_attention_interval"], 4);
            return Some(!(layer + 1).is_multiple_of(every));
        }
        None
    }

    /// How an attention layer attends.
    fn attending(&self, layer: u64) -> Mix {
        if self.spec.mla.is_some() {
            return Mix::Latent;
        }
        if let Some(chunk) = self.int(&["attention_chunk_size"]).filter(|_| self.type_is("llama4_text llama4")) {
            let rope = match self.number("no_rope_layers", layer) {
                Some(rope) => rope != 0,
                None => !(layer + 1).is_multiple_of(self.int_or(&["no_rope_layer_interval"], 4)),
            };
            return if rope { Mix::Chunk(chunk) } else { Mix::Full };
        }
        if let Some(kind) = self.word("attention_layers", layer) {
            let window = self.int_or(&["window_size"], 256);
            return if kind == "local" { Mix::Window(window) } else { Mix::Full };
        }
        if self.text.has("use_sliding_window") && !self.truthy("use_sliding_window") {
            return Mix::Full;
        }
        let Some(window) = self.spec.window.ok().filter(|window| *window > 0) else { return Mix::Full };
        let sliding = match self.number("hybrid_layer_pattern", layer) {
            Some(kind) => kind == 1,
            None => layers::slides(self.text, self.layers, layer, self.spec.model_type == "gemma2"),
        };
        if sliding { Mix::Window(window) } else { Mix::Full }
    }

    /// Says what the mixers of the model are taken for.
    pub(super) fn remark(&self, top: &Attributes<'_>) {
        const TOWERS: [&str; 6] =
            ["vision_config", "audio_config", "visual", "vision_tower", "thinker_config", "speech_config"];
        if TOWERS.iter().any(|key| top.json.is_some_and(|json| json.get(key).is_some_and(Node::is_truthy))) {
            self.say(
                Weight::Info,
                "Towers of other modalities and what joins them to the language model are not counted: memory errs on \
                 the low side by their weights.",
            );
        }
        let says = |key: &str| self.text.json.is_some_and(|json| json.get(key).is_some_and(|node| node.is_truthy()));
        if says("blocksparse_block_size") {
            self.say(
                Weight::Caution,
                "Block-sparse attention is counted as full attention, which errs on the high side.",
            );
        }
        if says("attn_res_block_size") {
            self.say(Weight::Caution, "Attention over residuals is not counted, which errs on the low side.");
        }
        if says("altup_num_inputs") || says("hidden_size_per_layer_input") {
            self.say(
                Weight::Caution,
                "Per-layer inputs and alternating updates are not counted, which errs on the low side.",
            );
        }
        if says("is_encoder_decoder") {
            self.say(Weight::Caution, "Only the decoder is counted; the encoder runs once before it.");
        }
    }
}

//! Remarks on a reading: what the config says that the estimate simplifies, leaves out or could not understand.

use super::classes::Class;
use super::resolve::Parts;
use super::spec::{ModelSpec, Note, Weight};
use crate::json::{Node, Repair, Value};

/// Keys that tell of something which vLLM's estimator does not model, with the effect on its numbers.
const SIMPLIFIED: [(&[&str], &str); 13] = [
    (
        &[
            "linear_num_value_heads",
            "linear_attn_config",
            "mamba_d_state",
            "ssm_state_size",
            "mamba_num_heads",
            "mamba_n_heads",
        ],
        "Linear-attention or state-space layers are counted as full attention by the vLLM model, with a KV cache they do not have.",
    ),
    (&["attention_chunk_size"], "Chunked attention is counted as full attention by the vLLM model."),
    (
        &["index_topk", "index_n_heads"],
        "Sparse attention (an indexer picks the tokens) is counted as full attention by the vLLM model; the indexer itself is not counted.",
    ),
    (
        &["shared_expert_intermediate_size"],
        "A shared expert described by shared_expert_intermediate_size is not counted by the vLLM model.",
    ),
    (
        &["intermediate_size_mlp"],
        "Dense layers are wider than the experts (intermediate_size_mlp); the vLLM model gives them the experts' width.",
    ),
    (
        &["decoder_sparse_step", "mlp_only_layers", "expert_layer_period", "moe_layers"],
        "Which layers have experts is set by a key that the vLLM model does not read; it counts experts in every layer.",
    ),
    (&["ffn_config"], "FFN sizes inside ffn_config are not read by the vLLM model."),
    (&["block_configs"], "Layers differ block by block; the vLLM model counts them all alike."),
    (
        &["hybrid_override_pattern", "layers_block_type"],
        "Layers are of different kinds, most with one part only; the vLLM model gives every layer both attention and FFN.",
    ),
    (&["compress_ratios"], "Compressed attention is not modelled by the vLLM model."),
    (&["num_nextn_predict_layers", "num_mtp_layers"], "Multi-token prediction layers are not counted."),
    (&["num_kv_shared_layers"], "Layers that share KV are counted with a KV cache of their own by the vLLM model."),
    (
        &["is_encoder_decoder"],
        "This is an encoder-decoder model; the vLLM model counts one stack only, and no cross-attention.",
    ),
];

/// Keys that no estimate reads and that need no mention.
const IRRELEVANT: [&str; 44] = [
    "architectures",
    "model_type",
    "auto_map",
    "transformers_version",
    "use_cache",
    "initializer_range",
    "hidden_act",
    "hidden_activation",
    "hidden_dropout",
    "attention_dropout",
    "attention_bias",
    "mlp_bias",
    "bias",
    "rms_norm_eps",
    "layer_norm_eps",
    "layer_norm_epsilon",
    "layernorm_epsilon",
    "rope_theta",
    "rope_scaling",
    "rope_parameters",
    "rope_local_base_freq",
    "rotary_dim",
    "partial_rotary_factor",
    "tie_word_embeddings",
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "torch_dtype",
    "dtype",
    "max_position_embeddings",
    "pretraining_tp",
    "router_aux_loss_coef",
    "aux_loss_alpha",
    "output_router_logits",
    "scoring_func",
    "seq_aux",
    "topk_method",
    "topk_group",
    "n_group",
    "norm_topk_prob",
    "routed_scaling_factor",
    "resid_pdrop",
    "embd_pdrop",
    "attn_pdrop",
];

/// Keys that are read.
const READ: [&str; 71] = [
    "attention_k_eq_v",
    "attention_other_setting",
    "attn_config",
    "block_configs",
    "compression_config",
    "config",
    "decoder",
    "decoder_layers",
    "d_model",
    "encoder_attention_heads",
    "encoder_layers",
    "expert_ffn_hidden_size",
    "ffn_hidden_size",
    "first_k_dense_replace",
    "global_attn_every_n_layers",
    "global_head_dim",
    "head_dim",
    "hidden_size",
    "hidden_size_per_head",
    "hybrid_override_pattern",
    "interleave_moe_layer_step",
    "intermediate_size",
    "kv_channels",
    "kv_lora_rank",
    "language_config",
    "layer_types",
    "layers_block_type",
    "llm_config",
    "max_window_layers",
    "moe_intermediate_size",
    "moe_k",
    "moe_layer_freq",
    "moe_num_experts",
    "moe_top_k",
    "moe_topk",
    "multi_query",
    "multi_query_group_num",
    "n_embd",
    "n_embed",
    "n_head",
    "n_head_kv",
    "n_heads",
    "n_layer",
    "n_layers",
    "n_routed_experts",
    "n_shared_experts",
    "new_decoder_architecture",
    "num_attention_groups",
    "num_attention_heads",
    "num_experts",
    "num_experts_per_tok",
    "num_experts_per_token",
    "num_global_key_value_heads",
    "num_heads",
    "num_hidden_layers",
    "num_key_value_heads",
    "num_kv_heads",
    "num_layers",
    "num_local_experts",
    "num_shared_experts",
    "padded_vocab_size",
    "q_lora_rank",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "quantization_config",
    "sliding_window",
    "sliding_window_pattern",
    "text_config",
    "thinker_config",
    "use_sliding_window",
    "v_head_dim",
];
const READ_LATER: [&str; 4] = ["vocab_size", "top_k_experts", "sliding_window_size", "use_bidirectional_attention"];

/// All remarks on a reading, the weightiest first.
pub(super) fn notes(
    spec: &ModelSpec,
    parts: &Parts<'_>,
    root: &Node,
    repairs: &[Repair],
    unwrapped: bool,
) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut say = |weight, text: String| notes.push(Note { weight, text });
    if let Some(reason) = &spec.unreadable {
        say(Weight::Strong, format!("The vLLM model counts nothing here: {reason}."));
    }
    if parts.missing_part {
        let class = &spec.text_type;
        say(
            Weight::Strong,
            format!(
                "{} keeps its language model in a sub-config that is missing here: the keys at the top level are ignored, and every number is a default of {class}.",
                spec.model_type
            ),
        );
    }
    if !spec.class_known {
        let named = if spec.model_type.is_empty() {
            "The config has no model_type"
        } else {
            "This model_type is not known here"
        };
        say(
            Weight::Caution,
            format!("{named}: only the keys that stand in the config count, no aliases and no class defaults."),
        );
    }
    if parts.text.json.and_then(|json| json.get("num_key_value_heads")).is_some_and(Node::is_null)
        && !parts.text.class.is_some_and(Class::null_kv_is_heads)
    {
        say(Weight::Caution, "num_key_value_heads is null, which vLLM refuses when it starts.".to_owned());
    }
    for (name, reading) in spec.fields() {
        if let Err(reason) = &reading.value
            && spec.unreadable.is_none()
        {
            say(Weight::Caution, format!("{name} {reason}: the components that need it are left out."));
        }
    }
    if let Some(method) = spec.quantization.method.as_deref().filter(|method| method.is_empty()) {
        let _ = method;
        say(Weight::Caution, "A quantization is described without a quant_method; vLLM does not know it, and weights count as not quantized.".to_owned());
    }
    for (keys, effect) in SIMPLIFIED {
        let Some(key) = keys.iter().find(|key| matters(parts, root, key)) else { continue };
        say(Weight::Caution, format!("{effect} ({key})"));
    }
    let kinds = parts.text.json.and_then(|json| json.get("layer_types")).and_then(Node::items).unwrap_or_default();
    let named = |word: &str| kinds.iter().any(|kind| kind.text().is_some_and(|kind| kind.contains(word)));
    if named("linear") && !notes.iter().any(|note| note.text.starts_with("Linear")) {
        let text = "Linear-attention layers are counted as full attention by the vLLM model.".to_owned();
        notes.push(Note { weight: Weight::Caution, text });
    }
    if unwrapped {
        notes.push(Note {
            weight: Weight::Info,
            text: "The config was taken out of the object around it (\"config\").".to_owned(),
        });
    }
    notes.extend(repairs.iter().map(|repair| Note { weight: Weight::Info, text: repair.note().to_owned() }));
    if let Some(text) = unused(parts) {
        notes.push(Note { weight: Weight::Info, text });
    }
    let (mut sorted, rest): (Vec<_>, Vec<_>) = notes.into_iter().partition(|note| note.weight == Weight::Strong);
    let (caution, info): (Vec<_>, Vec<_>) = rest.into_iter().partition(|note| note.weight == Weight::Caution);
    sorted.extend(caution);
    sorted.extend(info);
    sorted
}

/// Whether a key is set to something that makes a difference.
fn matters(parts: &Parts<'_>, root: &Node, key: &str) -> bool {
    let node = parts.text.json.and_then(|json| json.get(key)).or_else(|| root.get(key));
    node.is_some_and(|node| node.is_truthy() && !(key == "decoder_sparse_step" && node.value == Value::Int(1)))
}

/// Whether a key of a config is read for a field or for a remark, wherever it stands.
pub(super) fn is_read(key: &str) -> bool {
    READ.contains(&key) || READ_LATER.contains(&key) || SIMPLIFIED.iter().any(|(keys, _)| keys.contains(&key))
}

/// Keys of the language model's config that were not understood.
fn unused(parts: &Parts<'_>) -> Option<String> {
    const SHOWN: usize = 24;
    let known = |key: &str| {
        IRRELEVANT.contains(&key)
            || is_read(key)
            || key.starts_with('_')
            || key.ends_with("_token_id")
            || key.ends_with("_token_index")
            || key.ends_with("_dropout")
            || key.ends_with("_config")
    };
    let keys: Vec<&str> = parts.text.json?.members().iter().map(|m| m.key.as_str()).filter(|key| !known(key)).collect();
    let more = keys.len().saturating_sub(SHOWN);
    let listed: Vec<String> = keys.iter().take(SHOWN).map(|key| key.chars().take(60).collect()).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!keys.is_empty()).then(|| format!("Keys that the estimate does not use: {}{rest}.", listed.join(", ")))
}

//! Norms, and what is rotated or normed within attention, model by model.

use super::{of, step};
use crate::beside::model;
use rooflens::estimate::Component;

/// Bytes that a token's norms read and write in two layers, in elements of the hidden state, without the norm behind the
/// last layer; and what its rotary embeddings and inner norms read and write.
fn of_a_token(config: &str, words: &str) -> [u128; 4] {
    let spec = model(&format!(
        r#"{{"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 96, "vocab_size": 128,
        "torch_dtype": "bfloat16", {config}}}"#
    ));
    let found = step(&spec, words, "1@8");
    let norms = [("input", 2), ("output", 1)].map(|(name, last)| of(&found, Component::Norm, name) / 128 - last);
    let inner = ["inner_input", "inner_output"].map(|name| {
        [Component::Attention, Component::MlaAttention]
            .into_iter()
            .filter(|component| found.parts.iter().any(|part| part.component == *component))
            .map(|component| of(&found, component, name))
            .sum()
    });
    [norms[0], norms[1], inner[0], inner[1]]
}

#[test]
fn each_class_has_its_own() {
    // Four query heads and two KV heads of 16, in 16 bit and two layers: 6 x 16 read, 4 x 16 written. Keys end in the cache.
    let kv = r#""num_key_value_heads": 2, "head_dim": 16"#;
    let (read, written) = (6 * 16 * 2 * 2, 4 * 16 * 2 * 2);
    for (config, expected) in [
        (r#""model_type": "llama""#, [8, 8, read, written]),
        // With norms of queries and keys it is one pass.
        (r#""model_type": "qwen3""#, [8, 8, read, written]),
        (r#""model_type": "minimax_m2", "num_local_experts": 4, "num_experts_per_tok": 2"#, [8, 8, read, written]),
        // What norms after a part is fused with the norm before the next one.
        (r#""model_type": "gemma2""#, [8, 8, read, written]),
        (r#""model_type": "exaone4""#, [8, 4, read, written]),
        // A part beside the other: one norm of one input, or two.
        (r#""model_type": "cohere", "use_qk_norm": false"#, [4, 4, read, written]),
        (r#""model_type": "gpt_neox", "rotary_pct": 1"#, [6, 6, read, written]),
        (r#""model_type": "gpt_neox", "rotary_pct": 1.0, "use_parallel_residual": false"#, [8, 8, read, written]),
        // A half or a quarter of a head is rotated.
        (r#""model_type": "glm4""#, [8, 8, read / 2, written / 2]),
        (r#""model_type": "gpt_neox""#, [6, 6, read / 4, written / 4]),
        (r#""model_type": "gpt_neox", "rotary_pct": 0.5"#, [6, 6, read / 2, written / 2]),
        (r#""model_type": "llama", "partial_rotary_factor": 0.5"#, [8, 8, read / 2, written / 2]),
        (r#""model_type": "llama", "rotary_dim": 4"#, [8, 8, read / 4, written / 4]),
        // Learned positions, and linear biases.
        (r#""model_type": "opt", "ffn_dim": 96"#, [8, 8, 0, 0]),
        (r#""model_type": "bloom""#, [8, 8, 0, 0]),
        // Every fourth layer goes without, and these do not have one; or all that a list says.
        (r#""model_type": "smollm3""#, [8, 8, read, written]),
        (r#""model_type": "smollm3", "no_rope_layers": [1, 0]"#, [8, 8, read / 2, written / 2]),
    ] {
        assert_eq!(of_a_token(&format!("{config}, {kv}"), ""), expected, "{config}");
    }
    // On two ranks each has half of the heads.
    assert_eq!(of_a_token(&format!(r#""model_type": "llama", {kv}"#), "tp2"), [8, 8, read / 2, written / 2]);
}

#[test]
fn latents_are_normed_whole_on_every_rank() {
    let config = r#""model_type": "deepseek_v2", "kv_lora_rank": 32, "q_lora_rank": 48, "qk_nope_head_dim": 16,
        "qk_rope_head_dim": 8, "v_head_dim": 16, "n_routed_experts": 4, "num_experts_per_tok": 2,
        "moe_intermediate_size": 32, "first_k_dense_replace": 2"#;
    // Four rotary parts of 8 and that of the key; both latents. Queries' parts are written again, the rest is cached.
    assert_eq!(of_a_token(config, "")[2..], [(4 * 8 + 8 + 48 + 32) * 2 * 2, (4 * 8 + 48) * 2 * 2]);
    assert_eq!(of_a_token(config, "tp2")[2..], [(2 * 8 + 8 + 48 + 32) * 2 * 2, (2 * 8 + 48) * 2 * 2]);
}

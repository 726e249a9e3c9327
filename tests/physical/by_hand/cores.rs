//! What happens between projections: attention of every sort, and states.

use super::{step, terms};
use crate::beside::{model, preset, term};
use crate::memory::token;
use rooflens::model::anatomy::Core;

#[test]
fn windows_and_chunks() {
    let window = |layers: u64| {
        model(&format!(
            r#"{{"model_type": "mistral", "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
            "num_hidden_layers": {layers}, "intermediate_size": 96, "vocab_size": 100, "sliding_window": 4}}"#
        ))
    };
    // (case, pairs, distinct tokens): each new token sees itself and up to three before it.
    for (case, pairs, seen) in [("3@10c", 4 + 4 + 4, 6), ("6@8c", 3 + 4 * 5, 8), ("3", 1 + 2 + 3, 3), ("1@100", 4, 4)] {
        let found = step(&window(5), "", case);
        terms(&found, &[("attn_qk", 2 * 4 * 16 * pairs * 5), ("attn_av", 2 * 4 * 16 * pairs * 5)]);
        assert_eq!(term(&found, "attn_input"), seen * 128 * 5, "{case}");
    }
    // Chunks of eight in three layers of four: the tokens at 6 and 7 end one, those at 8 and 9 begin the next.
    let chunked = model(
        r#"{"model_type": "llama4_text", "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
        "head_dim": 16, "num_hidden_layers": 4, "attention_chunk_size": 8, "vocab_size": 100, "torch_dtype": "bfloat16"}"#,
    );
    for (case, pairs, full, seen, all) in
        [("4@10c", 7 + 8 + 1 + 2, 7 + 8 + 9 + 10, 10, 10), ("2@10c", 1 + 2, 9 + 10, 2, 10), ("1@17", 1, 17, 1, 17)]
    {
        let found = step(&chunked, "", case);
        assert_eq!(term(&found, "attn_qk"), 2 * 4 * 16 * (3 * pairs + full), "{case}");
        assert_eq!(term(&found, "attn_input"), 128 * (3 * seen + all), "{case}");
    }
}

#[test]
fn latents_are_absorbed_or_expanded() {
    let spec = preset("deepseek-v3");
    let decode = step(&spec, "", "2*1@4096");
    terms(
        &decode,
        &[
            ("attn_qk", 2 * 128 * 576 * 2 * 4096 * 61),
            ("attn_av", 2 * 128 * 512 * 2 * 4096 * 61),
            ("attn_query", 2 * 128 * 576 * 2 * 61),
            ("attn_input", 2 * 4096 * 1152 * 61),
            ("attn_output", 2 * 128 * 512 * 2 * 61),
            ("kv_cache", 2 * 1152 * 61),
            ("absorb_k_proj", 2 * 2 * 128 * 128 * 512 * 61),
            ("absorb_k_weight", 128 * 128 * 512 * 2 * 61),
            ("absorb_v_proj", 2 * 2 * 128 * 512 * 128 * 61),
            ("kv_b_proj", 0),
        ],
    );
    // 1024 new tokens after 3072: the prefix is read from the cache, keys and values of all 4096 are computed again.
    let chunk = step(&spec, "", "1024@4096c");
    let pairs = 1024 * 3072 + 1024 * 1025 / 2;
    terms(
        &chunk,
        &[
            ("attn_qk", 2 * 128 * 192 * pairs * 61),
            ("attn_av", 2 * 128 * 128 * pairs * 61),
            ("attn_input", 3072 * 1152 * 61),
            ("attn_expanded", 4096 * 128 * 256 * 2 * 61),
            ("kv_b_proj", 2 * 4096 * 512 * 128 * 256 * 61),
            ("kv_b_output", 4096 * 128 * 256 * 2 * 61),
            ("kv_cache", 1024 * 1152 * 61),
            ("absorb_k_proj", 0),
        ],
    );
    // 64 new tokens after 4032 attend to latents: 1088 elements of each of 64 x 4032 + 64 x 65 / 2 pairs and 512 x 256
    // for each of 64 tokens are fewer than 320 for each pair and 512 x 256 for each of 4096.
    let short = step(&spec, "", "64@4096c");
    let pairs = 64 * 4032 + 64 * 65 / 2;
    terms(
        &short,
        &[
            ("attn_qk", 2 * 128 * 576 * pairs * 61),
            ("attn_av", 2 * 128 * 512 * pairs * 61),
            ("attn_input", 4096 * 1152 * 61),
            ("absorb_k_proj", 2 * 64 * 128 * 128 * 512 * 61),
            ("kv_b_proj", 0),
        ],
    );
}

#[test]
fn an_indexer_reads_all_and_attention_what_it_picks() {
    let spec = preset("deepseek-v3.2");
    // Below 2048 tokens all are picked. An index key is 128 bytes and a scale of 4.
    for (case, tokens, picked, scored, seen) in [
        ("1@1000", 1, 1000, 1000, 1000),
        ("1@8192", 1, 2048, 8192, 2048),
        ("1*4@8192:3", 4, 4 * 2048, 8189 + 8190 + 8191 + 8192, 8192),
    ] {
        let found = step(&spec, "", case);
        terms(
            &found,
            &[
                ("attn_qk", 2 * 128 * 576 * picked * 61),
                ("attn_input", seen * 1152 * 61),
                ("kv_cache", tokens * 1152 * 61),
                ("index_scores", 2 * 64 * 128 * scored * 61),
                ("index_cache", if tokens == 1 { scored * 132 * 61 } else { 8192 * 132 * 61 }),
                ("index_written", tokens * 132 * 61),
            ],
        );
    }
}

#[test]
fn states_cost_the_same_at_every_length() {
    // (config, layers with a state, FLOPs of a token, bytes of a state, FLOPs of the convolution, bytes of its state)
    let delta = r#"{"model_type": "qwen3_next", "num_hidden_layers": 8, "torch_dtype": "bfloat16"}"#;
    let mamba_2 = r#"{"model_type": "nemotron_h", "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 100,
        "hybrid_override_pattern": "M*M", "mamba_num_heads": 8, "mamba_head_dim": 16, "ssm_state_size": 32, "n_groups": 2,
        "conv_kernel": 4, "torch_dtype": "bfloat16"}"#;
    let kimi = r#"{"model_type": "kimi_linear", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4,
        "vocab_size": 100, "intermediate_size": 96, "kv_lora_rank": 32, "qk_rope_head_dim": 8, "qk_nope_head_dim": 16,
        "v_head_dim": 16, "q_lora_rank": null, "torch_dtype": "bfloat16", "linear_attn_config": {"num_heads": 4,
        "head_dim": 16, "short_conv_kernel_size": 4, "kda_layers": [1, 2, 3], "full_attn_layers": [4]}}"#;
    let lightning = r#"{"model_type": "minimax_m1", "hidden_size": 64, "num_attention_heads": 4, "head_dim": 16,
        "num_key_value_heads": 2, "num_hidden_layers": 4, "vocab_size": 100, "intermediate_size": 96,
        "attn_type_list": [0, 0, 0, 1], "torch_dtype": "bfloat16"}"#;
    for (config, layers, update, state, convolution, taps) in [
        // Decay, product with the key, update of rank one, product with the query: 7 for each of 32 x 128 x 128.
        (delta, 6, 7 * 32 * 128 * 128, 32 * 128 * 128 * 2, 2 * 4 * 8192, 3 * 8192 * 2),
        // Decay, input and output: 6 for each of 8 x 16 x 32; the state is kept in 32 bit.
        (mamba_2, 2, 6 * 8 * 16 * 32, 8 * 16 * 32 * 4, 2 * 4 * (128 + 2 * 2 * 32), 3 * (128 + 2 * 2 * 32) * 2),
        // A decay for each channel is one more.
        (kimi, 3, 8 * 4 * 16 * 16, 4 * 16 * 16 * 4, 2 * 4 * 3 * 64, 3 * 3 * 64 * 2),
        // Decay, update and output: 5; there is no convolution.
        (lightning, 3, 5 * 4 * 16 * 16, 4 * 16 * 16 * 2, 0, 0),
    ] {
        let spec = model(config);
        for (case, tokens) in [("2*1@8192", 2), ("2*1@1000000", 2), ("1*3@4096:2", 3)] {
            let sequences = if tokens == 2 { 2 } else { 1 };
            let found = step(&spec, "", case);
            let name = &spec.model_type;
            assert_eq!(term(&found, "state_update"), tokens * update * layers, "{name}");
            assert_eq!(term(&found, "state_read"), sequences * state * layers, "{name}");
            assert_eq!(term(&found, "state_written"), sequences * state * layers, "{name}");
            assert_eq!(term(&found, "convolution"), tokens * convolution * layers, "{name}");
            assert_eq!(term(&found, "convolution_state_read"), sequences * taps * layers, "{name}");
            assert_eq!(term(&found, "convolution_state_written"), sequences * taps * layers, "{name}");
        }
    }
}

#[test]
fn layers_of_hybrids_by_every_key() {
    // Layers with attention of heads and layers with a state.
    #[track_caller]
    fn counts(config: &str, expected: (u64, u64)) {
        let spec = model(config);
        let anatomy = spec.anatomy.as_ref().unwrap();
        let count = |is: fn(&Core) -> bool| {
            let with = anatomy.counted().filter(|(kind, _)| kind.cores.iter().any(is));
            with.map(|(_, layers)| layers).sum::<u64>()
        };
        let found = (count(|core| matches!(core, Core::Heads(_))), count(|core| matches!(core, Core::State(_))));
        assert_eq!(found, expected, "{config}");
    }
    let base = r#""hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100"#;
    counts(&format!(r#"{{"model_type": "qwen3_next", {base}, "num_hidden_layers": 10}}"#), (2, 8));
    counts(
        &format!(r#"{{"model_type": "qwen3_next", {base}, "num_hidden_layers": 10, "full_attention_interval": 3}}"#),
        (3, 7),
    );
    let listed = r#""layer_types": ["full_attention", "linear_attention", "full_attention"]"#;
    counts(&format!(r#"{{"model_type": "qwen3_next", {base}, "num_hidden_layers": 3, {listed}}}"#), (2, 1));
    let jamba = r#""mamba_d_state": 16, "attn_layer_period": 8, "attn_layer_offset": 4"#;
    counts(&format!(r#"{{"model_type": "jamba", {base}, "num_hidden_layers": 20, {jamba}}}"#), (2, 18));
    let letters =
        r#""hybrid_override_pattern": "M-M*-ME", "mamba_num_heads": 4, "mamba_head_dim": 16, "ssm_state_size": 8"#;
    counts(&format!(r#"{{"model_type": "nemotron_h", {base}, {letters}}}"#), (1, 3));
    let beside = r#""mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 8, "num_hidden_layers": 5"#;
    counts(&format!(r#"{{"model_type": "falcon_h1", {base}, {beside}}}"#), (5, 5));
    let blocks = r#""block_configs": [{"attention": {"n_heads_in_group": 2}, "ffn": {"ffn_mult": 1.0}},
        {"attention": {"no_op": true}, "ffn": {"ffn_mult": 1.0}}, {"attention": {"n_heads_in_group": 4}, "ffn": {"no_op": true}}]"#;
    let config = format!(r#"{{"model_type": "nemotron-nas", {base}, "num_hidden_layers": 3, {blocks}}}"#);
    counts(&config, (2, 0));
    // Two KV heads in one layer and one in the other, of 16 elements.
    assert_eq!(token(&model(&config), ""), (2 + 1) * 2 * 16 * 2);
}

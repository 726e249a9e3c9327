//! Terms of the physical model against numbers that were worked out with pencil and paper: models so small that every
//! factor can be seen.

use crate::beside::{batch, llama, model, physical, preset, settings, term};
use crate::memory::token;
use rooflens::estimate::physical::{Assumptions, Physical};
use rooflens::estimate::{Breakdown, Component, Estimator, Scope};
use rooflens::hardware::{self, Precision};
use rooflens::model::ModelSpec;

/// Three layers of four heads of 16 on two KV heads; a vocabulary that is padded from 100 to 128.
fn small() -> ModelSpec {
    llama(
        r#""hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "num_hidden_layers": 3,
        "intermediate_size": 96, "vocab_size": 100, "tie_word_embeddings": false"#,
    )
}

#[track_caller]
fn step(spec: &ModelSpec, words: &str, case: &str) -> Breakdown {
    physical(spec, words).stage(&batch(case), 0).unwrap()
}

#[track_caller]
fn terms(found: &Breakdown, expected: &[(&str, u128)]) {
    for (name, amount) in expected {
        assert_eq!(term(found, name), *amount, "{name}");
    }
}

#[track_caller]
fn of(found: &Breakdown, component: Component, name: &str) -> u128 {
    let part = found.parts.iter().find(|part| part.component == component).expect("a component");
    part.terms.iter().filter(|term| term.def.name == name).map(|term| term.amount).sum()
}

#[test]
fn a_dense_step() {
    // Three new tokens after seven: 8 + 9 + 10 pairs, ten tokens of the cache, one row of logits.
    let found = step(&small(), "", "3@10c");
    terms(
        &found,
        &[
            ("qkv_proj", 2 * 3 * 64 * 128 * 3),
            ("qkv_input", 3 * 64 * 2 * 3),
            ("qkv_weight", 64 * 128 * 2 * 3),
            ("qkv_output", 3 * 128 * 2 * 3),
            ("attn_qk", 2 * 4 * 16 * 27 * 3),
            ("attn_av", 2 * 4 * 16 * 27 * 3),
            ("attn_query", 3 * 64 * 2 * 3),
            ("attn_input", 10 * 128 * 3),
            ("attn_output", 3 * 64 * 2 * 3),
            ("kv_cache", 3 * 128 * 3),
            ("out_proj", 2 * 3 * 64 * 64 * 3),
            ("dense_up_gate_proj", 2 * 3 * 64 * 192 * 3),
            ("dense_up_gate_weight", 64 * 192 * 2 * 3),
            ("dense_act_input", 3 * 192 * 2 * 3),
            ("dense_act_output", 3 * 96 * 2 * 3),
            ("dense_down_proj", 2 * 3 * 96 * 64 * 3),
            ("head_proj", 2 * 64 * 128),
            ("head_weight", 64 * 128 * 2),
            ("head_output", 128 * 2),
        ],
    );
    // What a token looks up comes and goes once; two norms a layer each read and write hidden state and residual.
    assert_eq!(of(&found, Component::Embedding, "rows"), 3 * 64 * 2);
    assert_eq!(of(&found, Component::Embedding, "output"), 3 * 64 * 2);
    let norms = 3 * 2 * 2 * 64 * 2 * 3;
    assert_eq!((of(&found, Component::Norm, "input"), of(&found, Component::Norm, "output")), (norms, norms));
}

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

fn experts(more: &str) -> ModelSpec {
    model(&format!(
        r#"{{"model_type": "qwen2_moe", "num_experts": 8, "num_experts_per_tok": 2, "hidden_size": 64,
        "moe_intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4,
        "shared_expert_intermediate_size": 48, "intermediate_size": 96, "vocab_size": 64, "torch_dtype": "bfloat16"{more}}}"#
    ))
}

#[test]
fn a_step_with_experts() {
    let found = step(&experts(""), "", "3*1@10");
    terms(
        &found,
        &[
            ("router_proj", 2 * 3 * 64 * 8 * 2),
            ("router_weight", 64 * 8 * 2 * 2),
            ("router_output", 3 * 8 * 2 * 2),
            ("routed_up_gate_proj", 2 * 6 * 64 * 64 * 2),
            ("routed_up_gate_input", 6 * 64 * 2 * 2),
            ("routed_down_proj", 2 * 6 * 32 * 64 * 2),
            // 4.625 of eight experts.
            ("routed_down_weight", 37 * 32 * 64 * 2 * 2 / 8),
            ("routed_up_gate_weight", 37 * 64 * 64 * 2 * 2 / 8),
            ("routed_down_output", 6 * 64 * 2 * 2),
            ("combine_input", 6 * 64 * 2 * 2),
            ("combine_output", 3 * 64 * 2 * 2),
            // The shared expert is as wide as its own key says, and has a gate.
            ("shared_up_gate_proj", 2 * 3 * 64 * 96 * 2),
            ("shared_down_proj", 2 * 3 * 48 * 64 * 2),
            ("shared_down_weight", 48 * 64 * 2 * 2),
            ("shared_gate_proj", 2 * 3 * 64 * 2),
        ],
    );
    let balanced = Assumptions { balanced: true, ..Assumptions::default() };
    for (case, touched) in [("3*1@10", 6), ("1@10", 2), ("100*1@10", 8)] {
        let even = Physical::new(&experts(""), &settings(""), balanced, None).unwrap().stage(&batch(case), 0).unwrap();
        assert_eq!(term(&even, "routed_down_weight"), touched * 32 * 64 * 2 * 2, "{case}");
    }
}

#[test]
fn data_parallel_ranks_share_experts_and_nothing_else() {
    let spec = experts(r#", "mlp_only_layers": [0]"#);
    for (words, ways) in [("", 1), ("dp4", 1), ("tp2 dp4", 2), ("tp2 dp4 ep", 2)] {
        let found = step(&spec, words, "16*1@8");
        terms(
            &found,
            &[
                // A dense layer and a shared expert are cut by tensor parallelism only.
                ("dense_up_gate_proj", 2 * 16 * 64 * 192 / ways),
                ("dense_down_weight", 96 * 64 * 2 / ways),
                ("shared_down_proj", 2 * 16 * 48 * 64 / ways),
                ("out_proj", 2 * 16 * 64 * 64 * 2 / ways),
                // 16 tokens of each of four ranks, over as many ranks.
                ("routed_down_proj", 2 * 32 * 32 * 64 / ways),
            ],
        );
    }
}

#[test]
fn layers_with_experts_by_every_key() {
    let dense = |spec: &ModelSpec| term(&step(spec, "", "1@8"), "dense_down_proj");
    let routed = |spec: &ModelSpec| term(&step(spec, "", "1@8"), "router_proj");
    let counts = |more: &str| {
        let spec = experts(&format!(r#", "num_hidden_layers": 6, {more}"#));
        (dense(&spec) / (2 * 96 * 64), routed(&spec) / (2 * 64 * 8))
    };
    assert_eq!(counts(r#""decoder_sparse_step": 2"#), (3, 3));
    assert_eq!(counts(r#""decoder_sparse_step": 4"#), (5, 1));
    assert_eq!(counts(r#""mlp_only_layers": [1, 4, 5]"#), (3, 3));
    assert_eq!(counts(r#""moe_layers": [2]"#), (5, 1));
    assert_eq!(counts(r#""expert_layer_period": 3, "expert_layer_offset": 1"#), (4, 2));
    assert_eq!(counts(r#""moe_layer_freq": [0, 1, 1, 1, 1, 0]"#), (2, 4));
    assert_eq!(counts(r#""first_k_dense_replace": 4"#), (4, 2));
}

#[test]
fn an_ffn_without_a_gate() {
    let spec = model(
        r#"{"model_type": "opt", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 3, "ffn_dim": 96,
        "vocab_size": 100, "torch_dtype": "bfloat16"}"#,
    );
    let found = step(&spec, "", "5*1@8");
    terms(
        &found,
        &[
            ("dense_up_gate_proj", 2 * 5 * 64 * 96 * 3),
            ("dense_up_gate_weight", 64 * 96 * 2 * 3),
            ("dense_up_gate_output", 5 * 96 * 2 * 3),
            ("dense_act_input", 5 * 96 * 2 * 3),
            ("dense_down_proj", 2 * 5 * 96 * 64 * 3),
        ],
    );
}

#[test]
fn ranks_share_kv_heads_and_the_vocabulary() {
    // Two KV heads: one on each of two ranks, and the same two twice on four.
    for (tp, heads, kv) in [(1, 4, 2), (2, 2, 1), (4, 1, 1)] {
        let found = step(&small(), &format!("tp{tp}"), "3@10c");
        terms(
            &found,
            &[
                ("attn_qk", 2 * heads * 16 * 27 * 3),
                ("attn_input", 10 * kv * 64 * 3),
                ("kv_cache", 3 * kv * 64 * 3),
                ("qkv_weight", 64 * (heads + 2 * kv) * 16 * 2 * 3),
                ("head_proj", 2 * 64 * 128 / tp),
            ],
        );
    }
}

#[test]
fn stages_have_whole_layers_and_ends() {
    let spec = llama(r#""hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 5, "vocab_size": 100"#);
    let staged = physical(&spec, "pp2");
    let stage = |stage: u64| staged.stage(&batch("2*1@8"), stage).unwrap();
    let layers = |found: &Breakdown| term(found, "out_proj") / (2 * 2 * 64 * 64);
    let has = |found: &Breakdown, component| found.parts.iter().any(|part| part.component == component);
    let (first, last) = (stage(0), stage(1));
    assert_eq!((layers(&first), layers(&last)), (3, 2));
    assert_eq!((has(&first, Component::Embedding), has(&last, Component::Embedding)), (true, false));
    assert_eq!((has(&first, Component::Unembed), has(&last, Component::Unembed)), (false, true));
    let whole = physical(&spec, "").estimate(&batch("2*1@8"), Scope::PerGpu).unwrap();
    assert_eq!(layers(&whole), 5);
}

#[test]
fn weights_are_read_as_they_are_stored() {
    let stored = |quantization: &str| {
        let spec = llama(&format!(
            r#""hidden_size": 1024, "num_attention_heads": 8, "num_key_value_heads": 8, "num_hidden_layers": 1,
            "intermediate_size": 1024, "vocab_size": 1024, "quantization_config": {quantization}"#
        ));
        let found = step(&spec, "", "1@8");
        (term(&found, "out_weight"), term(&found, "head_weight"))
    };
    const M: u128 = 1 << 20;
    // 32 bits for a block of 128 x 128; 16 + 4 bits for 128; 16 bits for 128; the LM head stays.
    let fp8 = r#"{"quant_method": "fp8", "weight_block_size": [128, 128]}"#;
    assert_eq!(stored(fp8), (M + 64 * 4, 2 * M));
    assert_eq!(stored(r#"{"quant_method": "gptq", "bits": 4, "group_size": 128}"#), (M / 2 + M / 128 * 20 / 8, 2 * M));
    let awq = r#"{"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": false}"#;
    assert_eq!(stored(awq), (M / 2 + M / 128 * 2, 2 * M));
    assert_eq!(
        stored(r#"{"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]}"#),
        (M * 9 / 16, 2 * M)
    );
    assert_eq!(stored(r#"{"quant_method": "fp8", "ignore": ["model.layers.0.self_attn.o_proj"]}"#), (2 * M, 2 * M));
    assert_eq!(stored(r#"{"quant_method": "mxfp4"}"#), (2 * M, 2 * M));
}

#[test]
fn products_run_in_what_both_sides_have() {
    let precision = |words: &str, id: Option<&str>| {
        let accelerator = id.map(|id| hardware::find(id).unwrap());
        let physical = Physical::new(&small(), &settings(words), Assumptions::default(), accelerator).unwrap();
        let found = physical.stage(&batch("1@8"), 0).unwrap();
        let part = found.parts.iter().find(|part| part.component == Component::Ffn).unwrap();
        let down = part.terms.iter().find(|term| term.def.name == "dense_down_proj").unwrap();
        part.sheets[usize::from(down.sheet)].precision.unwrap()
    };
    for (words, id, expected) in [
        ("", None, Precision::Bf16),
        ("quant=fp8", None, Precision::Fp8),
        ("quant=fp8", Some("h100-sxm"), Precision::Fp8),
        // No FP8 units: weights are widened first.
        ("quant=fp8", Some("a100-80-sxm"), Precision::Bf16),
        ("quant=nvfp4", Some("b200-sxm"), Precision::Fp4),
        ("quant=nvfp4", Some("h100-sxm"), Precision::Bf16),
        // Only the weights are narrow.
        ("quant=awq", Some("h100-sxm"), Precision::Bf16),
        ("quant=gptq", None, Precision::Bf16),
        ("quant=bitsandbytes", None, Precision::Bf16),
    ] {
        assert_eq!(precision(words, id), expected, "{words} {id:?}");
    }
}

#[test]
fn formats_of_the_kv_cache() {
    // Two layers of two KV heads: eight vectors of 128 for a token.
    let spec = llama(
        r#""hidden_size": 512, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 128, "num_hidden_layers": 2,
        "vocab_size": 100"#,
    );
    for (format, vector) in [
        ("auto", 256),
        ("float32", 512),
        ("fp8", 128),
        ("fp8_per_token_head", 132),
        ("int8_per_token_head", 132),
        ("int4_per_token_head", 68),
        ("nvfp4", 64 + 8),
    ] {
        let words = format!("kv={format}");
        assert_eq!(token(&spec, &words), 8 * vector, "{format}");
        let found = step(&spec, &words, "2*1@10");
        terms(&found, &[("attn_input", 2 * 10 * 8 * vector), ("kv_cache", 2 * 8 * vector)]);
    }
}

#[test]
fn tokens_travel_to_experts_and_back() {
    use rooflens::step::collective::{Links, of};
    let accelerator = hardware::find("h200-sxm").unwrap();
    let links = Links::of(accelerator, None);
    let spec = experts("");
    let found = |words: &str| of(&physical(&spec, words), &batch("8*1@16"), 0, &links);
    let moved = |words: &str, name: &str| {
        let found = found(words).into_iter().find(|one| one.name == name);
        found.map(|one| (one.ranks, one.inside + one.between))
    };
    // Eight tokens of 64 in 16 bit, in two layers: each to two experts, of which one in four is at home.
    let copies = 8.0 * 64.0 * 2.0 * 2.0 * 2.0 * 0.75;
    assert_eq!(moved("dp4 ep", "dispatch to experts"), Some((4, copies)));
    assert_eq!(moved("dp4 ep", "combine from experts"), Some((4, copies)));
    // Two ranks: every token goes to the other one, which is no more than a copy for each of its experts.
    assert_eq!(moved("dp2 ep", "dispatch to experts"), Some((2, 8.0 * 64.0 * 2.0 * 2.0)));
    // Without spreading every rank needs every token.
    assert_eq!(moved("dp4", "dispatch to experts"), Some((4, 8.0 * 64.0 * 2.0 * 2.0 * 3.0)));
    assert_eq!(moved("tp4 ep", "dispatch to experts"), None);
    // Logits: 64 a token, each rank has a quarter and takes the others.
    assert_eq!(moved("tp4", "gather of logits"), Some((4, 8.0 * 64.0 * 2.0 * 0.75)));
}

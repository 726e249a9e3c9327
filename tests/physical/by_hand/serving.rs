//! What layouts and formats make of a step.

use super::{small, step, terms};
use crate::beside::{batch, llama, model, physical, settings, term};
use crate::memory::token;
use rooflens::estimate::physical::{Assumptions, Physical};
use rooflens::estimate::{Breakdown, Component, Estimator, Scope};
use rooflens::hardware::{self, Precision};
use rooflens::model::ModelSpec;
use rooflens::step::{OnHardware, Served};

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
    const M: u128 = 1 << 20;
    let stored = |quantization: &str| {
        let spec = llama(&format!(
            r#""hidden_size": 1024, "num_attention_heads": 8, "num_key_value_heads": 8, "num_hidden_layers": 1,
            "intermediate_size": 1024, "vocab_size": 1024, "quantization_config": {quantization}"#
        ));
        let found = step(&spec, "", "1@8");
        (term(&found, "out_weight"), term(&found, "head_weight"))
    };
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

/// Only where queries are in 8 bit, too, does attention multiply in 8 bit.
#[test]
fn attention_multiplies_in_what_both_sides_have() {
    let heads = small();
    let latent = |more: &str| {
        model(&format!(
            r#"{{"model_type": "deepseek_v3", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
            "kv_lora_rank": 32, "q_lora_rank": 48, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16,
            "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "first_k_dense_replace": 2,
            "intermediate_size": 96, "vocab_size": 128, "torch_dtype": "bfloat16"{more}}}"#
        ))
    };
    let (dense, sparse) = (latent(""), latent(r#", "index_topk": 4, "index_n_heads": 2, "index_head_dim": 16"#));
    let precision = |spec: &ModelSpec, kv: &str, case: &str, term: &str| {
        let found = physical(spec, &format!("kv={kv}")).stage(&batch(case), 0).unwrap();
        let part = found.parts.iter().find(|part| part.terms.iter().any(|one| one.def.name == term)).unwrap();
        let sheet = part.terms.iter().find(|one| one.def.name == term).unwrap().sheet;
        part.sheets[usize::from(sheet)].precision.unwrap()
    };
    for (kv, of_heads, of_latents) in [
        ("auto", Precision::Bf16, Precision::Bf16),
        ("fp8", Precision::Fp8, Precision::Fp8),
        ("fp8_per_token_head", Precision::Bf16, Precision::Bf16),
        ("int8_per_token_head", Precision::Bf16, Precision::Bf16),
        ("int4_per_token_head", Precision::Bf16, Precision::Bf16),
        ("nvfp4", Precision::Fp8, Precision::Fp8),
    ] {
        assert_eq!(precision(&heads, kv, "1@64", "attn_qk"), of_heads, "{kv}");
        assert_eq!(precision(&dense, kv, "1@64", "attn_qk"), of_latents, "{kv}");
        // Keys and values that are computed again from latents are as wide as activations.
        assert_eq!(precision(&dense, kv, "64", "attn_qk"), Precision::Bf16, "{kv}");
        // Those that an indexer picks are widened; its own scores are in FP8.
        assert_eq!(precision(&sparse, kv, "1@64", "attn_qk"), Precision::Bf16, "{kv}");
        assert_eq!(precision(&sparse, kv, "1@64", "index_scores"), Precision::Fp8, "{kv}");
    }
}

/// The stage that is shown is the one that takes longest on the accelerator, not the one that moves most.
#[test]
fn the_others_wait_for_the_stage_that_takes_longest() {
    let spec = llama(
        r#""hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 16,
        "intermediate_size": 8192, "vocab_size": 128256, "tie_word_embeddings": true"#,
    );
    let l4 = hardware::find("l4").unwrap();
    let found = OnHardware::of(&physical(&spec, "pp3 quant=fp8"), &batch("512"), l4, &Served::default()).unwrap();
    let bounds: Vec<f64> = found.step.stages.iter().map(|stage| stage.bound().0).collect();
    let longest = bounds.iter().copied().fold(0.0, f64::max);
    assert_eq!(bounds[found.step.longest()], longest);
    assert_eq!(found.step.slowest_bound().0, longest);
    // By what they move and compute in all, another one would.
    let (most, _) = physical(&spec, "pp3 quant=fp8").slowest(&batch("512")).unwrap();
    assert_ne!(most, found.step.longest() as u64);
}

//! Weights and KV cache against readings of a running server.

use crate::beside::{config, folder, llama, model, physical};
use rooflens::estimate::Scope;
use rooflens::hardware;
use rooflens::memory::{Fit, Plan, Pool, weights};
use rooflens::model::ModelSpec;

/// vLLM's plan, without a second page for each state.
pub(crate) const UNCACHED: Plan =
    Plan { utilization: 0.9, reserve: None, tokens: 8192, block: 16, prefix_caching: false, speculative: false };

const GIB: f64 = (1_u64 << 30) as f64;

/// The largest weights of a rank, in GiB.
fn gib(spec: &ModelSpec, words: &str) -> f64 {
    let physical = physical(spec, words);
    let stages = physical.each_stage().map(|stage| weights(&physical, Scope::PerGpu, stage).total().0);
    stages.max().unwrap() as f64 / GIB
}

#[track_caller]
fn reads(name: &str, spec: &ModelSpec, words: &str, read: f64) {
    let ours = gib(spec, words);
    let error = (ours / read - 1.0) * 100.0;
    println!("weights: {name} {words}: read {read} GiB, described {ours:.2} ({error:+.2} %)");
    assert!(error.abs() <= 2.0, "{name} {words}: read {read} GiB, described {ours:.3} ({error:+.2} %)");
}

pub(crate) fn llama_8b() -> ModelSpec {
    llama(
        r#""hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32,
        "intermediate_size": 14336, "vocab_size": 128256, "tie_word_embeddings": false"#,
    )
}

pub(crate) fn llama_70b(more: &str) -> ModelSpec {
    llama(&format!(
        r#""hidden_size": 8192, "num_attention_heads": 64, "num_key_value_heads": 8, "num_hidden_layers": 80,
        "intermediate_size": 28672, "vocab_size": 128256, "tie_word_embeddings": false{more}"#
    ))
}

fn qwen3(hidden: u64, heads: u64, layers: u64, width: u64) -> ModelSpec {
    model(&format!(
        r#"{{"model_type": "qwen3", "hidden_size": {hidden}, "num_attention_heads": {heads}, "num_key_value_heads": 8,
        "head_dim": 128, "num_hidden_layers": {layers}, "intermediate_size": {width}, "vocab_size": 151936,
        "tie_word_embeddings": false, "torch_dtype": "bfloat16"}}"#
    ))
}

pub(crate) fn mistral_small() -> ModelSpec {
    model(
        r#"{"model_type": "mistral", "hidden_size": 5120, "num_attention_heads": 32, "num_key_value_heads": 8,
        "head_dim": 128, "num_hidden_layers": 40, "intermediate_size": 32768, "vocab_size": 131072, "sliding_window": null,
        "tie_word_embeddings": false, "torch_dtype": "bfloat16"}"#,
    )
}

pub(crate) fn gpt_oss(layers: u64, experts: u64) -> ModelSpec {
    model(&format!(
        r#"{{"model_type": "gpt_oss", "num_hidden_layers": {layers}, "num_local_experts": {experts},
        "num_experts_per_tok": 4, "torch_dtype": "bfloat16", "tie_word_embeddings": false,
        "quantization_config": {{"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn",
        "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]}}}}"#
    ))
}

/// Weights that vLLM reported on an H100, each GPU's.
#[test]
fn weights_of_a_server() {
    reads("gpt-oss-20b", &gpt_oss(24, 32), "", 13.47);
    reads("gpt-oss-120b", &gpt_oss(36, 128), "", 64.38);
    let quantized = r#", "quantization_config": {"quant_method": "compressed-tensors", "ignore": ["lm_head"],
        "config_groups": {"group_0": {"targets": ["Linear"], "input_activations": {"num_bits": 8, "type": "float"},
        "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}}}"#;
    reads("Llama-3.3-70B-FP8", &llama_70b(quantized), "tp2", 33.88);
    let llama = llama_8b();
    for (words, read) in [("", 14.99), ("tp2", 7.51), ("tp4", 3.77), ("pp2", 7.51), ("pp4", 4.26)] {
        reads("Llama-3.1-8B", &llama, words, read);
    }
    let qwen = qwen3(5120, 64, 64, 25600);
    reads("Qwen3-32B", &qwen, "", 61.03);
    reads("Qwen3-32B", &qwen, "tp2", 30.59);
    let qwen = qwen3(4096, 32, 36, 12288);
    reads("Qwen3-8B", &qwen, "", 15.27);
    reads("Qwen3-8B", &qwen, "pp3", 5.48);
    reads("Qwen3-14B", &qwen3(5120, 40, 40, 17408), "", 27.52);
    reads("Mistral-Small-24B", &mistral_small(), "", 44.76);
}

/// Bytes of whole checkpoints on disk, prediction layers and their copies of embedding and head included.
#[test]
fn checkpoints_on_disk() {
    let Some(folder) = folder("configs") else { return };
    for (name, gb) in [("deepseek-ai__DeepSeek-V3.json", 688.59), ("deepseek-ai__DeepSeek-V4-Flash.json", 159.62)] {
        let spec = config(&folder, name);
        let physical = physical(&spec, "");
        let held = weights(&physical, Scope::Global, 0);
        let copies = spec.anatomy.as_ref().unwrap().mtp.as_ref().map_or(0, |mtp| mtp.stored_copies * 2);
        let ours = (held.total().0 + held.mtp.0 + u128::from(copies)) as f64 / 1e9;
        let error = (ours / gb - 1.0) * 100.0;
        println!("disk: {name}: {gb} GB, described {ours:.2} ({error:+.2} %)");
        assert!(error.abs() <= 2.0, "{name}: {gb} GB, described {ours:.2} ({error:+.2} %)");
    }
}

/// Bytes that a token reserves, exact.
pub(crate) fn token(spec: &ModelSpec, words: &str) -> u128 {
    let physical = physical(spec, words);
    let (bytes, every) = Pool::of(&physical, 0, &UNCACHED).token();
    assert_eq!(bytes % every, 0);
    bytes / every
}

#[test]
fn kv_bytes_of_a_token_are_exact() {
    assert_eq!(token(&mistral_small(), ""), 163_840);
    let llama = llama_8b();
    assert_eq!(token(&llama, ""), 131_072);
    assert_eq!(token(&llama, "tp8"), 16_384);
    // Eight KV heads on 32 GPUs: one on each.
    assert_eq!(token(&llama, "tp32"), 32 * 2 * 128 * 2);
    assert_eq!(token(&llama, "kv=fp8"), 65_536);
    let qwen = model(
        r#"{"model_type": "qwen2", "hidden_size": 3584, "num_attention_heads": 28, "num_key_value_heads": 4,
        "num_hidden_layers": 28, "intermediate_size": 18944, "vocab_size": 152064, "torch_dtype": "bfloat16"}"#,
    );
    assert_eq!(token(&qwen, ""), 57_344);
    assert_eq!(token(&gpt_oss(36, 128), ""), 73_728);
    let gemma = model(
        r#"{"model_type": "gemma4_text", "num_hidden_layers": 60, "hidden_size": 5376, "num_attention_heads": 32,
        "num_key_value_heads": 16, "head_dim": 256, "global_head_dim": 512, "num_global_key_value_heads": 4,
        "attention_k_eq_v": true, "sliding_window": 1024, "intermediate_size": 21504, "vocab_size": 262144,
        "torch_dtype": "bfloat16"}"#,
    );
    assert_eq!(token(&gemma, ""), 983_040);
}

#[test]
fn tokens_that_fit_in_what_is_left() {
    let spec = llama_8b();
    let h100 = hardware::find("h100-sxm").unwrap();
    for (words, read) in [("", 476_000_u128), ("kv=fp8", 952_032)] {
        let model = physical(&spec, words);
        let mut fit = Fit::of(&model, h100, &Plan::default());
        assert!(fit.fits());
        for stage in &mut fit.stages {
            stage.left = Some(rooflens::units::Bytes((58.11 * GIB) as u128));
        }
        let tokens = fit.tokens().unwrap();
        println!("KV cache of 58.11 GiB {words}: read {read} tokens, described {tokens}");
        // 58.11 GiB is read to two decimals.
        assert!(tokens.abs_diff(read) <= 100, "{tokens}");
    }
    let large = physical(&llama_70b(""), "");
    let fit = Fit::of(&large, h100, &Plan::default());
    assert!(!fit.fits());
    assert_eq!(fit.sequences(4096), Some(0));
    let spread = Fit::of(&physical(&llama_70b(""), "tp4"), h100, &Plan::default());
    assert!(spread.fits() && spread.sequences(4096).unwrap() > 16);
}

#[test]
fn hybrid_pools_as_they_are_planned() {
    let Some(folder) = folder("configs") else { return };
    // (model, bytes of a token before any window is full)
    for (name, bytes) in [
        ("openai__gpt-oss-120b.json", 73_728),
        ("google__gemma-4-26B-A4B.json", 245_760),
        ("google__gemma-3-27b-it.json", 573_440),
        ("meta-llama__Llama-4-Scout.full.json", 196_608),
        ("meta-models__Muse-Glimmer-30B.json", 53_248),
        ("deepseek-ai__DeepSeek-V3.json", 70_272),
        ("openbmb__MiniCPM3-4B.json", 952_320),
        ("Qwen__Qwen3.5-35B-A3B.json", 20_480),
        ("nvidia__NVIDIA-Nemotron-3-Super-120B-A12B-FP8.json", 8_192),
    ] {
        assert_eq!(token(&config(&folder, name), ""), bytes, "{name}");
    }
    let sparse = config(&folder, "deepseek-ai__DeepSeek-V3.2.json");
    assert_eq!(token(&sparse, ""), 78_324);
    assert_eq!(token(&sparse, "kv=fp8_ds_mla"), 48_068);
    let v4 = config(&folder, "deepseek-ai__DeepSeek-V4-Flash.json");
    let pool = Pool::of(&physical(&v4, ""), 0, &UNCACHED);
    let (bytes, every) = pool.token();
    assert_eq!(pool.reserved(256).0, 27 * 1_002_240);
    // 21 layers of one row for 4 tokens with an index, 20 of one for 128, in pages that are rounded up.
    assert_eq!((bytes, every), (1_002_240, 256));
    let pro = config(&folder, "deepseek-ai__DeepSeek-V4-Pro.json");
    assert_eq!(Pool::of(&physical(&pro, ""), 0, &UNCACHED).token().0, 1_435_968);
    let qwen = config(&folder, "Qwen__Qwen3.5-35B-A3B.json");
    let pool = Pool::of(&physical(&qwen, ""), 0, &UNCACHED);
    assert_eq!(pool.buckets.iter().map(|bucket| bucket.block).max(), Some(1056));
    let state = pool.buckets.iter().map(|bucket| bucket.state).max().unwrap();
    assert_eq!((state, pool.page), (2_146_304, 2_162_688));
}

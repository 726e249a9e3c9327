//! Values that counters of this kind get wrong, each worked out by hand. D is a decode of one token at KV length 8192, P
//! a fresh prefill of 2048 tokens.

use super::Vllm;
use crate::batch::case::Case;
use crate::estimate::{Breakdown, Component, Estimator, Quantity, Scope};
use crate::model::presets::builtin;
use crate::model::{ClassTable, ModelSpec, read, resolve};
use crate::settings::Settings;
use std::num::NonZeroU32;

const D: &str = "1@8192";
const P: &str = "2048";

const LLAMA_8B: &str = r#""hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 32,
    "intermediate_size": 14336, "vocab_size": 128256, "torch_dtype": "bfloat16""#;

#[track_caller]
fn model(config: &str) -> ModelSpec {
    read(config, None, ClassTable::builtin()).unwrap()
}

#[track_caller]
fn llama(keys: &str) -> ModelSpec {
    model(&format!(r#"{{"model_type": "llama", {keys}}}"#))
}

#[track_caller]
fn preset(id: &str) -> ModelSpec {
    let preset = builtin().iter().find(|preset| preset.id == id).unwrap();
    resolve(&preset.config, None, ClassTable::builtin()).unwrap()
}

/// Settings of a layout: TP, PP, DP, and whether experts are spread.
fn layout(sizes: [u32; 3], ep: bool) -> Settings {
    let [tp, pp, dp] = sizes.map(|size| NonZeroU32::new(size).unwrap());
    Settings { layout: crate::layout::Layout { tp, pp, dp, ep }, ..Settings::default() }
}

#[track_caller]
fn step(spec: &ModelSpec, settings: &Settings, case: &str) -> Breakdown {
    Vllm::new(spec, settings).estimate(&Case::parse(case).unwrap().batch(), Scope::PerGpu).unwrap()
}

#[track_caller]
fn one_gpu(spec: &ModelSpec, case: &str) -> Breakdown {
    step(spec, &Settings::default(), case)
}

#[track_caller]
fn term(breakdown: &Breakdown, name: &str) -> u128 {
    let mut terms = breakdown.parts.iter().flat_map(|part| &part.terms);
    terms.find(|term| term.def.name == name).unwrap_or_else(|| panic!("no {name}")).amount
}

#[test]
fn a_prefill_needs_one_row_of_logits_and_a_verification_one_for_each_token() {
    let spec = llama(LLAMA_8B);
    let row = 2 * 4096 * 128_256;
    assert_eq!(row, 1_050_673_152);
    for (case, rows) in [(P, 1), (D, 1), ("3*2048", 3), ("1*4@8192:3", 4), ("2048,2*4@8192:3", 9)] {
        assert_eq!(term(&one_gpu(&spec, case), "unembed"), rows * row, "{case}");
    }
}

#[test]
fn a_chunk_after_a_prefix_changes_attention_only() {
    let spec = llama(LLAMA_8B);
    let (fresh, chunk) = (one_gpu(&spec, P), one_gpu(&spec, "2048@10240c"));
    let mut pairs = 0;
    for ((_, before), (_, after)) in fresh.terms(Quantity::Flops).zip(chunk.terms(Quantity::Flops)) {
        let attends = before.def.name.starts_with("attn_");
        pairs += u32::from(attends);
        assert_eq!(after.amount, before.amount * if attends { 5 } else { 1 }, "{}", before.def.name);
    }
    assert_eq!((pairs, term(&fresh, "attn_qk")), (2, 1 << 40));
    // 2048 queries of 32 heads, and 10240 keys and values of 8 heads, once for the whole chunk.
    assert_eq!(term(&chunk, "attn_input"), (2048 * 32 + 2 * 10_240 * 8) * 128 * 2 * 32);
}

#[test]
fn the_largest_steps_stay_exact() {
    let spec = preset("llama-3.1-405b");
    assert_eq!(term(&one_gpu(&spec, "131072"), "attn_qk"), 70_931_694_131_085_312);
    let decode = one_gpu(&spec, "512*1@1000000");
    assert_eq!(term(&decode, "attn_av"), 2_113_929_216_000_000);
    assert_eq!(term(&decode, "attn_input"), 264_243_265_929_216);
}

#[test]
fn a_model_without_attention_says_so() {
    let keys = r#""hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 100, "intermediate_size": 128"#;
    let estimator = Vllm::new(&llama(&format!(r#"{keys}, "num_attention_heads": 0"#)), &Settings::default());
    let skipped = estimator.skipped();
    let attention = skipped.iter().find(|(component, _)| *component == Component::Attention).unwrap();
    assert!(attention.1.contains("num_attention_heads is 0"), "{}", attention.1);
    let breakdown = estimator.estimate(&Case::parse(D).unwrap().batch(), Scope::PerGpu).unwrap();
    let parts: Vec<_> = breakdown.parts.iter().map(|part| part.component).collect();
    assert_eq!(parts, [Component::Ffn, Component::Unembed]);
    assert_eq!(term(&breakdown, "dense_ffn"), 2 * 3 * 64 * 128 * 2);
}

#[test]
fn kv_cache_that_a_token_writes() {
    let kv = |heads: u64, kv: u64, dim: u64, layers: u64| {
        let spec = llama(&format!(
            r#""hidden_size": 5120, "num_attention_heads": {heads}, "num_key_value_heads": {kv}, "head_dim": {dim},
            "num_hidden_layers": {layers}, "vocab_size": 1024, "torch_dtype": "bfloat16""#
        ));
        term(&one_gpu(&spec, D), "kv_cache")
    };
    let llama_2_7b = kv(32, 32, 128, 32);
    let (qwen3_32b, llama_3_70b, mistral_small_24b) = (kv(64, 8, 128, 64), kv(64, 8, 128, 80), kv(32, 8, 128, 40));
    assert_eq!((llama_2_7b, qwen3_32b), (524_288, 262_144));
    assert_eq!((llama_3_70b, mistral_small_24b), (327_680, 163_840));
    assert_eq!((kv(32, 8, 128, 32), kv(28, 4, 128, 28)), (131_072, 57_344));
    // A latent is one vector for keys and values, the same on every rank.
    let latent = preset("deepseek-v3");
    for tp in [1, 8] {
        assert_eq!(term(&step(&latent, &layout([tp, 1, 1], false), D), "kv_cache"), 70_272);
    }
}

#[test]
fn kv_heads_are_divided_by_tp_and_never_below_one() {
    let spec = llama(LLAMA_8B);
    for (sizes, heads) in [([1, 1, 1], 8), ([8, 1, 1], 1), ([32, 1, 1], 1), ([2, 1, 4], 4), ([1, 1, 8], 8)] {
        let written = term(&step(&spec, &layout(sizes, false), D), "kv_cache");
        assert_eq!(written, heads * 2 * 128 * 2 * 32, "{sizes:?}");
    }
}

#[test]
fn windows_cap_the_context_layer_by_layer() {
    let spec = model(
        r#"{"model_type": "mistral", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
        "num_hidden_layers": 32, "intermediate_size": 14336, "vocab_size": 32000, "sliding_window": 4096}"#,
    );
    let capped = one_gpu(&spec, D);
    assert_eq!((term(&capped, "attn_qk"), term(&capped, "attn_av")), (1_073_741_824, 1_073_741_824));
    let wide = Settings { disable_sliding_window: true, ..Settings::default() };
    assert_eq!(term(&step(&spec, &wide, D), "attn_qk"), 2_147_483_648);
    // One of six layers slides: half of a sliding layer and two and a half full ones on each of two stages.
    let one_of_six = model(
        r#"{"model_type": "gemma3_text", "num_hidden_layers": 6, "hidden_size": 256, "num_attention_heads": 4,
        "num_key_value_heads": 4, "head_dim": 64, "sliding_window": 16, "vocab_size": 64, "layer_types":
        ["sliding_attention", "full_attention", "full_attention", "full_attention", "full_attention", "full_attention"]}"#,
    );
    let stage = step(&one_of_six, &layout([1, 2, 1], false), "1@100");
    assert_eq!(term(&stage, "attn_qk"), 2 * 4 * 64 * (250 + 8));
    assert_eq!(term(&stage, "kv_cache"), 3 * 2 * 4 * 64 * 2);
}

#[test]
fn an_indexer_does_not_bound_the_context() {
    let decode = one_gpu(&preset("deepseek-v3.2"), D);
    assert_eq!(term(&decode, "attn_qk"), 24_561_844_224);
}

#[test]
fn as_many_experts_are_read_as_there_are_pairs() {
    let mixtral = preset("mixtral-8x7b");
    let matrix = 4096 * 14_336 * 2 * 32;
    assert_eq!(term(&one_gpu(&mixtral, D), "routed_down_weights"), 2 * matrix);
    assert_eq!(term(&one_gpu(&mixtral, "3*1@8"), "routed_down_weights"), 6 * matrix);
    assert_eq!(term(&one_gpu(&mixtral, P), "routed_down_weights"), 8 * matrix);
    // Sixteen of 128 experts on each of eight ranks.
    let qwen = preset("qwen3-30b-a3b");
    let matrix = 2048 * 768 * 2 * 48;
    for (case, experts) in [("1@10", 1), ("4*1@10", 4), ("32*1@10", 16)] {
        assert_eq!(
            term(&step(&qwen, &layout([8, 1, 1], true), case), "routed_down_weights"),
            experts * matrix,
            "{case}"
        );
    }
    // Eight pairs on sixteen ranks: none on each, rounded down.
    let sparse = step(&qwen, &layout([16, 1, 1], true), "1@10");
    assert_eq!((term(&sparse, "routed_ffn"), term(&sparse, "routed_down_weights")), (0, 0));
}

#[test]
fn dense_layers_that_only_one_key_names_count_as_experts() {
    assert_eq!(preset("glm-4.5").moe_layers.ok(), Some(92));
    // The reference fails on a list; the other components stand.
    let listed = llama(&format!(
        r#"{LLAMA_8B}, "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64,
        "first_k_dense_replace": 1, "moe_layer_freq": [0, 1]"#
    ));
    let estimator = Vllm::new(&listed, &Settings::default());
    let skipped = estimator.skipped();
    let ffn = skipped.iter().find(|(component, _)| *component == Component::Ffn).unwrap();
    assert!(ffn.1.contains("moe_layer_freq is a list"), "{}", ffn.1);
    assert!(estimator.attention.is_ok() && estimator.unembed.is_ok());
}

#[test]
fn tied_embeddings_and_32_bit_configs_change_nothing() {
    let usual = one_gpu(&llama(LLAMA_8B), D);
    let tied = one_gpu(&llama(&format!(r#"{LLAMA_8B}, "tie_word_embeddings": true"#)), D);
    assert_eq!(term(&tied, "unembed"), term(&usual, "unembed"));
    assert_eq!(tied.cost(), usual.cost());
    let single = one_gpu(&llama(&LLAMA_8B.replace("bfloat16", "float32")), D);
    assert_eq!(term(&single, "qkv_weight"), 4096 * (32 + 16) * 128 * 2 * 32);
    assert_eq!(single.cost(), usual.cost());
}

#[test]
fn a_quantization_without_a_size_takes_its_components_along_by_name() {
    for method in ["secret", "bitsandbytes", "gguf"] {
        let spec = llama(&format!(r#"{LLAMA_8B}, "quantization_config": {{"quant_method": "{method}"}}"#));
        let estimator = Vllm::new(&spec, &Settings::default());
        let named: Vec<_> = estimator
            .skipped()
            .into_iter()
            .filter_map(|(component, reason)| reason.contains(&format!("\"{method}\"")).then_some(component))
            .collect();
        assert_eq!(named, [Component::Attention, Component::Ffn, Component::MlaAttention], "{method}");
        let parts = one_gpu(&spec, D).parts;
        assert_eq!(parts.iter().map(|part| part.component).collect::<Vec<_>>(), [Component::Unembed]);
    }
    // A quantization that is not even asked about is counted in 16 bit, and said.
    let apple = llama(&format!(r#"{LLAMA_8B}, "quantization": {{"group_size": 64, "bits": 4}}"#));
    assert_eq!(term(&one_gpu(&apple, D), "qkv_weight"), 4096 * (32 + 16) * 128 * 2 * 32);
    assert!(apple.notes.iter().any(|note| note.text.contains("MLX")), "{:?}", apple.notes);
}

#[test]
fn layouts_that_do_not_divide_are_rounded_down_and_refused() {
    for (heads, kv, tp, (local, local_kv)) in
        [(52, 4, 8, (6, 1)), (40, 8, 3, (13, 2)), (28, 4, 8, (3, 1)), (32, 8, 3, (10, 2))]
    {
        let spec = llama(&format!(
            r#""hidden_size": 4096, "num_attention_heads": {heads}, "num_key_value_heads": {kv}, "head_dim": 128,
            "num_hidden_layers": 2, "vocab_size": 1000, "torch_dtype": "bfloat16""#
        ));
        let settings = layout([tp, 1, 1], false);
        let qkv = term(&step(&spec, &settings, "1@8"), "qkv_proj");
        assert_eq!(qkv, 2 * 4096 * (local + 2 * local_kv) * 128 * 2, "{heads} heads, TP {tp}");
        assert!(!settings.layout.refusals(&spec).is_empty(), "{heads} heads, TP {tp}");
    }
}

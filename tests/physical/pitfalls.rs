//! Mistakes that estimates of this kind make, each with the right value. D is a decode of one token at KV length 8192, P
//! a fresh prefill of 2048 tokens.

use crate::beside::{batch, config, folder, llama, model, physical, preset, settings, term};
use crate::memory::{UNCACHED, gpt_oss, llama_8b, mistral_small, token};
use rooflens::estimate::physical::{Assumptions, Drafting, Physical};
use rooflens::estimate::{Breakdown, Component, Estimator, Quantity, Scope};
use rooflens::model::ModelSpec;
use rooflens::model::anatomy::{Core, Op, Span};

const D: &str = "1@8192";
const P: &str = "2048";

fn step(spec: &ModelSpec, words: &str, case: &str) -> Breakdown {
    physical(spec, words).stage(&batch(case), 0).unwrap()
}

/// Layers whose first core is of a kind.
fn layers(spec: &ModelSpec, is: impl Fn(&Core) -> bool) -> u64 {
    let anatomy = spec.anatomy.as_ref().unwrap();
    anatomy.counted().filter(|(kind, _)| kind.cores.first().is_some_and(&is)).map(|(_, layers)| layers).sum()
}

fn moe_layers(spec: &ModelSpec) -> Vec<bool> {
    let anatomy = spec.anatomy.as_ref().unwrap();
    let run = |&(kind, length): &(usize, u64)| vec![anatomy.kinds[kind].is_moe(); usize::try_from(length).unwrap()];
    anatomy.runs.iter().flat_map(run).collect()
}

fn width(spec: &ModelSpec, op: Op) -> u64 {
    let anatomy = spec.anatomy.as_ref().unwrap();
    anatomy.kinds.iter().flat_map(|kind| kind.of(op)).map(|matrix| matrix.inputs.units).max().unwrap_or(0)
}

#[test]
fn logits_are_needed_for_the_last_token_of_a_prefill_only() {
    let head = step(&llama_8b(), "", P);
    assert_eq!(term(&head, "head_proj"), 1_050_673_152);
    let verify = step(&llama_8b(), "", "1*4@8192:3");
    assert_eq!(term(&verify, "head_proj"), 4 * 1_050_673_152);
    // A verification reads the cache in its format.
    let narrow = step(&llama_8b(), "kv=fp8", "1*4@8192:3");
    assert_eq!(term(&narrow, "attn_input") * 2, term(&verify, "attn_input"));
}

#[test]
fn a_chunk_reads_its_prefix_once() {
    let (fresh, chunk) = (step(&llama_8b(), "", P), step(&llama_8b(), "", "2048@10240c"));
    assert_eq!(term(&fresh, "qkv_proj"), term(&chunk, "qkv_proj"));
    assert_eq!(term(&chunk, "attn_input"), 10_240 * 131_072);
    assert_eq!(term(&chunk, "attn_qk"), 2 * 32 * 128 * 32 * (2048 * 8192 + 2048 * 2049 / 2));
}

#[test]
fn the_largest_steps_stay_exact() {
    let spec = preset("llama-3.1-405b");
    let (prefill, decode) = (step(&spec, "", "131072"), step(&spec, "", "512*1@1000000"));
    assert_eq!(term(&prefill, "attn_qk"), 2 * 128 * 128 * 126 * (131_072 * 131_073 / 2));
    assert_eq!(term(&decode, "attn_qk"), 2_113_929_216_000_000);
    // 516096 bytes of a token's cache, for 512 million tokens.
    assert_eq!(term(&decode, "attn_input"), 264_241_152_000_000);
}

#[test]
fn no_attention_is_no_division_by_zero() {
    let spec = llama(r#""hidden_size": 64, "num_attention_heads": 0, "num_hidden_layers": 2, "vocab_size": 100"#);
    let anatomy = spec.anatomy.as_ref().expect("described");
    assert!(anatomy.kinds.iter().all(|kind| kind.cores.is_empty()));
    let breakdown = step(&spec, "", D);
    assert!(breakdown.parts.iter().all(|part| part.component != Component::Attention));
    assert!(anatomy.notes.iter().any(|note| note.text.contains("num_attention_heads is 0")), "{:?}", anatomy.notes);
    // Where there is a state instead, that is a component, and nothing is absent.
    let states = model(
        r#"{"model_type": "mamba", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 100, "state_size": 16,
        "intermediate_size": 128, "num_attention_heads": 0}"#,
    );
    let breakdown = step(&states, "", D);
    assert!(breakdown.parts.iter().any(|part| part.component == Component::LinearAttention));
    assert!(states.anatomy.as_ref().unwrap().notes.iter().all(|note| !note.text.contains("No layer has attention")));
}

#[test]
fn head_size_is_not_hidden_size_over_heads() {
    let gemma_3_12b = model(
        r#"{"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 3840,
        "num_hidden_layers": 48, "num_attention_heads": 16, "num_key_value_heads": 8, "intermediate_size": 15360}}"#,
    );
    let gemma_7b = model(r#"{"model_type": "gemma", "hidden_size": 3072, "num_attention_heads": 16}"#);
    let derived = llama(r#""hidden_size": 4096, "num_attention_heads": 32, "head_dim": 0, "num_hidden_layers": 2"#);
    for (spec, size) in [
        (mistral_small(), 128),
        (gpt_oss(24, 32), 64),
        (gemma_3_12b, 256),
        (gemma_7b, 256),
        (preset("qwen3-32b-fp8"), 128),
        (derived, 128),
    ] {
        let found = layers(&spec, |core| matches!(core, Core::Heads(heads) if heads.key == size));
        assert_eq!(Some(found), spec.layers.ok());
    }
}

#[test]
fn kv_cache_of_a_token_in_16_bit() {
    let gqa = |hidden: u64, heads: u64, kv: u64, dim: u64, layers: u64| {
        llama(&format!(
            r#""hidden_size": {hidden}, "num_attention_heads": {heads}, "num_key_value_heads": {kv}, "head_dim": {dim},
            "num_hidden_layers": {layers}, "intermediate_size": 1024, "vocab_size": 1024"#
        ))
    };
    assert_eq!(token(&gqa(4096, 32, 32, 128, 32), ""), 524_288);
    assert_eq!(token(&gqa(5120, 64, 8, 128, 64), ""), 262_144);
    assert_eq!(token(&gqa(8192, 64, 8, 128, 80), ""), 327_680);
    // A request's cache is divided by TP, not by DP.
    assert_eq!(token(&llama_8b(), "tp2 dp4"), 65_536);
}

#[test]
fn latent_cache_is_one_vector_on_every_rank() {
    let spec = preset("deepseek-v3");
    assert_eq!((token(&spec, ""), token(&spec, "tp8")), (70_272, 70_272));
    assert_eq!(token(&spec, "kv=fp8_ds_mla"), 61 * 656);
    assert_eq!(token(&spec, "kv=fp8"), 61 * 576);
    let read = term(&step(&spec, "tp8", D), "attn_input");
    assert_eq!(read, 8192 * 70_272);
}

#[test]
fn reserved_and_used_bytes_of_a_window_differ() {
    let spec = gpt_oss(36, 128);
    let physical = physical(&spec, "");
    let pool = rooflens::memory::Pool::of(&physical, 0, &UNCACHED);
    assert_eq!(pool.token(), (73_728, 1));
    assert_eq!(pool.used(8192).0, 18 * 2048 * 8192 + 18 * 2048 * 128);
    let read = term(&step(&spec, "", D), "attn_input");
    assert_eq!(read, 18 * 2048 * 8192 + 18 * 2048 * 128);
}

#[test]
fn a_window_bounds_the_pairs() {
    let spec = model(
        r#"{"model_type": "mistral", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
        "num_hidden_layers": 32, "intermediate_size": 14336, "vocab_size": 32000, "sliding_window": 4096}"#,
    );
    let decode = step(&spec, "", D);
    assert_eq!((term(&decode, "attn_qk"), term(&decode, "attn_av")), (1_073_741_824, 1_073_741_824));
    let mut wide = settings("");
    wide.disable_sliding_window = true;
    let wide = Physical::new(&spec, &wide, Assumptions::default(), None).unwrap().stage(&batch(D), 0).unwrap();
    assert_eq!(term(&wide, "attn_qk"), 2_147_483_648);
}

#[test]
fn window_layers_follow_a_pattern() {
    let windows = |spec: &ModelSpec| {
        layers(spec, |core| matches!(core, Core::Heads(heads) if matches!(heads.span, Span::Window(_))))
    };
    assert_eq!(windows(&model(r#"{"model_type": "gemma2"}"#)), 13);
    assert_eq!(windows(&model(r#"{"model_type": "gemma3_text"}"#)), 22);
    assert_eq!(windows(&gpt_oss(36, 128)), 18);
    assert_eq!(windows(&model(r#"{"model_type": "olmo3"}"#)), 24);
    let qwen = |flag: bool| {
        model(&format!(
            r#"{{"model_type": "qwen2", "use_sliding_window": {flag}, "sliding_window": 1024, "max_window_layers": 28}}"#
        ))
    };
    assert_eq!((windows(&qwen(false)), windows(&qwen(true))), (0, 4));
}

#[test]
fn chunked_attention_on_three_layers_of_four() {
    let spec = model(r#"{"model_type": "llama4_text", "attention_chunk_size": 8192, "num_hidden_layers": 48}"#);
    let chunked = layers(&spec, |core| matches!(core, Core::Heads(heads) if heads.span == Span::Chunk(8192)));
    assert_eq!(chunked, 36);
    // The 8193rd token begins a chunk.
    let decode = step(&spec, "", "1@8193");
    assert_eq!(term(&decode, "attn_qk"), 2 * 40 * 128 * (36 + 12 * 8193));
}

#[test]
fn only_full_layers_of_a_hybrid_keep_a_cache() {
    let hybrid = |layers: u64, more: &str| {
        model(&format!(
            r#"{{"model_type": "qwen3_next", "num_hidden_layers": {layers}{more}, "torch_dtype": "bfloat16"}}"#
        ))
    };
    let full = |spec: &ModelSpec| layers(spec, |core| matches!(core, Core::Heads(_)));
    assert_eq!(full(&hybrid(48, "")), 12);
    let small = hybrid(32, r#", "num_key_value_heads": 4, "head_dim": 256"#);
    assert_eq!(full(&small), 8);
    assert_eq!(token(&small, ""), 32_768);
}

#[test]
fn sparse_attention_goes_to_what_the_indexer_picks() {
    let spec = preset("deepseek-v3.2");
    let decode = step(&spec, "", D);
    // A pair costs 576 elements against a latent; with the vllm model's 192 of a head it would be 6140461056.
    assert_eq!(term(&decode, "attn_qk"), 2 * 128 * 2048 * 576 * 61);
    assert_eq!(term(&decode, "attn_qk") / 576 * 192, 6_140_461_056);
    assert_eq!(term(&decode, "index_scores"), 2 * 64 * 128 * 8192 * 61);
    let part = decode.parts.iter().find(|part| part.component == Component::MlaAttention).unwrap();
    assert!(part.terms.iter().any(|term| term.def.operation == "index scores"));
}

#[test]
fn causal_pairs_are_half_of_the_square_and_the_diagonal() {
    let prefill = step(&llama_8b(), "", P);
    assert_eq!(term(&prefill, "attn_qk"), 2 * 32 * 128 * 32 * (2048 * 2048 / 2 + 2048 / 2));
}

#[test]
fn experts_that_are_touched() {
    let moe = |experts: u64, k: u64| {
        model(&format!(
            r#"{{"model_type": "qwen3_moe", "num_experts": {experts}, "num_experts_per_tok": {k}, "hidden_size": 64,
            "moe_intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 4,
            "vocab_size": 64, "torch_dtype": "bfloat16"}}"#
        ))
    };
    let touched = |spec: &ModelSpec, words: &str, case: &str| {
        term(&step(spec, words, case), "routed_down_weight") as f64 / (64.0 * 32.0 * 2.0)
    };
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 0.006, "{value} {expected}");
    near(touched(&moe(8, 2), "", "3*1@10"), 4.625);
    near(touched(&moe(8, 2), "", "1@10"), 2.0);
    for (case, expected) in [("1@10", 1.0), ("4*1@10", 3.64), ("32*1@10", 13.97)] {
        near(touched(&moe(128, 8), "tp8 ep", case), expected);
    }
    // One token on 16 ranks: half a pair a rank, and not none.
    let sparse = step(&moe(128, 8), "tp16 ep", "1@10");
    assert_eq!(term(&sparse, "routed_down_proj"), 2 * 64 * 32 / 2);
    // All local experts are in memory, whatever is touched.
    let held = rooflens::memory::weights(&physical(&moe(128, 8), "tp8 ep"), Scope::PerGpu, 0);
    assert_eq!(held.categories.of(rooflens::model::anatomy::Category::Routed), 16 * 3 * 64 * 32 * 2);
}

#[test]
fn which_layers_have_experts() {
    let glm = moe_layers(&preset("glm-4.5"));
    assert_eq!((glm.len(), glm.iter().filter(|moe| **moe).count()), (92, 89));
    assert_eq!(glm[..4], [false, false, false, true]);
    let qwen = |keys: &str| {
        let base = r#""model_type": "qwen2_moe", "num_hidden_layers": 4, "num_experts": 8, "num_experts_per_tok": 2"#;
        moe_layers(&model(&format!("{{{base}, {keys}}}")))
    };
    assert_eq!(qwen(r#""decoder_sparse_step": 2"#), [false, true, false, true]);
    assert_eq!(qwen(r#""mlp_only_layers": [0, 3]"#), [false, true, true, false]);
    let listed = model(
        r#"{"model_type": "mimo_v2", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 64,
        "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "moe_layer_freq": [0, 1, 1, 0]}"#,
    );
    assert_eq!(moe_layers(&listed), [false, true, true, false]);
}

#[test]
fn widths_of_dense_layers_and_shared_experts() {
    let maverick = preset("llama-4-maverick-fp8");
    assert_eq!((width(&maverick, Op::DenseDown), width(&maverick, Op::SharedDown)), (16_384, 8_192));
    assert_eq!(width(&preset("qwen3-next-80b-a3b"), Op::SharedDown), 512);
    let qwen = model(
        r#"{"model_type": "qwen2_moe", "moe_intermediate_size": 2560, "shared_expert_intermediate_size": 20480,
        "hidden_size": 3584, "num_attention_heads": 28, "num_experts": 64, "num_experts_per_tok": 8}"#,
    );
    assert_eq!((width(&qwen, Op::RoutedDown), width(&qwen, Op::SharedDown)), (2560, 20_480));
    let dbrx = model(
        r#"{"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "vocab_size": 100352,
        "attn_config": {"kv_n_heads": 8}, "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}}"#,
    );
    let experts = dbrx.anatomy.as_ref().unwrap().kinds[0].experts.unwrap();
    assert_eq!((width(&dbrx, Op::RoutedDown), experts.count, experts.per_token), (10_752, 16, 4));
    let chatglm = model(
        r#"{"model_type": "chatglm", "hidden_size": 4096, "ffn_hidden_size": 13696, "num_attention_heads": 32,
        "num_layers": 40, "multi_query_group_num": 2, "kv_channels": 128, "padded_vocab_size": 151552}"#,
    );
    assert_eq!(width(&chatglm, Op::DenseDown), 13_696);
    let gpt2 = model(r#"{"model_type": "gpt2", "n_inner": null}"#);
    assert_eq!(width(&gpt2, Op::DenseDown), 4 * 768);
}

#[test]
fn two_matrices_where_the_ffn_is_not_gated() {
    for name in ["gpt2", "opt", "bloom", "falcon", "mpt", "starcoder2", "nemotron"] {
        let spec = model(&format!(
            r#"{{"model_type": "{name}", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 1, "n_embed": 64,
            "n_embd": 64, "d_model": 64, "n_layer": 1, "n_layers": 1, "vocab_size": 64}}"#
        ));
        let breakdown = step(&spec, "", "1@1");
        assert_eq!(term(&breakdown, "dense_up_gate_proj"), term(&breakdown, "dense_down_proj"), "{name}");
    }
    let gated = step(&llama_8b(), "", D);
    assert_eq!(term(&gated, "dense_up_gate_proj"), 2 * term(&gated, "dense_down_proj"));
}

#[test]
fn tied_embeddings_count_once_and_unembed_all_the_same() {
    let spec = |tied: bool| {
        llama(&format!(
            r#""hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 16,
            "intermediate_size": 8192, "vocab_size": 128256, "head_dim": 64, "tie_word_embeddings": {tied}"#
        ))
    };
    let total = |spec: &ModelSpec| spec.anatomy.as_ref().unwrap().parameters().total();
    assert_eq!(total(&spec(true)), 1_235_814_400);
    assert_eq!(total(&spec(false)) - total(&spec(true)), 128_256 * 2048);
    assert_eq!(term(&step(&spec(true), "", D), "head_proj"), term(&step(&spec(false), "", D), "head_proj"));
    assert_eq!(total(&model(r#"{"model_type": "gpt2"}"#)), 124_439_808);
}

#[test]
fn weights_in_16_bit_are_twice_the_parameters() {
    let spec = crate::memory::llama_70b("");
    let bytes = |spec: &ModelSpec| rooflens::memory::weights(&physical(spec, ""), Scope::PerGpu, 0).total().0;
    assert!((139e9..143e9).contains(&(bytes(&spec) as f64)));
    let float = llama(r#""hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 1, "vocab_size": 64"#);
    let served = model(
        r#"{"model_type": "llama", "torch_dtype": "float32", "hidden_size": 64, "num_attention_heads": 4,
        "num_hidden_layers": 1, "vocab_size": 64}"#,
    );
    assert_eq!(bytes(&float), bytes(&served));
}

#[test]
fn bits_of_quantized_weights() {
    use rooflens::model::number::Format;
    let bytes = |format: Format| {
        let (bits, group) = format.bits_of(4096);
        bits as f64 / group as f64 / 8.0
    };
    assert_eq!(bytes(Format::NVFP4), 0.5625);
    assert_eq!(bytes(Format::MXFP4), 0.53125);
    assert_eq!(bytes(Format::FP8), 1.0);
    assert_eq!(bytes(Format::integers(3, 128, 3)), 0.375 + 19.0 / 128.0 / 8.0);
    let quantized = |config: &str| {
        let keys = r#""hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 1, "vocab_size": 64,
            "intermediate_size": 4096"#;
        let spec = llama(&format!(r#"{keys}, "quantization_config": {config}"#));
        let anatomy = spec.anatomy.clone().unwrap();
        let matrix = anatomy.kinds[0].of(Op::Out).next().unwrap().clone();
        bytes(matrix.format)
    };
    let group = |weights: &str, activations: &str| {
        quantized(&format!(
            r#"{{"quant_method": "compressed-tensors", "config_groups": {{"group_0": {{"targets": ["Linear"],
            "weights": {weights}, "input_activations": {activations}}}}}}}"#
        ))
    };
    let eight = r#"{"num_bits": 8, "type": "float", "strategy": "tensor"}"#;
    assert_eq!(group(eight, eight), 1.0);
    let four = r#"{"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128, "symmetric": true}"#;
    assert_eq!(group(four, "null"), 0.5 + 16.0 / 128.0 / 8.0);
    assert_eq!(
        quantized(r#"{"quant_method": "gptq", "bits": 3, "group_size": 128}"#),
        0.375 + (16.0 + 3.0) / 128.0 / 8.0
    );
    assert_eq!(
        quantized(r#"{"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true}"#),
        4.15625 / 8.0
    );
}

#[test]
fn named_modules_stay_in_16_bit() {
    use rooflens::model::anatomy::Category::{Embedding, Head};
    let spec = gpt_oss(2, 4);
    let anatomy = spec.anatomy.as_ref().unwrap();
    let formats = |op: Op| anatomy.kinds.iter().flat_map(|kind| kind.of(op)).map(|m| m.format.name).collect::<Vec<_>>();
    assert_eq!(formats(Op::RoutedUp), ["MXFP4", "MXFP4"]);
    for op in [Op::Qkv, Op::Out, Op::Router] {
        assert_eq!(formats(op), ["16 bit", "16 bit"]);
    }
    let held = rooflens::memory::weights(&physical(&spec, ""), Scope::PerGpu, 0).categories;
    assert_eq!((held.of(Embedding), held.of(Head)), (201_088 * 2880 * 2, 201_088 * 2880 * 2));
    for list in ["ignore", "modules_to_not_convert", "exclude_modules"] {
        let spec = llama(&format!(
            r#""hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 3, "vocab_size": 64, "quantization_config":
            {{"quant_method": "fp8", "{list}": ["model.layers.1.mlp.down_proj", "model.layers.2.self_attn*", "lm_head"]}}"#
        ));
        let anatomy = spec.anatomy.as_ref().unwrap();
        let plain = |layer: usize, op: Op| {
            let kind = &anatomy.kinds[anatomy.runs[layer].0];
            kind.of(op).next().unwrap().format.is_plain()
        };
        assert_eq!([0, 1, 2].map(|layer| plain(layer, Op::DenseDown)), [false, true, false], "{list}");
        assert_eq!([0, 1, 2].map(|layer| plain(layer, Op::Qkv)), [false, false, true], "{list}");
        assert!(anatomy.head.as_ref().unwrap().format.is_plain());
    }
}

#[test]
fn an_unknown_quantization_is_said() {
    let spec = llama(
        r#""hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 1, "vocab_size": 64,
        "quantization_config": {"quant_method": "secret"}"#,
    );
    let notes = &spec.anatomy.as_ref().unwrap().notes;
    assert!(notes.iter().any(|note| note.text.contains("errs on the high side")), "{notes:?}");
    // It removes nothing from the sum: all weights count, in 16 bit.
    assert_eq!(term(&step(&spec, "", D), "qkv_weight"), 64 * 3 * 64 * 2);
    let apple = llama(
        r#""hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 1, "vocab_size": 64,
        "quantization": {"group_size": 64, "bits": 4}"#,
    );
    let anatomy = apple.anatomy.as_ref().unwrap();
    let (bits, group) = anatomy.kinds[0].matrices[0].format.bits_of(64);
    assert_eq!(bits as f64 / group as f64, 4.5);
    let bytes = llama(
        r#""hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 1, "vocab_size": 64,
        "quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": true}"#,
    );
    assert_eq!(bytes.anatomy.as_ref().unwrap().kinds[0].matrices[0].format.name, "NF4");
}

#[test]
fn a_quantization_document_beside_the_config_is_used() {
    let named = r#"{"model_type": "qwen3_moe", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 1,
        "num_experts": 4, "num_experts_per_tok": 1, "moe_intermediate_size": 64, "vocab_size": 64}"#;
    let document = r#"{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4",
        "kv_cache_quant_algo": "FP8", "exclude_modules": ["model.layers.0.self_attn*", "lm_head"]}}"#;
    let read = |companion| {
        let spec = rooflens::model::read(named, companion, rooflens::model::ClassTable::builtin()).unwrap();
        let anatomy = spec.anatomy.unwrap();
        let name = |op: Op| anatomy.kinds[0].of(op).next().unwrap().format.name;
        (name(Op::RoutedUp), name(Op::Qkv), anatomy.kv_format)
    };
    assert_eq!(read(Some(document)), ("NVFP4", "16 bit", Some("fp8")));
    assert_eq!(read(None), ("16 bit", "16 bit", None));
    let Some(folder) = folder("configs-companion") else { return };
    let spec = config(&folder, "nvidia__Qwen3-235B-A22B-NVFP4.json");
    let anatomy = spec.anatomy.as_ref().unwrap();
    assert_eq!(anatomy.kinds[0].of(Op::RoutedUp).next().unwrap().format.name, "NVFP4");
    assert_eq!(anatomy.kv_format, Some("fp8"));
    let deepseek = config(&folder, "nvidia__DeepSeek-V3.1-NVFP4.json");
    let anatomy = deepseek.anatomy.as_ref().unwrap();
    let last = anatomy.kinds.last().unwrap();
    assert!(last.of(Op::KvUp).next().unwrap().format.is_plain());
    assert_eq!(last.of(Op::RoutedUp).next().unwrap().format.name, "NVFP4");
}

#[test]
fn a_sampling_key_is_no_number_of_experts() {
    let spec = model(r#"{"model_type": "mllama_text_model", "top_k": 50}"#);
    assert!(spec.anatomy.as_ref().unwrap().kinds.iter().all(|kind| kind.experts.is_none()));
}

#[test]
fn both_models_cover_the_same_batch() {
    let spec = llama_8b();
    let model = physical(&spec, "");
    let settings = settings("");
    let case = batch("2048,4*1@8192");
    let vllm = rooflens::estimate::vllm::Vllm::new(&spec, &settings).estimate(&case, Scope::PerGpu).unwrap();
    let ours = model.estimate(&case, Scope::PerGpu).unwrap();
    let found = rooflens::estimate::physical::differ::differences(&spec, &model, &case, &vllm, &ours);
    let attention =
        found.iter().find(|d| (d.component, d.quantity) == (Component::Attention, Quantity::Flops)).unwrap();
    assert!(attention.physical < attention.vllm);
    assert!(attention.causes[0].contains("sees itself"));
}

#[test]
fn formats_of_some_modules_can_be_set() {
    use rooflens::estimate::physical::Modules;
    use rooflens::model::number::Format;
    let spec = llama_8b();
    let mut assumptions = Assumptions::default();
    assumptions.formats[Modules::Dense as usize] = Some(Format::NVFP4);
    let changed = Physical::new(&spec, &settings(""), assumptions, None).unwrap().stage(&batch(D), 0).unwrap();
    let plain = step(&spec, "", D);
    let ratio = |name: &str| term(&changed, name) as f64 / term(&plain, name) as f64;
    assert_eq!((ratio("qkv_weight"), ratio("dense_down_weight"), ratio("head_weight")), (1.0, 0.5625 / 2.0, 1.0));
}

#[test]
fn drafts_are_a_line_of_their_own() {
    use rooflens::step::expected_tokens;
    let spec = model(
        r#"{"model_type": "deepseek_v3", "num_hidden_layers": 4, "num_nextn_predict_layers": 1, "torch_dtype": "bfloat16"}"#,
    );
    let physical = physical(&spec, "");
    let whole = physical.stage(&batch("4*4@8192:3"), 0).unwrap();
    assert!(whole.parts.iter().all(|part| part.component != Component::Mtp));
    let draft = physical.draft(&batch("4*4@8192:3"), Drafting::Further).unwrap().expect("a prediction layer");
    assert_eq!(draft.component, Component::Mtp);
    // One token a request through one layer: 1/4 of the tokens, 1/4 of the layers, and the LM head.
    let flops = |parts: &[rooflens::estimate::Term], name: &str| -> u128 {
        parts.iter().filter(|term| term.def.name == name).map(|term| term.amount).sum()
    };
    assert_eq!(flops(&draft.terms, "out_proj") * 16, term(&whole, "out_proj"));
    assert_eq!(flops(&draft.terms, "head_proj") * 4, term(&whole, "head_proj"));
    assert_eq!(expected_tokens(0.0, 3), 1.0);
    assert_eq!(expected_tokens(1.0, 3), 4.0);
    assert_eq!(expected_tokens(0.5, 3), 1.875);
    assert_eq!(spec.anatomy.as_ref().unwrap().parameters().mtp, {
        let layer = 187_107_328 + 2 * 7168 + 256 * 7168 + 257 * 3 * 7168 * 2048;
        layer + 2 * 7168 * 7168 + 3 * 7168
    });
}

#[test]
fn more_stages_than_layers_lose_nothing() {
    let spec = llama(r#""hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 128"#);
    let many = physical(&spec, "pp8");
    assert_eq!(many.stages(), 2);
    assert!(many.stage(&batch(D), 1).unwrap().parts.iter().any(|part| part.component == Component::Unembed));
}

/// A config as links carry it describes the same layers; lists of modules may be cut, which is said.
#[test]
fn a_reduced_config_describes_the_same_model() {
    let Some(folder) = folder("configs") else { return };
    let (mut same, mut said) = (0, vec![]);
    for file in std::fs::read_dir(folder.join("configs")).unwrap().flatten() {
        let root = crate::beside::json(&file.path());
        let read = |root: &rooflens::json::Node| {
            let document = rooflens::json::Document { root: root.clone(), repairs: vec![] };
            rooflens::model::resolve(&document, None, rooflens::model::ClassTable::builtin()).ok()
        };
        let Some(whole) = read(&root) else { continue };
        let reduced = read(&rooflens::model::reduce(&root)).expect("a config still");
        let (whole, reduced) = (whole.anatomy.unwrap(), reduced.anatomy.unwrap());
        if (&whole.kinds, &whole.runs, &whole.head) == (&reduced.kinds, &reduced.runs, &reduced.head) {
            same += 1;
            continue;
        }
        assert_eq!(whole.parameters(), reduced.parameters(), "{}", file.path().display());
        let told = reduced.notes.iter().any(|note| note.text.contains("was cut from this config"));
        assert!(told, "{}", file.path().display());
        said.push(file.file_name());
    }
    println!("reduced: {same} configs describe the same, cut lists are said in {said:?}");
    assert!(same > 100);
}

#[test]
fn a_prefill_of_latent_attention_expands_its_prefix_again() {
    let spec = model(r#"{"model_type": "deepseek_v3", "num_hidden_layers": 1, "torch_dtype": "bfloat16"}"#);
    let fresh = step(&spec, "", "1024");
    let chunk = step(&spec, "", "1024@4096c");
    assert_eq!(term(&fresh, "kv_b_proj") * 4, term(&chunk, "kv_b_proj"));
    assert_eq!((term(&fresh, "attn_input"), term(&chunk, "attn_input")), (0, 3072 * 576 * 2));
    // 192 elements of a key and 128 of a value for each of 128 heads, causal.
    assert_eq!(term(&fresh, "attn_qk"), 2 * 128 * 192 * (1024 * 1025 / 2));
    assert_eq!(term(&fresh, "absorb_k_proj"), 0);
    let decode = step(&spec, "", "1@4096");
    assert_eq!((term(&decode, "kv_b_proj"), term(&decode, "absorb_k_proj")), (0, 2 * 128 * 128 * 512));
    assert_eq!(term(&decode, "attn_av"), 2 * 128 * 512 * 4096);
}

#[test]
fn the_tokens_of_all_data_parallel_ranks_meet_in_the_experts() {
    let spec = model(
        r#"{"model_type": "qwen3_moe", "num_experts": 8, "num_experts_per_tok": 2, "hidden_size": 64,
        "moe_intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 4,
        "vocab_size": 64, "torch_dtype": "bfloat16"}"#,
    );
    let flops = |words: &str| term(&step(&spec, words, "16*1@8"), "routed_down_proj");
    // The same work for each rank, whether experts are spread or cut.
    assert_eq!((flops(""), flops("dp4 ep"), flops("dp4")), (2 * 64 * 64 * 32, 2 * 64 * 64 * 32, 2 * 64 * 64 * 32));
    // Attention is its own rank's.
    assert_eq!(term(&step(&spec, "dp4 ep", "16*1@8"), "qkv_proj"), term(&step(&spec, "", "16*1@8"), "qkv_proj"));
}

#[test]
fn collectives_of_a_step() {
    use rooflens::step::collective::{Links, of};
    let accelerator = rooflens::hardware::find("h200-sxm").unwrap();
    let spec = llama_8b();
    let links = Links::of(accelerator, None);
    let found = |words: &str, case: &str| of(&physical(&spec, words), &batch(case), 0, &links);
    assert!(found("", "1@8").is_empty());
    let reduce = found("tp8", "32*1@8").into_iter().find(|one| one.name.contains("attention")).unwrap();
    // Two for each of 32 layers, a ring of eight over 32 x 4096 in 16 bit.
    assert_eq!((reduce.times, reduce.ranks, reduce.payload), (64, 8, 32.0 * 4096.0 * 2.0));
    assert!((reduce.inside - 64.0 * 1.75 * reduce.payload).abs() < 1.0 && reduce.between == 0.0);
    assert!((reduce.time.0 - reduce.inside / accelerator.scale_up.unwrap().0).abs() < 1e-12);
    // Two nodes: a ring inside each, and between them an eighth for each GPU.
    let wide = found("tp16", "32*1@8").into_iter().find(|one| one.name.contains("attention")).unwrap();
    assert!((wide.between - 64.0 * wide.payload / 8.0).abs() < 1.0);
    let small = of(&physical(&spec, "tp8"), &batch("32*1@8"), 0, &Links { node: 4, ..links });
    assert!(small[0].between > 0.0);
    assert!(found("pp2", "1@8").iter().any(|one| one.name == "to the next stage" && one.payload == 2.0 * 4096.0 * 2.0));
}

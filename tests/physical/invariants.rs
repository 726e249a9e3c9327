//! What must hold for every model, layout and batch.

use crate::beside::{batch, model, physical, settings};
use proptest::prelude::*;
use rooflens::batch::{Batch, Group, Phase};
use rooflens::estimate::physical::{Assumptions, Physical};
use rooflens::estimate::vllm::Vllm;
use rooflens::estimate::{Breakdown, Component, Estimator, Quantity, Scope};
use rooflens::model::ModelSpec;

/// Small models of every kind of layer whose sizes TP 1, 2, 4 divide.
fn models() -> Vec<(&'static str, ModelSpec)> {
    let base = r#""hidden_size": 256, "num_attention_heads": 8, "num_hidden_layers": 8, "vocab_size": 1024,
        "intermediate_size": 512, "torch_dtype": "bfloat16", "tie_word_embeddings": false"#;
    let moe = r#""num_key_value_heads": 4, "head_dim": 32, "num_experts": 16, "num_experts_per_tok": 2,
        "moe_intermediate_size": 128"#;
    let latent = r#""kv_lora_rank": 64, "qk_rope_head_dim": 16, "qk_nope_head_dim": 32, "v_head_dim": 32,
        "q_lora_rank": 96, "n_routed_experts": 16, "num_experts_per_tok": 2, "moe_intermediate_size": 128,
        "n_shared_experts": 1, "first_k_dense_replace": 1"#;
    let index = r#""index_topk": 64, "index_n_heads": 8, "index_head_dim": 32"#;
    let delta = r#""linear_num_key_heads": 4, "linear_num_value_heads": 8, "linear_key_head_dim": 32,
        "linear_value_head_dim": 32, "linear_conv_kernel_dim": 4, "full_attention_interval": 4"#;
    [
        ("llama", format!(r#"{{"model_type": "llama", "num_key_value_heads": 4, {base}}}"#)),
        ("mistral", format!(r#"{{"model_type": "mistral", "sliding_window": 128, "num_key_value_heads": 4, "head_dim": 32, {base}}}"#)),
        ("gpt2", format!(r#"{{"model_type": "gpt_bigcode", "n_embd": 256, "n_head": 8, "n_layer": 8, "multi_query": false, {base}}}"#)),
        ("moe", format!(r#"{{"model_type": "qwen3_moe", {moe}, {base}}}"#)),
        ("mla", format!(r#"{{"model_type": "deepseek_v3", {latent}, {base}}}"#)),
        ("sparse", format!(r#"{{"model_type": "deepseek_v32", {latent}, {index}, {base}}}"#)),
        ("delta", format!(r#"{{"model_type": "qwen3_next", {delta}, {moe}, {base}}}"#)),
    ]
    .into_iter()
    .map(|(name, config)| (name, model(&config)))
    .collect()
}

fn sum(breakdown: &Breakdown, quantity: Quantity) -> f64 {
    breakdown.terms(quantity).map(|(_, term)| term.amount as f64).sum()
}

fn requests() -> impl Strategy<Value = Vec<Group>> {
    let group = (1_u64..4, 1_u64..300, 0_u64..500, any::<bool>()).prop_map(|(count, tokens, prefix, prefill)| Group {
        count,
        tokens: if prefill { tokens } else { 1 + tokens % 4 },
        context: prefix + tokens,
        phase: if prefill { Phase::Prefill } else { Phase::Decode },
    });
    prop::collection::vec(group, 1..4)
}

/// Work of a component that tensor parallelism divides, or repeats on every rank.
fn divided(model: &Physical, batch: &Batch) -> f64 {
    let breakdown = model.stage(batch, 0).unwrap();
    let repeated =
        ["router_proj", "shared_gate_proj", "q_a_proj", "kv_a_proj", "index_q_proj", "index_k_proj", "index_scores"];
    let terms = breakdown.terms(Quantity::Flops).filter(|(_, term)| !repeated.contains(&term.def.name));
    terms.map(|(_, term)| term.amount as f64).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn shards_sum_to_the_whole(groups in requests(), tp in prop::sample::select(vec![1_u32, 2, 4])) {
        let batch = Batch::new(groups);
        for (name, spec) in models() {
            let whole = divided(&physical(&spec, ""), &batch);
            let shard = divided(&physical(&spec, &format!("tp{tp}")), &batch);
            let error = (shard * f64::from(tp) / whole - 1.0).abs();
            prop_assert!(error < 1e-6, "{} tp{}: {} of {}", name, tp, shard, whole);
        }
    }

    #[test]
    fn stages_sum_to_the_whole(groups in requests(), pp in 1_u32..5) {
        let batch = Batch::new(groups);
        for (name, spec) in models() {
            let staged = physical(&spec, &format!("pp{pp}"));
            for quantity in [Quantity::Flops, Quantity::Read, Quantity::Write] {
                let whole = sum(&physical(&spec, "").stage(&batch, 0).unwrap(), quantity);
                let stages: f64 = staged.each_stage().map(|s| sum(&staged.stage(&batch, s).unwrap(), quantity)).sum();
                prop_assert!((stages / whole - 1.0).abs() < 1e-6, "{} pp{} {:?}: {} of {}", name, pp, quantity, stages, whole);
            }
        }
    }

    #[test]
    fn more_gpus_never_add_flops_to_one(groups in requests(), ep in any::<bool>()) {
        let batch = Batch::new(groups);
        for (name, spec) in models() {
            let flops = |words: &str| sum(&physical(&spec, words).stage(&batch, 0).unwrap(), Quantity::Flops);
            let ep = if ep && spec.experts.ok().unwrap_or(0) > 0 { " ep" } else { "" };
            let sizes = ["tp1", "tp2", "tp4", "tp8"].map(|tp| flops(&format!("{tp}{ep}")));
            for pair in sizes.windows(2) {
                prop_assert!(pair[1] <= pair[0] * (1.0 + 1e-9), "{}{}: {:?}", name, ep, sizes);
            }
        }
    }

    #[test]
    fn fp8_never_reads_more_than_16_bit(groups in requests()) {
        let batch = Batch::new(groups);
        for (name, spec) in models() {
            let read = |words: &str| sum(&physical(&spec, words).stage(&batch, 0).unwrap(), Quantity::Read);
            let (wide, weights, both) = (read(""), read("quant=fp8"), read("quant=fp8 kv=fp8"));
            prop_assert!(weights < wide && both <= weights, "{}: {} {} {}", name, wide, weights, both);
        }
    }

    #[test]
    fn causal_attention_is_at_most_the_vllm_models(groups in requests()) {
        let batch = Batch::new(groups);
        for (name, spec) in models().into_iter().filter(|(name, _)| !["mla", "sparse", "delta"].contains(name)) {
            let attention = |breakdown: &Breakdown| -> u128 {
                let terms = breakdown.terms(Quantity::Flops).filter(|(component, _)| *component == Component::Attention);
                terms.filter(|(_, term)| term.def.name.starts_with("attn_")).map(|(_, term)| term.amount).sum()
            };
            let settings = settings("");
            let theirs = Vllm::new(&spec, &settings).estimate(&batch, Scope::PerGpu).unwrap();
            let ours = physical(&spec, "").estimate(&batch, Scope::PerGpu).unwrap();
            prop_assert!(attention(&ours) <= attention(&theirs), "{}: {} > {}", name, attention(&ours), attention(&theirs));
        }
    }

    #[test]
    fn a_split_batch_sums_to_the_whole(groups in requests(), more in requests()) {
        let all = Batch::new(groups.iter().chain(&more).copied());
        for (name, spec) in models() {
            let physical = physical(&spec, "");
            let flops = |batch: &Batch| sum(&physical.stage(batch, 0).unwrap(), Quantity::Flops);
            let apart = flops(&Batch::new(groups.clone())) + flops(&Batch::new(more.clone()));
            prop_assert!((flops(&all) / apart - 1.0).abs() < 1e-9, "{}", name);
            // Weights are read once instead of twice; nothing else is read less.
            let moved = |batch: &Batch, weights: bool| -> f64 {
                let breakdown = physical.stage(batch, 0).unwrap();
                let terms = breakdown.terms(Quantity::Read);
                let terms = terms.filter(|(_, term)| (term.def.traffic == rooflens::estimate::Traffic::Weights) == weights);
                terms.map(|(_, term)| term.amount as f64).sum()
            };
            let (one, two) = (Batch::new(groups.clone()), Batch::new(more.clone()));
            prop_assert!((moved(&all, false) / (moved(&one, false) + moved(&two, false)) - 1.0).abs() < 1e-6);
            prop_assert!(moved(&all, true) <= moved(&one, true) + moved(&two, true) + 1.0);
        }
    }

    #[test]
    fn hostile_sizes_end_in_a_number_or_a_reason(
        hidden in any::<u64>(), heads in any::<u64>(), layers in 0_u64..10_000, width in any::<u64>(), tokens in any::<u64>(),
    ) {
        let spec = model(&format!(
            r#"{{"model_type": "llama", "hidden_size": {hidden}, "num_attention_heads": {heads}, "num_key_value_heads":
            {heads}, "num_hidden_layers": {layers}, "intermediate_size": {width}, "vocab_size": {width}}}"#
        ));
        if let Ok(physical) = Physical::new(&spec, &settings("tp8 pp4 dp2"), Assumptions::default(), None) {
            let group = Group { count: 3, tokens, context: tokens, phase: Phase::Prefill };
            let _ = physical.estimate(&Batch::new([group]), Scope::PerGpu);
            let _ = rooflens::memory::weights(&physical, Scope::PerGpu, 0);
            let _ = rooflens::memory::Pool::of(&physical, 0, &rooflens::memory::Plan::default()).reserved(tokens);
        }
    }
}

#[test]
fn a_long_prefill_and_a_large_decode_stay_finite() {
    let spec = crate::memory::llama_70b("");
    let physical = physical(&spec, "");
    for case in ["131072", "512*1@1000000"] {
        let cost = physical.estimate(&batch(case), Scope::Global).unwrap().cost();
        assert!(cost.flops.0 > 0 && cost.moved().0 > 0 && cost.intensity().unwrap().0.is_finite());
    }
}

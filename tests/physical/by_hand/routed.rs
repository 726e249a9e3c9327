//! Layers with experts.

use super::{experts, step, terms};
use crate::beside::{batch, physical, preset, settings, term};
use rooflens::estimate::physical::{Assumptions, Physical};
use rooflens::hardware;
use rooflens::model::ModelSpec;
use rooflens::step::collective::{Links, of};

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
fn tokens_travel_to_experts_and_back() {
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
    // Two data-parallel ranks: every token goes to the other one once, which is less than its copies to three of four.
    assert_eq!(moved("tp2 dp2 ep", "dispatch to experts"), Some((4, 8.0 * 64.0 * 2.0 * 2.0)));
    // Without spreading every rank needs every token.
    assert_eq!(moved("dp4", "dispatch to experts"), Some((4, 8.0 * 64.0 * 2.0 * 2.0 * 3.0)));
    assert_eq!(moved("tp4 ep", "dispatch to experts"), None);
    // Logits: 64 a token, each rank has a quarter and takes the others.
    assert_eq!(moved("tp4", "gather of logits"), Some((4, 8.0 * 64.0 * 2.0 * 0.75)));
}

#[test]
fn stages_hand_over_what_the_next_one_needs() {
    let sent = |spec: &ModelSpec, words: &str, stage: u64, node: Option<u32>| {
        let links = Links::of(hardware::find("h200-sxm").unwrap(), node);
        let found = of(&physical(spec, words), &batch("8*1@16"), stage, &links);
        found.into_iter().find(|one| one.name == "to the next stage").map(|one| (one.inside, one.between))
    };
    // Eight tokens of 64 in 16 bit, hidden state and residual; of two ranks each sends half.
    let plain = experts("");
    assert_eq!(sent(&plain, "pp2", 0, None), Some((2048.0, 0.0)));
    assert_eq!(sent(&plain, "tp2 pp2", 0, None), Some((1024.0, 0.0)));
    assert_eq!(sent(&plain, "pp2", 1, None), None);
    // Four streams of 4096, and no residual beside them.
    let streams = preset("deepseek-v4-flash");
    assert_eq!(sent(&streams, "pp2", 0, None), Some((8.0 * 4.0 * 4096.0 * 2.0, 0.0)));
}

#[test]
fn tokens_go_out_as_they_are_multiplied() {
    let spec = experts("");
    let sent = |words: &str, id: &str, name: &str| {
        let accelerator = hardware::find(id).unwrap();
        let physical = Physical::new(&spec, &settings(words), Assumptions::default(), Some(accelerator)).unwrap();
        let found = of(&physical, &batch("8*1@16"), 0, &Links::of(accelerator, None));
        found.into_iter().find(|one| one.name == name).map(|one| one.inside)
    };
    // Eight tokens of 64 to the other rank, in two layers.
    let elements = 8.0 * 64.0 * 2.0;
    for (quant, id, bytes) in [
        ("fp8", "h200-sxm", 1.0),
        ("fp8", "a100-80-sxm", 2.0),
        ("experts_int8", "a100-80-sxm", 2.0),
        ("nvfp4", "b200-sxm", 0.5625),
        ("nvfp4", "h200-sxm", 2.0),
        ("awq", "b200-sxm", 2.0),
    ] {
        let words = format!("dp2 quant={quant}");
        assert_eq!(sent(&words, id, "dispatch to experts"), Some(elements * bytes), "{quant} on {id}");
        assert_eq!(sent(&words, id, "combine from experts"), Some(elements * 2.0), "{quant} on {id}");
    }
}

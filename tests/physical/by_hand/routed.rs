//! Layers with experts.

use super::{experts, step, terms};
use crate::beside::{batch, model, physical, preset, settings, term};
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
    // Eight tokens of 64 in 16 bit, in two layers.
    let all = 8.0 * 64.0 * 2.0 * 2.0;
    // Each to two experts: one of four ranks is missed with a chance of 9/16, and three are elsewhere.
    let copies = all * 3.0 * 7.0 / 16.0;
    assert_eq!(moved("dp4 ep", "dispatch to experts"), Some((4, copies)));
    assert_eq!(moved("dp4 ep", "combine from experts"), Some((4, copies)));
    // Two ranks have the same tokens: each sends half.
    assert_eq!(moved("tp2 dp2 ep", "dispatch to experts"), Some((4, copies / 2.0)));
    assert_eq!(moved("tp2 dp2 ep", "combine from experts"), Some((4, copies / 2.0)));
    // The reduction before the experts is finished after them, and is the only one of a layer.
    let reduce = "all-reduce after attention and FFN";
    assert_eq!(moved("tp2 dp2 ep", reduce), Some((2, 8.0 * 64.0 * 2.0 * 2.0)));
    assert_eq!(moved("tp2 dp2", reduce), Some((2, 8.0 * 64.0 * 2.0 * 4.0)));
    assert_eq!(moved("tp2 ep", reduce), Some((2, 8.0 * 64.0 * 2.0 * 4.0)));
    // Without spreading every rank needs every token.
    assert_eq!(moved("dp4", "dispatch to experts"), Some((4, 8.0 * 64.0 * 2.0 * 2.0 * 3.0)));
    assert_eq!(moved("tp4 ep", "dispatch to experts"), None);
    // Logits: 64 a token, each rank has a quarter and takes the others.
    assert_eq!(moved("tp4", "gather of logits"), Some((4, 8.0 * 64.0 * 2.0 * 0.75)));
}

#[test]
fn tokens_go_to_a_node_once() {
    let accelerator = hardware::find("h200-sxm").unwrap();
    let links = Links::of(accelerator, Some(2));
    let spec = experts("");
    let moved = |words: &str, links: &Links| {
        let found = of(&physical(&spec, words), &batch("8*1@16"), 0, links);
        found.into_iter().find(|one| one.name == "dispatch to experts").map(|one| (one.inside, one.between))
    };
    // Eight tokens of 64 in 16 bit, in two layers, to two experts on four ranks: 3 x 7/16 of the other ranks, and the
    // other one of two nodes with a chance of 3/4.
    let all = 8.0 * 64.0 * 2.0 * 2.0;
    assert_eq!(moved("dp4 ep", &links), Some((all * (21.0 - 12.0) / 16.0, all * 12.0 / 16.0)));
    assert_eq!(moved("tp2 dp2 ep", &links), Some((all * 9.0 / 32.0, all * 12.0 / 32.0)));
    // Without spreading each rank needs the tokens of three others: those of the other node come over two links.
    assert_eq!(moved("dp4", &links), Some((all * 2.0, all)));
    // The one that shares a rank's tensor-parallel share is in the other node.
    assert_eq!(moved("tp2 dp2", &links), Some((0.0, all)));
    // In nodes of four the two ranks of a stage share theirs with those of the other stage, and a layer is a stage.
    let wide = Links { node: 4, ..links };
    assert_eq!(moved("tp2 dp2 ep", &wide), Some((all * 21.0 / 32.0, 0.0)));
    assert_eq!(moved("tp2 pp2 dp2 ep", &wide), Some((all * 9.0 / 64.0, all * 12.0 / 64.0)));
    assert_eq!(moved("tp2 dp2", &wide), Some((all, 0.0)));
    assert_eq!(moved("tp2 pp2 dp2", &wide), Some((0.0, all / 2.0)));
}

#[test]
fn tokens_go_the_shorter_way() {
    // Each token to 16 of 64 experts on eight ranks: seven are elsewhere, each missed with a chance of (7/8)^16.
    let spec = model(
        r#"{"model_type": "qwen3_moe", "num_experts": 64, "num_experts_per_tok": 16, "hidden_size": 64,
        "moe_intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 4,
        "vocab_size": 64, "torch_dtype": "bfloat16"}"#,
    );
    let moved = |links: &Links| {
        let found = of(&physical(&spec, "tp4 dp2 ep"), &batch("8*1@16"), 0, links);
        let ways = ["dispatch to experts", "all-reduce after attention and FFN"];
        ways.map(|name| found.iter().find(|one| one.name == name).map(|one| (one.ranks, one.inside)))
    };
    let row = 8.0 * 64.0 * 2.0;
    // To and fro a quarter of 7 x 0.882 and one reduction of 1.5: 4.6 rows, where whole they are 2 and 3.
    let ring = Links::of(hardware::find("h200-sxm").unwrap(), None);
    let copies: f64 = row / 4.0 * 7.0 * (1.0 - 0.875_f64.powi(16));
    let [sent, reduced] = moved(&ring);
    assert!(sent.is_some_and(|(ranks, bytes)| ranks == 8 && (bytes - copies).abs() < 1e-9), "{sent:?}");
    assert_eq!(reduced, Some((4, row * 1.5)));
    // A reduction in the switch is one row: sliced they are 4.1 rows, whole 4.
    let switch = Links { in_switch: true, ..ring };
    assert_eq!(moved(&switch), [Some((2, row)), Some((4, row * 2.0))]);
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
    // Four stages of four GPUs in nodes of eight: the second one ends the first node.
    let longer = experts(r#", "num_hidden_layers": 4"#);
    let boundaries = [0, 1, 2].map(|stage| sent(&longer, "tp4 pp4", stage, Some(8)));
    assert_eq!(boundaries, [Some((512.0, 0.0)), Some((0.0, 512.0)), Some((512.0, 0.0))]);
    // Stages of more GPUs than a node has.
    assert_eq!(sent(&plain, "tp4 pp2", 0, Some(2)), Some((0.0, 512.0)));
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

//! What presets, drafts and a plan make of a step.

use super::small;
use crate::beside::{batch, llama, model, physical};
use rooflens::estimate::physical::Drafting;
use rooflens::estimate::{Estimator, Scope};
use rooflens::hardware::{self, Accelerator};
use rooflens::memory::{Plan, Pool, weights};
use rooflens::model::ModelSpec;
use rooflens::report::figures::expectation;
use rooflens::step::preset::{CALIBRATED, IDEAL, Preset};
use rooflens::step::{OnHardware, Served, expected_tokens, part_time};
use rooflens::units::{Bytes, BytesPerSecond, Seconds};

fn h200() -> &'static Accelerator {
    hardware::find("h200-sxm").unwrap()
}

fn on(spec: &ModelSpec, words: &str, case: &str, served: &Served) -> OnHardware {
    OnHardware::of(&physical(spec, words), &batch(case), h200(), served).unwrap()
}

#[track_caller]
fn close(ours: f64, expected: f64) {
    assert!((ours / expected - 1.0).abs() < 1e-9, "{ours} is not {expected}");
}

#[test]
fn a_preset_slows_rates_and_adds_what_comes_on_top() {
    let own = Preset { compute: 0.01, bandwidth: 0.5, layer: Seconds(10e-6), latency: Seconds(2e-6), ..CALIBRATED };
    let found = on(&small(), "tp2", "1@8", &Served { preset: own, ..Served::default() });
    // A decode of so small a model moves more than it computes, also at a hundredth of the peak: 4.8 TB/s.
    let moved = physical(&small(), "tp2").estimate(&batch("1@8"), Scope::PerGpu).unwrap().cost().moved();
    let moving = moved.as_f64() / 4.8e12;
    // A row of 64 in 16 bit: two ranks send it all, six times in layers and once for the embedding; and half of a row of
    // 100 logits. 450 GB/s.
    let talking = (7.0 * 128.0 + 100.0) / 450e9;
    close(found.bound.latency.0, moving + talking);
    close(found.step.talking(&IDEAL).0, talking);
    // Two steps of an all-reduce of two ranks, one of a gather.
    let slower = talking / 0.5 + 15.0 * 2e-6;
    close(found.step.talking(&own).0, slower);
    close(found.expected.latency.0, moving / 0.5 + slower + 3.0 * 10e-6);
}

#[test]
fn what_overlaps_shortens_the_bound_too() {
    let moved = physical(&small(), "tp2").estimate(&batch("1@8"), Scope::PerGpu).unwrap().cost().moved();
    let (moving, talking) = (moved.as_f64() / 4.8e12, (7.0 * 128.0 + 100.0) / 450e9);
    let quarter = on(&small(), "tp2", "1@8", &Served { overlap: 0.25, ..Served::default() });
    close(quarter.bound.latency.0, moving + talking * 0.75);
    close(quarter.expected.latency.0, (moving + talking * 0.75) / 0.8 + 3.0 * 70e-6);
    // What runs beside operations is never longer than they are.
    let slow = Accelerator { scale_up: Some(BytesPerSecond(1e6)), ..h200().clone() };
    let served = Served { overlap: 1.0, ..Served::default() };
    let hidden = OnHardware::of(&physical(&small(), "tp2"), &batch("1@8"), &slow, &served).unwrap();
    close(hidden.bound.latency.0, (7.0 * 128.0 + 100.0) / 1e6);
}

#[test]
fn nothing_is_used_by_more_than_all_of_it() {
    // FP8 products and 16-bit attention, each at a peak of its own.
    let spec = llama(
        r#""hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 2,
        "intermediate_size": 14336, "vocab_size": 128256"#,
    );
    for case in ["45000", "64*1@8192", "8*4@1024:3", "8192,64*1@8192"] {
        for words in ["quant=fp8", "quant=fp8 pp2", "quant=fp8 tp8", "kv=fp8 pp2 tp2"] {
            let found = on(&spec, words, case, &Served::default());
            for (rates, what) in [(found.bound, "bound"), (found.expected, "expected")] {
                let (mfu, mbu) = (rates.compute_used, rates.bandwidth_used);
                assert!(mfu < 1.0 + 1e-9 && mbu < 1.0 + 1e-9 && mfu + mbu > 0.0, "{case} {words} {what}: {mfu} {mbu}");
            }
            assert!(found.expected.latency.0 > found.bound.latency.0);
        }
    }
}

#[test]
fn the_usual_preset_is_the_calibrated_one() {
    let found = on(&small(), "", "1@8", &Served::default());
    close(found.expected.latency.0, found.bound.latency.0 / 0.8 + 3.0 * 70e-6);
    assert_eq!(found.preset, CALIBRATED);
}

/// What stands beside the numbers.
#[test]
fn what_is_expected_says_what_it_goes_by() {
    let said = |words: &str, case: &str, served: &Served| expectation(&on(&small(), words, case, served));
    let usual = said("", "1@8", &Served::default());
    assert!(
        usual.starts_with("Expected is calibrated: computing at 80.0% of the peaks, moving at 80.0% of the "),
        "{usual}"
    );
    assert!(usual.ends_with("median error 7.09 %. Never mixed up with the bound."), "{usual}");
    assert!(said("tp2", "1@8", &Served::default()).contains(" go round a ring; where a switch adds them up, say so"));
    let served = Served { in_switch: true, overlap: 0.5, ..Served::default() };
    let said_of = said("tp2", "1@8", &served);
    assert!(said_of.contains(" added up by its switch. Up to 50.0% of communication runs beside"), "{said_of}");
    assert!(said("pp2", "1@8", &Served::default()).contains(" are those of a full pipeline"));
    assert!(
        said("", "1*4@8:3", &Served::default())
            .ends_with(" What drafts is not known: its time and memory are not counted.")
    );
}

#[test]
fn switches_that_add_up_move_a_payload_once() {
    let ring = on(&small(), "tp4", "1@8", &Served::default());
    let switch = on(&small(), "tp4", "1@8", &Served { in_switch: true, ..Served::default() });
    let inside = |on: &OnHardware| on.step.stages[0].collectives[0].inside;
    assert_eq!((inside(&ring), inside(&switch)), (6.0 * 1.5 * 128.0, 6.0 * 128.0));
    // Round a ring of four twice, up to the switch and down; in nodes of two round theirs and that of the two nodes; alone
    // in its node there is no switch to add up.
    let steps = |served: Served| on(&small(), "tp4", "1@8", &served).step.stages[0].collectives[0].steps;
    assert_eq!((ring.step.stages[0].collectives[0].steps, switch.step.stages[0].collectives[0].steps), (36.0, 12.0));
    assert_eq!(steps(Served { node: Some(2), ..Served::default() }), 6.0 * (2.0 + 2.0));
    assert_eq!(steps(Served { node: Some(1), in_switch: true, ..Served::default() }), 6.0 * (2.0 * 3.0));
    // Logits are gathered in as many.
    let gathered =
        |node| on(&small(), "tp4", "1@8", &Served { node, ..Served::default() }).step.stages[0].collectives[2].steps;
    assert_eq!((gathered(None), gathered(Some(2))), (3.0, 2.0));
}

/// Two layers with latent attention, of which so many are dense, and one more that predicts, like the last.
fn predicting(dense: u64) -> ModelSpec {
    model(&format!(
        r#"{{"model_type": "deepseek_v3", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
        "num_nextn_predict_layers": 1, "kv_lora_rank": 32, "q_lora_rank": 48, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8,
        "v_head_dim": 16, "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
        "n_shared_experts": 1, "n_group": 1, "topk_group": 1, "first_k_dense_replace": {dense}, "intermediate_size": 96,
        "vocab_size": 128, "torch_dtype": "bfloat16"}}"#,
    ))
}

#[test]
fn what_is_verified_was_drafted_before() {
    let spec = predicting(2);
    let served = Served { acceptance: 0.5, ..Served::default() };
    let found = on(&spec, "", "2*4@8:3", &served);
    let time = |drafting| {
        let part = physical(&spec, "").draft(&batch("2*4@8:3"), drafting).unwrap().unwrap();
        part_time(&part, h200(), &IDEAL).0
    };
    // The first step runs over the four tokens of each request, two more over one.
    let drafting = time(Drafting::First) + 2.0 * time(Drafting::Further);
    assert!(time(Drafting::First) > time(Drafting::Further));
    close(found.step.drafting(&IDEAL).0, drafting);
    assert_eq!(expected_tokens(0.5, 3), 1.875);
    assert_eq!(found.bound.tokens_per_step, 1.875);
    close(found.bound.per_output_token.0, (found.bound.latency.0 + drafting) / 1.875);
    // The overhead of a layer comes on top of each.
    close(found.step.drafting(&CALIBRATED).0, drafting / 0.8 + 3.0 * 70e-6);
    // A replica begins the next step after it.
    close(found.bound.tokens_per_second, 2.0 * 1.875 / (found.bound.latency.0 + drafting));

    // A step of both requests' tokens, and two more of the one that has more drafts.
    let mixed = on(&spec, "", "1*2@8:1,1*4@8:3", &served);
    let steps: Vec<u64> = mixed.step.drafts.iter().map(|draft| draft.steps).collect();
    assert_eq!(steps, [1, 2]);
    let flops = |at: usize, name: &str| {
        let operations = &mixed.step.drafts[at].operations;
        operations.iter().filter(|one| one.operation == name).map(|one| one.cost.flops.0).sum::<u128>()
    };
    assert_eq!((flops(1, "output projection"), flops(1, "LM head")), (2 * 64 * 64, 2 * 64 * 128));
    assert_eq!((flops(0, "output projection"), flops(0, "LM head")), (6 * 2 * 64 * 64, 2 * 2 * 64 * 128));

    // On two ranks their sums and logits are exchanged: four tokens of each, a row of 128 logits of each.
    let ranks = on(&spec, "tp2", "2*4@8:3", &served);
    let first = &ranks.step.drafts[0].collectives;
    let bytes: Vec<f64> = first.iter().map(|one| one.inside).collect();
    assert_eq!(bytes, [3.0 * 8.0 * 64.0 * 2.0, 2.0 * 128.0 * 2.0 / 2.0]);
    // What overlaps, overlaps here too.
    let hidden = on(&spec, "tp2", "2*4@8:3", &Served { overlap: 1.0, ..served.clone() });
    assert!(hidden.step.drafting(&IDEAL).0 < ranks.step.drafting(&IDEAL).0);
    // Tokens of other replicas meet in the experts of the layer that drafts, which takes the place of an all-reduce.
    let spread = on(&predicting(1), "tp2 dp2 ep", "2*4@8:3", &served);
    let names: Vec<&str> = spread.step.drafts[0].collectives.iter().map(|one| one.name).collect();
    assert_eq!(names[..2], ["dispatch to experts", "combine from experts"]);
    // More lengths than can be told apart take as many steps as the longest, or a few less.
    let many: Vec<String> = (1..=1000).map(|drafts| format!("1*{}@4096:{drafts}", drafts + 1)).collect();
    let steps: u64 = on(&spec, "", &many.join(","), &served).step.drafts.iter().map(|draft| draft.steps).sum();
    assert!((985..=1000).contains(&steps), "{steps}");

    // A decode without drafts drafts nothing, nor does a model without such layers.
    assert_eq!(on(&spec, "", "2*1@8", &served).step.drafts, []);
    assert_eq!(on(&small(), "", "2*4@8:3", &served).step.drafts, []);
}

#[test]
fn layers_that_draft_are_loaded_and_keep_a_cache() {
    let spec = predicting(2);
    let (idle, drafting) = (on(&spec, "", "2*1@8", &Served::default()), on(&spec, "", "2*2@8:1", &Served::default()));
    let held = weights(&physical(&spec, ""), Scope::PerGpu, 0);
    assert!(held.mtp.0 > 0);
    assert_eq!(drafting.fit.weights().0 - idle.fit.weights().0, held.mtp.0);
    // Forty elements of latent and rotary in 16 bit, in three layers instead of two.
    assert_eq!((idle.fit.token(), drafting.fit.token()), ((160, 1), (240, 1)));
    // The last of two stages embeds drafts from a copy of its own.
    let staged = weights(&physical(&spec, "pp2"), Scope::PerGpu, 1);
    assert_eq!(staged.mtp.0, held.mtp.0 + 128 * 64 * 2);
    let pool = |plan: &Plan| Pool::of(&physical(&spec, "pp2"), 0, plan).token();
    assert_eq!(pool(&Plan { speculative: true, ..Plan::default() }), pool(&Plan::default()));
}

#[test]
fn what_is_set_aside_can_be_said() {
    let served = Served { plan: Plan { reserve: Some(Bytes(3 << 30)), ..Plan::default() }, ..Served::default() };
    let stage = on(&small(), "", "1@8", &served).fit.stages[0].clone();
    assert_eq!(stage.reserve, Bytes(3 << 30));
    // What is estimated is for the tokens of the step where those are more than the usual most.
    let reserve = |case: &str| on(&small(), "", case, &Served::default()).fit.stages[0].reserve.0;
    assert_eq!(reserve("1@8"), reserve("8192"));
    assert_eq!(reserve("16384") - reserve("8192"), 8192 * (2 * 192 + 3 * 64) * 2);
}

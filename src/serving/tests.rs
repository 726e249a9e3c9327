use super::compare::{Verdict, compare};
use super::counters::counters;
use super::log::{Log, scan};
use super::rates::{Outcome, rates};
use super::{step, view};
use crate::batch::{Batch, Group, Phase};
use crate::estimate::vllm::Vllm;
use crate::estimate::{Breakdown, Estimator as _, Quantity, Scope, Traffic};
use crate::hardware::{Precision, find};
use crate::layout::Layout;
use crate::model::{ClassTable, presets, read, resolve};
use crate::report::Roof;
use crate::settings::Settings;
use crate::units::Seconds;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

const FIRST: &str = include_str!("../../tests/bench/metrics-first.txt");
const SECOND: &str = include_str!("../../tests/bench/metrics-second.txt");
const LOG: &str = include_str!("../../tests/bench/server.log");

fn h200() -> Roof {
    Roof::of(find("h200-sxm").unwrap(), Precision::Fp8).unwrap()
}

#[test]
fn counters_of_every_engine() {
    let found = counters(FIRST).unwrap();
    assert_eq!(found.engines.len(), 3);
    assert_eq!(found.engines[0].title(), "engine 0, deepseek-v3");
    assert_eq!((found.engines[1].flops, found.engines[1].read), (Some(5e15), Some(9e12)));
    assert_eq!(found.notes, Vec::<String>::new());
    insta::assert_snapshot!(counters(SECOND).unwrap().notes.join("\n"), @"
    engine 3, deepseek-v3 lacks vllm:estimated_write_bytes_per_gpu.
    Counters above 2^53 are rounded by about 1 part in 10^16: they are floats.
    ");
}

#[test]
fn counters_that_stand_twice_and_lines_that_are_no_metrics() {
    let text = "vllm:estimated_flops_per_gpu_total 1\nvllm:estimated_flops_per_gpu 1\nvllm:estimated_flops_per_gpu 2\n\
                vllm:estimated_read_bytes_per_gpu NaN\nrubbish\n";
    let found = counters(text).unwrap();
    assert_eq!((found.engines[0].title().as_str(), found.engines[0].flops), ("engine", Some(2.0)));
    insta::assert_snapshot!(found.notes.join("\n"), @"
    Line 3: vllm:estimated_flops_per_gpu of engine stands there again with another value; the last one counts.
    Line 4: vllm:estimated_read_bytes_per_gpu is NaN; expected a finite number.
    engine lacks vllm:estimated_read_bytes_per_gpu and vllm:estimated_write_bytes_per_gpu.
    Line 5: found the end of the line; expected `{` or a space after the name.
    ");
}

#[test]
fn pages_without_the_counters() {
    let fails = |text: &str| counters(text).unwrap_err().to_string();
    insta::assert_snapshot!(fails("up 1\nvllm:x 2"), @"None of the estimator's counters is in this text (it has 2 metrics, 1 of them of vLLM); expected a metrics page of a vLLM server with `vllm:estimated_flops_per_gpu_total`, `vllm:estimated_read_bytes_per_gpu_total` and `vllm:estimated_write_bytes_per_gpu_total`.");
    insta::assert_snapshot!(fails("{}"), @"None of the estimator's counters is in this text (it has no metrics at all); expected a metrics page of a vLLM server with `vllm:estimated_flops_per_gpu_total`, `vllm:estimated_read_bytes_per_gpu_total` and `vllm:estimated_write_bytes_per_gpu_total`. Line 1: found `{}`; expected a metric's name.");
}

/// Engine 0 in 60 s: 11.979e15 FLOPs are 199.65 TFLOP/s, 10.09 % of 1979; 18e12 + 6e12 B are 400 GB/s, 8.33 % of 4800.
#[test]
fn rates_between_two_pages() {
    let (first, second) = (counters(FIRST).unwrap(), counters(SECOND).unwrap());
    let found = rates(&first, &second, Seconds(60.0)).unwrap();
    let Outcome::Rates(engine) = found[0].outcome else { panic!("ran on") };
    assert!((engine.flops.0 / 199.65e12 - 1.0).abs() < 1e-12 && (engine.moved().0 / 400e9 - 1.0).abs() < 1e-12);
    let outcomes: Vec<Outcome> = found[1..].iter().map(|rate| rate.outcome).collect();
    assert_eq!(outcomes, [Outcome::Restarted, Outcome::Gone, Outcome::New]);
    insta::assert_snapshot!(view::rates(&found, Some(&h200())).plain(), @"
    Estimated rates per GPU
    engine FLOP/s read and written MFU MBU remark
    engine 0, deepseek-v3 200 TFLOP/s 400 GB/s 10.1% 8.33% 
    engine 1, deepseek-v3 – – – – a counter is smaller than before: the server restarted in between
    engine 2, deepseek-v3 – – – – only in the first page
    engine 3, deepseek-v3 – – – – only in the second page
    TFLOP/s per GPU in PromQL:  rate(vllm:estimated_flops_per_gpu_total[1m]) / 1e12
    GB/s per GPU in PromQL:  (rate(vllm:estimated_read_bytes_per_gpu_total[1m]) + rate(vllm:estimated_write_bytes_per_gpu_total[1m])) / 1e9
    ");
    for seconds in [0.0, -1.0, f64::NAN] {
        assert!(rates(&first, &second, Seconds(seconds)).is_err());
    }
    let _ = view::counters(&first).plain();
}

#[test]
fn a_log_with_both_kinds_of_lines() {
    let Log { intervals, details, problems } = scan(LOG).unwrap();
    let seen: Vec<_> = intervals.iter().map(|i| (i.line, i.engine.as_str(), i.tflops, i.gbps)).collect();
    assert_eq!(seen, [(2, "Engine 000", 12.3, 456.7), (31, "", 0.5, 1.0)]);
    assert_eq!(
        problems,
        ["Line 32: found `lots TF/s/device 1.0 GB/s/device`; expected `<x.x> TF/s/device <y.y> GB/s/device`."]
    );
    let [found] = &*details else { panic!("one") };
    assert_eq!((found.line, found.engine.as_str()), (4, "Engine 001"));
    let details = &found.details;
    assert_eq!((details.batches, details.duration, details.overhead_pct), (Some(3), Some(10.0), Some(0.1)));
    assert_eq!((details.decode.requests, details.decode.product, details.prefill.tokens), (12, 192, 0));
    assert_eq!((details.flops[0].amount, details.flops[0].within), (393.2e3, 50.0));
    let alone = scan("{\n \"flops_breakdown\": {\"ffn.dense_ffn\": \"1.5TF\"}\n}").unwrap();
    assert_eq!(alone.details[0].details.flops[0].printed, "1.5TF");
}

#[test]
fn logs_that_hold_nothing_or_half() {
    assert!(
        scan("a\nb")
            .unwrap_err()
            .to_string()
            .starts_with("Nothing of the estimator is in these 2 lines; expected a line such as `MFU: 12.3")
    );
    let cut: Vec<&str> = LOG.lines().take(20).collect();
    assert_eq!(
        scan(&cut.join("\n")).unwrap().problems,
        ["Line 4: the JSON of the MFU details does not end; expected the lines up to its last `}`."]
    );
    let odd = scan("MFU details: {\"flops_breakdown\": {\"a.b\": \"12 parsecs\"}}").unwrap();
    assert_eq!(
        odd.problems,
        [
            "The MFU details of line 1: at line 1, column 29, `flops_breakdown.a.b`: found the string \"12 parsecs\"; expected an amount such as \"12.3TF\"."
        ]
    );
}

const SMALL: &str = r#"{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000, "torch_dtype": "bfloat16"}"#;

fn estimator(config: &str) -> Vllm {
    Vllm::new(&read(config, None, ClassTable::builtin()).unwrap(), &Settings::default())
}

/// 12 tokens in 3 steps: `qkv_proj` is 2*12*64*(4 + 2*2)*16*2 = 393216, printed as 393.2k; `attn_qk` is
/// 2*4*192*16*2 = 49152 and not 50.0k; the weights are 64*(4 + 2*2)*16*2*2 = 32768 bytes a step, 98304 in three.
#[test]
fn terms_beside_ours() {
    let details = &scan(LOG).unwrap().details[0].details;
    let rows = compare(details, &estimator(SMALL)).unwrap();
    let row = |key: &str, quantity| rows.iter().find(|row| row.key == key && row.quantity == quantity).unwrap();
    assert_eq!(row("attn.qkv_proj", Quantity::Flops).verdict, Verdict::Equal);
    assert_eq!(row("attn.attn_qk", Quantity::Flops).verdict, Verdict::Differs);
    assert_eq!(row("attn.attn_av", Quantity::Flops).verdict, Verdict::OnlyOurs);
    assert_eq!(row("other.thing", Quantity::Flops).verdict, Verdict::OnlyTheirs);
    let weights = row("attn.qkv_weight", Quantity::Read);
    assert_eq!((weights.ours.unwrap().low, weights.verdict), (98_304, Verdict::Equal));
    let text = view::compared(&rows).plain();
    assert!(text.contains("attn.qkv_proj FLOPs 393.2kF 393 kFLOP equal"), "{text}");
    assert!(text.contains("other.thing FLOPs 0.0TF – only the server counts it"), "{text}");
}

/// The breakdown of steps as vLLM logs them.
fn logged(steps: &[Batch], vllm: &Vllm) -> String {
    let mut amounts: BTreeMap<(Quantity, String), u128> = BTreeMap::new();
    let mut sums: BTreeMap<&str, u128> = BTreeMap::new();
    for step in steps {
        let Breakdown { parts } = vllm.estimate(step, Scope::PerGpu).unwrap();
        for part in &parts {
            for term in &part.terms {
                let key = format!("{}.{}", part.component.name(), term.def.name);
                *amounts.entry((term.def.quantity, key)).or_default() += term.amount;
            }
        }
        for (phase, names) in [
            (
                Phase::Prefill,
                ["num_prefill_requests", "prefill_num_tokens", "prefill_context_len", "prefill_token_context_product"],
            ),
            (
                Phase::Decode,
                ["num_decode_requests", "decode_num_tokens", "decode_context_len", "decode_token_context_product"],
            ),
        ] {
            let found = step.sums(phase, None);
            for (name, value) in names.into_iter().zip([found.requests, found.tokens, found.context, found.product]) {
                *sums.entry(name).or_default() += value;
            }
        }
    }
    let object = |quantity, factor: f64, unit: &str| {
        let of = amounts.iter().filter(|((found, _), _)| *found == quantity);
        let members: Vec<String> =
            of.map(|((_, key), amount)| format!("{key:?}: \"{:.1}{unit}\"", *amount as f64 / factor)).collect();
        format!("{{{}}}", members.join(", "))
    };
    let context: Vec<String> = sums.iter().map(|(name, value)| format!("{name:?}: {value}")).collect();
    format!(
        "x MFU details: {{\"num_batches\": {}, \"context_breakdown\": {{{}}}, \"flops_breakdown\": {}, \
         \"num_read_bytes_breakdown\": {}, \"num_write_bytes_breakdown\": {}}}",
        steps.len(),
        context.join(", "),
        object(Quantity::Flops, 1e12, "TF"),
        object(Quantity::Read, 1e9, "GB"),
        object(Quantity::Write, 1e9, "GB"),
    )
}

#[test]
fn tokens_of_experts_are_a_range_over_several_steps() {
    let config = r#"{"model_type": "mixtral", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
        "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000, "num_local_experts": 8,
        "num_experts_per_tok": 2, "torch_dtype": "bfloat16"}"#;
    let vllm = estimator(config);
    let decode = |count| Batch::new([Group { count, tokens: 1, context: 16, phase: Phase::Decode }]);
    let log = scan(&logged(&[decode(5), decode(1)], &vllm)).unwrap();
    let rows = compare(&log.details[0].details, &vllm).unwrap();
    let row = rows.iter().find(|row| row.key == "ffn.routed_down_weights").unwrap();
    // 6 tokens are 12 pairs: 8 experts if in one step, 12 at most in two. An expert is 64*128*2 bytes in 2 layers.
    let ours = row.ours.unwrap();
    assert_eq!((ours.low, ours.high), (8 * 64 * 128 * 2 * 2, 12 * 64 * 128 * 2 * 2));
    let unknown = super::Details { batches: None, ..log.details[0].details.clone() };
    let rows = compare(&unknown, &vllm).unwrap();
    let open = rows.iter().filter(|row| matches!(row.verdict, Verdict::NotComparable(_))).count();
    let weights = vllm.estimate(&decode(1), Scope::PerGpu).unwrap();
    let weights = weights.terms(Quantity::Read).filter(|(_, term)| term.def.traffic == Traffic::Weights).count();
    assert_eq!(open, weights);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_the_estimator_logs_of_any_steps_never_differs(
        steps in prop::collection::vec(
            prop::collection::vec((1_u64..200, 1_u64..4096, 0_u64..200_000, any::<bool>()), 1..4), 1..4),
        preset in 0_usize..100, tp in prop::sample::select(vec![1_u32, 8]), pp in 1_u32..4, ep in any::<bool>(),
    ) {
        let presets = presets::builtin();
        let preset = &presets[preset % presets.len()];
        let size = |size| NonZeroU32::new(size).unwrap();
        let layout = Layout { tp: size(tp), pp: size(pp), ep, ..Layout::default() };
        let settings = Settings { layout, ..Settings::default() };
        let vllm = Vllm::new(&resolve(&preset.config, None, ClassTable::builtin()).unwrap(), &settings);
        let batches: Vec<Batch> = steps.into_iter().map(|groups| {
            Batch::new(groups.into_iter().map(|(count, tokens, prefix, prefill)| Group {
                count, tokens, context: tokens + prefix, phase: if prefill { Phase::Prefill } else { Phase::Decode },
            }))
        }).collect();
        let log = scan(&logged(&batches, &vllm)).unwrap();
        prop_assert_eq!(&log.problems, &Vec::<String>::new());
        for row in compare(&log.details[0].details, &vllm).unwrap() {
            let fits = matches!(row.verdict, Verdict::Equal | Verdict::NotComparable(_))
                || (row.verdict == Verdict::Possible && batches.len() > 1);
            prop_assert!(fits, "{}: {:?}", preset.id, row);
        }
    }
}

#[test]
fn a_scheduler_step_by_vllms_rule() {
    let text = r#"{"new": [{"num_computed_tokens": 0, "num_tokens": 512}, {"num_computed_tokens": 32, "num_tokens": 1}],
        "cached": [{"num_computed_tokens": 100, "num_tokens": 1}, {"num_computed_tokens": 100, "num_tokens": 1},
        {"num_computed_tokens": 1024, "num_tokens": 256}, {"num_computed_tokens": 7, "num_tokens": 0},
        {"num_computed_tokens": 0, "num_tokens": 1}]}"#;
    let step = step::read(text).unwrap();
    let group = |count, tokens, context, phase| Group { count, tokens, context, phase };
    assert_eq!(
        step.batch,
        Batch::new([
            group(1, 512, 512, Phase::Prefill),
            group(1, 1, 33, Phase::Prefill),
            group(2, 1, 101, Phase::Decode),
            group(1, 256, 1280, Phase::Prefill),
            group(1, 1, 1, Phase::Decode),
        ])
    );
    assert_eq!(step.skipped, 1);
    insta::assert_snapshot!(view::step(&step).plain(), @"
    The step as a batch
    phase requests new tokens KV length
    prefill 1 512 512
    prefill 1 1 33
    decode 2 1 101
    prefill 1 256 1 280
    decode 1 1 1
    As a case:  step=512,1@33,2*1@101,256@1280c,1
    1 request is skipped: no tokens are scheduled.
    1 new request of one token is counted as prefill, as vLLM does; the case language calls one token behind a prefix a decode.
    1 continuing request of one token is counted as decode, as vLLM does; the case language calls one token without a prefix a fresh prefill.
    1 continuing request of several tokens is counted as prefill, as vLLM does, and written as a chunk; if tokens are verified drafts, write the request as a verify.
    ");
}

#[test]
fn what_is_no_step() {
    let fails = |text: &str| step::read(text).unwrap_err().to_string();
    insta::assert_snapshot!(fails("{}"), @r#"At line 1, column 1, the outermost value: found an object with neither `new` nor `cached`; expected `new`, `cached` or both; a step is {"new": [{"num_computed_tokens": n, "num_tokens": m}, ...], "cached": [the same, ...]}."#);
    insta::assert_snapshot!(fails(r#"{"new": [{"num_computed_tokens": -1, "num_tokens": 1}]}"#), @r#"At line 1, column 34, `new[0].num_computed_tokens`: found -1; expected a whole number, 0 or above; a step is {"new": [{"num_computed_tokens": n, "num_tokens": m}, ...], "cached": [the same, ...]}."#);
    insta::assert_snapshot!(fails(r#"{"new": [{"num_computed_tokens": 1e16, "num_tokens": 1}]}"#), @r#"At line 1, column 34, `new[0].num_computed_tokens`: found 1e16; expected a whole number, 0 or above; a step is {"new": [{"num_computed_tokens": n, "num_tokens": m}, ...], "cached": [the same, ...]}."#);
    assert_eq!(
        fails(r#"{"cached": [{"num_computed_tokens": 10000000000000000, "num_tokens": 1}]}"#),
        "At line 1, column 13, `cached[0]`: The KV length is too large; expected at most 9007199254740992."
    );
    assert_eq!(
        fails(r#"{"cached": []}"#),
        "The step schedules no tokens; expected at least one request with num_tokens above 0."
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in r#"[\[\]{}":,0-9a-zMFUTG/. \n-]{0,80}|\PC{0,40}"#) {
        let _ = step::read(&text);
        let _ = scan(&text);
        let _ = scan(&format!("MFU details: {text}"));
        let _ = counters(&text);
    }

    #[test]
    fn no_part_of_a_log_panics(cut in 0..LOG.len(), from in 0..LOG.len(), with in r#"[\[\]{}":,0-9eN.\n-]{0,4}"#) {
        let mut text = LOG.to_owned();
        text.replace_range(from..(from + with.len()).min(LOG.len()), &with);
        for text in [&LOG[..cut], &text] {
            if let Ok(log) = scan(text) {
                let _ = view::log(&log, Some(&h200())).plain();
                for found in &log.details {
                    let _ = compare(&found.details, &estimator(SMALL)).map(|rows| view::compared(&rows).plain());
                }
            }
        }
    }
}

//! The ideal bound, and the calibrated time, against measured times per output token.
//!
//! `tests/validation/served-tpot.csv` is a sample that belongs to the project; the whole set is read from beside it.
//! Source: the public silicon sample of aiconfigurator (Apache-2.0). Concurrency is an upper bound of the decode batch,
//! and a measurement includes prefills in between: a row is no exact step time, but no step can be faster than its bound.

use crate::beside::{self, settings};
use rooflens::batch::{Batch, Group, Phase};
use rooflens::estimate::physical::{Assumptions, Physical};
use rooflens::hardware;
use rooflens::model::ModelSpec;
use rooflens::step::StepTime;
use rooflens::step::collective::Links;
use rooflens::step::preset::CALIBRATED;
use std::collections::HashMap;
use std::path::Path;

/// A measured row.
struct Row {
    line: String,
    model: String,
    precision: String,
    system: String,
    concurrency: u64,
    tp: u64,
    ep: u64,
    context: u64,
    measured: f64,
}

fn rows(text: &str) -> Vec<Row> {
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("model,system,backend,precision,isl,osl,client_concurrency,tp,moe_ep,measured_ttft_ms,measured_tpot_ms")
    );
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let int = |at: usize| cells[at].parse::<u64>().unwrap_or(1);
        Row {
            line: line.to_owned(),
            model: cells[0].to_owned(),
            system: cells[1].replace('_', "-"),
            precision: cells[3].to_owned(),
            context: int(4) + int(5) / 2,
            concurrency: int(6),
            tp: int(7),
            ep: int(8),
            measured: cells[10].parse::<f64>().expect("milliseconds") / 1e3,
        }
    };
    lines.map(row).collect()
}

fn spec(model: &str) -> ModelSpec {
    match model {
        "MiniMaxAI/MiniMax-M2.5" => beside::model(
            r#"{"model_type": "minimax_m2", "num_hidden_layers": 62, "hidden_size": 3072, "num_attention_heads": 48,
            "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 1536, "vocab_size": 200064,
            "num_experts_per_tok": 8, "num_local_experts": 256, "tie_word_embeddings": false, "torch_dtype": "bfloat16"}"#,
        ),
        "Qwen/Qwen3-32B" | "nvidia/Qwen3-32B-NVFP4" => beside::model(
            r#"{"model_type": "qwen3", "hidden_size": 5120, "num_attention_heads": 64, "num_key_value_heads": 8,
            "head_dim": 128, "num_hidden_layers": 64, "intermediate_size": 25600, "vocab_size": 151936,
            "tie_word_embeddings": false, "torch_dtype": "bfloat16"}"#,
        ),
        "meta-llama/Llama-3.1-70B" => crate::memory::llama_70b(""),
        "meta-llama/Llama-3.1-8B-Instruct" | "nvidia/Llama-3.1-8B-Instruct-FP8" => crate::memory::llama_8b(),
        other => panic!("{other} is not described"),
    }
}

/// The bound and the calibrated time of a row, in seconds.
fn times(row: &Row, spec: &ModelSpec, kv: &str) -> (f64, f64) {
    let quantization = match row.precision.as_str() {
        "fp8" if row.model.starts_with("MiniMax") => "quant=fp8",
        "fp8" => "quant=modelopt",
        "fp4" => "quant=nvfp4",
        _ => "",
    };
    let ep = if row.ep > 1 { "ep" } else { "" };
    let settings = settings(&format!("tp{} {ep} {quantization} kv={kv}", row.tp));
    let accelerator = hardware::find(&row.system).expect("an accelerator");
    let physical = Physical::new(spec, &settings, Assumptions::default(), Some(accelerator)).expect("described");
    let group = Group { count: row.concurrency, tokens: 1, context: row.context, phase: Phase::Decode };
    let links = Links::of(accelerator, None);
    let step = StepTime::of(&physical, &Batch::new([group]), accelerator, &links).expect("a time");
    (step.bound().0, step.with(&CALIBRATED).0)
}

/// Rows that are faster than their bound with a 16-bit KV cache, and slower than that with an 8-bit one. They do not say
/// which they had: an engine that runs FP8 checkpoints often keeps an FP8 cache.
const CACHE_NOT_STATED: [&str; 3] = [
    "Qwen/Qwen3-32B,h100_sxm,vllm 0.12.0,fp8,4000,1000,24,1,0,",
    "Qwen/Qwen3-32B,h100_sxm,vllm 0.12.0,fp8,4000,1000,48,2,0,",
    "meta-llama/Llama-3.1-70B,h200_sxm,trtllm ,fp8,1024,8192,128,2,1,",
];

fn check(rows: &[Row]) {
    let mut specs: HashMap<String, ModelSpec> = HashMap::new();
    let (mut narrow, mut wrong, mut errors, mut fractions) = (vec![], vec![], vec![], vec![]);
    for row in rows {
        let spec = specs.entry(row.model.clone()).or_insert_with(|| spec(&row.model));
        let (bound, calibrated) = times(row, spec, "auto");
        fractions.push(bound / row.measured);
        if row.concurrency <= 8 && !row.model.starts_with("MiniMax") {
            errors.push((calibrated / row.measured - 1.0).abs() * 100.0);
        }
        if bound > row.measured {
            let (narrower, _) = times(row, spec, "fp8");
            let known = CACHE_NOT_STATED.iter().any(|known| row.line.starts_with(known));
            let list = if known && narrower <= row.measured { &mut narrow } else { &mut wrong };
            list.push(format!("{}: bound {:.3} ms, with an FP8 cache {:.3}", row.line, bound * 1e3, narrower * 1e3));
        }
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    println!("served: {} rows, bound / measured: median {:.3}", rows.len(), median(&mut fractions));
    println!("served: {} rows pass with an FP8 cache only (not stated): {narrow:#?}", narrow.len());
    println!(
        "served: calibrated, dense, concurrency up to 8: {} rows, median error {:.2} %",
        errors.len(),
        median(&mut errors)
    );
    assert!(wrong.is_empty(), "{} rows are faster than their bound: {wrong:#?}", wrong.len());
    // A few rows say little about a median.
    assert!(
        errors.len() < 50 || median(&mut errors) <= 8.0,
        "the calibrated preset is off by {:.2} %",
        median(&mut errors)
    );
}

#[test]
fn the_sample_of_the_project() {
    check(&rows(include_str!("../validation/served-tpot.csv")));
}

#[test]
fn every_measured_row() {
    let Some(folder) = beside::folder("validation/served-tpot.csv") else { return };
    check(&rows(&beside::text(Path::new(&folder.join("validation/served-tpot.csv")))));
}

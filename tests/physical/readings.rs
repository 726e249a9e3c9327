//! Single public readings: static batches, kernels, achievable rates. None may beat the bound.

use crate::beside::{batch, model, physical, settings};
use rooflens::estimate::Component;
use rooflens::estimate::physical::{Assumptions, Physical};
use rooflens::hardware::{self, Precision};
use rooflens::model::ModelSpec;
use rooflens::step::collective::Links;
use rooflens::step::{StepTime, operations};

fn bound(spec: &ModelSpec, words: &str, id: &str, case: &str) -> f64 {
    let accelerator = hardware::find(id).unwrap();
    let physical = Physical::new(spec, &settings(words), Assumptions::default(), Some(accelerator)).unwrap();
    StepTime::of(&physical, &batch(case), accelerator, &Links::of(accelerator, None)).unwrap().bound().0
}

/// Llama-3.1-405B FP8 on eight MI300X, 128 tokens in and 128 out (Oracle Cloud): seconds for a whole batch.
#[test]
fn static_batches_of_a_large_model() {
    let spec = model(
        r#"{"model_type": "llama", "hidden_size": 16384, "num_attention_heads": 128, "num_key_value_heads": 8,
        "num_hidden_layers": 126, "intermediate_size": 53248, "vocab_size": 128256, "tie_word_embeddings": false,
        "torch_dtype": "bfloat16"}"#,
    );
    for (requests, seconds) in [(1, 3.530), (64, 6.919), (256, 17.750)] {
        let prefill = bound(&spec, "tp8 quant=fp8", "mi300x", &format!("{requests}*128"));
        let decode = bound(&spec, "tp8 quant=fp8", "mi300x", &format!("{requests}*1@192"));
        let whole = prefill + 127.0 * decode;
        println!("405B, {requests} requests: {seconds} s read, at least {whole:.3} s");
        assert!(whole < seconds && whole > seconds / 8.0, "{requests}: {whole}");
    }
}

/// Attention kernels at a KV length of 131072 (the bench data of `InferSim`), in microseconds.
#[test]
fn kernels_of_a_simulator() {
    let latent = model(r#"{"model_type": "deepseek_v3", "num_hidden_layers": 1, "torch_dtype": "bfloat16"}"#);
    let heads = model(
        r#"{"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
        "num_hidden_layers": 1, "intermediate_size": 64, "vocab_size": 64, "torch_dtype": "bfloat16"}"#,
    );
    for (spec, id, read) in [(&latent, "h800-sxm", 94.21), (&heads, "h20", 178.91)] {
        let accelerator = hardware::find(id).unwrap();
        let breakdown = physical(spec, "").stage(&batch("1@131072"), 0).unwrap();
        let times = operations(&breakdown, accelerator);
        let core = times.iter().find(|time| time.operation == "attention").unwrap();
        let least = core.bound.0 * 1e6;
        println!("attention on {id}: {read} us read, at least {least:.2} us");
        assert!(matches!(core.component, Component::Attention | Component::MlaAttention));
        assert!(least < read && least > read / 3.0, "{id}: {least}");
    }
}

/// Products that were reached (ml-engineering by Stas Bekman), in TFLOP/s: below the peak, and not far.
#[test]
fn rates_that_were_reached() {
    let wide = [
        ("a100-80-sxm", 271.2),
        ("h100-sxm", 794.5),
        ("b200-sxm", 1745.0),
        ("b300-sxm", 1769.0),
        ("gb200", 1822.0),
        ("mi300x", 668.4),
        ("mi325x", 784.9),
        ("mi355x", 1565.0),
        ("gaudi2", 418.7),
        ("gaudi3", 1243.0),
    ];
    let narrow =
        [("h100-sxm", 1402.6), ("h200-sxm", 1453.4), ("b200-sxm", 3432.5), ("gb200", 3615.6), ("gaudi2", 826.5)];
    let all = wide.map(|(id, rate)| (id, Precision::Bf16, rate)).into_iter();
    for (id, precision, rate) in all.chain(narrow.map(|(id, rate)| (id, Precision::Fp8, rate))) {
        let peak = hardware::peak(hardware::find(id).unwrap(), precision).unwrap().rate.0 / 1e12;
        assert!(rate < peak && rate > peak / 2.5, "{id} {precision:?}: {rate} of {peak}");
    }
}

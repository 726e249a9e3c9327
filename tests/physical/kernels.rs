//! The ideal bound of single kernels against their measured time.
//!
//! Source: kernel timings of aiconfigurator-core 0.12 (Apache-2.0), medians of a warm loop: what fits the L2 cache is not
//! read from memory again. So only rows are held against the bound whose data are well over it, 1.5 times.
//! `tests/validation/kernels` holds samples that belong to the project.

use crate::beside::{self, model, settings};
use rooflens::batch::{Batch, Group, Phase};
use rooflens::estimate::formula::Values;
use rooflens::estimate::physical::{Assumptions, Physical};
use rooflens::estimate::{Component, Cost, Part, Symbol};
use rooflens::hardware::{self, Accelerator, Precision};
use rooflens::model::ModelSpec;
use rooflens::model::anatomy::Op;
use rooflens::step::{OperationTime, operations, roofline};
use std::collections::HashMap;
use std::path::Path;

/// A measured row by its columns' names.
struct Row<'a> {
    names: &'a [String],
    cells: Vec<&'a str>,
}

impl Row<'_> {
    fn text(&self, name: &str) -> &str {
        self.names.iter().position(|known| known == name).map_or("", |at| self.cells[at])
    }

    fn int(&self, name: &str) -> u64 {
        self.text(name).split('.').next().unwrap_or_default().parse().unwrap_or(0)
    }

    fn seconds(&self) -> f64 {
        self.text("latency_us").parse::<f64>().expect("microseconds") / 1e6
    }

    fn accelerator(&self) -> &'static Accelerator {
        let id = match self.text("system") {
            "a100_sxm" => "a100-80-sxm",
            "rtx_pro_6000_server" => "rtx-pro-6000-bw",
            system => &system.replace('_', "-"),
        };
        hardware::find(id).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Bytes of the L2 cache.
    fn cache(&self) -> f64 {
        match self.text("system") {
            "a100_sxm" => 40e6,
            "h100_sxm" | "h200_sxm" => 50e6,
            "l40s" => 96e6,
            "rtx_pro_6000_server" => 128e6,
            _ => 126e6,
        }
    }
}

/// The bound of a row and what it moves; `None` for a row that is not described.
type Bound = fn(&Row<'_>, &mut Models) -> Option<(f64, Cost)>;

/// Models that rows were described with, by their config and settings.
#[derive(Default)]
struct Models(HashMap<(String, String, &'static str), Physical>);

impl Models {
    /// The operations of a batch on a model.
    fn times(
        &mut self,
        config: &str,
        words: &str,
        accelerator: &'static Accelerator,
        batch: &Batch,
    ) -> Vec<OperationTime> {
        let key = (config.to_owned(), words.to_owned(), accelerator.id.as_ref());
        let physical = self.0.entry(key).or_insert_with(|| {
            let spec: ModelSpec = model(config);
            Physical::new(&spec, &settings(words), Assumptions::default(), Some(accelerator)).expect("described")
        });
        operations(&physical.stage(batch, 0).expect("a number"), accelerator)
    }
}

fn sum<'a>(times: impl IntoIterator<Item = &'a OperationTime>) -> (f64, Cost) {
    times
        .into_iter()
        .fold((0.0, Cost::default()), |(time, cost), one| (time + one.bound.0, [cost, one.cost].into_iter().sum()))
}

fn decode(count: u64, context: u64) -> Batch {
    Batch::new([Group { count, tokens: 1, context, phase: Phase::Decode }])
}

fn prefill(count: u64, tokens: u64, prefix: u64) -> Batch {
    Batch::new([Group { count, tokens, context: prefix + tokens, phase: Phase::Prefill }])
}

fn gemm(row: &Row<'_>, _: &mut Models) -> Option<(f64, Cost)> {
    let (precision, input, weight) = match row.text("gemm_dtype") {
        "bfloat16" => (Precision::Bf16, 2.0, 2.0),
        "fp8" | "fp8_block" => (Precision::Fp8, 1.0, 1.0),
        _ => (Precision::Fp4, 0.5625, 0.5625),
    };
    let mut values = Values::default();
    values.set(Symbol::Rows, row.int("m"));
    values.set(Symbol::Inputs, row.int("k"));
    values.set(Symbol::Outputs, row.int("n"));
    values.set(Symbol::Copies, 1_u64);
    values.set(Symbol::Layers, 1_u64);
    values.set(Symbol::ActivationBytes, 2_u64);
    values.put(Symbol::InputBytes, rooflens::estimate::formula::Number::Real(input));
    values.put(Symbol::WeightBytes, rooflens::estimate::formula::Number::Real(weight));
    let cost = Part::evaluate(Component::Attention, &[Op::Out.terms()], values).expect("a number").cost();
    Some((roofline(cost, Some(precision), row.accelerator()).0.0, cost))
}

fn attention(row: &Row<'_>, models: &mut Models, batch: &Batch) -> Option<(f64, Cost)> {
    let (heads, kv, dim) = (row.int("num_heads"), row.int("num_key_value_heads"), row.int("head_dim"));
    let window = match row.int("window_size") {
        0 => "null".to_owned(),
        window => window.to_string(),
    };
    let config = format!(
        r#"{{"model_type": "mistral", "hidden_size": 64, "num_attention_heads": {heads}, "num_key_value_heads": {kv},
        "head_dim": {dim}, "num_hidden_layers": 1, "intermediate_size": 64, "vocab_size": 64, "sliding_window": {window},
        "torch_dtype": "bfloat16"}}"#
    );
    let words = if row.text("kv_cache_dtype") == "fp8" { "kv=fp8" } else { "" };
    let times = models.times(&config, words, row.accelerator(), batch);
    Some(sum(times.iter().filter(|time| time.operation == "attention")))
}

fn context_attention(row: &Row<'_>, models: &mut Models) -> Option<(f64, Cost)> {
    attention(row, models, &prefill(row.int("batch_size"), row.int("isl"), row.int("step")))
}

fn generation_attention(row: &Row<'_>, models: &mut Models) -> Option<(f64, Cost)> {
    attention(row, models, &decode(row.int("batch_size"), row.int("step") + 1))
}

/// Uniform routing only: where tokens go to few experts more often, fewer are touched than random routing touches.
///
/// Two things are told by sizes alone. The experts of Nemotron have two matrices. DeepSeek-V3 routes to four of eight
/// groups of experts, and the benchmark's evenly spread logits put all tokens into the same four: half of the experts.
fn moe(row: &Row<'_>, models: &mut Models) -> Option<(f64, Cost)> {
    if row.text("distribution") != "balanced" {
        return None;
    }
    let quant = match row.text("moe_dtype") {
        "bfloat16" => "",
        "fp8" => "quant=modelopt",
        "fp8_block" => "quant=fp8",
        "nvfp4" => "quant=nvfp4",
        "int4_wo" => "quant=gptq",
        _ => "quant=mxfp4",
    };
    let (hidden, width, experts, k) =
        (row.int("hidden_size"), row.int("inter_size"), row.int("num_experts"), row.int("topk"));
    let class = if (k, experts) == (22, 512) || (hidden, k) == (2688, 6) { "nemotron" } else { "qwen3_moe" };
    let experts = if (hidden, width, experts, k) == (7168, 2048, 256, 8) { 128 } else { experts };
    let config = format!(
        r#"{{"model_type": "{class}", "hidden_size": {hidden}, "num_attention_heads": 1, "num_key_value_heads": 1,
        "head_dim": 64, "num_hidden_layers": 1, "moe_intermediate_size": {width}, "vocab_size": 64, "num_experts": {experts},
        "num_experts_per_tok": {k}, "torch_dtype": "bfloat16"}}"#
    );
    let (tp, ep) = (row.int("moe_tp_size"), row.int("moe_ep_size"));
    let words = if ep > 1 { format!("tp{ep} ep {quant}") } else { format!("tp{tp} {quant}") };
    let times = models.times(&config, &words, row.accelerator(), &decode(row.int("num_tokens"), 1));
    Some(sum(times.iter().filter(|time| time.operation == "routed experts")))
}

/// A layer's latent attention with its projections, of so many heads a rank.
fn latent(row: &Row<'_>, models: &mut Models, batch: &Batch) -> Option<(f64, Cost)> {
    let heads = row.int("num_heads");
    let sizes = match row.text("model") {
        "deepseek-ai/DeepSeek-V3" => {
            r#""model_type": "deepseek_v3", "hidden_size": 7168, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
            "v_head_dim": 128"#
        }
        "deepseek-ai/DeepSeek-V3.2" => {
            r#""model_type": "deepseek_v32", "hidden_size": 7168, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
            "v_head_dim": 128, "index_topk": 2048, "index_n_heads": 64, "index_head_dim": 128"#
        }
        "zai-org/GLM-5" => {
            r#""model_type": "glm_moe_dsa", "hidden_size": 6144, "q_lora_rank": 2048, "qk_nope_head_dim": 192,
            "v_head_dim": 256, "index_topk": 2048, "index_n_heads": 32, "index_head_dim": 128"#
        }
        _ => return None,
    };
    let config = format!(
        r#"{{{sizes}, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "num_attention_heads": {heads}, "num_hidden_layers": 1,
        "intermediate_size": 64, "vocab_size": 64, "n_routed_experts": null, "num_local_experts": null,
        "torch_dtype": "bfloat16"}}"#
    );
    let quant = match row.text("gemm_type") {
        "fp8_block" => "quant=fp8",
        "nvfp4" => "quant=nvfp4",
        _ => "",
    };
    let kv = if row.text("kv_cache_dtype") == "fp8" { "kv=fp8" } else { "" };
    let times = models.times(&config, &format!("{quant} {kv}"), row.accelerator(), batch);
    Some(sum(times.iter().filter(|time| time.component == Component::MlaAttention)))
}

fn latent_context(row: &Row<'_>, models: &mut Models) -> Option<(f64, Cost)> {
    latent(row, models, &prefill(row.int("batch_size"), row.int("isl"), row.int("step")))
}

fn latent_generation(row: &Row<'_>, models: &mut Models) -> Option<(f64, Cost)> {
    latent(row, models, &decode(row.int("batch_size"), row.int("step") + 1))
}

/// The convolution, or the update, of a gated delta net.
fn delta(row: &Row<'_>, models: &mut Models) -> Option<(f64, Cost)> {
    let config = format!(
        r#"{{"model_type": "qwen3_next", "hidden_size": 64, "num_attention_heads": 1, "num_key_value_heads": 1,
        "head_dim": 64, "num_hidden_layers": 1, "intermediate_size": 64, "vocab_size": 64, "num_experts": 0,
        "linear_num_key_heads": {}, "linear_num_value_heads": {}, "linear_key_head_dim": {}, "linear_value_head_dim": {},
        "linear_conv_kernel_dim": {}, "torch_dtype": "bfloat16"}}"#,
        row.int("num_k_heads"),
        row.int("num_v_heads"),
        row.int("head_k_dim"),
        row.int("head_v_dim"),
        row.int("d_conv"),
    );
    let batch = match row.text("phase") {
        "generation" => decode(row.int("batch_size"), 100),
        _ => prefill(row.int("batch_size"), row.int("seq_len"), 0),
    };
    let operation = if row.text("kernel_source").contains("conv1d") { "convolution" } else { "state update" };
    let times = models.times(&config, "", row.accelerator(), &batch);
    Some(sum(times.iter().filter(|time| time.operation == operation)))
}

/// The update of Kimi delta attention. Its three convolutions run one after the other, and find in the cache what the one
/// before has left there.
fn kimi(row: &Row<'_>, models: &mut Models) -> Option<(f64, Cost)> {
    if row.text("kernel_source").contains("conv1d") {
        return None;
    }
    let config = format!(
        r#"{{"model_type": "kimi_linear", "hidden_size": 64, "num_attention_heads": 1, "num_key_value_heads": 1,
        "num_hidden_layers": 1, "intermediate_size": 64, "vocab_size": 64, "linear_attn_config": {{"num_heads": {},
        "head_dim": {}, "short_conv_kernel_size": {}, "kda_layers": [1], "full_attn_layers": []}},
        "torch_dtype": "bfloat16"}}"#,
        row.int("num_v_heads"),
        row.int("head_v_dim"),
        row.int("d_conv"),
    );
    let batch = match row.text("phase") {
        "generation" => decode(row.int("batch_size"), 100),
        "context" => prefill(row.int("batch_size"), row.int("seq_len"), 0),
        _ => return None,
    };
    let times = models.times(&config, "", row.accelerator(), &batch);
    Some(sum(times.iter().filter(|time| time.operation == "state update")))
}

/// Kind and name of its file, how its bound is described, and the project's sample of it.
const KINDS: [(&str, Bound, &str); 10] = [
    ("gemm", gemm, include_str!("../validation/kernels/gemm.csv")),
    ("context_attention", context_attention, include_str!("../validation/kernels/context_attention.csv")),
    ("generation_attention", generation_attention, include_str!("../validation/kernels/generation_attention.csv")),
    ("moe", moe, include_str!("../validation/kernels/moe.csv")),
    ("mla_context", latent_context, include_str!("../validation/kernels/mla_context.csv")),
    ("mla_generation", latent_generation, include_str!("../validation/kernels/mla_generation.csv")),
    ("dsa_context", latent_context, include_str!("../validation/kernels/dsa_context.csv")),
    ("dsa_generation", latent_generation, include_str!("../validation/kernels/dsa_generation.csv")),
    ("gdn", delta, include_str!("../validation/kernels/gdn.csv")),
    ("kda", kimi, include_str!("../validation/kernels/kda.csv")),
];

/// The text of a gzip file, whose header has no optional fields or a name.
fn gunzip(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("readable");
    let named = bytes[3] & 8 != 0;
    let from = if named { 10 + bytes[10..].iter().position(|byte| *byte == 0).expect("a name") + 1 } else { 10 };
    String::from_utf8(miniz_oxide::inflate::decompress_to_vec(&bytes[from..]).expect("deflated")).expect("UTF-8")
}

/// How many rows are held against their bound, and those that are faster.
fn faster(text: &str, bound: Bound, models: &mut Models) -> (usize, Vec<(f64, String)>) {
    let mut lines = text.lines();
    let names: Vec<String> = lines.next().expect("names").split(',').map(str::to_owned).collect();
    let (mut held, mut wrong, mut ratios) = (0, vec![], vec![]);
    for line in lines {
        let row = Row { names: &names, cells: line.split(',').collect() };
        let Some((least, cost)) = bound(&row, models) else { continue };
        // States are written where they were read.
        let data = if row.text("d_conv").is_empty() { cost.moved() } else { cost.read.max(cost.write) };
        if data.as_f64() < 1.5 * row.cache() {
            continue;
        }
        held += 1;
        ratios.push(least / row.seconds());
        if least > row.seconds() {
            wrong.push((least / row.seconds(), line.to_owned()));
        }
    }
    ratios.sort_by(f64::total_cmp);
    let at = |part: usize| ratios.get(part).copied().unwrap_or(f64::NAN);
    println!(
        "kernels: bound / measured: median {:.2}, largest {:.3}",
        at(ratios.len() / 2),
        at(ratios.len().saturating_sub(1))
    );
    wrong.sort_by(|a, b| b.0.total_cmp(&a.0));
    (held, wrong)
}

#[test]
fn the_samples_of_the_project() {
    for (kind, bound, sample) in KINDS {
        let (held, wrong) = faster(sample, bound, &mut Models::default());
        println!("kernels: {kind}: {held} rows of the sample over 1.5 x L2");
        assert!(held > 4 && wrong.is_empty(), "{kind}: {held} rows, faster than their bound: {wrong:#?}");
    }
}

/// At most one row in a thousand. Those that are known: three products of 4-bit weights with 8-bit activations, which run
/// twice as fast as the 16 bit that the format is taken to multiply in, and a small expert layer whose activations stay in
/// the cache.
#[test]
fn no_kernel_is_faster_than_its_bound() {
    let Some(folder) = beside::folder("validation/kernels") else { return };
    let mut failed = vec![];
    for (kind, bound, _) in KINDS {
        let text = gunzip(&folder.join(format!("validation/kernels/{kind}.csv.gz")));
        let (held, wrong) = faster(&text, bound, &mut Models::default());
        let part = wrong.len() as f64 / held.max(1) as f64;
        println!(
            "kernels: {kind}: {held} rows over 1.5 x L2, {} faster than their bound ({:.2} %)",
            wrong.len(),
            part * 100.0
        );
        for (ratio, line) in wrong.iter().take(12) {
            println!("  {ratio:.3} x {line}");
        }
        if part > 0.001 {
            failed.push(kind);
        }
    }
    assert!(failed.is_empty(), "more than 0.1 % of these rows are faster than their bound: {failed:?}");
}

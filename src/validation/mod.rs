//! Measured times per output token beside the bound and the calibrated time.
//!
//! A row is a served model: accelerator, engine, weights' precision, lengths, the clients' concurrency, parallel sizes,
//! and the time per output token. Concurrency is an upper bound of the decode batch, and the time includes prefills in
//! between, so a row is no exact step time; but no step can be faster than its bound. Source: the public silicon sample
//! of aiconfigurator (Apache-2.0), `served-tpot.csv` here, which the page fetches beside itself.

use crate::batch::{Batch, Group, Phase};
use crate::estimate::physical::{Assumptions, Physical};
use crate::hardware;
use crate::layout::Layout;
use crate::model::{ClassTable, KvDtype, ModelSpec, read};
use crate::settings::{QuantizationChoice, Settings};
use crate::step::StepTime;
use crate::step::collective::Links;
use crate::step::preset::CALIBRATED;
use crate::units::Seconds;
use std::num::NonZeroU32;

/// The measurements.
pub const MEASURED: &str = include_str!("served-tpot.csv");

const HEAD: &str =
    "model,system,backend,precision,isl,osl,client_concurrency,tp,moe_ep,measured_ttft_ms,measured_tpot_ms";

/// Models of the measurements, as far as their configs say what an estimate needs.
const MODELS: [(&[&str], &str); 4] = [
    (
        &["MiniMaxAI/MiniMax-M2.5"],
        r#"{"model_type": "minimax_m2", "num_hidden_layers": 62, "hidden_size": 3072, "num_attention_heads": 48,
        "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 1536, "vocab_size": 200064,
        "num_experts_per_tok": 8, "num_local_experts": 256, "tie_word_embeddings": false, "torch_dtype": "bfloat16"}"#,
    ),
    (
        &["Qwen/Qwen3-32B", "nvidia/Qwen3-32B-NVFP4"],
        r#"{"model_type": "qwen3", "hidden_size": 5120, "num_attention_heads": 64, "num_key_value_heads": 8,
        "head_dim": 128, "num_hidden_layers": 64, "intermediate_size": 25600, "vocab_size": 151936,
        "tie_word_embeddings": false, "torch_dtype": "bfloat16"}"#,
    ),
    (
        &["meta-llama/Llama-3.1-70B"],
        r#"{"model_type": "llama", "hidden_size": 8192, "num_attention_heads": 64, "num_key_value_heads": 8,
        "num_hidden_layers": 80, "intermediate_size": 28672, "vocab_size": 128256, "tie_word_embeddings": false,
        "torch_dtype": "bfloat16"}"#,
    ),
    (
        &["meta-llama/Llama-3.1-8B-Instruct", "nvidia/Llama-3.1-8B-Instruct-FP8"],
        r#"{"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
        "num_hidden_layers": 32, "intermediate_size": 14336, "vocab_size": 128256, "tie_word_embeddings": false,
        "torch_dtype": "bfloat16"}"#,
    ),
];

/// A measured row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The model's name.
    pub model: String,
    /// The accelerator's id.
    pub system: String,
    /// The engine and its version.
    pub engine: String,
    /// Precision of the weights: `bf16`, `fp8`, `fp4`.
    pub precision: String,
    /// Prompt and output length, in tokens.
    pub lengths: (u64, u64),
    /// Clients at the same time.
    pub concurrency: u64,
    /// Tensor parallel size.
    pub tp: u32,
    /// Expert parallel size.
    pub ep: u64,
    /// Time per output token.
    pub measured: Seconds,
}

/// A row with what the model says of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// The ideal bound of a decode step at that batch and mean context.
    pub bound: Seconds,
    /// The calibrated time.
    pub calibrated: Seconds,
}

/// The rows of a table in the form of [`MEASURED`]; lines of another form are left out, as is everything of another
/// table.
#[must_use]
pub fn rows(text: &str) -> Vec<Row> {
    let mut lines = text.lines();
    if lines.next().map(str::trim) != Some(HEAD) {
        return Vec::new();
    }
    lines.filter_map(row).collect()
}

fn row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.split(',').collect();
    let [model, system, engine, precision, input, output, concurrency, tp, ep, _, measured] = cells.as_slice() else {
        return None;
    };
    Some(Row {
        model: (*model).to_owned(),
        system: system.replace('_', "-"),
        engine: engine.trim().to_owned(),
        precision: (*precision).to_owned(),
        lengths: (input.parse().ok()?, output.parse().ok()?),
        concurrency: concurrency.parse().ok()?,
        tp: tp.parse().ok()?,
        ep: ep.parse().unwrap_or(1),
        measured: Seconds(crate::decimal::parse(measured.trim())? / 1e3),
    })
}

/// The model of a row; `None` where it is not described here.
#[must_use]
pub fn model(name: &str, classes: &ClassTable) -> Option<ModelSpec> {
    let (_, config) = MODELS.iter().find(|(names, _)| names.contains(&name))?;
    read(config, None, classes).ok()
}

impl Row {
    /// The mean KV length of a decode: the prompt and half of the output.
    #[must_use]
    pub fn context(&self) -> u64 {
        self.lengths.0.saturating_add(self.lengths.1 / 2)
    }

    /// What the model says of it, with a KV cache of this format.
    #[must_use]
    pub fn times(&self, spec: &ModelSpec, cache: KvDtype) -> Option<Times> {
        let method = match self.precision.as_str() {
            "fp8" if self.model.starts_with("MiniMax") => "fp8",
            "fp8" => "modelopt",
            "fp4" => "nvfp4",
            _ => "auto",
        };
        let layout = Layout { tp: NonZeroU32::new(self.tp)?, ep: self.ep > 1, ..Layout::default() };
        let settings = Settings {
            layout,
            kv_cache: cache,
            quantization: QuantizationChoice::named(method),
            ..Settings::default()
        };
        let accelerator = hardware::find(&self.system).ok()?;
        let physical = Physical::new(spec, &settings, Assumptions::default(), Some(accelerator)).ok()?;
        let group = Group { count: self.concurrency, tokens: 1, context: self.context(), phase: Phase::Decode };
        let links = Links::of(accelerator, None);
        let step = StepTime::of(&physical, &Batch::new([group]), accelerator, &links).ok()?;
        Some(Times { bound: step.bound(), calibrated: step.with(&CALIBRATED) })
    }

    /// Whether the calibrated preset is fitted to such rows: dense models, few requests.
    #[must_use]
    pub fn is_fitted(&self) -> bool {
        self.concurrency <= 8 && !self.model.starts_with("MiniMax")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_reads_and_its_model_is_described() {
        let rows = rows(MEASURED);
        assert_eq!(rows.len(), MEASURED.lines().count() - 1);
        assert!(rows.iter().all(|row| model(&row.model, ClassTable::builtin()).is_some()));
        assert_eq!(super::rows("a,b\n1,2"), []);
    }
}

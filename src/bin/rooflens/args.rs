//! What can be asked on the command line.

use crate::bench::Bench;
use crate::failure::Failure;
use crate::input::{self, Source};
use crate::question::{HardwareArgs, QuestionArgs, amount, layout, part};
use crate::request;
use clap::builder::{
    NonEmptyStringValueParser, PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser,
};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use rooflens::batch::Group;
use rooflens::batch::case::Case;
use rooflens::batch::count::parse_count;
use rooflens::estimate::{Method, Scope};
use rooflens::job::Question;
use rooflens::json::Node;
use rooflens::layout::Layout;
use rooflens::model::dtype::KV_CACHE_DTYPES;
use rooflens::model::{Dtype, KvDtype};
use rooflens::settings::{QuantizationChoice, Settings};
use std::num::NonZeroU32;
use std::path::PathBuf;

pub(crate) const CONFIG_HELP: &str = "A config.json, a directory with one, `-` for standard input, or preset:ID";

const TOP_HELP: &str = "\
Example:
  rooflens estimate config.json --tp 8 --case mix=8192,32*1@8192

Exit codes:
  0  done
  1  an input could not be used
  2  the arguments could not be used";

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  the config could not be used
  2  the arguments could not be used";

const ESTIMATE_HELP: &str = "\
Batches, per data-parallel rank. A case is NAME=REQS or REQS alone, a list of [N*]Q[@K][c][:D]:
N requests (1) of Q new tokens each, K the KV length after the step, new tokens included (Q),
c for a chunk whose prefix this request computed, D draft tokens that are verified.
  --case decode=32*1@8192           32 requests of 1 new token at KV length 8192
  --case prefill=8192               a fresh prompt
  --case chunk=8192@40960c          the last fifth of a prompt computed in chunks
  --case hit=8192@40960             the same with a prefix found in the cache
  --case mix=8192,4*4@4096:3        a prefill of 8192 tokens, and 4 verifies of 3 drafts
  --request 32*1,8Ki,decode         requests by new tokens, KV length and phase

Quantization: auto (as the checkpoint says), none, as-engine (as vLLM 0.33.0 names it), or one of
  fp8 fbgemm_fp8 ptpc_fp8 fp_quant modelopt modelopt_mxfp8 experts_int8     1 byte a weight
  mxfp4 awq awq_marlin gptq gptq_marlin modelopt_fp4 petit_nvfp4 compressed-tensors torchao
  quark moe_wna16 inc                                                       half a byte
Any other method leaves attention and FFN uncounted, as in vLLM.

Formats:
  table     for a terminal
  markdown  for a review document
  csv       case,scope,component,operation,term,quantity,unit,value; a row a term, exact; a cell
            of text that begins with = + - @ has an apostrophe in front
  json      an answer (below); several cases are {\"cases\": [{\"name\": ..., ...answer}]}

Jobs: a line of --jobs is an object
  {\"id\": \"...\", \"config\": PATH or preset:ID or {...}, \"quant_config\": PATH or {...},
   \"settings\": {\"dtype\", \"kv_cache_dtype\", \"quantization\", \"tp\", \"pp\", \"dp\", \"ep\",
                \"disable_sliding_window\"},
   \"batch\": [[new tokens, KV length, true for a prefill], ...] or a case,
   \"model\": \"vllm\" or \"physical\", \"hardware\": an accelerator's id, \"gpus_per_node\",
   \"weights\": {\"attention\", \"dense\", \"experts\", \"shared\", \"head\": a method or none},
   \"balanced_experts\" or \"balanced\", \"acceptance\": of drafts, 0 to 1, \"price\": of a GPU's hour,
   \"utilization\", \"block_size\", \"prefix_caching\", \"reserve_gib\", \"in_switch\",
   \"link_overlap\", \"compute_efficiency\", \"bandwidth_efficiency\", \"layer_overhead_us\",
   \"link_latency_us\": with one of the last four the time above the bound is \"assumed\"
   instead of \"calibrated\"}
of which only config is required. Each line that is not blank is answered by one line, in
order: an answer, or {\"error\": \"...\"}, with the job's id if it has one. The exit code is 0
whenever all lines were answered, with errors too. Paths are relative to the working
directory; a file is read once, however many jobs name it.

Answers hold settings, resolved_quantization, class_known, dtype, batch, components (the
fields of each), skipped, per_gpu and global ({flops, read_bytes, write_bytes}, exact integers
by component.term), skipped_because, layout_refused and notes. An answer of the physical model
also holds parameters, weights_bytes_per_gpu, kv_bytes_per_token_per_gpu and differences (to the
vllm model, with causes); with hardware, fits, step_time_us (the ideal bound, and a calibrated
or assumed time), bound (what sets it), and the same for each stage, operation and collective. A batch of more than 1000000
requests, which only a case can stand for, is refused.

Exit codes:
  0  done
  1  an input could not be used
  2  the arguments could not be used";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(name = "rooflens", version, about, arg_required_else_help = true, after_help = TOP_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Estimate what batches cost.
    Estimate(Box<Estimate>),
    /// Show how a config is read: each field and where it came from.
    Resolve(Resolve),
    /// Build, describe and read back measurements of `vllm bench forward`.
    #[command(subcommand)]
    Bench(Bench),
    /// Show what a model takes of a GPU's memory, and what fits beside it.
    Memory(Box<Memory>),
    /// Put layouts of a model side by side: memory, times, rates.
    Compare(Box<Compare>),
    /// List the models that can be named instead of a file.
    Presets,
}

#[derive(Debug, Args)]
#[command(after_long_help = ESTIMATE_HELP, after_help = "--help says more: batches, formats, jobs, exit codes.")]
pub(crate) struct Estimate {
    #[arg(required_unless_present = "jobs", help = CONFIG_HELP, value_parser = source())]
    pub(crate) config: Option<Source>,
    #[command(flatten)]
    pub(crate) companion: Companion,
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// A batch in the case language of `vllm bench forward`; one breakdown each.
    #[arg(long = "case", value_name = "NAME=REQS", value_parser = Case::parse)]
    pub(crate) cases: Vec<Case>,
    /// New tokens, KV length and prefill or decode; all of these form one batch.
    #[arg(long = "request", value_name = "[COUNT*]N,C,PHASE", value_parser = request::parse)]
    pub(crate) requests: Vec<Group>,
    /// Whether numbers are of one GPU or of the whole model.
    #[arg(long, value_enum, default_value_t)]
    scope: ScopeArg,
    /// How the numbers are printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Answer jobs instead, a JSON object a line; `-` for standard input.
    #[arg(long, value_name = "FILE", exclusive = true)]
    pub(crate) jobs: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Memory {
    #[arg(help = CONFIG_HELP, value_parser = source())]
    pub(crate) config: Source,
    #[command(flatten)]
    pub(crate) companion: Companion,
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    on: HardwareArgs,
    /// The part of the usable memory that the server takes: 0.9 unless said.
    #[arg(long, value_name = "PART", value_parser = part)]
    pub(crate) utilization: Option<f64>,
    /// Set aside for activations and graphs, in GiB; estimated otherwise.
    #[arg(long, value_name = "GIB", value_parser = amount)]
    pub(crate) reserve: Option<f64>,
    /// Tokens of a KV block: 16 unless said.
    #[arg(long, allow_hyphen_values = true, value_name = "N", value_parser = size)]
    pub(crate) block_size: Option<NonZeroU32>,
    /// KV length of the sequences that are counted.
    #[arg(long, value_name = "N", default_value = "8192", value_parser = length)]
    pub(crate) length: u64,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Compare {
    #[arg(help = CONFIG_HELP, value_parser = source())]
    pub(crate) config: Source,
    #[command(flatten)]
    pub(crate) companion: Companion,
    /// A layout, such as tp8, tp4,pp2 or tp4,dp2,ep; give several.
    #[arg(long = "layout", value_name = "SIZES", required = true, value_parser = layout)]
    pub(crate) layouts: Vec<Layout>,
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    on: HardwareArgs,
    /// A batch in the case language, of each data-parallel rank.
    #[arg(long = "case", value_name = "NAME=REQS", default_value = "decode=32*1@8192", value_parser = Case::parse)]
    pub(crate) case: Case,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Resolve {
    #[arg(help = CONFIG_HELP, value_parser = source())]
    pub(crate) config: Source,
    #[command(flatten)]
    pub(crate) companion: Companion,
    /// How the fields are printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ResolveFormat,
}

#[derive(Debug, Args)]
pub(crate) struct Companion {
    /// The `hf_quant_config.json` that belongs to the config; in a directory it is found.
    #[arg(long, value_name = "FILE")]
    quant_config: Option<PathBuf>,
}

impl Companion {
    /// Reads the file, if one is named.
    pub(crate) fn read(&self) -> Result<Option<Node>, Failure> {
        self.quant_config.as_deref().map(|path| Ok(input::document(path)?.root)).transpose()
    }
}

#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    /// Tensor parallel size.
    #[arg(long, allow_hyphen_values = true, value_name = "N", default_value = "1", value_parser = size)]
    tp: NonZeroU32,
    /// Pipeline parallel size.
    #[arg(long, allow_hyphen_values = true, value_name = "N", default_value = "1", value_parser = size)]
    pp: NonZeroU32,
    /// Data parallel size.
    #[arg(long, allow_hyphen_values = true, value_name = "N", default_value = "1", value_parser = size)]
    dp: NonZeroU32,
    /// Spread experts over all ranks instead of slicing them.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true",
        default_value = "false", hide_default_value = true, hide_possible_values = true, value_name = "true|false")]
    ep: bool,
    /// The quantization of the weights: auto (as the checkpoint says), as-engine, none or a method.
    #[arg(long, value_name = "METHOD", default_value = "auto", value_parser = NonEmptyStringValueParser::new())]
    quantization: String,
    /// The format of the KV cache.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = kv_cache())]
    kv_cache_dtype: KvDtype,
    /// The dtype of activations and of weights that are not quantized.
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = dtype())]
    dtype: DtypeChoice,
    /// Count sliding windows as full attention.
    #[arg(long)]
    disable_sliding_window: bool,
}

/// A dtype, or the model's own.
#[derive(Clone, Copy, Debug)]
struct DtypeChoice(Option<Dtype>);

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ScopeArg {
    #[default]
    PerGpu,
    Global,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Table,
    Json,
    Csv,
    Markdown,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum ResolveFormat {
    #[default]
    Table,
    Json,
}

impl SettingsArgs {
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            dtype: self.dtype.0,
            kv_cache: self.kv_cache_dtype,
            quantization: QuantizationChoice::named(&self.quantization),
            disable_sliding_window: self.disable_sliding_window,
            layout: Layout { tp: self.tp, pp: self.pp, dp: self.dp, ep: self.ep },
        }
    }
}

impl Memory {
    pub(crate) fn settings(&self) -> Settings {
        self.settings.settings()
    }

    pub(crate) fn question(&self) -> Question {
        self.on.question(Method::Physical)
    }
}

impl Compare {
    /// The settings but for the layout.
    pub(crate) fn settings(&self) -> Settings {
        self.settings.settings()
    }

    pub(crate) fn question(&self) -> Question {
        self.on.question(Method::Physical)
    }
}

impl Estimate {
    pub(crate) fn settings(&self) -> Settings {
        self.settings.settings()
    }

    pub(crate) fn question(&self) -> Question {
        self.question.question()
    }

    pub(crate) fn scope(&self) -> Scope {
        match self.scope {
            ScopeArg::PerGpu => Scope::PerGpu,
            ScopeArg::Global => Scope::Global,
        }
    }
}

pub(crate) fn source() -> impl TypedValueParser<Value = Source> {
    PathBufValueParser::new().map(|path| Source::of(&path))
}

fn length(text: &str) -> Result<u64, String> {
    parse_count(text).map_err(|error| error.to_string())
}

pub(crate) fn size(text: &str) -> Result<NonZeroU32, String> {
    text.trim().parse().map_err(|_| format!("expected a whole number from 1 to {}", u32::MAX))
}

/// A parser of known names, which lists them, and guesses, where a name is not known.
fn kv_cache() -> impl TypedValueParser<Value = KvDtype> {
    let names = KV_CACHE_DTYPES.map(|name| match name {
        "float16" => PossibleValue::new(name).alias("half"),
        "float32" => PossibleValue::new(name).alias("float"),
        _ => PossibleValue::new(name),
    });
    PossibleValuesParser::new(names).map(|name| KvDtype::named(&name).unwrap_or(KvDtype::AUTO))
}

/// As [`kv_cache`].
fn dtype() -> impl TypedValueParser<Value = DtypeChoice> {
    let names = ["auto", "bfloat16", "float16", "float32"].map(|name| match name {
        "float16" => PossibleValue::new(name).aliases(["half", "torch.float16"]),
        "float32" => PossibleValue::new(name).aliases(["float", "torch.float32"]),
        "bfloat16" => PossibleValue::new(name).alias("torch.bfloat16"),
        _ => PossibleValue::new(name),
    });
    PossibleValuesParser::new(names).map(|name| DtypeChoice(Dtype::named(&name)))
}

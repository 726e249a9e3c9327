//! `rooflens bench report`: result files as tables, beside the estimate for the requests in them, or one beside another.

mod json;
mod table;

use crate::args::{CONFIG_HELP, Companion, SettingsArgs, source};
use crate::estimate::notes;
use crate::failure::{Failure, print, say};
use crate::input::{self, Source};
use crate::question::{AssumedArgs, accelerator, method};
use clap::{Args, ValueEnum};
use rooflens::bench::results::against::Against;
use rooflens::bench::results::compare::compare;
use rooflens::bench::results::warning::{Warning, warnings};
use rooflens::bench::results::{MAX_BYTES, Measured, ResultFile, read};
use rooflens::estimate::physical::Physical;
use rooflens::estimate::vllm::Vllm;
use rooflens::estimate::{EstimateError, Estimator as _, Method, Scope};
use rooflens::hardware::Accelerator;
use rooflens::layout::Layout;
use rooflens::report::{Roof, compute_precision};
use rooflens::step::collective::Links;
use std::path::PathBuf;

const HELP: &str = "\
Times are medians over replays, each as long as its slowest rank. With --config the requests in the
file, after jitter, are estimated per GPU by the model that --model names, and with --hardware, too:
  MFU      FLOPs per GPU / (time x peak)
  MBU      bytes per GPU / (time x bandwidth)
  bound    the least time that the roofline allows, and what sets it; under the physical model that
           of each operation after the other, and of the communication between GPUs
  x bound  the measured time over it

Exit codes:
  0  done
  1  a file could not be used
  2  the arguments could not be used";

/// Arguments of the command.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Report {
    /// Files that `vllm bench forward --output-json` wrote.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Compare two files, before and after a change.
    #[arg(long, conflicts_with_all = ["config", "hardware", "model"])]
    compare: bool,
    #[arg(long, value_name = "CONFIG", help = CONFIG_HELP, value_parser = source())]
    config: Option<Source>,
    #[command(flatten)]
    companion: Companion,
    #[command(flatten)]
    settings: SettingsArgs,
    /// What is counted: what vLLM counts, or what the hardware has to do.
    #[arg(
        long,
        value_name = "vllm|physical",
        default_value = "vllm",
        requires = "config",
        value_parser = method()
    )]
    model: Method,
    #[command(flatten)]
    assumed: AssumedArgs,
    /// The accelerator, such as h200-sxm.
    #[arg(long, value_name = "ID", requires = "config", value_parser = accelerator)]
    hardware: Option<&'static Accelerator>,
    /// How the report is printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Table,
    Markdown,
    Json,
}

/// A file with what there is to say about its cases.
struct Reported {
    name: String,
    file: ResultFile,
    cases: Vec<About>,
    /// What the estimates count.
    model: Method,
}

/// What there is to say about a case.
struct About {
    warnings: Vec<Warning>,
    against: Option<Against>,
}

impl About {
    /// All of it, as sentences.
    fn said(&self) -> Vec<String> {
        let beaten = self.against.and_then(|against| against.beaten());
        self.warnings.iter().map(ToString::to_string).chain(beaten.map(str::to_owned)).collect()
    }
}

/// An estimator with what its numbers are held against.
struct Estimating {
    model: Model,
    roof: Option<Roof>,
    layout: Layout,
}

/// What is counted.
enum Model {
    /// What vLLM counts.
    Vllm(Box<Vllm>),
    /// What the hardware has to do, on an accelerator with its links if there is one.
    Physical(Box<Physical>, Option<(&'static Accelerator, Links)>),
}

/// Reports.
pub(crate) fn run(args: &Report) -> Result<(), Failure> {
    let files = args.files.iter().map(|path| {
        let (name, text) = input::text(path, MAX_BYTES)?;
        match read(&text) {
            Ok(file) => Ok((name, file)),
            Err(error) => Err(Failure::Foreign { name, error: error.to_string() }),
        }
    });
    let files = files.collect::<Result<Vec<_>, Failure>>()?;
    for (name, file) in &files {
        file.notes.iter().for_each(|note| say("note", &format!("{name}: {note}")));
    }
    if args.compare {
        let [(before, first), (after, second)] = &*files else {
            let sentence = format!("--compare takes two files, before and after; {} were given.", files.len());
            return Err(Failure::Refused(sentence));
        };
        let rows = compare(first, second);
        return print(&match args.format {
            Format::Table => table::compared([before, after], &rows, false),
            Format::Markdown => table::compared([before, after], &rows, true),
            Format::Json => json::compared(&rows)?,
        });
    }
    let estimating = estimating(args)?;
    let files = files.into_iter().map(|(name, file)| {
        let cases = file.cases.iter().map(|case| about(case, estimating.as_ref())).collect::<Result<Vec<_>, _>>()?;
        Ok(Reported { name, file, cases, model: args.model })
    });
    let files = files.collect::<Result<Vec<_>, Failure>>()?;
    if args.format != Format::Json {
        remarks(&files);
    }
    print(&match args.format {
        Format::Table => table::report(&files, false),
        Format::Markdown => table::report(&files, true),
        Format::Json => json::report(&files)?,
    })
}

fn estimating(args: &Report) -> Result<Option<Estimating>, Failure> {
    let Some(config) = &args.config else { return Ok(None) };
    let spec = config.load(args.companion.read()?.as_ref())?;
    let settings = args.settings.settings();
    if args.format != Format::Json {
        match args.model {
            Method::Vllm => notes(&spec.notes),
            Method::Physical => notes(spec.physical_notes()),
        }
    }
    let model = match args.model {
        Method::Vllm => counted(Vllm::new(&spec, &settings)),
        Method::Physical => {
            let physical = Physical::new(&spec, &settings, args.assumed.assumptions(), args.hardware);
            let physical = physical.map_err(EstimateError::NotDescribed)?;
            let on = args.hardware.map(|accelerator| (accelerator, Links::of(accelerator, args.assumed.node())));
            Model::Physical(Box::new(physical), on)
        }
    };
    let precision = compute_precision(settings.quantization(&spec).as_deref(), settings.dtype(&spec));
    if args.hardware.is_some()
        && let Some(assumed) = precision.assumed
    {
        say("note", assumed);
    }
    let roof = args.hardware.and_then(|accelerator| Roof::of(accelerator, precision.precision));
    if let Some(reason) = roof.as_ref().and_then(|roof| roof.peak.reason.as_deref()) {
        say("note", reason);
    }
    Ok(Some(Estimating { model, roof, layout: settings.layout }))
}

/// The vllm model, which says what it does not count.
fn counted(vllm: Vllm) -> Model {
    for (component, reason) in vllm.skipped() {
        // A model has one of both kinds of attention.
        if !(vllm.attention.is_ok() || vllm.mla.is_ok()) || component.name() == "ffn" || component.name() == "unembed" {
            say("warning", &format!("{} is not counted: {reason}", component.title()));
        }
    }
    Model::Vllm(Box::new(vllm))
}

fn about(case: &Measured, estimating: Option<&Estimating>) -> Result<About, Failure> {
    let Some(Estimating { model, roof, layout }) = estimating else {
        return Ok(About { warnings: warnings(case, None), against: None });
    };
    let (batch, time, roof) = (case.case.batch(), case.median(), roof.as_ref());
    let against = match model {
        Model::Vllm(vllm) => Against::of(time, vllm.estimate(&batch, Scope::PerGpu)?.cost(), roof),
        Model::Physical(model, on) => {
            let on = on.as_ref().map(|(accelerator, links)| (*accelerator, links));
            Against::of_physical(time, &batch, model, on, roof)?
        }
    };
    Ok(About { warnings: warnings(case, Some(layout)), against })
}

/// Says what keeps the numbers from being taken at face value.
fn remarks(files: &[Reported]) {
    for Reported { name, file, cases, .. } in files {
        let place = |case: &Measured| match files.len() {
            1 => case.title().to_owned(),
            _ => format!("{name}: {}", case.title()),
        };
        for (case, about) in file.cases.iter().zip(cases) {
            let beaten = about.against.and_then(|against| against.beaten());
            let sentences = about.warnings.iter().map(Warning::to_string).chain(beaten.map(str::to_owned));
            sentences.for_each(|sentence| say("warning", &format!("{}: {sentence}", place(case))));
        }
    }
}

//! `rooflens bench command`: what to run where the GPUs are.

use crate::args::SettingsArgs;
use crate::failure::{Failure, print, say};
use crate::input::Source;
use clap::Args as ClapArgs;
use clap::builder::{PathBufValueParser, TypedValueParser as _};
use rooflens::batch::case::{Case, VerifyAs};
use rooflens::bench::command::{Command, Subject, warnings};
use rooflens::bench::run::Run;

const SETTINGS: &str = "A setting of the run: max_model_len, kv_len_jitter, seed, routing, iters, samples, gpus_per_node, \
    profile or exclude_drafter";

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "What the command cannot say goes to standard error as warnings.\n\nExit codes:\n  0  done\n  1  the \
    config could not be used\n  2  the arguments could not be used"
)]
pub(crate) struct Args {
    /// A config.json, a directory with one, `-` for standard input, or preset:ID; it names what vLLM would refuse.
    #[arg(value_parser = PathBufValueParser::new().map(|path| Source::of(&path)))]
    config: Option<Source>,
    #[command(flatten)]
    settings: SettingsArgs,
    /// A batch in the case language; as often as there are cases.
    #[arg(long = "case", allow_hyphen_values = true, value_name = "NAME=REQS", value_parser = Case::parse, required = true)]
    cases: Vec<Case>,
    /// What the model is called where it is measured; else as a preset's source calls it.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting, help = SETTINGS)]
    run: Vec<(String, String)>,
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, such as seed=7")?;
    let key = key.trim().replace('-', "_");
    Run::default().set(&key, value)?;
    Ok((key, value.to_owned()))
}

/// Builds and prints.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let settings = args.settings.settings();
    let spec = args.config.as_ref().map(|config| config.load(None)).transpose()?;
    let mut run = Run::default();
    for (key, value) in &args.run {
        run.set(key, value).map_err(Failure::Refused)?;
    }
    let refusals = spec.iter().flat_map(|spec| settings.layout.refusals(spec)).map(|refusal| refusal.reason);
    let subject = Subject {
        source: args.config.as_ref().and_then(Source::hub_name),
        checkpoint: spec.as_ref().and_then(|spec| spec.quantization.method.clone()),
        quantization: settings.quantization.clone(),
        disable_sliding_window: settings.disable_sliding_window,
        verify: VerifyAs::Decode,
        accelerator: None,
        refusals: refusals.collect(),
    };
    let command = Command {
        model: args.model.clone().unwrap_or_else(|| subject.model("")),
        layout: settings.layout,
        quantization: subject.method(),
        kv_cache: settings.kv_cache,
        dtype: settings.dtype,
        run,
        cases: args.cases.clone(),
    };
    for warning in warnings(&command, &subject) {
        say("warning", &warning);
    }
    print(&(command.to_shell() + "\n"))
}

//! `rooflens bench jitter`: the KV lengths of a jittered run.

use crate::failure::{Failure, print};
use clap::Args as ClapArgs;
use rooflens::batch::case::Case;
use rooflens::batch::count::parse_count;
use rooflens::batch::jitter::Jitter;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Prints a JSON array with a KV length for each request, in order. The name of the case seeds the \
    draw: keep it as it is measured.\n\nExit codes:\n  0  done\n  2  the arguments could not be used, or the case is too \
    long for the model"
)]
pub(crate) struct Args {
    #[arg(value_name = "NAME=REQS", allow_hyphen_values = true, value_parser = Case::parse)]
    case: Case,
    /// The seed of the draw.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// How far a prefix varies, as a part of it: 0 to 1.
    #[arg(long, value_name = "J", default_value_t = 0.5)]
    kv_len_jitter: f64,
    /// The longest sequence that the model is served with, in tokens.
    #[arg(long, value_name = "M", value_parser = parse_count)]
    max_model_len: u64,
}

/// Draws and prints.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let jitter = Jitter { amount: args.kv_len_jitter, seed: args.seed, max_model_len: Some(args.max_model_len) };
    let drawn = jitter.draw(&args.case).map_err(|error| Failure::Refused(error.to_string()))?;
    let lengths: Vec<String> = drawn.iter().map(|request| request.kv().to_string()).collect();
    print(&format!("[{}]\n", lengths.join(", ")))
}

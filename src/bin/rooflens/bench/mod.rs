//! `rooflens bench`: the round trip with `vllm bench forward`.

mod command;
mod jitter;
mod parse;

use crate::failure::Failure;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Print the command that measures batches with `vllm bench forward`.
    Command(Box<command::Args>),
    /// Read cases, commands and shapes files, and print them canonically.
    Parse(parse::Args),
    /// Print the KV lengths that `vllm bench forward` draws for a case.
    Jitter(jitter::Args),
}

/// Runs one of them.
pub(crate) fn run(bench: &Bench) -> Result<(), Failure> {
    match bench {
        Bench::Command(args) => command::run(args),
        Bench::Parse(args) => parse::run(args),
        Bench::Jitter(args) => jitter::run(args),
    }
}

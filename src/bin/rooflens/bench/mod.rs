//! `rooflens bench`: the round trip with `vllm bench forward`. Each command is a file.

mod command;
mod jitter;
mod kernels;
mod parse;
mod report;

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
    /// Show where the time of a step went by kernel, or what changed from one file to another.
    Kernels(kernels::Kernels),
    /// Show what was measured, beside the estimate if a config is given.
    Report(Box<report::Report>),
}

/// Runs one of them.
pub(crate) fn run(bench: &Bench) -> Result<(), Failure> {
    match bench {
        Bench::Command(args) => command::run(args),
        Bench::Parse(args) => parse::run(args),
        Bench::Jitter(args) => jitter::run(args),
        Bench::Kernels(args) => kernels::run(args),
        Bench::Report(args) => report::run(args),
    }
}

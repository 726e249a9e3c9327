//! `rooflens bench`: the round trip with `vllm bench forward`. Each command is a file.

mod report;

use crate::failure::Failure;
use clap::Subcommand;

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Show what was measured, beside the estimate if a config is given.
    Report(Box<report::Report>),
}

/// Runs a command; whatever goes wrong, the exit code is 2.
pub(crate) fn run(command: &Bench) -> Result<(), Failure> {
    let done = match command {
        Bench::Report(args) => report::run(args),
    };
    done.map_err(|failure| Failure::Bench(Box::new(failure)))
}

//! `rooflens bench`: the round trip with `vllm bench forward`. Each command is a file; errors end with exit code 2.

pub(crate) mod kernels;

use crate::failure::Failure;
use clap::Subcommand;

/// What can be asked of a measurement.
#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Show where the time of a step went by kernel, or what changed from one file to another.
    Kernels(kernels::Kernels),
}

impl Bench {
    /// Does it.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Kernels(args) => kernels::run(args),
        }
    }
}

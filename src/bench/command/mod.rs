//! The command that measures what is on screen: `vllm bench forward`, on one GPU, on a node, or on several.
//!
//! A [`Command`] is what the command line says, valid by construction; what it prints reads back as the same command.
//! Source of the flags: vLLM 0.33.0.

mod read;
mod warn;
mod write;

pub use read::{CommandError, Parsed, is_command, parse};
pub use warn::{Subject, warnings};

use super::run::Run;
use crate::batch::case::Case;
use crate::layout::Layout;
use crate::model::{Dtype, KvDtype};

/// Where a model's name is to be put in.
pub const MODEL: &str = "MODEL";

/// What `vllm bench forward` is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The name of the model, or a folder with it.
    pub model: String,
    /// Parallel sizes; their product is the number of processes.
    pub layout: Layout,
    /// `--quantization`; `None`: as the checkpoint says.
    pub quantization: Option<String>,
    /// `--kv-cache-dtype`
    pub kv_cache: KvDtype,
    /// `--dtype`; `None`: the model's own.
    pub dtype: Option<Dtype>,
    /// How the cases are run. Its `model` is not looked at.
    pub run: Run,
    /// The cases; none where they are in a shapes file.
    pub cases: Vec<Case>,
}

impl Command {
    /// The most draft tokens that a request verifies.
    #[must_use]
    pub fn drafts(&self) -> u64 {
        self.cases.iter().flat_map(Case::requests).map(|request| request.drafts()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;

//! Why a text is no result file.

use super::kind::FileKind;
use crate::json::{JsonError, Misfit, Position};
use thiserror::Error;

/// What would have been right, for every message.
pub(super) const EXPECTED: &str = "the output of `vllm bench forward --output-json`";

/// Why a text is no result file. The message says what was found, where, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ResultError {
    /// No text at all.
    #[error("The file is empty; expected {EXPECTED}.")]
    Empty,
    /// No JSON, or JSON that ends early.
    #[error("This is no JSON, or not all of it. At {}: found {}, expected {}. Expected {EXPECTED}.", .0.at, .0.found, .0.expected)]
    Json(JsonError),
    /// Another kind of file.
    #[error("This is {}; expected {EXPECTED}: a list with an object for each case.", .0.article())]
    Foreign(FileKind),
    /// A list of nothing.
    #[error("The list of cases is empty; expected {EXPECTED}, which has one object for each case.")]
    NoCases,
    /// A value that is not what it should be.
    #[error("At {at}, {}: found {}; expected {}, as in {EXPECTED}.", place(.misfit), .misfit.found, .misfit.expected)]
    Misfit {
        /// The line and column of the value.
        at: Position,
        /// Its path, what it is and what it should be.
        misfit: Misfit,
    },
    /// Every case had to be left out; why the first one had to.
    #[error("No case of the file can be used. {0}")]
    NothingUsable(String),
}

fn place(misfit: &Misfit) -> String {
    if misfit.path.is_empty() { "the outermost value".to_owned() } else { format!("`{}`", misfit.path) }
}

//! Why a text is not a case, and where in it.

use std::fmt;
use std::ops::Range;

use thiserror::Error;

use super::RequestError;
use crate::format::{did_you_mean, quoted};

/// What is wrong with a case. The message says what was found and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// No text at all.
    #[error("The case is empty; expected requests such as `32*1@8192`.")]
    Empty,
    /// Nothing before the first `=`.
    #[error("The name is empty; expected one before `=`, or the requests alone.")]
    EmptyName,
    /// A name with `=` in it, which would read back as another.
    #[error("The name has a `=` in it, which would end it; expected a name without.")]
    NameWithEquals,
    /// Nothing after the first `=`.
    #[error("There are no requests; expected at least one, such as `32*1@8192`.")]
    NoRequests,
    /// Nothing between two commas, or before the first or after the last.
    #[error("Nothing stands there; expected a request on either side of a comma.")]
    EmptyItem,
    /// Not `[N*]Q[@K][c][:D]`.
    #[error(
        "Found {}; expected [N*]Q[@K][c][:D] with plain whole numbers{}",
        what(.found), did_you_mean(.meant.as_deref())
    )]
    Syntax {
        /// The text from the first character that does not fit; empty at the end of the item.
        found: String,
        /// The item as it would be right, if it can be made out.
        meant: Option<String>,
    },
    /// Numbers that make no request.
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// A part of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it is, in bytes.
    pub bytes: Range<usize>,
    /// Its first column in characters, from 1.
    pub column: usize,
    /// Its width in characters; 0 where something is missing.
    pub width: usize,
}

/// An item of the list of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Which one, from 1.
    pub index: usize,
    /// Its text, without the spaces around it.
    pub text: String,
    /// Where it is: what a correction replaces.
    pub span: Span,
}

/// The first thing in a text that keeps it from being a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseError {
    /// What is wrong.
    pub problem: Problem,
    /// The item that is wrong, unless it is the case as a whole.
    pub item: Option<Box<Item>>,
    /// The part that is wrong.
    pub span: Span,
}

impl Span {
    /// The bytes as a part of this text; past its end, the end.
    pub(super) fn of(text: &str, bytes: Range<usize>) -> Self {
        let before = text.get(..bytes.start).unwrap_or(text).chars().count();
        let width = text.get(bytes.clone()).map_or(0, |part| part.chars().count());
        Self { bytes, column: before + 1, width }
    }

    /// A line of carets to stand under the text in a fixed-width font, at least one.
    #[must_use]
    pub fn carets(&self) -> String {
        [" ".repeat(self.column.saturating_sub(1)), "^".repeat(self.width.max(1))].concat()
    }
}

impl CaseError {
    /// The text with the item corrected, if it can be made out what was meant.
    #[must_use]
    pub fn corrected(&self, text: &str) -> Option<String> {
        let (Problem::Syntax { meant: Some(meant), .. }, Some(item)) = (&self.problem, &self.item) else { return None };
        let (before, after) = (text.get(..item.span.bytes.start)?, text.get(item.span.bytes.end..)?);
        Some([before, meant, after].concat())
    }
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.item {
            Some(item) if item.text.is_empty() => write!(f, "Request {}: {}", item.index, self.problem),
            Some(item) => write!(f, "Request {}, {}: {}", item.index, quoted(&item.text), self.problem),
            None => self.problem.fmt(f),
        }
    }
}

impl std::error::Error for CaseError {}

fn what(rest: &str) -> String {
    if rest.is_empty() { "no more text".to_owned() } else { quoted(rest) }
}

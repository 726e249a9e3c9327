//! A JSON reader that keeps positions and forgives what people paste by mistake.
//!
//! `serde_json` is what this project writes and reads its own files with. A pasted `config.json` needs more: every
//! value must know where it stood (an error is shown at its line, an origin names it), Python's `NaN` and `Infinity` occur in
//! real files, and a byte-order mark, comments, trailing commas or a Markdown fence must be read with a note instead of
//! refused. Nothing else is repaired: what is not understood is a [`JsonError`] with line, column and the line's text.
//!
//! Grammar: RFC 8259 plus what Python's `json` module accepts. Limits: [`MAX_BYTES`] of text, [`MAX_DEPTH`] levels.

pub mod build;
mod error;
mod node;
mod parse;
mod place;
mod print;

pub use error::{JsonError, Position};
pub use node::{Member, Node, Span, Value};
pub use parse::{MAX_BYTES, MAX_DEPTH, Repair, parse, parse_up_to};
pub(crate) use place::number;
pub use place::{Misfit, Place};

/// A text that was read: its root value and what had to be forgiven on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The outermost value.
    pub root: Node,
    /// Departures from JSON that were read all the same, in the order found, each kind once.
    pub repairs: Vec<Repair>,
}

#[cfg(test)]
mod tests;

//! What `vllm bench forward --output-json` wrote: the requests that were measured, and how long they took.
//!
//! text -> [`read`] -> [`ResultFile`] -> [`warnings`](warning::warnings), a case [against](against::Against) its
//! estimate, two files [compared](compare::compare) -> [`view`].
//!
//! A field that a file lacks is unknown here, never a default. Paths, host names and commands that a file may hold are
//! not read at all.

pub mod against;
pub mod compare;
mod error;
pub mod kind;
mod notes;
mod rank;
mod read;
pub mod view;
pub mod warning;

pub use error::ResultError;
pub use rank::{Agreement, Kernel, Latency, Profile, Rank};
pub use read::{MAX_BYTES, read};

use crate::batch::case::Case;
use crate::units::Seconds;

/// A result file.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultFile {
    /// The cases that were measured, in order; at least one.
    pub cases: Vec<Measured>,
    /// What was left out or not understood, as sentences.
    pub notes: Vec<String>,
}

/// A case that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Its name as the file has it, which may be any text.
    pub name: String,
    /// Its requests, after jitter, equal neighbours merged. It has the same name where the case language can say it,
    /// else its own text.
    pub case: Case,
    /// The median time of a step in microseconds, positive; each replay counts as long as its slowest rank.
    pub median_us: f64,
    /// What each rank measured, in order; may be empty.
    pub ranks: Vec<Rank>,
}

impl Measured {
    /// The median time of a step.
    #[must_use]
    pub fn median(&self) -> Seconds {
        Seconds(self.median_us * 1e-6)
    }

    /// The largest spread of a rank's samples, in percent; `None` where no rank says.
    #[must_use]
    pub fn spread_pct(&self) -> Option<f64> {
        self.ranks.iter().filter_map(Rank::spread_pct).reduce(f64::max)
    }

    /// The spread in microseconds.
    #[must_use]
    pub fn spread_us(&self) -> Option<f64> {
        self.spread_pct().map(|pct| pct / 100.0 * self.median_us)
    }

    /// The name to show: a file may leave it empty.
    #[must_use]
    pub fn title(&self) -> &str {
        if self.name.trim().is_empty() { "(no name)" } else { &self.name }
    }
}

#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
mod tests;

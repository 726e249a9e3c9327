//! What a running vLLM server shows of its estimator: counters on its metrics page, lines of its log, scheduler steps.
//!
//! ```text
//! metrics page ──exposition──▶ samples ──counters──▶ one row an engine ──rates (two pages)──▶ FLOP/s, B/s, MFU, MBU
//! log ──log──▶ rates of intervals, and MFU details ──compare──▶ term by term beside our estimate
//! scheduler step as JSON ──step──▶ Batch and Case
//! ```
//!
//! Names and rules are those of vLLM 0.33.0.

pub mod compare;
pub mod counters;
mod details;
pub mod exposition;
pub mod log;
pub mod rates;
pub mod step;
pub mod view;

pub use details::{Details, Figure};

#[cfg(test)]
mod tests;

//! rooflens: what one forward step of an LLM costs, and where the hardware's limit is.

pub mod batch;
pub mod chart;
pub mod units;

//! rooflens: what one forward step of an LLM costs, and where the hardware's limit is.

pub mod batch;
pub mod chart;
pub mod estimate;
pub mod export;
pub mod format;
pub mod hardware;
pub mod job;
pub mod json;
pub mod layout;
pub mod model;
pub mod settings;
pub mod units;

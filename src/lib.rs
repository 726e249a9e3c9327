//! rooflens: what one forward step of an LLM costs, and where the hardware's limit is.

#[cfg(target_arch = "wasm32")]
pub mod app;
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
pub mod report;
pub mod scenario;
pub mod settings;
pub mod units;

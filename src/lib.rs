//! rooflens: what one forward step of an LLM costs, and where the hardware's limit is.
//!
//! ```text
//! config.json text ──json──▶ values with positions ──model──▶ ModelSpec, every field with its origin, and its
//!                                                                │       anatomy: the kinds of layers it is made of
//!                                                                │
//!   Settings (dtypes, quantization, Layout) ─────────────────────┤
//!   case text ──batch::case──▶ Batch ────────────────────────────┤
//!                                                                ▼
//!                       estimate::Estimator ──▶ Breakdown: components, terms, each a formula and its value
//!                                                                │
//!   hardware::Accelerator ──▶ Roof; memory (what fits), step (how long it takes) ──┤
//!                                                                ▼
//!                                     report (rows, summaries, chart inputs) ──▶ page | chart | export
//! ```
//!
//! Measurements come back through [`bench::results`], and what a running server says of itself through [`serving`].
//!
//! What was put in is a [`scenario::state::Comparison`]; [`scenario::link`] and [`scenario::file`] carry it.
//!
//! Data goes one way. The core knows no browser: everything but `app` is pure, and the command line and the
//! page are two thin shells over it.
//!
//! Where a new thing goes:
//!
//! - a class's alias, default or layer pattern: a line of `model/classes.json`;
//! - a field that estimators need: [`model::spec`], read in `model/resolve.rs`;
//! - a component or a term of the vllm model: a file of [`estimate::vllm`], as a formula that is data;
//! - a kind of layer: a file of [`model::anatomy`] that lists its matrices and its core; a core of a new sort also a
//!   function of `estimate/physical/core.rs`, as formulas that are data;
//! - a dialect of quantization: a function of `model/scheme/dialect.rs`;
//! - a reason why the two models differ: an entry of `estimate/physical/differ.rs`;
//! - an accelerator: a line of `hardware/accelerators.tsv`; a preset: a line of `model/presets.json`;
//! - an export format: a file of [`export`]; a chart: a file of [`chart`], its input in [`report::charts`];
//! - something that links and files carry: `scenario/link/encode.rs` and `decode.rs`, and a step of `migrate.rs` where
//!   old ones would not read;
//! - something that a sweep varies or measures: a variant of [`sweep::Axis`] or [`sweep::Measure`];
//! - a control of the page: a file of `app/`, its state in `app/state.rs`;
//! - a kind of measurement: a folder of [`bench`] or [`serving`], and what the page shows of it in [`bench::desk`], which
//!   runs in a worker (`worker.rs`); what the physical model counts comes from there as [`report::answer`].

#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub mod app;
pub mod base64url;
pub mod batch;
pub mod bench;
pub mod chart;
pub mod crc32;
pub mod decimal;
pub mod estimate;
pub mod export;
pub mod format;
pub mod hardware;
pub mod job;
pub mod json;
pub mod layout;
pub mod memory;
pub mod model;
#[cfg(target_arch = "wasm32")]
mod panics;
pub mod report;
pub mod scenario;
pub mod serving;
pub mod settings;
pub mod step;
pub mod sweep;
pub mod units;
pub mod validation;
#[cfg(target_arch = "wasm32")]
pub mod worker;
pub mod yaml;

//! The physical model against facts: counted parameters, published figures, measurements.
//!
//! What belongs to the project runs always. Larger sets are read from a folder beside the project where it is present,
//! or from `ROOFLENS_GOLDEN`; where it is not, a line says so.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::unnecessary_wraps,
    reason = "tests fail by panicking, compare fractions of powers of two, and keep tables of functions"
)]

mod active;
mod beside;
mod by_hand;
mod invariants;
mod kernels;
mod memory;
mod parameters;
mod pitfalls;
mod readings;
mod served;

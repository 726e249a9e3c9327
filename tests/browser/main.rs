//! The built page in a real Chromium: what a person does, and what a browser refuses.
//!
//! Needs `dist/` (or the folder that `ROOFLENS_DIST` names), Chromium and chromedriver: `make test` brings all three.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
#![allow(dead_code, reason = "the harness offers more than each test needs")]

mod desk;
mod estimate;
mod loading;
mod measure;
mod page;
mod server;
mod webdriver;
mod workbench;

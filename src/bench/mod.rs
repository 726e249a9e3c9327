//! The round trip with `vllm bench forward`: the case is built here, measured elsewhere, and read back beside the
//! estimate.
//!
//! Nothing here knows a browser: what the page shows of a file is a [`view::View`], a tree of plain text and tags that
//! the page turns into elements.

pub mod command;
pub mod desk;
pub mod kernels;
pub mod order;
pub mod results;
pub mod run;
pub mod table;
pub mod view;

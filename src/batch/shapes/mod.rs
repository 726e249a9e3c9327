//! Shapes files of `vllm bench forward --shapes`: cases as JSON or YAML.
//!
//! ```json
//! {"cases": [{"name": "decode", "requests": [{"query_len": 1, "kv_len": 8192, "count": 32}]}]}
//! ```
//!
//! A request may have `num_draft_tokens` (0), `chunked` (false) and `count` (1) beside its lengths. As in vLLM, every
//! other key, a key that is missing and a value of another type are errors; they name the case and the request.

mod read;
mod write;

pub use read::{ShapesError, read};
pub use write::{json, yaml};

#[cfg(test)]
mod tests;

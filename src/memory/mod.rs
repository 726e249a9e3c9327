//! What a model takes of a GPU's memory, and what fits beside it.
//!
//! Weights by category as they lie on a rank of a stage, scales, padding and copies included; the KV cache as vLLM
//! reserves it in pages, and the bytes of it that are really used; the rest is set aside for activations and graphs. The
//! fullest GPU decides.

mod fit;
mod pool;
mod weights;

pub use fit::{Fit, Plan, StageFit};
pub use pool::{Bucket, Pool};
pub use weights::{Weights, weights};

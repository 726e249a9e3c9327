//! One estimate asked for and answered as JSON: what the command line's job lines and the golden cases speak.
//!
//! A job is `{"config": ..., "settings": {...}, "batch": [[n, c, is_prefill], ...]}`; the answer holds the resolved
//! fields of each component, what was left out, and every term per GPU and globally, as exact integers.

mod answer;
mod physical;
mod read;

pub use answer::{Answer, MOST_LISTED, answer};
pub use physical::{PhysicalAnswer, Question};
pub use read::{ConfigSource, Id, Job, JobError};

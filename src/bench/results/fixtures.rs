//! Result files for tests.

use super::{ResultFile, read};
use std::fmt::Write as _;

/// Two cases on two ranks: a steady decode and an unsteady, jittered prefix hit.
pub(crate) const TWO: &str = include_str!("../../../tests/bench/two-ranks.json");

pub(crate) fn two() -> ResultFile {
    read(TWO).unwrap()
}

/// A file of at least so many bytes: samples of so many ranks, as Python prints floats.
pub(crate) fn large(bytes: usize, ranks: usize) -> String {
    let samples_of_a_rank = bytes / ranks / 19 + 1;
    let mut text = String::with_capacity(bytes + bytes / 4);
    text.push_str(r#"[{"case": "decode", "requests": ["#);
    for at in 0..256 {
        let _ = write!(
            text,
            r#"{}{{"query_len": 1, "kv_len": {}, "num_draft_tokens": 0, "chunked": false}}"#,
            if at > 0 { ", " } else { "" },
            8000 + at
        );
    }
    text.push_str(r#"], "median_us": 1234.5, "ranks": ["#);
    let mut state = 1_u64;
    for rank in 0..ranks {
        let comma = if rank > 0 { ", " } else { "" };
        let _ = write!(
            text,
            r#"{comma}{{"num_tokens": 256, "finite": true, "latency_us": {{"median": 1234.5, "sample_spread_pct": 0.1, "samples_us": ["#
        );
        for at in 0..samples_of_a_rank {
            // Any generator will do; this one is Knuth's.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let jitter = (state >> 40) as f64 / 16_777_216.0;
            let _ = write!(text, "{}{}", if at > 0 { ", " } else { "" }, 1234.5 + jitter / 3.0);
        }
        text.push_str("]}}");
    }
    text.push_str("]}]");
    text
}

//! The ideal bound, and the calibrated time, against measured times per output token.
//!
//! All of it is the project's (`src/validation/served-tpot.csv`). Source: the public silicon sample of aiconfigurator
//! (Apache-2.0). Concurrency is an upper bound of the decode batch, and a measurement includes prefills in between: a
//! row is no exact step time, but no step can be faster than its bound.

use crate::beside;
use rooflens::model::{ClassTable, KvDtype, ModelSpec};
use rooflens::step::preset::CALIBRATED;
use rooflens::validation::{MEASURED, Row, model, rows};
use std::collections::HashMap;
use std::path::Path;

/// The bound and the calibrated time of a row, in seconds.
fn times(row: &Row, spec: &ModelSpec, kv: &str) -> (f64, f64) {
    let times = row.times(spec, KvDtype::named(kv).expect("a format")).expect("a time");
    (times.bound.0, times.calibrated.0)
}

/// What names a row: everything but the times.
fn line(row: &Row) -> String {
    let (system, (input, output)) = (row.system.replace('-', "_"), row.lengths);
    let Row { model, engine, precision, concurrency, tp, ep, .. } = row;
    format!("{model},{system},{engine},{precision},{input},{output},{concurrency},{tp},{ep}")
}

/// Rows that are faster than their bound with a 16-bit KV cache, and slower than that with an 8-bit one. They do not say
/// which they had: an engine that runs FP8 checkpoints often keeps an FP8 cache.
const CACHE_NOT_STATED: [&str; 3] = [
    "Qwen/Qwen3-32B,h100_sxm,vllm 0.12.0,fp8,4000,1000,24,1,0",
    "Qwen/Qwen3-32B,h100_sxm,vllm 0.12.0,fp8,4000,1000,48,2,0",
    "meta-llama/Llama-3.1-70B,h200_sxm,trtllm,fp8,1024,8192,128,2,1",
];

fn check(rows: &[Row]) {
    let mut specs: HashMap<String, ModelSpec> = HashMap::new();
    let (mut narrow, mut wrong, mut errors, mut fractions) = (vec![], vec![], vec![], vec![]);
    for row in rows {
        let spec = specs
            .entry(row.model.clone())
            .or_insert_with(|| model(&row.model, ClassTable::builtin()).expect("a described model"));
        let (bound, calibrated) = times(row, spec, "auto");
        fractions.push(bound / row.measured.0);
        if row.is_fitted() {
            errors.push((calibrated / row.measured.0 - 1.0).abs() * 100.0);
        }
        if bound > row.measured.0 {
            let (narrower, _) = times(row, spec, "fp8");
            let known = CACHE_NOT_STATED.contains(&line(row).as_str());
            let list = if known && narrower <= row.measured.0 { &mut narrow } else { &mut wrong };
            list.push(format!("{}: bound {:.3} ms, with an FP8 cache {:.3}", line(row), bound * 1e3, narrower * 1e3));
        }
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        let at = |place: usize| values.get(place).copied().unwrap_or(f64::NAN);
        f64::midpoint(at(values.len().saturating_sub(1) / 2), at(values.len() / 2))
    };
    println!("served: {} rows, bound / measured: median {:.3}", rows.len(), median(&mut fractions));
    println!("served: {} rows pass with an FP8 cache only (not stated): {narrow:#?}", narrow.len());
    println!(
        "served: calibrated, dense, concurrency up to 8: {} rows, median error {:.2} %",
        errors.len(),
        median(&mut errors)
    );
    assert!(wrong.is_empty(), "{} rows are faster than their bound: {wrong:#?}", wrong.len());
    let error = median(&mut errors);
    assert!(error <= 8.0, "the calibrated preset is off by {error:.2} %");
    // What is said beside it is what is found.
    for said in [format!("to {} measured times", errors.len()), format!("median error {error:.2} %")] {
        assert!(CALIBRATED.source.contains(&said), "{said}: {}", CALIBRATED.source);
    }
    assert_eq!(narrow.len(), CACHE_NOT_STATED.len());
}

#[test]
fn every_measured_row() {
    let rows = rows(MEASURED);
    assert_eq!(rows.len(), 1320);
    check(&rows);
}

/// What belongs to the project is what stands beside it, where that is.
#[test]
fn no_row_is_left_out() {
    let Some(folder) = beside::folder("validation/served-tpot.csv") else { return };
    assert_eq!(beside::text(Path::new(&folder.join("validation/served-tpot.csv"))), MEASURED);
}

//! The report as JSON, exact.

use super::Reported;
use crate::failure::Failure;
use rooflens::bench::results::Measured;
use rooflens::bench::results::compare::Row;
use serde::Serialize;

#[derive(Serialize)]
struct FileOut<'a> {
    file: &'a str,
    notes: &'a [String],
    cases: Vec<CaseOut<'a>>,
}

#[derive(Serialize)]
struct CaseOut<'a> {
    case: &'a str,
    requests: String,
    median_us: f64,
    sample_spread_pct: Option<f64>,
    ranks: usize,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_gpu: Option<PerGpu>,
}

#[derive(Serialize)]
struct PerGpu {
    model: &'static str,
    flops: u128,
    read_bytes: u128,
    write_bytes: u128,
    flops_per_second: f64,
    bytes_per_second: f64,
    mfu: Option<f64>,
    mbu: Option<f64>,
    bound_us: Option<f64>,
    bound_by: Option<&'static str>,
    measured_over_bound: Option<f64>,
}

#[derive(Serialize)]
struct Compared<'a> {
    case: &'a str,
    before_us: Option<f64>,
    after_us: Option<f64>,
    delta_us: Option<f64>,
    ratio: Option<f64>,
    speedup: Option<f64>,
    within_spread: Option<bool>,
    same_requests: Option<bool>,
}

/// A list of files.
pub(super) fn report(files: &[Reported]) -> Result<String, Failure> {
    let files: Vec<FileOut<'_>> = files.iter().map(file).collect();
    written(&files)
}

/// A list of cases.
pub(super) fn compared(rows: &[Row<'_>]) -> Result<String, Failure> {
    let median = |case: Option<&Measured>| case.map(|case| case.median_us);
    let rows = rows.iter().map(|row| Compared {
        case: row.name,
        before_us: median(row.before),
        after_us: median(row.after),
        delta_us: row.change.map(|change| change.delta_us),
        ratio: row.change.map(|change| change.ratio),
        speedup: row.change.map(|change| change.speedup),
        within_spread: row.change.and_then(|change| change.within_spread),
        same_requests: row.change.map(|change| change.same_requests),
    });
    written(&rows.collect::<Vec<_>>())
}

fn file(reported: &Reported) -> FileOut<'_> {
    let cases = reported.file.cases.iter().zip(&reported.cases).map(|(case, about)| CaseOut {
        case: &case.name,
        requests: case.case.body(),
        median_us: case.median_us,
        sample_spread_pct: case.spread_pct(),
        ranks: case.ranks.len(),
        warnings: about.said(),
        per_gpu: about.against.map(|against| PerGpu {
            model: reported.model.name(),
            flops: against.cost.flops.0,
            read_bytes: against.cost.read.0,
            write_bytes: against.cost.write.0,
            flops_per_second: against.computed.0,
            bytes_per_second: against.moved.0,
            mfu: against.share.map(|share| share.mfu),
            mbu: against.share.map(|share| share.mbu),
            bound_us: against.share.map(|share| share.bound.0 * 1e6),
            bound_by: against.share.map(|share| share.limit.label()),
            measured_over_bound: against.share.map(|share| share.ratio),
        }),
    });
    FileOut { file: &reported.name, notes: &reported.file.notes, cases: cases.collect() }
}

fn written(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string(value).map_err(|error| Failure::Output(error.into()))?;
    Ok(text + "\n")
}

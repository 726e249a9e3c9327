//! One quantity of a scenario varied, another measured: where a step turns from memory to compute.
//!
//! ```text
//! Scenario + Axis + value ──▶ Scenario or Batch ──Vllm──▶ Cost of one GPU ──Roof──▶ Summary ──Measure──▶ value
//! ```
//!
//! Everything is that of one GPU, since the roof is. A value that the axis cannot take (a tensor parallel size that
//! vLLM refuses, a KV length that leaves no prefix) makes a point without a value, never another scenario.

mod axis;
mod measure;

pub use axis::{Axis, MOST_POINTS};
pub use measure::Measure;

use crate::batch::case::VerifyAs;
use crate::estimate::vllm::Vllm;
use crate::estimate::{Estimator, Scope};
use crate::hardware::roofline::Bound;
use crate::model::ModelSpec;
use crate::report::{Roof, Summary, compute_precision};
use crate::scenario::state::Scenario;

/// What came of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// One point a value, in the order of the values.
    pub points: Vec<Sample>,
    /// Places in `points` at which the bound is no longer that of the point before; points without one are passed over.
    pub flips: Vec<usize>,
}

/// A point of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The value of the axis.
    pub x: u64,
    /// What was measured there; `None` where the axis cannot take the value, or the measure does not exist.
    pub value: Option<f64>,
    /// What limits the step there.
    pub bound: Option<Bound>,
}

impl Series {
    /// The bounds before and behind a flip.
    #[must_use]
    pub fn flip(&self, point: usize) -> Option<(Bound, Bound)> {
        let before = self.points.get(..point)?.iter().rev().find_map(|sample| sample.bound)?;
        Some((before, self.points.get(point)?.bound?))
    }
}

/// Measures a scenario at each value of an axis.
#[must_use]
pub fn sweep(scenario: &Scenario, spec: &ModelSpec, axis: Axis, measure: Measure, values: &[u64]) -> Series {
    let roof = roof(scenario, spec);
    // An axis of the batch leaves the fields of the model as they are.
    let shared = (!axis.is_layout()).then(|| Vllm::new(spec, &scenario.settings()));
    let mut points = Vec::with_capacity(values.len());
    for x in values {
        let found = match &shared {
            Some(vllm) => {
                axis.requests(scenario, *x).and_then(|case| summary(vllm, &case, scenario.verify, roof.as_ref()))
            }
            None => axis.apply(scenario, *x).filter(|other| other.layout.refusals(spec).is_empty()).and_then(|other| {
                summary(&Vllm::new(spec, &other.settings()), other.case()?, other.verify, roof.as_ref())
            }),
        };
        points.push(Sample {
            x: *x,
            value: found.and_then(|(summary, tokens)| measure.value(&summary, tokens)),
            bound: found.and_then(|(summary, _)| summary.bound),
        });
    }
    let mut before = None;
    let mut flips = Vec::new();
    for (place, sample) in points.iter().enumerate() {
        if sample.bound.is_some() {
            if before.is_some() && before != sample.bound {
                flips.push(place);
            }
            before = sample.bound;
        }
    }
    Series { points, flips }
}

/// The roof that a scenario is held against.
fn roof(scenario: &Scenario, spec: &ModelSpec) -> Option<Roof> {
    let settings = scenario.settings();
    let quantization = settings.quantization(spec);
    let computed = compute_precision(quantization.as_deref(), settings.dtype(spec)).precision;
    Roof::of(&scenario.accelerator.accelerator()?, scenario.precision.unwrap_or(computed))
}

/// A step of one GPU, and its new tokens; none where nothing of the model can be counted.
fn summary(
    vllm: &Vllm,
    case: &crate::batch::case::Case,
    verify: VerifyAs,
    roof: Option<&Roof>,
) -> Option<(Summary, u128)> {
    let breakdown = vllm.estimate(&case.batch_with(verify), Scope::PerGpu).ok()?;
    vllm.applies().then(|| (Summary::of(breakdown.cost(), roof), case.totals().tokens()))
}

#[cfg(test)]
mod tests;

//! How long a step takes: operation by operation on a roofline, collectives on their links, stages in a row.
//!
//! Each operation takes max(FLOPs / peak, bytes / bandwidth), its peak that of the numbers it multiplies. A stage takes
//! the sum of its operations and of its collectives; a step passes all stages. That is the ideal **bound**: nothing is
//! faster. The **calibrated** time adds what measurements show on top, see [`preset`]; the two are never mixed.

pub mod collective;
pub mod preset;
mod rates;

pub use rates::{Rates, expected_tokens};

use crate::batch::Batch;
use crate::estimate::physical::{Physical, stages};
use crate::estimate::{Breakdown, Component, Cost, EstimateError, Part, Term};
use crate::hardware::roofline::Bound;
use crate::hardware::{self, Accelerator, Precision};
use crate::units::Seconds;
use collective::{Collective, Links};
use preset::Preset;

/// What sets a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The compute rate.
    Compute,
    /// The memory bandwidth.
    Memory,
    /// The links.
    Communication,
}

impl Limit {
    /// Its name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Memory => "memory",
            Self::Communication => "communication",
        }
    }
}

impl From<Limit> for Bound {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Compute => Self::Compute,
            Limit::Memory => Self::Memory,
            Limit::Communication => Self::Communication,
        }
    }
}

/// The time of an operation: all terms of that name in a component, over the layers of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperationTime {
    /// Its component.
    pub component: Component,
    /// Its name.
    pub operation: &'static str,
    /// What it costs.
    pub cost: Cost,
    /// The numbers that it multiplies; the widest where its matrices differ.
    pub precision: Option<Precision>,
    /// At least so long.
    pub bound: Seconds,
    /// What sets that.
    pub limit: Limit,
}

/// The time of a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct StageTime {
    /// The stage, from 0.
    pub stage: u64,
    /// Its layers.
    pub layers: u64,
    /// Its operations.
    pub operations: Vec<OperationTime>,
    /// Its collectives.
    pub collectives: Vec<Collective>,
}

/// The time of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepTime {
    /// The stages.
    pub stages: Vec<StageTime>,
}

impl StageTime {
    /// At least so long.
    #[must_use]
    pub fn bound(&self) -> Seconds {
        let computing: f64 = self.operations.iter().map(|operation| operation.bound.0).sum();
        let talking: f64 = self.collectives.iter().map(|collective| collective.time.0).sum();
        Seconds(computing + talking)
    }

    /// As a preset has it.
    #[must_use]
    pub fn with(&self, preset: &Preset) -> Seconds {
        preset.apply(self.bound(), self.layers)
    }
}

impl StepTime {
    /// The time of a batch's step.
    ///
    /// # Errors
    /// Where a number passes 2^120.
    pub fn of(
        physical: &Physical,
        batch: &Batch,
        accelerator: &Accelerator,
        links: &Links,
    ) -> Result<Self, EstimateError> {
        let all = physical.anatomy().layers();
        let count = physical.stages();
        let mut found = Vec::new();
        for stage in physical.each_stage() {
            let (from, to) = stages::layers(all, count, stage);
            let breakdown = physical.stage(batch, stage)?;
            found.push(StageTime {
                stage,
                layers: to - from,
                operations: operations(&breakdown, accelerator),
                collectives: collective::of(physical, batch, stage, links),
            });
        }
        Ok(Self { stages: found })
    }

    /// At least so long: the stages one after the other.
    #[must_use]
    pub fn bound(&self) -> Seconds {
        Seconds(self.stages.iter().map(|stage| stage.bound().0).sum())
    }

    /// As a preset has it.
    #[must_use]
    pub fn with(&self, preset: &Preset) -> Seconds {
        Seconds(self.stages.iter().map(|stage| stage.with(preset).0).sum())
    }

    /// The time of the slowest stage under a preset: as often a full pipeline finishes a batch.
    #[must_use]
    pub fn slowest(&self, preset: &Preset) -> Seconds {
        Seconds(self.stages.iter().map(|stage| stage.with(preset).0).fold(0.0, f64::max))
    }

    /// What sets most of the bound.
    #[must_use]
    pub fn limit(&self) -> Limit {
        let mut times = [(Limit::Memory, 0.0), (Limit::Compute, 0.0), (Limit::Communication, 0.0)];
        let mut add = |limit: Limit, time: f64| {
            for (known, sum) in &mut times {
                if *known == limit {
                    *sum += time;
                }
            }
        };
        for stage in &self.stages {
            stage.operations.iter().for_each(|operation| add(operation.limit, operation.bound.0));
            stage.collectives.iter().for_each(|collective| add(Limit::Communication, collective.time.0));
        }
        times
            .into_iter()
            .reduce(|most, one| if one.1 > most.1 { one } else { most })
            .map_or(Limit::Memory, |most| most.0)
    }

    /// What the step costs a rank of every stage, added up.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.stages.iter().flat_map(|stage| &stage.operations).map(|operation| operation.cost).sum()
    }
}

/// The times of a breakdown's operations, in its order. Each sheet is an operation of its own: of equal layers, one
/// matrix or one core.
#[must_use]
pub fn operations(breakdown: &Breakdown, accelerator: &Accelerator) -> Vec<OperationTime> {
    of_parts(&breakdown.parts, accelerator)
}

fn of_parts(parts: &[Part], accelerator: &Accelerator) -> Vec<OperationTime> {
    let mut found: Vec<OperationTime> = Vec::new();
    for part in parts {
        for group in part.terms.chunk_by(|a, b| a.sheet == b.sheet) {
            let Some(first) = group.first() else { continue };
            let cost = group.iter().map(Term::cost).sum();
            let precision = part.sheets.get(usize::from(first.sheet)).and_then(|sheet| sheet.precision);
            let (bound, limit) = roofline(cost, precision, accelerator);
            let operation = first.def.operation;
            let known = |known: &&mut OperationTime| (known.component, known.operation) == (part.component, operation);
            match found.iter_mut().find(known) {
                Some(known) => {
                    if bound.0 > known.bound.0 {
                        (known.limit, known.precision) = (limit, precision);
                    }
                    known.cost = [known.cost, cost].into_iter().sum();
                    known.bound.0 += bound.0;
                }
                None => {
                    found.push(OperationTime { component: part.component, operation, cost, precision, bound, limit });
                }
            }
        }
    }
    found
}

/// The least time of one component's operations.
#[must_use]
pub fn part_bound(part: &Part, accelerator: &Accelerator) -> Seconds {
    Seconds(of_parts(std::slice::from_ref(part), accelerator).iter().map(|operation| operation.bound.0).sum())
}

/// The least time of work, and what sets it.
#[must_use]
pub fn roofline(cost: Cost, precision: Option<Precision>, accelerator: &Accelerator) -> (Seconds, Limit) {
    let moving = cost.moved().at(accelerator.bandwidth).map_or(0.0, |time| time.0);
    let peak = hardware::peak(accelerator, precision.unwrap_or(Precision::Bf16));
    let computing = peak.and_then(|peak| cost.flops.at(peak.rate)).map_or(0.0, |time| time.0);
    if computing > moving { (Seconds(computing), Limit::Compute) } else { (Seconds(moving), Limit::Memory) }
}

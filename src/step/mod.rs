//! How long a step takes: operation by operation on a roofline, collectives on their links, stages in a row.
//!
//! Each operation takes max(FLOPs / peak, bytes / bandwidth), its peak that of the numbers it multiplies. A stage takes
//! the sum of its operations and of its collectives; a step passes all stages. That is the ideal **bound**: nothing is
//! faster. The time that is expected adds what measurements show on top (**calibrated**), or what the user assumes, see
//! [`preset`]; it is never mixed up with the bound.

pub mod collective;
pub mod preset;
mod rates;
mod served;

pub use rates::{Rates, expected_tokens};
pub use served::{OnHardware, Served};

use crate::batch::{Batch, Group};
use crate::estimate::physical::{Drafting, Physical, stages};
use crate::estimate::{Breakdown, Component, Cost, EstimateError, Part, Term};
use crate::hardware::roofline::Bound;
use crate::hardware::{self, Accelerator, Precision};
use crate::units::Seconds;
use collective::{Collective, Links};
use preset::{IDEAL, Preset};

/// The time of an operation: all terms of that name in a component, over the layers of a stage.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationTime {
    /// Its component.
    pub component: Component,
    /// Its name.
    pub operation: &'static str,
    /// What it costs.
    pub cost: Cost,
    /// The numbers that it multiplies; those of the longest where its matrices differ.
    pub precision: Option<Precision>,
    /// At least so long.
    pub bound: Seconds,
    /// What sets most of that.
    pub limit: Bound,
    /// Computing and moving at ideal rates, matrix by matrix and core by core.
    sheets: Vec<(Seconds, Seconds)>,
}

impl OperationTime {
    /// Computing alone, at the peak rates.
    #[must_use]
    pub fn computing(&self) -> Seconds {
        Seconds(self.sheets.iter().map(|(computing, _)| computing.0).sum())
    }

    /// Whether computing sets most of the bound.
    fn computes(&self) -> bool {
        let (mut computing, mut moving) = (0.0, 0.0);
        for (compute, memory) in &self.sheets {
            if compute.0 > memory.0 { computing += compute.0 } else { moving += memory.0 }
        }
        computing > moving
    }

    /// As a preset has it, without what it adds for a layer.
    #[must_use]
    pub fn with(&self, preset: &Preset) -> Seconds {
        Seconds(self.sheets.iter().map(|(computing, moving)| preset.side_by_side(*computing, *moving).0).sum())
    }
}

/// Draft steps of the layers that predict further tokens, before the step that verifies what they drafted.
#[derive(Clone, Debug, PartialEq)]
pub struct DraftTime {
    /// How many steps, one after the other.
    pub steps: u64,
    /// The operations of each of them.
    pub operations: Vec<OperationTime>,
    /// The collectives of each of them.
    pub collectives: Vec<Collective>,
    /// The part of their time that runs beside operations, 0 to 1.
    pub overlap: f64,
}

impl DraftTime {
    /// The time of one of the steps, as a preset has it.
    #[must_use]
    pub fn each(&self, preset: &Preset) -> Seconds {
        side_by_side(&self.operations, &self.collectives, self.overlap, 1, preset)
    }

    /// The time of all the steps, as a preset has it.
    #[must_use]
    pub fn with(&self, preset: &Preset) -> Seconds {
        Seconds(self.each(preset).0 * self.steps as f64)
    }
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
    /// The part of their time that runs beside operations, 0 to 1.
    pub overlap: f64,
}

/// The time of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepTime {
    /// The stages.
    pub stages: Vec<StageTime>,
    /// What was drafted before, where the model itself drafts what the batch verifies; not part of the step.
    pub drafts: Vec<DraftTime>,
}

impl StageTime {
    /// At least so long.
    #[must_use]
    pub fn bound(&self) -> Seconds {
        self.with(&IDEAL)
    }

    /// As a preset has it.
    #[must_use]
    pub fn with(&self, preset: &Preset) -> Seconds {
        side_by_side(&self.operations, &self.collectives, self.overlap, self.layers, preset)
    }

    /// What it costs one of its ranks.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.operations.iter().map(|operation| operation.cost).sum()
    }

    /// What sets most of its bound.
    #[must_use]
    pub fn limit(&self) -> Bound {
        most(std::slice::from_ref(self))
    }

    /// The time of its collectives, one after the other.
    #[must_use]
    pub fn talking(&self, preset: &Preset) -> Seconds {
        Seconds(self.collectives.iter().map(|collective| collective.with(preset).0).sum())
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
                overlap: links.overlap,
            });
        }
        Ok(Self { stages: found, drafts: drafts(physical, batch, accelerator, links)? })
    }

    /// At least so long: the stages one after the other.
    #[must_use]
    pub fn bound(&self) -> Seconds {
        self.with(&IDEAL)
    }

    /// As a preset has it.
    #[must_use]
    pub fn with(&self, preset: &Preset) -> Seconds {
        Seconds(self.stages.iter().map(|stage| stage.with(preset).0).sum())
    }

    /// The time of drafting what the step verifies, under a preset.
    #[must_use]
    pub fn drafting(&self, preset: &Preset) -> Seconds {
        Seconds(self.drafts.iter().map(|draft| draft.with(preset).0).sum())
    }

    /// The time of the collectives of all stages, under a preset.
    #[must_use]
    pub fn talking(&self, preset: &Preset) -> Seconds {
        Seconds(self.stages.iter().map(|stage| stage.talking(preset).0).sum())
    }

    /// The time of the slowest stage under a preset: as often a full pipeline finishes a batch. The last stage drafts.
    #[must_use]
    pub fn slowest(&self, preset: &Preset) -> Seconds {
        let drafting = |stage: &StageTime| {
            if stage.stage + 1 == self.stages.len() as u64 { self.drafting(preset).0 } else { 0.0 }
        };
        Seconds(self.stages.iter().map(|stage| stage.with(preset).0 + drafting(stage)).fold(0.0, f64::max))
    }

    /// What sets most of the bound.
    #[must_use]
    pub fn limit(&self) -> Bound {
        most(&self.stages)
    }

    /// The place of the stage whose bound is the longest: the others wait for it.
    #[must_use]
    pub fn longest(&self) -> usize {
        let bounds = self.stages.iter().map(|stage| stage.bound().0).enumerate();
        bounds.reduce(|most, one| if one.1 > most.1 { one } else { most }).map_or(0, |(place, _)| place)
    }

    /// The bound of that stage.
    #[must_use]
    pub fn slowest_bound(&self) -> Seconds {
        self.stages.get(self.longest()).map_or(Seconds(0.0), StageTime::bound)
    }

    /// The operations of a rank of every stage, and of what it drafts with how often.
    pub fn operations(&self) -> impl Iterator<Item = (&OperationTime, u64)> {
        let drafts = self.drafts.iter().flat_map(|draft| draft.operations.iter().map(|one| (one, draft.steps)));
        self.stages.iter().flat_map(|stage| &stage.operations).map(|one| (one, 1)).chain(drafts)
    }
}

/// The time of operations and of collectives, of which a part runs beside them, with what a preset adds for layers.
fn side_by_side(
    operations: &[OperationTime],
    collectives: &[Collective],
    overlap: f64,
    layers: u64,
    preset: &Preset,
) -> Seconds {
    let computing: f64 = operations.iter().map(|operation| operation.with(preset).0).sum();
    let talking: f64 = collectives.iter().map(|collective| collective.with(preset).0).sum();
    let beside = (talking * overlap).min(computing);
    Seconds(computing + talking - beside + preset.layer.0 * layers as f64)
}

/// What sets most of the bound of stages.
fn most(stages: &[StageTime]) -> Bound {
    let mut times = [(Bound::Memory, 0.0), (Bound::Compute, 0.0), (Bound::Communication, 0.0)];
    let mut add = |limit: Bound, time: Seconds| {
        for (known, sum) in &mut times {
            if *known == limit {
                *sum += time.0;
            }
        }
    };
    for stage in stages {
        for (computing, moving) in stage.operations.iter().flat_map(|operation| &operation.sheets) {
            if computing.0 > moving.0 { add(Bound::Compute, *computing) } else { add(Bound::Memory, *moving) }
        }
        add(Bound::Communication, stage.talking(&IDEAL));
    }
    times.into_iter().reduce(|most, one| if one.1 > most.1 { one } else { most }).map_or(Bound::Memory, |most| most.0)
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
            let (computing, moving) = roofline(cost, precision, accelerator);
            let bound = Seconds(computing.0.max(moving.0));
            let operation = first.def.operation;
            let known = |known: &&mut OperationTime| (known.component, known.operation) == (part.component, operation);
            match found.iter_mut().find(known) {
                Some(known) => {
                    // The numbers of the largest of them.
                    if known.sheets.iter().all(|(computing, moving)| bound.0 > computing.0.max(moving.0)) {
                        known.precision = precision;
                    }
                    known.cost = [known.cost, cost].into_iter().sum();
                    known.bound.0 += bound.0;
                    known.sheets.push((computing, moving));
                }
                None => found.push(OperationTime {
                    component: part.component,
                    operation,
                    cost,
                    precision,
                    bound,
                    limit: Bound::Memory,
                    sheets: vec![(computing, moving)],
                }),
            }
        }
    }
    for one in &mut found {
        one.limit = if one.computes() { Bound::Compute } else { Bound::Memory };
    }
    found
}

/// What a model with layers of its own for that drafts before it verifies a batch. The first step runs over all tokens
/// of the step before, which are as many as those of this one; further steps over a token of each request, as long as it
/// has drafts.
fn drafts(
    physical: &Physical,
    batch: &Batch,
    accelerator: &Accelerator,
    links: &Links,
) -> Result<Vec<DraftTime>, EstimateError> {
    /// So many lengths are told apart; of more than that, some are rounded down.
    const LENGTHS: u64 = 64;
    let least = batch.groups().iter().map(Group::drafts).max().unwrap_or(0).div_ceil(LENGTHS);
    let mut found = Vec::new();
    let mut done = 0;
    while let Some(next) =
        batch.groups().iter().map(Group::drafts).filter(|drafts| *drafts >= done + least.max(1)).min()
    {
        let part = Batch::new(batch.groups().iter().filter(|group| group.drafts() >= next).copied());
        let (tokens, steps) = if done == 0 { (batch, 1) } else { (&part, next - done) };
        let span = if done == 0 { Drafting::First } else { Drafting::Further };
        let Some(one) = physical.draft(tokens, span)? else { break };
        let collectives = collective::of_draft(physical, tokens, span, links);
        let operations = of_parts(&[one], accelerator);
        found.push(DraftTime { steps, operations, collectives, overlap: links.overlap });
        done += steps;
    }
    Ok(found)
}

/// The time of one component's operations under a preset, without what it adds for a layer.
#[must_use]
pub fn part_time(part: &Part, accelerator: &Accelerator, preset: &Preset) -> Seconds {
    let operations = of_parts(std::slice::from_ref(part), accelerator);
    Seconds(operations.iter().map(|operation| operation.with(preset).0).sum())
}

/// The time of computing and that of moving, each at its ideal rate: work takes the longer of both.
#[must_use]
pub fn roofline(cost: Cost, precision: Option<Precision>, accelerator: &Accelerator) -> (Seconds, Seconds) {
    let moving = cost.moved().at(accelerator.bandwidth).map_or(0.0, |time| time.0);
    let peak = hardware::peak(accelerator, precision.unwrap_or(Precision::Bf16));
    let computing = peak.and_then(|peak| cost.flops.at(peak.rate)).map_or(0.0, |time| time.0);
    (Seconds(computing), Seconds(moving))
}

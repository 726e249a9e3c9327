//! What the physical model answers for a scenario, in the shape of the vllm model's: made where the whole model is
//! known, read where it is shown.

use super::Summary;
use super::figures::expectation;
use super::outcome::{Outcome, estimated};
use super::physics::Physics;
use crate::bench::run::Run;
use crate::estimate::physical::Modules;
use crate::estimate::{Breakdown, Cost, EstimateError, Estimator, Scope, wire};
use crate::hardware::roofline::Bound;
use crate::json::Node;
use crate::json::build::{Object, list, text, whole};
use crate::model::Weight;
use crate::step::preset::{ASSUMED, ASSUMED_SOURCE, CALIBRATED};
use crate::units::{Intensity, Seconds};
use std::sync::Arc;

/// The time of a step under the physical model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// At least so long.
    pub bound: Seconds,
    /// As the preset of that name has it.
    pub expected: Seconds,
    /// Its name: from measurements, or assumed.
    pub preset: &'static str,
    /// What sets most of the bound.
    pub limit: Bound,
    /// At least so long the stage takes whose cost is shown.
    pub stage: Seconds,
    /// Bytes over a GPU's links inside its node and to other nodes, in the stage whose cost is shown, and their least
    /// time; nothing where nothing goes.
    pub links: [(f64, Seconds); 2],
}

/// What the links of [`Step::links`] are called.
pub(super) const LINKS: [&str; 2] = ["Links in the node", "Links between nodes"];

/// The physical model's answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The cost in the scope that is chosen.
    pub breakdown: Breakdown,
    /// The cost of a GPU of the slowest stage.
    pub per_gpu: Breakdown,
    /// The time of a step.
    pub step: Step,
    /// What a reader of the numbers must know.
    pub notes: Vec<(Weight, String)>,
}

const LIMITS: [Bound; 3] = [Bound::Compute, Bound::Memory, Bound::Communication];
impl Step {
    /// What [`Self::expected`] is called.
    #[must_use]
    pub fn label(&self) -> &'static str {
        if self.preset == ASSUMED { "Step, assumed" } else { "Step, calibrated" }
    }

    /// The links that are used, with where the FLOPs of a step stand over their bytes.
    #[must_use]
    pub fn links(&self, cost: Cost) -> Vec<(&'static str, Summary)> {
        let flops = cost.flops.as_f64();
        let mut used = Vec::new();
        for (name, (bytes, time)) in LINKS.into_iter().zip(self.links) {
            if time.0 > 0.0 {
                let summary = Summary {
                    cost,
                    intensity: Some(Intensity(flops / bytes)),
                    time: Some(time),
                    bound: Some(Bound::Communication),
                    // Links alone would allow more than the chip can.
                    attainable: None,
                };
                used.push((name, summary));
            }
        }
        used
    }

    /// Where [`Self::expected`] comes from.
    #[must_use]
    pub fn source(&self) -> &'static str {
        if self.preset == ASSUMED { ASSUMED_SOURCE } else { CALIBRATED.source }
    }
}

const PRESETS: [&str; 2] = [CALIBRATED.name, ASSUMED];
const WEIGHTS: [Weight; 3] = [Weight::Info, Weight::Caution, Weight::Strong];

impl Answer {
    /// The answer for a scenario.
    ///
    /// # Errors
    /// The reason, where the whole model cannot be counted.
    pub fn of(outcome: &Outcome, physics: &Physics, run: &Run, scope: Scope) -> Result<Self, String> {
        let breakdown = match scope {
            Scope::PerGpu => physics.per_gpu.clone(),
            Scope::Global => physics.model.estimate(&physics.batch, scope).map_err(|error| error.to_string())?,
        };
        let mut notes = notes(outcome);
        notes.extend(overridden(physics, run).map(|text| (Weight::Strong, text)));
        if physics.on.preset.name == ASSUMED || physics.on.undrafted {
            notes.push((Weight::Caution, expectation(&physics.on)));
        }
        Ok(Self {
            breakdown,
            per_gpu: physics.per_gpu.clone(),
            step: Step {
                bound: physics.on.bound.latency,
                expected: physics.on.expected.latency,
                preset: physics.on.preset.name,
                limit: physics.on.step.limit(),
                stage: physics.on.step.slowest_bound(),
                links: links(physics),
            },
            notes,
        })
    }

    /// The outcome of a scenario with this answer instead of the vllm model's; `None` where there is no such outcome.
    #[must_use]
    pub fn instead(answer: &Result<Arc<Self>, String>, of: &Outcome) -> Option<Outcome> {
        let (breakdown, per_gpu) = match answer {
            Ok(answer) => (Ok(answer.breakdown.clone()), Ok(answer.per_gpu.clone())),
            Err(reason) => {
                let error = || Err(EstimateError::NotDescribed(reason.clone()));
                (error(), error())
            }
        };
        // Made anew: the code that copies an outcome would weigh more in the page than this takes time.
        let counted = estimated(&of.scenario, of.model.clone(), of.scope)?;
        Some(Outcome { breakdown, per_gpu, physical: Some(answer.clone()), ..counted })
    }
}

/// What goes over the links in the stage whose cost is shown.
fn links(physics: &Physics) -> [(f64, Seconds); 2] {
    let (step, links) = (&physics.on.step, &physics.on.links);
    let stage = step.stages.get(step.longest());
    let collectives = stage.map(|stage| stage.collectives.as_slice()).unwrap_or_default();
    let near = collectives.iter().map(|one| one.inside).sum();
    let far = collectives.iter().map(|one| one.between).sum();
    [(near, links.time(near, 0.0)), (far, links.time(0.0, far))]
}

/// What a reader of the physical model's numbers must know, but for what is [`overridden`].
#[must_use]
pub fn notes(outcome: &Outcome) -> Vec<(Weight, String)> {
    let (spec, tp) = (&outcome.model.spec, u64::from(outcome.settings.layout.tp.get()));
    let read = spec.physical_notes();
    let mut notes: Vec<_> = read.iter().map(|note| (note.weight, note.text.clone())).collect();
    if outcome.scenario.precision.is_some() {
        let text = "The chosen compute rate is the chart's roof alone: products run in the numbers of their formats.";
        notes.push((Weight::Caution, text.to_owned()));
    }
    let heads = spec.kv_heads.ok().unwrap_or(tp);
    if tp > 1 && spec.mla.is_some() {
        notes.push((Weight::Info, format!("Each of the {tp} tensor-parallel ranks keeps the whole latent cache.")));
    } else if tp > heads && heads > 0 {
        let copies = tp.div_ceil(heads);
        notes.push((
            Weight::Info,
            format!("{heads} KV heads for {tp} tensor-parallel ranks: each is kept {copies} times."),
        ));
    }
    notes
}

/// Which formats of weights are not those that the settings of the scenario give.
#[must_use]
pub fn overridden(physics: &Physics, run: &Run) -> Option<String> {
    let set = run.formats.iter().zip(Modules::ALL).filter_map(|(name, (modules, title))| {
        let none = if physics.model.has(modules) { "" } else { " (this model has none)" };
        name.map(|name| format!("{title} as {name}{none}"))
    });
    let set: Vec<String> = set.collect();
    (!set.is_empty())
        .then(|| format!("Overridden: {}, whatever is stored. The vllm model does not go by that.", set.join(", ")))
}

/// Answers of scenarios, in order, as JSON.
#[must_use]
pub fn write(answers: &[Result<Answer, String>]) -> Node {
    let found = answers.iter().filter_map(|answer| answer.as_ref().ok());
    let breakdowns: Vec<&Breakdown> = found.flat_map(|answer| [&answer.breakdown, &answer.per_gpu]).collect();
    let one = |answer: &Result<Answer, String>| match answer {
        Err(reason) => text(reason),
        Ok(Answer { step, notes, .. }) => {
            let mut out = Object::default();
            let time = |time: Seconds| text(&time.0.to_string());
            out.put(
                "step",
                list(
                    [text(step.preset), text(step.limit.label()), time(step.bound), time(step.expected)]
                        .into_iter()
                        .chain([time(step.stage)])
                        .chain(step.links.into_iter().flat_map(|(bytes, taken)| [time(Seconds(bytes)), time(taken)])),
                ),
            );
            let note = |(weight, said): &(Weight, String)| {
                let weight = WEIGHTS.iter().position(|known| known == weight).unwrap_or_default();
                list([whole(weight as i128), text(said)])
            };
            out.put("notes", list(notes.iter().map(note)));
            out.node()
        }
    };
    let mut out = Object::default();
    out.put("costs", wire::write(&breakdowns));
    out.put("answers", list(answers.iter().map(one)));
    out.node()
}

/// The answers that were written; `None` where something else stands there.
#[must_use]
pub fn read(node: &Node) -> Option<Vec<Result<Arc<Answer>, String>>> {
    let mut costs = wire::read(node.get("costs")?)?.into_iter();
    let mut answers = Vec::new();
    for node in node.get("answers")?.items()? {
        if let Some(reason) = node.text() {
            answers.push(Err(reason.to_owned()));
            continue;
        }
        let [preset, limit, numbers @ ..] = node.get("step")?.items()? else { return None };
        let time = |at: usize| crate::decimal::parse(numbers.get(at)?.text()?).map(Seconds);
        let preset = PRESETS.into_iter().find(|known| Some(*known) == preset.text())?;
        let limit = LIMITS.into_iter().find(|known| Some(known.label()) == limit.text())?;
        let mut notes = Vec::new();
        for note in node.get("notes")?.items()? {
            let [weight, said] = note.items()? else { return None };
            let crate::json::Value::Int(weight) = weight.value else { return None };
            notes.push((*WEIGHTS.get(usize::try_from(weight).ok()?)?, said.text()?.to_owned()));
        }
        answers.push(Ok(Arc::new(Answer {
            breakdown: costs.next()?,
            per_gpu: costs.next()?,
            step: Step {
                bound: time(0)?,
                expected: time(1)?,
                preset,
                limit,
                stage: time(2)?,
                links: [(time(3)?.0, time(4)?), (time(5)?.0, time(6)?)],
            },
            notes,
        })));
    }
    Some(answers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;
    use crate::model::{ClassTable, Depth, presets};
    use crate::report::outcome::resolved;
    use crate::scenario::state::Scenario;

    #[test]
    fn answers_arrive_as_they_were() {
        let scenario = Scenario::example().unwrap();
        let model = resolved(&scenario.model, presets::builtin(), ClassTable::builtin(), Depth::LAYERS).unwrap();
        let outcome = estimated(&scenario, model, Scope::Global).unwrap();
        let physics = Physics::of(&outcome, &Run::default()).unwrap();
        let answer = Answer::of(&outcome, &physics, &Run::default(), Scope::Global).unwrap();
        // Ring all-reduces of 61 layers, twice, and of the embedding: 8224 tokens of 7168 in 16 bit, 2 x 7/8 of them; and
        // 33 rows of logits, of which seven eighths come from others. 450 GB/s.
        let bytes = 8224.0 * 7168.0 * 2.0 * 1.75 * 123.0 + 33.0 * 129_280.0 * 2.0 * 0.875;
        let [(near, time), far] = answer.step.links;
        assert!((near / bytes - 1.0).abs() < 1e-9, "{near} {bytes}");
        assert!((time.0 / (bytes / 450e9) - 1.0).abs() < 1e-9 && far == (0.0, Seconds(0.0)), "{time:?} {far:?}");
        let (name, point) = answer.step.links(answer.per_gpu.cost())[0];
        assert_eq!((name, point.bound, point.time), ("Links in the node", Some(Bound::Communication), Some(time)));
        // DeepSeek-V3 on TP8: a GPU computes an eighth, but for what every rank does itself.
        assert!(answer.breakdown.cost().flops.0 > 6 * answer.per_gpu.cost().flops.0);
        let message = write(&[Ok(answer.clone()), Err("no \"layers\"".to_owned())]).to_compact();
        let arrived = read(&parse(&message).unwrap().root).unwrap();
        let first = arrived[0].as_ref().unwrap();
        assert_eq!((first.step, &first.notes), (answer.step, &answer.notes));
        assert_eq!(first.breakdown.cost(), answer.breakdown.cost());
        assert_eq!(first.per_gpu.cost(), answer.per_gpu.cost());
        assert_eq!(arrived[1].as_ref().unwrap_err(), "no \"layers\"");
        let shown = Answer::instead(&arrived[0], &outcome).unwrap();
        assert_eq!(shown.breakdown.unwrap().cost(), answer.breakdown.cost());
        let none = Answer::instead(&arrived[1], &outcome).unwrap();
        assert_eq!(none.per_gpu.unwrap_err().to_string(), "the physical model has no answer: no \"layers\"");
        assert!(read(&parse("{\"costs\":{\"defs\":[],\"breakdowns\":[]},\"answers\":[{}]}").unwrap().root).is_none());
    }
}

//! What the physical model answers for a scenario, in the shape of the vllm model's: made where the whole model is
//! known, read where it is shown.

use super::outcome::{Outcome, estimated};
use super::physics::Physics;
use crate::bench::run::Run;
use crate::estimate::physical::Modules;
use crate::estimate::{Breakdown, EstimateError, Estimator, Scope, wire};
use crate::hardware::roofline::Bound;
use crate::json::Node;
use crate::json::build::{Object, list, text, whole};
use crate::model::Weight;
use crate::units::Seconds;
use std::sync::Arc;

/// The time of a step under the physical model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// At least so long.
    pub bound: Seconds,
    /// As measurements suggest.
    pub calibrated: Seconds,
    /// What sets most of the bound.
    pub limit: Bound,
}

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
        Ok(Self {
            breakdown,
            per_gpu: physics.per_gpu.clone(),
            step: Step {
                bound: physics.bound.latency,
                calibrated: physics.calibrated.latency,
                limit: physics.step.limit().into(),
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
            let time = |time: Seconds| text(&format!("{:?}", time.0));
            out.put("step", list([time(step.bound), time(step.calibrated), text(step.limit.label())]));
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
        let [bound, calibrated, limit] = node.get("step")?.items()? else { return None };
        let time = |node: &Node| crate::decimal::parse(node.text()?).map(Seconds);
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
            step: Step { bound: time(bound)?, calibrated: time(calibrated)?, limit },
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

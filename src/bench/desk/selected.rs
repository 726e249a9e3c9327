//! What is selected on the page, as far as a measurement has to do with it.

use super::Facts;
use crate::batch::case::Case;
use crate::bench::command::{Command, Subject};
use crate::bench::run::Run;
use crate::estimate::{Cost, Estimator, Scope};
use crate::model::Depth;
use crate::report::outcome::{Outcome, estimated, resolved};
use crate::report::physics::Physics;
use crate::scenario::file::from_file;
use crate::scenario::state::ModelChoice;
use std::rc::Rc;

/// A scenario with its estimator, and how it is run.
#[derive(Clone, Debug)]
pub(super) struct Selected {
    /// What the page calls it.
    pub(super) name: String,
    pub(super) outcome: Rc<Outcome>,
    pub(super) run: Run,
    /// Where the model was published, if it is a preset.
    source: Option<String>,
    /// What the physical model says, or why it says nothing.
    pub(super) physics: Rc<Result<Physics, String>>,
}

impl Selected {
    /// The scenarios of a comparison, as a file holds it, with what the page calls them; those of `before` that are the
    /// same are taken over; and the scope that is chosen. `None` where the file is none, or a scenario has no estimate.
    pub(super) fn read(file: &str, names: &str, before: &[Self], facts: &Facts) -> Option<(Vec<Self>, Scope)> {
        let Facts { classes, presets, .. } = facts;
        let comparison = from_file(file, presets).ok()?.comparison;
        let run = &comparison.run;
        let mut names = names.lines();
        let mut all: Vec<Self> = Vec::new();
        for scenario in comparison.scenarios() {
            let name = names.next().unwrap_or_default().to_owned();
            if let Some(same) = before.iter().find(|one| one.outcome.scenario == *scenario && one.run == *run) {
                all.push(Self { name, ..same.clone() });
                continue;
            }
            let known = before.iter().chain(&all).find(|one| one.outcome.scenario.model == scenario.model);
            let model = known.map(|one| one.outcome.model.clone());
            let model = model.or_else(|| resolved(&scenario.model, presets, classes, Depth::LAYERS))?;
            let outcome = estimated(scenario, model, Scope::PerGpu)?;
            let (physics, outcome) = (Rc::new(Physics::of(&outcome, run)), Rc::new(outcome));
            let source = match &scenario.model {
                ModelChoice::Preset(id) => presets.iter().find(|preset| preset.id == *id).map(|p| p.source.clone()),
                ModelChoice::Custom(_) => None,
            };
            all.push(Self { name, outcome, run: run.clone(), source, physics });
        }
        Some((all, comparison.scope))
    }

    /// FLOPs and bytes of one GPU for a case.
    pub(super) fn cost(&self, case: &Case) -> Option<Cost> {
        let batch = case.batch_with(self.outcome.scenario.verify);
        Some(self.outcome.vllm.estimate(&batch, Scope::PerGpu).ok()?.cost())
    }

    /// What a command has to do with.
    pub(super) fn subject(&self) -> Subject {
        let Outcome { scenario, model, accelerator, .. } = self.outcome.as_ref();
        let refusals = scenario.layout.refusals(&model.spec);
        Subject {
            source: self.source.clone(),
            checkpoint: model.spec.quantization.method.clone(),
            quantization: scenario.quantization.clone(),
            disable_sliding_window: scenario.disable_sliding_window,
            verify: scenario.verify,
            accelerator: Some((accelerator.name.to_string(), scenario.accelerator.is_edited())),
            refusals: refusals.into_iter().map(|refusal| refusal.reason).collect(),
        }
    }

    /// The command that measures it.
    pub(super) fn command(&self) -> Command {
        let (scenario, subject) = (&self.outcome.scenario, self.subject());
        Command {
            model: subject.model(&self.run.model),
            layout: scenario.layout,
            quantization: subject.method(),
            kv_cache: scenario.kv_cache,
            dtype: scenario.dtype,
            run: self.run.clone(),
            cases: scenario.cases.clone(),
        }
    }
}

#[cfg(test)]
pub(super) fn example(change: impl FnOnce(&mut crate::scenario::state::Comparison)) -> String {
    use crate::scenario::state::{Comparison, Scenario};
    let mut comparison = Comparison::of(Scenario::example().unwrap());
    change(&mut comparison);
    crate::scenario::file::to_file(&comparison, crate::model::presets::builtin())
}

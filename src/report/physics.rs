//! What the physical model says of one scenario: costs, memory, links, time.

use super::outcome::Outcome;
use crate::batch::Batch;
use crate::bench::run::Run;
use crate::estimate::physical::differ::{Difference, differences};
use crate::estimate::physical::{Drafting, Physical};
use crate::estimate::{Breakdown, Estimator, Part, Scope};
use crate::model::anatomy::Parameters;
use crate::step::OnHardware;

/// The physical model's answer for a scenario.
#[derive(Clone, Debug)]
pub struct Physics {
    /// The model.
    pub model: Physical,
    /// What is computed.
    pub batch: Batch,
    /// The cost of a GPU of the slowest stage.
    pub per_gpu: Breakdown,
    /// Parameters of the model.
    pub parameters: Parameters,
    /// What fits, and how long a step takes.
    pub on: OnHardware,
    /// A draft step of the layers that predict further tokens, where the model has some.
    pub draft: Option<Part>,
    /// Where and why the two models differ.
    pub differences: Vec<Difference>,
}

impl Physics {
    /// The answer for a scenario.
    ///
    /// # Errors
    /// The reason, where the model cannot be described or a number is too large.
    pub fn of(outcome: &Outcome, run: &Run) -> Result<Self, String> {
        let (spec, settings, accelerator) = (&outcome.model.spec, &outcome.settings, &outcome.accelerator);
        let batch = outcome.case.batch_with(outcome.scenario.verify);
        let served = run.served();
        let model = Physical::new(spec, settings, served.assumptions, Some(accelerator))?;
        let said = |error: crate::estimate::EstimateError| error.to_string();
        let on = OnHardware::of(&model, &batch, accelerator, &served).map_err(said)?;
        let per_gpu = model.stage(&batch, on.step.longest() as u64).map_err(said)?;
        let vllm = outcome.vllm.estimate(&batch, Scope::PerGpu).map_err(said)?;
        let differences = differences(spec, &model, &batch, &vllm, &per_gpu);
        let (parameters, draft) = (model.anatomy().parameters(), model.draft(&batch, Drafting::Further).map_err(said)?);
        Ok(Self { model, batch, per_gpu, parameters, on, draft, differences })
    }
}

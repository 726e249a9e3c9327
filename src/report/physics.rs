//! What the physical model says of one scenario: costs, memory, links, time.

use super::outcome::Outcome;
use crate::batch::Batch;
use crate::bench::run::Run;
use crate::estimate::physical::differ::{Difference, differences};
use crate::estimate::physical::{Assumptions, Physical};
use crate::estimate::{Breakdown, Estimator, Part, Scope};
use crate::memory::{Fit, Plan};
use crate::model::anatomy::Parameters;
use crate::model::scheme::Scheme;
use crate::step::collective::Links;
use crate::step::preset::{CALIBRATED, IDEAL};
use crate::step::{Rates, StepTime};

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
    /// What fits.
    pub fit: Fit,
    /// The links between its GPUs.
    pub links: Links,
    /// How long a step takes.
    pub step: StepTime,
    /// Rates at the ideal bound.
    pub bound: Rates,
    /// Rates at the calibrated time.
    pub calibrated: Rates,
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
        let formats = run.formats.map(|name| name.and_then(Scheme::named_or_none));
        let assumptions = Assumptions { balanced: run.balanced, formats };
        let model = Physical::new(spec, settings, assumptions, Some(accelerator))?;
        let said = |error: crate::estimate::EstimateError| error.to_string();
        let per_gpu = model.estimate(&batch, Scope::PerGpu).map_err(said)?;
        let vllm = outcome.vllm.estimate(&batch, Scope::PerGpu).map_err(said)?;
        let differences = differences(spec, &model, &batch, &vllm, &per_gpu);
        // The accelerator's own number of GPUs, unless another one was set.
        let node = (run.gpus_per_node != Run::default().gpus_per_node).then_some(run.gpus_per_node);
        let links = Links::of(accelerator, node);
        let step = StepTime::of(&model, &batch, accelerator, &links).map_err(said)?;
        let rates = |preset| {
            let rates = Rates::of(&step, &batch, settings.layout, accelerator, preset, run.acceptance);
            run.price.map_or(rates, |hour| rates.priced(hour, settings.layout))
        };
        let (bound, calibrated) = (rates(&IDEAL), rates(&CALIBRATED));
        let plan = Plan { utilization: run.utilization, block: u64::from(run.block_size), ..Plan::default() };
        let fit = Fit::of(&model, accelerator, &plan);
        let (parameters, draft) = (model.anatomy().parameters(), model.draft(&batch).map_err(said)?);
        Ok(Self { model, batch, per_gpu, parameters, fit, links, step, bound, calibrated, draft, differences })
    }
}

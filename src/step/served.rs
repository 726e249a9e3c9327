//! How a model is served, and what comes of it on an accelerator: the one question that page and command line ask.

use super::collective::Links;
use super::preset::{CALIBRATED, IDEAL, Preset};
use super::{Rates, StepTime};
use crate::batch::Batch;
use crate::estimate::EstimateError;
use crate::estimate::physical::{Assumptions, Physical};
use crate::hardware::Accelerator;
use crate::memory::{Fit, Plan};

/// What times and memory depend on beside the model, its settings and the batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Served {
    /// How tokens are routed and weights are stored.
    pub assumptions: Assumptions,
    /// GPUs of a node; the accelerator's usual number otherwise.
    pub node: Option<u32>,
    /// Whether switches inside nodes add up all-reduces.
    pub in_switch: bool,
    /// The part of communication that runs beside operations, 0 to 1; the bound gains by it, too.
    pub overlap: f64,
    /// What is expected of a step, above its bound.
    pub preset: Preset,
    /// The chance that a draft token of a verification is accepted.
    pub acceptance: f64,
    /// Price of a GPU's hour, in any currency.
    pub price: Option<f64>,
    /// How memory is used.
    pub plan: Plan,
}

impl Default for Served {
    fn default() -> Self {
        Self {
            assumptions: Assumptions::default(),
            node: None,
            in_switch: false,
            overlap: 0.0,
            preset: CALIBRATED,
            acceptance: 1.0,
            price: None,
            plan: Plan::default(),
        }
    }
}

/// What fits on an accelerator, and how long a step takes.
#[derive(Clone, Debug)]
pub struct OnHardware {
    /// Its links.
    pub links: Links,
    /// What fits.
    pub fit: Fit,
    /// How long a step takes.
    pub step: StepTime,
    /// The preset of [`Self::expected`].
    pub preset: Preset,
    /// Whether drafts are verified that the model itself does not make.
    pub undrafted: bool,
    /// The rates at the ideal bound.
    pub bound: Rates,
    /// The rates that are expected.
    pub expected: Rates,
}

impl OnHardware {
    /// A model's batch on an accelerator.
    ///
    /// # Errors
    /// Where a number passes 2^120.
    pub fn of(
        model: &Physical,
        batch: &Batch,
        accelerator: &Accelerator,
        served: &Served,
    ) -> Result<Self, EstimateError> {
        let links =
            Links { in_switch: served.in_switch, overlap: served.overlap, ..Links::of(accelerator, served.node) };
        let step = StepTime::of(model, batch, accelerator, &links)?;
        let layout = model.layout();
        let rates = |preset: &Preset| {
            let rates = Rates::of(&step, batch, layout, accelerator, preset, served.acceptance);
            served.price.map_or(rates, |hour| rates.priced(hour, layout))
        };
        let (bound, expected) = (rates(&IDEAL), rates(&served.preset));
        let drafts = model.drafts(batch);
        let undrafted = batch.verifies() && !drafts;
        let plan = served.plan.holding(batch, drafts);
        let fit = Fit::of(model, accelerator, &plan);
        Ok(Self { links, fit, step, preset: served.preset, undrafted, bound, expected })
    }
}

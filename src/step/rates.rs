//! What a step's time means: tokens per second, utilization, energy, cost.

use super::StepTime;
use super::preset::Preset;
use crate::batch::{Batch, Phase};
use crate::estimate::physical::load::Load;
use crate::hardware::Accelerator;
use crate::layout::Layout;
use crate::model::anatomy::Span;
use crate::units::Seconds;

/// Rates of a batch that is run over and over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// From the start of a step to its end: the time to the first token of a prefill, and per step of a decode.
    pub latency: Seconds,
    /// Whether anything is decoded.
    pub decodes: bool,
    /// Tokens that a step yields for a decoding request, on average: more than one where drafts are verified.
    pub tokens_per_step: f64,
    /// Time per output token of a decode: that of drafting and of the step over the tokens that both yield for a request.
    pub per_output_token: Seconds,
    /// Tokens a second that come out or go in, of all GPUs: output tokens of decodes, prompt tokens of prefills.
    pub tokens_per_second: f64,
    /// The same for each GPU.
    pub per_gpu: f64,
    /// The part of the time in which the GPUs would compute at the peak of the numbers that they multiply.
    pub compute_used: f64,
    /// The part of their memory bandwidth that is used.
    pub bandwidth_used: f64,
    /// Joules a token at the watts that are given.
    pub joules_per_token: Option<f64>,
    /// Price of a million tokens at the price of a GPU's hour that is given.
    pub price_per_million: Option<f64>,
}

/// Tokens that a verification of `drafts` drafts yields on average, when each is accepted with this chance and only up to
/// the first that is not: 1 + a + a^2 + ... + a^drafts.
#[must_use]
pub fn expected_tokens(acceptance: f64, drafts: u64) -> f64 {
    let acceptance = if acceptance.is_finite() { acceptance.clamp(0.0, 1.0) } else { 0.0 };
    if acceptance >= 1.0 {
        return drafts as f64 + 1.0;
    }
    (1.0 - acceptance.powf(drafts as f64 + 1.0)) / (1.0 - acceptance)
}

impl Rates {
    /// The rates of a step under a preset. `acceptance` is the chance that a draft token is accepted: decodes of several
    /// new tokens are verifications.
    #[must_use]
    pub fn of(
        step: &StepTime,
        batch: &Batch,
        layout: Layout,
        accelerator: &Accelerator,
        preset: &Preset,
        acceptance: f64,
    ) -> Self {
        let latency = step.with(preset);
        let slowest = step.slowest(preset);
        let prompt = Load::of(batch, Span::Full, |group| group.phase == Phase::Prefill).tokens as f64;
        let decodes = batch.groups().iter().filter(|group| group.phase == Phase::Decode && group.tokens > 0);
        let yields = decodes.map(|group| (group.count as f64, expected_tokens(acceptance, group.tokens - 1)));
        let (requests, output) = yields.fold((0.0, 0.0), |(n, sum), (count, each)| (n + count, sum + count * each));
        let each = if requests > 0.0 { output / requests } else { 1.0 };
        let replicas = f64::from(layout.dp.get());
        let gpus = layout.gpus() as f64;
        // A full pipeline finishes a batch as often as its slowest stage lets it.
        let per = |amount: f64, time: f64| if time > 0.0 { amount / time } else { 0.0 };
        let tokens_per_second = per((prompt + output) * replicas, slowest.0);
        let stages = step.stages.len().max(1) as f64;
        let (mut computing, mut moved) = (0.0, 0.0);
        for (one, times) in step.operations() {
            computing += one.computing().0 * times as f64;
            moved += one.cost.moved().as_f64() * times as f64;
        }
        let per_token = |each_second: Option<f64>| each_second.map(|each| per(each * gpus, tokens_per_second));
        Self {
            latency,
            decodes: requests > 0.0,
            tokens_per_step: each,
            per_output_token: Seconds((latency.0 + step.drafting(preset).0) / each),
            tokens_per_second,
            per_gpu: per(tokens_per_second, gpus),
            compute_used: per(computing / stages, slowest.0),
            bandwidth_used: per(moved / stages, slowest.0 * accelerator.bandwidth.0),
            joules_per_token: per_token(accelerator.tdp_watts),
            price_per_million: None,
        }
    }

    /// With the price of a GPU's hour.
    #[must_use]
    pub fn priced(self, hour: f64, layout: Layout) -> Self {
        let seconds = if self.tokens_per_second > 0.0 { 1e6 / self.tokens_per_second } else { return self };
        Self { price_per_million: Some(hour / 3600.0 * layout.gpus() as f64 * seconds), ..self }
    }
}

//! A measured time held against an estimate and a roofline.
//!
//! With F FLOPs and B bytes per GPU, a time t, a peak P and a bandwidth W: achieved F / t and B / t; model FLOPs
//! utilisation F / (t P); memory-bandwidth utilisation B / (t W); the bound max(F / P, B / W), and t over it.

use crate::batch::Batch;
use crate::estimate::physical::Physical;
use crate::estimate::{Cost, EstimateError, Estimator, Scope};
use crate::hardware::Accelerator;
use crate::hardware::roofline::{self, Bound};
use crate::report::Roof;
use crate::step::StepTime;
use crate::step::collective::Links;
use crate::units::{BytesPerSecond, FlopsPerSecond, Seconds};

/// What a time says about a cost. What has no meaning, such as a share of a roof where there is none, is `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Against {
    /// The measured time.
    pub time: Seconds,
    /// The estimated cost, per GPU.
    pub cost: Cost,
    /// FLOPs per GPU and second.
    pub computed: FlopsPerSecond,
    /// Bytes read and written per GPU and second.
    pub moved: BytesPerSecond,
    /// The share of the roof that is reached.
    pub share: Option<Share>,
}

/// The share of a roof that is reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Model FLOPs utilisation, a fraction of 1.
    pub mfu: f64,
    /// Memory-bandwidth utilisation, a fraction of 1.
    pub mbu: f64,
    /// The least time under the roofline.
    pub bound: Seconds,
    /// What sets it.
    pub limit: Bound,
    /// The measured time over the bound.
    pub ratio: f64,
}

impl Against {
    /// A time against what the physical model says of a batch; with an accelerator the bound is that of each operation
    /// and collective.
    ///
    /// # Errors
    /// Where a number passes 2^120.
    pub fn of_physical(
        time: Seconds,
        batch: &Batch,
        model: &Physical,
        on: Option<(&Accelerator, &Links)>,
        roof: Option<&Roof>,
    ) -> Result<Option<Self>, EstimateError> {
        let against = Self::of(time, model.estimate(batch, Scope::PerGpu)?.cost(), roof);
        let Some((against, (accelerator, links))) = against.zip(on) else { return Ok(against) };
        Ok(Some(against.timed(&StepTime::of(model, batch, accelerator, links)?)))
    }

    /// The same against the bound of a step that was timed operation by operation, communication included.
    fn timed(mut self, step: &StepTime) -> Self {
        let bound = step.bound();
        if let Some(share) = &mut self.share
            && bound.0 > 0.0
        {
            *share = Share { bound, limit: step.limit(), ratio: self.time.0 / bound.0, ..*share };
        }
        self
    }

    /// A time against a cost per GPU and a roof; `None` where the time is no positive number.
    #[must_use]
    pub fn of(time: Seconds, cost: Cost, roof: Option<&Roof>) -> Option<Self> {
        if !(time.0 > 0.0 && time.0.is_finite()) {
            return None;
        }
        let (computed, moved) = (cost.flops.as_f64() / time.0, cost.moved().as_f64() / time.0);
        let share = roof.and_then(|roof| {
            let point = roofline::point(roof.peak.rate, roof.bandwidth, cost.flops, cost.moved())?;
            Some(Share {
                mfu: computed / roof.peak.rate.0,
                mbu: moved / roof.bandwidth.0,
                bound: point.time,
                limit: point.bound,
                ratio: time.0 / point.time.0,
            })
        });
        Some(Self { time, cost, computed: FlopsPerSecond(computed), moved: BytesPerSecond(moved), share })
    }

    /// What to check where the measurement beats the bound, which no run can.
    #[must_use]
    pub fn beaten(&self) -> Option<&'static str> {
        self.share.filter(|share| share.ratio < 1.0).map(|_| {
            "The measurement beats the bound, so what was measured is not what was estimated: check the accelerator, \
             the layout, the quantization and the KV-cache dtype. The model itself may also count too much."
        })
    }
}

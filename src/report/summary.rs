//! A step, or a part of one, against a roofline.

use crate::estimate::Cost;
use crate::hardware::roofline::{self, Bound};
use crate::hardware::{Accelerator, PeakChoice, Precision, peak};
use crate::units::{BytesPerSecond, Intensity, Seconds};

/// The roofline that costs are held against: one compute roof and the memory slope.
#[derive(Clone, Debug, PartialEq)]
pub struct Roof {
    /// The compute roof, and how it came to be chosen.
    pub peak: PeakChoice,
    /// The memory slope.
    pub bandwidth: BytesPerSecond,
}

/// A cost and what the roofline makes of it. What does not exist (nothing moved, nothing computed) is `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// FLOPs and bytes.
    pub cost: Cost,
    /// FLOPs per byte moved.
    pub intensity: Option<Intensity>,
    /// The least time it can take.
    pub time: Option<Seconds>,
    /// What limits it.
    pub bound: Option<Bound>,
    /// FLOP/s that can be reached at its intensity.
    pub attainable: Option<f64>,
}

impl Roof {
    /// The roofline of an accelerator at a precision; `None` where it has no rate that could stand for it.
    #[must_use]
    pub fn of(accelerator: &Accelerator, precision: Precision) -> Option<Self> {
        Some(Self { peak: peak(accelerator, precision)?, bandwidth: accelerator.bandwidth })
    }

    /// The arithmetic intensity from which compute is the limit.
    #[must_use]
    pub fn ridge(&self) -> Option<Intensity> {
        self.peak.rate.ridge(self.bandwidth)
    }
}

impl Summary {
    /// A cost under a roofline, or without one.
    #[must_use]
    pub fn of(cost: Cost, roof: Option<&Roof>) -> Self {
        let point = roof.and_then(|roof| roofline::point(roof.peak.rate, roof.bandwidth, cost.flops, cost.moved()));
        Self {
            cost,
            intensity: cost.intensity(),
            time: point.as_ref().map(|point| point.time),
            bound: point.as_ref().map(|point| point.bound),
            attainable: point.as_ref().map(|point| point.attainable.0),
        }
    }
}

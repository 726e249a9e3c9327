//! A step, or a part of one, against a roofline.

use super::answer::Step;
use crate::estimate::{Cost, Part, Term};
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
    /// The terms of a part, one operation of one kind of layer after the other, each under the roof of the numbers that
    /// it multiplies, where those are known; else under `roof`.
    #[must_use]
    pub fn over(terms: &[&Term], part: &Part, roof: Option<&Roof>, accelerator: Option<&Accelerator>) -> Self {
        let mut sum = Self::of(terms.iter().map(|term| term.cost()).sum(), roof);
        let (mut computing, mut moving) = (0.0, 0.0);
        for group in terms.chunk_by(|a, b| a.sheet == b.sheet) {
            let sheet = group.first().and_then(|term| part.sheets.get(usize::from(term.sheet)));
            let precision = sheet.and_then(|sheet| sheet.precision);
            let own = precision.zip(accelerator).and_then(|(precision, accelerator)| Roof::of(accelerator, precision));
            let one = Self::of(group.iter().map(|term| term.cost()).sum(), roof.and(own.as_ref()).or(roof));
            let time = one.time.map_or(0.0, |time| time.0);
            if one.bound == Some(Bound::Compute) { computing += time } else { moving += time }
        }
        let time = computing + moving;
        if sum.time.is_some() && time > 0.0 {
            sum.time = Some(Seconds(time));
            sum.bound = Some(if computing > moving { Bound::Compute } else { Bound::Memory });
            sum.attainable = Some(sum.cost.flops.as_f64() / time);
        }
        sum
    }

    /// With the time of a whole step instead, where the physical model counts.
    #[must_use]
    pub fn within(self, step: Option<&Step>) -> Self {
        let Some(step) = step else { return self };
        // The FLOPs are those of one stage, and so is the time that they take.
        let attainable = self.attainable.map(|_| self.cost.flops.as_f64() / step.stage.0);
        Self { time: Some(step.bound), bound: Some(step.limit), attainable, ..self }
    }

    /// A part; see [`Self::over`].
    #[must_use]
    pub fn of_part(part: &Part, roof: Option<&Roof>, accelerator: Option<&Accelerator>) -> Self {
        Self::over(&part.terms.iter().collect::<Vec<_>>(), part, roof, accelerator)
    }

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

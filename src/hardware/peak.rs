//! Which peak a computation in some precision runs at, where the accelerator may not know that precision.

use super::{Accelerator, Precision};
use crate::units::FlopsPerSecond;

/// A peak rate and how it came to be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct PeakChoice {
    /// The dense peak.
    pub rate: FlopsPerSecond,
    /// The precision that it is for.
    pub precision_used: Precision,
    /// Why that is not the one asked for, as a sentence to show; `None` if it is.
    pub reason: Option<String>,
}

/// The peak of an accelerator in a precision, or in the nearest one that holds its numbers: FP4 runs as FP8, FP8 and
/// INT8 as BF16, BF16 and FP16 as each other. `None` if no such rate is known.
///
/// Kernels do the same: they keep the weights small in memory and widen them before they multiply. INT8 never stands in
/// for FP8 nor the other way round: neither holds the other's numbers, and their rates may differ much (B300).
#[must_use]
pub fn peak(accelerator: &Accelerator, precision: Precision) -> Option<PeakChoice> {
    let (rate, precision_used) = candidates(precision)
        .iter()
        .find_map(|&candidate| accelerator.peaks.of(candidate).map(|rate| (rate, candidate)))?;
    let reason = (precision_used != precision).then(|| {
        let (name, asked, used) = (&accelerator.name, precision.label(), precision_used.label());
        format!("No {asked} rate is known for {name}, which may lack it; its {used} rate is used.")
    });
    Some(PeakChoice { rate, precision_used, reason })
}

fn candidates(precision: Precision) -> &'static [Precision] {
    use Precision::{Bf16, Fp4, Fp8, Fp16, Int8};
    match precision {
        Bf16 => &[Bf16, Fp16],
        Fp16 => &[Fp16, Bf16],
        Fp8 => &[Fp8, Bf16, Fp16],
        Int8 => &[Int8, Bf16, Fp16],
        Fp4 => &[Fp4, Fp8, Bf16, Fp16],
    }
}

#[cfg(test)]
mod tests {
    use super::super::{all, find};
    use super::*;

    #[track_caller]
    fn chooses(id: &str, asked: Precision, used: Precision, tera: f64) {
        let choice = peak(find(id).unwrap(), asked).unwrap();
        assert_eq!((choice.precision_used, choice.rate), (used, FlopsPerSecond(tera * 1e12)));
        assert_eq!(choice.reason.is_some(), asked != used);
    }

    #[test]
    fn the_nearest_precision_that_the_accelerator_has() {
        chooses("h200-sxm", Precision::Fp8, Precision::Fp8, 1979.0);
        chooses("h200-sxm", Precision::Fp4, Precision::Fp8, 1979.0);
        chooses("b200-sxm", Precision::Fp4, Precision::Fp4, 9000.0);
        chooses("a100-80-sxm", Precision::Fp8, Precision::Bf16, 312.0);
        chooses("a100-80-sxm", Precision::Fp4, Precision::Bf16, 312.0);
        chooses("t4", Precision::Bf16, Precision::Fp16, 65.0);
        chooses("tpu-v5p", Precision::Fp16, Precision::Bf16, 459.0);
        chooses("gaudi2", Precision::Int8, Precision::Bf16, 432.0);
    }

    #[test]
    fn every_accelerator_has_a_peak_for_every_precision() {
        for accelerator in all() {
            for precision in Precision::ALL {
                assert!(peak(accelerator, precision).is_some(), "{}: {precision:?}", accelerator.id);
            }
        }
    }

    #[test]
    fn a_fall_back_is_said() {
        let choice = peak(find("a100-80-sxm").unwrap(), Precision::Fp8).unwrap();
        assert_eq!(
            choice.reason.as_deref(),
            Some("No FP8 rate is known for A100 80 GB SXM, which may lack it; its BF16 rate is used.")
        );
    }

    #[test]
    fn no_rate_at_all_is_none() {
        let accelerator = Accelerator { peaks: super::super::Peaks::default(), ..all()[0].clone() };
        assert_eq!(peak(&accelerator, Precision::Fp4), None);
    }
}

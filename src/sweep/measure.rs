//! What a sweep measures of one GPU's step.

use crate::format::Unit;
use crate::report::Summary;

/// What a sweep measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// FLOPs.
    Flops,
    /// Bytes read.
    Read,
    /// Bytes written.
    Written,
    /// Bytes read and written.
    Moved,
    /// FLOPs per byte moved.
    Intensity,
    /// The least time that the step takes.
    Time,
    /// New tokens of the step over that time: the most that one data parallel rank can compute.
    TokensPerSecond,
}

impl Measure {
    /// All of them, as an input lists them.
    pub const ALL: [Self; 7] =
        [Self::Time, Self::TokensPerSecond, Self::Intensity, Self::Flops, Self::Read, Self::Written, Self::Moved];

    /// What it is called, above the axis and in an input.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Flops => "FLOPs per GPU",
            Self::Read => "bytes read per GPU",
            Self::Written => "bytes written per GPU",
            Self::Moved => "bytes moved per GPU",
            Self::Intensity => "arithmetic intensity",
            Self::Time => "time on one GPU, at least",
            Self::TokensPerSecond => "new tokens per second, at most",
        }
    }

    /// Its unit.
    #[must_use]
    pub fn unit(self) -> Unit {
        match self {
            Self::Flops => Unit::FLOP,
            Self::Read | Self::Written | Self::Moved => Unit::BYTE,
            Self::Intensity => Unit::INTENSITY,
            Self::Time => Unit::SECOND,
            Self::TokensPerSecond => Unit::TOKEN_PER_SECOND,
        }
    }

    /// Its value for a step of so many new tokens.
    #[must_use]
    pub fn value(self, summary: &Summary, tokens: u128) -> Option<f64> {
        let cost = &summary.cost;
        match self {
            Self::Flops => Some(cost.flops.as_f64()),
            Self::Read => Some(cost.read.as_f64()),
            Self::Written => Some(cost.write.as_f64()),
            Self::Moved => Some(cost.moved().as_f64()),
            Self::Intensity => summary.intensity.map(|intensity| intensity.0),
            Self::Time => summary.time.map(|time| time.0),
            Self::TokensPerSecond => summary.time.map(|time| tokens as f64 / time.0).filter(|rate| rate.is_finite()),
        }
    }
}

//! From the ideal bound to what engines reach.

use crate::units::Seconds;

/// What is reached of the rates, and what comes on top of them. An operation takes max(FLOPs / (peak x compute), bytes /
/// (bandwidth x bandwidth's part)), a collective its time over the links' part and a latency for each of its steps, a
/// stage the sum of both, without what overlaps, and an overhead for each layer. What overlaps is no part of a preset: it
/// shortens the bound alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// The part of the peak compute rate that is reached.
    pub compute: f64,
    /// The part of the bandwidths, of memory and links, that is reached.
    pub bandwidth: f64,
    /// Added for every layer: launches, gaps, collectives' latency.
    pub layer: Seconds,
    /// Added for every step of a collective.
    pub latency: Seconds,
    /// Where the constants come from, and how far they are off.
    pub source: &'static str,
}

/// Nothing is faster.
pub const IDEAL: Preset = Preset {
    name: "ideal bound",
    compute: 1.0,
    bandwidth: 1.0,
    layer: Seconds(0.0),
    latency: Seconds(0.0),
    source: "peak rates, no overhead",
};

/// Fitted to served decodes.
pub const CALIBRATED: Preset = Preset {
    name: "calibrated",
    compute: 0.80,
    bandwidth: 0.80,
    layer: Seconds(70e-6),
    latency: Seconds(0.0),
    source: "fitted on 2026-11-30 to 252 measured times per output token of dense models at up to 8 requests \
             (aiconfigurator's public sample), median error 7.09 %",
};

/// The name of a preset with constants of the user's own.
pub const ASSUMED: &str = "assumed";

/// Where those come from.
pub const ASSUMED_SOURCE: &str = "your own numbers, else the calibrated ones";

impl Preset {
    /// The time of computing and moving that run side by side, each at its ideal rate.
    #[must_use]
    pub fn side_by_side(&self, computing: Seconds, moving: Seconds) -> Seconds {
        Seconds(over(computing.0, self.compute).max(over(moving.0, self.bandwidth)))
    }

    /// The time of a transfer over links with so many steps, whose ideal time is known.
    #[must_use]
    pub fn transfer(&self, ideal: Seconds, steps: f64) -> Seconds {
        Seconds(over(ideal.0, self.bandwidth) + self.latency.0 * steps)
    }
}

/// A part of a rate that is no positive number stands for all of it.
fn over(time: f64, part: f64) -> f64 {
    if part > 0.0 { time / part } else { time }
}

//! From the ideal bound to what engines reach.

use crate::units::Seconds;

/// Time = bound / efficiency + overhead of every layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// The part of the bound's rates that is reached.
    pub efficiency: f64,
    /// Added for every layer: launches, gaps, collectives' latency.
    pub layer: Seconds,
    /// Where the constants come from, and how far they are off.
    pub source: &'static str,
}

/// Nothing is faster.
pub const IDEAL: Preset =
    Preset { name: "ideal bound", efficiency: 1.0, layer: Seconds(0.0), source: "peak rates, no overhead" };

/// Fitted to served decodes.
pub const CALIBRATED: Preset = Preset {
    name: "calibrated",
    efficiency: 0.80,
    layer: Seconds(70e-6),
    source: "fitted to measured times per output token of dense models at up to 8 requests (aiconfigurator's public \
             sample)",
};

/// What a preset was fitted to, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitted {
    /// Measurements.
    pub rows: usize,
    /// The median of their errors, a fraction of the measured time.
    pub error: f64,
    /// When.
    pub date: &'static str,
}

/// What [`CALIBRATED`] was fitted to: all such rows of the full sample, of which `tests/validation/` holds a part.
pub const CALIBRATED_ON: Fitted = Fitted { rows: 252, error: 0.0709, date: "2026-11-30" };

impl Preset {
    /// The time that a bound of so many layers comes to.
    #[must_use]
    pub fn apply(&self, bound: Seconds, layers: u64) -> Seconds {
        let efficiency = if self.efficiency > 0.0 { self.efficiency } else { 1.0 };
        Seconds(bound.0 / efficiency + self.layer.0 * layers as f64)
    }
}

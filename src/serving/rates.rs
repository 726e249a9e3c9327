//! From two metrics pages, some seconds apart, to rates.

use super::counters::{Counters, Engine};
use crate::report::Roof;
use crate::units::{BytesPerSecond, FlopsPerSecond, Seconds};

/// The query for TFLOP/s per GPU.
pub const PROMQL_TFLOPS: &str = "rate(vllm:estimated_flops_per_gpu_total[1m]) / 1e12";
/// The query for GB/s per GPU, read and written.
pub const PROMQL_GBPS: &str = "(rate(vllm:estimated_read_bytes_per_gpu_total[1m]) + \
                               rate(vllm:estimated_write_bytes_per_gpu_total[1m])) / 1e9";

/// What two pages say about an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineRate {
    /// The engine as one of the pages has it.
    pub engine: Engine,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of an engine between two pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// It ran on.
    Rates(Rates),
    /// A counter is smaller than before: the server restarted in between.
    Restarted,
    /// Only the first page has it.
    Gone,
    /// Only the second page has it.
    New,
    /// A page lacks one of its counters.
    Incomplete,
}

/// Rates of one GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// FLOPs per second.
    pub flops: FlopsPerSecond,
    /// Bytes read per second.
    pub read: BytesPerSecond,
    /// Bytes written per second.
    pub write: BytesPerSecond,
}

/// Rates as shares of a roof, fractions of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Model FLOPs utilisation.
    pub mfu: f64,
    /// Memory-bandwidth utilisation.
    pub mbu: f64,
}

/// The seconds between two pages are no positive number.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("The time between the pages is {0} s; expected a number of seconds above 0.")]
pub struct NoTime(pub f64);

impl Rates {
    /// Bytes read and written per second.
    #[must_use]
    pub fn moved(&self) -> BytesPerSecond {
        BytesPerSecond(self.read.0 + self.write.0)
    }

    /// The shares of a roof; `None` where it has no positive rates.
    #[must_use]
    pub fn shares(&self, roof: &Roof) -> Option<Shares> {
        let (peak, bandwidth) = (roof.peak.rate.0, roof.bandwidth.0);
        (peak > 0.0 && bandwidth > 0.0).then(|| Shares { mfu: self.flops.0 / peak, mbu: self.moved().0 / bandwidth })
    }
}

impl Outcome {
    /// What to say where there are no rates.
    #[must_use]
    pub fn remark(&self) -> &'static str {
        match self {
            Self::Rates(_) => "",
            Self::Restarted => "a counter is smaller than before: the server restarted in between",
            Self::Gone => "only in the first page",
            Self::New => "only in the second page",
            Self::Incomplete => "a page lacks one of its counters",
        }
    }
}

/// The rates of every engine: those of the first page in its order, then those that only the second has.
///
/// # Errors
/// Where the time between the pages is no positive number.
pub fn rates(first: &Counters, second: &Counters, between: Seconds) -> Result<Vec<EngineRate>, NoTime> {
    if !(between.0 > 0.0 && between.0.is_finite()) {
        return Err(NoTime(between.0));
    }
    let mut found: Vec<EngineRate> = first
        .engines
        .iter()
        .map(|before| {
            let after = second.engines.iter().find(|after| after.is(before));
            let outcome = after.map_or(Outcome::Gone, |after| outcome(before, after, between.0));
            EngineRate { engine: before.clone(), outcome }
        })
        .collect();
    let new = second.engines.iter().filter(|after| !first.engines.iter().any(|before| before.is(after)));
    found.extend(new.map(|engine| EngineRate { engine: engine.clone(), outcome: Outcome::New }));
    Ok(found)
}

fn outcome(before: &Engine, after: &Engine, seconds: f64) -> Outcome {
    let all = |engine: &Engine| Some([engine.flops?, engine.read?, engine.write?]);
    let (Some(before), Some(after)) = (all(before), all(after)) else { return Outcome::Incomplete };
    if before.iter().zip(&after).any(|(before, after)| after < before) {
        return Outcome::Restarted;
    }
    let ([f0, r0, w0], [f1, r1, w1]) = (before, after);
    let per_second = |before: f64, after: f64| (after - before) / seconds;
    Outcome::Rates(Rates {
        flops: FlopsPerSecond(per_second(f0, f1)),
        read: BytesPerSecond(per_second(r0, r1)),
        write: BytesPerSecond(per_second(w0, w1)),
    })
}

//! What keeps a measurement from being taken at face value.

use super::{Measured, Rank};
use crate::layout::Layout;
use std::fmt;

/// Above this spread of its samples, in percent, `vllm bench forward` calls a timing unstable.
pub const STABLE_PCT: f64 = 0.5;

/// A rank whose median is further than this, in percent, from the case's is said.
pub const AGREES_PCT: f64 = 5.0;

/// A reason for care. It prints as a sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Samples differ too much.
    Unstable {
        /// The ranks where they do.
        ranks: Ranks,
        /// The worst of them.
        worst: usize,
        /// Its spread in percent.
        pct: f64,
    },
    /// The output has NaN or infinity in it.
    NotFinite(Ranks),
    /// The graph gave different outputs.
    NotDeterministic(Ranks),
    /// Ranks are far from the case's median.
    Disagree {
        /// The ranks that are.
        ranks: Ranks,
        /// The furthest of them.
        worst: usize,
        /// Its median relative to the case's, in percent.
        pct: f64,
    },
    /// The file has another number of ranks than the layout has GPUs.
    RankCount {
        /// Ranks of the case.
        ranks: usize,
        /// GPUs of the layout.
        gpus: u128,
        /// The layout in a few letters.
        layout: String,
    },
}

/// Some ranks of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// Their numbers, ascending.
    pub which: Vec<usize>,
    /// How many there are in all.
    pub of: usize,
}

/// The warnings about a case; the number of its ranks is held against a layout if there is one.
#[must_use]
pub fn warnings(measured: &Measured, layout: Option<&Layout>) -> Vec<Warning> {
    let ranks = &measured.ranks;
    let those = |is: &dyn Fn(&Rank) -> bool| {
        let which: Vec<usize> = ranks.iter().enumerate().filter(|(_, rank)| is(rank)).map(|(at, _)| at).collect();
        (!which.is_empty()).then_some(Ranks { which, of: ranks.len() })
    };
    // The rank for which a number is furthest from 0, with the number.
    let worst = |of: &dyn Fn(&Rank) -> Option<f64>| {
        let numbers = ranks.iter().enumerate().filter_map(|(at, rank)| Some((at, of(rank)?)));
        numbers.reduce(|worst, next| if next.1.abs() > worst.1.abs() { next } else { worst })
    };
    let off = |rank: &Rank| rank.median_us().map(|median| (median / measured.median_us - 1.0) * 100.0);
    let mut warnings = Vec::new();
    if let (Some(ranks), Some((worst, pct))) =
        (those(&|rank| rank.spread_pct().is_some_and(|pct| pct > STABLE_PCT)), worst(&Rank::spread_pct))
    {
        warnings.push(Warning::Unstable { ranks, worst, pct });
    }
    warnings.extend(those(&|rank| rank.finite == Some(false)).map(Warning::NotFinite));
    warnings.extend(those(&|rank| rank.graph_deterministic == Some(false)).map(Warning::NotDeterministic));
    if let (Some(ranks), Some((worst, pct))) =
        (those(&|rank| off(rank).is_some_and(|pct| pct.abs() > AGREES_PCT)), worst(&off))
    {
        warnings.push(Warning::Disagree { ranks, worst, pct });
    }
    if let Some(layout) = layout
        && !ranks.is_empty()
        && ranks.len() as u128 != layout.gpus()
    {
        warnings.push(Warning::RankCount { ranks: ranks.len(), gpus: layout.gpus(), layout: layout.label() });
    }
    warnings
}

/// `rank 3`, `ranks 0-3, 7`, `all 8 ranks`.
impl fmt::Display for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = *self.which {
            return write!(f, "rank {only}");
        }
        if self.which.len() == self.of {
            return write!(f, "all {} ranks", self.of);
        }
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for &rank in &self.which {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == rank => *last = rank,
                _ => runs.push((rank, rank)),
            }
        }
        let runs = runs.iter().map(|(from, to)| if from == to { from.to_string() } else { format!("{from}-{to}") });
        write!(f, "ranks {}", runs.collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unstable { ranks, worst, pct } => {
                write!(f, "Unstable timing: samples differ by more than {STABLE_PCT} % on {ranks}")?;
                if ranks.which.len() > 1 {
                    write!(f, ", most on rank {worst}")?;
                }
                write!(f, " ({pct:.2} %).")
            }
            Self::NotFinite(ranks) => write!(f, "The output holds NaN or infinity on {ranks}."),
            Self::NotDeterministic(ranks) => {
                write!(f, "The captured graph does not give the same output each time on {ranks}.")
            }
            Self::Disagree { ranks, worst, pct } => {
                write!(f, "The median of {ranks} is more than {AGREES_PCT} % from the case's")?;
                if ranks.which.len() > 1 {
                    write!(f, ", furthest on rank {worst}")?;
                }
                write!(f, " ({pct:+.1} %).")
            }
            Self::RankCount { ranks, gpus, layout } => write!(
                f,
                "The file has {ranks} rank{} and the layout {layout} has {gpus} GPU{}: estimate and measurement are of \
                 different layouts.",
                if *ranks == 1 { "" } else { "s" },
                if *gpus == 1 { "" } else { "s" },
            ),
        }
    }
}

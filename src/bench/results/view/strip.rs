//! Samples as a small strip: how they spread between the least and the largest.

use super::time;
use crate::bench::order::rising;
use crate::bench::view::{Element, element};

/// The most bars of a strip.
const BUCKETS: usize = 40;

/// Samples in equal buckets from the least to the largest.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// How many samples.
    pub count: usize,
    /// The least, in microseconds.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The least sample that 90 % do not pass.
    pub p90: f64,
    /// The largest.
    pub max: f64,
    /// How many samples fall into each bucket; one bucket where all are equal.
    pub buckets: Vec<usize>,
}

impl Strip {
    /// The strip of some samples in microseconds; what is no finite number is left out. `None` if nothing is left.
    #[must_use]
    pub fn of(samples: impl Iterator<Item = f64>) -> Option<Self> {
        let finite: Vec<f64> = samples.filter(|sample| sample.is_finite()).collect();
        let sorted = rising(&finite);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let count = sorted.len();
        // The nearest rank: the least sample that so many percent do not pass.
        let at = |pct: usize| sorted.get((count * pct).div_ceil(100).saturating_sub(1)).copied();
        let upper = *sorted.get(count / 2)?;
        let lower = if count.is_multiple_of(2) { *sorted.get(count / 2 - 1)? } else { upper };
        let mut buckets = vec![0; if max > min { BUCKETS } else { 1 }];
        let last = buckets.len() - 1;
        for sample in &sorted {
            // Where the range passes the largest float, everything falls into the first bucket.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fraction of the buckets")]
            let bucket = ((sample - min) / (max - min) * BUCKETS as f64) as usize;
            if let Some(bucket) = buckets.get_mut(bucket.min(last)) {
                *bucket += 1;
            }
        }
        Some(Self { count, min, median: lower.midpoint(upper), p90: at(90)?, max, buckets })
    }

    /// The strip in words.
    #[must_use]
    pub fn text(&self) -> String {
        format!(
            "{} samples: least {}, median {}, 90 % within {}, largest {}",
            self.count,
            time(self.min),
            time(self.median),
            time(self.p90),
            time(self.max)
        )
    }
}

/// The strip as bars, placed and sized in percent, with its text beside it.
#[must_use]
pub fn strip(strip: &Strip) -> Element {
    let tallest = strip.buckets.iter().copied().max().unwrap_or(1).max(1) as f64;
    let width = 100.0 / strip.buckets.len().max(1) as f64;
    let bars = strip.buckets.iter().enumerate().filter(|(_, count)| **count > 0).map(|(at, count)| {
        let (left, height) = (at as f64 * width, (*count as f64 / tallest * 100.0).max(4.0));
        element("i").with("style", format!("left:{left:.1}%;width:{width:.1}%;height:{height:.1}%"))
    });
    let bars = element("div").with("class", "strip").with("role", "img").with("aria-label", strip.text()).all(bars);
    element("figure").with("class", "samples").and(bars).and(element("figcaption").and(strip.text()))
}

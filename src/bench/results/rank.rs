//! What one rank measured.

use super::notes::Notes;
use crate::json::{Misfit, Node, Place, Value, number};

/// What one rank measured. What the file does not say, or not in a form that is known, is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rank {
    /// New tokens of the step.
    pub num_tokens: Option<u64>,
    /// KV-cache blocks in use.
    pub kv_blocks: Option<u64>,
    /// How tokens were routed to experts.
    pub routing: Option<String>,
    /// New tokens on this rank.
    pub num_local_tokens: Option<u64>,
    /// Tokens that ran, padding included.
    pub num_tokens_after_padding: Option<u64>,
    /// The order in which requests stood in the batch.
    pub batch_order: Option<String>,
    /// How far the captured graph's output is from eager execution's.
    pub graph_vs_eager: Option<Agreement>,
    /// Whether the graph gave the same output each time.
    pub graph_deterministic: Option<bool>,
    /// Whether the output is free of NaN and infinity.
    pub finite: Option<bool>,
    /// Bytes of state that are reset between replays.
    pub state_reset_bytes: Option<u64>,
    /// The times.
    pub latency: Option<Latency>,
    /// The profile, if one was taken.
    pub profile: Option<Profile>,
}

/// How far two outputs are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Agreement {
    /// The largest absolute difference.
    pub max_abs: Option<f64>,
    /// The root mean square of the difference, relative to that of the output.
    pub relative_rms: Option<f64>,
}

/// Times of one rank, in microseconds unless it says otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latency {
    /// What took the time.
    pub timer: Option<String>,
    /// The median.
    pub median: Option<f64>,
    /// How far the samples' medians are apart, in percent.
    pub sample_spread_pct: Option<f64>,
    /// The mean.
    pub mean: Option<f64>,
    /// The standard deviation.
    pub std: Option<f64>,
    /// The least.
    pub min: Option<f64>,
    /// The 90th percentile.
    pub p90: Option<f64>,
    /// How many times were taken.
    pub count: Option<u64>,
    /// The times themselves.
    pub samples_us: Vec<f64>,
}

/// What a profile of one rank says. Its `summary` is not kept: it may be a path on the machine that measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// From the first to the last kernel, in microseconds.
    pub span_us: Option<f64>,
    /// The sum of kernel times in microseconds; above the span where streams overlap.
    pub busy_us: Option<f64>,
    /// Kernels and copies that ran.
    pub activities: Option<u64>,
    /// The kernels that took the most time.
    pub top_kernels: Vec<Kernel>,
}

/// A kernel of a profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Its time in microseconds.
    pub us: Option<f64>,
    /// Its share of all kernel time in percent.
    pub pct: Option<f64>,
    /// How often it ran.
    pub calls: Option<f64>,
}

impl Rank {
    /// The spread of its samples in percent.
    #[must_use]
    pub fn spread_pct(&self) -> Option<f64> {
        self.latency.as_ref().and_then(|latency| latency.sample_spread_pct).filter(|pct| pct.is_finite())
    }

    /// Its median in microseconds.
    #[must_use]
    pub fn median_us(&self) -> Option<f64> {
        self.latency.as_ref().and_then(|latency| latency.median).filter(|median| median.is_finite())
    }

    /// Reads a rank object.
    pub(super) fn read(place: &Place<'_>, notes: &mut Notes) -> Result<Self, Misfit> {
        if !place.node().is_object() {
            return Err(place.misfit("an object with what a rank measured"));
        }
        let mut fields = Fields { place: place.clone(), notes };
        Ok(Self {
            num_tokens: fields.take("num_tokens", Place::whole),
            kv_blocks: fields.take("kv_blocks", Place::whole),
            routing: fields.take("routing", words),
            num_local_tokens: fields.take("num_local_tokens", Place::whole),
            num_tokens_after_padding: fields.take("num_tokens_after_padding", Place::whole),
            batch_order: fields.take("batch_order", words),
            graph_vs_eager: fields.nested("graph_vs_eager", |fields| Agreement {
                max_abs: fields.take("max_abs", Place::number),
                relative_rms: fields.take("relative_rms", Place::number),
            }),
            graph_deterministic: fields.take("graph_deterministic", Place::boolean),
            finite: fields.take("finite", Place::boolean),
            state_reset_bytes: fields.take("state_reset_bytes", Place::whole),
            latency: fields.nested("latency_us", latency),
            profile: fields.nested("profile", profile),
        })
    }
}

fn latency(fields: &mut Fields<'_, '_>) -> Latency {
    Latency {
        timer: fields.take("timer", words),
        median: fields.take("median", Place::number),
        sample_spread_pct: fields.take("sample_spread_pct", Place::number),
        mean: fields.take("mean", Place::number),
        std: fields.take("std", Place::number),
        min: fields.take("min", Place::number),
        p90: fields.take("p90", Place::number),
        count: fields.take("count", Place::whole),
        samples_us: fields.take("samples_us", samples).unwrap_or_default(),
    }
}

fn profile(fields: &mut Fields<'_, '_>) -> Profile {
    Profile {
        span_us: fields.take("span_us", Place::number),
        busy_us: fields.take("busy_us", Place::number),
        activities: fields.take("activities", Place::whole),
        top_kernels: fields.take("top_kernels", kernels).unwrap_or_default(),
    }
}

/// An object whose fields may each be absent, null or odd.
struct Fields<'d, 'n> {
    place: Place<'d>,
    notes: &'n mut Notes,
}

impl<'d> Fields<'d, '_> {
    fn take<T>(&mut self, key: &'static str, read: impl FnOnce(&Place<'d>) -> Result<T, Misfit>) -> Option<T> {
        match read(&self.place.member(key)?) {
            Ok(value) => Some(value),
            Err(misfit) => {
                self.notes.odd(key, misfit);
                None
            }
        }
    }

    fn nested<T>(&mut self, key: &'static str, read: impl FnOnce(&mut Fields<'d, '_>) -> T) -> Option<T> {
        let place = self.place.member(key)?;
        if place.node().is_object() {
            return Some(read(&mut Fields { place, notes: self.notes }));
        }
        self.notes.odd(key, place.misfit("an object"));
        None
    }
}

/// The value in words, whatever it is, cut where it is long.
#[expect(clippy::unnecessary_wraps, reason = "one of several readers")]
fn words(place: &Place<'_>) -> Result<String, Misfit> {
    const LONGEST: usize = 80;
    let text = match &place.node().value {
        Value::Text(text) => text.clone(),
        _ => place.node().to_compact(),
    };
    let mut cut: String = text.chars().take(LONGEST).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    Ok(cut)
}

/// Numbers, without a path for each: there are many.
fn samples(place: &Place<'_>) -> Result<Vec<f64>, Misfit> {
    let items = place.node().items().ok_or_else(|| place.misfit("a list of numbers"))?;
    let numbers: Option<Vec<f64>> = items.iter().map(number).collect();
    numbers.ok_or_else(|| match place.items("a list").map(|mut items| items.find(|item| item.number().is_err())) {
        Ok(Some(odd)) => odd.misfit("a number"),
        _ => place.misfit("a list of numbers"),
    })
}

fn kernels(place: &Place<'_>) -> Result<Vec<Kernel>, Misfit> {
    let number = |node: &Node, key: &str| node.get(key).and_then(number);
    place
        .items("a list of kernels")?
        .map(|item| {
            let name = item.required("name", "a kernel's name")?.text()?.to_owned();
            let node = item.node();
            Ok(Kernel { name, us: number(node, "us"), pct: number(node, "pct"), calls: number(node, "calls") })
        })
        .collect()
}

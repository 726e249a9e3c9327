//! Figures of the physical model, side by side: the rows that page and command line share.

use crate::batch::Batch;
use crate::estimate::Breakdown;
use crate::format::{NONE, Unit, capacity, duration, grouped, percent, si, significant};
use crate::step::preset::{CALIBRATED, IDEAL};
use crate::step::{OnHardware, Rates};
use crate::units::Seconds;

/// What the figures of a scenario are read from.
#[derive(Clone, Copy, Debug)]
pub struct Figures<'a> {
    /// The cost of a GPU of the slowest stage.
    pub per_gpu: &'a Breakdown,
    /// What fits, and how long a step takes.
    pub on: &'a OnHardware,
    /// The longest KV length of the batch.
    pub longest: u64,
}

impl<'a> Figures<'a> {
    /// The figures of a batch on an accelerator.
    #[must_use]
    pub fn of(per_gpu: &'a Breakdown, on: &'a OnHardware, batch: &Batch) -> Self {
        let longest = batch.groups().iter().map(|group| group.context).max().unwrap_or(1);
        Self { per_gpu, on, longest }
    }
}

/// A row: what it says, and how it says that of a scenario.
type Row = (&'static str, fn(&Figures<'_>) -> String);

/// The rows in order. Times and rates go from the ideal bound to what is expected, or the other way: small to large.
pub const ROWS: &[Row] = &[
    ("weights per GPU", |f| capacity(f.on.fit.weights())),
    ("KV cache of a token, per GPU", |f| {
        let (bytes, every) = f.on.fit.token();
        si(bytes as f64 / every.max(1) as f64, Unit::BYTE)
    }),
    ("fits", |f| if f.on.fit.fits() { "yes" } else { "no" }.to_owned()),
    ("tokens of KV cache, a replica", |f| f.on.fit.tokens().map_or_else(none, grouped)),
    ("sequences of the longest request, a replica", |f| f.on.fit.sequences(f.longest).map_or_else(none, grouped)),
    ("FLOPs per GPU", |f| si(f.per_gpu.cost().flops.as_f64(), Unit::FLOP)),
    ("bytes per GPU", |f| si(f.per_gpu.cost().moved().as_f64(), Unit::BYTE)),
    ("bound by", |f| f.on.step.limit().label().to_owned()),
    ("step", |f| between(f.on.bound.latency, f.on.expected.latency)),
    ("of that, communication", |f| between(f.on.step.talking(&IDEAL), f.on.step.talking(&f.on.preset))),
    ("time per output token", |f| {
        if f.on.bound.decodes { between(f.on.bound.per_output_token, f.on.expected.per_output_token) } else { none() }
    }),
    ("tokens/s in all", |f| rates(f, |rates| si(rates.tokens_per_second, Unit::TOKEN_PER_SECOND))),
    ("tokens/s per GPU", |f| rates(f, |rates| si(rates.per_gpu, Unit::TOKEN_PER_SECOND))),
    ("MFU", |f| rates(f, |rates| percent(rates.compute_used))),
    ("MBU", |f| rates(f, |rates| percent(rates.bandwidth_used))),
    ("energy of a token, at board power", |f| {
        costs(f, |rates| rates.joules_per_token.map_or_else(none, |joules| si(joules, Unit::JOULE)))
    }),
    ("price of 10⁶ tokens", |f| costs(f, |rates| rates.price_per_million.map_or_else(none, significant))),
];

/// From the bound to the time that is expected: one number would say too much.
#[must_use]
pub fn between(bound: Seconds, expected: Seconds) -> String {
    format!("{} – {}", duration(bound), duration(expected))
}

/// What grows with the speed, from what is expected to what the bound allows.
fn rates(of: &Figures<'_>, text: fn(&Rates) -> String) -> String {
    range(&text(&of.on.expected), &text(&of.on.bound))
}

/// What shrinks with the speed, from what the bound allows to what is expected.
fn costs(of: &Figures<'_>, text: fn(&Rates) -> String) -> String {
    range(&text(&of.on.bound), &text(&of.on.expected))
}

fn range(least: &str, most: &str) -> String {
    if least == NONE { none() } else { format!("{least} – {most}") }
}

/// What the time that is expected comes from.
#[must_use]
pub fn expectation(on: &OnHardware) -> String {
    let preset = &on.preset;
    let mut said = format!(
        "Expected is {}: computing at {} of the peaks, moving at {} of the bandwidths, {} a layer",
        preset.name,
        percent(preset.compute),
        percent(preset.bandwidth),
        duration(preset.layer)
    );
    if preset.latency.0 > 0.0 {
        said = format!("{said}, {} a step of a collective", duration(preset.latency));
    }
    let talks = on.step.stages.iter().any(|stage| !stage.collectives.is_empty());
    let switch = match on.links.in_switch {
        _ if !talks => "",
        true => " All-reduces inside a node are added up by its switch.",
        false => " All-reduces go round a ring; where a switch adds them up, say so, or the bound may be beaten.",
    };
    let beside = if talks && on.links.overlap > 0.0 {
        format!(" Up to {} of communication runs beside operations, in the bound, too.", percent(on.links.overlap))
    } else {
        String::new()
    };
    let fitted = if preset.name == CALIBRATED.name { " Never mixed up with the bound." } else { "" };
    let staged = match on.step.stages.len() {
        0 | 1 => "",
        _ => " Tokens a second are those of a full pipeline: with a batch in each of its stages.",
    };
    let drafter = if on.undrafted { " What drafts is not known: its time and memory are not counted." } else { "" };
    format!("{said}; {}.{fitted}{switch}{beside}{staged}{drafter}", preset.source)
}

fn none() -> String {
    NONE.to_owned()
}

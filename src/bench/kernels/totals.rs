//! What the events of a trace add up to.

use super::summary::{Kernel, Origin, Summary, share};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::HashMap;

/// What decides whether an event counts; everything else in it may be of any form.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default)]
    ph: Cow<'a, str>,
    #[serde(borrow, default)]
    cat: Cow<'a, str>,
}

/// An activity of the GPU.
#[derive(Deserialize)]
struct Activity<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    ts: f64,
    dur: f64,
}

/// What was added up.
#[derive(Debug, Default)]
pub(super) struct Totals {
    kernels: HashMap<String, (f64, u64)>,
    /// First start and last end, in µs.
    window: Option<(f64, f64)>,
    busy: f64,
    /// How many activities there were.
    pub(super) count: u64,
}

/// The same event with `inf`, `NaN` and their like as `null`, outside of strings.
fn without_bare_words(event: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(event.len());
    let (mut in_text, mut escaped, mut rest) = (false, false, event);
    while let Some((first, after)) = rest.split_first() {
        let word = ["-Infinity", "Infinity", "-inf", "inf", "-nan", "nan", "NaN"]
            .iter()
            .find(|word| !in_text && rest.starts_with(word.as_bytes()));
        if let Some(word) = word {
            out.extend_from_slice(b"null");
            rest = rest.get(word.len()..).unwrap_or_default();
            continue;
        }
        if *first == b'"' && !escaped {
            in_text = !in_text;
        }
        escaped = in_text && *first == b'\\' && !escaped;
        out.push(*first);
        rest = after;
    }
    out
}

impl Totals {
    /// Adds an event if it is an activity of the GPU.
    pub(super) fn add(&mut self, event: &[u8]) -> Result<(), String> {
        /// In µs: far above any time, and low enough that sums stay finite.
        const MOST: f64 = 1e18;
        let strict;
        let event = match serde_json::from_slice::<IgnoredAny>(event) {
            Ok(_) => event,
            // The profiler writes numbers that JSON does not have.
            Err(_) => {
                strict = without_bare_words(event);
                &strict
            }
        };
        let head: Head<'_> = serde_json::from_slice(event).map_err(|error| error.to_string())?;
        if head.ph != "X"
            || !["kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"]
                .iter()
                .any(|cat| head.cat.eq_ignore_ascii_case(cat))
        {
            return Ok(());
        }
        let Activity { name, ts, dur } = serde_json::from_slice(event).map_err(|error| error.to_string())?;
        if !(0.0..=MOST).contains(&dur) {
            return Err(format!("found {dur:?} for `dur`, expected microseconds, a number of 0 or more"));
        }
        if !(-MOST..=MOST).contains(&ts) {
            return Err(format!("found {ts:?} for `ts`, expected a time in microseconds"));
        }
        let (first, last) = self.window.unwrap_or((ts, ts));
        self.window = Some((first.min(ts), last.max(ts + dur)));
        self.busy += dur;
        self.count += 1;
        let known = match self.kernels.get_mut(name.as_ref()) {
            Some(known) => known,
            None => self.kernels.entry(name.into_owned()).or_default(),
        };
        known.0 += dur;
        known.1 += 1;
        Ok(())
    }

    /// What the events add up to.
    pub(super) fn summary(self) -> Summary {
        let busy = self.busy;
        let kernels = self.kernels.into_iter().map(|(name, (us, calls))| Kernel {
            example: Some(name.clone()),
            name,
            us,
            pct: share(us, busy).map(|share| share * 100.0),
            calls: calls as f64,
        });
        let mut kernels: Vec<_> = kernels.collect();
        kernels.sort_by(|a, b| b.us.total_cmp(&a.us).then_with(|| a.name.cmp(&b.name)));
        Summary {
            origin: Origin::Trace,
            trace: None,
            replays: None,
            span_us: self.window.map_or(0.0, |(first, last)| last - first),
            busy_us: busy,
            pre_forward_us: None,
            activities: self.count as f64,
            kernels,
        }
    }
}

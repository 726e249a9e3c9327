//! What the events of a trace add up to.

use super::scan::Nest;
use super::summary::{Kernel, Origin, Summary, share};
use crate::bench::order::{Names, largest_first};
use crate::{decimal, json};

/// What is read of an event, as it stands in the text; everything else in it may be of any form.
#[derive(Default)]
struct Event<'a> {
    ph: &'a [u8],
    cat: &'a [u8],
    name: &'a [u8],
    ts: &'a [u8],
    dur: &'a [u8],
}

impl<'a> Event<'a> {
    /// Splits an event into its own members. What is in lists and objects is stepped over, with the numbers that JSON
    /// does not have and the profiler writes there, such as `inf`.
    fn read(event: &'a [u8]) -> Option<Self> {
        let mut found = Self::default();
        let mut rest = event.strip_prefix(b"{")?.trim_ascii_start();
        if rest == b"}" {
            return Some(found);
        }
        loop {
            let (key, after) = value(rest)?;
            let (text, after) = value(after.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start())?;
            match key {
                b"\"ph\"" => found.ph = text,
                b"\"cat\"" => found.cat = text,
                b"\"name\"" => found.name = text,
                b"\"ts\"" => found.ts = text,
                b"\"dur\"" => found.dur = text,
                _ if key.starts_with(b"\"") => {}
                _ => return None,
            }
            match after.trim_ascii_start().split_first()? {
                (b',', next) => rest = next.trim_ascii_start(),
                (b'}', b"") => return Some(found),
                _ => return None,
            }
        }
    }

    fn is_activity(&self) -> bool {
        const CATEGORIES: [&[u8]; 5] =
            [b"\"kernel\"", b"\"gpu_memcpy\"", b"\"gpu_memset\"", b"\"memcpy\"", b"\"memset\""];
        self.ph == b"\"X\"" && CATEGORIES.iter().any(|cat| self.cat.eq_ignore_ascii_case(cat))
    }
}

/// The value that a text begins with, and what is behind it.
fn value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = match text.first()? {
        b'"' | b'{' | b'[' => Nest::default().end(text)?,
        _ => text
            .iter()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.'))?,
    };
    if end == 0 { None } else { text.split_at_checked(end) }
}

/// What stands for a key, in words.
fn shown(value: &[u8]) -> String {
    if value.is_empty() { "nothing".to_owned() } else { crate::format::quoted(&String::from_utf8_lossy(value)) }
}

fn number(value: &[u8]) -> Option<f64> {
    decimal::parse(std::str::from_utf8(value).ok()?)
}

fn name(value: &[u8]) -> Option<String> {
    json::parse(std::str::from_utf8(value).ok()?).ok()?.root.text().map(str::to_owned)
}

/// What was added up.
#[derive(Debug, Default)]
pub(super) struct Totals {
    names: Names,
    /// By the place of the name: name, time in µs, how often.
    kernels: Vec<(String, f64, u64)>,
    /// First start and last end, in µs.
    window: Option<(f64, f64)>,
    busy: f64,
    /// How many activities there were.
    pub(super) count: u64,
}

impl Totals {
    /// Adds an event if it is an activity of the GPU.
    pub(super) fn add(&mut self, event: &[u8]) -> Result<(), String> {
        /// In µs: far above any time, and low enough that sums stay finite.
        const MOST: f64 = 1e18;
        let Some(event) = Event::read(event) else {
            return Err("it is no JSON object".to_owned());
        };
        if !event.is_activity() {
            return Ok(());
        }
        let Some(dur) = number(event.dur).filter(|dur| (0.0..=MOST).contains(dur)) else {
            return Err(format!("found {} for `dur`, expected microseconds, a number of 0 or more", shown(event.dur)));
        };
        let Some(ts) = number(event.ts).filter(|ts| (-MOST..=MOST).contains(ts)) else {
            return Err(format!("found {} for `ts`, expected a time in microseconds", shown(event.ts)));
        };
        let Some(name) = name(event.name) else {
            return Err(format!("found {} for `name`, expected a text", shown(event.name)));
        };
        let (first, last) = self.window.unwrap_or((ts, ts));
        self.window = Some((first.min(ts), last.max(ts + dur)));
        self.busy += dur;
        self.count += 1;
        let place = self.names.place(&name);
        if place == self.kernels.len() {
            self.kernels.push((name, 0.0, 0));
        }
        if let Some((_, us, calls)) = self.kernels.get_mut(place) {
            *us += dur;
            *calls += 1;
        }
        Ok(())
    }

    /// What the events add up to.
    pub(super) fn summary(self) -> Summary {
        let busy = self.busy;
        let kernels = self.kernels.into_iter().map(|(name, us, calls)| Kernel {
            example: Some(name.clone()),
            name,
            us,
            pct: share(us, busy).map(|share| share * 100.0),
            calls: calls as f64,
        });
        let kernels = largest_first(kernels.collect(), |kernel: &Kernel| (kernel.us, &kernel.name));
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

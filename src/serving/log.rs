//! A pasted server log: what its estimator wrote among other lines, behind any prefix.
//!
//! Two things are looked for. `MFU: <x.x> TF/s/device <y.y> GB/s/device`, once an interval, where older servers write
//! `GPU` for `device`. And `MFU details: ` with indented JSON over several lines, each of which a logger may have given
//! its own prefix, and between which other lines may stand.

use super::details::{Details, DetailsError, read};
use super::exposition::number;

/// What a log holds of the estimator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// The rates of intervals, in order.
    pub intervals: Vec<Interval>,
    /// The details, in order.
    pub details: Vec<Found>,
    /// What looked like one of both and could not be read, as sentences.
    pub problems: Vec<String>,
}

/// Average rates of one interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// The line, from 1.
    pub line: usize,
    /// What stands before `MFU:` and names the engine, such as `Engine 000`; may be empty.
    pub engine: String,
    /// 10^12 FLOPs per second and device, one decimal.
    pub tflops: f64,
    /// 10^9 bytes per second and device, one decimal.
    pub gbps: f64,
}

/// Details and where they begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The line, from 1.
    pub line: usize,
    /// What names the engine, as in an [`Interval`].
    pub engine: String,
    /// The details.
    pub details: Details,
}

/// A log without anything of the estimator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Nothing of the estimator is in these {0} lines; expected a line such as `MFU: 12.3 TF/s/device 456.7 \
     GB/s/device`, or `MFU details: ` and JSON, which a server writes at debug level with VLLM_DEBUG_MFU_METRICS=1."
)]
pub struct NothingFound(pub usize);

const RATE: &str = "MFU: ";
const DETAILS: &str = "MFU details: ";

/// Details are a few dozen lines; so many more may stand between them before they count as cut off.
const MOST_LINES: usize = 2000;

/// Looks through a log. The JSON of the details alone will do, too.
///
/// # Errors
/// Where nothing is found.
pub fn scan(text: &str) -> Result<Log, NothingFound> {
    let mut log = Log::default();
    let trimmed = text.trim_start_matches('\u{feff}').trim_start();
    if trimmed.starts_with('{') && trimmed.contains("\"flops_breakdown\"") && !trimmed.contains(DETAILS) {
        log.take(1, String::new(), read(trimmed));
        return Ok(log);
    }
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        if let Some((before, json)) = line.split_once(DETAILS) {
            let rest = lines.get(at + 1..).unwrap_or_default();
            match gathered(json, rest) {
                Some(json) => log.take(at + 1, engine(before), read(&json)),
                None => log.problems.push(format!(
                    "Line {}: the JSON of the MFU details does not end; expected the lines up to its last `}}`.",
                    at + 1
                )),
            }
        } else if let Some((before, rates)) = line.split_once(RATE)
            && rates.contains("/s/")
        {
            match interval(rates) {
                Some((tflops, gbps)) => {
                    log.intervals.push(Interval { line: at + 1, engine: engine(before), tflops, gbps });
                }
                None => log.problems.push(format!(
                    "Line {}: found {}; expected `<x.x> TF/s/device <y.y> GB/s/device`.",
                    at + 1,
                    crate::format::quoted(rates.trim())
                )),
            }
        }
    }
    let found = log.intervals.len() + log.details.len() + log.problems.len();
    if found == 0 { Err(NothingFound(lines.len())) } else { Ok(log) }
}

impl Log {
    fn take(&mut self, line: usize, engine: String, details: Result<Details, DetailsError>) {
        match details {
            Ok(details) => self.details.push(Found { line, engine, details }),
            Err(error) => self.problems.push(format!("The MFU details of line {line}: {error}")),
        }
    }
}

/// `12.3 TF/s/device 456.7 GB/s/device` with anything after it.
fn interval(text: &str) -> Option<(f64, f64)> {
    let mut words = text.split_whitespace();
    let tflops = number(words.next()?)?;
    let first = words.next()?;
    let gbps = number(words.next()?)?;
    let second = words.next()?.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let fits = matches!((first, second), ("TF/s/device", "GB/s/device") | ("TF/s/GPU", "GB/s/GPU"));
    (fits && tflops.is_finite() && gbps.is_finite()).then_some((tflops, gbps))
}

/// The name of an engine at the end of a prefix: `... Engine 000: `.
fn engine(prefix: &str) -> String {
    let prefix = prefix.trim_end().trim_end_matches(':');
    let start = prefix.rfind("Engine ").filter(|start| {
        let number = prefix.get(start + 7..).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    });
    start.and_then(|start| prefix.get(start..)).unwrap_or_default().to_owned()
}

/// JSON that begins with `first` and goes on over the following lines, without their prefixes and without the lines
/// between that are none of it; `None` if it does not end.
fn gathered(first: &str, rest: &[&str]) -> Option<String> {
    let mut json = first.trim().to_owned();
    let mut depth = depth_after(0, &json)?;
    for line in rest.iter().take(MOST_LINES) {
        if depth == 0 {
            break;
        }
        if line.contains(DETAILS) {
            return None;
        }
        if let Some(part) = json_part(line) {
            json.push('\n');
            json.push_str(part);
            depth = depth_after(depth, part)?;
        }
    }
    (depth == 0).then_some(json)
}

/// The end of a line that is a line of indented JSON: `"key": value,`, `"key": {`, `}` or `},`.
fn json_part(line: &str) -> Option<&str> {
    let line = line.trim_end();
    if line.ends_with('}') || line.ends_with("},") {
        let start = line.rfind('}')?;
        // `{}` closes itself and belongs to its key; a brace must stand alone behind a prefix.
        let alone = line.get(..start)?.chars().next_back().is_none_or(char::is_whitespace);
        if alone {
            return line.get(start..);
        }
    }
    let colon = line.rfind("\": ")?;
    let key = line.get(..colon)?;
    let start = key.rfind('"')?;
    let name = key.get(start + 1..)?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
    let alone = key.get(..start)?.chars().next_back().is_none_or(char::is_whitespace);
    let value = line.get(colon + 3..)?.trim_end_matches(',');
    let is_value = matches!(value, "{" | "{}")
        || number(value).is_some()
        || (value.len() > 1 && value.starts_with('"') && value.ends_with('"'));
    (is_name && alone && is_value).then(|| line.get(start..)).flatten()
}

/// How many braces are open after a part; strings of these details hold none. `None` if more close than open.
fn depth_after(depth: usize, part: &str) -> Option<usize> {
    part.bytes().try_fold(depth, |depth, byte| match byte {
        b'{' => Some(depth + 1),
        b'}' => depth.checked_sub(1),
        _ => Some(depth),
    })
}

//! A Chrome trace, as torch's profiler writes it, added up to the same summary.
//!
//! `{"traceEvents": [{"ph": "X", "cat": "kernel", "name": ..., "ts": ..., "dur": ...}, ...], ...}`, or the list alone;
//! `ts` and `dur` are microseconds. What the GPU did are the complete events (`ph` is `X`) of the categories `kernel`,
//! `gpu_memcpy` and `gpu_memset`. Per name, `us` is the sum of `dur` and `calls` the number of events; span is from the
//! first start to the last end, busy the sum of all, as vLLM defines them. Names are kept as they are. A trace does not
//! say what is the forward part: nothing is left out as work before it, and all that was recorded counts.
//!
//! The text arrives in pieces. Only one event is held at a time, beside the totals by name; what is around the events
//! is stepped over, and not checked beyond its brackets. Where `ts` counts from 1970, an `f64` resolves a quarter of a
//! microsecond, and so does the span; `dur` is not affected.

use super::scan::Nest;
use super::summary::Summary;
use super::totals::Totals;

/// The largest trace that is read, in bytes when unpacked.
pub const MAX_TRACE: u64 = 200 << 20;

/// The largest event that is read, in bytes.
pub const MAX_EVENT: usize = 1 << 20;

/// Reads a trace piece by piece.
#[derive(Debug, Default)]
pub struct Trace {
    state: State,
    nest: Nest,
    /// The beginning of an event or a key whose end has not arrived.
    held: Vec<u8>,
    /// Where that event begins.
    event_at: u64,
    read: u64,
    limit: Limit,
    /// The events are in an object, not a list of their own.
    in_object: bool,
    /// The list of events was there.
    listed: bool,
    events: u64,
    totals: Totals,
    failed: Option<TraceError>,
}

/// The most bytes that are read.
#[derive(Clone, Copy, Debug)]
struct Limit(u64);

impl Default for Limit {
    fn default() -> Self {
        Self(MAX_TRACE)
    }
}

/// What is expected next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The whole value.
    #[default]
    Start,
    /// A key of the outer object, or its end.
    Key,
    /// The rest of a key.
    InKey,
    /// The colon after a key; whether that is the list of events.
    Colon(bool),
    /// The value after a key; whether that is the list of events.
    Value(bool),
    /// The rest of a number or a word.
    Scalar,
    /// The rest of a value that is not used.
    Skipped,
    /// An event, or the end of the list.
    Events,
    /// The rest of an event.
    Event,
    /// Nothing.
    End,
}

/// Why a text is no trace that can be summarised. Places are bytes of the unpacked text, from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// It begins or goes on like something else.
    #[error(
        "The file is not a Chrome trace: found {found} at byte {at}, expected {expected} (a trace of torch's profiler \
         is `{{\"traceEvents\": [...]}}` or a list of events)."
    )]
    Unexpected {
        /// Where.
        at: u64,
        /// What is there.
        found: String,
        /// What should be there.
        expected: &'static str,
    },
    /// There is nothing in it.
    #[error("The file is empty; expected a Chrome trace of torch's profiler.")]
    Empty,
    /// It is an object without a list of events.
    #[error("The file is not a Chrome trace: it is a JSON object without `traceEvents`.")]
    NoEvents,
    /// It ends early.
    #[error("The trace ends early, after {0} bytes; expected its closing brackets.")]
    Truncated(u64),
    /// An event is not JSON, or lacks something.
    #[error("The event at byte {at} of the trace cannot be used: {reason}.")]
    Event {
        /// Where it begins.
        at: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// An event is too large.
    #[error("The event at byte {0} of the trace is larger than 1 MiB, the most that is read.")]
    LargeEvent(u64),
    /// The trace is too large.
    #[error("The trace is larger than 200 MiB unpacked, the most that is read; record fewer iterations.")]
    TooLarge,
    /// The GPU did nothing in it.
    #[error(
        "The trace has {0} events, but none of the GPU (category kernel, gpu_memcpy or gpu_memset); record it with the \
         profiler's CUDA activities."
    )]
    NoActivities(u64),
    /// It is packed, but does not unpack.
    #[error("The file does not unpack as gzip: {0}.")]
    Packed(&'static str),
}

impl Trace {
    /// A reader that has read nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A reader with a limit that a test can reach.
    #[cfg(test)]
    pub(super) fn limited(bytes: u64) -> Self {
        Self { limit: Limit(bytes), ..Self::default() }
    }

    /// Reads the next bytes of the text.
    ///
    /// # Errors
    /// Where the text is no trace, or one that is too large. The same error is returned from then on.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.feed(bytes).inspect_err(|error| self.failed = Some(error.clone()))
    }

    /// How many bytes of the text have been read.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.read
    }

    /// The summary, at the end of the text.
    ///
    /// # Errors
    /// Where the text ends early or has no activity of the GPU, and where [`Self::push`] failed.
    pub fn finish(self) -> Result<Summary, TraceError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        match self.state {
            State::End if !self.listed => Err(TraceError::NoEvents),
            State::End if self.totals.count == 0 => Err(TraceError::NoActivities(self.events)),
            State::End => Ok(self.totals.summary()),
            State::Start => Err(TraceError::Empty),
            _ => Err(TraceError::Truncated(self.read)),
        }
    }

    fn feed(&mut self, mut rest: &[u8]) -> Result<(), TraceError> {
        if self.read.saturating_add(rest.len() as u64) > self.limit.0 {
            return Err(TraceError::TooLarge);
        }
        while let Some(&byte) = rest.first() {
            let taken = match self.state {
                State::Event => self.event(rest)?,
                State::InKey => self.key(rest)?,
                State::Skipped => match self.nest.end(rest) {
                    Some(end) => self.then(State::Key, end),
                    None => rest.len(),
                },
                _ => self.byte(byte)?,
            };
            self.read += taken as u64;
            rest = rest.get(taken..).unwrap_or_default();
        }
        Ok(())
    }

    /// One byte between values. Returns how many were used up: none where a value begins here.
    fn byte(&mut self, byte: u8) -> Result<usize, TraceError> {
        let blank = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        // The three bytes of a byte-order mark.
        let mark = matches!((self.read, byte), (0, 0xef) | (1, 0xbb) | (2, 0xbf));
        let (next, taken) = match (self.state, byte) {
            (State::Start, _) if mark => (State::Start, 1),
            (state @ State::Scalar, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'+' | b'-' | b'.') => (state, 1),
            (State::Scalar, _) => (State::Key, 0),
            (state, _) if blank => (state, 1),
            (state @ (State::Key | State::Events), b',') => (state, 1),
            (State::Start, b'{') => {
                self.in_object = true;
                (State::Key, 1)
            }
            (State::Start | State::Value(true), b'[') => {
                self.listed = true;
                (State::Events, 1)
            }
            (State::Key, b'}') => (State::End, 1),
            (State::Key, b'"') => (State::InKey, 0),
            (State::Colon(events), b':') => (State::Value(events), 1),
            (State::Value(false), b'{' | b'[' | b'"') => (State::Skipped, 0),
            (State::Value(false), b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-') => (State::Scalar, 0),
            (State::Events, b'{') => {
                self.event_at = self.read + 1;
                (State::Event, 0)
            }
            (State::Events, b']') if self.in_object => (State::Key, 1),
            (State::Events, b']') => (State::End, 1),
            _ => return Err(self.unexpected(byte)),
        };
        if matches!(next, State::Event | State::InKey | State::Skipped) {
            self.nest = Nest::default();
            self.held.clear();
        }
        Ok(self.then(next, taken))
    }

    fn then(&mut self, state: State, taken: usize) -> usize {
        self.state = state;
        taken
    }

    fn unexpected(&self, byte: u8) -> TraceError {
        let found = if byte.is_ascii_graphic() { format!("`{}`", char::from(byte)) } else { format!("byte {byte}") };
        let expected = match self.state {
            State::Start => "`{` or `[`",
            State::Key => "a key in double quotes or `}`",
            State::Colon(_) => "`:`",
            State::Value(true) => "the list of `traceEvents`",
            State::Events => "an event in braces or `]`",
            State::End => "nothing after the trace",
            _ => "a value",
        };
        TraceError::Unexpected { at: self.read + 1, found, expected }
    }

    /// The rest of a key, as far as it has arrived.
    fn key(&mut self, rest: &[u8]) -> Result<usize, TraceError> {
        let end = self.nest.end(rest);
        let taken = end.unwrap_or(rest.len());
        self.hold(rest, taken)?;
        if end.is_some() {
            self.state = State::Colon(self.held == b"\"traceEvents\"");
        }
        Ok(taken)
    }

    /// The rest of an event, as far as it has arrived.
    fn event(&mut self, rest: &[u8]) -> Result<usize, TraceError> {
        let Some(end) = self.nest.end(rest) else {
            self.hold(rest, rest.len())?;
            return Ok(rest.len());
        };
        let fail = |reason: String| TraceError::Event { at: self.event_at, reason };
        if self.held.is_empty() {
            // An event that arrived in one piece, as nearly all do, is read where it is.
            if end > MAX_EVENT {
                return Err(TraceError::LargeEvent(self.event_at));
            }
            self.totals.add(rest.get(..end).unwrap_or_default()).map_err(fail)?;
        } else {
            self.hold(rest, end)?;
            let fail = |reason: String| TraceError::Event { at: self.event_at, reason };
            self.totals.add(&self.held).map_err(fail)?;
        }
        self.events += 1;
        Ok(self.then(State::Events, end))
    }

    fn hold(&mut self, rest: &[u8], length: usize) -> Result<(), TraceError> {
        if self.held.len().saturating_add(length) > MAX_EVENT {
            return Err(match self.state {
                State::Event => TraceError::LargeEvent(self.event_at),
                _ => TraceError::Unexpected {
                    at: self.read + 1,
                    found: "a key of more than 1 MiB".to_owned(),
                    expected: "a key such as \"traceEvents\"",
                },
            });
        }
        self.held.extend_from_slice(rest.get(..length).unwrap_or_default());
        Ok(())
    }
}

#[cfg(test)]
mod tests;

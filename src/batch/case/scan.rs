//! The grammar of an item, `[N*]Q[@K][c][:D]`, and where each part of it stands.

use std::ops::Range;

use super::{Field, RequestError};

/// A number or mark of an item and where it stands.
pub(super) struct Part {
    pub(super) number: u64,
    pub(super) bytes: Range<usize>,
}

/// An item taken apart by the grammar, whatever its numbers say.
pub(super) struct Parts {
    pub(super) count: Option<Part>,
    pub(super) query: Part,
    pub(super) kv: Option<Part>,
    pub(super) chunked: Option<Part>,
    pub(super) drafts: Option<Part>,
}

impl Parts {
    /// The part that an error is about, if it was written.
    pub(super) fn of(&self, error: RequestError) -> Option<&Part> {
        match error.field() {
            Field::Count => self.count.as_ref(),
            Field::Query => Some(&self.query),
            Field::Kv => self.kv.as_ref().or(Some(&self.query)),
            Field::Chunked => self.chunked.as_ref(),
            Field::Drafts => self.drafts.as_ref(),
        }
    }
}

/// Reads an item from its start.
pub(super) struct Scanner<'a> {
    item: &'a str,
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(item: &'a str) -> Self {
        Self { item, rest: item }
    }

    /// What is not read yet.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Where that begins, in bytes.
    pub(super) fn at(&self) -> usize {
        self.item.len() - self.rest.len()
    }

    /// The whole item, or `None` with the scanner at the first character that does not fit.
    pub(super) fn parts(&mut self) -> Option<Parts> {
        let first = self.number()?;
        let (count, query) = if self.mark('*').is_some() { (Some(first), self.number()?) } else { (None, first) };
        let kv = if self.mark('@').is_some() { Some(self.number()?) } else { None };
        let chunked = self.mark('c');
        let drafts = if self.mark(':').is_some() { Some(self.number()?) } else { None };
        self.rest.is_empty().then_some(Parts { count, query, kv, chunked, drafts })
    }

    /// ASCII digits, at least one. More than fit are the largest number, which every limit refuses.
    fn number(&mut self) -> Option<Part> {
        let start = self.at();
        let after = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = self.rest.strip_suffix(after).filter(|digits| !digits.is_empty())?;
        self.rest = after;
        Some(Part { number: digits.parse().unwrap_or(u64::MAX), bytes: start..self.at() })
    }

    fn mark(&mut self, mark: char) -> Option<Part> {
        let start = self.at();
        self.rest = self.rest.strip_prefix(mark)?;
        Some(Part { number: 1, bytes: start..self.at() })
    }
}

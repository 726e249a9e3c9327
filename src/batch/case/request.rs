//! One item of a case: equal requests, and what kind of work they are.

use super::{Field, RequestError};
use crate::batch::Phase;
use crate::batch::count::LARGEST;

/// The most requests that one item may stand for: far beyond any step, and small enough that sums of tokens are exact.
pub const LARGEST_COUNT: u64 = 1_000_000_000;

/// The largest number of tokens, new, cached or drafted: 2^53.
pub const LARGEST_TOKENS: u64 = LARGEST;

/// Equal requests of a case, valid by construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    count: u64,
    query: u64,
    kv: u64,
    drafts: u64,
    chunked: bool,
}

/// What a request asks of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One token behind a cached prefix.
    Decode,
    /// One token and its drafts behind a cached prefix, all of them checked at once.
    Verify,
    /// A prompt with nothing cached.
    Fresh,
    /// A later chunk of a prompt, whose earlier chunks this request computed.
    Chunked,
    /// A prompt whose beginning was found in the prefix cache.
    PrefixHit,
}

impl Request {
    /// `count` requests of `query` new tokens at KV length `kv` after the step, with `drafts` draft tokens, their
    /// prefix computed in earlier chunks if `chunked`.
    ///
    /// # Errors
    /// If they make no request; the first part that is wrong in the order of [`Field`], drafts before `chunked`.
    pub fn new(count: u64, query: u64, kv: u64, drafts: u64, chunked: bool) -> Result<Self, RequestError> {
        let parts = [(Field::Count, count), (Field::Query, query), (Field::Kv, kv), (Field::Drafts, drafts)];
        if let Some(&(field, _)) = parts.iter().find(|(field, number)| *number > field.limit()) {
            return Err(RequestError::TooLarge(field));
        }
        let request = Self { count, query, kv, drafts, chunked };
        if count == 0 {
            return Err(RequestError::NoCount);
        }
        if query == 0 {
            return Err(RequestError::NoQuery);
        }
        if kv < query {
            return Err(RequestError::KvTooShort { query, kv });
        }
        if drafts > 0 && query != drafts.saturating_add(1) {
            return Err(RequestError::DraftsMismatch { query, drafts });
        }
        if drafts > 0 && kv == query {
            return Err(RequestError::DraftsWithoutPrefix { query });
        }
        if chunked && kv == query {
            return Err(RequestError::ChunkedWithoutPrefix { query });
        }
        if chunked && request.phase() == Phase::Decode {
            return Err(RequestError::ChunkedDecode(request.kind()));
        }
        Ok(request)
    }

    /// N: how many such requests, 1 to [`LARGEST_COUNT`].
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Q: new tokens of each, at least 1.
    #[must_use]
    pub fn query(&self) -> u64 {
        self.query
    }

    /// K: KV length of each after the step, in tokens, at least Q.
    #[must_use]
    pub fn kv(&self) -> u64 {
        self.kv
    }

    /// D: draft tokens of each.
    #[must_use]
    pub fn drafts(&self) -> u64 {
        self.drafts
    }

    /// Whether the prefix was computed by earlier chunks of the same request.
    #[must_use]
    pub fn chunked(&self) -> bool {
        self.chunked
    }

    /// K - Q: tokens that were in the KV cache before the step.
    #[must_use]
    pub fn prefix(&self) -> u64 {
        self.kv.saturating_sub(self.query)
    }

    /// What the request is: behind a prefix, a query of 1 + D is a decode or verify; all else is a prefill.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match (self.prefix() > 0, self.drafts > 0) {
            (false, _) => Kind::Fresh,
            (true, true) => Kind::Verify,
            (true, false) if self.query == 1 => Kind::Decode,
            (true, false) if self.chunked => Kind::Chunked,
            (true, false) => Kind::PrefixHit,
        }
    }

    /// The phase that vLLM's benchmark puts it in.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match self.kind() {
            Kind::Decode | Kind::Verify => Phase::Decode,
            Kind::Fresh | Kind::Chunked | Kind::PrefixHit => Phase::Prefill,
        }
    }

    /// Both as one item, if they are equal but for their counts and these fit one.
    pub(super) fn merged(self, other: Self) -> Option<Self> {
        let count = self.count.checked_add(other.count).filter(|&count| count <= LARGEST_COUNT)?;
        let merged = Self { count, ..self };
        (merged == Self { count, ..other }).then_some(merged)
    }
}

impl Kind {
    /// Every kind, as an input lists them.
    pub const ALL: [Self; 5] = [Self::Decode, Self::Verify, Self::Fresh, Self::Chunked, Self::PrefixHit];

    /// Its name for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Verify => "verify",
            Self::Fresh => "fresh prefill",
            Self::Chunked => "chunked prefill",
            Self::PrefixHit => "prefix hit",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn kind(query: u64, kv: u64, drafts: u64, chunked: bool, expected: Kind) {
        assert_eq!(Request::new(1, query, kv, drafts, chunked).map(|request| request.kind()), Ok(expected));
    }

    #[test]
    fn kinds() {
        kind(1, 8192, 0, false, Kind::Decode);
        kind(4, 4096, 3, false, Kind::Verify);
        kind(8192, 8192, 0, false, Kind::Fresh);
        kind(1, 1, 0, false, Kind::Fresh);
        kind(8192, 40960, 0, true, Kind::Chunked);
        kind(8192, 40960, 0, false, Kind::PrefixHit);
        kind(2, 3, 1, false, Kind::Verify);
    }

    #[test]
    fn limits_and_the_first_wrong_part() {
        let new = |count, query, kv, drafts| Request::new(count, query, kv, drafts, false);
        let most = LARGEST_TOKENS;
        assert!(new(LARGEST_COUNT, 1, most, 0).is_ok());
        assert!(new(1, most, most, 0).is_ok());
        assert_eq!(new(LARGEST_COUNT + 1, 0, 0, 0), Err(RequestError::TooLarge(Field::Count)));
        assert_eq!(new(1, 1, most + 1, 0), Err(RequestError::TooLarge(Field::Kv)));
        assert_eq!(new(1, 1, 8, u64::MAX), Err(RequestError::TooLarge(Field::Drafts)));
        assert_eq!(new(0, 0, 8, 0), Err(RequestError::NoCount));
        assert_eq!(new(1, 0, 0, 0).map_err(RequestError::field), Err(Field::Query));
    }
}

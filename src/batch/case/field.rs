//! Why numbers make no request, and which of them is to blame.

use thiserror::Error;

use super::{Kind, LARGEST_COUNT, LARGEST_TOKENS};

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// N, the number of such requests.
    Count,
    /// Q, the new tokens.
    Query,
    /// K, the KV length after the step.
    Kv,
    /// The mark `c`.
    Chunked,
    /// D, the draft tokens.
    Drafts,
}

/// Why numbers make no request. The message says what was found and what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RequestError {
    /// A number above its limit.
    #[error("The {} is too large; expected at most {}.", .0.label(), .0.limit())]
    TooLarge(Field),
    /// N = 0.
    #[error("The number of requests is 0; expected at least 1.")]
    NoCount,
    /// Q = 0.
    #[error("The query length is 0; expected at least 1 new token.")]
    NoQuery,
    /// K < Q.
    #[error("The KV length {kv} is shorter than the {query} new tokens that it includes; expected at least {query}.")]
    KvTooShort {
        /// Q.
        query: u64,
        /// K.
        kv: u64,
    },
    /// D > 0 and Q is not 1 + D.
    #[error(
        "The query length is {query}, with {drafts} drafts; expected 1 + drafts = {} new tokens.",
        .drafts.saturating_add(1)
    )]
    DraftsMismatch {
        /// Q.
        query: u64,
        /// D.
        drafts: u64,
    },
    /// D > 0 and nothing cached.
    #[error("Drafts are verified behind a cached prefix, and there is none; expected a KV length above {query}.")]
    DraftsWithoutPrefix {
        /// Q.
        query: u64,
    },
    /// `c` and nothing cached.
    #[error(
        "`c` marks a prefix as computed in chunks, and there is none; expected a KV length above {query}, or no `c`."
    )]
    ChunkedWithoutPrefix {
        /// Q.
        query: u64,
    },
    /// `c` on a decode or verify.
    #[error("`c` is for a prefill, and this is a {}; expected no `c`.", .0.label())]
    ChunkedDecode(Kind),
}

impl Field {
    fn label(self) -> &'static str {
        match self {
            Self::Count => "number of requests",
            Self::Query => "query length",
            Self::Kv => "KV length",
            Self::Chunked => "mark `c`",
            Self::Drafts => "number of drafts",
        }
    }

    /// The largest value.
    pub(super) fn limit(self) -> u64 {
        match self {
            Self::Count => LARGEST_COUNT,
            Self::Query | Self::Kv | Self::Drafts => LARGEST_TOKENS,
            Self::Chunked => 1,
        }
    }
}

impl RequestError {
    /// The part to look at.
    #[must_use]
    pub fn field(self) -> Field {
        match self {
            Self::TooLarge(field) => field,
            Self::NoCount => Field::Count,
            Self::NoQuery => Field::Query,
            Self::KvTooShort { .. } => Field::Kv,
            Self::DraftsMismatch { .. } | Self::DraftsWithoutPrefix { .. } => Field::Drafts,
            Self::ChunkedWithoutPrefix { .. } | Self::ChunkedDecode(_) => Field::Chunked,
        }
    }
}

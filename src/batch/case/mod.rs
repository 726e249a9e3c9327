//! The case language of `vllm bench forward`: the requests of one step as a line of text.
//!
//! A case is `NAME=REQS`, or only `REQS`, whose text is then its name; `REQS` is a list of `[N*]Q[@K][c][:D]` between
//! commas: N requests (1) of Q new tokens each, at KV length K after the step (Q), `c` if their prefix was computed by
//! their own earlier chunks, D draft tokens to verify. All counts are per data-parallel rank. A case is valid by
//! construction, and what it prints reads back as the same case.

mod error;
mod field;
mod parse;
mod print;
mod request;
mod scan;
mod suggest;

pub use error::{CaseError, Item, Problem, Span};
pub use field::{Field, RequestError};
pub use request::{Kind, LARGEST_COUNT, LARGEST_TOKENS, Request};

use super::{Batch, Group, Phase};

/// Named requests of one step; there is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    name: String,
    requests: Vec<Request>,
}

/// What an estimate takes a verify for. Equal to vLLM's benchmark as a decode; its serving counters, which go by the
/// number of new tokens, call every verify of more than one token a prefill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VerifyAs {
    /// As the benchmark does.
    #[default]
    Decode,
    /// As the serving counters do.
    Prefill,
}

/// What a case adds up to; sums saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Number of requests.
    pub requests: u128,
    /// New tokens of the prefills, of every kind.
    pub prefill_tokens: u128,
    /// New tokens of decodes and verifies.
    pub decode_tokens: u128,
    /// Tokens that need logits: the last one of a prefill, every one of a decode or verify.
    pub logits_tokens: u128,
}

impl Totals {
    /// All new tokens.
    #[must_use]
    pub fn tokens(&self) -> u128 {
        self.prefill_tokens.saturating_add(self.decode_tokens)
    }
}

impl Case {
    /// A case of these requests under a name, which loses the spaces around it.
    ///
    /// # Errors
    /// [`Problem::NoRequests`], [`Problem::EmptyName`], or [`Problem::NameWithEquals`], since the first `=` of a case
    /// ends its name.
    pub fn new(name: &str, requests: Vec<Request>) -> Result<Self, Problem> {
        let name = name.trim();
        if name.is_empty() {
            return Err(Problem::EmptyName);
        }
        if name.contains('=') {
            return Err(Problem::NameWithEquals);
        }
        if requests.is_empty() {
            return Err(Problem::NoRequests);
        }
        Ok(Self { name: name.to_owned(), requests })
    }

    /// A case that is named by its own text.
    ///
    /// # Errors
    /// [`Problem::NoRequests`] if there are none.
    pub fn unnamed(requests: Vec<Request>) -> Result<Self, Problem> {
        if requests.is_empty() {
            return Err(Problem::NoRequests);
        }
        Ok(Self { name: print::body(&requests), requests })
    }

    /// Reads a case.
    ///
    /// # Errors
    /// The first thing in the text that is not valid, with its place; see [`Problem`].
    pub fn parse(text: &str) -> Result<Self, CaseError> {
        parse::case(text)
    }

    /// The name, never empty, without spaces around it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The requests, in order; at least one.
    #[must_use]
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Whether somebody named the case: a name that spells its requests is only its text.
    #[must_use]
    pub fn is_named(&self) -> bool {
        Self::parse(&self.name).map_or(true, |case| case.requests != self.requests)
    }

    /// The same case with equal neighbours merged: `1@8,1@8` is `2*1@8`. Their order stays, and with it the prefixes
    /// that a jittered run draws for them; neighbours that pass [`LARGEST_COUNT`] together stay apart.
    #[must_use]
    pub fn compress(&self) -> Self {
        let mut requests: Vec<Request> = Vec::with_capacity(self.requests.len());
        for &request in &self.requests {
            match requests.last_mut().map(|last| (last.merged(request), last)) {
                Some((Some(both), last)) => *last = both,
                _ => requests.push(request),
            }
        }
        Self { name: self.name.clone(), requests }
    }

    /// The case as it prints: `NAME=REQS`, or only `REQS` where that is the name.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.to_string()
    }

    /// Only the requests, as they print.
    #[must_use]
    pub fn body(&self) -> String {
        print::body(&self.requests)
    }

    /// What the estimators take, with a verify as a decode.
    #[must_use]
    pub fn batch(&self) -> Batch {
        self.batch_with(VerifyAs::default())
    }

    /// What the estimators take.
    #[must_use]
    pub fn batch_with(&self, verify: VerifyAs) -> Batch {
        Batch::new(self.requests.iter().map(|request| {
            let phase = match (request.kind(), verify) {
                (Kind::Verify, VerifyAs::Prefill) => Phase::Prefill,
                _ => request.phase(),
            };
            Group { count: request.count(), tokens: request.query(), context: request.kv(), phase }
        }))
    }

    /// What the requests add up to, with a verify as a decode.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let batch = self.batch();
        let (prefill, decode) = (batch.sums(Phase::Prefill, None), batch.sums(Phase::Decode, None));
        Totals {
            requests: prefill.requests.saturating_add(decode.requests),
            prefill_tokens: prefill.tokens,
            decode_tokens: decode.tokens,
            logits_tokens: prefill.requests.saturating_add(decode.tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(text: &str) -> Case {
        Case::parse(text).unwrap()
    }

    #[test]
    fn a_batch_keeps_order_and_a_verify_is_what_the_caller_says() {
        let case = case("mix=8192,2*4@4096:3,32*1@8192");
        let group = |count, tokens, context, phase| Group { count, tokens, context, phase };
        let verify = group(2, 4, 4096, Phase::Decode);
        let (first, last) = (group(1, 8192, 8192, Phase::Prefill), group(32, 1, 8192, Phase::Decode));
        assert_eq!(case.batch(), Batch::new([first, verify, last]));
        let as_prefill = Group { phase: Phase::Prefill, ..verify };
        assert_eq!(case.batch_with(VerifyAs::Prefill), Batch::new([first, as_prefill, last]));
    }

    #[test]
    fn totals_count_logits_once_a_prefill_and_for_every_verified_token() {
        let totals = case("8192,2*2048@10240c,16*4@4096:3,32*1@8192").totals();
        assert_eq!(
            totals,
            Totals { requests: 51, prefill_tokens: 8192 + 4096, decode_tokens: 64 + 32, logits_tokens: 3 + 96 }
        );
        assert_eq!(totals.tokens(), 12384);
    }

    #[test]
    fn equal_neighbours_merge_and_only_they() {
        assert_eq!(case("a=1@8,2*1@8,4@8:3,4@8,4@8c,1@8").compress().to_text(), "a=3*1@8,4@8:3,4@8,4@8c,1@8");
        let apart = "1000000000*1@8,1@8";
        assert_eq!(case(apart).compress().body(), apart);
    }

    #[test]
    fn a_name_that_spells_the_requests_is_no_name() {
        assert!(!case(" 1*1@8 , 2").is_named());
        assert!(!case("1*1@8=1@8").is_named());
        assert!(case("a=1@8").is_named());
        assert!(case("1@9=1@8").is_named());
    }

    #[test]
    fn an_invalid_case_cannot_be_built() {
        let request = case("1@8").requests().to_vec();
        assert_eq!(Case::new(" ", request.clone()), Err(Problem::EmptyName));
        assert_eq!(Case::new("a=b", request.clone()), Err(Problem::NameWithEquals));
        assert_eq!(Case::new("a", Vec::new()), Err(Problem::NoRequests));
        assert_eq!(Case::unnamed(Vec::new()), Err(Problem::NoRequests));
        assert_eq!(Case::unnamed(request), Ok(case("1@8")));
    }
}

//! KV-length jitter: the lengths that `vllm bench forward` draws before it measures, request by request.
//!
//! Every request with a prefix gets a prefix of round(prefix * u), at least 1, with u uniform in 1 - J to 1 + J; the KV
//! length that follows is capped at the model's. The numbers are those of numpy's `default_rng([seed,
//! crc32(name)])`, so that a name and a seed say the batch exactly. Source: vLLM 0.33.0, `vllm bench forward
//! --kv-len-jitter`.

mod seed;

use super::case::{Case, Request, RequestError};
use crate::crc32::crc32;
use rand_core::Rng;
use thiserror::Error;

/// The most requests that are drawn: far beyond a step, and few enough to list.
pub const MOST_REQUESTS: u64 = 1_000_000;

/// How far KV lengths are spread, from which seed, and where they end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// J: prefixes vary by this part of them, 0 to 1. With 0 nothing is drawn.
    pub amount: f64,
    /// S.
    pub seed: u64,
    /// The longest sequence that the model is served with, in tokens; `None`: nothing is capped.
    pub max_model_len: Option<u64>,
}

/// vLLM's own defaults: half of the prefix up or down, from seed 0.
impl Default for Jitter {
    fn default() -> Self {
        Self { amount: 0.5, seed: 0, max_model_len: None }
    }
}

/// Why nothing was drawn.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum JitterError {
    /// J out of range.
    #[error("The jitter is {0}; expected 0 to 1, the part of a prefix that its length varies by.")]
    Amount(f64),
    /// A request that is longer than the model is served with, before any jitter.
    #[error("Request {index} of case {name}, `{request}`, has a KV length above max-model-len {limit}; \
        expected at most {limit}.", name = crate::format::quoted(.name))]
    TooLong {
        /// Which item of the case, from 1.
        index: usize,
        /// The case.
        name: String,
        /// The item.
        request: Request,
        /// The longest that is served.
        limit: u64,
    },
    /// More requests than are listed.
    #[error("The case has {0} requests; expected at most {MOST_REQUESTS} to draw a KV length for each.")]
    TooMany(u128),
    /// A length that no request has.
    #[error("Request {index}: {error}")]
    Request {
        /// Which item of the case, from 1.
        index: usize,
        /// What is wrong with it.
        error: RequestError,
    },
}

impl Jitter {
    /// The requests as they are measured: each on its own, in order, with the KV length that is drawn for it.
    ///
    /// # Errors
    /// See [`JitterError`]; a case that is too long for the model is an error whether it is jittered or not.
    pub fn draw(&self, case: &Case) -> Result<Vec<Request>, JitterError> {
        if !(0.0..=1.0).contains(&self.amount) {
            return Err(JitterError::Amount(self.amount));
        }
        let limit = self.max_model_len.unwrap_or(u64::MAX);
        if let Some((index, request)) = (1..).zip(case.requests()).find(|(_, request)| request.kv() > limit) {
            return Err(JitterError::TooLong { index, name: case.name().to_owned(), request: *request, limit });
        }
        let count = case.totals().requests;
        if count > MOST_REQUESTS.into() {
            return Err(JitterError::TooMany(count));
        }
        let (low, high) = (1.0 - self.amount, 1.0 + self.amount);
        let mut numbers = seed::generator(self.seed, crc32(case.name().as_bytes()));
        let mut drawn = Vec::new();
        for (index, request) in (1..).zip(case.requests()) {
            for _ in 0..request.count() {
                let mut kv = request.kv();
                if request.prefix() > 0 && self.amount > 0.0 {
                    // The top 53 bits, as a part of 1.
                    let part = (numbers.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                    let prefix = (request.prefix() as f64 * (low + (high - low) * part)).round_ties_even();
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2^54, and whole")]
                    let prefix = (prefix as u64).max(1);
                    kv = request.query().saturating_add(prefix).min(limit);
                }
                let one = Request::new(1, request.query(), kv, request.drafts(), request.chunked());
                drawn.push(one.map_err(|error| JitterError::Request { index, error })?);
            }
        }
        Ok(drawn)
    }

    /// The same as a case of that name, with equal neighbours merged.
    ///
    /// # Errors
    /// See [`JitterError`].
    pub fn case(&self, case: &Case) -> Result<Case, JitterError> {
        let drawn = self.draw(case)?;
        Ok(Case::new(case.name(), drawn).map_or_else(|_| case.clone(), |drawn| drawn.compress()))
    }
}

#[cfg(test)]
mod tests;

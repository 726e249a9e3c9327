//! What a batch asks of attention, position by position, in closed form.
//!
//! A request has Q new tokens after a prefix of P. Its new token i (from 1) stands at position P + i and sees itself and
//! what the span lets it see before.

use crate::batch::{Batch, Group, Phase};
use crate::model::anatomy::Span;

/// Sums over the requests of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Requests with new tokens.
    pub sequences: u128,
    /// New tokens.
    pub tokens: u128,
    /// Pairs of a new token and one that it sees.
    pub pairs: u128,
    /// Distinct tokens that are seen, sequence by sequence.
    pub seen: u128,
    /// KV lengths, new tokens included.
    pub context: u128,
}

impl Load {
    /// Sums over the requests that `keep` keeps, under a span.
    #[must_use]
    pub fn of(batch: &Batch, span: Span, keep: impl Fn(&Group) -> bool) -> Self {
        Self::with(batch, keep, |new, prefix| (pairs(span, new, prefix), seen(span, new, prefix)))
    }

    /// Sums over the requests that `keep` keeps; `count` gives pairs and distinct tokens of new ones and prefix.
    #[must_use]
    pub fn with(batch: &Batch, keep: impl Fn(&Group) -> bool, count: impl Fn(u128, u128) -> (u128, u128)) -> Self {
        let used = batch.groups().iter().filter(|group| group.tokens > 0 && keep(group));
        used.fold(Self::default(), |sums, group| {
            let (number, new) = (u128::from(group.count), u128::from(group.tokens));
            let prefix = u128::from(group.context).saturating_sub(new);
            let (pairs, seen) = count(new, prefix);
            let plus = |sum: u128, one: u128| sum.saturating_add(number.saturating_mul(one));
            Self {
                sequences: plus(sums.sequences, 1),
                tokens: plus(sums.tokens, new),
                pairs: plus(sums.pairs, pairs),
                seen: plus(sums.seen, seen),
                context: plus(sums.context, new + prefix),
            }
        })
    }

    /// Tokens that need logits: one a prefill, every one of a decode.
    #[must_use]
    pub fn logits(batch: &Batch) -> u128 {
        let of = |phase| Self::of(batch, Span::Full, |group| group.phase == phase);
        of(Phase::Prefill).sequences.saturating_add(of(Phase::Decode).tokens)
    }
}

/// 1 + 2 + ... + n.
fn triangle(n: u128) -> u128 {
    n.saturating_mul(n.saturating_add(1)) / 2
}

/// Pairs of Q new tokens after a prefix of P.
#[must_use]
pub fn pairs(span: Span, new: u128, prefix: u128) -> u128 {
    match span {
        Span::Full => new.saturating_mul(prefix).saturating_add(triangle(new)),
        Span::Window(width) => {
            let width = u128::from(width);
            // Tokens whose window is not full yet.
            let growing = width.saturating_sub(prefix).min(new);
            let grown = (new - growing).saturating_mul(width);
            growing.saturating_mul(prefix).saturating_add(triangle(growing)).saturating_add(grown)
        }
        Span::Chunk(size) => {
            let size = u128::from(size.max(1));
            let up_to = |n: u128| (n / size).saturating_mul(triangle(size)).saturating_add(triangle(n % size));
            up_to(prefix.saturating_add(new)).saturating_sub(up_to(prefix))
        }
        Span::Fixed(length) => new.saturating_mul(length.into()),
    }
}

/// Distinct tokens that Q new tokens after a prefix of P see, themselves included.
#[must_use]
pub fn seen(span: Span, new: u128, prefix: u128) -> u128 {
    let all = prefix.saturating_add(new);
    match span {
        Span::Full => all,
        Span::Window(width) => all - prefix.saturating_add(1).saturating_sub(width.into()).min(prefix),
        Span::Chunk(size) => {
            let size = u128::from(size.max(1));
            all - prefix / size * size
        }
        Span::Fixed(length) => length.into(),
    }
}

/// Sum over the new tokens of the compressed tokens that each picks: one for `ratio` positions, at most `top`.
#[must_use]
pub fn compressed(ratio: u64, top: Option<u64>, new: u128, prefix: u128) -> u128 {
    let ratio = u128::from(ratio.max(1));
    // Sum of floor(j / ratio) for j up to n.
    let floors = |n: u128| {
        let full = n / ratio;
        triangle(full.saturating_sub(1)).saturating_mul(ratio).saturating_add(full.saturating_mul(n % ratio + 1))
    };
    let capped = |n: u128| match top.map(u128::from) {
        Some(top) => {
            let limit = top.saturating_mul(ratio);
            floors(n.min(limit)).saturating_add(n.saturating_sub(limit).saturating_mul(top))
        }
        None => floors(n),
    };
    capped(prefix.saturating_add(new)).saturating_sub(capped(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one_by_one(new: u128, prefix: u128, of: impl Fn(u128) -> u128) -> u128 {
        (1..=new).map(|i| of(prefix + i)).sum()
    }

    proptest! {
        #[test]
        fn closed_forms_equal_the_sums(new in 0_u64..70, prefix in 0_u64..90, size in 1_u64..40, ratio in 1_u64..9) {
            let (q, p) = (u128::from(new), u128::from(prefix));
            let wide = u128::from(size);
            prop_assert_eq!(pairs(Span::Full, q, p), one_by_one(q, p, |at| at));
            prop_assert_eq!(pairs(Span::Window(size), q, p), one_by_one(q, p, |at| at.min(wide)));
            prop_assert_eq!(pairs(Span::Chunk(size), q, p), one_by_one(q, p, |at| (at - 1) % wide + 1));
            let picked = |top: u128| one_by_one(q, p, |at| (at / u128::from(ratio)).min(top));
            prop_assert_eq!(compressed(ratio, Some(size), q, p), picked(wide));
            prop_assert_eq!(compressed(ratio, None, q, p), picked(u128::MAX));
            if q > 0 {
                for span in [Span::Full, Span::Window(size), Span::Chunk(size)] {
                    let sees = |at: u128, other: u128| other <= at && match span {
                        Span::Window(w) => other + u128::from(w) > at,
                        Span::Chunk(c) => (other - 1) / u128::from(c) == (at - 1) / u128::from(c),
                        _ => true,
                    };
                    let distinct = (1..=p + q).filter(|other| (p + 1..=p + q).any(|at| sees(at, *other))).count();
                    prop_assert_eq!(seen(span, q, p), distinct as u128, "{:?}", span);
                }
            }
        }
    }
}

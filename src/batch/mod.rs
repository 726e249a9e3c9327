//! What one forward step computes: groups of equal requests, each in a phase.
//!
//! Everything an estimate needs of a batch is a sum over its requests, so equal requests are kept as one group and an
//! estimate's cost grows with the groups, not with the requests.

pub mod case;
pub mod count;
pub mod jitter;
pub mod shapes;

/// The phase of a request, which decides how its attention reads and which of its tokens need logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Prompt tokens are computed; only the last one needs logits.
    Prefill,
    /// Output tokens are computed or verified; every one needs logits.
    Decode,
}

/// Equal requests of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// How many such requests.
    pub count: u64,
    /// New tokens that the step computes, per request.
    pub tokens: u64,
    /// KV length after the step, per request: already cached plus new.
    pub context: u64,
    /// The phase they are in.
    pub phase: Phase,
}

impl Group {
    /// Drafts that each request verifies: the new tokens of a decode after its first.
    #[must_use]
    pub fn drafts(&self) -> u64 {
        if self.phase == Phase::Decode { self.tokens.saturating_sub(1) } else { 0 }
    }
}

/// The requests of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    groups: Vec<Group>,
}

/// Sums over the requests of one phase, or of both. They saturate at 2^128 - 1, which no sum of real batches reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Number of requests.
    pub requests: u128,
    /// Sum of new tokens n.
    pub tokens: u128,
    /// Sum of KV lengths c.
    pub context: u128,
    /// Sum of n * c.
    pub product: u128,
}

impl Batch {
    /// A batch of these groups, in this order; groups of no requests are left out.
    #[must_use]
    pub fn new(groups: impl IntoIterator<Item = Group>) -> Self {
        Self { groups: groups.into_iter().filter(|group| group.count > 0).collect() }
    }

    /// The groups, in order.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Whether any request verifies drafts.
    #[must_use]
    pub fn verifies(&self) -> bool {
        self.groups.iter().any(|group| group.drafts() > 0)
    }

    /// Sums over the requests of a phase, every KV length capped at `window` if there is one.
    #[must_use]
    pub fn sums(&self, phase: Phase, window: Option<u64>) -> Sums {
        self.groups.iter().filter(|group| group.phase == phase).fold(Sums::default(), |sums, group| {
            let count = u128::from(group.count);
            let tokens = count.saturating_mul(group.tokens.into());
            let context = u128::from(window.map_or(group.context, |w| group.context.min(w)));
            Sums {
                requests: sums.requests.saturating_add(count),
                tokens: sums.tokens.saturating_add(tokens),
                context: sums.context.saturating_add(count.saturating_mul(context)),
                product: sums.product.saturating_add(tokens.saturating_mul(context)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_a_mixed_batch_with_and_without_a_window() {
        let batch = Batch::new([
            Group { count: 1, tokens: 512, context: 4608, phase: Phase::Prefill },
            Group { count: 4, tokens: 1, context: 8192, phase: Phase::Decode },
            Group { count: 0, tokens: 9, context: 9, phase: Phase::Decode },
        ]);
        assert_eq!(batch.groups().len(), 2);
        assert_eq!(batch.sums(Phase::Decode, None), Sums { requests: 4, tokens: 4, context: 32768, product: 32768 });
        assert_eq!(
            batch.sums(Phase::Prefill, Some(1024)),
            Sums { requests: 1, tokens: 512, context: 1024, product: 512 * 1024 }
        );
    }
}

//! An estimate from sums over requests, where the requests themselves are not known: what a server's log holds.

use super::{Vllm, base_values};
use crate::batch::{Batch, Group, Phase, Sums};
use crate::estimate::{Breakdown, EstimateError, Estimator as _, Scope};

/// Sums over the requests of each phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseSums {
    /// Over the prefills.
    pub prefill: Sums,
    /// Over the decodes.
    pub decode: Sums,
}

impl Vllm {
    /// The cost of a step of which only sums are known. All terms are exact but those of layers with a sliding window,
    /// which need every request's KV length: where [`Self::sums_suffice`] says no, they count as full attention, which
    /// is at least as much.
    ///
    /// # Errors
    /// Where a number passes 2^120.
    pub fn estimate_sums(&self, sums: &PhaseSums, scope: Scope) -> Result<Breakdown, EstimateError> {
        match sums.single() {
            Some(batch) => self.estimate(&batch, scope),
            None => self.evaluate(base_values(sums, Some(*sums)), scope),
        }
    }

    /// Whether an estimate from these sums is that of the requests, whichever they are: no layer has a sliding window,
    /// no request can be longer than it, or there is at most one request a phase.
    #[must_use]
    pub fn sums_suffice(&self, sums: &PhaseSums) -> bool {
        let Ok(attention) = &self.attention else { return true };
        let Some(window) = attention.window.filter(|_| attention.sliding_layers > 0) else { return true };
        let short = |phase: &Sums| phase.context <= window.into();
        (short(&sums.prefill) && short(&sums.decode)) || sums.single().is_some()
    }
}

impl PhaseSums {
    /// The batch, where there is at most one request a phase.
    fn single(&self) -> Option<Batch> {
        let group = |sums: &Sums, phase| -> Option<Option<Group>> {
            match sums.requests {
                0 if sums.tokens == 0 => Some(None),
                1 => {
                    let (tokens, context) = (u64::try_from(sums.tokens).ok()?, u64::try_from(sums.context).ok()?);
                    let whole = sums.product == sums.tokens.checked_mul(sums.context)?;
                    whole.then_some(Some(Group { count: 1, tokens, context, phase }))
                }
                _ => None,
            }
        };
        let groups = [group(&self.prefill, Phase::Prefill)?, group(&self.decode, Phase::Decode)?];
        Some(Batch::new(groups.into_iter().flatten()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::case::Case;
    use crate::model::{ClassTable, read};
    use crate::settings::Settings;
    use proptest::prelude::*;

    fn estimator(window: &str) -> Vllm {
        let config = format!(
            r#"{{"model_type": "mistral", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
            "num_key_value_heads": 2, "vocab_size": 1000, "intermediate_size": 128, "sliding_window": {window}}}"#
        );
        Vllm::new(&read(&config, None, ClassTable::builtin()).unwrap(), &Settings::default())
    }

    fn sums(batch: &Batch) -> PhaseSums {
        PhaseSums { prefill: batch.sums(Phase::Prefill, None), decode: batch.sums(Phase::Decode, None) }
    }

    #[test]
    fn windows_need_the_requests() {
        let (full, sliding) = (estimator("null"), estimator("128"));
        let many = sums(&Case::parse("2*1@100,8").unwrap().batch());
        assert!(full.sums_suffice(&many) && !sliding.sums_suffice(&many));
        let one = sums(&Case::parse("1@1000,8").unwrap().batch());
        assert!(sliding.sums_suffice(&one));
        let short = sums(&Case::parse("2*1@64,3*8").unwrap().batch());
        assert!(sliding.sums_suffice(&short));
    }

    proptest! {
        #[test]
        fn where_sums_suffice_the_estimate_is_the_batch_s(
            groups in prop::collection::vec((1_u64..4, 1_u64..40, 0_u64..300, any::<bool>()), 0..4),
            window in prop::sample::select(vec!["null", "128"]),
        ) {
            let batch = Batch::new(groups.into_iter().map(|(count, tokens, prefix, prefill)| Group {
                count, tokens, context: tokens + prefix, phase: if prefill { Phase::Prefill } else { Phase::Decode },
            }));
            let (vllm, sums) = (estimator(window), sums(&batch));
            let (exact, summed) =
                (vllm.estimate(&batch, Scope::PerGpu).unwrap(), vllm.estimate_sums(&sums, Scope::PerGpu).unwrap());
            if vllm.sums_suffice(&sums) {
                prop_assert_eq!(exact.cost(), summed.cost());
            } else {
                prop_assert!(summed.cost().flops >= exact.cost().flops && summed.cost().read >= exact.cost().read);
            }
        }
    }
}

//! How a model is spread over GPUs.

use crate::model::ModelSpec;
use std::num::NonZeroU32;

/// Parallel sizes. One GPU is all ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Tensor parallel size.
    pub tp: NonZeroU32,
    /// Pipeline parallel size.
    pub pp: NonZeroU32,
    /// Data parallel size.
    pub dp: NonZeroU32,
    /// Whether experts are spread over all tensor and data parallel ranks instead of being sliced.
    pub ep: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self { tp: NonZeroU32::MIN, pp: NonZeroU32::MIN, dp: NonZeroU32::MIN, ep: false }
    }
}

/// Why vLLM would not start with a layout, and what it would take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Which setting is the cause: `tp`, `pp` or `ep`.
    pub setting: &'static str,
    /// The reason, as a sentence.
    pub reason: String,
    /// Values of that setting that would do, ascending.
    pub fits: Vec<u64>,
}

impl Layout {
    /// Number of GPUs.
    #[must_use]
    pub fn gpus(&self) -> u128 {
        [self.tp, self.pp, self.dp].into_iter().map(|size| u128::from(size.get())).product()
    }

    /// The layout in a few letters: `TP8 EP8`, `1 GPU`.
    #[must_use]
    pub fn label(&self) -> String {
        let mut words = Vec::new();
        for (name, size) in [("TP", self.tp), ("PP", self.pp), ("DP", self.dp)] {
            if size.get() > 1 {
                words.push(format!("{name}{size}"));
            }
        }
        if self.ep {
            words.push(format!("EP{}", u64::from(self.tp.get()) * u64::from(self.dp.get())));
        }
        if words.is_empty() { "1 GPU".to_owned() } else { words.join(" ") }
    }

    /// Everything for which vLLM would refuse to start, with what would divide. Layers that pipeline stages do not
    /// divide evenly are legal.
    #[must_use]
    pub fn refusals(&self, model: &ModelSpec) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let tp = u64::from(self.tp.get());
        if let Some(heads) = model.heads.ok().filter(|heads| *heads > 0) {
            if !heads.is_multiple_of(tp) {
                refusals.push(Refusal {
                    setting: "tp",
                    reason: format!("{heads} attention heads are not divisible by TP {tp}"),
                    fits: divisors(heads),
                });
            } else if let Some(kv) = model.kv_heads.ok().filter(|kv| *kv > 0 && model.mla.is_none())
                && !(kv.is_multiple_of(tp) || tp.is_multiple_of(kv))
            {
                let fits = |tp: &u64| kv.is_multiple_of(*tp) || tp.is_multiple_of(kv);
                refusals.push(Refusal {
                    setting: "tp",
                    reason: format!("{kv} KV heads neither divide nor are divided by TP {tp}"),
                    fits: divisors(heads).into_iter().filter(fits).collect(),
                });
            }
        }
        if let Some(layers) = model.layers.ok().filter(|layers| *layers < u64::from(self.pp.get())) {
            refusals.push(Refusal {
                setting: "pp",
                reason: format!("{layers} layers are fewer than PP {} stages", self.pp),
                fits: (1..=layers.min(1024)).collect(),
            });
        }
        self.refused_experts(model, &mut refusals);
        refusals
    }

    fn refused_experts(&self, model: &ModelSpec, refusals: &mut Vec<Refusal>) {
        let ranks = u64::from(self.tp.get()) * u64::from(self.dp.get());
        let Some(experts) = model.experts.ok() else { return };
        if !self.ep {
            return;
        }
        if experts == 0 {
            let reason = "expert parallelism is on, but the model has no experts".to_owned();
            refusals.push(Refusal { setting: "ep", reason, fits: Vec::new() });
        } else if !experts.is_multiple_of(ranks) {
            refusals.push(Refusal {
                setting: "ep",
                reason: format!("{experts} experts are not divisible by the {ranks} ranks of EP (TP x DP)"),
                fits: divisors(experts),
            });
        }
    }
}

/// The divisors of a number up to 1024, which no layout passes.
fn divisors(of: u64) -> Vec<u64> {
    (1..=of.min(1024)).filter(|by| of.is_multiple_of(*by)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ClassTable, read};

    /// What vLLM says to TP, PP, DP and EP for a model with these heads, 10 layers and 256 experts.
    fn refused((heads, kv): (u64, u64), sizes: [u32; 3], ep: bool) -> Option<(&'static str, String, Vec<u64>)> {
        let config = format!(
            r#"{{"model_type": "qwen3_moe", "num_attention_heads": {heads}, "num_key_value_heads": {kv}, "hidden_size": 64,
            "num_experts": 256, "num_experts_per_tok": 8, "num_hidden_layers": 10}}"#
        );
        let [tp, pp, dp] = sizes.map(|size| NonZeroU32::new(size).unwrap());
        let refusals = Layout { tp, pp, dp, ep }.refusals(&read(&config, None, ClassTable::builtin()).unwrap());
        assert!(refusals.len() < 2, "{refusals:?}");
        refusals.into_iter().next().map(|refusal| (refusal.setting, refusal.reason, refusal.fits))
    }

    #[track_caller]
    fn says(heads: (u64, u64), sizes: [u32; 3], ep: bool, setting: &str, reason: &str, fits: &[u64]) {
        let (found, text, others) = refused(heads, sizes, ep).unwrap();
        assert_eq!((found, others.as_slice()), (setting, fits));
        assert!(text.contains(reason), "{text}");
    }

    #[test]
    fn what_does_not_divide_is_refused_with_what_does() {
        let head = "attention heads are not divisible by TP";
        says((28, 4), [8, 1, 1], false, "tp", head, &[1, 2, 4, 7, 14, 28]);
        says((52, 4), [8, 1, 1], false, "tp", head, &[1, 2, 4, 13, 26, 52]);
        says((40, 8), [3, 1, 1], false, "tp", head, &[1, 2, 4, 5, 8, 10, 20, 40]);
        says((32, 8), [3, 1, 1], false, "tp", head, &[1, 2, 4, 8, 16, 32]);
        says((24, 8), [3, 1, 1], false, "tp", "8 KV heads", &[1, 2, 4, 8, 24]);
        says((28, 4), [7, 1, 1], false, "tp", "4 KV heads", &[1, 2, 4, 28]);
        let divisors = [1, 2, 4, 8, 16, 32, 64, 128, 256];
        says((12, 12), [3, 1, 1], true, "ep", "256 experts are not divisible by the 3 ranks", &divisors);
        says((12, 12), [1, 1, 3], true, "ep", "256 experts are not divisible by the 3 ranks", &divisors);
        says((12, 12), [1, 11, 1], false, "pp", "10 layers are fewer than PP 11", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }

    #[test]
    fn what_vllm_runs_is_not_refused() {
        // Layers that stages do not divide, KV heads that several ranks share, experts that are cut and not spread.
        for (heads, sizes, ep) in [
            ((28, 4), [28, 1, 1], false),
            ((28, 4), [4, 3, 1], false),
            ((32, 8), [32, 1, 1], true),
            ((12, 12), [3, 4, 1], false),
            ((12, 12), [1, 1, 3], false),
        ] {
            assert_eq!(refused(heads, sizes, ep), None, "{heads:?} {sizes:?}");
        }
    }
}

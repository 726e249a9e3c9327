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

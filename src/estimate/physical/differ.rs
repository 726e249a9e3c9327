//! Why the two models differ: component by component, the value of each and the causes.

use super::{Modules, Physical};
use crate::batch::{Batch, Phase};
use crate::estimate::{Breakdown, Component, Quantity};
use crate::model::ModelSpec;
use crate::model::anatomy::{Core, Kind, Latent, Op, Span, State};

/// A component's quantity in both models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The component.
    pub component: Component,
    /// The quantity.
    pub quantity: Quantity,
    /// The vllm model's value; `None` where it has no such component.
    pub vllm: Option<u128>,
    /// The physical model's value; `None` where it has no such component.
    pub physical: Option<u128>,
    /// Why they differ, a sentence each.
    pub causes: Vec<&'static str>,
}

/// What a cause is looked for in.
struct Case<'a> {
    spec: &'a ModelSpec,
    physical: &'a Physical,
    batch: &'a Batch,
}

struct Cause {
    component: Component,
    quantities: &'static [Quantity],
    holds: fn(&Case<'_>) -> bool,
    sentence: &'static str,
}

const ALL: &[Quantity] = &[Quantity::Flops, Quantity::Read, Quantity::Write];
const FLOPS: &[Quantity] = &[Quantity::Flops];
const WRITE: &[Quantity] = &[Quantity::Write];
const READ: &[Quantity] = &[Quantity::Read];
const MOVED: &[Quantity] = &[Quantity::Read, Quantity::Write];
const WORK: &[Quantity] = &[Quantity::Flops, Quantity::Read];

use Component::{Attention, Embedding, Ffn, LinearAttention, MlaAttention, Norm, Unembed};

static CAUSES: &[Cause] = &[
    cause(Attention, FLOPS, |case| case.pairs(), CAUSAL),
    cause(MlaAttention, FLOPS, |case| case.pairs(), CAUSAL),
    cause(
        Attention,
        WORK,
        |case| {
            !case.physical.settings.disable_sliding_window
                && case.core(|core| matches!(core, Core::Heads(heads) if matches!(heads.span, Span::Window(_))))
        },
        "Layers with a window are told apart one by one, and read what their window covers.",
    ),
    cause(
        Attention,
        WORK,
        |case| case.core(|core| matches!(core, Core::Heads(heads) if matches!(heads.span, Span::Chunk(_)))),
        "A token in a chunked layer sees its own chunk only; the vllm model counts the whole context.",
    ),
    cause(
        MlaAttention,
        ALL,
        |case| case.has(Phase::Decode) && case.core(|core| matches!(core, Core::Latent(_))),
        "A decode attends to latents directly, with the up-projection absorbed into queries and outputs.",
    ),
    cause(
        MlaAttention,
        ALL,
        |case| case.has(Phase::Prefill) && case.core(|core| matches!(core, Core::Latent(_))),
        "A prefill computes keys and values again from the latents where that takes fewer FLOPs.",
    ),
    cause(
        MlaAttention,
        ALL,
        |case| case.core(|core| matches!(core, Core::Latent(Latent { indexer: Some(_), .. }))),
        "An indexer scores all tokens, and attention goes to those that it picks.",
    ),
    cause(
        MlaAttention,
        ALL,
        |case| case.core(|core| matches!(core, Core::Compressed(_))),
        "Keys are compressed; a token attends to a window and to compressed tokens.",
    ),
    cause(
        Attention,
        ALL,
        |case| case.core(|core| matches!(core, Core::State(_))),
        "Layers with a state are a component of their own; the vllm model counts them as attention.",
    ),
    cause(
        LinearAttention,
        ALL,
        |case| case.core(|core| matches!(core, Core::State(State { .. }))),
        "A state of constant size is read, updated and written; the vllm model has no such layers.",
    ),
    cause(
        Attention,
        ALL,
        |case| case.kind(|kind| kind.cores.is_empty()),
        "Not every layer has attention; the vllm model gives it to all.",
    ),
    cause(
        Ffn,
        ALL,
        |case| case.kind(|kind| kind.matrices.iter().all(|matrix| matrix.op.component() != Ffn)),
        "Not every layer has a feed-forward part; the vllm model gives it to all.",
    ),
    cause(
        Ffn,
        READ,
        |case| case.kind(Kind::is_moe),
        "Experts that are touched are counted as random routing touches them, not one for each token and expert.",
    ),
    cause(
        Ffn,
        ALL,
        |case| case.kind(Kind::is_moe) && case.physical.settings.layout.dp.get() > 1,
        "The tokens of all data-parallel ranks meet in the experts.",
    ),
    cause(
        Ffn,
        ALL,
        |case| case.kind(|kind| !kind.is_moe()) && case.physical.settings.layout.dp.get() > 1,
        "Dense layers are cut over tensor-parallel ranks only.",
    ),
    cause(
        Ffn,
        ALL,
        |case| {
            let layout = case.physical.settings.layout;
            layout.ep && layout.tp.get() > 1 && (case.op(Op::DenseUp) || case.op(Op::SharedUp))
        },
        "Dense layers and shared experts are cut over tensor-parallel ranks also where experts are spread.",
    ),
    cause(
        Ffn,
        ALL,
        |case| case.kind(|kind| kind.is_moe() && kind.of(Op::DenseUp).next().is_some()),
        "A dense part runs beside the experts.",
    ),
    cause(
        Ffn,
        ALL,
        |case| case.moe_layers() != case.spec.moe_layers.ok().unwrap_or(0),
        "Which layers have experts is read from all keys that say so.",
    ),
    cause(
        Ffn,
        ALL,
        |case| case.op(Op::SharedUp) && case.spec.shared_experts.ok().unwrap_or(0) == 0,
        "The shared expert is counted.",
    ),
    cause(
        Ffn,
        ALL,
        |case| {
            case.kind(|kind| {
                let up = |op| matches!(op, Op::DenseUp | Op::RoutedUp | Op::SharedUp);
                kind.matrices.iter().any(|m| up(m.op) && m.outputs.first().is_some_and(|dim| dim.width == 1))
            })
        },
        "An FFN has two matrices, not three.",
    ),
    cause(Ffn, ALL, |case| case.op(Op::Router), "Routers are counted."),
    cause(
        Attention,
        READ,
        |case| case.quantized(),
        "Weights count as they are stored: module by module, with scales and zero points.",
    ),
    cause(
        MlaAttention,
        READ,
        |case| case.quantized(),
        "Weights count as they are stored: module by module, with scales and zero points.",
    ),
    cause(
        Ffn,
        READ,
        |case| case.quantized(),
        "Weights count as they are stored: module by module, with scales and zero points.",
    ),
    cause(Attention, READ, |case| case.narrow(Attention), NARROW),
    cause(MlaAttention, READ, |case| case.narrow(MlaAttention), NARROW),
    cause(Ffn, READ, |case| case.narrow(Ffn), NARROW),
    cause(
        Attention,
        ALL,
        |case| {
            let tp = u64::from(case.physical.settings.layout.tp.get());
            case.spec.heads.ok().is_some_and(|heads| !heads.is_multiple_of(tp))
        },
        "Heads do not divide evenly: the rank with most of them counts.",
    ),
    cause(
        Attention,
        ALL,
        |case| case.op(Op::CrossKv),
        "Some layers attend to another input, whose keys are computed once.",
    ),
    cause(Attention, READ, |case| case.physical.is_set(Modules::Attention), SET),
    cause(MlaAttention, READ, |case| case.physical.is_set(Modules::Attention), SET),
    cause(
        Ffn,
        READ,
        |case| [Modules::Dense, Modules::Experts, Modules::Shared].iter().any(|set| case.physical.is_set(*set)),
        SET,
    ),
    cause(Unembed, READ, |case| case.physical.is_set(Modules::Head), SET),
    cause(Attention, MOVED, |case| case.recoded(), "The KV cache counts as its format lays it out, scales included."),
    cause(
        MlaAttention,
        MOVED,
        |case| case.recoded(),
        "The KV cache counts as its format lays it out, scales included.",
    ),
    cause(
        Attention,
        ALL,
        |case| {
            case.kind(|kind| {
                kind.of(Op::Qkv).any(|matrix| {
                    matrix
                        .outputs
                        .first()
                        .zip(matrix.outputs.get(1))
                        .is_some_and(|(q, k)| q.width > k.width && k.width > 0)
                })
            })
        },
        "The output of attention is gated, which the query projection computes too.",
    ),
    cause(
        Unembed,
        ALL,
        |case| {
            case.spec.vocab.ok().is_some_and(|vocab| {
                !vocab.is_multiple_of(64) || !vocab.is_multiple_of(case.physical.settings.layout.tp.get().into())
            })
        },
        "The vocabulary is padded to a multiple of 64, and cut evenly.",
    ),
    cause(Unembed, ALL, |case| case.physical.settings.layout.pp.get() > 1, "The LM head runs on the last stage only."),
    cause(Attention, ALL, |case| case.physical.settings.layout.pp.get() > 1, STAGES),
    cause(MlaAttention, ALL, |case| case.physical.settings.layout.pp.get() > 1, STAGES),
    cause(LinearAttention, ALL, |case| case.physical.settings.layout.pp.get() > 1, STAGES),
    cause(Ffn, ALL, |case| case.physical.settings.layout.pp.get() > 1, STAGES),
    cause(Ffn, MOVED, |case| case.kind(Kind::is_moe), "What a token's experts give is read and added up."),
    cause(Attention, WRITE, |_| true, "The output of attention goes through memory."),
    cause(Attention, MOVED, |case| case.kind(|kind| !kind.inner.is_empty()), INNER),
    cause(MlaAttention, MOVED, |case| case.kind(|kind| !kind.inner.is_empty()), INNER),
    cause(Embedding, ALL, |_| true, "The vllm model does not count the embedding."),
    cause(Norm, ALL, |_| true, "The vllm model does not count norms and residuals."),
];

const CAUSAL: &str = "A new token sees itself and what is before it; the vllm model pairs it with the whole context.";

const INNER: &str = "Rotary embeddings and norms of queries, keys and latents are counted.";

const NARROW: &str = "Products in 8 or 4 bit read their inputs as narrow as they multiply them.";

const STAGES: &str = "Stages have whole layers: the numbers are those of the stage that the others wait for.";

const SET: &str = "The format of these weights was set for the physical model alone.";

const fn cause(
    component: Component,
    quantities: &'static [Quantity],
    holds: fn(&Case<'_>) -> bool,
    sentence: &'static str,
) -> Cause {
    Cause { component, quantities, holds, sentence }
}

impl Case<'_> {
    fn has(&self, phase: Phase) -> bool {
        self.batch.groups().iter().any(|group| group.phase == phase && group.tokens > 0)
    }

    /// Whether some new token does not see all of its request's.
    fn pairs(&self) -> bool {
        self.batch.groups().iter().any(|group| group.tokens > 1)
    }

    /// Whether products of a component multiply less than 16 bit.
    fn narrow(&self, component: Component) -> bool {
        let wide = self.physical.dtype.bytes() as f64;
        let narrow = |format| self.physical.input_bytes(format).as_f64() < wide;
        self.kind(|kind| {
            kind.matrices
                .iter()
                .any(|matrix| matrix.op.component() == component && narrow(self.physical.format(matrix)))
        })
    }

    /// Whether the KV cache is not in the dtype of activations.
    fn recoded(&self) -> bool {
        let (cache, dtype) = (&self.physical.cache, self.physical.dtype.bytes());
        cache.side(64) != 64 * dtype || cache.latent(64, 64, true) != 128 * dtype
    }

    fn kind(&self, is: impl Fn(&Kind) -> bool) -> bool {
        self.physical.anatomy.kinds.iter().any(is)
    }

    fn core(&self, is: impl Fn(&Core) -> bool) -> bool {
        self.kind(|kind| kind.cores.iter().any(&is))
    }

    fn op(&self, op: Op) -> bool {
        self.kind(|kind| kind.of(op).next().is_some())
    }

    fn quantized(&self) -> bool {
        self.kind(|kind| kind.matrices.iter().any(|matrix| !self.physical.format(matrix).is_plain()))
    }

    fn moe_layers(&self) -> u64 {
        self.physical.anatomy.counted().filter(|(kind, _)| kind.is_moe()).map(|(_, layers)| layers).sum()
    }
}

/// The components and quantities in which two estimates of the same batch differ, with the causes.
#[must_use]
pub fn differences(
    spec: &ModelSpec,
    model: &Physical,
    batch: &Batch,
    vllm: &Breakdown,
    physical: &Breakdown,
) -> Vec<Difference> {
    let case = Case { spec, physical: model, batch };
    let sum = |breakdown: &Breakdown, component: Component, quantity: Quantity| {
        let part = breakdown.parts.iter().find(|part| part.component == component)?;
        Some(part.terms.iter().filter(|term| term.def.quantity == quantity).map(|term| term.amount).sum::<u128>())
    };
    let mut components: Vec<Component> = Vec::new();
    for part in vllm.parts.iter().chain(&physical.parts) {
        if !components.contains(&part.component) {
            components.push(part.component);
        }
    }
    let mut found = Vec::new();
    for component in components {
        for quantity in ALL {
            let (theirs, ours) = (sum(vllm, component, *quantity), sum(physical, component, *quantity));
            if theirs == ours || theirs.unwrap_or(0) == ours.unwrap_or(0) {
                continue;
            }
            let causes =
                CAUSES.iter().filter(|cause| cause.component == component && cause.quantities.contains(quantity));
            let mut causes: Vec<&'static str> =
                causes.filter(|cause| (cause.holds)(&case)).map(|cause| cause.sentence).collect();
            if causes.is_empty() {
                causes.push("Activations, biases and rounding are counted otherwise.");
            }
            found.push(Difference { component, quantity: *quantity, vllm: theirs, physical: ours, causes });
        }
    }
    found
}

//! The **physical model**: what the hardware has to do for a step, kind of layer by kind of layer.
//!
//! Same inputs and same [`Breakdown`] as the vllm model, but counted position by position, matrix by matrix, for one rank
//! of one pipeline stage: causal pairs, windows, chunks, latent attention absorbed or expanded, indexers, states, experts
//! that are really touched, biases and scales of quantized weights, norms and lookups.
//!
//! Assumptions. Every matrix that is used is read once a step. Activations go through memory between operations.
//! Routing is uniform: T tokens of k experts each touch E(1 - (1 - k/E)^T) of E experts, a fraction, which stays one
//! until a term is cut off to an integer. Prefills of latent attention compute keys and values again from the latent
//! where that takes fewer FLOPs, decodes and short prefills of long contexts absorb the up-projection into queries.
//! Norms run with the addition to the residual, rotary embeddings with the norms of queries and keys: a pass each.
//! Ranks that do not divide evenly: the largest share counts.

pub mod cache;
mod core;
pub mod differ;
mod layer;
pub mod load;
pub mod stages;
pub(crate) mod terms;

use super::formula::{Number, Values};
use super::{Breakdown, Component, Cost, EstimateError, Estimator, Part, Scope, Symbol, TermDef};
use crate::batch::{Batch, Group, Phase};
use crate::hardware::{Accelerator, Precision};
use crate::model::anatomy::{Anatomy, Category, Matrix, Op, Rows};
use crate::model::number::Format;
use crate::model::scheme::Scheme;
use crate::model::{Dtype, ModelSpec};
use crate::settings::{QuantizationChoice, Settings};
use cache::CacheFormat;
use load::Load;
use std::sync::Arc;

/// What the physical model assumes beside the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {
    /// Tokens spread over experts as evenly as they can, instead of at random.
    pub balanced: bool,
    /// Formats of weights that are not the checkpoint's, for each of [`Modules::ALL`].
    pub formats: [Option<Format>; Modules::ALL.len()],
}

/// Modules whose format can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modules {
    /// Attention, of whatever kind.
    Attention,
    /// Dense feed-forward layers.
    Dense,
    /// Routed experts.
    Experts,
    /// Shared experts.
    Shared,
    /// The LM head.
    Head,
}

impl Modules {
    /// All of them with their names.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Attention, "attention"),
        (Self::Dense, "dense"),
        (Self::Experts, "experts"),
        (Self::Shared, "shared"),
        (Self::Head, "head"),
    ];

    /// What a reader calls them.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Attention => "Attention",
            Self::Dense => "Dense layers",
            Self::Experts => "Routed experts",
            Self::Shared => "Shared experts",
            Self::Head => "LM head",
        }
    }

    fn of(matrix: &Matrix) -> Option<Self> {
        match matrix.op.category() {
            _ if matrix.op.modules().is_empty() => None,
            Category::Attention => Some(Self::Attention),
            Category::Mlp => Some(Self::Dense),
            Category::Routed => Some(Self::Experts),
            Category::Shared => Some(Self::Shared),
            Category::Head => Some(Self::Head),
            _ => None,
        }
    }
}

/// The physical model of a model and how it is served.
#[derive(Clone, Debug)]
pub struct Physical {
    /// The model.
    pub(crate) anatomy: Arc<Anatomy>,
    /// How it is served.
    pub(crate) settings: Settings,
    /// What is assumed.
    pub(crate) assumptions: Assumptions,
    /// The dtype of activations.
    pub(crate) dtype: Dtype,
    /// The format of the KV cache.
    pub(crate) cache: CacheFormat,
    /// Formats that the accelerator multiplies in, if one is known.
    native: Option<[bool; 3]>,
}

/// Which step drafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drafting {
    /// The first: it runs over all tokens of a step.
    First,
    /// One after that: it runs over one token of each request.
    Further,
}

impl Drafting {
    /// The tokens that it runs over, of a batch that verifies.
    #[must_use]
    pub fn tokens(self, batch: &Batch) -> Batch {
        let one = |group: &Group| Group { tokens: group.tokens.min(1), phase: Phase::Decode, ..*group };
        match self {
            Self::First => batch.clone(),
            Self::Further => Batch::new(batch.groups().iter().map(one)),
        }
    }
}

/// How a layer's parts are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Ranks that cut attention and dense layers.
    pub(crate) tp: u64,
    /// Ranks that cut every expert.
    pub(crate) expert_tp: u64,
    /// Ranks that experts are spread over.
    pub(crate) ep: u64,
    /// Data-parallel ranks whose tokens meet in the experts.
    pub(crate) dp: u64,
}

impl Physical {
    /// The physical model; without an accelerator every format is multiplied as it is meant to be.
    ///
    /// # Errors
    /// The reason, where the model cannot be described.
    pub fn new(
        model: &ModelSpec,
        settings: &Settings,
        assumptions: Assumptions,
        accelerator: Option<&Accelerator>,
    ) -> Result<Self, String> {
        Ok(Self {
            anatomy: Arc::clone(model.anatomy.as_ref().map_err(Clone::clone)?),
            settings: settings.clone(),
            assumptions,
            dtype: settings.dtype(model),
            cache: CacheFormat::of(model, settings),
            native: accelerator.map(|accelerator| {
                let has = |precision| accelerator.peaks.of(precision).is_some();
                [has(Precision::Fp8), has(Precision::Int8), has(Precision::Fp4)]
            }),
        })
    }

    /// The model's description.
    #[must_use]
    pub fn anatomy(&self) -> &Anatomy {
        &self.anatomy
    }

    /// How many GPUs it is spread over, and how.
    #[must_use]
    pub fn layout(&self) -> crate::layout::Layout {
        self.settings.layout
    }

    /// Whether the model has such modules, with weights of their own.
    #[must_use]
    pub fn has(&self, modules: Modules) -> bool {
        let head = self.anatomy.head.iter();
        let mut matrices = self.anatomy.kinds.iter().flat_map(|kind| &kind.matrices).chain(head);
        matrices.any(|matrix| Modules::of(matrix) == Some(modules))
    }

    /// Whether the format of such modules was set, and counts.
    pub(crate) fn is_set(&self, modules: Modules) -> bool {
        self.assumptions.formats.get(modules as usize).is_some_and(Option::is_some) && self.has(modules)
    }

    /// How a scope cuts the model.
    pub(crate) fn cut(&self, scope: Scope) -> Cut {
        let layout = self.settings.layout;
        let (tp, dp) = (u64::from(layout.tp.get()), u64::from(layout.dp.get()));
        match scope {
            Scope::Global => Cut { tp: 1, expert_tp: 1, ep: 1, dp: 1 },
            Scope::PerGpu if layout.ep => Cut { tp, expert_tp: 1, ep: tp.saturating_mul(dp), dp },
            Scope::PerGpu => Cut { tp, expert_tp: tp.saturating_mul(dp), ep: 1, dp },
        }
    }

    /// How a matrix is stored under the settings.
    pub(crate) fn format(&self, matrix: &Matrix) -> Format {
        if matrix.op.rows() == Rows::Absorbed {
            return Format::PLAIN;
        }
        let asked =
            Modules::of(matrix).and_then(|modules| self.assumptions.formats.get(modules as usize).copied().flatten());
        if let Some(format) = asked {
            return format;
        }
        let own = matrix.format;
        let covered = matrix.op != Op::Head && !matrix.op.modules().is_empty();
        match &self.settings.quantization {
            QuantizationChoice::None if own != Format::SINGLE => Format::PLAIN,
            QuantizationChoice::Method(method) if covered => match Scheme::named(method) {
                Some(format) if !Scheme::is_for_experts(method) || matrix.op.rows() == Rows::Routed => format,
                _ => Format::PLAIN,
            },
            _ => own,
        }
    }

    /// The numbers that a format's products multiply.
    pub(crate) fn precision(&self, format: Format) -> Precision {
        let wide = if self.dtype == Dtype::Float16 { Precision::Fp16 } else { Precision::Bf16 };
        let Some(narrow) = format.compute else { return wide };
        let [fp8, int8, fp4] = self.native.unwrap_or([true; 3]);
        let native = match narrow {
            Precision::Fp8 => fp8,
            Precision::Int8 => int8,
            Precision::Fp4 => fp4,
            _ => true,
        };
        if native { narrow } else { wide }
    }

    /// Bytes of an input element of a format's products: those of the numbers that are multiplied, where activations
    /// are quantized too.
    pub(crate) fn input_bytes(&self, format: Format) -> Number {
        match self.precision(format) {
            Precision::Fp8 | Precision::Int8 => Number::Int(1),
            Precision::Fp4 => Number::Real(0.5625),
            _ => Number::Int(self.dtype.bytes().into()),
        }
    }

    /// What a step costs one rank of a pipeline stage.
    ///
    /// # Errors
    /// Where a number passes 2^120.
    pub fn stage(&self, batch: &Batch, stage: u64) -> Result<Breakdown, EstimateError> {
        let stages = self.stages();
        let (from, to) = stages::layers(self.anatomy.layers(), stages, stage);
        let ends = (stage == 0, stage + 1 == stages);
        self.layers(batch, self.cut(Scope::PerGpu), &self.anatomy.counts(from, to), ends)
    }

    /// How many stages there are: never more than layers, which the rest would wait for with nothing to do.
    #[must_use]
    pub fn stages(&self) -> u64 {
        u64::from(self.settings.layout.pp.get()).min(self.anatomy.layers().max(1))
    }

    /// The stages, from 0.
    pub fn each_stage(&self) -> impl Iterator<Item = u64> + Clone + use<> {
        0..self.stages()
    }

    /// The stage that moves and computes most: the others wait for it.
    ///
    /// # Errors
    /// Where a number passes 2^120.
    pub fn slowest(&self, batch: &Batch) -> Result<(u64, Breakdown), EstimateError> {
        /// FLOPs that take as long as a byte, on the accelerators of these years.
        const RIDGE: f64 = 300.0;
        let weight = |cost: Cost| cost.moved().as_f64().max(cost.flops.as_f64() / RIDGE);
        let mut slowest: Option<(u64, Breakdown, f64)> = None;
        for stage in self.each_stage() {
            let breakdown = self.stage(batch, stage)?;
            let weight = weight(breakdown.cost());
            if slowest.as_ref().is_none_or(|(_, _, most)| weight > *most) {
                slowest = Some((stage, breakdown, weight));
            }
        }
        Ok(slowest.map_or_else(|| (0, Breakdown::default()), |(stage, breakdown, _)| (stage, breakdown)))
    }

    /// Whether the model itself drafts what a batch verifies.
    #[must_use]
    pub fn drafts(&self, batch: &Batch) -> bool {
        self.anatomy.mtp.is_some() && batch.verifies()
    }

    /// What a draft step of the layers that predict further tokens costs a rank of the last stage: its tokens through
    /// those layers, and one of each request through the LM head. `None` where the model has none.
    ///
    /// # Errors
    /// Where a number passes 2^120.
    pub fn draft(&self, batch: &Batch, drafting: Drafting) -> Result<Option<Part>, EstimateError> {
        let Some(mtp) = &self.anatomy.mtp else { return Ok(None) };
        let cut = self.cut(Scope::PerGpu);
        let mut breakdown = Breakdown::default();
        let tokens = drafting.tokens(batch);
        let mut ledger = Ledger { physical: self, batch: &tokens, cut, breakdown: &mut breakdown };
        ledger.lookup()?;
        ledger.kind(&mtp.kind, 1)?;
        let last = Drafting::Further.tokens(batch);
        Ledger { physical: self, batch: &last, cut, breakdown: &mut breakdown }.head()?;
        let mut draft = Part { component: Component::Mtp, terms: Vec::new(), sheets: Vec::new() };
        for part in breakdown.parts {
            let before = u16::try_from(draft.sheets.len()).unwrap_or(u16::MAX);
            draft.terms.extend(part.terms.into_iter().map(|mut term| {
                term.sheet = term.sheet.saturating_add(before);
                term
            }));
            draft.sheets.extend(part.sheets);
        }
        Ok(Some(draft))
    }

    fn layers(
        &self,
        batch: &Batch,
        cut: Cut,
        counts: &[u64],
        (first, last): (bool, bool),
    ) -> Result<Breakdown, EstimateError> {
        let mut breakdown = Breakdown::default();
        let mut ledger = Ledger { physical: self, batch, cut, breakdown: &mut breakdown };
        if first {
            ledger.lookup()?;
        }
        for (kind, count) in self.anatomy.kinds.iter().zip(counts) {
            if *count > 0 {
                ledger.kind(kind, *count)?;
            }
        }
        if last {
            ledger.last_norm()?;
            ledger.head()?;
        }
        Ok(breakdown)
    }
}

impl Estimator for Physical {
    /// Per GPU: a rank of the stage that the others wait for. Globally: the whole model on one device, as if it fitted.
    fn estimate(&self, batch: &Batch, scope: Scope) -> Result<Breakdown, EstimateError> {
        match scope {
            Scope::PerGpu => self.slowest(batch).map(|(_, breakdown)| breakdown),
            Scope::Global => {
                let counts = self.anatomy.counts(0, u64::MAX);
                self.layers(batch, self.cut(scope), &counts, (true, true))
            }
        }
    }
}

/// A breakdown that is being written.
pub(crate) struct Ledger<'a> {
    physical: &'a Physical,
    batch: &'a Batch,
    cut: Cut,
    breakdown: &'a mut Breakdown,
}

impl Ledger<'_> {
    /// Adds terms with their values to a component.
    fn add(
        &mut self,
        component: Component,
        definitions: &'static [TermDef],
        values: Values,
        precision: Option<Precision>,
    ) -> Result<(), EstimateError> {
        let parts = &mut self.breakdown.parts;
        let place = parts.iter().position(|part| part.component == component).unwrap_or_else(|| {
            parts.push(Part { component, terms: Vec::new(), sheets: Vec::new() });
            parts.len() - 1
        });
        match parts.get_mut(place) {
            Some(part) => part.add(&[definitions], values, precision),
            None => Ok(()),
        }
    }

    /// Values that every sheet has: layers and the bytes of activations.
    fn values(&self, layers: u64) -> Values {
        let mut values = Values::default();
        values.set(Symbol::Layers, layers);
        values.set(Symbol::ActivationBytes, self.physical.dtype.bytes());
        values.set(Symbol::InputBytes, self.physical.dtype.bytes());
        values
    }

    fn all(&self) -> Load {
        Load::of(self.batch, crate::model::anatomy::Span::Full, |_| true)
    }
}

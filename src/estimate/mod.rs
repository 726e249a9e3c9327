//! What a batch costs on a model under a layout, as data.
//!
//! An [`Estimator`] turns a [`Batch`] into a [`Breakdown`]: components (attention, FFN, ...), each a list of named
//! [`Term`]s, every term one quantity (FLOPs, bytes read, bytes written) with its formula and the values put in. Sums,
//! tables, charts and explanations are all read off the same terms.

pub mod formula;
pub mod physical;
pub mod symbol;
pub mod vllm;
pub mod wire;

use crate::batch::Batch;
use crate::hardware::Precision;
use crate::units::{Bytes, Flops, Intensity};
use formula::{Expr, Values};

pub use symbol::Symbol;

/// Something that estimates.
pub trait Estimator {
    /// The cost of one forward step of this batch.
    ///
    /// # Errors
    /// Where a number passes 2^120.
    fn estimate(&self, batch: &Batch, scope: Scope) -> Result<Breakdown, EstimateError>;
}

/// Of what an estimate is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One GPU.
    #[default]
    PerGpu,
    /// The whole model.
    Global,
}

/// A part of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Component {
    /// Attention with a KV cache of heads.
    Attention,
    /// Latent attention.
    MlaAttention,
    /// Dense and expert feed-forward layers.
    Ffn,
    /// The LM head.
    Unembed,
    /// The input embedding.
    Embedding,
    /// Linear attention and other layers with a state of constant size.
    LinearAttention,
    /// Norms, and the residual that they are fused with.
    Norm,
    /// Layers that predict further tokens.
    Mtp,
}

/// What a term counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    /// Floating-point operations.
    Flops,
    /// Bytes read.
    Read,
    /// Bytes written.
    Write,
}

/// What a term moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Traffic {
    /// Nothing: it computes.
    None,
    /// Weights.
    Weights,
    /// Activations.
    Activations,
    /// The KV cache, and what attention reads along with it.
    KvCache,
}

/// The definition of a term.
#[derive(Debug)]
pub struct TermDef {
    /// Its name within the component, as vLLM's counters spell it.
    pub name: &'static str,
    /// The operation it belongs to: terms of one operation run as one step on the GPU.
    pub operation: &'static str,
    /// What it counts.
    pub quantity: Quantity,
    /// What it moves.
    pub traffic: Traffic,
    /// Its formula.
    pub formula: Expr,
    /// The term is there only where none of these is 0.
    pub needs: &'static [Symbol],
}

/// A term with its value.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// What it is.
    pub def: &'static TermDef,
    /// How much.
    pub amount: u128,
    /// The sheet of its part that holds what was put in.
    pub sheet: u16,
}

/// What was put into the formulas of some terms.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The values.
    pub values: Values,
    /// The numbers that its FLOPs multiply, where the estimator knows.
    pub precision: Option<Precision>,
}

/// The terms of one component.
#[derive(Clone, Debug)]
pub struct Part {
    /// Which component.
    pub component: Component,
    /// Its terms, in the order of the reference.
    pub terms: Vec<Term>,
    /// What was put into their formulas: one sheet for all of them, or one for each operation of each kind of layer.
    pub sheets: Vec<Sheet>,
}

/// The cost of a step.
#[derive(Clone, Debug, Default)]
pub struct Breakdown {
    /// The components that apply, in the order of the reference.
    pub parts: Vec<Part>,
}

/// FLOPs, bytes read and bytes written of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Floating-point operations.
    pub flops: Flops,
    /// Bytes read.
    pub read: Bytes,
    /// Bytes written.
    pub write: Bytes,
}

/// No estimate could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EstimateError {
    /// A number does not fit.
    #[error("{component}.{term} passes 2^120: the batch or the model is too large to count")]
    TooLarge {
        /// The component's name.
        component: &'static str,
        /// The term's name.
        term: &'static str,
    },
    /// The physical model has no description of the model.
    #[error("the physical model has no answer: {0}")]
    NotDescribed(String),
}

/// Which estimator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// What vLLM counts.
    #[default]
    Vllm,
    /// What the hardware has to do.
    Physical,
}

impl Method {
    /// Both, with their names.
    pub const ALL: [(Self, &'static str); 2] =
        [(Self::Vllm, Self::Vllm.name()), (Self::Physical, Self::Physical.name())];

    /// The estimator of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known)| *known == name.trim()).map(|(method, _)| method)
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vllm => "vllm",
            Self::Physical => "physical",
        }
    }
}

/// Terms stay below this, so that sums of all the terms of a step are exact too.
const LARGEST_TERM: u128 = 1 << 120;

impl Component {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Attention,
        Self::MlaAttention,
        Self::Ffn,
        Self::Unembed,
        Self::Embedding,
        Self::LinearAttention,
        Self::Norm,
        Self::Mtp,
    ];

    /// The name that prefixes its terms.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Attention => "attn",
            Self::MlaAttention => "mla_attn",
            Self::Ffn => "ffn",
            Self::Unembed => "unembed",
            Self::Embedding => "embed",
            Self::LinearAttention => "linear_attn",
            Self::Norm => "norm",
            Self::Mtp => "mtp",
        }
    }

    /// Its name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Attention => "Attention",
            Self::MlaAttention => "MLA attention",
            Self::Ffn => "FFN",
            Self::Unembed => "LM head",
            Self::Embedding => "Embedding",
            Self::LinearAttention => "Linear attention",
            Self::Norm => "Norms and residual",
            Self::Mtp => "Token prediction",
        }
    }
}

impl Part {
    /// Evaluates definitions.
    ///
    /// # Errors
    /// Where a number passes 2^120.
    pub fn evaluate(
        component: Component,
        definitions: &[&'static [TermDef]],
        values: Values,
    ) -> Result<Self, EstimateError> {
        let mut part = Self { component, terms: Vec::new(), sheets: Vec::new() };
        part.add(definitions, values, None)?;
        Ok(part)
    }

    /// Evaluates further definitions.
    ///
    /// # Errors
    /// Where a number passes 2^120.
    pub fn add(
        &mut self,
        definitions: &[&'static [TermDef]],
        values: Values,
        precision: Option<Precision>,
    ) -> Result<(), EstimateError> {
        let sheet = u16::try_from(self.sheets.len()).unwrap_or(u16::MAX);
        self.terms.reserve(definitions.iter().map(|list| list.len()).sum());
        for def in definitions.iter().copied().flatten() {
            if def.needs.iter().any(|symbol| values.get(*symbol).is_zero()) {
                continue;
            }
            let amount = def.formula.value(&values).and_then(formula::Number::truncated);
            let amount = amount.filter(|amount| *amount < LARGEST_TERM);
            let too_large = EstimateError::TooLarge { component: self.component.name(), term: def.name };
            self.terms.push(Term { def, amount: amount.ok_or(too_large)?, sheet });
        }
        self.sheets.push(Sheet { values, precision });
        Ok(())
    }

    /// The formula of a term of this part, with the numbers put in.
    #[must_use]
    pub fn written(&self, term: &Term) -> String {
        let sheet = self.sheets.get(usize::from(term.sheet));
        sheet.map_or_else(String::new, |sheet| term.def.formula.with_values(&sheet.values))
    }

    /// The value of a symbol in a term of this part.
    #[must_use]
    pub fn value(&self, term: &Term, symbol: Symbol) -> formula::Number {
        let sheet = self.sheets.get(usize::from(term.sheet));
        sheet.map_or(formula::Number::Int(0), |sheet| sheet.values.get(symbol))
    }

    /// The terms, those of one name added up over the kinds of layers; in the order of their first mention.
    #[must_use]
    pub fn sums(&self) -> Vec<(&'static TermDef, u128)> {
        let mut sums: Vec<(&'static TermDef, u128)> = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let same = |(def, _): &&mut (&'static TermDef, u128)| {
                (def.name, def.quantity) == (term.def.name, term.def.quantity)
            };
            match sums.iter_mut().find(same) {
                Some((_, sum)) => *sum = sum.saturating_add(term.amount),
                None => sums.push((term.def, term.amount)),
            }
        }
        sums
    }

    /// The component's sums.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.terms.iter().map(Term::cost).sum()
    }
}

impl Term {
    /// The term as a cost.
    #[must_use]
    pub fn cost(&self) -> Cost {
        let mut cost = Cost::default();
        match self.def.quantity {
            Quantity::Flops => cost.flops = Flops(self.amount),
            Quantity::Read => cost.read = Bytes(self.amount),
            Quantity::Write => cost.write = Bytes(self.amount),
        }
        cost
    }
}

impl Breakdown {
    /// The sums of the step.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.parts.iter().map(Part::cost).sum()
    }

    /// The terms of one quantity, with their components, in order.
    pub fn terms(&self, quantity: Quantity) -> impl Iterator<Item = (Component, &Term)> {
        self.parts
            .iter()
            .flat_map(|part| part.terms.iter().map(|term| (part.component, term)))
            .filter(move |(_, term)| term.def.quantity == quantity)
    }
}

impl Cost {
    /// Bytes read and written.
    #[must_use]
    pub fn moved(&self) -> Bytes {
        self.read + self.write
    }

    /// FLOPs per byte moved; `None` when nothing is moved.
    #[must_use]
    pub fn intensity(&self) -> Option<Intensity> {
        self.flops.per_byte(self.moved())
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |sum, cost| Self {
            flops: sum.flops + cost.flops,
            read: sum.read + cost.read,
            write: sum.write + cost.write,
        })
    }
}

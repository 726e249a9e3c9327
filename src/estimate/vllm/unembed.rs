//! The LM head. Its weights count in the model's dtype, whatever the quantization.

use super::terms::{Product, Sym, TWO, flops, reads, weights, writes};
use super::{Field, byte_field, byte_number};
use crate::estimate::formula::Values;
use crate::estimate::symbol::Symbol::{
    ActivationBytes as A, Hidden as D, LogitsTokens as T, Vocab as V, WeightBytes as W,
};
use crate::estimate::{Component, EstimateError, Part, Scope, TermDef};
use crate::model::quantization::WeightBytes;
use crate::model::{Dtype, ModelSpec};
use crate::settings::Settings;

/// Fields of the component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unembed {
    /// Hidden size.
    pub hidden: u64,
    /// Vocabulary.
    pub vocab: u64,
    /// Bytes of a weight and of an activation.
    pub bytes: u64,
    /// Tensor parallel size.
    pub tp: u64,
}

const HEAD: &str = "LM head";

static TERMS: &[TermDef] = &[
    flops(HEAD, "unembed", Product(&[TWO, Sym(T), Sym(D), Sym(V)]), &[]),
    reads(HEAD, "input", Product(&[Sym(T), Sym(D), Sym(A)]), &[]),
    weights(HEAD, "weight", Product(&[Sym(D), Sym(V), Sym(W)]), &[]),
    writes(HEAD, "output", Product(&[Sym(T), Sym(V), Sym(A)]), &[]),
];

impl Unembed {
    pub(super) fn new(model: &ModelSpec, settings: &Settings, dtype: Dtype) -> Result<Self, String> {
        Ok(Self {
            hidden: model.hidden.positive("hidden_size")?,
            vocab: model.vocab.positive("vocab_size")?,
            bytes: dtype.bytes(),
            tp: settings.layout.tp.get().into(),
        })
    }

    pub(super) fn fields(&self) -> Vec<(&'static str, Field)> {
        vec![
            ("hidden_size", Field::Int(self.hidden)),
            ("vocab_size", Field::Int(self.vocab)),
            ("weight_byte_size", byte_field(WeightBytes::Whole(self.bytes))),
            ("activation_byte_size", Field::Int(self.bytes)),
            ("tp_size", Field::Int(self.tp)),
        ]
    }

    pub(super) fn estimate(&self, mut values: Values, scope: Scope) -> Result<Part, EstimateError> {
        let tp = match scope {
            Scope::PerGpu => self.tp,
            Scope::Global => 1,
        };
        values.set(D, self.hidden);
        values.set(V, self.vocab / tp);
        values.put(W, byte_number(WeightBytes::Whole(self.bytes)));
        values.set(A, self.bytes);
        Part::evaluate(Component::Unembed, &[TERMS], values)
    }
}

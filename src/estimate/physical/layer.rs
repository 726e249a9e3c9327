//! A layer's matrices and passes over activations.

use super::terms::{COMBINE, DENSE_ACT, INNER, LOOKUP, NORMS, ROUTED_ACT, SHARED_ACT};
use super::{Ledger, Load};
use crate::estimate::formula::Number;
use crate::estimate::{Component, EstimateError, Symbol, TermDef};
use crate::model::anatomy::{Core, Experts, Kind, Matrix, Op, Rows};
use crate::model::number::Format;

/// What routing comes to on a rank.
#[derive(Clone, Copy, Debug)]
struct Routing {
    /// Pairs of token and expert.
    pairs: Number,
    /// Distinct experts that are touched.
    touched: Number,
}

impl Ledger<'_> {
    /// The embedding of new tokens.
    pub(super) fn lookup(&mut self) -> Result<(), EstimateError> {
        let hidden = self.physical.anatomy.hidden;
        self.pass(Component::Embedding, &LOOKUP, int(self.all().tokens), (hidden, hidden), 1)
    }

    /// The LM head, with its vocabulary padded to 64 on every rank.
    pub(super) fn head(&mut self) -> Result<(), EstimateError> {
        let anatomy = std::sync::Arc::clone(&self.physical.anatomy);
        let Some(head) = &anatomy.head else { return Ok(()) };
        let mut padded = head.clone();
        for dim in &mut padded.outputs {
            dim.units = dim.units.next_multiple_of(64);
        }
        let routing = Routing { pairs: Number::Int(0), touched: Number::Int(0) };
        self.matrix(&padded, routing, 1)
    }

    /// A kind of layer, so many times.
    pub(super) fn kind(&mut self, kind: &Kind, layers: u64) -> Result<(), EstimateError> {
        let routing = self.routing(kind.experts);
        let tokens = int(self.all().tokens);
        for matrix in &kind.matrices {
            self.matrix(matrix, routing, layers)?;
            let (act, component): (&'static [TermDef], _) = match matrix.op {
                Op::DenseUp => (&DENSE_ACT, Component::Ffn),
                Op::RoutedUp => (&ROUTED_ACT, Component::Ffn),
                Op::SharedUp => (&SHARED_ACT, Component::Ffn),
                _ => continue,
            };
            let routed = matrix.op == Op::RoutedUp;
            let ways = if routed { self.cut.expert_tp } else { self.cut.tp };
            let wide = matrix.out(ways);
            // Gate and up come in, their product goes out.
            let one = matrix.outputs.first().map_or(1, |dim| dim.width.max(1));
            let rows = if routed { routing.pairs } else { tokens };
            self.pass(component, act, rows, (wide, wide / one), layers)?;
        }
        if let Some(experts) = kind.experts {
            // What experts give is read once a pair, and written once a token that this rank has.
            let share = Number::Real(routing.pairs.as_f64() / experts.per_token.max(1) as f64);
            self.combine(routing.pairs, share, experts.width, layers)?;
        }
        for core in &kind.cores {
            self.core(core, kind, layers)?;
        }
        self.inner(kind, tokens, layers)?;
        let hidden = self.physical.anatomy.hidden.saturating_mul(self.physical.anatomy.streams);
        let moved = (hidden * kind.norms.reads, hidden * kind.norms.writes);
        self.pass(Component::Norm, &NORMS, tokens, moved, layers)
    }

    /// Rotary embeddings and the norms within attention.
    fn inner(&mut self, kind: &Kind, tokens: Number, layers: u64) -> Result<(), EstimateError> {
        let (mut read, mut written) = (0, 0);
        for inner in &kind.inner {
            let elements = inner.elements.local(self.cut.tp);
            read += elements;
            written += if inner.written { elements } else { 0 };
        }
        if read == 0 {
            return Ok(());
        }
        let heads = kind.cores.iter().any(|core| matches!(core, Core::Heads(_)));
        let component = if heads { Component::Attention } else { Component::MlaAttention };
        self.pass(component, &INNER, tokens, (read, written), layers)
    }

    /// The norm behind the last layer, of all tokens.
    pub(super) fn last_norm(&mut self) -> Result<(), EstimateError> {
        let hidden = self.physical.anatomy.hidden;
        self.pass(Component::Norm, &NORMS, int(self.all().tokens), (hidden.saturating_mul(2), hidden), 1)
    }

    fn combine(&mut self, pairs: Number, share: Number, width: u64, layers: u64) -> Result<(), EstimateError> {
        // Both terms share a sheet: the output's width is that of a pair's share.
        let mut values = self.values(layers);
        values.put(Symbol::Rows, pairs);
        values.set(Symbol::Inputs, width);
        let fraction = if pairs.is_zero() { 0.0 } else { share.as_f64() / pairs.as_f64() };
        values.put(Symbol::Outputs, Number::Real(width as f64 * fraction));
        self.add(Component::Ffn, &COMBINE, values, None)
    }

    /// A pass over so many rows, with elements that come in and go out.
    fn pass(
        &mut self,
        component: Component,
        terms: &'static [TermDef],
        rows: Number,
        (inputs, outputs): (u64, u64),
        layers: u64,
    ) -> Result<(), EstimateError> {
        let mut values = self.values(layers);
        values.put(Symbol::Rows, rows);
        values.set(Symbol::Inputs, inputs);
        values.set(Symbol::Outputs, outputs);
        self.add(component, terms, values, None)
    }

    /// A product with matrices, so many times.
    fn matrix(&mut self, matrix: &Matrix, routing: Routing, layers: u64) -> Result<(), EstimateError> {
        let rows = matrix.op.rows();
        let routed = rows == Rows::Routed;
        let ways = if routed { self.cut.expert_tp } else { self.cut.tp };
        let copies = if routed { 1 } else { matrix.count.local(self.cut.tp) };
        let times = |rows: u128| Number::Int(rows.saturating_mul(copies.into()));
        let of_rows = match rows {
            Rows::Tokens => times(self.all().tokens),
            Rows::Expanded => times(self.expanded(matrix).context),
            Rows::Absorbed => times(self.absorbed_tokens()),
            Rows::Logits => times(Load::logits(self.batch)),
            Rows::Routed => routing.pairs,
            Rows::Never => Number::Int(0),
        };
        let format = self.physical.format(matrix);
        let precision = self.physical.precision(format);
        let inputs = matrix.inputs.local(ways);
        let mut values = self.values(layers);
        values.put(Symbol::Rows, of_rows);
        values.set(Symbol::Inputs, inputs);
        values.set(Symbol::Outputs, matrix.out(ways));
        values.put(Symbol::Copies, if routed { routing.touched } else { Number::Int(copies.into()) });
        values.put(Symbol::WeightBytes, weight_bytes(format, inputs, self.physical.dtype.bytes()));
        values.put(Symbol::InputBytes, self.physical.input_bytes(format));
        self.add(matrix.op.component(), matrix.op.terms(), values, Some(precision))
    }

    /// Pairs and touched experts of the rank with most experts, for the tokens of all data-parallel ranks.
    fn routing(&self, experts: Option<Experts>) -> Routing {
        let none = Routing { pairs: Number::Int(0), touched: Number::Int(0) };
        let Some(Experts { count, idle, per_token, .. }) = experts else { return none };
        let tokens = self.all().tokens.saturating_mul(self.cut.dp.into());
        let all = count.saturating_add(idle).max(1);
        let local = count.div_ceil(self.cut.ep.max(1));
        let pairs = tokens.saturating_mul(per_token.into()).saturating_mul(local.into());
        let exact = pairs.is_multiple_of(all.into());
        let pairs = if exact { Number::Int(pairs / u128::from(all)) } else { Number::Real(pairs as f64 / all as f64) };
        let touched = if self.physical.assumptions.balanced {
            if pairs.as_f64() < local as f64 { pairs } else { Number::Int(local.into()) }
        } else {
            distinct(local, all, per_token, tokens)
        };
        Routing { pairs, touched }
    }
}

fn int(value: u128) -> Number {
    Number::Int(value)
}

/// Experts of `local` that T tokens touch, which each go to `k` of `all` at random: local (1 - (1 - k/all)^T).
#[must_use]
pub(crate) fn distinct(local: u64, all: u64, k: u64, tokens: u128) -> Number {
    if k >= all || tokens == 0 {
        return Number::Int(if tokens == 0 { 0 } else { local.into() });
    }
    let missed = (1.0 - k as f64 / all as f64).powf(tokens as f64);
    Number::Real(local as f64 * (1.0 - missed))
}

/// Bytes a weight of a matrix with so many inputs; 16 bit means the dtype.
pub(crate) fn weight_bytes(format: Format, inputs: u64, dtype: u64) -> Number {
    if format == Format::PLAIN {
        return Number::Int(dtype.into());
    }
    let (bits, group) = format.bits_of(inputs);
    let eighths = group.saturating_mul(8);
    if bits.is_multiple_of(eighths) {
        Number::Int((bits / eighths).into())
    } else {
        Number::Real(bits as f64 / eighths as f64)
    }
}

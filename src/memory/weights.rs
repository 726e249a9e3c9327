//! Bytes of weights on a rank of a pipeline stage.

use crate::estimate::Scope;
use crate::estimate::physical::{Physical, stages};
use crate::model::anatomy::{Categories, Category, Dim, Kind, Matrix, Op, Rows};
use crate::model::number::Format;
use crate::units::Bytes;

/// Weights of a rank of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weights {
    /// Bytes by category.
    pub categories: Categories,
    /// Bytes of layers that predict further tokens; they are loaded with speculative decoding only, and not among the
    /// others.
    pub mtp: Bytes,
}

impl Weights {
    /// The sum, without prediction layers.
    #[must_use]
    pub fn total(&self) -> Bytes {
        Bytes(self.categories.total())
    }
}

/// The weights of a rank of a stage. [`Scope::Global`] is the whole model in one piece.
#[must_use]
pub fn weights(physical: &Physical, scope: Scope, stage: u64) -> Weights {
    let anatomy = physical.anatomy();
    let stages = match scope {
        Scope::Global => 1,
        Scope::PerGpu => physical.stages(),
    };
    let (from, to) = stages::layers(anatomy.layers(), stages, stage);
    let (first, last) = (stage == 0, stage + 1 == stages);
    let mut holder = Holder { physical, scope, categories: Categories::default() };
    for (kind, count) in anatomy.kinds.iter().zip(anatomy.counts(from, to)) {
        holder.kind(kind, count);
    }
    let tp = physical.cut(scope).tp;
    let dtype = u128::from(physical.dtype.bytes());
    if first {
        holder.categories.add(Category::Embedding, u128::from(anatomy.embedding).div_ceil(tp.into()) * dtype);
    }
    if last {
        holder.categories.add(Category::Norm, u128::from(anatomy.outside) * dtype);
        // A tied head needs a copy where the embedding is on another GPU.
        if let Some(head) = anatomy.head.as_ref().filter(|_| !(anatomy.tied && first)) {
            let mut padded = head.clone();
            for dim in &mut padded.outputs {
                dim.units = dim.units.next_multiple_of(64);
            }
            holder.matrix(&padded, 1);
        }
    }
    let mtp = anatomy.mtp.as_ref().filter(|_| last).map_or(0, |mtp| {
        let mut own = Holder { physical, scope, categories: Categories::default() };
        own.kind(&mtp.kind, mtp.layers);
        // The last stage embeds what it drafts: with stages before it, from a copy, whatever its head holds.
        let embedding = if first { 0 } else { u128::from(anatomy.embedding).div_ceil(tp.into()) * dtype };
        own.categories.total() + embedding
    });
    Weights { categories: holder.categories, mtp: Bytes(mtp) }
}

/// Bytes that are being added up.
struct Holder<'a> {
    physical: &'a Physical,
    scope: Scope,
    categories: Categories,
}

impl Holder<'_> {
    fn kind(&mut self, kind: &Kind, layers: u64) {
        if layers == 0 {
            return;
        }
        for matrix in &kind.matrices {
            self.matrix(matrix, layers);
        }
        let norms = u128::from(kind.norm_params) * u128::from(layers) * u128::from(self.physical.dtype.bytes());
        self.categories.add(Category::Norm, norms);
    }

    fn matrix(&mut self, matrix: &Matrix, layers: u64) {
        let cut = self.physical.cut(self.scope);
        let routed = matrix.op.rows() == Rows::Routed;
        let copy = matrix.op.rows() == Rows::Absorbed;
        // The copies of the up-projection exist on GPUs only, not in the model.
        if copy && self.scope == Scope::Global {
            return;
        }
        let format = self.physical.format(matrix);
        let (ways, copies) =
            if routed { (cut.expert_tp, matrix.count.local(cut.ep)) } else { (cut.tp, matrix.count.local(cut.tp)) };
        let pad = routed && format == Format::MXFP4 && self.scope == Scope::PerGpu;
        let sized = |dim: &Dim| {
            let local = dim.local(ways);
            // Kernels of MXFP4 experts want whole tiles: of the hidden size 256, of the width 64.
            match (pad, dim.units > 1) {
                (true, true) => local.next_multiple_of(64),
                (true, false) => local.next_multiple_of(256),
                (false, _) => local,
            }
        };
        let outputs: u64 = matrix.outputs.iter().filter(|dim| dim.width > 0).map(sized).sum();
        let inputs = sized(&matrix.inputs);
        let weights = [copies, inputs, outputs].into_iter().map(u128::from).fold(1, u128::saturating_mul);
        let dtype = self.physical.dtype.bytes();
        let bytes = if format == Format::PLAIN { weights * u128::from(dtype) } else { format.bytes(weights, inputs) };
        // Biases follow the outputs and the copies.
        let all = u128::from(matrix.count.total()) * u128::from(matrix.out(1).max(1));
        let local = u128::from(copies) * u128::from(matrix.out(ways));
        let bias = (u128::from(matrix.bias) * local).div_ceil(all.max(1)) * u128::from(dtype);
        let category = if matrix.op == Op::Head { Category::Head } else { matrix.op.category() };
        self.categories.add(category, (bytes.saturating_add(bias)).saturating_mul(layers.into()));
    }
}

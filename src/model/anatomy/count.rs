//! Parameters: in all, by category, and of a token.

use super::{Anatomy, Kind, Matrix, Op, Rows};

/// What parameters are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Input embedding, of tokens and positions.
    Embedding,
    /// LM head, where it is a matrix of its own.
    Head,
    /// Attention, linear attention, recurrent blocks, indexers.
    Attention,
    /// Dense FFN.
    Mlp,
    /// Routed experts.
    Routed,
    /// Shared experts.
    Shared,
    /// Routers.
    Router,
    /// Norms.
    Norm,
    /// What is none of these.
    Other,
}

impl Category {
    /// All of them with their names in answers.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Embedding, "embedding"),
        (Self::Head, "lm_head"),
        (Self::Attention, "attention"),
        (Self::Mlp, "mlp"),
        (Self::Routed, "routed_experts"),
        (Self::Shared, "shared_experts"),
        (Self::Router, "router"),
        (Self::Norm, "norm"),
        (Self::Other, "other"),
    ];
}

/// An amount for each category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Categories([u128; 9]);

impl Categories {
    /// The amount of a category.
    #[must_use]
    pub fn of(&self, category: Category) -> u128 {
        self.0.get(category as usize).copied().unwrap_or(0)
    }

    /// Adds to a category; saturates.
    pub fn add(&mut self, category: Category, amount: u128) {
        if let Some(slot) = self.0.get_mut(category as usize) {
            *slot = slot.saturating_add(amount);
        }
    }

    /// The sum over the categories.
    #[must_use]
    pub fn total(&self) -> u128 {
        self.0.iter().copied().fold(0, u128::saturating_add)
    }

    /// The categories that are not empty, with their names.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u128)> {
        Category::ALL.into_iter().map(|(category, name)| (name, self.of(category))).filter(|(_, amount)| *amount > 0)
    }
}

/// Parameters of a language model, shared matrices once, without prediction layers and other modalities' towers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// By category.
    pub categories: Categories,
    /// Those that a token is multiplied with: the experts it is routed to, and no looked-up table.
    pub active: u128,
    /// Those of the layers that predict further tokens.
    pub mtp: u128,
}

impl Parameters {
    /// The sum.
    #[must_use]
    pub fn total(&self) -> u128 {
        self.categories.total()
    }
}

impl Anatomy {
    /// Counts the parameters.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        let mut categories = Categories::default();
        let mut idle = 0_u128;
        for (kind, layers) in self.counted() {
            kind.add_to(&mut categories, layers.into());
            idle = idle.saturating_add(kind.idle().saturating_mul(layers.into()));
        }
        categories.add(Category::Embedding, self.embedding.into());
        categories.add(Category::Norm, self.outside.into());
        let head = self.head.as_ref().map_or(0, Matrix::params);
        if self.streams > 1 {
            // The head joins the streams.
            let streams = u128::from(self.streams);
            categories.add(Category::Other, streams * streams * u128::from(self.hidden) + streams + 1);
        }
        if !self.tied {
            categories.add(Category::Head, head);
        }
        let looked_up = if self.tied { 0 } else { u128::from(self.embedding) };
        let active = categories.total().saturating_sub(idle).saturating_sub(looked_up);
        let mtp = self.mtp.as_ref().map_or(0, |mtp| {
            let mut own = Categories::default();
            mtp.kind.add_to(&mut own, mtp.layers.into());
            own.total()
        });
        Parameters { categories, active, mtp }
    }
}

impl Kind {
    /// Adds the parameters of so many such layers.
    pub fn add_to(&self, categories: &mut Categories, layers: u128) {
        for matrix in &self.matrices {
            categories.add(matrix.op.category(), matrix.params().saturating_mul(layers));
        }
        categories.add(Category::Norm, u128::from(self.norm_params).saturating_mul(layers));
    }

    /// Parameters of experts that a token is not routed to.
    fn idle(&self) -> u128 {
        let Some(experts) = self.experts else { return 0 };
        let routed = self.matrices.iter().filter(|matrix| matrix.op.rows() == Rows::Routed);
        let all = routed.map(Matrix::params).fold(0, u128::saturating_add);
        let (count, idle) = (u128::from(experts.count), u128::from(experts.idle));
        // Of the routed pairs, the share that goes to experts with weights.
        let taken = all.saturating_mul(experts.per_token.into()).checked_div(count + idle).unwrap_or(0);
        all.saturating_sub(taken)
    }

    /// The matrices of an operation.
    pub fn of(&self, op: Op) -> impl Iterator<Item = &Matrix> {
        self.matrices.iter().filter(move |matrix| matrix.op == op)
    }
}

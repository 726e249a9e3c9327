//! A matrix of a layer, and the operations that matrices belong to.

use super::Category;
use crate::estimate::physical::terms::matrix_terms;
use crate::estimate::{Component, TermDef};
use crate::model::number::Format;

/// A dimension that tensor parallelism can cut: so many units of so many elements. One unit is never cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dim {
    /// Units, such as heads: each rank has its share, rounded up, and at least one.
    pub units: u64,
    /// Elements of a unit.
    pub width: u64,
}

/// Matrices of equal shape in one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// What they are for.
    pub op: Op,
    /// How many there are: experts, blocks of a diagonal.
    pub count: Dim,
    /// Input elements.
    pub inputs: Dim,
    /// Output elements, in up to three parts that are cut apart from each other (query, key, value).
    pub outputs: [Dim; 3],
    /// Further parameters that belong to it: biases, small vectors, over all copies.
    pub bias: u64,
    /// How its weights are stored.
    pub format: Format,
}

/// Which rows a matrix is multiplied with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Every new token.
    Tokens,
    /// New tokens of prefills, and the cached tokens before them.
    Expanded,
    /// New tokens of decodes, head by head; the weights are copies in 16 bit.
    Absorbed,
    /// Token-expert pairs.
    Routed,
    /// Tokens that need logits.
    Logits,
    /// None in a step: it ran when an image came in.
    Never,
}

macro_rules! ops {
    ($($variant:ident $component:ident $category:ident $rows:ident $operation:literal $stem:literal $modules:literal)*) => {
        /// What a matrix is for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Op {
            $(#[doc = $operation] $variant),*
        }

        impl Op {
            /// The component that it belongs to.
            #[must_use]
            pub fn component(self) -> Component {
                match self { $(Self::$variant => Component::$component),* }
            }

            /// The category of its parameters.
            #[must_use]
            pub fn category(self) -> Category {
                match self { $(Self::$variant => Category::$category),* }
            }

            /// The rows that it is multiplied with.
            #[must_use]
            pub fn rows(self) -> Rows {
                match self { $(Self::$variant => Rows::$rows),* }
            }

            /// Its terms: FLOPs, input, weights, output.
            #[must_use]
            pub fn terms(self) -> &'static [TermDef] {
                match self {
                    $(Self::$variant => {
                        static TERMS: [TermDef; 4] = matrix_terms(
                            $operation,
                            [
                                concat!($stem, "_proj"),
                                concat!($stem, "_input"),
                                concat!($stem, "_weight"),
                                concat!($stem, "_output"),
                            ],
                        );
                        &TERMS
                    }),*
                }
            }

            /// Module names under which checkpoints hold it, within a layer, separated by spaces; empty where it is
            /// 16 bit in every checkpoint.
            #[must_use]
            pub fn modules(self) -> &'static str {
                match self { $(Self::$variant => $modules),* }
            }
        }
    };
}

ops! {
    Qkv Attention Attention Tokens "QKV projection" "qkv"
        "self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.qkv_proj mixer.q_proj attn.c_attn"
    Out Attention Attention Tokens "output projection" "out" "self_attn.o_proj mixer.o_proj attn.c_proj"
    CrossQuery Attention Attention Tokens "cross-attention query" "cross_q" "cross_attn.q_proj"
    CrossKv Attention Attention Never "cross-attention keys and values" "cross_kv" "cross_attn.k_proj"
    QueryDown MlaAttention Attention Tokens "Q projection" "q_a"
        "self_attn.q_a_proj attn.wq_a attn.fused_wqa_wkv"
    QueryUp MlaAttention Attention Tokens "Q projection" "q_b" "self_attn.q_b_proj self_attn.q_proj attn.wq_b"
    KvDown MlaAttention Attention Tokens "KV down-projection" "kv_a"
        "self_attn.kv_a_proj_with_mqa attn.wkv attn.fused_wqa_wkv"
    KvUp MlaAttention Attention Expanded "KV up-projection" "kv_b" "self_attn.kv_b_proj"
    KvUpAll MlaAttention Attention Tokens "KV up-projection" "kv_b" "self_attn.kv_b_proj"
    AbsorbKey MlaAttention Attention Absorbed "absorbed up-projection" "absorb_k" ""
    AbsorbValue MlaAttention Attention Absorbed "absorbed up-projection" "absorb_v" ""
    IndexQuery MlaAttention Attention Tokens "indexer" "index_q" "self_attn.indexer.wq_b attn.indexer.wq_b"
    IndexKey MlaAttention Attention Tokens "indexer" "index_k" ""
    Compressor MlaAttention Attention Tokens "KV compressor" "compressor" ""
    LatentOutDown MlaAttention Attention Tokens "output projection" "out_a" "attn.wo_a"
    LatentOut MlaAttention Attention Tokens "output projection" "out" "self_attn.o_proj attn.wo_b"
    LatentGate MlaAttention Attention Tokens "output gate" "gate" "self_attn.g_proj"
    StateIn LinearAttention Attention Tokens "input projection" "in"
        "linear_attn.in_proj_qkv linear_attn.in_proj_qkvz linear_attn.in_proj_z mixer.in_proj self_attn.q_proj conv.in_proj"
    StateGates LinearAttention Attention Tokens "gates" "gates" "linear_attn.in_proj_b linear_attn.in_proj_a linear_attn.in_proj_ba"
    StateOut LinearAttention Attention Tokens "output projection" "state_out"
        "linear_attn.out_proj mixer.out_proj self_attn.o_proj conv.out_proj"
    ScanIn LinearAttention Attention Tokens "input projection" "scan_in" ""
    ScanOut LinearAttention Attention Tokens "output projection" "scan_out" ""
    DenseUp Ffn Mlp Tokens "dense FFN" "dense_up_gate"
        "mlp.gate_proj mlp.up_proj mlp.gate_up_proj feed_forward.gate_proj feed_forward.up_proj mixer.up_proj mlp.fc1 mlp.c_fc"
    DenseDown Ffn Mlp Tokens "dense FFN" "dense_down"
        "mlp.down_proj feed_forward.down_proj mixer.down_proj mlp.fc2 mlp.c_proj"
    Router Ffn Router Tokens "router" "router" ""
    RoutedUp Ffn Routed Routed "routed experts" "routed_up_gate"
        "mlp.experts.0.gate_proj mlp.experts.0.up_proj mlp.experts block_sparse_moe.experts.0.w1 feed_forward.experts.0.gate_proj feed_forward.experts mixer.experts.0.up_proj ffn.experts.0.gate_proj"
    RoutedDown Ffn Routed Routed "routed experts" "routed_down"
        "mlp.experts.0.down_proj mlp.experts block_sparse_moe.experts.0.w2 feed_forward.experts.0.down_proj feed_forward.experts mixer.experts.0.down_proj ffn.experts.0.down_proj"
    SharedUp Ffn Shared Tokens "shared experts" "shared_up_gate"
        "mlp.shared_experts.gate_proj mlp.shared_expert.gate_proj mlp.shared_mlp.gate_proj feed_forward.shared_expert.gate_proj mixer.shared_experts.up_proj ffn.shared_experts.gate_proj"
    SharedDown Ffn Shared Tokens "shared experts" "shared_down"
        "mlp.shared_experts.down_proj mlp.shared_expert.down_proj mlp.shared_mlp.down_proj feed_forward.shared_expert.down_proj mixer.shared_experts.down_proj ffn.shared_experts.down_proj"
    SharedGate Ffn Shared Tokens "shared experts" "shared_gate" ""
    LatentIn Ffn Mlp Tokens "expert latent" "expert_latent_in" "mixer.fc1_latent_proj"
    LatentBack Ffn Mlp Tokens "expert latent" "expert_latent_out" "mixer.fc2_latent_proj"
    MixAttention Norm Attention Tokens "hyper-connections" "hc_attn" ""
    MixFfn Norm Mlp Tokens "hyper-connections" "hc_ffn" ""
    Join Mtp Other Tokens "MTP" "mtp_join" "eh_proj"
    Head Unembed Head Logits "LM head" "head" "lm_head"
}

impl Dim {
    /// Elements that are never cut.
    #[must_use]
    pub const fn whole(width: u64) -> Self {
        Self { units: 1, width }
    }

    /// So many units of so many elements.
    #[must_use]
    pub const fn cut(units: u64, width: u64) -> Self {
        Self { units, width }
    }

    /// All elements.
    #[must_use]
    pub fn total(self) -> u64 {
        self.units.saturating_mul(self.width)
    }

    /// The elements of a rank, one of `ways`.
    #[must_use]
    pub fn local(self, ways: u64) -> u64 {
        self.units.div_ceil(ways.max(1)).saturating_mul(self.width)
    }
}

impl Matrix {
    /// One matrix from `inputs` to `outputs`, in 16 bit.
    #[must_use]
    pub fn new(op: Op, inputs: Dim, outputs: Dim) -> Self {
        let none = Dim::default();
        Self { op, count: Dim::whole(1), inputs, outputs: [outputs, none, none], bias: 0, format: Format::PLAIN }
    }

    /// With that many copies, cut between ranks.
    #[must_use]
    pub fn times(self, copies: u64) -> Self {
        Self { count: Dim::cut(copies, 1), ..self }
    }

    /// With these further parameters.
    #[must_use]
    pub fn and(self, bias: u64) -> Self {
        Self { bias, ..self }
    }

    /// Output elements of a rank, one of `ways`.
    #[must_use]
    pub fn out(&self, ways: u64) -> u64 {
        self.outputs.iter().map(|dim| dim.local(ways)).fold(0, u64::saturating_add)
    }

    /// Its parameters: none where it is a copy of others.
    #[must_use]
    pub fn params(&self) -> u128 {
        match self.op.rows() {
            Rows::Absorbed => 0,
            _ => self.weights().saturating_add(self.bias.into()),
        }
    }

    /// The elements of its matrices.
    #[must_use]
    pub fn weights(&self) -> u128 {
        [self.count.total(), self.inputs.total(), self.out(1)].into_iter().map(u128::from).fold(1, u128::saturating_mul)
    }
}

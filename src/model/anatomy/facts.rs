//! What the model classes fix that no key of a config says: biases, gates, norms, learned positions.

/// Query, key and value have a bias.
pub(super) const QKV_BIAS: u32 = 1;
/// The output projection has a bias.
pub(super) const OUT_BIAS: u32 = 1 << 1;
/// `attention_bias` means query, key and value only.
pub(super) const KEY_QKV_ONLY: u32 = 1 << 2;
/// The FFN has two matrices.
pub(super) const PLAIN: u32 = 1 << 3;
/// The FFN has biases.
pub(super) const FFN_BIAS: u32 = 1 << 4;
/// Norms have a bias.
pub(super) const NORM_BIAS: u32 = 1 << 5;
/// One norm a layer: attention and FFN run beside each other.
pub(super) const ONE_NORM: u32 = 1 << 6;
/// Three norms a layer.
pub(super) const THREE_NORMS: u32 = 1 << 7;
/// Four norms a layer.
pub(super) const FOUR_NORMS: u32 = 1 << 8;
/// Query and key are normed, head by head.
pub(super) const QK_NORM: u32 = 1 << 9;
/// The same where `use_qk_norm` is true.
pub(super) const QK_NORM_KEY: u32 = 1 << 10;
/// Query and key are normed over all heads.
pub(super) const QK_NORM_WIDE: u32 = 1 << 11;
/// Learned positions.
pub(super) const POSITIONS: u32 = 1 << 12;
/// The LM head has a bias.
pub(super) const HEAD_BIAS: u32 = 1 << 13;
/// The embedding is normed.
pub(super) const EMBED_NORM: u32 = 1 << 14;
/// Attention's output is gated: the query projection is twice as wide.
pub(super) const GATE: u32 = 1 << 15;
/// A learned sink a head.
pub(super) const SINKS: u32 = 1 << 16;
/// Cross-attention in every layer, on an encoder's output.
pub(super) const CROSS: u32 = 1 << 17;
/// Keys have no bias where queries and values do.
pub(super) const NO_KEY_BIAS: u32 = 1 << 18;
/// The shared expert has a gate of its own.
pub(super) const SHARED_GATE: u32 = 1 << 19;
/// Attention and FFN share one all-reduce.
pub(super) const ONE_REDUCE: u32 = 1 << 20;
/// The router has a bias.
pub(super) const ROUTER_BIAS: u32 = 1 << 21;

const GPT2: u32 = QKV_BIAS | OUT_BIAS | PLAIN | FFN_BIAS | NORM_BIAS | POSITIONS;
const BLOOM: u32 = QKV_BIAS | OUT_BIAS | PLAIN | FFN_BIAS | NORM_BIAS;
const GPTJ: u32 = PLAIN | FFN_BIAS | NORM_BIAS | ONE_NORM | HEAD_BIAS;

/// Facts by `model_type` of the language model. Types that are missing are like Llama: gated FFN, two norms, biases
/// where a key says so.
const TABLE: &[(&str, u32)] = &[
    (
        "qwen qwen2 qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text qwen2_5_omni_text qwen2_audio qwen2_moe mimo \
      minicpmv",
        QKV_BIAS,
    ),
    ("qwen3 qwen3_moe qwen3_vl qwen3_vl_text qwen3_vl_moe_text gemma3n_text exaone4 exaone_moe", QK_NORM),
    ("qwen3_next qwen3_5_text qwen3_5_moe_text", QK_NORM | GATE | SHARED_GATE),
    ("gemma2", FOUR_NORMS),
    ("gemma3_text gemma4_text gemma4_unified_text", FOUR_NORMS | QK_NORM),
    ("gpt_oss", QKV_BIAS | OUT_BIAS | SINKS | ROUTER_BIAS | FFN_BIAS),
    ("phimoe", NORM_BIAS),
    ("phi", QKV_BIAS | OUT_BIAS | PLAIN | FFN_BIAS | NORM_BIAS | ONE_NORM | HEAD_BIAS),
    ("gpt_neox", BLOOM),
    ("gptj codegen", GPTJ),
    ("gpt_neo", OUT_BIAS | PLAIN | FFN_BIAS | NORM_BIAS | POSITIONS),
    ("gpt2 gpt_bigcode opt", GPT2),
    ("whisper", GPT2 | CROSS | THREE_NORMS | NO_KEY_BIAS),
    ("bloom", BLOOM | EMBED_NORM),
    ("starcoder2", BLOOM),
    ("mpt", PLAIN),
    ("falcon RefinedWeb RefinedWebModel", PLAIN | NORM_BIAS | ONE_REDUCE),
    ("nemotron persimmon stablelm_epoch xglm bart", PLAIN | NORM_BIAS),
    ("nemotron_h", PLAIN),
    ("stablelm", NORM_BIAS),
    ("cohere cohere2", ONE_NORM | QK_NORM_KEY | ONE_REDUCE),
    ("glm4_moe", KEY_QKV_ONLY | QK_NORM_KEY),
    ("glm4v glm4v_text glm4", KEY_QKV_ONLY | FOUR_NORMS),
    ("minimax_m2", QK_NORM_WIDE),
    ("hunyuan hunyuan_v1_moe hunyuan_v1_dense", QK_NORM_KEY),
    ("muse_glimmer_text", FOUR_NORMS | GATE),
    ("qwen2_moe", QKV_BIAS | SHARED_GATE),
];

/// The facts of a type.
pub(super) fn facts(text_type: &str) -> u32 {
    TABLE.iter().filter(|(types, _)| types.split(' ').any(|name| name == text_type)).fold(0, |all, row| all | row.1)
}

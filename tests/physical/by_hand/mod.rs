//! Terms of the physical model against numbers that were worked out with pencil and paper: models so small that every
//! factor can be seen.

mod cores;
mod inner;
mod routed;
mod serving;
mod times;

use crate::beside::{batch, llama, model, physical, term};
use rooflens::estimate::{Breakdown, Component};
use rooflens::model::ModelSpec;

/// Three layers of four heads of 16 on two KV heads; a vocabulary that is padded from 100 to 128.
fn small() -> ModelSpec {
    llama(
        r#""hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "num_hidden_layers": 3,
        "intermediate_size": 96, "vocab_size": 100, "tie_word_embeddings": false"#,
    )
}

fn experts(more: &str) -> ModelSpec {
    model(&format!(
        r#"{{"model_type": "qwen2_moe", "num_experts": 8, "num_experts_per_tok": 2, "hidden_size": 64,
        "moe_intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4,
        "shared_expert_intermediate_size": 48, "intermediate_size": 96, "vocab_size": 64, "torch_dtype": "bfloat16"{more}}}"#
    ))
}

#[track_caller]
fn step(spec: &ModelSpec, words: &str, case: &str) -> Breakdown {
    physical(spec, words).stage(&batch(case), 0).unwrap()
}

#[track_caller]
fn terms(found: &Breakdown, expected: &[(&str, u128)]) {
    for (name, amount) in expected {
        assert_eq!(term(found, name), *amount, "{name}");
    }
}

#[track_caller]
fn of(found: &Breakdown, component: Component, name: &str) -> u128 {
    let part = found.parts.iter().find(|part| part.component == component).expect("a component");
    part.terms.iter().filter(|term| term.def.name == name).map(|term| term.amount).sum()
}

#[test]
fn a_dense_step() {
    // Three new tokens after seven: 8 + 9 + 10 pairs, ten tokens of the cache, one row of logits.
    let found = step(&small(), "", "3@10c");
    terms(
        &found,
        &[
            ("qkv_proj", 2 * 3 * 64 * 128 * 3),
            ("qkv_input", 3 * 64 * 2 * 3),
            ("qkv_weight", 64 * 128 * 2 * 3),
            ("qkv_output", 3 * 128 * 2 * 3),
            ("attn_qk", 2 * 4 * 16 * 27 * 3),
            ("attn_av", 2 * 4 * 16 * 27 * 3),
            ("attn_query", 3 * 64 * 2 * 3),
            ("attn_input", 10 * 128 * 3),
            ("attn_output", 3 * 64 * 2 * 3),
            ("kv_cache", 3 * 128 * 3),
            ("out_proj", 2 * 3 * 64 * 64 * 3),
            ("dense_up_gate_proj", 2 * 3 * 64 * 192 * 3),
            ("dense_up_gate_weight", 64 * 192 * 2 * 3),
            ("dense_act_input", 3 * 192 * 2 * 3),
            ("dense_act_output", 3 * 96 * 2 * 3),
            ("dense_down_proj", 2 * 3 * 96 * 64 * 3),
            ("head_proj", 2 * 64 * 128),
            ("head_weight", 64 * 128 * 2),
            ("head_output", 128 * 2),
        ],
    );
    // What a token looks up comes and goes once; two norms a layer each read
    // and write hidden state and residual; the one behind the last layer writes what the LM head reads.
    assert_eq!(of(&found, Component::Embedding, "rows"), 3 * 64 * 2);
    assert_eq!(of(&found, Component::Embedding, "output"), 3 * 64 * 2);
    let norms = |units: u128| 3 * 64 * 2 * units;
    let found = (of(&found, Component::Norm, "input"), of(&found, Component::Norm, "output"));
    assert_eq!(found, (norms(4 * 3 + 2), norms(4 * 3 + 1)));
}

#[test]
fn an_ffn_without_a_gate() {
    let spec = model(
        r#"{"model_type": "opt", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 3, "ffn_dim": 96,
        "vocab_size": 100, "torch_dtype": "bfloat16"}"#,
    );
    let found = step(&spec, "", "5*1@8");
    terms(
        &found,
        &[
            ("dense_up_gate_proj", 2 * 5 * 64 * 96 * 3),
            ("dense_up_gate_weight", 64 * 96 * 2 * 3),
            ("dense_up_gate_output", 5 * 96 * 2 * 3),
            ("dense_act_input", 5 * 96 * 2 * 3),
            ("dense_down_proj", 2 * 5 * 96 * 64 * 3),
        ],
    );
}

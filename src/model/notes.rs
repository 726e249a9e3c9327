//! Remarks on a reading: what the config says that the estimate simplifies, leaves out or could not understand.

use super::classes::Class;
use super::keys::{IRRELEVANT, SIMPLIFIED, TWO_MATRICES, is_read};
use super::origin::Origin;
use super::quantization;
use super::resolve::Parts;
use super::spec::{ModelSpec, Note, Weight};
use crate::json::{Node, Repair, Value};

/// What a reading was made from.
pub(super) struct Given<'a> {
    /// The config.
    pub(super) root: &'a Node,
    /// The quantization document beside it.
    pub(super) companion: Option<&'a Node>,
    /// What had to be forgiven in the text.
    pub(super) repairs: &'a [Repair],
    /// Whether the config was taken out of an object around it.
    pub(super) unwrapped: bool,
}

/// All remarks on a reading, the weightiest first.
pub(super) fn notes(spec: &ModelSpec, parts: &Parts<'_>, given: &Given<'_>) -> Vec<Note> {
    let mut notes = Vec::new();
    identity(spec, parts, &mut notes);
    numbers(spec, parts, given, &mut notes);
    simplifications(spec, parts, given.root, &mut notes);
    if given.unwrapped {
        say(&mut notes, Weight::Info, "The config was taken out of the object around it (\"config\").");
    }
    for repair in given.repairs {
        say(&mut notes, Weight::Info, repair.note());
    }
    notes.extend(unused(parts).map(|text| Note { weight: Weight::Info, text }));
    let (mut sorted, rest): (Vec<_>, Vec<_>) = notes.into_iter().partition(|note| note.weight == Weight::Strong);
    let (caution, info): (Vec<_>, Vec<_>) = rest.into_iter().partition(|note| note.weight == Weight::Caution);
    sorted.extend(caution);
    sorted.extend(info);
    sorted
}

/// Whether a remark is about what the vllm model simplifies or leaves out, and so holds for no other.
pub(super) fn is_of_vllm(note: &Note) -> bool {
    note.text.contains("vLLM")
        || note.text.starts_with("Keys that the estimate")
        || SIMPLIFIED.iter().any(|(_, effect)| note.text.starts_with(effect))
}

fn say(notes: &mut Vec<Note>, weight: Weight, text: impl Into<String>) {
    notes.push(Note { weight, text: text.into() });
}

/// Whether these are the numbers of the model that is meant.
fn identity(spec: &ModelSpec, parts: &Parts<'_>, notes: &mut Vec<Note>) {
    if let Some(reason) = &spec.unreadable {
        say(notes, Weight::Strong, format!("The vLLM model counts nothing here: {reason}."));
    }
    if parts.missing_part {
        let (outer, class) = (&spec.model_type, &spec.text_type);
        let text = format!(
            "{outer} keeps its language model in a sub-config that is missing here: the keys at the top level are ignored, and every number is a default of {class}."
        );
        say(notes, Weight::Strong, text);
    }
    if !spec.class_known {
        let named = if spec.model_type.is_empty() {
            "The config has no model_type"
        } else {
            "This model_type is not known here"
        };
        let text = format!("{named}: only the keys that stand in the config count, no aliases and no class defaults.");
        say(notes, Weight::Caution, text);
    } else if spec.vocab.ok().is_none() && parts.text.class.is_some_and(|class| class.default("vocab_size").is_none()) {
        let text = "This class has no vocabulary: it is an encoder, not a language model, and has no LM head to count.";
        say(notes, Weight::Strong, text);
    }
}

/// Values that were not taken as they stand.
fn numbers(spec: &ModelSpec, parts: &Parts<'_>, given: &Given<'_>, notes: &mut Vec<Note>) {
    if parts.text.json.and_then(|json| json.get("num_key_value_heads")).is_some_and(Node::is_null)
        && !parts.text.class.is_some_and(Class::null_kv_is_heads)
    {
        say(notes, Weight::Caution, "num_key_value_heads is null, which vLLM refuses when it starts.");
    }
    if let Origin::Derived(reason) = &spec.dtype.origin
        && reason.contains("assumed")
    {
        say(notes, Weight::Caution, format!("dtype: {reason}."));
    }
    let (root, method) = (given.root, spec.quantization.method.as_deref());
    let own = root.get("quantization_config");
    if method == Some("") {
        let text = "A quantization is described without a quant_method; vLLM does not know it, and weights count as not quantized.";
        say(notes, Weight::Caution, text);
    } else if let Some(node) = own.filter(|node| !node.is_object() && !node.is_null()) {
        let text =
            format!("quantization_config is {}, expected an object: weights count as not quantized.", node.describe());
        say(notes, Weight::Caution, text);
    } else if method.is_none() && root.get("quantization").is_some_and(Node::is_object) {
        let text = "The config has a quantization of its own (MLX), which vLLM does not read: weights count as not quantized, in 16 bit.";
        say(notes, Weight::Caution, text);
    }
    let algo = spec.quantization.origin.as_ref().and_then(|origin| match origin {
        Origin::Config { path, .. } if path.ends_with("quant_algo") => Some(path),
        _ => None,
    });
    if method == Some("modelopt") && algo.is_some() && !quantization::is_fp8_algo(root, given.companion) {
        let text = "The ModelOpt algorithm is none that the estimator tells apart: its weights count as one byte.";
        say(notes, Weight::Caution, text);
    }
    if given.companion.is_some() && own.is_some() {
        say(
            notes,
            Weight::Caution,
            "The config names its own quantization: the hf_quant_config.json beside it is not used.",
        );
    }
}

/// What the estimate counts otherwise than the model does it.
fn simplifications(spec: &ModelSpec, parts: &Parts<'_>, root: &Node, notes: &mut Vec<Note>) {
    for (keys, effect) in SIMPLIFIED {
        if let Some(key) = keys.iter().find(|key| matters(parts, root, key)) {
            say(notes, Weight::Caution, format!("{effect} ({key})"));
        }
    }
    let kinds = parts.text.json.and_then(|json| json.get("layer_types")).and_then(Node::items).unwrap_or_default();
    let named = |word: &str| kinds.iter().any(|kind| kind.text().is_some_and(|kind| kind.contains(word)));
    if named("linear") && !notes.iter().any(|note| note.text.starts_with("Linear")) {
        say(notes, Weight::Caution, "Linear-attention layers are counted as full attention by the vLLM model.");
    }
    let dense = parts.ffn.integer("first_k_dense_replace").unwrap_or(0);
    if dense > 0 && !parts.ffn.has("moe_layer_freq") && spec.experts.ok().is_some_and(|experts| experts > 0) {
        let text = format!(
            "The first {dense} layers are dense (first_k_dense_replace), but the vLLM model counts experts in them: it reads that key only beside moe_layer_freq."
        );
        say(notes, Weight::Caution, text);
    }
    if TWO_MATRICES.contains(&spec.text_type.as_str()) {
        let text = "The FFN of this model has two matrices; the vLLM model counts three, half more than there are.";
        say(notes, Weight::Caution, text);
    }
    if quantization::leaves_modules_out(root) {
        let text = "The quantization leaves some modules in 16 bit; the vLLM model counts all weights but the LM head's as quantized.";
        say(notes, Weight::Caution, text);
    }
}

/// Whether a key is set to something that makes a difference.
fn matters(parts: &Parts<'_>, root: &Node, key: &str) -> bool {
    let node = parts.text.json.and_then(|json| json.get(key)).or_else(|| root.get(key));
    node.is_some_and(|node| node.is_truthy() && !(key == "decoder_sparse_step" && node.value == Value::Int(1)))
}

/// Keys of the language model's config that were not understood.
fn unused(parts: &Parts<'_>) -> Option<String> {
    const SHOWN: usize = 24;
    let known = |key: &str| {
        IRRELEVANT.contains(&key)
            || is_read(key)
            || key.starts_with('_')
            || key.ends_with("_token_id")
            || key.ends_with("_token_index")
            || key.ends_with("_dropout")
            || key.ends_with("_config")
    };
    let keys: Vec<&str> = parts.text.json?.members().iter().map(|m| m.key.as_str()).filter(|key| !known(key)).collect();
    let more = keys.len().saturating_sub(SHOWN);
    let listed: Vec<String> = keys.iter().take(SHOWN).map(|key| key.chars().take(60).collect()).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!keys.is_empty()).then(|| format!("Keys that the estimate does not use: {}{rest}.", listed.join(", ")))
}

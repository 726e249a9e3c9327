//! A config cut down to what anything reads or may come to read: what a link carries of a model.
//!
//! Keys go by name when they certainly never matter for what a step costs: tokens, generation, dropout, initial values,
//! rotary tables, the towers of other modalities (but for the dtype that they name), and everything that may name a
//! person or a machine (`_name_or_path`). An unknown key stays while it is short. What was long and is gone is listed
//! under `_trimmed`, by path. Resolving the reduced config gives the same fields as resolving the whole one.

use super::keys::is_read;
use crate::json::{Member, Node, Span, Value};
use std::collections::BinaryHeap;

/// Objects that hold a language model's config, or lead to one.
const TEXT_PARTS: [&str; 7] =
    ["config", "decoder", "generator", "language_config", "llm_config", "text_config", "thinker_config"];

/// Objects that describe a quantization.
const QUANTIZATIONS: [&str; 2] = ["quantization_config", "compression_config"];

/// Keys that never matter, whatever they hold.
const NEVER: [&str; 89] = [
    "add_cross_attention",
    "attn_implementation",
    "attn_pdrop",
    "auto_map",
    "aux_loss_alpha",
    "bad_words_ids",
    "batch_size",
    "begin_suppress_tokens",
    "beta_fast",
    "beta_slow",
    "chat_template",
    "chunk_size_feed_forward",
    "compress_rope_parameters",
    "cross_attention_hidden_size",
    "dataset",
    "diversity_penalty",
    "do_sample",
    "early_stopping",
    "embd_pdrop",
    "emb_pdrop",
    "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "forced_decoder_ids",
    "gradient_checkpointing",
    "id2label",
    "ignore_index",
    "im_end_id",
    "im_newline_id",
    "im_start_id",
    "init_config",
    "init_device",
    "init_std",
    "initializer_factor",
    "initializer_range",
    "label2id",
    "layer_norm_eps",
    "layer_norm_epsilon",
    "layer_rope_theta",
    "layerdrop",
    "layernorm_epsilon",
    "length_penalty",
    "max_length",
    "max_new_tokens",
    "min_length",
    "moe_jitter_eps",
    "moe_loss_weight",
    "no_repeat_ngram_size",
    "norm_eps",
    "norm_epsilon",
    "num_beam_groups",
    "num_beams",
    "num_logits_to_keep",
    "num_return_sequences",
    "observer",
    "observer_kwargs",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "output_scores",
    "pad_id",
    "prefix",
    "pretraining_tp",
    "problem_type",
    "pruned_heads",
    "remove_invalid_values",
    "repetition_penalty",
    "resid_pdrop",
    "return_dict",
    "return_dict_in_generate",
    "rms_norm_eps",
    "rotary_emb_base",
    "router_aux_loss_coef",
    "router_jitter_noise",
    "seq_aux",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "time_step_limit",
    "tokenizer_class",
    "tokenizer_name",
    "top_k",
    "top_p",
    "torchscript",
    "transformers_version",
    "typical_p",
    "use_cache",
    "z_loss_weight",
];

/// Endings and beginnings of keys that never matter.
const NEVER_ENDS: [&str; 5] = ["_token_id", "_token_ids", "_token_index", "_dropout", "_dropout_prob"];
const NEVER_BEGINS: [&str; 10] =
    ["rope_", "summary_", "vision_", "audio_", "image_", "video_", "vit_", "mm_", "tts_", "projector_"];

/// Words in the name of an object that make it the config of another modality.
const TOWERS: [&str; 15] = [
    "vision",
    "visual",
    "vit_",
    "image",
    "img_",
    "audio",
    "speech",
    "video",
    "talker",
    "token2wav",
    "code2wav",
    "projector",
    "aligner",
    "encoder_config",
    "embd_layer",
];

/// What a tower keeps: the dtype of a model may stand there only.
const OF_A_TOWER: [&str; 3] = ["model_type", "dtype", "torch_dtype"];

/// The longest unknown text, and the longest unknown list or object as JSON, that stays.
const LONGEST_TEXT: usize = 64;
const LONGEST_LIST: usize = 256;
const LONGEST_OBJECT: usize = 512;

/// The most modules that a quantization names one by one.
const MOST_MODULES: usize = 64;

/// The most layers that a list goes through.
const MOST_LAYERS: usize = 1024;

/// The deepest object that stays; real configs stay below 8.
const DEEPEST: usize = 10;

/// Where [`reduce`] lists what was too long to stay.
const TRIMMED: &str = "_trimmed";

/// Cuts a config down; its root keeps `_trimmed`, the paths of what was too long. What is no object stays as it is.
#[must_use]
pub fn reduce(root: &Node) -> Node {
    run(root, |cut, path| cut.config(root, path, 0))
}

/// Cuts a `hf_quant_config.json` down.
#[must_use]
pub fn reduce_companion(root: &Node) -> Node {
    let folds = is_compressed_tensors(root);
    run(root, |cut, path| cut.quantization(root, path, 0, folds))
}

fn run(root: &Node, reduced: impl FnOnce(&mut Cut, &str) -> Node) -> Node {
    if !root.is_object() {
        return root.clone();
    }
    let before = root.get(TRIMMED).and_then(Node::items).unwrap_or_default();
    let before = before.iter().filter_map(Node::text).filter(|path| path.len() <= LONGEST_LIST);
    let mut cut = Cut { trimmed: before.take(MOST_MODULES).map(str::to_owned).collect() };
    let mut node = reduced(&mut cut, "");
    if let Value::Object(members) = &mut node.value
        && !cut.trimmed.is_empty()
    {
        members.push(member(TRIMMED, texts(cut.trimmed)));
    }
    node
}

/// A reduction under way.
struct Cut {
    trimmed: Vec<String>,
}

impl Cut {
    /// Notes what was dropped for its length.
    fn trim(&mut self, path: &str, key: &str) -> Option<Node> {
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        if self.trimmed.len() < MOST_MODULES && path.len() <= LONGEST_LIST && !self.trimmed.contains(&path) {
            self.trimmed.push(path);
        }
        None
    }

    fn config(&mut self, node: &Node, path: &str, depth: usize) -> Node {
        // What there is of a class without it, and which wrapper is one.
        let keep_architectures = node.get("model_type").is_none();
        object(node, |key, value| match key {
            "architectures" => keep_architectures.then(|| value.clone()).filter(|value| short(value, LONGEST_LIST)),
            _ => self.of_config(key, value, path, depth),
        })
    }

    fn of_config(&mut self, key: &str, value: &Node, path: &str, depth: usize) -> Option<Node> {
        let inside = || if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        if value.is_object() && depth >= DEEPEST {
            return self.trim(path, key);
        }
        if value.is_object() && QUANTIZATIONS.contains(&key) {
            return Some(self.quantization(value, &inside(), depth + 1, is_compressed_tensors(value)));
        }
        if value.is_object() && TEXT_PARTS.contains(&key) {
            return Some(self.config(value, &inside(), depth + 1));
        }
        if is_read(key) {
            return Some(value.clone());
        }
        if value.is_object() && TOWERS.iter().any(|word| key.contains(word)) {
            let tower = object(value, |key, value| {
                let scalar = !matches!(value.value, Value::List(_) | Value::Object(_));
                (OF_A_TOWER.contains(&key) && scalar && short(value, LONGEST_TEXT)).then(|| value.clone())
            });
            return tower.is_truthy().then_some(tower);
        }
        if never(key) {
            return None;
        }
        match &value.value {
            _ if key == "model_type" => short(value, LONGEST_TEXT).then(|| value.clone()),
            Value::Text(_) | Value::List(_) if is_place(value) => None,
            Value::Text(text) if text.len() > LONGEST_TEXT => self.trim(path, key),
            Value::List(items) if !(short(value, LONGEST_LIST) || is_pattern(items)) => self.trim(path, key),
            Value::Object(_) => {
                let inner = self.config(value, &inside(), depth + 1);
                if short(&inner, LONGEST_OBJECT) { Some(inner) } else { self.trim(path, key) }
            }
            _ => Some(value.clone()),
        }
    }

    fn quantization(&mut self, node: &Node, path: &str, depth: usize, folds: bool) -> Node {
        object(node, |key, value| {
            if never(key) {
                return None;
            }
            let inside = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            match &value.value {
                Value::Text(_) if is_place(value) => None,
                Value::Text(text) if text.len() > LONGEST_TEXT => self.trim(path, key),
                Value::Object(members) if members.len() > MOST_MODULES || depth >= DEEPEST => self.trim(path, key),
                Value::Object(_) => Some(self.quantization(value, &inside, depth + 1, folds)),
                Value::List(items) if items.len() <= MOST_MODULES && !items.iter().any(Node::is_object) => {
                    Some(value.clone())
                }
                Value::List(items) => {
                    let folded = if folds { fold(items) } else { None };
                    folded.map_or_else(|| self.trim(path, key), |folded| Some(texts(folded)))
                }
                _ => Some(value.clone()),
            }
        })
    }
}

/// An object of what is kept of each member; of equal keys only the last one counts.
fn object(node: &Node, mut keep: impl FnMut(&str, &Node) -> Option<Node>) -> Node {
    let members = node.members();
    // Equal keys next to each other, in their order; a heap, which is smaller than a set or a sort.
    let places = members.iter().enumerate().map(|(at, member)| (member.key.as_str(), at));
    let sorted = BinaryHeap::from(places.collect::<Vec<_>>()).into_sorted_vec();
    let mut last = vec![true; members.len()];
    for (a, b) in sorted.iter().zip(sorted.iter().skip(1)) {
        if a.0 == b.0
            && let Some(earlier) = last.get_mut(a.1)
        {
            *earlier = false;
        }
    }
    let last = members.iter().zip(last).filter_map(|(member, last)| last.then_some(member));
    let kept = last.filter(|member| !hidden(&member.key));
    let kept = kept.filter_map(|member| Some(Member { node: keep(&member.key, &member.node)?, ..member.clone() }));
    Node { value: Value::Object(kept.collect()), span: node.span }
}

/// Private keys (`_name_or_path`), and keys that are no names.
fn hidden(key: &str) -> bool {
    key.starts_with('_') || key.len() > LONGEST_TEXT
}

/// A path, an address or a repository, which may tell whose machine a config is from; nothing reads one.
fn is_place(node: &Node) -> bool {
    match &node.value {
        Value::Text(text) => text.contains(['/', '\\', '@']),
        Value::List(items) => items.iter().any(is_place),
        Value::Object(members) => members.iter().any(|member| is_place(&member.node)),
        _ => false,
    }
}

fn never(key: &str) -> bool {
    NEVER.contains(&key)
        || NEVER_ENDS.iter().any(|end| key.ends_with(end))
        || NEVER_BEGINS.iter().any(|begin| key.starts_with(begin))
}

fn short(node: &Node, longest: usize) -> bool {
    node.to_compact().len() <= longest
}

/// Kinds of layers, layer by layer: long, but of a few short values.
fn is_pattern(items: &[Node]) -> bool {
    const MOST_KINDS: usize = 8;
    let mut kinds: Vec<&Value> = Vec::new();
    items.len() <= MOST_LAYERS
        && items.iter().all(|item| {
            if !kinds.contains(&&item.value) {
                kinds.push(&item.value);
            }
            kinds.len() <= MOST_KINDS && short(item, LONGEST_TEXT)
        })
}

/// Whether a quantization's lists may hold `re:` and a regular expression.
fn is_compressed_tensors(quantization: &Node) -> bool {
    let method = quantization.get("quant_method").and_then(Node::text).unwrap_or_default();
    matches!(method, "compressed-tensors" | "compressed_tensors")
}

/// Names of modules with those that differ in a layer's number only as one expression, which matches exactly them:
/// `model.layers.0.mlp.gate` and `model.layers.1.mlp.gate` are `re:model\.layers\.(?:0|1)\.mlp\.gate$`. `None` where
/// that is not short, or where something is no name.
fn fold(items: &[Node]) -> Option<Vec<String>> {
    let mut groups: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for item in items {
        let name = item.text()?;
        let (before, number, after) = layer_number(name).unwrap_or((name, "", ""));
        match groups.iter_mut().find(|group| (group.0, group.1) == (before, after) && !number.is_empty()) {
            Some((_, _, numbers)) if numbers.contains(&number) => {}
            Some((_, _, numbers)) if numbers.len() >= MOST_LAYERS => return None,
            Some((_, _, numbers)) => numbers.push(number),
            None => groups.push((before, after, vec![number])),
        }
        if groups.len() > MOST_MODULES {
            return None;
        }
    }
    let folded = groups.into_iter().map(|(before, after, numbers)| match numbers.as_slice() {
        [number] => format!("{before}{number}{after}"),
        _ => format!("re:{}(?:{}){}$", escape(before), numbers.join("|"), escape(after)),
    });
    Some(folded.collect())
}

/// A plain dotted name around its first number.
fn layer_number(name: &str) -> Option<(&str, &str, &str)> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let mut at = 0;
    if !name.bytes().all(plain) {
        return None;
    }
    for part in name.split('.') {
        let end = at + part.len();
        if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some((name.get(..at)?, part, name.get(end..)?));
        }
        at = end + 1;
    }
    None
}

/// A plain name as a regular expression for itself.
fn escape(name: &str) -> String {
    name.replace('.', "\\.")
}

fn texts(texts: Vec<String>) -> Node {
    let items = texts.into_iter().map(|text| Node { value: Value::Text(text), span: Span::default() }).collect();
    Node { value: Value::List(items), span: Span::default() }
}

fn member(key: &str, node: Node) -> Member {
    Member { key: key.to_owned(), key_span: Span::default(), node }
}

#[cfg(test)]
mod tests;

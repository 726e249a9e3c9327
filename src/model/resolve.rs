//! From a pasted `config.json` to a [`ModelSpec`]: which sub-config, and the names under which vLLM looks for each field.

use super::anatomy::{Anatomy, anatomy};
use super::attributes::{Attribute, Attributes};
use super::classes::{Class, ClassTable, TextPart};
use super::dtype::{Dtype, ServedDtype};
use super::notes;
use super::origin::Origin;
use super::reading::{Reading, integer};
use super::refuse::looks_like;
use super::scheme::Scheme;
use super::spec::{Mla, ModelSpec};
use super::{layers, quantization};
use crate::json::{self, Document, JsonError, Node, Value};
use std::sync::Arc;

/// A config that could not be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The text is not JSON.
    #[error("{0}")]
    Json(#[from] JsonError),
    /// It is JSON, but no object.
    #[error("expected an object such as a model's config.json, found {0}")]
    NotAnObject(String),
    /// It is the config of something else.
    #[error("this looks like {0}")]
    NotALanguageModel(&'static str),
}

/// Text types whose attention is latent (MLA) where `kv_lora_rank` is set.
///
/// `axk2` has the keys of MLA too, but vLLM counts it as attention of heads (seen in its own results).
const MLA_TYPES: [&str; 24] = [
    "axk1",
    "deepseek_v2",
    "deepseek_v3",
    "deepseek_v32",
    "deepseek_v4",
    "deepseek_v41",
    "dots3_note",
    "deepseek_mtp",
    "k3_dspark",
    "glm5_next",
    "glm5_next_text",
    "glm_moe_dsa",
    "glm4_moe_lite",
    "glm4_moe_lite_mtp",
    "kimi_k2",
    "kimi_linear",
    "longcat_flash",
    "pangu_ultra_moe",
    "pangu_ultra_moe_mtp",
    "bailing_hybrid",
    "bailing_hybrid_mtp",
    "bailing_hybrid_v3_mtp",
    "hy_v4",
    "hy_v4_mtp",
];

/// Reads and resolves a config text.
///
/// `companion` is the text of a `hf_quant_config.json` that belongs to it.
///
/// # Errors
/// Where a text is not JSON, or the config is not a language model's.
pub fn read(text: &str, companion: Option<&str>, classes: &ClassTable) -> Result<ModelSpec, ConfigError> {
    Depth::LAYERS.read(text, companion, classes)
}

/// Resolves a config that was read already.
///
/// # Errors
/// Where the config is not a language model's.
pub fn resolve(document: &Document, companion: Option<&Node>, classes: &ClassTable) -> Result<ModelSpec, ConfigError> {
    Depth::LAYERS.resolve(document, companion, classes)
}

/// How deeply a config is read.
///
/// The vllm model needs a dozen fields, the physical model a description of every layer. Whoever only needs the former
/// does not carry the code for the latter.
#[derive(Clone, Copy, Debug)]
pub struct Depth(fn(&Parts<'_>, &ModelSpec, &Node, Option<&Node>) -> Described);

type Described = Result<Arc<Anatomy>, String>;

impl Depth {
    /// Only the fields.
    pub const FIELDS: Self = Self(|_, _, _, _| Err("The layers of the model were not read.".to_owned()));
    /// The layers as well.
    pub const LAYERS: Self = Self(layers);

    /// Reads a config from texts, as [`read`] does.
    ///
    /// # Errors
    /// As there.
    pub fn read(self, text: &str, companion: Option<&str>, classes: &ClassTable) -> Result<ModelSpec, ConfigError> {
        let document = json::parse(text)?;
        let companion = companion.map(json::parse).transpose()?;
        self.resolve(&document, companion.as_ref().map(|document| &document.root), classes)
    }

    /// Resolves a config, as [`resolve`] does.
    ///
    /// # Errors
    /// As there.
    pub fn resolve(
        self,
        document: &Document,
        companion: Option<&Node>,
        classes: &ClassTable,
    ) -> Result<ModelSpec, ConfigError> {
        resolved(document, companion, classes, self)
    }
}

fn layers(parts: &Parts<'_>, spec: &ModelSpec, root: &Node, companion: Option<&Node>) -> Described {
    let scheme = Scheme::read(root, parts.text.json, companion, &spec.text_type);
    anatomy(&parts.top, &parts.text, &parts.ffn, spec, &scheme).map(Arc::new)
}

fn resolved(
    document: &Document,
    companion: Option<&Node>,
    classes: &ClassTable,
    depth: Depth,
) -> Result<ModelSpec, ConfigError> {
    let (root, unwrapped) = unwrap_config(&document.root);
    if !root.is_object() {
        return Err(ConfigError::NotAnObject(root.describe()));
    }
    if let Some(what) = looks_like(root, classes) {
        return Err(ConfigError::NotALanguageModel(what));
    }
    let parts = Parts::find(root, classes);
    let mut spec = parts.spec(root, companion);
    spec.anatomy = (depth.0)(&parts, &spec, root, companion);
    let given = notes::Given { root, companion, repairs: &document.repairs, unwrapped };
    spec.notes = notes::notes(&spec, &parts, &given);
    Ok(spec)
}

/// `{"config": {...}}` around a config is taken off.
fn unwrap_config(root: &Node) -> (&Node, bool) {
    match root.get("config") {
        Some(inner) if inner.is_object() && root.get("model_type").is_none() && root.get("architectures").is_none() => {
            (inner, true)
        }
        _ => (root, false),
    }
}

/// The objects that fields are read from.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    /// The whole config.
    pub(super) top: Attributes<'a>,
    /// The language model's config.
    pub(super) text: Attributes<'a>,
    /// The config that FFN fields are read from.
    pub(super) ffn: Attributes<'a>,
    /// A known composite that came without its sub-config.
    pub(super) missing_part: bool,
}

impl<'a> Parts<'a> {
    fn find(root: &'a Node, classes: &'a ClassTable) -> Self {
        let class = root.get("model_type").and_then(Node::text).and_then(|name| classes.class(name));
        let top = Attributes { json: Some(root), path: String::new(), class, part: None };
        let Some(part) = class.and_then(Class::text_part) else {
            let text = if class.is_none() { Self::in_unknown(root) } else { None };
            // vLLM takes FFN fields from the attribute `text_config` alone, wherever the rest comes from.
            let part = root.get("text_config").filter(|part| class.is_none() && part.is_object());
            let ffn = match part {
                Some(part) => Attributes { json: Some(part), path: "text_config".to_owned(), class: None, part: None },
                None => top.clone(),
            };
            return Self { text: text.unwrap_or_else(|| top.clone()), ffn, top, missing_part: false };
        };
        let found = part.paths().find_map(|path| Some((path, lookup(root, path)?)));
        let json = match found {
            Some((_, node)) => Some(node),
            None => part.is_flat().then_some(root),
        };
        let own = found.and_then(|(_, node)| node.get("model_type")).and_then(Node::text);
        let text = Attributes {
            json,
            path: found.map(|(path, _)| path.to_owned()).unwrap_or_default(),
            class: own.and_then(|name| classes.class(name)).or_else(|| classes.class(part.class()?)),
            part: Some(part),
        };
        let ffn = if class.is_some_and(Class::ffn_from_top) { top.clone() } else { text.clone() };
        Self { top, text, ffn, missing_part: json.is_none() }
    }

    /// The language model inside a config of an unknown class.
    fn in_unknown(root: &'a Node) -> Option<Attributes<'a>> {
        let path = ["text_config", "llm_config", "language_config"]
            .into_iter()
            .find(|path| root.get(path).is_some_and(|part| part.get("num_attention_heads").is_some()))?;
        Some(Attributes { json: root.get(path), path: path.to_owned(), class: None, part: None })
    }

    fn text_type(&self) -> &'a str {
        let by_part = || self.text.part.and_then(TextPart::class);
        match self.text.model_type() {
            "" => by_part().unwrap_or_default(),
            name => name,
        }
    }

    fn spec(&self, root: &Node, companion: Option<&Node>) -> ModelSpec {
        let text = &self.text;
        let text_type = self.text_type();
        let layers = read_field(text, "num_hidden_layers");
        let hidden = read_field(text, "hidden_size");
        let heads = self.heads();
        let experts = self.experts();
        let window = self.window();
        let has_window = window.ok().is_some_and(|width| width > 0);
        let (sliding, sliding_origin) =
            layers::sliding(text, layers.ok().unwrap_or(0), has_window, self.top.model_type() == "gemma2");
        let text_path = text.path.as_str();
        let mut places = vec![(root, "")];
        if let Some(json) = text.json.filter(|_| !text_path.is_empty()) {
            places.push((json, text_path));
        }
        ModelSpec {
            model_type: self.top.model_type().to_owned(),
            text_type: text_type.to_owned(),
            text_path: text_path.to_owned(),
            class_known: self.top.class.is_some(),
            unreadable: self.unreadable(),
            vocab: read_field(text, "vocab_size"),
            kv_heads: self.kv_heads(&heads),
            head_dim: self.head_dim(&hidden, &heads),
            window,
            sliding_layers: if has_window { Reading::new(sliding, sliding_origin) } else { zero("no window") },
            mla: self.mla(text_type),
            experts_per_token: self.experts_per_token(),
            intermediate: self.intermediate(&hidden),
            moe_intermediate: first(&self.ffn, &["moe_intermediate_size", "intermediate_size"])
                .map_or_else(|| zero("no expert width"), |a| Reading::of(&a)),
            shared_experts: first(&self.ffn, &["n_shared_experts", "num_shared_experts"])
                .map_or_else(|| zero("no shared experts"), |a| Reading::of(&a)),
            moe_layers: self.moe_layers(&layers, &experts),
            dtype: self.dtype(root),
            quantization: quantization::find(&places, companion),
            layers,
            hidden,
            heads,
            experts,
            anatomy: Err(String::new()),
            notes: Vec::new(),
        }
    }

    fn unreadable(&self) -> Option<String> {
        let per_layer = self.text.json.and_then(|json| json.get("attention_other_setting"));
        if per_layer.is_some_and(|other| other.get("num_attention_heads").is_some()) {
            let reason =
                "num_attention_heads differs by layer (attention_other_setting), which vLLM's estimator cannot read";
            return Some(reason.to_owned());
        }
        let missing = |name| !self.text.has(name);
        if missing("num_attention_heads") {
            Some("num_attention_heads is missing: the config has no attention that could be counted".to_owned())
        } else if missing("num_hidden_layers") {
            Some("num_hidden_layers is missing: nothing can be counted without the number of layers".to_owned())
        } else {
            None
        }
    }

    fn heads(&self) -> Reading {
        read_field(&self.text, "num_attention_heads")
    }

    fn kv_heads(&self, heads: &Reading) -> Reading {
        let text = &self.text;
        let falcon = matches!(text.model_type(), "falcon" | "RefinedWeb" | "RefinedWebModel");
        if falcon && text.truthy("multi_query") && !text.truthy("new_decoder_architecture") {
            return Reading::new(1, Origin::Derived("1, multi_query is set".to_owned()));
        }
        if text.model_type() == "dbrx"
            && let Some(node) = text.json.and_then(|json| json.get("attn_config")).and_then(|c| c.get("kv_n_heads"))
        {
            return reading_at(node, text.path_of("attn_config.kv_n_heads"));
        }
        if let Some(kv) = self.kv_of_first_block(heads) {
            return kv;
        }
        let names =
            ["n_head_kv", "num_kv_heads", "num_key_value_heads", "multi_query_group_num", "num_attention_groups"];
        let found = names.into_iter().filter_map(|name| text.get(name)).find(|a| a.value.as_ref() != &Value::Null);
        let Some(attribute) = found else {
            let rule = Origin::Derived("num_attention_heads, no key names KV heads".to_owned());
            return Reading { value: heads.value.clone(), origin: rule };
        };
        let own = Reading::of(&attribute);
        let global = text.integer("num_global_key_value_heads").filter(|_| text.truthy("attention_k_eq_v"));
        self.widest(own, global, "num_global_key_value_heads")
    }

    /// Nemotron-NAS: blocks differ; vLLM takes the group size of the first block with attention.
    fn kv_of_first_block(&self, heads: &Reading) -> Option<Reading> {
        let blocks = self.text.json?.get("block_configs")?.items()?;
        let group = blocks.iter().find_map(|block| {
            let attention = block.get("attention")?;
            integer(&attention.get("n_heads_in_group")?.value)
        })?;
        let kv = i128::from(heads.ok()?).checked_div(group)?;
        let origin = Origin::Derived("heads // n_heads_in_group of the first block with attention".to_owned());
        Some(Reading::new(u64::try_from(kv).ok()?, origin))
    }

    /// The larger of two values where a class has wider layers among its others.
    fn widest(&self, own: Reading, other: Option<i128>, name: &'static str) -> Reading {
        let other = other.and_then(|other| u64::try_from(other).ok());
        match (self.text.class.is_some_and(Class::widest_layer), own.ok(), other) {
            (true, Some(mine), Some(other)) if other > mine => {
                Reading::new(other, Origin::Derived(format!("{name}, the widest layer counts")))
            }
            _ => own,
        }
    }

    fn head_dim(&self, hidden: &Reading, heads: &Reading) -> Reading {
        if let Some(own) = self.text.get("head_dim") {
            let own_reading = Reading::of(&own);
            let falls_through = own.value.as_ref() == &Value::Null || integer(&own.value).is_some_and(|dim| dim <= 0);
            if !falls_through {
                return self.widest(own_reading, self.text.integer("global_head_dim"), "global_head_dim");
            }
        }
        if let Some(attribute) = self.text.get("hidden_size_per_head") {
            return Reading::of(&attribute);
        }
        let origin = Origin::Derived("hidden_size // num_attention_heads".to_owned());
        match (hidden.ok(), heads.ok()) {
            (Some(hidden), Some(heads)) if heads > 0 => Reading::new(hidden / heads, origin),
            _ => {
                Reading { value: Err("cannot be derived from hidden_size and num_attention_heads".to_owned()), origin }
            }
        }
    }

    fn window(&self) -> Reading {
        match self.text.window() {
            Some(attribute) if attribute.value.as_ref() == &Value::Null => Reading::new(0, attribute.origin),
            // A negative width caps nothing and counts no layer.
            Some(attribute) if integer(&attribute.value).is_some_and(|width| width < 0) => {
                Reading::new(0, attribute.origin)
            }
            Some(attribute) => Reading::of(&attribute),
            None => zero("no window"),
        }
    }

    fn mla(&self, text_type: &str) -> Option<Mla> {
        let text = &self.text;
        if !MLA_TYPES.contains(&text_type) {
            return None;
        }
        let set = |name| text.get(name).is_some_and(|a| a.value.as_ref() != &Value::Null);
        let compressed = text_type.starts_with("deepseek_v4") && set("head_dim");
        if !set("kv_lora_rank") && !compressed {
            return None;
        }
        Some(Mla {
            kv_lora_rank: read_field(text, "kv_lora_rank"),
            qk_rope_head_dim: read_field(text, "qk_rope_head_dim"),
            qk_nope_head_dim: read_field(text, "qk_nope_head_dim"),
            v_head_dim: read_field(text, "v_head_dim"),
            q_lora_rank: set("q_lora_rank").then(|| read_field(text, "q_lora_rank")),
        })
    }

    fn experts(&self) -> Reading {
        let names = ["num_experts", "moe_num_experts", "n_routed_experts", "num_local_experts"];
        let Some(attribute) = first(&self.text, &names) else {
            return zero("no experts");
        };
        let read = match attribute.value.as_ref() {
            Value::List(items) => match items.first() {
                Some(node) => {
                    Reading::of(&Attribute { value: std::borrow::Cow::Borrowed(&node.value), origin: attribute.origin })
                }
                None => zero("an empty list of experts"),
            },
            _ => Reading::of(&attribute),
        };
        if read.ok() == Some(0) { self.experts_of_blocks().unwrap_or(read) } else { read }
    }

    fn experts_of_blocks(&self) -> Option<Reading> {
        let blocks = self.text.json?.get("block_configs")?.items()?;
        let most = blocks
            .iter()
            .filter(|block| block.get("block_type").and_then(Node::text).is_none_or(|kind| kind == "moe"))
            .filter_map(|block| integer(&block.get("n_routed_experts")?.value))
            .max()?;
        let origin = Origin::Derived("the most n_routed_experts of a block".to_owned());
        Some(Reading::new(u64::try_from(most).ok()?, origin))
    }

    fn experts_per_token(&self) -> Reading {
        // `top_k` is not among the names: at the level of a config it is a sampling parameter.
        let names = ["num_experts_per_tok", "num_experts_per_token", "top_k_experts", "moe_topk", "moe_top_k"];
        let Some(attribute) = first(&self.text, &names) else {
            return zero("no experts per token");
        };
        match attribute.value.as_ref() {
            Value::Null => Reading::new(0, attribute.origin),
            Value::List(items) => {
                let most = items.iter().filter_map(|node| integer(&node.value)).max().unwrap_or(0);
                let value = std::borrow::Cow::Owned(Value::Int(most));
                Reading::of(&Attribute { value, origin: attribute.origin })
            }
            _ => Reading::of(&attribute),
        }
    }

    fn intermediate(&self, hidden: &Reading) -> Reading {
        match self.ffn.get("intermediate_size") {
            Some(attribute) => Reading::of(&attribute),
            None => Reading {
                value: match hidden.ok() {
                    Some(hidden) => Ok(hidden.saturating_mul(4)),
                    None => Err("cannot be derived from hidden_size".to_owned()),
                },
                origin: Origin::Derived("4 * hidden_size, intermediate_size is missing".to_owned()),
            },
        }
    }

    fn moe_layers(&self, layers: &Reading, experts: &Reading) -> Reading {
        let count = layers.ok().unwrap_or(0);
        if experts.ok() == Some(0) {
            return zero("no layers with experts");
        }
        let mut result = Reading::new(count, Origin::Derived("every layer, the model has experts".to_owned()));
        if let Some(step) = self.ffn.integer("interleave_moe_layer_step").and_then(|step| u64::try_from(step).ok())
            && let Some(steps) = count.checked_div(step)
        {
            result = Reading::new(steps, Origin::Derived(format!("every {step}th layer (interleave_moe_layer_step)")));
        }
        if let (Some(freq), Some(dense)) = (self.ffn.get("moe_layer_freq"), self.ffn.get("first_k_dense_replace")) {
            let origin = Origin::Derived("first_k_dense_replace and moe_layer_freq".to_owned());
            let (freq_node, dense_node) = (&freq.value, &dense.value);
            let dense = integer(dense_node).map(|k| u64::try_from(k).unwrap_or(0));
            let freq = integer(freq_node).and_then(|freq| u64::try_from(freq).ok()).filter(|freq| *freq > 0);
            result = if let (Some(freq), Some(dense)) = (freq, dense) {
                Reading::new(count.div_ceil(freq) - dense.min(count).div_ceil(freq), origin)
            } else {
                let wrong =
                    if freq.is_none() { ("moe_layer_freq", freq_node) } else { ("first_k_dense_replace", dense_node) };
                let found = Node { value: wrong.1.clone().into_owned(), span: json::Span::default() }.describe();
                let reason = format!("cannot be counted: {} is {found}, on which vLLM's estimator fails", wrong.0);
                Reading { value: Err(reason), origin }
            };
        }
        result
    }

    /// The dtype, from the first level that names one; float32 is served as bfloat16.
    fn dtype(&self, root: &Node) -> ServedDtype {
        let text = self.text.json.filter(|_| !self.text.path.is_empty()).map(|json| (json, self.text.path.as_str()));
        let nested = |key: &'static str| root.get(key).map(|node| (node, key));
        let levels = [Some((root, "")), text, nested("vision_config"), nested("encoder_config")];
        let mut unknown = None;
        for (json, path) in levels.into_iter().flatten() {
            for key in ["dtype", "torch_dtype"] {
                let Some(node) = json.get(key) else { continue };
                let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                let Some(dtype) = node.text().and_then(Dtype::named) else {
                    if !node.is_null() && unknown.is_none() {
                        unknown = Some(format!("{path} is {}, which is no dtype that is known here", node.describe()));
                    }
                    continue;
                };
                return match dtype {
                    Dtype::Float32 => ServedDtype {
                        dtype: Dtype::BFloat16,
                        origin: Origin::Derived(format!("{path} is float32, which is served as bfloat16")),
                    },
                    dtype => ServedDtype { dtype, origin: Origin::Config { path, span: node.span } },
                };
            }
        }
        let origin = match unknown {
            Some(reason) => Origin::Derived(format!("bfloat16 is assumed: {reason}")),
            None => Origin::Fallback("no dtype means float32, which is served as bfloat16"),
        };
        ServedDtype { dtype: Dtype::BFloat16, origin }
    }
}

fn lookup<'a>(root: &'a Node, path: &str) -> Option<&'a Node> {
    path.split('.').try_fold(root, |node, key| node.get(key)).filter(|node| node.is_object())
}

fn first<'a>(attributes: &Attributes<'a>, names: &[&'static str]) -> Option<Attribute<'a>> {
    names.iter().find_map(|name| attributes.get(name))
}

fn read_field(attributes: &Attributes<'_>, name: &'static str) -> Reading {
    attributes.get(name).map_or_else(|| Reading::missing(name), |attribute| Reading::of(&attribute))
}

fn reading_at(node: &Node, path: String) -> Reading {
    let origin = Origin::Config { path, span: node.span };
    Reading::of(&Attribute { value: std::borrow::Cow::Borrowed(&node.value), origin })
}

fn zero(why: &'static str) -> Reading {
    Reading::new(0, Origin::Fallback(why))
}

#[cfg(test)]
mod tests;

//! A config as the model library presents it: the value of a name, through aliases, defaults and derivations.

use super::classes::{Class, Derivation, TextPart, WindowRule};
use super::origin::Origin;
use crate::json::{Node, Value};
use std::borrow::Cow;

/// One (sub)config together with what its class does to it.
#[derive(Clone, Debug)]
pub struct Attributes<'a> {
    /// The JSON object; `None` where a composite has no sub-config and its class fills in everything.
    pub json: Option<&'a Node>,
    /// The path of the object from the top, empty for the top itself.
    pub path: String,
    /// The class, if it is known.
    pub class: Option<Class<'a>>,
    /// What the composite around this sub-config adds to it.
    pub part: Option<TextPart<'a>>,
}

/// A value under a name, and where it came from.
#[derive(Clone, Debug)]
pub struct Attribute<'a> {
    /// The value.
    pub value: Cow<'a, Value>,
    /// Where it came from.
    pub origin: Origin,
}

impl<'a> Attributes<'a> {
    /// The value of `name`: what the class forces, else the config's own key, else the key that the class reads for it,
    /// else what the class derives or fills in.
    #[must_use]
    pub fn get(&self, name: &'static str) -> Option<Attribute<'a>> {
        if let Some(forced) = self.class.and_then(|class| class.forced(name)).and_then(|rule| self.derive(rule)) {
            return Some(forced);
        }
        let derivation = self.class.and_then(|class| class.derived(name));
        if let Some(attribute) = self.in_config(name) {
            let null = attribute.value.as_ref() == &Value::Null;
            let filled = match name {
                "head_dim" => derivation.is_some(),
                "num_key_value_heads" => self.class.is_some_and(Class::null_kv_is_heads),
                _ => false,
            };
            if !(null && filled) {
                return Some(attribute);
            }
            if name == "num_key_value_heads" {
                return self.derive(Derivation::Heads);
            }
        }
        if let Some(own) = self.part_default(name) {
            return Some(own);
        }
        if let Some(derived) = derivation.and_then(|rule| self.derive(rule)) {
            return Some(derived);
        }
        self.class_default(name)
    }

    /// Whether anything has that name.
    #[must_use]
    pub fn has(&self, name: &'static str) -> bool {
        self.get(name).is_some()
    }

    /// The value of `name` as an integer, where it is one.
    #[must_use]
    pub fn integer(&self, name: &'static str) -> Option<i128> {
        super::reading::integer(&self.get(name)?.value)
    }

    /// The value of `name` as Python's truth; false where absent.
    #[must_use]
    pub fn truthy(&self, name: &'static str) -> bool {
        self.get(name).is_some_and(|attribute| {
            Node { value: attribute.value.into_owned(), span: crate::json::Span::default() }.is_truthy()
        })
    }

    /// The `model_type` that decides about the class: the config's own, else the class's name.
    #[must_use]
    pub fn model_type(&self) -> &'a str {
        let own = self.json.and_then(|json| json.get("model_type")).and_then(Node::text);
        match (self.class, own) {
            (Some(class), _) => class.name(),
            (None, own) => own.unwrap_or_default(),
        }
    }

    /// The sliding window after what the class does to it. `None` in the value: no window.
    #[must_use]
    pub fn window(&self) -> Option<Attribute<'a>> {
        let window = self.get("sliding_window")?;
        let bidirectional = || self.get("use_bidirectional_attention").map(|a| a.value.into_owned());
        let halved = match self.class.and_then(Class::window_rule) {
            Some(WindowRule::UseFlag) if !self.truthy("use_sliding_window") => {
                let rule = "no window, use_sliding_window is not true".to_owned();
                return Some(Attribute { value: Cow::Owned(Value::Null), origin: Origin::Derived(rule) });
            }
            Some(WindowRule::HalvedIfBidirectional) => self.truthy("use_bidirectional_attention"),
            Some(WindowRule::HalvedIfBidirectionalAll) => bidirectional() == Some(Value::Text("all".to_owned())),
            _ => false,
        };
        match super::reading::integer(&window.value) {
            Some(width) if halved => Some(Attribute {
                value: Cow::Owned(Value::Int(width / 2 + 1)),
                origin: Origin::Derived("sliding_window // 2 + 1, attention is bidirectional".to_owned()),
            }),
            _ => Some(window),
        }
    }

    /// The path of a key of this object, from the top.
    #[must_use]
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn in_config(&self, name: &'static str) -> Option<Attribute<'a>> {
        let json = self.json?;
        let dropped = self.class.is_some_and(|class| class.drops(name));
        if !dropped && let Some(node) = json.get(name) {
            let origin = Origin::Config { path: self.path_of(name), span: node.span };
            return Some(Attribute { value: Cow::Borrowed(&node.value), origin });
        }
        let alias = self
            .class
            .and_then(|class| class.alias(name))
            .or_else(|| self.part.and_then(|part| part.alias(name)))
            .filter(|alias| !self.class.is_some_and(|class| class.drops(alias)))?;
        let node = json.get(alias)?;
        let origin = Origin::Alias { path: self.path_of(alias), span: node.span, asked: name };
        Some(Attribute { value: Cow::Borrowed(&node.value), origin })
    }

    /// What the composite around a sub-config fills in: for one that is missing altogether, and for one whose class
    /// only the composite knows.
    fn part_default(&self, name: &str) -> Option<Attribute<'a>> {
        let part = self.part.filter(|part| self.json.is_none() || self.class.is_none() || part.has_own_defaults())?;
        let class = part.class().unwrap_or_default().to_owned();
        Some(Attribute { value: Cow::Borrowed(part.default(name)?), origin: Origin::ClassDefault { class } })
    }

    fn class_default(&self, name: &str) -> Option<Attribute<'a>> {
        let class = self.class?;
        let origin = Origin::ClassDefault { class: class.name().to_owned() };
        Some(Attribute { value: Cow::Borrowed(class.default(name)?), origin })
    }

    /// Applies a derivation; `None` where what it starts from is not there.
    fn derive(&self, rule: Derivation) -> Option<Attribute<'a>> {
        let int = |name| self.integer(name);
        let derived = |value: i128, rule: &str| Some((Value::Int(value), rule.to_owned()));
        let (value, rule) = match rule {
            Derivation::HiddenPerHead => derived(
                int("hidden_size")?.checked_div(int("num_attention_heads")?)?,
                "hidden_size // num_attention_heads",
            ),
            Derivation::TwiceHiddenPerHead => derived(
                int("hidden_size")?.checked_mul(2)?.checked_div(int("num_attention_heads")?)?,
                "2 * hidden_size // num_attention_heads",
            ),
            Derivation::QkRopeHeadDim => derived(int("qk_rope_head_dim")?, "qk_rope_head_dim"),
            Derivation::NEmbed => derived(int("n_embed")?, "n_embed"),
            Derivation::PaddedVocabSize => derived(int("padded_vocab_size")?, "padded_vocab_size"),
            Derivation::TwiceNumLayers => derived(int("num_layers")?.checked_mul(2)?, "2 * num_layers"),
            Derivation::SlidingWindowSizePlus1 => {
                derived(int("sliding_window_size")?.checked_add(1)?, "sliding_window_size + 1")
            }
            Derivation::OneIfMultiQuery if self.truthy("multi_query") => derived(1, "1, multi_query is set"),
            Derivation::Heads | Derivation::OneIfMultiQuery => {
                derived(int("num_attention_heads")?, "num_attention_heads")
            }
            Derivation::IsHidden8192 if int("hidden_size")? == 8192 => {
                Some((Value::Bool(true), "hidden_size is 8192".to_owned()))
            }
            Derivation::IsHidden8192 => None,
            Derivation::PerLayerList => Some((Value::List(Vec::new()), "the class makes a list of it".to_owned())),
            Derivation::BlockCount => self.block_count(),
        }?;
        Some(Attribute { value: Cow::Owned(value), origin: Origin::Derived(rule) })
    }

    fn block_count(&self) -> Option<(Value, String)> {
        let json = self.json?;
        let (key, length) = match (json.get("layers_block_type"), json.get("hybrid_override_pattern")) {
            (Some(Node { value: Value::List(blocks), .. }), _) => ("layers_block_type", blocks.len()),
            (_, Some(Node { value: Value::Text(pattern), .. })) => ("hybrid_override_pattern", pattern.chars().count()),
            _ => return None,
        };
        Some((Value::Int(i128::try_from(length).ok()?), format!("length of {key}")))
    }
}

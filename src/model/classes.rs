//! What the config classes of the model library do to a `config.json`: aliases, defaults, derivations, layer patterns.
//!
//! A `config.json` names only what differs from its class, so facts about classes are part of every reading. They are
//! data (`classes.json`, one class a line, read off transformers 5.20), not code, and not compiled into the page: the
//! page fetches the file beside itself after the first paint and hands its text to [`ClassTable::parse`].

use crate::json::{self, JsonError, Node, Value};

/// Facts about the config classes, by `model_type`.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassTable {
    classes: Node,
    source: String,
}

impl Default for ClassTable {
    /// A table without classes.
    fn default() -> Self {
        Self { classes: Node { value: Value::Object(Vec::new()), span: json::Span::default() }, source: String::new() }
    }
}

impl ClassTable {
    /// Reads the table from the text of `classes.json`.
    ///
    /// # Errors
    /// Where the text is not JSON.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        let root = json::parse(text)?.root;
        let source = root.get("source").and_then(Node::text).unwrap_or_default().to_owned();
        let classes = root.get("classes").cloned().unwrap_or(root);
        Ok(Self { classes, source })
    }

    /// The table that belongs to this version of the project.
    ///
    /// # Panics
    /// Never: a test reads the same bytes.
    #[must_use]
    pub fn builtin() -> &'static Self {
        static TABLE: std::sync::LazyLock<ClassTable> =
            std::sync::LazyLock::new(|| ClassTable::parse(include_str!("classes.json")).unwrap_or_default());
        &TABLE
    }

    /// Where the facts were read.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The class of a `model_type`, if it is known.
    #[must_use]
    pub fn class(&self, model_type: &str) -> Option<Class<'_>> {
        self.classes.members().iter().find(|m| m.key == model_type).map(|m| Class { name: &m.key, facts: &m.node })
    }

    /// The names of all classes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.classes.members().iter().map(|member| member.key.as_str())
    }
}

/// What one config class does.
#[derive(Clone, Copy, Debug)]
pub struct Class<'a> {
    name: &'a str,
    facts: &'a Node,
}

/// How a class computes a field from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivation {
    /// `hidden_size // num_attention_heads`
    HiddenPerHead,
    /// `2 * hidden_size // num_attention_heads`
    TwiceHiddenPerHead,
    /// `num_attention_heads`
    Heads,
    /// `qk_rope_head_dim`
    QkRopeHeadDim,
    /// `n_embed`, where present
    NEmbed,
    /// true where `hidden_size` is 8192
    IsHidden8192,
    /// `padded_vocab_size`, where present
    PaddedVocabSize,
    /// the class makes a list of it, one entry a layer
    PerLayerList,
    /// 1 where `multi_query` is set, else `num_attention_heads`
    OneIfMultiQuery,
    /// `2 * num_layers`, where present
    TwiceNumLayers,
    /// `sliding_window_size + 1`, where present
    SlidingWindowSizePlus1,
    /// the length of `layers_block_type` or of `hybrid_override_pattern`
    BlockCount,
}

/// What a class does to the sliding window that stands in the config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowRule {
    /// The window is removed unless `use_sliding_window` is true.
    UseFlag,
    /// Halved, plus one, where `use_bidirectional_attention` is true.
    HalvedIfBidirectional,
    /// Halved, plus one, where `use_bidirectional_attention` is "all".
    HalvedIfBidirectionalAll,
}

/// Where a class keeps the language model's config.
#[derive(Clone, Copy, Debug)]
pub struct TextPart<'a> {
    facts: &'a Node,
}

impl<'a> Class<'a> {
    /// The `model_type`.
    #[must_use]
    pub fn name(self) -> &'a str {
        self.name
    }

    /// The config key that the class reads for `asked`, where that is another one.
    #[must_use]
    pub fn alias(self, asked: &str) -> Option<&'a str> {
        self.facts.get("aliases")?.get(asked)?.text()
    }

    /// What the class fills in for `name`.
    #[must_use]
    pub fn default(self, name: &str) -> Option<&'a Value> {
        self.facts.get("defaults")?.get(name).map(|node| &node.value)
    }

    /// How the class computes `name` when the config does not say.
    #[must_use]
    pub fn derived(self, name: &str) -> Option<Derivation> {
        Derivation::named(self.facts.get("derived")?.get(name)?.text()?)
    }

    /// How the class computes `name`, whatever the config says.
    #[must_use]
    pub fn forced(self, name: &str) -> Option<Derivation> {
        Derivation::named(self.facts.get("forced")?.get(name)?.text()?)
    }

    /// Whether the class consumes the key, so that nobody sees it afterwards.
    #[must_use]
    pub fn drops(self, key: &str) -> bool {
        self.facts.get("drops").and_then(Node::items).is_some_and(|keys| keys.iter().any(|k| k.text() == Some(key)))
    }

    /// Whether `num_key_value_heads: null` means as many as attention heads.
    #[must_use]
    pub fn null_kv_is_heads(self) -> bool {
        self.flag("null_kv_is_heads")
    }

    /// What the class does to the sliding window.
    #[must_use]
    pub fn window_rule(self) -> Option<WindowRule> {
        match self.facts.get("window")?.text()? {
            "use_flag" => Some(WindowRule::UseFlag),
            "halved_if_bidirectional" => Some(WindowRule::HalvedIfBidirectional),
            "halved_if_bidirectional_all" => Some(WindowRule::HalvedIfBidirectionalAll),
            _ => None,
        }
    }

    /// The rule by which the class tells sliding-window layers from full ones; read by [`super::layers`].
    #[must_use]
    pub fn sliding_layers(self) -> Option<&'a Node> {
        self.facts.get("sliding_layers")
    }

    /// The kinds of layers that the class repeats when the config has no `layer_types`.
    #[must_use]
    pub fn layer_types(self) -> Option<&'a [Node]> {
        self.facts.get("layer_types")?.items()
    }

    /// The kinds of the first 24 layers, for a class whose kinds follow no period.
    #[must_use]
    pub fn irregular_layer_types(self) -> Option<&'a [Node]> {
        self.facts.get("layer_types_at_24")?.items()
    }

    /// Whether head sizes differ by layer and the widest counts.
    #[must_use]
    pub fn widest_layer(self) -> bool {
        self.flag("widest_layer")
    }

    /// Whether the FFN fields are read from the top level although the rest is not.
    #[must_use]
    pub fn ffn_from_top(self) -> bool {
        self.flag("ffn_from_top")
    }

    /// Where the language model's config is, if the class is a composite.
    #[must_use]
    pub fn text_part(self) -> Option<TextPart<'a>> {
        self.facts.get("text").map(|facts| TextPart { facts })
    }

    fn flag(self, name: &str) -> bool {
        self.facts.get(name).is_some_and(Node::is_truthy)
    }
}

impl<'a> TextPart<'a> {
    /// Paths of the sub-config, the first that is there counts.
    pub fn paths(self) -> impl Iterator<Item = &'a str> {
        self.facts.get("keys").and_then(Node::items).unwrap_or_default().iter().filter_map(Node::text)
    }

    /// The `model_type` of the sub-config where it does not name a known one.
    #[must_use]
    pub fn class(self) -> Option<&'a str> {
        self.facts.get("class")?.text()
    }

    /// Whether the language model's keys may stand at the top level when there is no sub-config.
    #[must_use]
    pub fn is_flat(self) -> bool {
        self.facts.get("flat").is_some_and(Node::is_truthy)
    }

    /// An alias that holds for the sub-config.
    #[must_use]
    pub fn alias(self, asked: &str) -> Option<&'a str> {
        self.facts.get("aliases")?.get(asked)?.text()
    }

    /// Whether a sub-config is filled in from the composite's own defaults, not from its class's.
    #[must_use]
    pub fn has_own_defaults(self) -> bool {
        self.facts.get("own_defaults").is_some_and(Node::is_truthy)
    }

    /// What the composite fills in for its language model, where that differs from the sub-config's class.
    #[must_use]
    pub fn default(self, name: &str) -> Option<&'a Value> {
        self.facts.get("defaults")?.get(name).map(|node| &node.value)
    }
}

impl Derivation {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "hidden_per_head" => Self::HiddenPerHead,
            "twice_hidden_per_head" => Self::TwiceHiddenPerHead,
            "heads" => Self::Heads,
            "qk_rope_head_dim" => Self::QkRopeHeadDim,
            "n_embed" => Self::NEmbed,
            "is_hidden_8192" => Self::IsHidden8192,
            "padded_vocab_size" => Self::PaddedVocabSize,
            "per_layer_list" => Self::PerLayerList,
            "one_if_multi_query" => Self::OneIfMultiQuery,
            "twice_num_layers" => Self::TwiceNumLayers,
            "sliding_window_size_plus_1" => Self::SlidingWindowSizePlus1,
            "block_count" => Self::BlockCount,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_the_table_is_understood() {
        let table = ClassTable::builtin();
        assert!(table.names().count() > 650);
        for name in table.names() {
            let class = table.class(name).unwrap();
            for (kind, read) in [("derived", Class::derived as fn(_, &str) -> _), ("forced", Class::forced)] {
                for member in class.facts.get(kind).map(Node::members).unwrap_or_default() {
                    assert!(read(class, &member.key).is_some(), "{name}: {kind} {}", member.key);
                }
            }
            assert_eq!(class.facts.get("window").is_some(), class.window_rule().is_some(), "{name}");
        }
    }

    #[test]
    fn gemma_3_fills_in_heads_and_vocabulary() {
        let class = ClassTable::builtin().class("gemma3").unwrap();
        let text = ClassTable::builtin().class(class.text_part().unwrap().class().unwrap()).unwrap();
        assert_eq!(text.default("num_attention_heads"), Some(&Value::Int(8)));
        assert_eq!(text.default("vocab_size"), Some(&Value::Int(262_208)));
    }
}

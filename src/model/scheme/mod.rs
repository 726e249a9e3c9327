//! How a checkpoint stores each of its matrices, from what its config says about quantization.
//!
//! A [`Scheme`] is a list of rules, the first that names a module counts. Sources: the checkpoints' own JSON, and the
//! loaders of vLLM 0.33.0, which keep routers, norms, embeddings and some projections in 16 bit whatever is said.

mod dialect;
pub mod matching;

use super::anatomy::{Matrix, Op, Rows};
use super::number::Format;
use super::spec::{Note, Weight};
use crate::json::Node;
use matching::{regex, wildcard};
use std::cell::Cell;
use std::collections::BinaryHeap;

/// The most comparisons of a pattern with a module's name. Checkpoints stay below a million; only a config that was made
/// to take long comes near.
const MOST_COMPARED: u32 = 4_000_000;

/// What a regular expression counts for.
const EXPRESSION: u32 = 50;

/// The quantization of a checkpoint, module by module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scheme {
    rules: Vec<Rule>,
    /// Patterns that were compared already: beyond [`MOST_COMPARED`] none matches any more.
    compared: Cell<u32>,
    /// The format of the KV cache that the checkpoint asks for.
    pub kv: Option<&'static str>,
    /// What could not be understood, and what is assumed.
    pub notes: Vec<Note>,
}

/// How some modules are stored.
#[derive(Clone, Debug, Default, PartialEq)]
struct Rule {
    /// Names and names of parents, sorted.
    names: Vec<String>,
    /// Names with wildcards.
    wild: Vec<String>,
    /// Regular expressions.
    regexes: Vec<String>,
    /// Parts of names.
    parts: Vec<String>,
    /// All modules, or all of a kind.
    all: All,
    /// Their format; `None` leaves them in 16 bit.
    format: Option<Format>,
}

/// Modules that a rule holds for without naming them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum All {
    /// None.
    #[default]
    Named,
    /// Every linear layer and expert, but not the LM head.
    Linear,
    /// Routed experts.
    Experts,
    /// Everything, the LM head too.
    Any,
}

impl Scheme {
    /// Reads the quantization of a config; `text` is the language model's part of it.
    #[must_use]
    pub fn read(root: &Node, text: Option<&Node>, companion: Option<&Node>, text_type: &str) -> Self {
        dialect::read(root, text, companion, text_type)
    }

    /// The scheme of a method that is asked for by name, as its usual checkpoints have it.
    #[must_use]
    pub fn named(method: &str) -> Option<Format> {
        dialect::usual(method)
    }

    /// As [`Self::named`], with `none` for 16 bit.
    #[must_use]
    pub fn named_or_none(method: &str) -> Option<Format> {
        if method == "none" { Some(Format::PLAIN) } else { Self::named(method) }
    }

    /// Whether a method covers routed experts only.
    #[must_use]
    pub fn is_for_experts(method: &str) -> bool {
        matches!(method, "mxfp4" | "gpt_oss_mxfp4" | "experts_int8" | "moe_wna16")
    }

    /// Whether all layers are stored alike: no rule names modules one by one.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.rules.iter().all(|rule| !rule.numbered())
    }

    /// Whether its patterns took so long that the last ones were not compared any more.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.compared.get() > MOST_COMPARED
    }

    /// Sets the format of a matrix of a layer, or of the LM head.
    pub fn apply(&self, matrix: &mut Matrix, layer: Option<u64>) {
        let modules = matrix.op.modules();
        if modules.is_empty() || self.rules.is_empty() || matrix.op.rows() == Rows::Absorbed {
            return;
        }
        let names: Vec<String> = modules
            .split(' ')
            .map(|module| layer.map_or_else(|| module.to_owned(), |layer| format!("layers.{layer}.{module}")))
            .collect();
        let hit = self.rules.iter().find(|rule| {
            let all = match rule.all {
                All::Named => false,
                All::Linear => matrix.op != Op::Head,
                All::Experts => matrix.op.rows() == Rows::Routed,
                All::Any => true,
            };
            all || names.iter().any(|name| rule.names(name, &self.compared))
        });
        if let Some(format) = hit.and_then(|rule| rule.format) {
            matrix.format = format;
        }
    }

    fn say(&mut self, weight: Weight, text: &str) {
        self.notes.push(Note { weight, text: text.to_owned() });
    }
}

impl Rule {
    fn new(patterns: impl Iterator<Item = String>, format: Option<Format>) -> Self {
        let mut rule = Self { format, ..Self::default() };
        for pattern in patterns {
            rule.add(&pattern);
        }
        rule.names = BinaryHeap::from(rule.names).into_sorted_vec();
        rule
    }

    fn everything(all: All, format: Format) -> Self {
        Self { all, format: Some(format), ..Self::default() }
    }

    fn add(&mut self, pattern: &str) {
        if let Some(expression) = pattern.strip_prefix("re:") {
            self.regexes.push(expression.to_owned());
            return;
        }
        // Towers and prediction layers are not among the modules that are asked for.
        if ["vision", "visual", "audio", "mtp", "multi_modal"].iter().any(|tower| pattern.contains(tower)) {
            return;
        }
        let bare = pattern.find("layers.").map_or(pattern, |at| pattern.get(at..).unwrap_or(pattern));
        let list = if bare.contains('*') { &mut self.wild } else { &mut self.names };
        list.push(bare.to_owned());
    }

    /// Whether it may tell layers from each other: by a number, or by an expression that stands for some.
    fn numbered(&self) -> bool {
        let numbers = |pattern: &String| pattern.contains(|c: char| c.is_ascii_digit() || c == '[');
        let plain = |name: &String| name.contains("layers.");
        self.names.iter().chain(&self.parts).any(plain)
            || self.wild.iter().any(numbers)
            || self.regexes.iter().any(|pattern| numbers(pattern) || pattern.contains("\\d"))
    }

    /// Whether it names a module, or what contains it.
    fn names(&self, name: &str, compared: &Cell<u32>) -> bool {
        let known = |part: &str| self.names.binary_search_by(|known| known.as_str().cmp(part)).is_ok();
        let mut dots = name.match_indices('.');
        if known(name) || dots.any(|(at, _)| name.get(..at).is_some_and(known)) {
            return true;
        }
        let spent = |cost: u32| {
            compared.set(compared.get().saturating_add(cost));
            compared.get() > MOST_COMPARED
        };
        if self.parts.iter().any(|part| !spent(1) && name.contains(part.as_str())) {
            return true;
        }
        // gpt-oss names a parent with a wildcard in it.
        let parent =
            |pattern: &str| name.match_indices('.').any(|(at, _)| wildcard(pattern, name.get(..at).unwrap_or("")));
        let begins = |pattern: &str| name.starts_with(pattern.split('*').next().unwrap_or(pattern));
        if self.wild.iter().any(|pattern| !spent(1) && begins(pattern) && (wildcard(pattern, name) || parent(pattern)))
        {
            return true;
        }
        let prefixes = ["", "model.", "language_model.model.", "model.language_model."];
        self.regexes.iter().any(|pattern| {
            // What begins anywhere needs no beginning.
            let prefixes =
                if pattern.starts_with(".*") { prefixes.get(1..2).unwrap_or_default() } else { &prefixes[..] };
            prefixes.iter().any(|prefix| !spent(EXPRESSION) && regex(pattern, &format!("{prefix}{name}")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn every_format_that_can_be_asked_for_is_one() {
        for name in crate::model::quantization::formats() {
            assert!(Scheme::named_or_none(name).is_some(), "{name}");
        }
        assert_eq!((Scheme::named_or_none("gguf"), Scheme::named_or_none("")), (None, None));
    }

    #[test]
    fn a_hostile_list_ends_soon() {
        let names = (0..20_000).map(|n| format!("\"re:.*(a*)*{n}b\"")).collect::<Vec<_>>().join(",");
        let config = format!(r#"{{"quantization_config": {{"quant_method": "fp8", "ignore": [{names}]}}}}"#);
        let scheme = Scheme::read(&parse(&config).unwrap().root, None, None, "llama");
        let start = std::time::Instant::now();
        for layer in 0..200 {
            let mut matrix =
                Matrix::new(Op::Qkv, super::super::anatomy::Dim::whole(1), super::super::anatomy::Dim::whole(1));
            scheme.apply(&mut matrix, Some(layer));
            assert_eq!(matrix.format, Format::FP8);
        }
        assert!(scheme.is_exhausted() && start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}

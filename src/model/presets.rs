//! Models to begin with: facts of published `config.json` files as data (`presets.json`), with source and date.
//!
//! A preset is a config like a pasted one and goes the same way. Keys that no estimate reads were left out of it; where
//! a long list was left out, `trimmed` says which.

use crate::json::{self, Document, JsonError, Node};

/// A model to begin with.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// A short name that links and the command line use.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Whose `config.json` it is.
    pub source: String,
    /// When that was read.
    pub as_of: String,
    /// Long lists that were left out of the config, by path.
    pub trimmed: Vec<String>,
    /// The config.
    pub config: Document,
}

/// Reads the presets from the text of `presets.json`.
///
/// # Errors
/// Where the text is not JSON.
pub fn parse(text: &str) -> Result<Vec<Preset>, JsonError> {
    let root = json::parse(text)?.root;
    let as_of = root.get("as_of").and_then(Node::text).unwrap_or_default();
    let presets = root.get("presets").and_then(Node::items).unwrap_or_default();
    Ok(presets.iter().filter_map(|node| preset(node, as_of)).collect())
}

fn preset(node: &Node, as_of: &str) -> Option<Preset> {
    let text = |key| node.get(key).and_then(Node::text).map(str::to_owned);
    let trimmed = node.get("trimmed").and_then(Node::items).unwrap_or_default();
    Some(Preset {
        id: text("id")?,
        name: text("name")?,
        source: text("source")?,
        as_of: as_of.to_owned(),
        trimmed: trimmed.iter().filter_map(Node::text).map(str::to_owned).collect(),
        config: Document { root: node.get("config")?.clone(), repairs: Vec::new() },
    })
}

/// The presets that belong to this version of the project. The page reads them from a file beside it instead.
#[must_use]
pub fn builtin() -> &'static [Preset] {
    static PRESETS: std::sync::LazyLock<Vec<Preset>> =
        std::sync::LazyLock::new(|| parse(include_str!("presets.json")).unwrap_or_default());
    &PRESETS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ClassTable, resolve};

    #[test]
    fn every_preset_resolves_and_has_its_facts() {
        let presets = builtin();
        assert!(presets.len() >= 25);
        for preset in presets {
            let spec = resolve(&preset.config, None, ClassTable::builtin()).unwrap();
            assert!(spec.unreadable.is_none() && spec.class_known, "{}: {spec:?}", preset.id);
            assert!(presets.iter().filter(|other| other.id == preset.id).count() == 1, "{}", preset.id);
        }
        let v3 = presets.iter().find(|preset| preset.id == "deepseek-v3").unwrap();
        let spec = resolve(&v3.config, None, ClassTable::builtin()).unwrap();
        assert_eq!((spec.layers.ok(), spec.moe_layers.ok(), spec.experts.ok()), (Some(61), Some(58), Some(256)));
    }
}

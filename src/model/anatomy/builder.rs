//! What the builders of layers share: the config's values, and those of one layer.

use super::facts;
use crate::json::{Node, Value};
use crate::model::attributes::Attributes;
use crate::model::reading::{Reading, integer};
use crate::model::spec::{ModelSpec, Note, Weight};
use std::cell::RefCell;

/// A config as the builders of layers see it.
pub(super) struct Builder<'a> {
    /// The language model's config.
    pub(super) text: &'a Attributes<'a>,
    /// Where FFN fields stand.
    pub(super) ffn: &'a Attributes<'a>,
    /// What was resolved before.
    pub(super) spec: &'a ModelSpec,
    /// Facts about the class.
    facts: u32,
    /// Layers.
    pub(super) layers: u64,
    /// Hidden size.
    pub(super) hidden: u64,
    /// Attention heads; 0 where there is no attention.
    pub(super) heads: u64,
    /// Remarks so far.
    pub(super) notes: RefCell<Vec<Note>>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(text: &'a Attributes<'a>, ffn: &'a Attributes<'a>, spec: &'a ModelSpec) -> Result<Self, String> {
        let layers = spec.layers.positive("num_hidden_layers")?;
        if layers > super::MOST_LAYERS {
            return Err(format!("num_hidden_layers is {layers}; layers are described up to {}", super::MOST_LAYERS));
        }
        Ok(Self {
            text,
            ffn,
            spec,
            facts: facts::facts(&spec.text_type),
            layers,
            hidden: size(&spec.hidden, "hidden_size")?,
            heads: spec.heads.ok().unwrap_or(0),
            notes: RefCell::default(),
        })
    }

    /// Whether a fact holds for the class.
    pub(super) fn is(&self, fact: u32) -> bool {
        self.facts & fact != 0
    }

    /// Whether this is one of these types, separated by spaces.
    pub(super) fn type_is(&self, types: &str) -> bool {
        types.split(' ').any(|name| name == self.spec.text_type)
    }

    /// A positive integer under the first of the names that has one. Of a list the first item counts.
    pub(super) fn int(&self, names: &[&'static str]) -> Option<u64> {
        self.at(names, 0)
    }

    /// As [`Self::int`] with a default.
    pub(super) fn int_or(&self, names: &[&'static str], default: u64) -> u64 {
        self.int(names).unwrap_or(default)
    }

    /// The integer of a layer: of a list the item of that place, else the one number that holds for all.
    pub(super) fn at(&self, names: &[&'static str], layer: u64) -> Option<u64> {
        names.iter().find_map(|name| {
            let found = self.text.get(name).or_else(|| self.ffn.get(name))?;
            let value = match found.value.as_ref() {
                Value::List(items) => {
                    integer(&items.get(usize::try_from(layer).ok()?).or_else(|| items.first())?.value)?
                }
                value => integer(value)?,
            };
            in_range(value)
        })
    }

    /// Python's truth of a key.
    pub(super) fn truthy(&self, name: &'static str) -> bool {
        self.text.truthy(name)
    }

    /// The items of a list.
    pub(super) fn list(&self, name: &str) -> Option<&'a [Node]> {
        self.text.json?.get(name)?.items().filter(|items| !items.is_empty())
    }

    /// The word of a layer in a list of words.
    pub(super) fn word(&self, name: &str, layer: u64) -> Option<&'a str> {
        self.list(name)?.get(usize::try_from(layer).ok()?)?.text()
    }

    /// The number of a layer in a list of numbers.
    pub(super) fn number(&self, name: &str, layer: u64) -> Option<i128> {
        integer(&self.list(name)?.get(usize::try_from(layer).ok()?)?.value)
    }

    /// Whether a list of layers names this one; `None` where there is no list.
    pub(super) fn lists(&self, name: &str, layer: u64) -> Option<bool> {
        let items = self.text.json?.get(name)?.items()?;
        Some(items.iter().any(|item| integer(&item.value) == Some(layer.into())))
    }

    /// Says something once.
    pub(super) fn say(&self, weight: Weight, text: &str) {
        let mut notes = self.notes.borrow_mut();
        if notes.iter().all(|note| note.text != text) {
            notes.push(Note { weight, text: text.to_owned() });
        }
    }
}

/// A size that is positive and not too large; else nothing.
pub(super) fn in_range(value: i128) -> Option<u64> {
    u64::try_from(value).ok().filter(|value| (1..=super::LARGEST).contains(value))
}

/// A field as a size.
pub(super) fn size(reading: &Reading, name: &str) -> Result<u64, String> {
    let value = reading.positive(name)?;
    in_range(value.into()).ok_or_else(|| format!("{name} is {value}; sizes are described up to {}", super::LARGEST))
}

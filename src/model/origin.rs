//! Where a value came from. Every resolved field carries one, so that nothing is a silent default.

use crate::json::Span;
use std::fmt;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A key of the config, by its path from the top (`text_config.hidden_size`).
    Config {
        /// The path.
        path: String,
        /// Where its value stands in the text.
        span: Span,
    },
    /// A key of the config that the model's config class reads under another name.
    Alias {
        /// The path of the key that is there.
        path: String,
        /// Where its value stands in the text.
        span: Span,
        /// The name that was asked for.
        asked: &'static str,
    },
    /// The config class fills it in when the key is missing.
    ClassDefault {
        /// The class, by its `model_type`.
        class: String,
    },
    /// Computed from other fields, by this rule.
    Derived(String),
    /// What the estimator takes where the config says nothing.
    Fallback(&'static str),
    /// The user's choice, by the setting's name.
    Setting(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config { path, .. } => write!(f, "config: {path}"),
            Self::Alias { path, asked, .. } => write!(f, "config: {path} (read as {asked})"),
            Self::ClassDefault { class } => write!(f, "class default: {class}"),
            Self::Derived(rule) => write!(f, "derived: {rule}"),
            Self::Fallback(what) => write!(f, "not in the config: {what}"),
            Self::Setting(name) => write!(f, "setting: {name}"),
        }
    }
}

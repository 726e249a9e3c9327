//! Models of the user's own: what is kept of them.

use super::state::CustomModel;
use crate::json::{Node, parse};
use crate::model::{reduce, reduce_companion};

/// The longest name of a model, in characters.
const LONGEST_NAME: usize = 60;

impl CustomModel {
    /// A model from a config that was read, reduced to what matters. Of a name that is a path, which may tell whose
    /// machine it is from, the last part is kept.
    #[must_use]
    pub fn new(name: &str, config: &Node, companion: Option<&Node>) -> Self {
        Self {
            name: last_part(name),
            config: reduce(config).to_compact(),
            companion: companion.map(|node| reduce_companion(node).to_compact()),
        }
    }

    /// The same model as [`Self::new`] would have made it; a text that is no JSON object stays as it is.
    #[must_use]
    pub fn normal(&self) -> Self {
        let reduced = |text: &String, reduce: fn(&Node) -> Node| match parse(text) {
            Ok(document) if document.root.is_object() => reduce(&document.root).to_compact(),
            _ => text.clone(),
        };
        Self {
            name: last_part(&self.name),
            config: reduced(&self.config, reduce),
            companion: self.companion.as_ref().map(|text| reduced(text, reduce_companion)),
        }
    }
}

fn last_part(name: &str) -> String {
    let last = name.trim().trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default();
    last.trim().chars().take(LONGEST_NAME).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_keeps_no_paths() {
        let config = parse(r#"{"model_type": "llama", "_name_or_path": "/home/jane/secret"}"#).unwrap().root;
        let model = CustomModel::new("C:\\Users\\jane\\my model.json", &config, None);
        assert_eq!((model.name.as_str(), model.config.as_str()), ("my model.json", r#"{"model_type":"llama"}"#));
        assert_eq!(model.normal(), model);
        assert_eq!(last_part("/home/jane/"), "jane");
        assert_eq!(last_part(&"x".repeat(99)).len(), LONGEST_NAME);
        let broken = CustomModel { name: String::new(), config: "{".to_owned(), companion: None };
        assert_eq!(broken.normal(), broken);
    }
}

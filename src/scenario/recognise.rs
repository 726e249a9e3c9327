//! What a text that was pasted or dropped is.

use super::file::MARK;
use crate::json::{Node, parse};

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// A config, or something that will be refused as one.
    Config,
    /// A `hf_quant_config.json`: it says how the weights of the config beside it are quantized.
    Companion,
    /// A comparison that was saved as a file.
    Comparison,
}

/// Tells a comparison and a quantization document from everything else.
#[must_use]
pub fn recognise(text: &str) -> Document {
    let Ok(document) = parse(text) else { return Document::Config };
    let root = document.root;
    if root.get(MARK).is_some() {
        return Document::Comparison;
    }
    let quantizes = root.get("quantization").is_some_and(Node::is_object);
    if quantizes && root.get("model_type").is_none() && root.get("num_hidden_layers").is_none() {
        Document::Companion
    } else {
        Document::Config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantization_documents_are_told_from_configs() {
        let companion = r#"{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4"}}"#;
        assert_eq!(recognise(companion), Document::Companion);
        // MLX checkpoints carry a `quantization` of their own.
        assert_eq!(recognise(r#"{"model_type": "qwen3", "quantization": {"bits": 4}}"#), Document::Config);
        assert_eq!(recognise("{"), Document::Config);
        assert_eq!(recognise(r#"{"rooflens": 1, "scenarios": []}"#), Document::Comparison);
    }
}

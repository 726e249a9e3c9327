//! Documents that are no language model's config, recognised by what they are, so that the error can name it.

use super::classes::ClassTable;
use crate::json::Node;

/// What a document looks like, if it is not the config of a language model.
#[must_use]
pub(super) fn looks_like(root: &Node, classes: &ClassTable) -> Option<&'static str> {
    let has = |key: &str| root.get(key).is_some();
    let any = |keys: &[&str]| keys.iter().any(|key| has(key));
    let model = any(&["model_type", "architectures", "num_hidden_layers", "num_attention_heads", "n_head", "n_layer"]);
    let text = any(&["text_config", "llm_config", "language_config", "thinker_config", "decoder"]);
    if has("peft_type") {
        Some("an adapter config (it has peft_type): paste the config.json of the base model")
    } else if any(&["_class_name", "_diffusers_version"]) {
        Some("the config of a diffusion pipeline (it has _class_name)")
    } else if is_vision_class(root, classes) {
        Some("the config of a vision encoder (its model_type is one, and it has no vocabulary)")
    } else if any(&["image_size", "patch_size", "num_mel_bins"])
        && !text
        && !any(&["vocab_size", "padded_vocab_size"])
        && !has("num_key_value_heads")
    {
        Some("the config of a vision or audio encoder (it has image, patch or audio sizes and no vocabulary)")
    } else if model || text {
        None
    } else if any(&["tokenizer_class", "added_tokens_decoder", "chat_template"]) {
        Some("a tokenizer's config (it has tokenizer_class)")
    } else if any(&["image_processor_type", "feature_extractor_type", "processor_class"]) {
        Some("a preprocessor's config")
    } else if has("quantization") && has("producer") {
        Some("a hf_quant_config.json: it belongs beside a config.json, paste that first")
    } else if any(&["temperature", "top_p", "do_sample", "max_new_tokens", "eos_token_id", "bos_token_id"]) {
        Some("a generation config (sampling parameters, no layers)")
    } else if any(&["weight_map", "metadata"]) {
        Some("an index of weight files")
    } else if root.members().is_empty() {
        Some("an empty object")
    } else {
        Some("no config.json of a model (it has neither model_type nor layers)")
    }
}

/// Whether the class is a vision tower on its own: named so, with neither a language model nor a vocabulary.
fn is_vision_class(root: &Node, classes: &ClassTable) -> bool {
    let Some(class) = root.get("model_type").and_then(Node::text).and_then(|name| classes.class(name)) else {
        return false;
    };
    let named = class.name().contains("vision") || class.name().starts_with("vit") || class.name().starts_with("dinov");
    let language =
        class.text_part().is_some() || class.default("vocab_size").is_some() || root.get("vocab_size").is_some();
    named && !language
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[track_caller]
    fn seen(config: &str, word: Option<&str>) {
        let seen = looks_like(&parse(config).unwrap().root, ClassTable::builtin());
        match word {
            Some(word) => assert!(seen.is_some_and(|s| s.contains(word)), "{config}: {seen:?}"),
            None => assert_eq!(seen, None, "{config}"),
        }
    }

    #[test]
    fn documents_are_told_apart_by_name() {
        seen(r#"{"peft_type": "LORA", "r": 16}"#, Some("adapter"));
        seen(r#"{"_class_name": "FluxTransformer2DModel", "num_layers": 19}"#, Some("diffusion"));
        seen(
            r#"{"model_type": "vit", "num_attention_heads": 12, "image_size": 224, "patch_size": 16}"#,
            Some("vision"),
        );
        seen(r#"{"model_type": "siglip_vision_model"}"#, Some("vision"));
        seen(r#"{"model_type": "vit"}"#, Some("vision"));
        seen(r#"{"tokenizer_class": "LlamaTokenizer", "model_max_length": 4096}"#, Some("tokenizer"));
        seen(r#"{"eos_token_id": 2, "temperature": 0.6}"#, Some("generation"));
        seen(r#"{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8"}}"#, Some("hf_quant_config"));
        seen("{}", Some("empty"));
        seen(r#"{"model_type": "llama"}"#, None);
        seen(r#"{"num_hidden_layers": 2, "eos_token_id": 2}"#, None);
    }
}

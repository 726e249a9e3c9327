//! Which quantization a checkpoint names, and what vLLM's estimator makes of the name.

use super::origin::Origin;
use crate::json::{Node, Value};

/// The quantization of a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quantization {
    /// The method's name, lower case. `Some("")`: a quantization is described without a method, and counts as none.
    pub method: Option<String>,
    /// Where the name stands, if there is one.
    pub origin: Option<Origin>,
}

/// Methods whose weights the estimator counts as one byte each.
pub const ONE_BYTE: [&str; 7] =
    ["fp8", "fbgemm_fp8", "ptpc_fp8", "fp_quant", "modelopt", "modelopt_mxfp8", "experts_int8"];

/// Methods whose weights the estimator counts as half a byte each.
pub const HALF_BYTE: [&str; 12] = [
    "mxfp4",
    "awq",
    "awq_marlin",
    "gptq",
    "gptq_marlin",
    "modelopt_fp4",
    "petit_nvfp4",
    "compressed-tensors",
    "torchao",
    "quark",
    "moe_wna16",
    "inc",
];

/// Bytes a weight element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WeightBytes {
    /// A whole number of bytes.
    Whole(u64),
    /// Half a byte.
    Half,
}

/// Methods that vLLM knows although the table of weight sizes lacks them.
pub const OUTSIDE_THE_TABLE: [&str; 8] =
    ["bitsandbytes", "gguf", "auto_awq", "auto_gptq", "gpt_oss_mxfp4", "deepseek_v4_fp8", "modelopt_mixed", "online"];

/// Names of formats of weights, `none` for 16 bit. One text, as the page holds it: a table
/// would weigh several times as much.
const FORMATS: &str = "none fp8 fbgemm_fp8 ptpc_fp8 fp_quant modelopt modelopt_mxfp8 experts_int8 mxfp4 awq awq_marlin \
    gptq gptq_marlin modelopt_fp4 petit_nvfp4 compressed-tensors torchao quark moe_wna16 inc bitsandbytes nvfp4 mxfp8 \
    fp8_per_tensor fp8_per_channel auto_awq auto_gptq gpt_oss_mxfp4 deepseek_v4_fp8 modelopt_mixed";

/// The names that a format of weights can be asked for by.
pub fn formats() -> impl Iterator<Item = &'static str> + Clone {
    FORMATS.split(' ')
}

/// The format of that name, as the name itself.
///
/// # Errors
/// All names, as a list to read.
pub fn format_named(name: &str) -> Result<&'static str, String> {
    formats().find(|known| *known == name).ok_or_else(|| FORMATS.replace(' ', ", "))
}

/// Whether vLLM has a method of that name.
#[must_use]
pub fn is_known(method: &str) -> bool {
    weight_bytes(method).is_some() || OUTSIDE_THE_TABLE.contains(&method)
}

/// The bytes that the estimator counts for a weight of a method; `None` for a method that its table lacks.
#[must_use]
pub fn weight_bytes(method: &str) -> Option<WeightBytes> {
    if ONE_BYTE.contains(&method) {
        Some(WeightBytes::Whole(1))
    } else if HALF_BYTE.contains(&method) {
        Some(WeightBytes::Half)
    } else {
        None
    }
}

/// The name under which a vLLM 0.33.0 engine runs a checkpoint's method, where it renames it. Its own counters look
/// the new name up; most they do not find, and then hold the LM head only.
#[must_use]
pub fn engine_name(method: &str, model_type: &str) -> Option<&'static str> {
    match method {
        "awq" | "awq_marlin" => Some("auto_awq"),
        "gptq" | "gptq_marlin" => Some("auto_gptq"),
        "mxfp4" if model_type == "gpt_oss" => Some("gpt_oss_mxfp4"),
        "mxfp8" => Some("modelopt_mxfp8"),
        "fp8" if model_type.starts_with("deepseek_v4") => Some("deepseek_v4_fp8"),
        _ => None,
    }
}

/// Finds the quantization in the (sub)configs given with their paths, in order, else in `hf_quant_config.json`.
#[must_use]
pub fn find(configs: &[(&Node, &str)], companion: Option<&Node>) -> Quantization {
    for (config, path) in configs {
        for key in ["quantization_config", "compression_config"] {
            if let Some(node) = config.get(key).filter(|node| node.is_object()) {
                let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                return read(node, &path);
            }
        }
    }
    match companion {
        Some(node) => read(node, "hf_quant_config.json"),
        None => Quantization::default(),
    }
}

fn read(node: &Node, path: &str) -> Quantization {
    let named = node.get("quant_method").and_then(Node::text).map(str::to_ascii_lowercase);
    let by_modelopt = match &named {
        Some(method) => method.starts_with("modelopt"),
        None => {
            node.get("producer").and_then(|p| p.get("name")).and_then(Node::text).is_some_and(|name| name == "modelopt")
                || (path.starts_with("hf_quant_config") && node.get("quantization").is_some())
        }
    };
    if by_modelopt {
        let nested = node.get("quantization").filter(|inner| inner.is_object());
        let (holder, inside) = nested.map_or((node, ""), |inner| (inner, ".quantization"));
        if let Some(algo) = holder.get("quant_algo")
            && let Value::Text(name) = &algo.value
        {
            let origin = Origin::Config { path: format!("{path}{inside}.quant_algo"), span: algo.span };
            let method = modelopt(name).map(str::to_owned).or(named).unwrap_or_else(|| "modelopt".to_owned());
            return Quantization { method: Some(method), origin: Some(origin) };
        }
    }
    let method = normal(&named.unwrap_or_default());
    let at = node.get("quant_method").unwrap_or(node);
    let path = if node.get("quant_method").is_some() { format!("{path}.quant_method") } else { path.to_owned() };
    Quantization { method: Some(method), origin: Some(Origin::Config { path, span: at.span }) }
}

/// Whether the ModelOpt algorithm of a config, or of the document beside it, is one of the FP8 family.
#[must_use]
pub fn is_fp8_algo(root: &Node, companion: Option<&Node>) -> bool {
    let holders = [root.get("quantization_config"), root.get("compression_config"), companion];
    holders.into_iter().flatten().any(|node| {
        let inner = node.get("quantization").filter(|inner| inner.is_object()).unwrap_or(node);
        inner.get("quant_algo").and_then(Node::text).is_some_and(|algo| algo.to_ascii_uppercase().contains("FP8"))
    })
}

/// Whether a quantization names modules that it does not hold for. A reduced config may only say that it had a list.
#[must_use]
pub fn leaves_modules_out(root: &Node) -> bool {
    const LISTS: [&str; 4] = ["ignore", "modules_to_not_convert", "exclude_modules", "ignored_layers"];
    let named = |node: &Node, key: &str| {
        let modules = node.get(key).and_then(Node::items).unwrap_or_default();
        modules.iter().filter_map(Node::text).any(|module| !module.contains("lm_head"))
    };
    let dropped = root.get("_trimmed").and_then(Node::items).unwrap_or_default();
    let had = |path: &str| LISTS.iter().any(|list| path.ends_with(list));
    let listed = root.get("quantization_config").is_some_and(|node| {
        let inner = node.get("quantization").unwrap_or(node);
        LISTS.iter().any(|key| named(node, key) || named(inner, key))
    });
    listed || dropped.iter().filter_map(Node::text).any(had)
}

/// A method's name as the table of weight sizes spells it.
#[must_use]
pub fn normal(method: &str) -> String {
    let method = method.trim().to_ascii_lowercase();
    if method == "compressed_tensors" { "compressed-tensors".to_owned() } else { method }
}

/// The method of a ModelOpt algorithm.
fn modelopt(algo: &str) -> Option<&'static str> {
    let algo = algo.to_ascii_uppercase();
    if algo == "MIXED_PRECISION" {
        Some("modelopt_mixed")
    } else if algo.contains("MXFP8") {
        Some("modelopt_mxfp8")
    } else if algo.contains("FP4") {
        Some("modelopt_fp4")
    } else if algo.contains("FP8") {
        Some("modelopt")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[track_caller]
    fn method(config: &str) -> Option<String> {
        find(&[(&parse(config).unwrap().root, "")], None).method
    }

    #[test]
    fn the_method_as_the_checkpoint_names_it() {
        assert_eq!(method("{}"), None);
        assert_eq!(method(r#"{"quantization_config": null}"#), None);
        assert_eq!(method(r#"{"quantization_config": {"quant_method": "FP8"}}"#).as_deref(), Some("fp8"));
        assert_eq!(method(r#"{"quantization_config": {"bits": 4}}"#).as_deref(), Some(""));
        assert_eq!(
            method(r#"{"compression_config": {"quant_method": "compressed_tensors"}}"#).as_deref(),
            Some("compressed-tensors")
        );
        let modelopt = |algo: &str| {
            let nested = format!(
                r#"{{"quantization_config": {{"producer": {{"name": "modelopt"}}, "quantization": {{"quant_algo": "{algo}"}}}}}}"#
            );
            let flat = format!(r#"{{"quantization_config": {{"quant_method": "modelopt", "quant_algo": "{algo}"}}}}"#);
            assert_eq!(method(&nested), method(&flat));
            method(&flat).unwrap()
        };
        assert_eq!(modelopt("FP8"), "modelopt");
        assert_eq!(modelopt("NVFP4"), "modelopt_fp4");
        assert_eq!(modelopt("MXFP8"), "modelopt_mxfp8");
        assert_eq!(modelopt("MIXED_PRECISION"), "modelopt_mixed");
    }

    #[test]
    fn the_companion_document_is_used_where_the_config_says_nothing() {
        let companion =
            parse(r#"{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4"}}"#).unwrap().root;
        let plain = parse("{}").unwrap().root;
        assert_eq!(find(&[(&plain, "")], Some(&companion)).method.as_deref(), Some("modelopt_fp4"));
        let own = parse(r#"{"quantization_config": {"quant_method": "awq"}}"#).unwrap().root;
        assert_eq!(find(&[(&own, "")], Some(&companion)).method.as_deref(), Some("awq"));
    }
}

//! The dialects in which configs describe a quantization.

use super::{All, Rule, Scheme};
use crate::hardware::Precision;
use crate::json::{Node, Value};
use crate::model::number::Format;
use crate::model::reading::integer;
use crate::model::spec::Weight;

/// Keys under which modules are listed that stay in 16 bit.
const IGNORED: [&str; 4] = ["ignore", "modules_to_not_convert", "ignored_layers", "exclude_modules"];

/// Reads whichever dialect it is.
pub(super) fn read(root: &Node, text: Option<&Node>, companion: Option<&Node>, text_type: &str) -> Scheme {
    let mut scheme = Scheme::default();
    let places = [Some(root), text];
    let own = places.into_iter().flatten().find_map(|place| {
        ["quantization_config", "compression_config"]
            .into_iter()
            .find_map(|key| place.get(key).filter(|node| node.is_object()))
    });
    let apple = own.is_none_or(|node| node.get("quant_method").is_none());
    if let Some(mlx) = root.get("quantization").filter(|node| node.is_object() && apple) {
        let bits = number(mlx, "bits").unwrap_or(4);
        // A scale and an offset of 16 bits a group.
        let format = Format { meta: 32, ..Format::integers(narrow(bits), group(mlx, 64), 0) };
        scheme.rules.push(Rule::everything(All::Any, format));
        scheme.say(
            Weight::Caution,
            "MLX stores its embedding in the packed format too, which is counted in 16 bit here: memory errs on the high \
             side.",
        );
        return scheme;
    }
    let Some(node) = own.or(companion) else { return scheme };
    let node_of = |node: &Node| node.get("quantization").filter(|inner| inner.is_object()).cloned();
    let inner = node_of(node);
    let holder = inner.as_ref().unwrap_or(node);
    let method = node.get("quant_method").and_then(Node::text).unwrap_or_default().to_ascii_lowercase();
    let modelopt = method.starts_with("modelopt") || holder.get("quant_algo").is_some();
    scheme.kv = cache(holder);
    let ignored = IGNORED.into_iter().filter_map(|key| holder.get(key)).filter_map(Node::items).flatten();
    let ignored: Vec<String> = ignored.filter_map(Node::text).map(str::to_owned).collect();
    if trimmed(root, &IGNORED) {
        scheme.say(
            Weight::Caution,
            "The list of modules that are not quantized was cut from this config: they count as quantized, which errs on \
             the low side.",
        );
    }
    if trimmed(root, &["quantized_layers", "targets"]) {
        scheme.say(
            Weight::Caution,
            "The list of modules that are quantized was cut from this config: they count in 16 bit, which errs on the high \
             side.",
        );
    }
    let mut first = Rule::new(ignored.iter().cloned(), None);
    if method == "awq" || method.starts_with("awq_") {
        // These are parts of names.
        first = Rule { parts: ignored, ..Rule::default() };
    }
    scheme.rules.push(first);
    match method.as_str() {
        _ if modelopt => modelopt_rules(holder, &mut scheme),
        "compressed-tensors" | "compressed_tensors" => groups(node, &mut scheme),
        "gpt_oss_mxfp4" | "mxfp4" => scheme.rules.push(Rule::everything(All::Experts, Format::MXFP4)),
        "awq" | "awq_marlin" | "gptq" | "gptq_marlin" | "moe_wna16" | "inc" | "auto-round" | "auto_awq"
        | "auto_gptq" => {
            packed(node, &method, &mut scheme);
        }
        "fp8" => {
            let block = node.get("weight_block_size").and_then(Node::items).is_some();
            let experts = root.get("expert_dtype").and_then(Node::text);
            if text_type.starts_with("deepseek_v4") {
                scheme.kv = Some("fp8_ds_mla");
                if experts != Some("fp8") {
                    scheme.rules.push(Rule::everything(All::Experts, Format::MXFP4));
                }
            }
            scheme.rules.push(Rule::everything(All::Linear, if block { Format::FP8_BLOCK } else { Format::FP8 }));
        }
        "bitsandbytes" => {
            let wide = node.get("load_in_8bit").is_some_and(Node::is_truthy);
            let format = if wide { Format { compute: None, ..Format::INT8 } } else { Format::NF4 };
            scheme.rules.push(Rule::everything(All::Linear, format));
        }
        "quark" | "torchao" => told_by_name(node, &mut scheme),
        "" if holder.get("bits").is_some() => packed(node, "gptq", &mut scheme),
        other => match usual(other) {
            Some(format) if other == "experts_int8" => scheme.rules.push(Rule::everything(All::Experts, format)),
            Some(format) => scheme.rules.push(Rule::everything(All::Linear, format)),
            None => scheme.say(
                Weight::Strong,
                "This quantization is not understood: weights count in 16 bit, which errs on the high side.",
            ),
        },
    }
    if text_type.starts_with("deepseek_v4") {
        scheme.kv = Some("fp8_ds_mla");
    }
    scheme
}

/// Whether a reduced config says that a list under one of these keys was too long to keep.
fn trimmed(root: &Node, keys: &[&str]) -> bool {
    let paths = root.get("_trimmed").and_then(Node::items).unwrap_or_default();
    paths.iter().filter_map(Node::text).any(|path| keys.iter().any(|key| path.ends_with(key)))
}

/// The usual format of a method.
pub(super) fn usual(method: &str) -> Option<Format> {
    Some(match method {
        "fp8" | "deepseek_v4_fp8" => Format::FP8_BLOCK,
        "modelopt" | "fp8_per_tensor" => Format::FP8,
        "fbgemm_fp8" | "ptpc_fp8" | "fp8_per_channel" => Format::FP8_ROW,
        "mxfp8" | "modelopt_mxfp8" => Format::MXFP8,
        "mxfp4" | "gpt_oss_mxfp4" => Format::MXFP4,
        "modelopt_fp4" | "petit_nvfp4" | "nvfp4" | "modelopt_mixed" => Format::NVFP4,
        "fp_quant" => Format::NVFP4,
        "experts_int8" => Format { compute: None, ..Format::INT8 },
        "awq" | "awq_marlin" | "gptq" | "gptq_marlin" | "auto_awq" | "auto_gptq" | "moe_wna16" | "inc"
        | "compressed-tensors" | "torchao" | "quark" => Format::INT4,
        "bitsandbytes" => Format::NF4,
        _ => return None,
    })
}

fn number(node: &Node, key: &str) -> Option<i128> {
    integer(&node.get(key)?.value)
}

fn narrow(bits: i128) -> u16 {
    u16::try_from(bits).ok().filter(|bits| (1..=16).contains(bits)).unwrap_or(16)
}

/// The group size of a node; none and -1 are whole rows.
fn group(node: &Node, default: u32) -> u32 {
    number(node, "group_size").map_or(default, |size| u32::try_from(size).unwrap_or(0))
}

/// The format of the KV cache that a quantization asks for.
fn cache(node: &Node) -> Option<&'static str> {
    let by_name = node.get("kv_cache_quant_algo").and_then(Node::text).map(str::to_ascii_uppercase);
    if let Some(name) = by_name {
        return if name.contains("FP4") { Some("nvfp4") } else { name.contains("FP8").then_some("fp8") };
    }
    match number(node.get("kv_cache_scheme")?, "num_bits")? {
        8 => Some("fp8"),
        4 => Some("nvfp4"),
        _ => None,
    }
}

/// Integers packed into words: AWQ, GPTQ and their kin.
fn packed(node: &Node, method: &str, scheme: &mut Scheme) {
    let bits = narrow(number(node, "bits").or_else(|| number(node, "w_bit")).unwrap_or(4));
    // GPTQ stores zero points also where they are all the same.
    let zeros = if method.starts_with("awq") && node.get("zero_point").is_some_and(|node| !node.is_truthy()) {
        0
    } else {
        bits
    };
    let format = Format::integers(bits, group(node, 128), zeros);
    for member in node.get("dynamic").map(Node::members).unwrap_or_default() {
        let (skip, pattern) = match member.key.split_at_checked(2) {
            Some(("-:", pattern)) => (true, pattern),
            Some(("+:", pattern)) => (false, pattern),
            _ => (false, member.key.as_str()),
        };
        let own = Format::integers(
            narrow(number(&member.node, "bits").unwrap_or(bits.into())),
            group(&member.node, format.group),
            zeros,
        );
        scheme.rules.push(Rule::new([format!("re:{pattern}")].into_iter(), (!skip).then_some(own)));
    }
    let head = node.get("lm_head").is_some_and(Node::is_truthy);
    scheme.rules.push(Rule::everything(if head { All::Any } else { All::Linear }, format));
}

/// The format of a `weights` object of compressed-tensors, with whether activations are quantized too.
fn described(weights: &Node, activations: Option<&Node>) -> Format {
    let bits = narrow(number(weights, "num_bits").unwrap_or(8));
    let float = weights.get("type").and_then(Node::text) == Some("float");
    let word = |key: &str| weights.get(key).and_then(Node::text).unwrap_or_default();
    let quantized = activations.is_some_and(Node::is_object);
    let format = match (float, bits, word("strategy")) {
        (true, 8, "block") => Format::FP8_BLOCK,
        (true, 8, "channel") => Format { meta: 16, ..Format::FP8_ROW },
        (true, 8, "group") => Format::MXFP8,
        (true, 8, _) => Format::FP8,
        (true, 4, _) if group(weights, 16) == 32 => Format::MXFP4,
        (true, 4, _) => Format::NVFP4,
        (_, 8, "channel" | "tensor") if quantized => Format { meta: 16, ..Format::INT8 },
        _ => {
            let zero =
                if weights.get("symmetric").is_some_and(|node| node.value == Value::Bool(false)) { bits } else { 0 };
            Format::integers(bits, group(weights, 0), zero)
        }
    };
    if quantized { format } else { Format { compute: None, ..format } }
}

/// The groups of compressed-tensors.
fn groups(node: &Node, scheme: &mut Scheme) {
    for member in node.get("config_groups").map(Node::members).unwrap_or_default() {
        let Some(weights) = member.node.get("weights").filter(|node| node.is_object()) else { continue };
        let format = described(weights, member.node.get("input_activations"));
        let targets = member.node.get("targets").and_then(Node::items).unwrap_or_default();
        let targets: Vec<&str> = targets.iter().filter_map(Node::text).collect();
        if targets.contains(&"Linear") {
            scheme.rules.push(Rule::everything(All::Linear, format));
        } else {
            scheme.rules.push(Rule::new(targets.into_iter().map(str::to_owned), Some(format)));
        }
    }
}

/// ModelOpt: one algorithm for all that is not excluded, or one for each module that is listed.
fn modelopt_rules(node: &Node, scheme: &mut Scheme) {
    let word = |node: &Node| node.get("quant_algo").and_then(Node::text).unwrap_or_default().to_ascii_uppercase();
    let name = word(node);
    if name != "MIXED_PRECISION" {
        match algorithm(&name) {
            Some(format) => scheme.rules.push(Rule::everything(All::Any, format)),
            None => scheme.say(
                Weight::Strong,
                "This ModelOpt algorithm is not understood: weights count in 16 bit, which errs on the high side.",
            ),
        }
        return;
    }
    let listed = node.get("quantized_layers").map(Node::members).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for member in listed {
        let name = word(&member.node);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let Some(format) = algorithm(&name) else { continue };
        let of_it = listed.iter().filter(|member| word(&member.node) == name).map(|member| member.key.clone());
        scheme.rules.push(Rule::new(of_it, Some(format)));
    }
}

fn algorithm(name: &str) -> Option<Format> {
    Some(match name {
        "FP8" => Format::FP8,
        "FP8_PB_WO" => Format::FP8_BLOCK,
        "FP8_PER_CHANNEL_PER_TOKEN" => Format::FP8_ROW,
        "MXFP8" => Format::MXFP8,
        "NVFP4" | "NVFP4_AWQ" => Format::NVFP4,
        "W4A16_NVFP4" => Format { compute: None, ..Format::NVFP4 },
        "W4A16_AWQ" | "W4A16" => Format::INT4,
        "W8A16" => Format { compute: None, ..Format::INT8 },
        "W8A8_SQ_PER_CHANNEL" | "INT8" => Format::INT8,
        _ => return None,
    })
}

/// Quark and torchao, as far as their own names tell.
fn told_by_name(node: &Node, scheme: &mut Scheme) {
    let mut text = String::new();
    let weight = node.get("global_quant_config").and_then(|config| config.get("weight"));
    for node in [weight.and_then(|weight| weight.get("dtype")), node.get("quant_type"), node.get("weight_dtype")] {
        text.push_str(node.and_then(Node::text).unwrap_or_default());
    }
    for member in node.get("quant_type").map(Node::members).unwrap_or_default() {
        text.push_str(member.node.get("_type").and_then(Node::text).unwrap_or_default());
    }
    let text = text.to_ascii_lowercase();
    let only_weights = text.contains("weightonly") || text.contains("weight_only");
    let format = if text.contains("fp8") || text.contains("float8") {
        Format::FP8_ROW
    } else if text.contains("fp4") {
        Format::MXFP4
    } else if text.contains("int4") {
        Format::integers(4, weight.map_or(128, |weight| group(weight, 128)), 4)
    } else {
        Format::INT8
    };
    let compute: Option<Precision> = if only_weights { None } else { format.compute };
    scheme.rules.push(Rule::everything(All::Linear, Format { compute, ..format }));
    scheme.say(Weight::Caution, "Bits of this quantization are told by its names, which no source confirms.");
}

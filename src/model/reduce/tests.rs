use super::*;
use crate::json::{Document, parse};
use crate::model::presets::builtin;
use crate::model::{ClassTable, ModelSpec, resolve};
use proptest::prelude::*;
use std::path::Path;

/// What must not change: fields with their values and origins, the quantization, and every remark but that on keys.
fn told(spec: &ModelSpec) -> Vec<String> {
    let mut told = vec![format!(
        "{} {} {} {} {:?} {:?} {} {:?} {}",
        spec.model_type,
        spec.text_type,
        spec.text_path,
        spec.class_known,
        spec.unreadable,
        spec.dtype.dtype,
        spec.dtype.origin,
        spec.quantization.method,
        spec.quantization_origin()
    )];
    told.extend(spec.fields().iter().map(|(name, field)| format!("{name} {:?} {}", field.value, field.origin)));
    let kept = |text: &&str| !text.starts_with("Keys that");
    told.extend(spec.notes.iter().map(|note| note.text.as_str()).filter(kept).map(str::to_owned));
    told
}

#[track_caller]
fn same(name: &str, config: &Node, companion: Option<&Node>) -> usize {
    let document = |root: Node| Document { root, repairs: Vec::new() };
    let small = parse(&reduce(config).to_compact()).unwrap().root;
    let small_companion = companion.map(|node| parse(&reduce_companion(node).to_compact()).unwrap().root);
    let before = resolve(&document(config.clone()), companion, ClassTable::builtin());
    let after = resolve(&document(small.clone()), small_companion.as_ref(), ClassTable::builtin());
    match (before, after) {
        (Ok(before), Ok(after)) => assert_eq!(told(&after), told(&before), "{name}"),
        (Err(_), _) => {}
        (before, after) => panic!("{name}: {before:?} {after:?}"),
    }
    assert_eq!(reduce(&small).to_compact(), small.to_compact(), "{name}: reducing again changes it");
    small.to_compact().len()
}

#[test]
fn a_reduced_preset_resolves_to_the_same_fields() {
    for preset in builtin() {
        same(&preset.id, &preset.config.root, None);
    }
}

/// Real configs from a folder beside the project, where it is present.
#[test]
fn a_reduced_real_config_resolves_to_the_same_fields() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os("ROOFLENS_GOLDEN").map_or(folder, Into::into);
    let companions = folder.join("configs-companion");
    let Ok(files) = std::fs::read_dir(folder.join("configs")) else { return };
    let mut largest = (0, String::new());
    for file in files.flatten() {
        let text = std::fs::read_to_string(file.path()).unwrap();
        let name = file.file_name().to_string_lossy().into_owned();
        let Ok(document) = parse(&text) else { continue };
        let companion = companions.join(name.replace(".json", ".hf_quant_config.json"));
        let companion = std::fs::read_to_string(companion).ok().map(|text| parse(&text).unwrap().root);
        let size = same(&name, &document.root, companion.as_ref());
        largest = largest.max((size, name));
    }
    println!("largest: {largest:?}");
    assert!(largest.0 < 8000, "{largest:?}");
}

#[test]
fn no_key_that_a_class_or_a_field_reads_is_dropped() {
    let table = parse(include_str!("../classes.json")).unwrap().root;
    let mut keys = Vec::new();
    for class in table.get("classes").unwrap().members() {
        let part = class.node.get("text");
        for facts in std::iter::once(&class.node).chain(part) {
            for kind in ["aliases", "defaults", "derived", "forced"] {
                for member in facts.get(kind).map(Node::members).unwrap_or_default() {
                    keys.push(member.key.clone());
                    keys.extend(member.node.text().map(str::to_owned).filter(|_| kind == "aliases"));
                }
            }
            for kind in ["drops", "keys"] {
                let texts = facts.get(kind).and_then(Node::items).unwrap_or_default().iter().filter_map(Node::text);
                keys.extend(texts.flat_map(|text| text.split('.')).map(str::to_owned));
            }
        }
        for path in part.and_then(|part| part.get("keys")).and_then(Node::items).unwrap_or_default() {
            for key in path.text().unwrap().split('.') {
                assert!(TEXT_PARTS.contains(&key), "{key}");
            }
        }
    }
    keys.extend(["hidden_act", "tie_word_embeddings", "torch_dtype", "dtype", "linear_attn_config"].map(str::to_owned));
    keys.extend(["attention_bias", "full_attention_interval", "mamba_num_heads", "n_groups"].map(str::to_owned));
    for key in keys {
        assert!(!never(&key) && !hidden(&key), "{key}");
    }
}

#[track_caller]
fn becomes(config: &str, expected: &str) {
    assert_eq!(reduce(&parse(config).unwrap().root).to_compact(), expected);
}

#[test]
fn what_never_matters_goes_and_what_is_short_stays() {
    becomes(
        r#"{"model_type": "llama", "architectures": ["A"], "_name_or_path": "/home/jane/x", "eos_token_id": [1, 2],
            "new_key": 7, "new_list": [1, 2], "path": "/home/jane", "list": ["x", "/home/jane"], "rope_scaling": {"type": "yarn"}, "bos_token_id": 1,
            "vision_config": {"model_type": "v", "torch_dtype": "float16", "hidden_size": 9}, "hidden_size": 8.0}"#,
        r#"{"model_type":"llama","new_key":7,"new_list":[1,2],"vision_config":{"model_type":"v","torch_dtype":"float16"},"hidden_size":8.0}"#,
    );
    becomes(r#"{"architectures": ["A"], "n_layer": 1, "n_layer": 2}"#, r#"{"architectures":["A"],"n_layer":2}"#);
    becomes(r#"{"config": {"model_type": "llama", "top_p": 1}}"#, r#"{"config":{"model_type":"llama"}}"#);
    becomes("[1]", "[1]");
}

#[test]
fn long_lists_go_with_a_mark_but_patterns_of_layers_stay() {
    let numbers = (0..300).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let config = format!(r#"{{"model_type": "x", "text_config": {{"table": [{numbers}]}}}}"#);
    becomes(&config, r#"{"model_type":"x","text_config":{},"_trimmed":["text_config.table"]}"#);
    let kinds = vec![r#""linear""#; 300].join(",");
    let config = format!(r#"{{"model_type":"x","kinds_of_layers":[{kinds}]}}"#);
    becomes(&config, &config);
    let modules = (0..70).map(|n| format!(r#""model.layers.{n}.mlp.gate""#)).collect::<Vec<_>>().join(",");
    becomes(
        &format!(r#"{{"quantization_config":{{"quant_method":"fp8","modules_to_not_convert":[{modules}]}}}}"#),
        r#"{"quantization_config":{"quant_method":"fp8"},"_trimmed":["quantization_config.modules_to_not_convert"]}"#,
    );
}

/// In a moment; a time that grew with the square of the keys would be minutes.
#[test]
fn a_hostile_config_reduces() {
    let keys = (0..200_000).map(|n| format!("\"k{n}\":{{\"a\":\"{}\"}}", "x".repeat(9))).collect::<Vec<_>>().join(",");
    let names = (0..200_000).map(|n| format!("\"m.{n}.x\"")).collect::<Vec<_>>().join(",");
    let config =
        format!("{{{keys},\"quantization_config\":{{\"quant_method\":\"compressed-tensors\",\"ignore\":[{names}]}}}}");
    let root = parse(&config).unwrap().root;
    assert!(reduce(&root).get("quantization_config").is_some());
}

#[test]
fn modules_that_differ_by_layer_fold_where_the_method_knows_expressions() {
    let modules = (0..70).map(|n| format!("\"m.layers.{n}.gate\",\"m.layers.{n}.up\"")).collect::<Vec<_>>().join(",");
    let config = parse(&format!(
        r#"{{"quantization_config":{{"quant_method":"compressed-tensors","ignore":[{modules},"lm_head","re:.*x"]}}}}"#
    ));
    let reduced = reduce(&config.unwrap().root);
    let ignore = reduced.get("quantization_config").unwrap().get("ignore").unwrap().items().unwrap();
    let all = (0..70).map(|n| n.to_string()).collect::<Vec<_>>().join("|");
    let texts: Vec<_> = ignore.iter().filter_map(Node::text).collect();
    let expected = [format!("re:m\\.layers\\.(?:{all})\\.gate$"), format!("re:m\\.layers\\.(?:{all})\\.up$")];
    assert_eq!(texts, [&expected[0], &expected[1], "lm_head", "re:.*x"]);
}

fn values() -> impl Strategy<Value = String> {
    let keys = prop::sample::select(vec![
        "model_type",
        "text_config",
        "config",
        "quantization_config",
        "ignore",
        "x",
        "vision_config",
        "_trimmed",
        "layer_types",
        "num_attention_heads",
        "num_hidden_layers",
        "thing_config",
        "quant_method",
    ]);
    let scalars = prop::sample::select(vec!["1", "null", "true", "1.5", "\"llama\"", "\"compressed-tensors\"", "NaN"]);
    scalars.prop_map(str::to_owned).prop_recursive(6, 200, 80, move |inner| {
        let members = prop::collection::vec((keys.clone(), inner.clone()), 0..8);
        let object = members.prop_map(|members| {
            let members: Vec<_> = members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
            format!("{{{}}}", members.join(","))
        });
        let list = prop::collection::vec(inner, 0..80).prop_map(|items| format!("[{}]", items.join(",")));
        prop_oneof![3 => object, 1 => list]
    })
}

proptest! {
    #[test]
    fn any_value_reduces_once_and_for_all(text in values()) {
        let once = reduce(&parse(&text).unwrap().root).to_compact();
        prop_assert_eq!(reduce(&parse(&once).unwrap().root).to_compact(), once.clone());
        let once = reduce_companion(&parse(&text).unwrap().root).to_compact();
        prop_assert_eq!(reduce_companion(&parse(&once).unwrap().root).to_compact(), once.clone());
    }
}

//! Data beside the project, and models made from texts.

use rooflens::batch::Batch;
use rooflens::batch::case::Case;
use rooflens::estimate::Breakdown;
use rooflens::estimate::physical::{Assumptions, Physical};
use rooflens::json::{Node, parse};
use rooflens::model::presets::builtin;
use rooflens::model::{ClassTable, KvDtype, ModelSpec, read, resolve};
use rooflens::settings::{QuantizationChoice, Settings};
use std::path::{Path, PathBuf};

/// The folder beside the project, if it holds this file or folder.
pub(crate) fn folder(holding: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os("ROOFLENS_GOLDEN").map_or(beside, PathBuf::from);
    if folder.join(holding).exists() {
        return Some(folder);
    }
    println!("{holding} is not beside the project: its cases did not run");
    None
}

/// The text of a file.
pub(crate) fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A JSON file.
pub(crate) fn json(path: &Path) -> Node {
    parse(&text(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display())).root
}

/// A model from a config's text.
#[track_caller]
pub(crate) fn model(config: &str) -> ModelSpec {
    read(config, None, ClassTable::builtin()).expect("a config")
}

/// A model that belongs to the project, by its id.
#[track_caller]
pub(crate) fn preset(id: &str) -> ModelSpec {
    let preset = builtin().iter().find(|preset| preset.id == id).expect("a preset");
    resolve(&preset.config, None, ClassTable::builtin()).expect("a config")
}

/// A model by the name of its file: one that belongs to the project, else from beside it.
pub(crate) fn published(name: &str) -> Option<ModelSpec> {
    let stem = name.strip_suffix(".json").unwrap_or(name);
    match builtin().iter().find(|preset| preset.source.replace('/', "__") == stem) {
        Some(found) => Some(preset(&found.id)),
        None => folder(&format!("configs/{name}")).map(|folder| config(&folder, name)),
    }
}

/// A model of a file beside the project, with the quantization document that belongs to it.
pub(crate) fn config(folder: &Path, name: &str) -> ModelSpec {
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let companion = folder.join(format!("configs-companion/{stem}.hf_quant_config.json"));
    let companion = companion.exists().then(|| text(&companion));
    let config = text(&folder.join("configs").join(name));
    read(&config, companion.as_deref(), ClassTable::builtin()).expect("a config")
}

/// Settings in a few words: `tp8`, `pp2`, `dp4`, `ep`, `kv=fp8`, `quant=fp8`.
#[track_caller]
pub(crate) fn settings(words: &str) -> Settings {
    let mut settings = Settings::default();
    for word in words.split_whitespace() {
        let size = |text: &str| text.parse().expect("a size");
        if let Some(name) = word.strip_prefix("kv=") {
            settings.kv_cache = KvDtype::named(name).expect("a KV format");
        } else if let Some(name) = word.strip_prefix("quant=") {
            settings.quantization = QuantizationChoice::named(name);
        } else if word == "ep" {
            settings.layout.ep = true;
        } else if let Some(text) = word.strip_prefix("tp") {
            settings.layout.tp = size(text);
        } else if let Some(text) = word.strip_prefix("pp") {
            settings.layout.pp = size(text);
        } else if let Some(text) = word.strip_prefix("dp") {
            settings.layout.dp = size(text);
        } else {
            panic!("{word}");
        }
    }
    settings
}

/// The physical model of a model under settings.
#[track_caller]
pub(crate) fn physical(spec: &ModelSpec, words: &str) -> Physical {
    Physical::new(spec, &settings(words), Assumptions::default(), None).expect("a description")
}

/// A batch of a case.
#[track_caller]
pub(crate) fn batch(case: &str) -> Batch {
    Case::parse(case).expect("a case").batch()
}

/// The sum of a term over a breakdown's components and layers.
pub(crate) fn term(breakdown: &Breakdown, name: &str) -> u128 {
    let terms = breakdown.parts.iter().flat_map(|part| &part.terms);
    terms.filter(|term| term.def.name == name).map(|term| term.amount).sum()
}

/// A model with these keys, like Llama where nothing else is said.
#[track_caller]
pub(crate) fn llama(keys: &str) -> ModelSpec {
    let base = r#""model_type": "llama", "torch_dtype": "bfloat16""#;
    model(&format!("{{{base}{}{keys}}}", if keys.is_empty() { "" } else { ", " }))
}

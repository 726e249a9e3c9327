//! Links that were made once must open for ever, with the same figures.
//!
//! `tests/links/<version>.txt` holds, block by block, what a link is of, the link, and a line for each of its scenarios.
//! A link in there is never made anew: where it no longer opens, or as something else, a step of
//! `src/scenario/link/migrate.rs` is missing. A figure may change only with the data of a preset that it comes from.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use rooflens::estimate::vllm::Vllm;
use rooflens::estimate::{Estimator, Scope};
use rooflens::json::{Document, Node, parse};
use rooflens::model::presets::builtin;
use rooflens::model::{ClassTable, ModelSpec, resolve};
use rooflens::scenario::link::{Opened, decode};
use rooflens::scenario::state::{ModelChoice, Scenario};

/// The links by version.
const LINKS: [&str; 1] = [include_str!("links/1.txt")];

fn spec(model: &ModelChoice) -> ModelSpec {
    let classes = ClassTable::builtin();
    let document = |text: &str| -> Document { parse(text).expect("a config is JSON") };
    match model {
        ModelChoice::Preset(id) => {
            let preset = builtin().iter().find(|preset| preset.id == *id).expect("a preset");
            resolve(&preset.config, None, classes).expect("a preset resolves")
        }
        ModelChoice::Custom(custom) => {
            let companion: Option<Node> = custom.companion.as_deref().map(|text| document(text).root);
            resolve(&document(&custom.config), companion.as_ref(), classes).expect("a config resolves")
        }
    }
}

fn model_name(model: &ModelChoice) -> &str {
    match model {
        ModelChoice::Preset(id) => id,
        ModelChoice::Custom(custom) => &custom.name,
    }
}

/// Name, model, layout, formats, case, accelerator with its BF16 peak and bandwidth, and FLOPs of a scenario.
fn line(scenario: &Scenario, scope: Scope) -> String {
    let spec = spec(&scenario.model);
    let settings = scenario.settings();
    let case = scenario.case().expect("a case");
    let batch = case.batch_with(scenario.verify);
    let breakdown = Vllm::new(&spec, &settings).estimate(&batch, scope).expect("an estimate");
    let accelerator = scenario.accelerator.accelerator().expect("an accelerator");
    [
        scenario.name.clone(),
        model_name(&scenario.model).to_owned(),
        scenario.layout.label(),
        format!("{:?} {}", settings.quantization(&spec), scenario.kv_cache.name()),
        format!("{} of {}", case.to_text(), scenario.cases.len()),
        format!(
            "{} {:?} {:?}",
            accelerator.name,
            accelerator.peaks.bf16.map(|peak| peak.0 / 1e12),
            accelerator.bandwidth.0 / 1e9
        ),
        breakdown.cost().flops.0.to_string(),
    ]
    .join(" | ")
}

fn told(opened: &Opened) -> Vec<String> {
    let comparison = &opened.comparison;
    let baseline = comparison.place(comparison.baseline()).expect("a baseline");
    let mut lines = vec![format!("{:?}, baseline {baseline}, shared {:?}", comparison.scope, comparison.shared())];
    lines.extend(comparison.scenarios().iter().map(|scenario| line(scenario, comparison.scope)));
    lines
}

#[test]
fn old_links_open_as_what_they_were() {
    for links in LINKS {
        let blocks: Vec<Vec<&str>> = links.trim().split("\n\n").map(|block| block.lines().collect()).collect();
        assert!(blocks.len() >= 6);
        for block in blocks {
            let [what, link, expected @ ..] = block.as_slice() else { panic!("{block:?}") };
            let opened = decode(link, builtin()).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(told(&opened), expected, "{what}");
        }
    }
}

#[test]
fn cut_links_do_not_open() {
    for link in LINKS.iter().flat_map(|links| links.lines()).filter(|line| line.starts_with('#')) {
        for length in 0..link.len() {
            let cut = link.get(..length).expect("a link is ASCII");
            assert!(decode(cut, builtin()).is_err(), "{cut}");
        }
    }
}

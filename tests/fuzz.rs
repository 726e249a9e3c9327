//! Any text as a config: an answer or an error, never a panic.
//!
//! `ROOFLENS_FUZZ_RUNS` sets the number of runs (default 4,000), `ROOFLENS_FUZZ_SEED` the seed. Half of the runs take
//! arbitrary bytes, half take real configs (the presets, and a folder of configs beside the project if it is there)
//! with random damage: bytes, tokens, values and whole members.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test that damages texts on purpose; its own mistakes may fail it"
)]

use rooflens::batch::Batch;
use rooflens::batch::case::Case;
use rooflens::estimate::vllm::Vllm;

use rooflens::estimate::{Estimator, Method, Scope};
use rooflens::hardware;
use rooflens::job::{PhysicalAnswer, Question};
use rooflens::json::{Node, Value};
use rooflens::layout::Layout;
use rooflens::model::{ClassTable, ModelSpec, presets, read};
use rooflens::report;
use rooflens::settings::Settings;
use std::num::NonZeroU32;

/// The `SplitMix64` generator: small, seedable, good enough to damage texts.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

const ODD_VALUES: [&str; 24] = [
    "0",
    "-1",
    "1",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "340282366920938463463374607431768211456",
    "1e400",
    "-1e400",
    "0.5",
    "8.0",
    "NaN",
    "Infinity",
    "null",
    "true",
    "\"8\"",
    "\"x\"",
    "\"\"",
    "[]",
    "{}",
    "[0]",
    "[1, null, \"a\"]",
    "{\"a\": {}}",
    "1e18",
];

fn odd_value(random: &mut Random) -> Value {
    rooflens::json::parse(ODD_VALUES[random.below(ODD_VALUES.len())]).unwrap().root.value
}

fn damage_value(node: &mut Node, random: &mut Random) {
    match &mut node.value {
        Value::Object(members) if !members.is_empty() => match random.below(8) {
            0 => {
                let at = random.below(members.len());
                members.remove(at);
            }
            1 => {
                let (a, b) = (random.below(members.len()), random.below(members.len()));
                let key = members[a].key.clone();
                members[b].key = key;
            }
            2 => {
                let at = random.below(members.len());
                members[at].node.value = odd_value(random);
            }
            _ => {
                let at = random.below(members.len());
                damage_value(&mut members[at].node, random);
            }
        },
        Value::List(items) if !items.is_empty() && random.below(3) > 0 => {
            let at = random.below(items.len());
            damage_value(&mut items[at], random);
        }
        value => *value = odd_value(random),
    }
}

fn damage_text(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[at] = random.next() as u8,
            1 => {
                bytes.remove(at);
            }
            2 => bytes.truncate(at),
            3 => {
                let end = (at + random.below(40)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            4 => {
                let odd = random.pick(ODD_VALUES.as_slice()).as_bytes().to_vec();
                bytes.splice(at..at, odd);
            }
            _ => bytes.insert(at, *random.pick(b"{}[]\",:\\/*`0-eE.\n\xff\xef")),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn configs() -> Vec<Node> {
    let mut configs: Vec<Node> = presets::builtin().iter().map(|preset| preset.config.root.clone()).collect();
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/configs");
    for file in std::fs::read_dir(beside).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(file.path()).expect("readable");
        configs.push(rooflens::json::parse(&text).expect("a real config").root);
    }
    configs
}

/// Everything that the page does with a config text.
fn try_config(text: &str, random: &mut Random) -> bool {
    let companion = (random.below(16) == 0).then_some(r#"{"quantization": {"quant_algo": "NVFP4"}}"#);
    let spec = match read(text, companion, ClassTable::builtin()) {
        Ok(spec) => spec,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    let size = |random: &mut Random| NonZeroU32::new(*random.pick(&[1, 2, 3, 8, 65_536, u32::MAX])).unwrap();
    let layout = Layout { tp: size(random), pp: size(random), dp: size(random), ep: random.below(2) == 0 };
    let settings = Settings { layout, disable_sliding_window: random.below(4) == 0, ..Settings::default() };
    let vllm = Vllm::new(&spec, &settings);
    let case = random.pick(&["8192,32*1@8192", "9007199254740992", "1000000000*1@9007199254740992", "16*4@4096:3"]);
    for scope in [Scope::PerGpu, Scope::Global] {
        if let Ok(breakdown) = vllm.estimate(&Case::parse(case).unwrap().batch(), scope) {
            let sums: u128 = report::rows(&breakdown, None, None).iter().map(|part| part.summary.cost.flops.0).sum();
            assert_eq!(sums, breakdown.cost().flops.0);
        }
    }
    try_physical(&spec, &settings, &Case::parse(case).unwrap().batch());
    let _ = (layout.refusals(&spec), report::facts(&spec), report::left_out(&vllm, &spec), vllm.fields());
    true
}

/// The same for the physical model: what it counts, what fits, how long it takes.
fn try_physical(spec: &ModelSpec, settings: &Settings, batch: &Batch) {
    let h200 = hardware::find("h200-sxm").ok();
    let question = Question { method: Method::Physical, hardware: h200, ..Question::default() };
    // Thousands of stages are legal, but slow one by one.
    let few = settings.layout.pp.min(NonZeroU32::new(8).unwrap());
    let settings = Settings { layout: Layout { pp: few, ..settings.layout }, ..settings.clone() };
    if let Ok((answer, per_gpu, _)) = PhysicalAnswer::new(spec, &settings, batch, &question) {
        let on = answer.on.expect("an accelerator");
        assert!(on.step.bound().0.is_finite() && per_gpu.cost().intensity().is_none_or(|i| i.0.is_finite()));
        let _ = (on.fit.sequences(8192), on.fit.tokens(), on.fit.fits());
    }
}

#[test]
fn no_config_panics() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let runs = number("ROOFLENS_FUZZ_RUNS").unwrap_or(4_000);
    let mut random = Random(number("ROOFLENS_FUZZ_SEED").unwrap_or(20_261_130));
    let configs = configs();
    let texts: Vec<String> = configs.iter().map(Node::to_text).collect();
    let mut taken = 0;
    for run in 0..runs {
        let text = match run % 4 {
            0 => {
                let length = random.below(200);
                let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            1 => {
                let length = random.below(60);
                (0..length)
                    .map(|_| {
                        *random.pick(&[
                            "{",
                            "}",
                            "[",
                            "]",
                            ",",
                            ":",
                            "\"a\"",
                            "1",
                            "null",
                            "\"model_type\"",
                            "\"llama\"",
                            " ",
                            "//",
                            "/*",
                            "```",
                        ])
                    })
                    .collect()
            }
            2 => {
                let at = random.below(texts.len());
                damage_text(&texts[at], &mut random)
            }
            _ => {
                let mut config = random.pick(configs.as_slice()).clone();
                for _ in 0..=random.below(3) {
                    damage_value(&mut config, &mut random);
                }
                config.to_text()
            }
        };
        taken += u64::from(try_config(&text, &mut random));
    }
    println!("fuzz: {runs} texts as a config, {taken} of them estimated, 0 panics");
}

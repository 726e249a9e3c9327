use super::*;
use crate::batch::case::{Case, VerifyAs};
use crate::bench::run::Run;
use crate::estimate::Scope;
use crate::hardware::{self, Precision};
use crate::layout::Layout;
use crate::model::presets::builtin;
use crate::model::quantization::formats;
use crate::model::{Dtype, KvDtype, dtype::KV_CACHE_DTYPES};
use crate::scenario::file::{from_file, to_file};
use crate::scenario::hardware::{AcceleratorChoice, Number};
use crate::scenario::state::{CustomModel, ModelChoice, Scenario, Section};
use crate::settings::QuantizationChoice;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use std::num::NonZeroU32;

fn opened(comparison: &Comparison) -> Opened {
    Opened { comparison: comparison.clone(), changed: Vec::new() }
}

fn layout(tp: u32, pp: u32, dp: u32, ep: bool) -> Layout {
    let size = |size| NonZeroU32::new(size).unwrap();
    Layout { tp: size(tp), pp: size(pp), dp: size(dp), ep }
}

/// The layouts of the main job.
fn four_layouts(model: ModelChoice) -> Comparison {
    let mut comparison = Comparison::of(Scenario { model, ..Scenario::example().unwrap() });
    for (tp, pp, dp, ep) in [(8, 1, 1, true), (1, 1, 8, true), (4, 2, 1, false)] {
        let last = comparison.scenarios().last().unwrap().id;
        let id = comparison.duplicate(last).unwrap();
        comparison.edit(id, Section::Layout, |scenario| scenario.layout = layout(tp, pp, dp, ep));
    }
    comparison
}

/// The `config.json` of DeepSeek-V3 as it is published.
const DEEPSEEK_V3: &str = include_str!("../../../tests/configs/deepseek-v3.json");

#[test]
fn links_are_short() {
    let v3 = CustomModel::new("DeepSeek-V3.json", &parse(DEEPSEEK_V3).unwrap().root, None);
    for (what, model, most) in
        [("preset", ModelChoice::Preset("deepseek-v3".to_owned()), 600), ("custom", ModelChoice::Custom(v3), 1000)]
    {
        let comparison = four_layouts(model);
        let link = encode(&comparison, builtin()).unwrap();
        println!("{what}: {} characters: #{link}", link.len() + 1);
        println!("{}", encode::write(&comparison, builtin()).to_compact());
        assert!(link.len() < most, "{what}: {}", link.len());
        assert_eq!(decode(&format!("#{link}"), builtin()), Ok(opened(&comparison)));
    }
}

/// Real configs from a folder beside the project, where it is present: the longest link of one.
#[test]
fn links_with_real_configs_open() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os("ROOFLENS_GOLDEN").map_or(folder, Into::into);
    let Ok(files) = std::fs::read_dir(folder.join("configs")) else { return };
    let mut lengths = Vec::new();
    for file in files.flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        let Ok(document) = parse(&std::fs::read_to_string(file.path()).unwrap()) else { continue };
        let model = ModelChoice::Custom(CustomModel::new(&name, &document.root, None));
        let comparison = four_layouts(model);
        let link = encode(&comparison, builtin()).unwrap();
        assert_eq!(decode(&link, builtin()), Ok(opened(&comparison)), "{name}");
        lengths.push((link.len(), name));
    }
    lengths.sort();
    println!("half: {:?}, longest: {:?}", lengths.get(lengths.len() / 2), lengths.last());
}

#[track_caller]
fn refused(fragment: &str, error: &str) {
    assert_eq!(decode(fragment, builtin()).unwrap_err().to_string(), error);
}

#[test]
fn other_links_are_refused_by_name() {
    let not = "This is no link of rooflens: expected `1.z.` and a payload, found";
    refused("", &format!("{not} ``."));
    refused("#results", &format!("{not} `results`."));
    refused("01.z.AAAA", &format!("{not} `01.z.AAAA`."));
    refused("1", &format!("{not} `1`."));
    refused("1.z", &format!("{not} `1.z`."));
    refused("-1.z.A", &format!("{not} `-1.z.A`."));
    let newer = "This link was made by a newer version";
    refused("2.z.A", &format!("{newer} (2); this page reads 1. Reload the page to get the newest."));
    refused("2.anything", &format!("{newer} (2); this page reads 1. Reload the page to get the newest."));
    let digits = "9".repeat(40);
    refused(
        &format!("{digits}.z.A"),
        &format!("{newer} (9999999999); this page reads 1. Reload the page to get the newest."),
    );
    refused("1.b.A", "This link is packed in a way that this page does not know (`b`); it reads `z`.");
    let altered = "This link is cut or altered:";
    refused("1.z.A A", &format!("{altered} some of its letters do not belong. Copy the whole link again."));
    refused("1.z.", &format!("{altered} nearly all of it is missing. Copy the whole link again."));
    let link = encode(&four_layouts(ModelChoice::Preset("deepseek-v3".to_owned())), builtin()).unwrap();
    refused(&link[..link.len() - 8], &format!("{altered} its end does not fit. Copy the whole link again."));
    refused(&link[..68], &format!("{altered} what it packs does not unpack. Copy the whole link again."));
}

/// A link that was made of some JSON.
fn sealed(json: &str) -> String {
    format!("1.z.{}", codec::seal("1.z.", json, &zlib::deflate(json.as_bytes())))
}

#[test]
fn whole_links_that_do_not_fit_say_where() {
    refused(&sealed("{"), "This link is cut or altered: its content cannot be read. Copy the whole link again.");
    let cannot = "This link cannot be opened:";
    refused(&sealed("[]"), &format!("{cannot} top level: found a list of 0, expected an object."));
    refused(&sealed("{}"), &format!("{cannot} top level: found nothing, expected the key `scenarios`."));
    let scenarios = |text: &str| sealed(&format!(r#"{{"scenarios":[{text}]}}"#));
    refused(
        &scenarios(""),
        &format!("{cannot} scenarios: found a list of 0, expected a list of scenarios, 1 to 8 of them."),
    );
    refused(&scenarios("{}"), &format!("{cannot} scenario 1: found nothing, expected the key `cases`."));
    let first = r#"{"model":"deepseek-v3","cases":["a=1@8"],"accelerator":"h200-sxm"}"#;
    let run = |text: &str| sealed(&format!(r#"{{"scenarios":[{first}],"run":{{{text}}}}}"#));
    refused(
        &run(r#""seed":"x""#),
        &format!(
            "{cannot} run, seed: found the string \"x\", expected a setting: Found `x`; expected a whole number below 2^64."
        ),
    );
    let second = |text: &str| scenarios(&format!("{first},{text}"));
    refused(
        &second(r#"{"model":"deepseek-v9"}"#),
        &format!(
            "{cannot} scenario 2, model: found the string \"deepseek-v9\", expected the id of a model that this version offers."
        ),
    );
    refused(
        &second(r#"{"active":1}"#),
        &format!("{cannot} scenario 2, active: found 1, expected a whole number from 0 to 0."),
    );
    refused(
        &second(r#"{"accelerator":{"id":"h200-sxm","memory_gbs":-1}}"#),
        &format!("{cannot} scenario 2, accelerator, memory_gbs: found -1, expected a number above 0, or null."),
    );
}

#[test]
fn changed_data_is_announced_once() {
    let mut comparison = Comparison::of(Scenario::example().unwrap());
    comparison.duplicate(0);
    let node = encode::write(&comparison, builtin()).to_compact();
    let (before, revisions) = node.split_once("\"revisions\":").unwrap();
    let with = |revisions: &str| decode(&sealed(&format!("{before}\"revisions\":{revisions}}}")), builtin()).unwrap();
    assert_eq!(with(revisions.strip_suffix('}').unwrap()).changed, [""; 0]);
    assert_eq!(with("{}").changed, [""; 0]);
    let opened = with(r#"{"h200-sxm":1,"deepseek-v3":2,"gone":3}"#);
    assert_eq!(
        opened.changed,
        [
            "DeepSeek-V3: the model's data has changed since this was made, so figures may differ from those of then.",
            "H200 SXM: the accelerator's data has changed since this was made, so times may differ from those of then.",
        ]
    );
    assert_eq!(opened.comparison, comparison);
}

#[test]
fn formats_of_modules_travel() {
    let mut comparison = Comparison::of(Scenario::example().unwrap());
    comparison.run.set("format_experts", "mxfp4").unwrap();
    let file = to_file(&comparison, builtin());
    assert!(file.contains(r#""format_experts": "mxfp4""#), "{file}");
    assert_eq!(from_file(&file, builtin()), Ok(opened(&comparison)));
    assert_eq!(decode(&encode(&comparison, builtin()).unwrap(), builtin()), Ok(opened(&comparison)));
    let refused = from_file(&file.replace("mxfp4", "fp5"), builtin()).unwrap_err().to_string();
    assert!(
        refused.contains("run, format_experts") && refused.contains("expected no text, or one of none"),
        "{refused}"
    );
}

#[test]
fn a_deep_or_broken_config_travels_as_a_text() {
    let deep = format!("{{\"layer_types\":{}{}}}", "[".repeat(126), "]".repeat(126));
    for config in [deep.as_str(), "{\"a\": tru", "[1]", "\"x\"", "", "\u{0}\u{1f}\"\\"] {
        let model = CustomModel { name: "n".to_owned(), config: config.to_owned(), companion: Some(config.to_owned()) };
        let comparison = four_layouts(ModelChoice::Custom(model));
        assert_eq!(decode(&encode(&comparison, builtin()).unwrap(), builtin()), Ok(opened(&comparison)), "{config}");
        assert_eq!(from_file(&to_file(&comparison, builtin()), builtin()), Ok(opened(&comparison)), "{config}");
    }
}

#[test]
fn what_no_link_holds_is_an_error() {
    let kinds = (0..200_000).map(|kind| kind.to_string()).collect::<Vec<_>>().join(",");
    let config = format!("{{\"layer_types\":[{kinds}]}}");
    let model = ModelChoice::Custom(CustomModel { name: String::new(), config, companion: None });
    let comparison = Comparison::of(Scenario { model, ..Scenario::example().unwrap() });
    assert_eq!(encode(&comparison, builtin()), Err(LinkError::TooLarge));
    assert_eq!(from_file(&to_file(&comparison, builtin()), builtin()), Ok(opened(&comparison)));
}

fn models() -> impl Strategy<Value = ModelChoice> {
    let custom = (select(builtin()), "\\PC{0,20}", any::<bool>()).prop_map(|(preset, name, beside)| {
        let companion = parse(r#"{"producer":{"name":"modelopt"},"quantization":{"quant_algo":"NVFP4"}}"#).unwrap();
        ModelChoice::Custom(CustomModel::new(&name, &preset.config.root, beside.then_some(&companion.root)))
    });
    prop_oneof![select(builtin()).prop_map(|preset| ModelChoice::Preset(preset.id.clone())), custom]
}

fn accelerators() -> impl Strategy<Value = AcceleratorChoice> {
    let number =
        prop::option::of(prop_oneof![0.001..1e6, (1..100_000_u32).prop_map(f64::from), Just(f64::MIN_POSITIVE)]);
    let edits = prop::collection::vec((select(&Number::ALL), number), 0..4);
    (select(hardware::all()), "[a-zé\"\\\\]{0,8}", edits).prop_map(|(listed, name, edits)| {
        let mut choice = AcceleratorChoice { name, ..AcceleratorChoice::listed(&listed.id) };
        for (number, value) in edits {
            choice.set(number, value);
        }
        choice
    })
}

fn cases() -> impl Strategy<Value = Vec<Case>> {
    let case = "([^= ]{1,9}=)?[1-9][0-9]?\\*1@[1-9][0-9]{3}(,[1-9][0-9]{2})?(,4@[1-9][0-9]{2}:3)?";
    prop::collection::vec(case.prop_filter_map("no case", |text| Case::parse(&text).ok()), 1..5)
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let size = prop_oneof![Just(1), Just(8), 1..=65_536_u32];
    let quantization = select(vec!["auto", "as-engine", "none", "fp8", "something-new"]);
    let precision = (quantization, select(&KV_CACHE_DTYPES), prop::option::of(select(&Dtype::ALL)), any::<bool>());
    let rest = (any::<Index>(), any::<bool>(), prop::option::of(select(&Precision::ALL)), "[^\\s/]{0,9}");
    (models(), [size.clone(), size.clone(), size], any::<bool>(), precision, cases(), accelerators(), rest).prop_map(
        |(model, [tp, pp, dp], ep, (quantization, kv_cache, dtype, off), cases, accelerator, rest)| Scenario {
            id: 0,
            name: rest.3.trim().to_owned(),
            model,
            layout: layout(tp, pp, dp, ep),
            quantization: QuantizationChoice::named(quantization),
            kv_cache: KvDtype::named(kv_cache).unwrap(),
            dtype,
            disable_sliding_window: off,
            active: rest.0.index(cases.len()),
            cases,
            verify: if rest.1 { VerifyAs::Prefill } else { VerifyAs::Decode },
            accelerator,
            precision: rest.2,
        },
    )
}

fn runs() -> impl Strategy<Value = Run> {
    let formats = prop::array::uniform5(prop::option::of(select(formats().collect::<Vec<_>>())));
    let texts = ("(org/na-me)?", prop::option::of(1..9999_u32), 0..=100_u32, any::<u64>(), any::<bool>(), formats);
    prop::option::of(texts).prop_map(|texts| {
        let mut run = Run::default();
        if let Some((model, limit, percent, seed, other, formats)) = texts {
            run.model = model;
            run.jitter.max_model_len = limit.map(u64::from);
            run.jitter.amount = f64::from(percent) / 100.0;
            run.jitter.seed = seed;
            (run.profile, run.gpus_per_node) = (other, if other { 4 } else { 8 });
            run.formats = formats;
        }
        run
    })
}

fn comparisons() -> impl Strategy<Value = Comparison> {
    let sections = || subsequence(&Section::ALL, 0..=Section::ALL.len()).prop_shuffle();
    let scenario = (scenarios(), sections());
    (prop::collection::vec(scenario, 1..=8), any::<Index>(), sections(), any::<bool>(), runs()).prop_map(
        |(mut list, baseline, shared, global, run)| {
            let first = list[0].0.clone();
            for (scenario, same) in &mut list {
                for section in same.iter().chain(&shared) {
                    scenario.take(*section, &first);
                }
            }
            let place = baseline.index(list.len());
            let scope = if global { Scope::Global } else { Scope::PerGpu };
            let list = list.into_iter().map(|(scenario, _)| scenario).collect();
            let mut comparison = Comparison::new(list, place, shared, scope).unwrap();
            comparison.run = run;
            comparison
        },
    )
}

/// A slip in a text.
fn slips() -> impl Strategy<Value = (usize, Index, Index, char)> {
    (
        0..8_usize,
        any::<Index>(),
        any::<Index>(),
        prop_oneof!["[A-Za-z0-9_.#-]", "\\PC"].prop_map(|s| s.chars().next().unwrap_or('A')),
    )
}

fn slipped(link: &str, (kind, at, other, letter): (usize, Index, Index, char)) -> String {
    let mut chars: Vec<char> = link.chars().collect();
    let (one, two) = (at.index(chars.len()), other.index(chars.len()));
    match kind {
        0 => chars[one] = letter,
        1 => chars.insert(one, letter),
        2 => drop(chars.remove(one)),
        3 => chars.truncate(one),
        4 => chars.swap(one, two),
        5 => chars.push(letter),
        6 => {
            let c = chars[one];
            chars[one] = if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        }
        _ => drop(chars.drain(..one)),
    }
    chars.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_comparison_round_trips(comparison in comparisons()) {
        let link = encode(&comparison, builtin()).unwrap();
        prop_assert!(link.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)));
        prop_assert_eq!(decode(&link, builtin()), Ok(opened(&comparison)));
        prop_assert_eq!(encode(&comparison, builtin()), Ok(link));
        prop_assert_eq!(from_file(&to_file(&comparison, builtin()), builtin()), Ok(opened(&comparison)));
    }

    #[test]
    fn a_slip_is_an_error_or_changes_nothing(
        comparison in comparisons(),
        slips in prop::collection::vec(prop::collection::vec(slips(), 1..3), 100),
    ) {
        let link = encode(&comparison, builtin()).unwrap();
        for slips in slips {
            let broken = slips.into_iter().fold(link.clone(), |link, slip| {
                if link.is_empty() { link } else { slipped(&link, slip) }
            });
            if let Ok(read) = decode(&broken, builtin()) {
                prop_assert_eq!(&read, &opened(&comparison), "{}", broken);
            }
        }
    }

    #[test]
    fn no_fragment_panics(text in "\\PC*|1\\.z\\.[A-Za-z0-9_-]{0,100}") {
        let _ = decode(&text, builtin());
    }

    #[test]
    fn no_file_panics(
        comparison in comparisons(),
        slips in prop::collection::vec(slips(), 30),
    ) {
        let file = to_file(&comparison, builtin());
        for slip in slips {
            if let Err(error) = from_file(&slipped(&file, slip), builtin()) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}

/// Every single letter of a link, changed to every other one of the alphabet.
#[test]
fn no_single_letter_can_be_changed() {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    let comparison = four_layouts(ModelChoice::Preset("deepseek-v3".to_owned()));
    let link = encode(&comparison, builtin()).unwrap();
    for (at, old) in link.char_indices() {
        for letter in LETTERS.chars().filter(|letter| *letter != old) {
            let changed = format!("{}{letter}{}", &link[..at], &link[at + 1..]);
            if let Ok(read) = decode(&changed, builtin()) {
                assert_eq!(read, opened(&comparison), "{changed}");
            }
        }
    }
}

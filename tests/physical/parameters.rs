//! Parameters against those that the model library's own classes have.

use crate::beside;
use rooflens::json::{Node, Value};
use rooflens::model::ModelSpec;

fn int(node: &Node) -> i128 {
    match node.value {
        Value::Int(value) => value,
        _ => 0,
    }
}

/// Models whose counted language part holds what joins the vision tower to it, with the parameters of that.
const CONNECTORS: [(&str, i128); 2] =
    [("ibm-granite__granite-docling-258M.json", 7_077_888), ("openbmb__MiniCPM-V-4_6-AWQ.json", 25_967_104)];

/// What differs by more than allowed: the total by 0.1 %, a category by 0.5 %.
fn differences(case: &Node, spec: &ModelSpec) -> (bool, Vec<String>) {
    let anatomy = match &spec.anatomy {
        Ok(anatomy) => anatomy,
        Err(reason) => return (false, vec![reason.clone()]),
    };
    let parameters = anatomy.parameters();
    let mut wrong = vec![];
    let mut compare = |name: &str, theirs: i128, ours: i128, percent: f64| {
        let error = (ours - theirs) as f64 / (theirs.max(1) as f64) * 100.0;
        if error.abs() > percent {
            wrong.push(format!("{name}: counted {theirs}, described {ours} ({error:+.3} %, {})", ours - theirs));
        }
    };
    let name = case.get("config").and_then(Node::text).unwrap();
    let connector = CONNECTORS.iter().find(|(model, _)| *model == name).map_or(0, |(_, parameters)| *parameters);
    let total = int(case.get("language_total").unwrap()) - connector;
    let ours = i128::try_from(parameters.total()).unwrap();
    compare("total", total, ours, 0.1);
    let named: Vec<_> = parameters.categories.named().collect();
    let ours_of = |name: &str| named.iter().find(|(other, _)| *other == name).map_or(0, |(_, amount)| *amount as i128);
    // DBRX calls the object around its attention a norm; in Nemotron-H every layer's only part is a "mixer".
    let dbrx = spec.text_type == "dbrx";
    let mixers = spec.text_type == "nemotron_h";
    for member in case.get("categories").unwrap().members().iter().filter(|_| connector == 0) {
        let (key, theirs) = (member.key.as_str(), int(&member.node));
        match key {
            "towers" => {}
            "attention" if mixers => compare(key, theirs, ours_of(key) + ours_of("mlp"), 0.5),
            "mlp" if mixers => {}
            "norm" if dbrx => compare("norm", theirs, ours_of("norm") + ours_of("attention"), 0.5),
            _ => compare(key, theirs, ours_of(key), 0.5),
        }
    }
    (total == ours, wrong)
}

#[test]
fn all_counted_models() {
    let Some(folder) = beside::folder("golden/params.json") else { return };
    let cases = beside::json(&folder.join("golden/params.json"));
    let (mut exact, mut wrong) = (0, vec![]);
    let cases = cases.items().expect("a list");
    for case in cases {
        let name = case.get("config").and_then(Node::text).unwrap();
        let spec = beside::config(&folder, name);
        let (equal, found) = differences(case, &spec);
        exact += usize::from(equal);
        if !equal {
            println!("parameters: {name} is not exact");
        }
        if !found.is_empty() {
            wrong.push(format!("{name}: {found:#?}"));
        }
    }
    println!("parameters: {} models, {exact} exact, {} beyond the limits", cases.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases.len() >= 108);
}

/// Parameters of language models as their own classes have them, without prediction layers and other modalities' towers.
const COUNTED: &[(&str, u128)] = &[
    ("deepseek-v3", 671_026_404_352),
    ("deepseek-r1", 671_026_404_352),
    ("deepseek-v3.2", 671_877_929_216),
    ("deepseek-v4-flash", 284_332_230_231),
    ("deepseek-v4-pro", 1_572_997_179_491),
    ("deepseek-v2-lite", 15_706_484_224),
    ("kimi-k2", 1_026_408_209_408),
    ("kimi-k2.5", 1_026_408_209_408),
    ("glm-4.5", 352_797_814_784),
    ("glm-4.7-fp8", 352_796_472_320),
    ("glm-4.7-flash", 29_943_390_976),
    ("glm-5-fp8", 743_911_199_232),
    ("minimax-m2.5", 228_689_748_992),
    ("qwen3-0.6b", 596_049_920),
    ("qwen3-32b-fp8", 32_762_123_264),
    ("qwen3-30b-a3b", 30_532_122_624),
    ("qwen3-235b-a22b", 235_093_634_560),
    ("qwen3-coder-480b", 480_154_875_392),
    ("qwen3-next-80b-a3b", 79_674_391_296),
    ("qwen3.5-27b", 26_895_998_464),
    ("qwen3.5-35b-a3b", 34_660_610_688),
    ("qwen3.5-122b-a10b-fp8", 122_111_526_912),
    ("qwen2.5-72b", 72_706_203_648),
    ("llama-3.1-8b", 8_030_261_248),
    ("llama-3.1-70b", 70_553_706_496),
    ("llama-3.1-405b", 405_853_388_800),
    ("llama-3.1-405b-fp8", 405_853_388_800),
    ("llama-3.2-3b", 3_212_749_824),
    ("llama-4-maverick-fp8", 400_711_848_960),
    ("gpt-oss-120b", 116_829_156_672),
    ("mixtral-8x7b", 46_702_792_704),
    ("mixtral-8x22b", 140_620_634_112),
    ("mistral-7b-v0.2", 7_241_732_096),
    ("devstral-small", 23_572_403_200),
    ("gemma-3-27b", 27_009_346_304),
    ("gemma-4-26b-a4b", 25_233_141_760),
    ("nemotron-3-nano-30b-a3b", 31_577_937_344),
    ("nemotron-3-super-120b", 120_668_687_360),
    ("phi-3-mini", 3_821_079_552),
    ("muse-glimmer-30b", 27_854_780_928),
];

#[test]
fn the_projects_own_models() {
    for &(id, counted) in COUNTED {
        let spec = beside::preset(id);
        assert_eq!(spec.anatomy.as_ref().unwrap().parameters().total(), counted, "{id}");
    }
}

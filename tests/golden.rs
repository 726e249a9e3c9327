//! Conformance with vLLM's own numbers: every case must be equal, all keys and all integers.
//!
//! `tests/golden/cases.jsonl` belongs to the project. The full set (875 cases on 125 real configs, 506 made-up ones) is
//! read from a folder beside the project where it is present, or from `ROOFLENS_GOLDEN`.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use rooflens::job::{Answer, ConfigSource, Job, answer};
use rooflens::json::{Document, Node, Value, parse};
use rooflens::model::{ClassTable, resolve};
use std::path::{Path, PathBuf};

/// The keys of a case that an answer must repeat.
const KEYS: [&str; 7] = ["resolved_quantization", "class_known", "dtype", "components", "skipped", "per_gpu", "global"];

/// Classes whose cases differ, with the reason.
const KNOWN_DIFFERENCES: [(&str, &str); 1] =
    [("dory", "its class lists sliding layers one by one, in an order that the class table does not hold")];

fn full_set() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os("ROOFLENS_GOLDEN").map_or(beside, PathBuf::from);
    folder.join("golden/vllm").is_dir().then_some(folder)
}

/// Differences between a case and the answer to it, empty where they are equal.
fn differences(case: &Node, config: &Node) -> Vec<String> {
    let mut job_members = vec![];
    for key in ["settings", "batch"] {
        job_members.extend(case.members().iter().filter(|m| m.key == key).cloned());
    }
    let mut job = Job::read(&object_with_config(job_members, config)).expect("a golden case is a job");
    let ConfigSource::Inline(config) = std::mem::replace(&mut job.config, ConfigSource::Path(String::new())) else {
        panic!("inline")
    };
    let document = Document { root: config, repairs: Vec::new() };
    let answered = resolve(&document, None, ClassTable::builtin())
        .map_err(|error| error.to_string())
        .and_then(|spec| answer(&job, spec).map_err(|error| error.to_string()));
    match answered {
        Err(error) => vec![error],
        Ok(answered) => compare(case, &answered),
    }
}

fn compare(case: &Node, answered: &Answer) -> Vec<String> {
    let text = serde_json::to_string(answered).expect("answers serialize");
    let ours = parse(&text).expect("answers are JSON").root;
    KEYS.iter().flat_map(|key| diff(key, case.get(key).expect("golden key"), ours.get(key).expect("our key"))).collect()
}

fn diff(path: &str, theirs: &Node, ours: &Node) -> Vec<String> {
    match (&theirs.value, &ours.value) {
        (Value::Object(_), Value::Object(_)) => {
            let mut out = vec![];
            for member in theirs.members() {
                let path = format!("{path}.{}", member.key);
                match ours.get(&member.key) {
                    Some(node) => out.extend(diff(&path, &member.node, node)),
                    None => out.push(format!("{path}: expected {}, found nothing", member.node.describe())),
                }
            }
            for member in ours.members().iter().filter(|member| theirs.get(&member.key).is_none()) {
                out.push(format!("{path}.{}: expected nothing, found {}", member.key, member.node.describe()));
            }
            out
        }
        (Value::List(a), Value::List(b)) if a.len() == b.len() => {
            a.iter().zip(b).flat_map(|(a, b)| diff(path, a, b)).collect()
        }
        (a, b) if a == b => vec![],
        _ => vec![format!("{path}: expected {}, found {}", theirs.describe(), ours.describe())],
    }
}

fn object_with_config(mut members: Vec<rooflens::json::Member>, config: &Node) -> Node {
    let span = config.span;
    members.push(rooflens::json::Member { key: "config".to_owned(), key_span: span, node: config.clone() });
    Node { value: Value::Object(members), span }
}

fn id(case: &Node) -> String {
    case.get("id").and_then(Node::text).unwrap_or("?").to_owned()
}

fn lines(path: &Path) -> Vec<Node> {
    let text = std::fs::read_to_string(path).expect("readable");
    text.lines().map(|line| parse(line).expect("a case a line").root).collect()
}

#[test]
fn cases_of_the_project() {
    let cases = lines(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/cases.jsonl"));
    for case in &cases {
        let found = differences(case, case.get("config_json").expect("inline config"));
        assert!(found.is_empty(), "{}: {found:#?}", id(case));
    }
    println!("golden: {0} of {0} cases of the project equal", cases.len());
    assert!(cases.len() >= 25);
}

#[test]
fn cases_of_the_full_set() {
    let Some(folder) = full_set() else {
        println!("golden: the full set is not here, 0 of its cases ran");
        return;
    };
    let (mut equal, mut models, mut wrong) = (0, 0, vec![]);
    let mut files: Vec<_> = std::fs::read_dir(folder.join("golden/vllm")).expect("folder").flatten().collect();
    files.sort_by_key(std::fs::DirEntry::path);
    for file in files {
        models += 1;
        let config = std::fs::read_to_string(folder.join("configs").join(file.file_name())).expect("config");
        let config = parse(&config).expect("a config").root;
        let cases = parse(&std::fs::read_to_string(file.path()).expect("cases")).expect("cases").root;
        for case in cases.items().expect("a list") {
            let found = differences(case, &config);
            if found.is_empty() {
                equal += 1;
            } else {
                wrong.push(format!("{}: {found:#?}", id(case)));
            }
        }
    }
    println!("golden: {equal} of {} cases on {models} models equal", equal + wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cases_of_the_types() {
    let Some(folder) = full_set() else {
        println!("golden: the full set is not here, 0 of its type cases ran");
        return;
    };
    let cases = lines(&folder.join("golden/types/cases.jsonl"));
    let (mut wrong, mut known) = (vec![], vec![]);
    for case in &cases {
        let found = differences(case, case.get("config_json").expect("inline config"));
        let reason = KNOWN_DIFFERENCES.iter().find(|(class, _)| id(case).split('.').next() == Some(class));
        match (found.is_empty(), reason) {
            (true, _) => {}
            (false, Some((_, reason))) => known.push(format!("{}: {reason}", id(case))),
            (false, None) => wrong.push(format!("{}: {found:#?}", id(case))),
        }
    }
    println!("golden: {} of {} type cases equal", cases.len() - wrong.len() - known.len(), cases.len());
    println!("golden: known to differ: {known:#?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(known.len() * 20 <= cases.len(), "at most 5 % may differ");
}

/// Every draw of numpy that the full set holds, and every case that is refused.
#[test]
fn jitter_draws_equal_numpys() {
    use rooflens::batch::{case::Case, jitter::Jitter};
    let Some(folder) = full_set() else {
        println!("jitter: 0 draws of the full set, which is not beside the project");
        return;
    };
    let text = std::fs::read_to_string(folder.join("golden/jitter.json")).expect("jitter.json");
    let cases = parse(&text).expect("JSON").root;
    let (mut equal, cases) = (0, cases.items().expect("a list"));
    for case in cases {
        let whole = |key: &str| match case.get(key).expect("a key").value {
            Value::Int(number) => u64::try_from(number).expect("a count"),
            _ => panic!("{key} is no integer"),
        };
        let amount = match case.get("jitter").expect("a key").value {
            Value::Float(amount) => amount,
            _ => whole("jitter") as f64,
        };
        let jitter = Jitter { amount, seed: whole("seed"), max_model_len: Some(whole("max_model_len")) };
        let text = case.get("case").and_then(Node::text).expect("a case");
        let drawn = jitter.draw(&Case::parse(text).expect("a case"));
        let expected = case.get("kv_lens").and_then(Node::items);
        let lengths = drawn.as_ref().ok().map(|drawn| drawn.iter().map(|one| i128::from(one.kv())).collect::<Vec<_>>());
        let expected = expected.map(|list| {
            list.iter().map(|node| rooflens::model::reading::integer(&node.value).expect("a length")).collect()
        });
        assert_eq!(lengths, expected, "{text}: {drawn:?}");
        equal += 1;
    }
    println!("jitter: {equal} of {} cases of the full set equal", cases.len());
}

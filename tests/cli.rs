//! The command line as a person or a script meets it: the built binary, its output, its exit codes.

#![cfg(not(target_arch = "wasm32"))]
#![expect(clippy::expect_used, clippy::panic, reason = "helpers of tests")]

use rooflens::json::{Node, Value, parse};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const SMALL: &str = r#"{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000, "torch_dtype": "bfloat16"}"#;

struct Output {
    code: i32,
    out: String,
    err: String,
}

/// Runs the program with text on its standard input.
fn rooflens(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rooflens"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_owned();
    // A program that does not read its input closes the pipe, which is fine.
    let feed = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("the program ends");
    let _ = feed.join().expect("no panic");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Output { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// A file of this test run.
fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(path.parent().expect("inside a folder")).expect("folder");
    std::fs::write(&path, content).expect("written");
    path.display().to_string()
}

fn json(text: &str) -> Node {
    parse(text).unwrap_or_else(|error| panic!("{error}: {text}")).root
}

fn at<'a>(node: &'a Node, path: &[&str]) -> &'a Value {
    &path.iter().fold(node, |node, key| node.get(key).unwrap_or_else(|| panic!("no {key}"))).value
}

#[track_caller]
fn fails(args: &[&str], code: i32, parts: &[&str]) {
    let Output { code: found, out, err } = rooflens(args, "");
    assert_eq!(found, code, "{args:?}: {err}");
    assert!(err.starts_with("error: ") && out.is_empty() && !err.contains("panicked"), "{args:?}: {err}");
    for part in parts {
        assert!(err.contains(part), "{args:?}: {part:?} is not in {err}");
    }
}

#[test]
fn a_table_for_a_terminal() {
    let args = ["estimate", "-", "--tp", "2", "--case", "decode=4*1@16", "--request", "32,32,prefill"];
    let Output { code, out, err } = rooflens(&args, SMALL);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @"
    model         standard input (llama)
    layout        TP2 (2 GPUs), numbers per GPU
    dtype         bfloat16 (config: torch_dtype)
    KV cache      auto, 2 B an element
    quantization  none (not in the config: not quantized)

    decode: 4 requests, 4 new tokens
                         kFLOP  read kB  written kB
    Attention              115     34.8        2.56
      QKV projection      65.5     17.4        1.02
      attention           16.4     8.70       0.512
      output projection   32.8     8.70        1.02
    FFN                    197     53.2        4.10
      dense FFN            197     53.2        4.10
    LM head                256     64.5        4.00
      LM head              256     64.5        4.00
    total                  567      153        10.7
    arithmetic intensity: 3.48 FLOP/B

    requests: 1 request, 32 new tokens
                          MFLOP  read kB  written kB
    Attention              1.05     45.1        20.5
      QKV projection      0.524     24.6        8.19
      attention           0.262     8.19        4.10
      output projection   0.262     12.3        8.19
    FFN                    1.57     81.9        32.8
      dense FFN            1.57     81.9        32.8
    LM head              0.0640     64.1        1.00
      LM head            0.0640     64.1        1.00
    total                  2.69      191        54.2
    arithmetic intensity: 10.9 FLOP/B
    ");
}

#[test]
fn warnings_and_notes_stand_beside_the_numbers() {
    let config = SMALL.replacen('{', r#"{"attention_chunk_size": 8, "#, 1);
    let Output { code, out, err } = rooflens(&["estimate", "-", "--tp", "3", "--case", "1@8"], &config);
    assert_eq!(code, 0);
    assert!(out.starts_with("model "), "{out}");
    insta::assert_snapshot!(err, @"
    warning: vLLM would refuse this layout: 4 attention heads are not divisible by TP 3; tp could be 1, 2, 4.
    note: Chunked attention is counted as full attention by the vLLM model. (attention_chunk_size)
    ");
    let Output { err, .. } = rooflens(&["estimate", "-", "--tp", "3", "--case", "1@8", "--format=json"], &config);
    assert_eq!(err, "", "the answer holds them");
}

/// What an answer leaves out is named in it, with the reason: the sum is never partial without a word.
#[test]
fn what_is_left_out_is_named() {
    let secret = SMALL.replacen('{', r#"{"quantization_config": {"quant_method": "secret"}, "#, 1);
    let headless = SMALL.replacen(r#""num_attention_heads": 4"#, r#""num_attention_heads": 0"#, 1);
    let no_size = r#"the quantization "secret" is not in vLLM's table of weight sizes"#;
    for (config, lines) in [
        (&secret, vec![("Attention", "attn", no_size), ("FFN", "ffn", no_size)]),
        (&headless, vec![("Attention", "attn", "num_attention_heads is 0")]),
    ] {
        let answer = |format: &str| rooflens(&["estimate", "-", "--case", "1@8", "--format", format], config).out;
        let (table, markdown, json) = (answer("table"), answer("markdown"), json(&answer("json")));
        for (title, component, reason) in lines {
            assert!(table.contains(&format!("  {title}: {reason}\n")), "{table}");
            let plain = markdown.replace('\\', "");
            assert!(plain.contains(&format!("- not counted: {title}, {reason}\n")), "{markdown}");
            assert_eq!(at(&json, &["skipped_because", component]), &Value::Text(reason.to_owned()));
        }
        assert!(!table.contains("\nAttention "), "{table}");
    }
    let physical = |config: &str| rooflens(&["estimate", "-", "--case", "1@8", "--model", "physical"], config).err;
    let (secret, headless) = (physical(&secret), physical(&headless));
    assert!(secret.contains("This quantization is not understood: weights count in 16 bit"), "{secret}");
    assert!(
        headless.contains("No layer has attention, so that none is counted: num_attention_heads is 0."),
        "{headless}"
    );
}

#[test]
fn numbers_are_those_of_a_golden_case() {
    let cases = include_str!("golden/cases.jsonl");
    let mut compared = 0;
    for line in cases.lines().step_by(5) {
        let case = json(line);
        let settings = case.get("settings").expect("settings");
        let flag = |key: &str| match at(settings, &[key]) {
            Value::Text(text) => text.clone(),
            Value::Int(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            other => panic!("{other:?}"),
        };
        let mut args: Vec<String> = ["estimate", "-", "--format", "json"].map(str::to_owned).to_vec();
        for key in ["tp", "pp", "dp", "ep", "quantization", "kv_cache_dtype", "dtype"] {
            args.push(format!("--{}={}", key.replace('_', "-"), flag(key)));
        }
        if flag("disable_sliding_window") == "true" {
            args.push("--disable-sliding-window".to_owned());
        }
        for request in case.get("batch").and_then(Node::items).expect("a list") {
            let [Value::Int(tokens), Value::Int(context), Value::Bool(prefill)] =
                [0, 1, 2].map(|i| request.items().expect("a request")[i].value.clone())
            else {
                panic!("{request:?}")
            };
            args.push(format!("--request={tokens},{context},{}", if prefill { "prefill" } else { "decode" }));
        }
        let config = line.split_once(r#""config_json":"#).and_then(|(_, rest)| rest.split_once(r#","settings":"#));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let Output { code, out, err } = rooflens(&args, config.expect("a config").0);
        assert_eq!(code, 0, "{args:?}: {err}");
        let answer = json(&out);
        for key in ["components", "per_gpu", "global"] {
            assert_eq!(plain(case.get(key)), plain(answer.get(key)), "{args:?}");
        }
        compared += 1;
    }
    assert!(compared >= 5);
}

/// Keys and values, without the places where they stood.
fn plain(node: Option<&Node>) -> Vec<String> {
    let node = node.expect("present");
    if node.members().is_empty() {
        return vec![node.describe()];
    }
    let inner = node
        .members()
        .iter()
        .flat_map(|member| plain(Some(&member.node)).into_iter().map(move |rest| format!("{}/{rest}", member.key)));
    let mut all: Vec<_> = inner.collect();
    all.sort();
    all
}

#[test]
fn several_cases_in_one_json_object() {
    let args = ["estimate", "preset:qwen3-0.6b", "--case", "a=1@8", "--case", "2*1@8", "--format", "json"];
    let root = json(&rooflens(&args, "").out);
    let cases = root.get("cases").and_then(Node::items).expect("cases");
    let names: Vec<_> = cases.iter().map(|case| at(case, &["name"]).clone()).collect();
    assert_eq!(names, [Value::Text("a".to_owned()), Value::Text("2*1@8".to_owned())]);
}

#[test]
fn integers_beyond_64_bits_stay_exact() {
    let args = ["estimate", "preset:llama-3.1-405b", "--format", "csv", "--scope", "global"];
    let out = rooflens(&[&args[..], &["--case", "1000000000*9007199254740992"]].concat(), "");
    assert_eq!(out.code, 1, "beyond 2^128");
    let out = rooflens(&[&args[..], &["--case", "1000*1099511627776"]].concat(), "").out;
    // 2 * T * D * V, T = 1000 prefills, each of which needs the logits of one token.
    assert!(out.contains(&format!("unembed,flops,FLOP,{}", 2_u128 * 1000 * 16384 * 128_256)), "{out}");
    let tokens = 1000 * 1_099_511_627_776_u128;
    assert!(out.contains(&format!("dense_up_gate_input,read,B,{}", tokens * 16384 * 2 * 126)), "{out}");
}

#[test]
fn a_directory_brings_its_quantization() {
    file("model/config.json", SMALL);
    let quant = file("model/hf_quant_config.json", r#"{"quantization": {"quant_algo": "NVFP4"}}"#);
    let directory = quant.trim_end_matches("/hf_quant_config.json");
    let method = |args: &[&str]| {
        let root = json(&rooflens(&[&["resolve", "--format=json"], args].concat(), SMALL).out);
        at(&root, &["quantization", "value"]).clone()
    };
    let named = Value::Text("modelopt_fp4".to_owned());
    assert_eq!(method(&[directory]), named);
    assert_eq!(method(&["-", "--quant-config", &quant]), named);
    assert_eq!(method(&["-"]), Value::Null);
}

#[test]
fn jobs_are_answered_line_by_line() {
    let path = file("jobs/config.json", SMALL);
    let huge = "9".repeat(60);
    let jobs = [
        format!(r#"{{"id": "first", "config": "{path}", "batch": [[1, 8, false], [1, 8, false]]}}"#),
        "  ".to_owned(),
        "not JSON".to_owned(),
        format!(r#"{{"id": "inline", "config": {SMALL}, "batch": "2*1@8"}}"#).replace('\n', " "),
        r#"{"id": "gone", "config": "/no/such/config.json", "batch": []}"#.to_owned(),
        r#"{"config": "preset:qwen3-0.6b", "settings": {"tp": 0}}"#.to_owned(),
        format!(r#"{{"config": "{path}", "batch": [[{huge}, {huge}, true]]}}"#),
        format!(r#"{{"id": "many", "config": "{path}", "batch": "1000000000*1@8"}}"#),
        format!(r#"{{"config": "{path}", "batch": "1000000000*9007199254740992"}}"#),
        r#"{"config": "-"}"#.to_owned(),
        "[]".to_owned(),
        format!(r#"{{"id": "last", "config": "{path}", "settings": {{"tp": 2}}}}"#),
    ];
    let Output { code, out, err } = rooflens(&["estimate", "--jobs", "-"], &jobs.join("\n"));
    assert_eq!((code, err.as_str()), (0, ""));
    let answers: Vec<Node> = out.lines().map(json).collect();
    assert_eq!(answers.len(), jobs.len() - 1, "the blank line has no answer");
    assert_eq!(plain(answers[0].get("per_gpu")), plain(answers[2].get("per_gpu")));
    assert_eq!(at(&answers[10], &["settings", "tp"]), &Value::Int(2));
    let told: Vec<String> = answers
        .iter()
        .map(|answer| {
            let word = |key| answer.get(key).and_then(Node::text).unwrap_or("-");
            format!("{}: {}", word("id"), word("error"))
        })
        .collect();
    insta::assert_snapshot!(told.join("\n").replace(&huge, "9..9"), @r#"
    first: -
    -: The line is not JSON: line 1, column 1: found `not`, expected a value.
    inline: -
    gone: /no/such/config.json cannot be read: No such file or directory (os error 2).
    -: "tp" is 0; expected an integer from 1 to 4294967295.
    -: "batch"[0] has new tokens 1e60; expected an integer from 0 to 18446744073709551615.
    many: the batch has 1000000000 requests, and an answer lists every one; expected at most 1000000.
    -: attn.attn_qk passes 2^120: the batch or the model is too large to count.
    -: The config of a job cannot be on standard input; give a path, preset:ID or an object.
    -: expected a job such as {"config": ..., "batch": ...}, found a list of 0.
    last: -
    "#);
}

#[test]
fn many_jobs_are_quick_and_a_closed_pipe_is_no_error() {
    let path = file("many/config.json", SMALL);
    let line = format!(r#"{{"config": "{path}", "batch": "4*1@8"}}{}"#, "\n");
    let jobs = file("many/jobs.jsonl", line.repeat(5000));
    let out = rooflens(&["estimate", "--jobs", &jobs], "");
    assert_eq!((out.code, out.out.lines().count()), (0, 5000));
    let mut child = Command::new(env!("CARGO_BIN_EXE_rooflens"))
        .args(["estimate", "--jobs", &jobs])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_program_that_waits_for_each_answer_gets_it() {
    use std::io::{BufRead as _, BufReader};
    let mut child = Command::new(env!("CARGO_BIN_EXE_rooflens"))
        .args(["estimate", "--jobs", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    let mut answers = BufReader::new(child.stdout.take().expect("piped")).lines();
    for id in ["a", "b"] {
        writeln!(stdin, r#"{{"id": "{id}", "config": "preset:qwen3-0.6b"}}"#).expect("written");
        let answer = answers.next().expect("an answer").expect("read");
        assert_eq!(at(&json(&answer), &["id"]), &Value::Text(id.to_owned()));
    }
    drop(stdin);
    assert!(child.wait().expect("ends").success());
}

#[test]
fn origins_of_a_resolved_config() {
    let args = ["resolve", "preset:gemma-3-27b"];
    let root = json(&rooflens(&[&args[..], &["--format", "json"]].concat(), "").out);
    for (field, value, origin) in [
        ("hidden_size", 5376, "config: text_config.hidden_size"),
        ("vocab_size", 262_208, "class default: gemma3_text"),
        ("num_swa_layers", 52, "derived: every 6th layer is full"),
        ("num_experts", 0, "not in the config: no experts"),
    ] {
        assert_eq!(at(&root, &["fields", field, "value"]), &Value::Int(value), "{field}");
        assert_eq!(at(&root, &["fields", field, "origin"]), &Value::Text(origin.to_owned()), "{field}");
    }
    let table = rooflens(&args, "").out;
    assert!(table.contains("\nvocab_size             262208    class default: gemma3_text\n"), "{table}");
    let unknown = rooflens(&["resolve", "-"], r#"{"num_attention_heads": null, "num_hidden_layers": 1e40}"#);
    assert_eq!(unknown.code, 0);
    assert!(unknown.err.contains("note: The config has no model_type"), "{}", unknown.err);
}

#[test]
fn presets_are_listed() {
    let Output { code, out, .. } = rooflens(&["presets"], "");
    assert_eq!(code, 0);
    assert!(out.lines().count() > 25 && out.contains("deepseek-ai/DeepSeek-V3 "), "{out}");
}

#[test]
fn arguments_that_cannot_be_used_are_2() {
    let estimate = |more: &[&'static str]| [&["estimate", "preset:qwen3-0.6b"][..], more].concat();
    for (args, parts) in [
        (estimate(&[]), &["--case NAME=REQS", "--request N,C,PHASE", "Usage: rooflens estimate"][..]),
        (vec!["estimate"], &["CONFIG"]),
        (vec!["resolve"], &["CONFIG"]),
        (estimate(&["--case", "1", "--tp", "0"]), &["from 1 to 4294967295"]),
        (estimate(&["--case", "1", "--tp", "4294967296"]), &["from 1 to 4294967295"]),
        (estimate(&["--case", "1", "--tp", "-1"]), &["-1"]),
        (estimate(&["--case", "1", "--dtype", "bfloat61"]), &["float32", "'bfloat16'"]),
        (estimate(&["--case", "1", "--kv-cache-dtype", "fp8_e4m4"]), &["nvfp4", "'fp8_e4m3'"]),
        (estimate(&["--case", "1", "--ep=maybe"]), &["true, false"]),
        (estimate(&["--case", "8k"]), &["did you mean `8000`?"]),
        (estimate(&["--case", "4@4096:2"]), &["1 + drafts"]),
        (estimate(&["--request", "9,8,decode"]), &["expected at least 9"]),
        (estimate(&["--request", "1,8"]), &["between commas"]),
        (estimate(&["--case", "1", "--format", "xml"]), &["markdown"]),
        (vec!["estimate", "--jobs", "-", "--tp", "2"], &["--jobs"]),
        (vec!["estimate", "--jobs", "-", "--case", "1"], &["--jobs"]),
        (vec!["estimate", "preset:qwen3-0.6b", "--jobs", "-"], &["--jobs"]),
    ] {
        fails(&args, 2, parts);
    }
}

#[test]
fn inputs_that_cannot_be_used_are_1() {
    let config = |name: &str, content: &[u8]| file(&format!("odd/{name}.json"), content);
    let folder = PathBuf::from(file("empty/x", "")).parent().expect("a folder").display().to_string();
    let large = file("odd/large.json", "");
    let opened = std::fs::OpenOptions::new().write(true).open(&large).expect("open");
    opened.set_len(11 << 20).expect("set");
    for (path, part) in [
        ("/no/such/file.json".to_owned(), "/no/such/file.json cannot be read: No such file"),
        (folder, "is a directory without a config.json."),
        (large, "is larger than 10 MiB"),
        (config("empty", b""), "is not JSON: line 1, column 1: found the end of the text"),
        (config("binary", b"\x7fELF\x02\xff\xfe"), "is no UTF-8 text: byte 6 is not valid."),
        (config("utf16", b"\xff\xfe{\x00}\x00"), "is no UTF-8 text: byte 1 is not valid."),
        (config("list", b"[1, 2]"), "is no config of a language model: expected an object"),
        (config("broken", b"{\n  \"hidden_size\": 8,\n  \"x\" 1\n}"), "line 3, column 7: found `1`"),
        (config("deep", "[".repeat(100_000).as_bytes()), "is not JSON: "),
        ("preset:gemma-3-27".to_owned(), "There is no preset `gemma-3-27`; did you mean `preset:gemma-3-27b`?"),
        ("preset:".to_owned(), "There is no preset ``; `rooflens presets` lists them."),
    ] {
        fails(&["estimate", &path, "--case", "1@8"], 1, &[part]);
        fails(&["resolve", &path], 1, &[part]);
    }
    let broken = rooflens(&["resolve", &config("broken", b"{\n  \"x\" 1\n}")], "").err;
    assert!(broken.ends_with("\n  \"x\" 1\n      ^\n"), "{broken}");
    fails(&["estimate", "--jobs", "/no/such/jobs"], 1, &["cannot be read"]);
    fails(&["estimate", "preset:qwen3-0.6b", "--case", "1000001*1@8", "--format=json"], 1, &["1000001 requests"]);
}

#[test]
fn odd_values_in_a_config_are_no_panic() {
    let values = ["NaN", "Infinity", "-1", "0", "1e400", "\"8\"", "[8]", "{}", "null", "true", "9223372036854775807"];
    for value in values.into_iter().chain(["170141183460469231731687303715884105728"]) {
        for key in ["num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size", "sliding_window"] {
            let config = SMALL.replacen('{', &format!("{{\"{key}\": {value}, "), 1);
            let last = config.trim_end_matches('}').to_owned() + &format!(", \"{key}\": {value}}}");
            for format in ["table", "json", "csv", "markdown"] {
                let args = ["estimate", "-", "--tp", "4294967295", "--case", "8,4*1@9", "--format", format];
                let Output { code, err, .. } = rooflens(&args, &last);
                assert!((code == 0 || code == 1) && !err.contains("panicked"), "{key}: {value}: {err}");
            }
            let args =
                ["estimate", "-", "--model=physical", "--hardware=h200-sxm", "--pp", "4294967295", "--case", "8"];
            let Output { code, err, .. } = rooflens(&args, &last);
            assert!((code == 0 || code == 1) && !err.contains("panicked"), "physical: {key}: {value}: {err}");
        }
    }
}

#[test]
fn the_physical_model_answers_more() {
    let job = format!(
        r#"{{"config": {SMALL}, "model": "physical", "hardware": "h200-sxm", "gpus_per_node": 4, "settings": {{"tp": 2}},
        "batch": "4*1@16"}}"#
    );
    let Output { code, out, err } = rooflens(&["estimate", "--jobs", "-"], &job.replace('\n', " "));
    assert_eq!((code, err.as_str()), (0, ""));
    let answer = json(&out);
    assert_eq!(at(&answer, &["model"]), &Value::Text("physical".to_owned()));
    // Embedding and head of 1000 x 64, two layers of 12288 + 24576, five norms of 64.
    assert_eq!(at(&answer, &["parameters", "total"]), &Value::Int(2 * 64_000 + 2 * (12_288 + 24_576) + 5 * 64));
    assert_eq!(at(&answer, &["kv_bytes_per_token_per_gpu"]), &Value::Int(2 * 2 * 16 * 2));
    assert_eq!(at(&answer, &["fits"]), &Value::Bool(true));
    assert_eq!(at(&answer, &["gpus_per_node"]), &Value::Int(4));
    assert_eq!(at(&answer, &["bound"]), &Value::Text("memory".to_owned()));
    let number = |path: &[&str]| match at(&answer, path) {
        Value::Float(number) => *number,
        other => panic!("{path:?} is {other:?}"),
    };
    let bound = number(&["step_time_us", "bound"]);
    // An efficiency of 0.8, and 70 us for each of two layers.
    assert!((number(&["step_time_us", "calibrated"]) - (bound / 0.8 + 140.0)).abs() < 1e-9);
    let operations = answer.get("operations").and_then(Node::items).expect("a list");
    assert!(operations.iter().all(|operation| operation.get("step_time_us").is_some()));
    assert!(answer.get("weights_bytes_per_gpu").is_some() && answer.get("notes").is_some());
    let differences = answer.get("differences").and_then(Node::items).expect("a list");
    assert!(differences.iter().all(|difference| difference.get("because").is_some_and(Node::is_truthy)));
    // A stage has a line of its own, and numbers of the user's own a name of their own.
    let stages = answer.get("stages").and_then(Node::items).expect("a list");
    assert_eq!((stages.len(), at(&stages[0], &["layers"])), (1, &Value::Int(2)));
    let own = job.replacen('{', r#"{"layer_overhead_us": 10, "link_latency_us": "1", "#, 1);
    let Output { code, out, err } = rooflens(&["estimate", "--jobs", "-"], &own.replace('\n', " "));
    assert_eq!((code, err.as_str()), (0, ""));
    let assumed = json(&out);
    let of = |answer: &Node, path: &[&str]| match at(answer, path) {
        Value::Float(number) => *number,
        other => panic!("{path:?} is {other:?}"),
    };
    // All-reduces of two ranks, four in layers and one of the embedding, take two steps each; the logits are gathered in one.
    assert!((of(&assumed, &["step_time_us", "assumed"]) - (bound / 0.8 + 20.0 + 11.0)).abs() < 1e-9);
    assert!((of(&assumed, &["step_time_us", "bound"]) - bound).abs() < 1e-9);
    let wrong = job.replacen('{', r#"{"link_overlap": 2, "#, 1);
    let Output { out, .. } = rooflens(&["estimate", "--jobs", "-"], &wrong.replace('\n', " "));
    assert!(out.contains(r#""error":"\"link_overlap\": Found `2`; expected a number from 0 to 1.""#), "{out}");
    // Sums of the terms are the same integers in both forms.
    assert_eq!(at(&answer, &["per_gpu", "flops", "attn.attn_qk"]), &Value::Int(2 * 2 * 4 * 16 * 16 * 2));
}

#[test]
fn what_fits_and_layouts_side_by_side() {
    let args = ["memory", "-", "--hardware", "h100-sxm", "--tp", "2", "--length", "1k"];
    let Output { code, out, err } = rooflens(&args, SMALL);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @"
    model       standard input
    layout      TP2
    parameters  202 thousand parameters, 138 thousand parameters for a token

    stage 1 of 1
    WEIGHTS                         PER GPU
    embedding                      62.5 KiB
    lm head                        64.0 KiB
    attention                      24.0 KiB
    mlp                            48.0 KiB
    norm                              640 B
    total                           199 KiB
    KV CACHE
    a token                           128 B
    a sequence of 1 000, reserved   126 KiB
    a sequence of 1 000, used       125 KiB

    accelerator                     H100 SXM
    usable memory                   79.2 GiB
    taken by the server             71.3 GiB
    set aside for activations       1.01 GiB
    left for the KV cache           70.3 GiB
    tokens that fit              589 341 424
    sequences of 1 000 that fit      584 664
    ");
    let args = ["compare", "-", "--layout", "tp2", "--layout", "pp2,dp2", "--hardware", "h100-sxm", "--case", "4*1@64"];
    let Output { code, out, err } = rooflens(&args, SMALL);
    assert_eq!(code, 0);
    assert!(err.starts_with("note: Expected is calibrated: computing at 80.0% of the peaks, moving at "), "{err}");
    insta::assert_snapshot!(out, @r"
    standard input, 4*1@64
                                                                       TP2                    PP2 DP2
    GPUs                                                                 2                          4
    weights per GPU                                                199 KiB                    200 KiB
    KV cache of a token, per GPU                                     128 B                      128 B
    fits                                                               yes                        yes
    tokens of KV cache, a replica                              589 341 424                589 308 656
    sequences of the longest request, a replica                  9 208 459                  9 207 947
    FLOPs per GPU                                                623 kFLOP                  885 kFLOP
    bytes per GPU                                                   202 kB                     264 kB
    bound by                                                        memory                     memory
    step                                                  74.9 ns – 140 µs            118 ns – 140 µs
    of that, communication                               14.6 ns – 18.2 ns          2.28 ns – 2.84 ns
    time per output token                                 74.9 ns – 140 µs            118 ns – 140 µs
    tokens/s in all                              28.6 ktok/s – 53.4 Mtok/s    114 ktok/s – 101 Mtok/s
    tokens/s per GPU                             14.3 ktok/s – 26.7 Mtok/s  28.5 ktok/s – 25.3 Mtok/s
    MFU                                                   <0.001% – 0.841%           <0.001% – 0.797%
    MBU                                                    0.0430% – 80.5%            0.0827% – 73.5%
    energy of a token, at board power                  <0.001 J – 0.0490 J        <0.001 J – 0.0245 J
    ");
    // Assumptions of one's own have a name of their own.
    let own = ["--assume", "layer-overhead-us=10", "--assume", "compute_efficiency=0.5", "--price", "2"];
    let Output { code, out, err } = rooflens(&[&args[..], &own[..]].concat(), SMALL);
    assert_eq!(code, 0);
    assert!(
        err.starts_with("note: Expected is assumed: computing at 50.0% of the peaks, moving at 80.0% of the"),
        "{err}"
    );
    assert!(out.contains("\nprice of 10⁶ tokens") && out.contains(" – 20.1 µs"), "{out}");
    for (args, parts) in [
        (vec!["compare", "-"], &["--layout <SIZES>"][..]),
        (vec!["compare", "-", "--layout", "tp2", "--assume", "speed=9"], &["KEY is one of acceptance, utilization,"]),
        (
            vec!["compare", "-", "--layout", "tp2", "--assume", "link_overlap=2"],
            &["Found `2`; expected a number from 0 to 1."],
        ),
        (vec!["compare", "-", "--layout", "xp2"], &["expected tpN, ppN, dpN or ep"]),
        (vec!["memory", "-", "--hardware", "h200"], &["did you mean `h200-sxm`?"]),
        (vec!["memory", "-", "--utilization", "2"], &["from 0.01 to 1"]),
        (vec!["estimate", "-", "--case", "1", "--model", "guess"], &["physical"]),
    ] {
        fails(&args, 2, parts);
    }
    let job = format!(r#"{{"config": {SMALL}, "model": "physical", "weights": {{"experts": 4}}}}"#).replace('\n', " ");
    let wrong = rooflens(&["estimate", "--jobs", "-"], &job).out;
    assert!(wrong.contains("expected one of attention, dense, experts, shared, head"), "{wrong}");
    let job = format!(r#"{{"config": {SMALL}, "model": "guess"}}"#).replace('\n', " ");
    let wrong = rooflens(&["estimate", "--jobs", "-"], &job).out;
    assert!(wrong.contains("expected \\\"vllm\\\" or \\\"physical\\\""), "{wrong}");
}

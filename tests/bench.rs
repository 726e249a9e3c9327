//! `rooflens bench` as a person or a script meets it.

#![cfg(not(target_arch = "wasm32"))]
#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Runs `rooflens bench` with text on its standard input: exit code, output, errors.
fn bench(args: &[&str], input: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rooflens"))
        .arg("bench")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_owned();
    let feed = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("the program ends");
    let _ = feed.join().expect("no panic");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

#[test]
fn jitter_prints_an_array_or_exits_with_2() {
    let args = ["jitter", "b=4*1@3", "--seed", "7", "--kv-len-jitter", "0.25", "--max-model-len", "40960"];
    assert_eq!(bench(&args, ""), (0, "[3, 3, 3, 3]\n".to_owned(), String::new()));
    let (code, out, err) = bench(&["jitter", "a=2*1@9", "--max-model-len", "8"], "");
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(
        err,
        "error: Request 1 of case `a`, `2*1@9`, has a KV length above max-model-len 8; expected at most 8.\n"
    );
    assert_eq!(bench(&["jitter", "a=1@0", "--max-model-len", "8"], "").0, 2);
    assert_eq!(bench(&["jitter", "1@9", "--max-model-len", "8k", "--kv-len-jitter", "2"], "").0, 2);
}

#[test]
fn a_command_and_what_it_cannot_say() {
    let args = ["command", "preset:deepseek-v3", "--tp", "4", "--pp", "4", "--case", "d=16*1@8192,16*1@8192"];
    let (code, out, err) = bench(&args, "");
    assert_eq!(code, 0);
    insta::assert_snapshot!(out, @r#"
    torchrun --nproc-per-node=8 --nnodes=2 --node-rank="$NODE_RANK" --master-addr="$MASTER_ADDR" \
      -m vllm.entrypoints.cli.main bench forward \
      --model deepseek-ai/DeepSeek-V3 \
      --tensor-parallel-size 4 \
      --pipeline-parallel-size 4 \
      --kv-len-jitter 0.5 \
      --seed 0 \
      --case 'd=32*1@8192' \
      --output-json forward.json
    "#);
    insta::assert_snapshot!(err, @r"
    warning: With a jitter of 0.5 the KV lengths that are measured are drawn anew; 0 measures the cases exactly.
    ");
    assert_eq!(bench(&["command", "--case", "1", "--set", "speed=9"], "").0, 2);
}

#[test]
fn cases_commands_and_shapes_files_print_canonically() {
    let command = "vllm bench forward --model x --case 'mix=1,1,2*1@8' --enforce-eager";
    let (code, out, err) = bench(&["parse", "a=1@8,1@8", command], "");
    assert_eq!((code, out.as_str()), (0, "a=2*1@8\nmix=2*1,2*1@8\n"));
    assert_eq!(err, "note: Not understood, and left out: --enforce-eager\n");
    let (code, yaml, _) = bench(&["parse", "a=1@8,1@8", "--format", "yaml"], "");
    assert_eq!(code, 0);
    assert_eq!(bench(&["parse", "--shapes", "-"], &yaml), (0, "a=2*1@8\n".to_owned(), String::new()));
    let (code, _, err) = bench(&["parse", "--shapes", "-"], "cases: 4");
    assert_eq!(code, 1);
    assert_eq!(
        err,
        "error: standard input: The shapes file, line 1, column 8, `cases`: found 4; expected a list of cases.\n"
    );
    assert_eq!(bench(&["parse", "1@0"], "").0, 2);
}

//! `rooflens bench kernels` as a person or a script meets it.

#![cfg(not(target_arch = "wasm32"))]
#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::path::PathBuf;
use std::process::Command;

const A: &str = "tests/bench/decode.rank0.kernels.json";
const B: &str = "tests/bench/decode.rank1.kernels.json";
const TRACE: &str = "tests/bench/step.rank0.trace.json";

/// Exit code, output and errors.
fn kernels(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_rooflens")).args(["bench", "kernels"]).args(args).output();
    let output = output.expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).expect("written");
    path.display().to_string()
}

#[track_caller]
fn fails(args: &[&str], exit: i32, parts: &[&str]) {
    let (code, out, err) = kernels(args);
    assert_eq!((code, out.as_str()), (exit, ""), "{args:?}: {err}");
    assert!(err.starts_with("error: ") && !err.contains("panicked"), "{args:?}: {err}");
    for part in parts {
        assert!(err.contains(part), "{args:?}: {part:?} is not in {err}");
    }
}

#[track_caller]
fn fails_in_a_line(args: &[&str], parts: &[&str]) {
    fails(args, 1, parts);
    assert_eq!(kernels(args).2.lines().count(), 1);
}

#[test]
fn the_diff_is_the_one_written_by_hand_with_a_word_about_ranks() {
    let (code, out, err) = kernels(&[A, B]);
    assert_eq!(code, 0);
    assert_eq!(out, include_str!("bench/decode.rank0-rank1.diff.txt"));
    assert!(err.starts_with("warning: The files are of different ranks (0 and 1); compare the same rank"), "{err}");
    let (_, out, err) = kernels(&[A, A, "--top", "1"]);
    assert_eq!(err, "");
    assert!(out.ends_with("and 5 more: 0.000 us\n"), "{out}");
}

#[test]
fn one_file_shows_its_kernels_and_components() {
    let (code, out, err) = kernels(&[A, "--top", "2"]);
    assert_eq!((code, err.as_str()), (0, ""));
    for part in ["200.000 us", "and 4 more: 50.500 us", "100.000    52.5%      4  GEMM/FFN", "  unmatched\n"] {
        assert!(out.contains(part), "{part:?} is not in {out}");
    }
    let rules = file("mine.rules", "mine: tie_*\n");
    let (_, out, _) = kernels(&[A, "--rules", &rules]);
    assert!(out.contains("  mine\n") && !out.contains("GEMM/FFN"), "{out}");
    let (code, out, _) = kernels(&["--print-rules"]);
    assert!(code == 0 && out.contains("\nGEMM/FFN: nvjet\n"));
}

#[test]
fn a_trace_is_summarised() {
    let (code, out, err) = kernels(&[TRACE]);
    assert_eq!(code, 0);
    assert!(out.contains("50.500 us") && out.contains("35.000"), "{out}");
    assert!(err.starts_with("note: Summarised from a trace"), "{err}");
}

#[test]
fn files_that_cannot_be_used_end_with_1_and_a_sentence() {
    fails_in_a_line(&["missing.kernels.json"], &["missing.kernels.json cannot be read: "]);
    fails_in_a_line(&["tests/bench"], &["tests/bench is a directory"]);
    let cut = file("cut.kernels.json", "{\"kernels\": [");
    fails_in_a_line(&[&cut], &["is not a kernel summary of `vllm bench forward --profile-dir`: line 1, column 14"]);
    let foreign = file("foreign.kernels.json", "{\"model_type\": \"llama\"}");
    fails_in_a_line(&[A, &foreign], &["is a model's config; expected a kernel summary"]);
    let bytes = file("bytes.kernels.json", [0xff]);
    fails_in_a_line(&[&bytes], &["byte 1 is not valid"]);
    let packed = file("damaged.trace.json.gz", [0x1f, 0x8b, 8, 0]);
    fails_in_a_line(&[&packed], &["does not unpack as gzip: it ends early"]);
    let rules = file("wrong.rules", "# mine\ngemm\n");
    fails_in_a_line(&[A, "--rules", &rules], &["Line 2 of the rules: found `gemm`"]);
    fails(&[], 2, &["required"]);
    fails(&[A, "--top", "x"], 2, &["--top"]);
}

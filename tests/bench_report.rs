//! `rooflens bench report` as a person or a script meets it.

#![cfg(not(target_arch = "wasm32"))]
#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::path::PathBuf;
use std::process::Command;

const SMALL: &str = r#"{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000, "torch_dtype": "bfloat16"}"#;

struct Output {
    code: i32,
    out: String,
    err: String,
}

fn report(args: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_rooflens"))
        .args(["bench", "report"])
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8").replace('\u{202f}', "_");
    Output { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

/// A file of this test run.
fn file(name: &str, content: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).expect("written");
    path.display().to_string()
}

#[track_caller]
fn fails(args: &[&str], exit: i32, parts: &[&str]) {
    let Output { code, out, err } = report(args);
    assert_eq!((code, out.as_str()), (exit, ""), "{args:?}: {err}");
    assert!(err.starts_with("error: ") && !err.contains("panicked"), "{err}");
    for part in parts {
        assert!(err.contains(part), "{part:?} is not in {err}");
    }
}

const TWO: &str = "tests/bench/two-ranks.json";

#[test]
fn measurements_alone() {
    let Output { code, out, err } = report(&[TWO]);
    assert_eq!(code, 0, "{err}");
    insta::assert_snapshot!(out, @"
    case    requests            median  spread  ranks  warnings
    decode  2*1@8192,4@4096:3  1.00 ms  0.300%      2         0
    hit     512@5107           4.00 ms   1.25%      2         4
    ");
    insta::assert_snapshot!(err, @"
    warning: hit: Unstable timing: samples differ by more than 0.5 % on rank 1 (1.25 %).
    warning: hit: The output holds NaN or infinity on rank 0.
    warning: hit: The captured graph does not give the same output each time on rank 1.
    warning: hit: The median of rank 1 is more than 5 % from the case's (-10.0 %).
    ");
}

#[test]
fn measured_against_estimated() {
    let config = file("small-report.json", SMALL);
    let args = [TWO, "--config", &config, "--tp", "2", "--hardware", "h200-sxm", "--format", "json"];
    let Output { code, out, err } = report(&args);
    assert_eq!(code, 0, "{err}");
    let per_gpu = |text: &str, key: &str| -> f64 {
        let start = text.find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("{key}")) + key.len() + 3;
        let rest = &text[start..];
        rest[..rest.find([',', '}']).expect("an end")].parse().expect("a number")
    };
    // 1000 us: rates are 1000 times the amounts; an H200 has 989.4 or 989.5 TFLOP/s in BF16 and 4.8 TB/s.
    let moved = per_gpu(&out, "read_bytes") + per_gpu(&out, "write_bytes");
    assert!((per_gpu(&out, "bytes_per_second") / (moved * 1000.0) - 1.0).abs() < 1e-12);
    assert!((per_gpu(&out, "mbu") / (moved * 1000.0 / 4.8e12) - 1.0).abs() < 1e-12);
    assert!((per_gpu(&out, "measured_over_bound") * per_gpu(&out, "bound_us") / 1000.0 - 1.0).abs() < 1e-12);
    let table = report(&[TWO, "--config", &config, "--tp", "4", "--hardware", "h200-sxm"]);
    assert!(table.out.starts_with("case ") && table.out.contains("x bound"), "{}", table.out);
    assert!(table.err.contains("The file has 2 ranks and the layout TP4 has 4 GPUs"), "{}", table.err);
}

#[test]
fn measured_against_the_physical_model() {
    let config = file("physical-report.json", SMALL);
    let args = [TWO, "--config", &config, "--tp", "2", "--hardware", "h200-sxm", "--model", "physical"];
    let Output { code, out, err } = report(&args);
    assert_eq!(code, 0, "{err}");
    insta::assert_snapshot!(out, @r"
    case    requests            median  spread  ranks        FLOP/s        B/s      MFU      MBU                    bound  x bound  warnings
    decode  2*1@8192,4@4096:3  1.00 ms  0.300%      2  9.22 GFLOP/s  2.81 GB/s  <0.001%  0.0585%          606 ns (memory)   1_650×         0
    hit     512@5107           4.00 ms   1.25%      2   168 GFLOP/s  1.01 GB/s  0.0170%  0.0210%  2.04 µs (communication)   1_960×         4

    Estimated by the physical model.
    ");
    let json = report(&[&args[..], &["--format", "json"]].concat()).out;
    // 6 tokens: two layers of 2 x 64 x (64 + 32 + 128 + 64) each, a head of 2 x 64 x 512; and 2 x 8192 + 4 x 4096 - 6
    // pairs in two layers of two heads of 16, 4 FLOPs each.
    let flops = 6 * (2 * 2 * 64 * (64 + 32 + 128 + 64) + 2 * 64 * 512) + 32_762 * 2 * 2 * 16 * 4;
    assert!(
        json.contains(&format!(r#""per_gpu":{{"model":"physical","flops":{flops},"read_bytes":2780288,"#)),
        "{json}"
    );
    // The norm behind the last layer reads 6 x 2 x 64 elements of 2 bytes and writes half of that. Two query heads and one
    // KV head of 16 are rotated in two layers: 1152 bytes read, 768 written.
    // Every operation is bound by memory, at 4.8 TB/s; 5 all-reduces of 768 bytes and the gathered half of 6 x 1000
    // logits take NVLink's 450 GB/s.
    let bound = (2_780_288.0 + 25_344.0) / 4.8e6 + (5.0 * 768.0 + 6000.0) / 450e3;
    assert!(json.contains(&format!("\"bound_us\":{bound:.5}")), "{bound}: {json}");
    // Half the bytes of those weights are not read, nor of the activations that they meet: 6 x 64 for each matrix.
    let narrow = report(&[&args[..], &["--weights", "dense=fp8_per_tensor", "--format", "json"]].concat()).out;
    let read = 2_780_288 - 32_768 / 2 - 16_384 / 2 - 2 * 2 * 6 * 64;
    assert!(narrow.contains(&format!(r#""read_bytes":{read},"#)), "{narrow}");
    let usual = report(&[&args[..7], &["--model", "vllm"]].concat());
    assert!(usual.out.ends_with("\nEstimated by the vllm model.\n"), "{}", usual.out);
    assert_eq!(usual.out, report(&args[..7]).out);
    let bare = report(&[&args[..5], &args[7..]].concat()).out;
    assert!(bare.contains("FLOP/s") && !bare.contains("bound"), "{bare}");
}

#[test]
fn before_and_after() {
    let after =
        std::fs::read_to_string(TWO).expect("a fixture").replace("1000.0,\n    \"host\"", "1004.0,\n    \"host\"");
    let after = file("after-report.json", &after.replace("4000,\n", "3000,\n"));
    let Output { code, out, err } = report(&[TWO, &after, "--compare", "--format", "markdown"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let table = out.split_once("\n\n").map(|(_, table)| table).expect("names before the table");
    // 4 us between 1000 and 1004, whose spreads are 3 and 3.012.
    insta::assert_snapshot!(table, @r"
    | case | before | after | change | after / before | speed-up | remark |
    | :-- | --: | --: | --: | --: | --: | --: |
    | decode | 1.00 ms | 1.00 ms | +4.00 µs | 1.00× | 0.996× | within the spread |
    | hit | 4.00 ms | 3.00 ms | -1.00 ms | 0.750× | 1.33× |  |
    ");
    assert!(report(&[TWO, &after, "--compare"]).out.starts_with("before  tests/bench/two-ranks.json\nafter   "));
    assert!(report(&[TWO, &after, "--compare", "--format", "json"]).out.contains(r#""within_spread":true"#));
}

#[test]
fn several_files_have_their_names() {
    let Output { out, .. } = report(&[TWO, TWO, "--format", "markdown"]);
    assert!(out.starts_with("**tests/bench/two-ranks.json**\n\n| case | requests |"), "{out}");
}

#[test]
fn what_cannot_be_used_is_named() {
    let config = file("foreign-report.json", SMALL);
    fails(&[&config], 1, &["foreign-report.json", "a model's config.json", "vllm bench forward --output-json"]);
    let cut = file("cut-report.json", &std::fs::read_to_string(TWO).expect("a fixture")[..300]);
    fails(&[&cut], 1, &["cut-report.json", "At line 9, column 5", "not all of it"]);
    fails(&["nowhere.json"], 1, &["nowhere.json cannot be read"]);
    fails(&[TWO, "--compare"], 2, &["--compare takes two files"]);
    fails(&[TWO, "--hardware", "h200-sxm"], 2, &["--config"]);
    fails(&[TWO, "--model", "physical"], 2, &["--config"]);
    fails(&[TWO, "--config", TWO, "--model", "guess"], 2, &["guess", "vllm, physical"]);
    fails(&[TWO, "--config", TWO, "--hardware", "h2oo"], 2, &["No accelerator is called `h2oo`"]);
    fails(&[], 2, &["FILE"]);
}

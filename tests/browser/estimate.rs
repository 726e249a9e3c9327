//! The main job: a config goes in, numbers come out, equal to the command line's; mistakes are explained and cost nothing.

use crate::measure::median;
use crate::page::Page;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

pub(crate) const SOON: Duration = Duration::from_secs(5);

/// A config of two kinds of layers, as people have it in a file.
const CONFIG: &str = r#"{
  "architectures": ["Gemma3ForConditionalGeneration"],
  "model_type": "gemma3",
  "text_config": {
    "hidden_size": 2560,
    "intermediate_size": 10240,
    "model_type": "gemma3_text",
    "num_hidden_layers": 34,
    "sliding_window": 1024
  },
  "torch_dtype": "bfloat16"
}"#;

/// Every term of an estimate with its exact amount.
type Terms = BTreeMap<String, String>;

/// What the command line says of a config.
fn by_command(config: &str, args: &[&str]) -> Terms {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rooflens"))
        .args(["estimate", "-", "--format", "json"])
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    child.stdin.take().expect("stdin").write_all(config.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("ended");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let scope = answer.get("per_gpu").expect("per GPU");
    ["flops", "read_bytes", "write_bytes"]
        .iter()
        .flat_map(|quantity| scope.get(quantity).and_then(Value::as_object).expect("terms"))
        .map(|(name, amount)| (name.clone(), amount.to_string()))
        .collect()
}

/// What the page's table says.
fn by_page(page: &Page) -> Terms {
    if page.execute("return document.querySelector('#unfold').ariaPressed !== 'true'", &json!([])) == true {
        page.click("#unfold");
    }
    let rows = page.execute(
        "return [...document.querySelectorAll('[data-term]')].map((row) =>
            [row.dataset.term, row.querySelector('[data-exact]').dataset.exact])",
        &json!([]),
    );
    serde_json::from_value::<Vec<(String, String)>>(rows).expect("pairs").into_iter().collect()
}

pub(crate) fn tile(page: &Page, title: &str) -> String {
    let script = "return [...document.querySelectorAll('.tile')]
        .find((tile) => tile.querySelector('dt').textContent === arguments[0]).querySelector('dd').textContent";
    page.execute(script, &json!([title])).as_str().expect("text").to_owned()
}

pub(crate) fn nothing_went_wrong(page: &Page) {
    assert_eq!(page.console_errors(), [""; 0]);
    assert_eq!(page.requests_outside_origin(), [""; 0]);
}

pub(crate) fn open() -> Page {
    let page = Page::open("");
    page.wait_until("document.querySelectorAll('.operations tbody').length > 0", SOON);
    page
}

pub(crate) fn paste(page: &Page, text: &str) {
    let script = "const data = new DataTransfer();
        data.setData('text/plain', arguments[0]);
        document.body.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}))";
    page.execute(script, &json!([text]));
}

pub(crate) fn drop_files(page: &Page, files: &[(&str, &str)]) {
    let script = "const data = new DataTransfer();
        for (const [name, text] of arguments[0]) data.items.add(new File([text], name, {type: 'application/json'}));
        document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}))";
    page.execute(script, &json!([files]));
}

#[test]
fn opens_on_a_worked_example() {
    let page = open();
    assert_eq!(tile(&page, "FLOPs per GPU"), "129TFLOP");
    assert_eq!(tile(&page, "Read per GPU"), "199GB");
    assert_eq!(tile(&page, "Written per GPU"), "85.9GB");
    assert_eq!(tile(&page, "Intensity"), "452FLOP/B");
    assert_eq!(tile(&page, "Bound"), "compute");
    assert_eq!(tile(&page, "Step, at least"), "65.0ms");
    assert!(page.count(".choose option") > 25);
    nothing_went_wrong(&page);
}

#[test]
fn a_pasted_config_gives_the_numbers_of_the_command_line() {
    let page = open();
    paste(&page, CONFIG);
    page.wait_until("document.querySelector('.status').textContent.startsWith('gemma3')", SOON);
    page.set_value("#case", "mix=8192,32*1@8192,4*4@4096:3");
    let args = ["--tp", "8", "--case", "mix=8192,32*1@8192,4*4@4096:3"];
    let expected = by_command(CONFIG, &args);
    assert_eq!(by_page(&page), expected);
    assert!(expected.len() > 15, "{expected:?}");

    // A layout changes the numbers, to those of the command line again.
    page.set_value(".sizes .field:nth-child(1) input", "2");
    page.set_value(".sizes .field:nth-child(2) input", "4");
    page.set_value(".sizes .field:nth-child(3) input", "2");
    let args = ["--tp", "2", "--pp", "4", "--dp", "2", "--case", "mix=8192,32*1@8192,4*4@4096:3"];
    let other = by_command(CONFIG, &args);
    assert_ne!(other, expected);
    assert_eq!(by_page(&page), other);

    // So do quantization, dtypes and the windows.
    let choose = |label: &str, value: &str| {
        let script = "const label = [...document.querySelectorAll('.choose')]
            .find((choice) => choice.querySelector('.name').textContent === arguments[0]);
            const select = label.querySelector('select');
            select.value = arguments[1];
            select.dispatchEvent(new Event('change', {bubbles: true}))";
        page.execute(script, &json!([label, value]));
    };
    choose("Weights", "fp8");
    choose("KV cache", "fp8_e4m3");
    choose("Activations", "float32");
    page.click("#disable-sliding-window");
    let more = ["--quantization=fp8", "--kv-cache-dtype=fp8_e4m3", "--dtype=float32", "--disable-sliding-window"];
    assert_eq!(by_page(&page), by_command(CONFIG, &[&args[..], &more].concat()));
    nothing_went_wrong(&page);
}

#[test]
fn broken_json_names_line_and_column_and_the_last_result_stays() {
    let page = open();
    paste(&page, CONFIG);
    page.wait_until("document.querySelector('.status').textContent.startsWith('gemma3')", SOON);
    let before = by_page(&page);
    page.set_value("#config", &CONFIG.replace("\"hidden_size\": 2560,", "\"hidden_size\": 2560"));
    let error = page.text("#config-error");
    assert!(error.contains("Line 6, column 5: found `\"`, expected `,` or `}`."), "{error}");
    assert!(error.contains("\"intermediate_size\": 10240,\n    ^"), "the line with a caret: {error}");
    assert!(page.text("#stale").contains("last valid results"));
    assert_eq!(by_page(&page), before);
    assert_eq!(page.value("#config"), CONFIG.replace("\"hidden_size\": 2560,", "\"hidden_size\": 2560"));

    page.set_value("#config", CONFIG);
    assert_eq!(page.count("#config-error"), 0);
    assert_eq!(page.count("#stale"), 0);

    // What is no language model's config is named, and the way back is one click.
    drop_files(&page, &[("adapter_config.json", r#"{"peft_type": "LORA", "r": 16}"#)]);
    page.wait_until("document.querySelector('#config-error')?.textContent.includes('adapter config')", SOON);
    assert_eq!(by_page(&page), before);
    page.click("#config-error button");
    page.wait_until("!document.querySelector('#config-error')", SOON);
    assert_eq!(by_page(&page), before);
    nothing_went_wrong(&page);
}

#[test]
fn files_are_dropped_with_what_belongs_beside_them() {
    let page = open();
    let companion = r#"{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4"}}"#;
    drop_files(&page, &[("hf_quant_config.json", companion), ("gemma-3-4b.json", CONFIG)]);
    page.wait_until("document.querySelector('.status').textContent.startsWith('gemma-3-4b')", SOON);
    page.wait_until("document.querySelector('.facts-list').textContent.includes('modelopt_fp4')", SOON);
    let args = ["--tp", "8", "--quantization", "modelopt_fp4", "--case", "mix=8192,32*1@8192"];
    assert_eq!(by_page(&page), by_command(CONFIG, &args));
    nothing_went_wrong(&page);
}

#[test]
fn a_layout_that_would_not_start_is_marked_with_what_divides() {
    let page = open();
    page.set_value(".sizes .field:nth-child(1) input", "3");
    let refused = page.text(".refused");
    assert!(refused.contains("128 attention heads are not divisible by TP 3"), "{refused}");
    assert!(page.text(".note.strong").contains("would not start"));
    page.click(".refused .fits button:nth-of-type(4)");
    assert_eq!(page.value(".sizes .field:nth-child(1) input"), "8");
    assert_eq!(page.count(".refused"), 0);

    page.set_value(".sizes .field:nth-child(2) input", "x");
    assert!(page.text(".sizes .field:nth-child(2) .error").contains('x'));
    assert_eq!(tile(&page, "FLOPs per GPU"), "129TFLOP");
    assert_eq!(page.value(".sizes .field:nth-child(2) input"), "x");
    nothing_went_wrong(&page);
}

#[test]
fn a_batch_is_edited_as_text_and_as_rows() {
    let page = open();
    page.set_value("#case", "4*1@8192, 4@4096:2");
    let error = page.text("#case-error");
    assert!(error.contains("4@4096:2"), "{error}");
    assert_eq!(tile(&page, "FLOPs per GPU"), "129TFLOP");

    page.set_value("#case", "d=4*1@8192,16*4@4096:3");
    assert_eq!(page.count(".requests tbody tr"), 2);
    page.set_value(".requests tbody tr:nth-child(1) td:nth-child(3) input", "16Ki");
    assert_eq!(page.value("#case"), "d=4*1@16384,16*4@4096:3");
    page.set_value(".requests tbody tr:nth-child(2) td:nth-child(4) input", "1");
    assert_eq!(page.value("#case"), "d=4*1@16384,16*2@4096:1");
    page.click(".requests tbody tr:nth-child(1) .remove");
    assert_eq!(page.value("#case"), "d=16*2@4096:1");
    page.set_value(".requests tbody tr:nth-child(1) td:nth-child(1) input", "");
    assert_eq!(page.value("#case"), "d=16*2@4096:1");
    assert_eq!(page.count(".requests .error:not(:empty)"), 1);
    nothing_went_wrong(&page);
}

#[test]
fn every_preset_shows_numbers_and_no_error() {
    let page = open();
    let script = "const select = document.querySelector('.choose select');
        const wrong = [];
        for (const option of [...select.options].map((option) => option.value)) {
            select.value = option;
            select.dispatchEvent(new Event('change', {bubbles: true}));
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
            if (document.querySelectorAll('.tile').length !== 7 || document.querySelector('#config-error')) wrong.push(option);
        }
        return wrong";
    assert_eq!(page.execute_async(script, &json!([])), json!([]));
    nothing_went_wrong(&page);
}

#[test]
fn is_accessible_and_fits_narrow_and_wide_in_light_and_dark() {
    let page = open();
    for dark in [false, true] {
        page.emulate_dark(dark);
        for width in [360, 1280, 1920] {
            page.resize(width, 900);
            page.wait_until("document.querySelector('canvas').clientWidth > 100", SOON);
            assert_eq!(page.accessibility_violations(), [""; 0], "{width} px, dark: {dark}");
            let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(page.execute(overflow, &json!([])), 0, "{width} px wide");
        }
    }
    nothing_went_wrong(&page);
}

#[test]
fn charts_are_crisp() {
    let page = open();
    let crisp = "[...document.querySelectorAll('canvas')].filter((c) => c.checkVisibility())
        .every((c) => Math.abs(c.width - devicePixelRatio * c.clientWidth) <= devicePixelRatio)";
    // The driver's change of scale alone makes no event.
    for (width, scale) in [(1200, 2.0), (1100, 1.5)] {
        page.resize_scaled(width, 900, scale);
        page.wait_until(crisp, SOON);
    }
    nothing_went_wrong(&page);
}

/// Prints how long an edit takes; the figure is 16 ms a frame.
#[test]
fn an_edit_is_repainted_within_a_frame() {
    let page = open();
    let edit = "const field = document.querySelector('.sizes .field input');
        field.value = [1, 2, 4, 8][i % 4];
        field.dispatchEvent(new Event('input', {bubbles: true}))";
    let case = "const field = document.querySelector('#case');
        field.value = `mix=8192,${1 + i}*1@8192`;
        field.dispatchEvent(new Event('input', {bubbles: true}))";
    for (what, edit) in [("a layout", edit), ("a batch", case)] {
        let edits = page.measure_edit(edit, 60);
        let busy = median(edits.iter().map(|edit| edit.busy));
        let repaint = median(edits.iter().map(|edit| edit.repaint));
        println!(
            "speed: an edit of {what}: {busy:.1} ms of work in the page, painted after {repaint:.1} ms (median of 60)"
        );
    }
    nothing_went_wrong(&page);
}

/// Makes the README's picture: `make screenshot`.
#[test]
#[ignore = "writes a file of the repository"]
fn screenshot() {
    let page = open();
    crate::workbench::four(&page);
    // All of it in sight: what is not is neither laid out nor drawn.
    page.resize(1280, 2600);
    std::thread::sleep(Duration::from_secs(1));
    page.wait_until("document.querySelector('canvas').clientWidth > 100", SOON);
    page.screenshot(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("public/screenshot.png"));
}

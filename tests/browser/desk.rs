//! The measuring desk: the command, what comes back, and what a server says.

use crate::estimate::{drop_files, open, paste};
use crate::page::Page;
use serde_json::{Value, json};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

fn fixture(name: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/bench/{name}", env!("CARGO_MANIFEST_DIR"))).expect("a fixture")
}

/// A page with the desk unfolded and filled.
fn desk() -> Page {
    let page = open();
    page.click("#measure > summary");
    shows(&page, "command", "bench forward");
    page
}

/// Waits until a block holds a text.
#[track_caller]
fn shows(page: &Page, block: &str, text: &str) {
    let block = format!("document.querySelector('[data-block=\"{block}\"]')");
    page.wait_until(&format!("{block} && {block}.textContent.includes({})", json!(text)), SOON);
}

fn fill(page: &Page, field: &str, text: &str) {
    page.set_value(&format!("[data-field=\"{field}\"]"), text);
}

#[test]
fn the_desk_writes_the_command() {
    let page = desk();
    shows(&page, "command", "torchrun --nproc-per-node=8");
    shows(&page, "command", "--model deepseek-ai/DeepSeek-V3");
    page.set_value(".sizes .field:nth-child(1) input", "4");
    shows(&page, "command", "torchrun --nproc-per-node=4");
    fill(&page, "gpus_per_node", "2");
    shows(&page, "command", "--nnodes=2 --node-rank=\"$NODE_RANK\"");
    // Both batches side by side, and the drawn one as a scenario.
    shows(&page, "jitter", "as it is drawn");
    page.click("[data-act='jittered']");
    page.wait_until("document.querySelectorAll('.tab-name').length === 2", SOON);
    assert_eq!(page.console_errors(), [""; 0]);
    assert_eq!(page.requests_outside_origin(), [""; 0]);
}

/// The page shows its own estimate without waiting for it; then the physical model says what fits and how long it takes.
#[test]
fn the_physical_model_follows_the_page() {
    let page = open();
    shows(&page, "physical", "of that, communication");
    page.execute("document.querySelectorAll('#physical details').forEach((one) => { one.open = true; })", &json!([]));
    page.wait_until("document.querySelector('.tiles').textContent.includes('Memory, weights79.5GiB')", SOON);
    shows(&page, "physical", "671 billion, 36.6 billion");
    shows(&page, "physical-differ", "A new token sees itself and what is before it");
    shows(&page, "physical-memory", "left for the KV cache");
    shows(&page, "physical-links", "all-reduce");
    shows(&page, "physical-operations", "mla_attn.");
    shows(&page, "validation", "at the median of these 1\u{202f}320 rows");
    fill(&page, "price", "2.5");
    shows(&page, "physical", "price of 10⁶ tokens");
    // A number of the user's own has a name of its own, here and in the whole page; the bound stays.
    shows(&page, "physical-operations", "calibrated");
    fill(&page, "layer_overhead_us", "0");
    shows(&page, "physical", "Expected is assumed: computing at 80.0% of the peaks");
    shows(&page, "physical-operations", "assumed");
    fill(&page, "compute_efficiency", "0");
    shows(&page, "physical-problem", "compute-efficiency: Found `0`; expected a number from 0.01 to 1");
    fill(&page, "compute_efficiency", "");
    // Each field is a step of its own to undo, however soon one is typed into after the other.
    fill(&page, "reserve_gib", "3");
    shows(&page, "physical-memory", "3.00 GiB");
    page.click("#undo");
    page.wait_until("document.querySelector('[data-field=\"reserve_gib\"]').value === ''", SOON);
    assert_eq!(page.value("[data-field='layer_overhead_us']"), "0");
    shows(&page, "physical", "price of 10⁶ tokens");
    fill(&page, "utilization", "1.5");
    shows(&page, "physical-problem", "expected a number from 0 to 1");
    // One GPU is too small for it, and one more scenario stands beside it.
    page.click("#add-scenario");
    page.set_value(".sizes .field:nth-child(1) input", "1");
    page.wait_until("document.querySelector('.tiles').textContent.includes('too\\u00a0large')", SOON);
    shows(&page, "physical", "B 1 GPU");
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn a_format_of_some_weights_is_said_and_travels() {
    let page = open();
    shows(&page, "physical", "of that, communication");
    page.click("#physical details:has([data-field='format_experts']) > summary");
    fill(&page, "format_experts", "mxfp4");
    shows(&page, "physical", "Overridden: experts as mxfp4");
    page.wait_until("location.hash.startsWith('#1.z.')", SOON);
    let link = page.address();
    let other = Page::open(link.rsplit_once('/').expect("a folder").1);
    shows(&other, "physical", "Overridden: experts as mxfp4");
    other.wait_until("document.querySelector('[data-field=\"format_experts\"]').value === 'mxfp4'", SOON);
    assert_eq!(other.value("[data-field='format_dense']"), "");
    fill(&other, "format_experts", "");
    other.wait_until("!document.querySelector('[data-block=\"physical\"]').textContent.includes('Overridden')", SOON);
    assert_eq!((page.console_errors(), other.console_errors()), (vec![], vec![]));
}

#[test]
fn how_a_case_is_run_is_in_the_link_and_can_be_undone() {
    let page = desk();
    fill(&page, "seed", "7");
    shows(&page, "command", "--seed 7");
    page.wait_until("location.hash.startsWith('#1.z.')", SOON);
    fill(&page, "kv_len_jitter", "9");
    shows(&page, "run-problem", "expected a number from 0 to 1");
    fill(&page, "kv_len_jitter", "0");
    shows(&page, "command", "--kv-len-jitter 0");
    let before = page.address();
    page.wait_until(&format!("location.href !== {}", json!(before)), SOON);
    let link = page.address();
    let other = Page::open(link.rsplit_once('/').expect("a folder").1);
    other.click("#measure > summary");
    shows(&other, "command", "--seed 7");
    assert_eq!(other.value("[data-field='seed']"), "7");
    page.click("#undo");
    shows(&page, "command", "--kv-len-jitter 0.5");
}

#[test]
fn commands_and_cases_that_are_pasted_are_taken_over() {
    let page = open();
    paste(
        &page,
        "torchrun --nproc-per-node=4 -m vllm.entrypoints.cli.main bench forward --model Qwen/Qwen3-30B-A3B \\\n -tp 2 -dp 2 --case 'verify=16*4@4096:3' --enforce-eager",
    );
    shows(&page, "pasted", "Not understood, and left out: --enforce-eager");
    page.click("[data-act='take']");
    shows(&page, "command", "--model Qwen/Qwen3-30B-A3B");
    shows(&page, "command", "--data-parallel-size 2");
    shows(&page, "command", "Verifies need a drafter");
    paste(&page, "a=32*1@8192\nb=8192");
    shows(&page, "pasted", "b=8192");
    page.click("[data-act='take']");
    shows(&page, "command", "--case 'a=32*1@8192'");
    drop_files(&page, &[("shapes.yaml", "cases:\n- name: s\n  requests:\n  - {query_len: 1, kv_len: 9, count: 3}\n")]);
    shows(&page, "pasted", "s=3*1@9");
    drop_files(&page, &[("shapes.json", "{\"cases\": [{\"name\": \"s\", \"requests\": [{\"query_len\": 0}]}]}")]);
    shows(&page, "pasted", "case 1 (`s`), request 1");
    shows(&page, "command", "--case 'a=32*1@8192'");
}

#[test]
fn results_stand_beside_the_estimate_and_never_enter_the_link() {
    let page = desk();
    fill(&page, "seed", "1");
    page.wait_until("location.hash.startsWith('#1.z.')", SOON);
    let link = page.address();
    drop_files(&page, &[("host-7.before.json", &fixture("two-ranks.json"))]);
    shows(&page, "results", "MFU");
    shows(&page, "results", "Unstable timing");
    page.wait_until(
        "document.querySelector('.points-table').textContent.includes('decode, host-7.before.json measured')",
        SOON,
    );
    let mut after: Value = serde_json::from_str(&fixture("two-ranks.json")).expect("JSON");
    after[0]["median_us"] = json!(900.0);
    drop_files(&page, &[("host-7.after.json", &after.to_string())]);
    shows(&page, "results", "Before: host-7.before.json. After: host-7.after.json.");
    // Something else, something cut: said, and nothing else changes.
    let shown = page.text("[data-block='results']");
    for (name, text) in [("list.json", "[1, 2]"), ("cut.json", &fixture("two-ranks.json")[..200])] {
        drop_files(&page, &[(name, text)]);
        shows(&page, "files", &format!("{name}: "));
        shows(&page, "files", "expected");
    }
    assert_eq!(page.text("[data-block='results']"), shown);
    assert_eq!(page.address(), link);
}

/// Prints how long ten megabytes of 64 ranks take, from the drop to what is shown.
#[test]
fn ten_megabytes_of_64_ranks_in_a_second() {
    let page = desk();
    let script = "const samples = Array.from({length: 9000}, (_, at) => 1000 + Math.sin(at) * 10);
        const rank = () => ({num_tokens: 32, kv_blocks: 16384, routing: 'auto', graph_deterministic: true, finite: true,
            latency_us: {timer: 'cuda', median: 1000.5, sample_spread_pct: 0.2, mean: 1000.7, std: 1.5, min: 990.1,
                p90: 1009.9, count: 9000, samples_us: samples}});
        const text = JSON.stringify([{case: 'decode', median_us: 1000.5,
            requests: Array.from({length: 32}, () => ({query_len: 1, kv_len: 8192, num_draft_tokens: 0, chunked: false})),
            ranks: Array.from({length: 64}, rank)}]);
        const data = new DataTransfer();
        data.items.add(new File([text], 'large.json', {type: 'application/json'}));
        const place = document.querySelector('[data-block=\"results\"]');
        const start = performance.now();
        const shown = new Promise((done) => new MutationObserver(() => {
            if (place.textContent.includes('64 ranks')) requestAnimationFrame(() => done(performance.now() - start));
        }).observe(place, {childList: true}));
        document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));
        return [text.length, await shown];";
    let found = page.execute_async(script, &json!([]));
    let (bytes, time) = (found[0].as_f64().expect("bytes"), found[1].as_f64().expect("time"));
    assert!(bytes > 10e6, "{bytes}");
    println!("{:.1} MB, 64 ranks: shown after {time:.0} ms", bytes / 1e6);
}

#[test]
fn kernels_are_compared_grouped_and_summed_from_packed_traces() {
    let page = desk();
    let [a, b] = ["decode.rank0.kernels.json", "decode.rank1.kernels.json"];
    drop_files(&page, &[(a, &fixture(a))]);
    shows(&page, "kernels", "Kernel time by component");
    drop_files(&page, &[(b, &fixture(b))]);
    shows(&page, "kernels", "Kernels, the largest change first");
    shows(&page, "kernels", "compare the same rank");
    page.click(".desk-more:has([data-field='rules']) > summary");
    fill(&page, "rules", "everything: *");
    shows(&page, "kernels", "everything");
    page.click("[data-act='rules-default']");
    page.wait_until("document.querySelector('[data-field=\"rules\"]').value.includes('attention')", SOON);
    let script = "const stream = new Blob([arguments[0]]).stream().pipeThrough(new CompressionStream('gzip'));
        const packed = await new Response(stream).blob();
        const data = new DataTransfer();
        data.items.add(new File([packed], 'step.rank3.trace.json.gz'));
        document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));";
    page.execute_async(script, &json!([fixture("step.rank0.trace.json")]));
    shows(&page, "files", "step.rank3.trace.json.gz was added up.");
    shows(&page, "kernels", "step, rank 3");
}

#[test]
fn a_server_tells_its_counters_its_log_and_its_steps() {
    let page = desk();
    paste(&page, &fixture("metrics-first.txt"));
    shows(&page, "serving", "rate(vllm:estimated_flops_per_gpu_total[1m]) / 1e12");
    fill(&page, "serving-later", &fixture("metrics-second.txt"));
    shows(&page, "serving", "Estimated rates per GPU");
    paste(&page, &fixture("server.log"));
    shows(&page, "serving", "against A TP8");
    paste(
        &page,
        r#"{"new": [{"num_computed_tokens": 0, "num_tokens": 512}], "cached": [{"num_computed_tokens": 8191, "num_tokens": 1}]}"#,
    );
    shows(&page, "serving", "this step");
    page.click("[data-act='step']");
    page.wait_until("document.querySelectorAll('.tab-name').length === 2", SOON);
    fill(&page, "serving", "{\"new\": 4}");
    shows(&page, "serving", "expected");
}

#[test]
fn the_desk_is_accessible_in_light_and_dark() {
    let page = desk();
    drop_files(
        &page,
        &[("before.json", &fixture("two-ranks.json")), ("a.rank0.kernels.json", &fixture("decode.rank0.kernels.json"))],
    );
    shows(&page, "results", "MFU");
    drop_files(&page, &[("b.rank0.kernels.json", &fixture("decode.rank1.kernels.json"))]);
    shows(&page, "kernels", "largest change first");
    paste(&page, &fixture("server.log"));
    shows(&page, "serving", "against");
    page.execute("document.querySelectorAll('#measure details').forEach((one) => { one.open = true; })", &json!([]));
    for dark in [false, true] {
        page.emulate_dark(dark);
        for width in [360, 1280, 1920] {
            page.resize(width, 900);
            assert_eq!(page.accessibility_violations(), [""; 0], "{width} px, dark: {dark}");
            let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(page.execute(overflow, &json!([])), 0, "{width} px wide");
        }
    }
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn the_single_file_has_the_desk_inside() {
    let page = open();
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("dist-single/rooflens.html");
    page.session.post("url", &json!({ "url": format!("file://{}", file.display()) }));
    page.wait_until("document.querySelectorAll('.operations tbody').length > 0", SOON);
    page.click("#measure > summary");
    shows(&page, "command", "torchrun --nproc-per-node=8");
    assert_eq!(page.console_errors(), [""; 0]);
}

#[test]
fn a_desk_that_does_not_load_says_so() {
    let page = Page::open_with("", crate::page::Options { missing: &["rooflens-desk.js"], ..Default::default() });
    page.wait_until("document.querySelectorAll('.operations tbody').length > 0", SOON);
    page.click("#measure > summary");
    page.wait_until("document.querySelector('#desk').textContent.includes('did not load')", SOON);
}

/// Only the table of measurements needs them.
#[test]
fn measurements_that_do_not_load_take_nothing_else_away() {
    let page = Page::open_with("", crate::page::Options { missing: &["served-tpot.csv"], ..Default::default() });
    shows(&page, "physical", "of that, communication");
    page.click("#physical details[data-act='validation'] > summary");
    shows(&page, "validation", "The measurements did not load");
}

/// What the table of operations says of the step: FLOPs, bytes read and bytes written, exact.
fn step(page: &Page) -> Vec<u128> {
    let script =
        "return [...document.querySelectorAll('.operations tfoot td[data-exact]')].map((cell) => cell.dataset.exact)";
    let cells: Vec<String> = serde_json::from_value(page.execute(script, &json!([]))).expect("cells");
    cells.iter().map(|cell| cell.parse().expect("an amount")).collect()
}

/// Tiles, comparison, charts, operations with formulas, exports and the link are those of the model that is chosen.
#[test]
fn the_physical_model_counts_in_the_whole_page() {
    use rooflens::bench::run::Run;
    use rooflens::estimate::{Method, Scope};
    use rooflens::model::{ClassTable, Depth, presets};
    use rooflens::report::outcome::{estimated, resolved};
    use rooflens::report::physics::Physics;
    use rooflens::scenario::state::Scenario;

    let scenario = Scenario::example().expect("the example");
    let model = resolved(&scenario.model, presets::builtin(), ClassTable::builtin(), Depth::LAYERS).expect("a model");
    let outcome = estimated(&scenario, model, Scope::PerGpu).expect("an outcome");
    let physics = Physics::of(&outcome, &Run::default()).expect("an answer");
    let cost = physics.per_gpu.cost();
    let physical = vec![cost.flops.0, cost.read.0, cost.write.0];
    let cost = outcome.per_gpu.expect("an estimate").cost();
    let vllm = vec![cost.flops.0, cost.read.0, cost.write.0];

    let page = open();
    assert_eq!(step(&page), vllm);
    page.click("[data-act=physical]");
    page.wait_until("document.querySelector('.tiles').textContent.includes('Step, calibrated')", SOON);
    assert_eq!(step(&page), physical);
    assert!(page.text(".foot").starts_with("FLOPs and bytes are what the hardware has to do"));
    assert!(page.text("[data-chart=bars] h2").eq_ignore_ascii_case("Where it goes, per GPU, physical model"));
    // A formula with its numbers, and where they are from.
    page.click("#unfold");
    let terms = page.text(".operations-table");
    assert!(terms.contains("M·I·a·L = 8224·7168·2·1"), "{terms}");
    assert!(terms.contains("layers of this kind, of config: num_hidden_layers"), "{terms}");
    page.click("#unfold");
    // Beside a scenario of another layout; an edit of what is typed arrives a moment later.
    page.click("#add-scenario");
    page.set_value(".sizes .field:nth-child(1) input", "16");
    let rows = "[...document.querySelectorAll('.compare tbody tr')].map((row) => row.children[0].textContent + row.children[2].textContent.trim())";
    page.wait_until(&format!("{rows}.some((row) => row.startsWith('Step, calibrated') && row.includes('×'))"), SOON);
    page.wait_until(&format!("{rows}.some((row) => row === 'Bound of a stepcommunication')"), SOON);
    assert_eq!(page.accessibility_violations(), [""; 0]);
    // The link shows others the same.
    page.wait_until("location.hash.length > 20", SOON);
    page.click("[data-act=global]");
    page.click("[data-act=gpu]");
    std::thread::sleep(Duration::from_millis(800));
    let address = page.address();
    let tiles = page.text(".tiles");
    let other = Page::open(&address[address.find('#').expect("a fragment")..]);
    other.wait_until("document.querySelector('.tiles')?.textContent.includes('Step, calibrated')", SOON);
    other.click(".tab:nth-child(2)");
    other.wait_until("document.querySelector('.tiles').textContent.includes('communication')", SOON);
    // Memory is said a moment after a scenario is selected.
    other.wait_until(&format!("document.querySelector('.tiles').innerText === {}", json!(tiles)), SOON);
    assert_eq!(rooflens::scenario::state::Comparison::of(scenario).method, Method::Vllm);
    // Back, step by step, to what vLLM counts.
    page.click("[data-act=vllm]");
    page.wait_until("!document.querySelector('.tiles').textContent.includes('Step, calibrated')", SOON);
    page.click("#undo");
    page.wait_until("document.querySelector('.tiles').textContent.includes('Step, calibrated')", SOON);
    assert_eq!(page.console_errors(), [""; 0]);
    assert_eq!(other.console_errors(), [""; 0]);
}

/// Prints how long it takes until the page shows what the physical model counts for eight scenarios, and how long the
/// page itself works on an edit meanwhile: the worker counts, so the page stays as quick.
#[test]
fn eight_scenarios_of_the_physical_model() {
    let page = open();
    let rows: Vec<String> = (1..=40).map(|row| format!("{row}*1@{}", 1024 + 64 * row)).collect();
    page.set_value("#case", &format!("mix={}", rows.join(",")));
    for tp in ["1", "2", "4", "16", "32", "64", "128"] {
        page.click("#add-scenario");
        page.set_value(".sizes .field:nth-child(1) input", tp);
    }
    page.click("[data-act=physical]");
    page.wait_until("document.querySelectorAll('.compare thead th').length === 9", SOON);
    page.wait_until("document.querySelector('.tiles').textContent.includes('Step, calibrated')", SOON);
    let edit = "const [count] = arguments, times = [], busy = [];
        const field = () => document.querySelector('.requests tbody tr:nth-child(3) td:nth-child(3) input');
        const shown = () => document.querySelector('.operations tfoot td[data-exact]:nth-of-type(2)').dataset.exact;
        for (let i = 0; i < count; i++) {
            await new Promise((done) => setTimeout(done, 700));
            const before = shown(), start = performance.now();
            field().value = 4096 + 1000 * (i + 1);
            field().dispatchEvent(new Event('input', {bubbles: true}));
            await new Promise((done) => {
                const look = () => shown() === before ? setTimeout(look, 2) : done();
                look();
            });
            times.push(performance.now() - start);
        }
        return times;";
    let times: Vec<f64> = serde_json::from_value(page.execute_async(edit, &json!([12]))).expect("times");
    println!("speed: eight scenarios of the physical model, an edit to what it counts on the page: {times:.0?} ms");
    let busy = page.measure_edit(
        "const field = document.querySelector('.requests tbody tr:nth-child(3) td:nth-child(3) input');
         field.value = 90000 + i; field.dispatchEvent(new Event('input', {bubbles: true}))",
        40,
    );
    let busy = crate::measure::median(busy.iter().map(|edit| edit.busy));
    println!("speed: eight scenarios of the physical model, an edit to repaint: {busy:.1} ms of work on the page");
    assert_eq!(page.console_errors(), [""; 0]);
}

/// Where nothing answers, the page says so instead of showing what stood there before, and vLLM still counts.
#[test]
fn a_physical_model_that_does_not_load_is_said() {
    use crate::page::Options;
    let broken = "window.Worker = function () { throw new Error('no workers here'); };";
    let page = Page::open_with("", Options { before: Some(broken), ..Options::default() });
    page.wait_until("document.querySelectorAll('.operations tbody').length > 0", SOON);
    page.wait_until("document.querySelector('#physics').textContent.includes('did not load')", SOON);
    page.click("[data-act=physical]");
    page.wait_until(
        "document.querySelector('.notes-region').textContent.includes('it did not load, or has stopped')",
        SOON,
    );
    assert_eq!(page.count(".operations tbody"), 0);
    // Inputs still say what the model is.
    assert!(page.text(".facts-list").contains("61 layers"));
    page.click("[data-act=vllm]");
    page.wait_until("document.querySelectorAll('.operations tbody').length > 0", SOON);
}

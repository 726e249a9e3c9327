use super::selected::example;
use super::*;
use crate::json::Node;
use crate::validation::MEASURED;

const PAGE: &str = include_str!("../../../index.html");

fn opened() -> (Desk, Node) {
    let mut desk = Desk::default();
    desk.facts(include_str!("../../model/classes.json"), include_str!("../../model/presets.json"), MEASURED.to_owned());
    let reply = desk.select(&example(|_| {}), 0, "A TP8").write();
    (desk, reply)
}

fn block(reply: &Node, id: &str) -> Option<String> {
    let blocks = reply.get("blocks")?.items()?;
    let found = blocks.iter().filter_map(Node::items).find(|pair| pair[0].text() == Some(id))?;
    found[1].text().map(str::to_owned)
}

fn blocks(reply: &Node) -> Vec<&str> {
    let blocks = reply.get("blocks").and_then(Node::items).unwrap_or_default();
    blocks.iter().filter_map(|pair| pair.items()?[0].text()).collect()
}

fn items(reply: &Node, key: &str) -> Vec<String> {
    let items = reply.get(key).and_then(Node::items).unwrap_or_default();
    items.iter().filter_map(|node| node.text().map(str::to_owned)).collect()
}

fn fixture(name: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/bench/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn brought(desk: &mut Desk, name: &str, text: &str) -> Node {
    let mut taken = Taken::new(name, text.len() as f64);
    for piece in text.as_bytes().chunks(100) {
        assert!(taken.push(piece));
    }
    desk.begin();
    desk.file(taken).write()
}

#[test]
fn the_page_has_a_place_for_everything_that_is_shown_and_set() {
    let (mut desk, reply) = opened();
    for key in Run::KEYS {
        assert!(PAGE.contains(&format!("data-field=\"{key}\"")), "{key}");
    }
    for id in blocks(&reply) {
        assert!(PAGE.contains(&format!("data-block=\"{id}\"")), "{id}");
    }
    // The measurements are counted when somebody wants to see them.
    assert_eq!(blocks(&reply).len() + 1, PAGE.matches("data-block=").count());
    let asked = desk.act("validation").write();
    assert_eq!(blocks(&asked), ["validation"]);
    assert!(block(&asked, "validation").unwrap().matches("<tr>").count() > 1320);
    assert_eq!(blocks(&desk.act("validation").write()), [""; 0]);
}

#[test]
fn the_command_follows_the_page_and_only_changes_are_sent() {
    let (mut desk, first) = opened();
    assert!(block(&first, "command").unwrap().contains("torchrun --nproc-per-node=8"));
    let jitter = block(&first, "jitter").unwrap();
    assert!(jitter.contains("mix=8192,1@7318,1@8493,1@6877,1@7164,"), "numpy's first draws: {jitter}");
    // The exact batch is the page's own: 8192 fresh and 32 decodes of DeepSeek-V3 on TP8.
    assert!(jitter.contains("<th scope=\"row\">as it is</th><td class=\"n\" title=\""), "{jitter}");
    let exact = desk.select(&example(|comparison| comparison.run.jitter.amount = 0.0), 0, "A TP8").write();
    assert_eq!(block(&exact, "jitter").as_deref(), Some(""));
    assert_eq!(blocks(&exact), ["command", "jitter"]);
    let same = desk.select(&example(|comparison| comparison.run.jitter.amount = 0.0), 0, "A TP8").write();
    assert_eq!(blocks(&same), [""; 0]);
}

#[test]
fn a_drawn_batch_becomes_a_scenario() {
    let (mut desk, _) = opened();
    let added = items(&desk.act("jittered").write(), "scenario");
    assert_eq!(added[0], "as it is drawn");
    assert!(added[1].starts_with("mix=8192,1@7318,"));
}

#[test]
fn a_setting_that_is_none_is_said_and_kept() {
    let (mut desk, _) = opened();
    let wrong = desk.field("kv_len_jitter", "2").write();
    assert!(block(&wrong, "run-problem").unwrap().contains("kv-len-jitter: Found `2`; expected a number from 0 to 1."));
    assert!(wrong.get("set").is_none());
    // An unrelated change of the page leaves what is typed alone.
    let same = desk.select(&example(|_| {}), 0, "A TP8").write().to_compact();
    assert!(!same.contains("[\"kv_len_jitter\","), "{same}");
    let right = desk.field("kv_len_jitter", "0.2").write();
    assert_eq!(block(&right, "run-problem").as_deref(), Some(""));
    assert_eq!(right.get("set").unwrap().to_compact(), r#"[["kv_len_jitter","0.2"]]"#);
}

#[test]
fn a_format_of_some_weights_counts_and_is_said() {
    let (mut desk, stored) = opened();
    assert!(format_options().contains("<option value=\"mxfp4\">mxfp4 · MXFP4</option>"));
    for (key, (modules, name)) in Run::FORMATS.iter().zip(crate::estimate::physical::Modules::ALL) {
        assert_eq!(*key, format!("format_{name}"));
        let field = format!(
            "<label><span>{}</span><select data-field=\"{key}\"><option value=\"\">as stored</option>%formats%</select>",
            modules.title()
        );
        assert!(PAGE.contains(&field), "{field}");
    }
    assert!(!block(&stored, "physical").unwrap().contains("Overridden"));
    let wrong = desk.field("format_experts", "fp5").write();
    let said = block(&wrong, "physical-problem").unwrap();
    assert!(said.contains("format-experts: Found `fp5`; expected no text, or one of none, fp8, "), "{said}");
    let typed = desk.field("format_experts", "mxfp4").write();
    assert_eq!(typed.get("set").unwrap().to_compact(), r#"[["format_experts","mxfp4"]]"#);
    let set =
        desk.select(&example(|comparison| comparison.run.set("format_experts", "mxfp4").unwrap()), 0, "A").write();
    // 58 layers of 256 experts, three matrices of 7168 by an eighth of 2048, 4 bits and 8 more for each 32.
    let bytes: u128 = 58 * 256 * 3 * 7168 * (2048 / 8) * (4 * 32 + 8) / (32 * 8);
    let memory = block(&set, "physical-memory").unwrap();
    assert!(memory.contains(&format!("{} bytes", crate::format::grouped(bytes))), "{memory}");
    let physical = block(&set, "physical").unwrap();
    assert!(
        physical.starts_with("<p class=\"caution\">Overridden: experts as mxfp4, whatever is stored"),
        "{physical}"
    );
    assert!(block(&set, "physical-differ").unwrap().contains("The format of these weights was set"));
    assert!(items(&set, "tile")[1].contains("Overridden: experts as mxfp4"));
    assert!(set.get("values").unwrap().to_compact().contains(r#"["format_experts","mxfp4"]"#));
    let none = desk.select(&example(|comparison| comparison.run.set("format_dense", "none").unwrap()), 0, "A").write();
    assert!(block(&none, "physical").unwrap().contains("Overridden: dense as none, "));
}

#[test]
fn commands_cases_and_shapes_files_are_taken_over() {
    let (mut desk, _) = opened();
    let text = items(&desk.act("copy-command").write(), "copy")[1].clone();
    desk.field("pasted", &text.replace("-size 8", "-size 4").replace("node=8", "node=4"));
    let taken = desk.act("take").write();
    assert_eq!(items(&taken, "cases"), ["mix=8192,32*1@8192"]);
    assert_eq!(
        taken.get("apply").unwrap().to_compact(),
        r#"[["source","deepseek-ai/DeepSeek-V3"],["tp","4"],["pp","1"],["dp","1"],["ep","false"],["quantization","auto"],["kv_cache","auto"],["dtype","auto"]]"#
    );
    let other = desk.field("pasted", "vllm bench forward --model org/other --case 8192").write();
    assert!(block(&other, "pasted").unwrap().contains("No preset is `org/other`"));
    assert!(desk.act("take").write().get("set").unwrap().to_compact().starts_with(r#"[["model","org/other"],"#));
    desk.field("pasted", "a=1@8\n\n b=16*4@4096:3 ");
    assert_eq!(items(&desk.act("take").write(), "cases"), ["a=1@8", "b=16*4@4096:3"]);
    let yaml = items(&desk.act("shapes-yaml").write(), "save")[1].clone();
    desk.text(&yaml);
    assert_eq!(items(&desk.act("take").write(), "cases"), ["mix=8192,32*1@8192"]);
    let wrong = desk.field("pasted", "a=1@8\n1@0").write();
    assert!(block(&wrong, "pasted").unwrap().contains("Line 2: Request 1"));
    assert!(desk.act("take").write().get("cases").is_none());
}

#[test]
fn results_are_held_against_the_selected_scenario() {
    let (mut desk, _) = opened();
    let reply = brought(&mut desk, "/home/me/before.json", &fixture("two-ranks.json"));
    let shown = block(&reply, "results").unwrap();
    assert!(shown.contains("before.json, against A TP8") && !shown.contains("/home/me"), "{shown}");
    assert!(shown.contains("MFU") && shown.contains("unstable timing") || shown.contains("Unstable timing"), "{shown}");
    assert_eq!(block(&reply, "files").as_deref(), Some("<p class=\"done\">before.json was read.</p>"));
    let points = reply.get("points").and_then(Node::items).unwrap();
    assert_eq!(points.len(), 2);
    // The estimate follows the page: half the GPUs, other figures, the same measurement.
    let half = |comparison: &mut crate::scenario::state::Comparison| {
        comparison.edit(0, crate::scenario::state::Section::Layout, |s| s.layout.tp = 4.try_into().unwrap());
    };
    let next = desk.select(&example(half), 0, "A TP4").write();
    assert_ne!(block(&next, "results"), Some(shown));
    brought(&mut desk, "after.json", &fixture("two-ranks.json"));
    let gone = desk.act("drop-result:before.json").write();
    assert!(!block(&gone, "results").unwrap().contains("before.json"));
}

#[test]
fn kernels_are_shown_compared_and_grouped_by_rules() {
    let (mut desk, _) = opened();
    let names = ["decode.rank0.kernels.json", "decode.rank1.kernels.json"];
    let one = brought(&mut desk, names[0], &fixture(names[0]));
    assert!(block(&one, "kernels").unwrap().contains("Kernel time by component"));
    let both = brought(&mut desk, names[1], &fixture(names[1]));
    assert!(block(&both, "kernels").unwrap().contains("A: decode.rank0.kernels.json. B: decode.rank1.kernels.json."));
    let rules = desk.field("rules", "mine: *\n").write();
    assert!(block(&rules, "kernels").unwrap().contains(">mine<"));
    let wrong = desk.field("rules", "nothing\n").write();
    assert!(block(&wrong, "rules-problem").unwrap().contains("Line 1"));
    let usual = desk.act("rules-default").write();
    assert!(!block(&usual, "kernels").unwrap().contains(">mine<"));
}

#[test]
fn metrics_logs_and_steps_are_told_apart() {
    let (mut desk, _) = opened();
    let first = desk.text(&fixture("metrics-first.txt")).write();
    assert!(block(&first, "serving").unwrap().contains("vllm:estimated_flops_per_gpu_total"));
    let both = desk.field("serving-later", &fixture("metrics-second.txt")).write();
    assert!(block(&both, "serving").unwrap().contains("Estimated rates per GPU"));
    let wrong = desk.field("serving-seconds", "soon").write();
    assert!(block(&wrong, "serving").unwrap().contains("The seconds between the pages are `soon`; expected a number."));
    let log = desk.text(&fixture("server.log")).write();
    assert!(block(&log, "serving").unwrap().contains("against A TP8"));
    let step = r#"{"new": [{"num_computed_tokens": 0, "num_tokens": 512}], "cached": [{"num_computed_tokens": 8191, "num_tokens": 1}]}"#;
    desk.text(step);
    assert_eq!(items(&desk.act("step").write(), "scenario"), ["scheduler step", "step=512,1@8192"]);
}

/// A message makes anew only what it can change: making everything anew finds nothing that it left behind.
#[test]
fn nothing_that_a_message_changes_stays_as_it_was() {
    let (mut desk, _) = opened();
    let (results, log) = (fixture("two-ranks.json"), fixture("server.log"));
    let (kernels, step) = (fixture("decode.rank0.kernels.json"), r#"{"new": [], "cached": []}"#);
    let mut check = |name: &str, message: &dyn Fn(&mut Desk) -> Reply| {
        let reply = message(&mut desk).write();
        assert!(reply.get("wrong").is_some(), "{name}");
        let rest = desk.select(&example(|_| {}), 0, "A TP8").write();
        assert_eq!(blocks(&rest), [""; 0], "{name}");
    };
    for text in ["a=1@8", &log, step, &results, &kernels, "hello", "vllm bench forward --model org/x --case 8", ""] {
        check("text", &|desk| desk.text(text));
        for field in ["pasted", "rules", "serving", "serving-later", "serving-seconds", "seed", "price", "other"] {
            check(field, &|desk| desk.field(field, text));
        }
    }
    for act in ["take", "step", "jittered", "swap-kernels", "rules-default", "drop-result:the pasted text", "other"] {
        check(act, &|desk| desk.act(act));
    }
}

#[test]
fn foreign_and_broken_files_change_nothing_but_say_what_was_expected() {
    let (mut desk, _) = opened();
    let good = fixture("two-ranks.json");
    for (name, text) in [
        ("config.json", "{\"model_type\": \"llama\"}"),
        ("cut.json", &good[..good.len() / 2]),
        ("list.json", "[1, 2]"),
        ("cut.kernels.json", "{\"kernels\": [{\"busy_us\": 1"),
        ("cut.trace.json", "{\"traceEvents\": [{"),
        ("words.txt", "hello"),
    ] {
        let reply = brought(&mut desk, name, text);
        assert_eq!(blocks(&reply), ["files"], "{name}");
        let said = block(&reply, "files").unwrap();
        assert!(said.starts_with("<p class=\"problem\">") && said.contains("expected"), "{said}");
    }
    let mut bytes = Taken::new("x.json", 2.0);
    bytes.push(&[0xff, 0xfe]);
    desk.begin();
    assert!(block(&desk.file(bytes).write(), "files").unwrap().contains("byte 1 is not valid"));
    assert!(!Taken::new("large.json", 1e9).push(b"["), "not even read");
}

#[test]
fn what_is_pasted_is_told_apart_at_a_glance() {
    for text in
        ["decode=32*1@8192\n8192", "vllm bench forward --model x", &fixture("two-ranks.json"), &fixture("server.log")]
    {
        assert!(is_for(text), "{text}");
    }
    for text in ["{\"model_type\": \"llama\"}", "hello", "{\"rooflens\": 1, \"scenarios\": []}", "{", ""] {
        assert!(!is_for(text), "{text}");
    }
    assert!(is_named_for("a.trace.json.gz") && !is_named_for("config.json"));
}

#[test]
fn what_the_physical_model_counts_is_answered_alone() {
    let mut desk = Desk::default();
    desk.facts(include_str!("../../model/classes.json"), include_str!("../../model/presets.json"), MEASURED.to_owned());
    let file = example(|comparison| comparison.scope = crate::estimate::Scope::Global);
    let reply = desk.count(&file).write();
    assert_eq!(reply.members().iter().map(|member| member.key.as_str()).collect::<Vec<_>>(), ["answers", "wrong"]);
    let answers = crate::report::answer::read(reply.get("answers").unwrap()).unwrap();
    let answer = answers[0].as_ref().unwrap();
    // The worked example: a prefill of 8,192 tokens and 32 decodes of DeepSeek-V3, whose active parameters but the
    // embedding are 36.6e9: at least two FLOPs for each of them and each token.
    let (tokens, active) = (8224.0, 36.6e9);
    let flops = answer.breakdown.cost().flops.as_f64();
    assert!(flops > 2.0 * tokens * active * 0.95 && flops < 2.0 * tokens * active * 1.6, "{flops:e}");
    // The first selection still says everything.
    assert!(desk.select(&file, 0, "A").write().get("values").is_some());
    // A text that is no comparison changes nothing.
    assert!(desk.count("{").write().get("answers").is_none());
}

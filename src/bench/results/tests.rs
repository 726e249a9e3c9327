use super::against::Against;
use super::compare::compare;
use super::fixtures::{TWO, large, two};
use super::view::{self, Shown, Strip};
use super::warning::{Ranks, warnings};
use super::*;
use crate::estimate::Cost;
use crate::hardware::roofline::Bound;
use crate::hardware::{Precision, find};
use crate::layout::Layout;
use crate::report::Roof;
use crate::units::{Bytes, Flops};
use proptest::prelude::*;
use std::num::NonZeroU32;

fn sentences(measured: &Measured, tp: u32) -> String {
    let layout = Layout { tp: NonZeroU32::new(tp).unwrap(), ..Layout::default() };
    warnings(measured, Some(&layout)).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_file_is_read_whole() {
    let file = two();
    assert_eq!(file.notes, Vec::<String>::new());
    let [decode, hit] = &*file.cases else { panic!("two cases") };
    assert_eq!(decode.case.to_text(), "decode=2*1@8192,4@4096:3");
    assert_eq!((decode.median(), decode.spread_pct()), (Seconds(0.001), Some(0.3)));
    assert_eq!(hit.case.to_text(), "hit=512@5107");
    let rank = &decode.ranks[0];
    assert_eq!((rank.num_tokens, rank.kv_blocks, rank.num_tokens_after_padding), (Some(6), Some(1280), Some(8)));
    assert_eq!((rank.routing.as_deref(), rank.batch_order.as_deref()), (Some("real"), Some("[0,1,2]")));
    assert_eq!(rank.graph_vs_eager.unwrap().relative_rms, Some(0.0012));
    let latency = rank.latency.clone().unwrap();
    assert_eq!((latency.p90, latency.count, latency.samples_us.len()), (Some(1004.0), Some(5), 5));
    let profile = rank.profile.clone().unwrap();
    assert_eq!(
        (profile.span_us, profile.activities, profile.top_kernels[0].calls),
        (Some(980.0), Some(412), Some(64.0))
    );
    // What the second rank does not say is unknown.
    assert_eq!((decode.ranks[1].kv_blocks, &decode.ranks[1].profile), (None, &None));
    assert!(!format!("{file:?}").contains("somebody"));
}

#[test]
fn names_that_the_case_language_cannot_say() {
    for (name, text) in [("a=b", "1@8"), ("", "1@8"), (" x ", "x=1@8"), ("1@4", "1@4=1@8")] {
        let json =
            format!(r#"[{{"case": {name:?}, "requests": [{{"query_len": 1, "kv_len": 8}}], "median_us": 1.5}}]"#);
        let file = read(&json).unwrap();
        assert_eq!((file.cases[0].name.as_str(), file.cases[0].case.to_text().as_str()), (name, text));
        assert!(!file.cases[0].title().is_empty());
    }
}

#[track_caller]
fn fails(text: &str, expected: &str) {
    assert_eq!(read(text).unwrap_err().to_string(), expected);
}

#[test]
fn what_is_no_result_file() {
    fails(" \n", "The file is empty; expected the output of `vllm bench forward --output-json`.");
    fails(
        "[]",
        "The list of cases is empty; expected the output of `vllm bench forward --output-json`, which has one object for each case.",
    );
    fails(
        r#"{"trace": "x", "busy_us": 1.0, "kernels": []}"#,
        "This is a kernel summary (`CASE.rankR.kernels.json`); expected the output of `vllm bench forward --output-json`: a list with an object for each case.",
    );
    fails(
        r#"{"model_type": "llama"}"#,
        "This is a model's config.json; expected the output of `vllm bench forward --output-json`: a list with an object for each case.",
    );
    fails(
        r#"{"cases": [{"name": "a", "requests": []}]}"#,
        "This is a shapes file (for `--shapes`); expected the output of `vllm bench forward --output-json`: a list with an object for each case.",
    );
    fails(
        "[1, {\"a\": 2}]",
        "This is a list, but not of measured cases; expected the output of `vllm bench forward --output-json`: a list with an object for each case.",
    );
    fails(
        "hello",
        "This is another kind of file; expected the output of `vllm bench forward --output-json`: a list with an object for each case.",
    );
}

#[test]
fn errors_name_the_place() {
    let file = |case: &str| format!("[\n{case}\n]");
    fails(
        &file(r#"{"case": "a", "requests": [{"query_len": 1, "kv_len": "x"}], "median_us": 1}"#),
        "At line 2, column 55, `[0].requests[0].kv_len`: found the string \"x\"; expected a whole number, 0 or above, as in the output of `vllm bench forward --output-json`.",
    );
    fails(
        &file(r#"{"case": "a", "requests": [{"query_len": 1, "kv_len": 8}]}"#),
        "At line 2, column 1, `[0]`: found an object without `median_us`; expected `median_us`: the median time in microseconds, as in the output of `vllm bench forward --output-json`.",
    );
    fails(
        &file(r#"{"case": "a", "requests": 3, "median_us": 1}"#),
        "At line 2, column 27, `[0].requests`: found 3; expected a list of requests, as in the output of `vllm bench forward --output-json`.",
    );
    fails(
        r#"[{"case": "a", "requests": ["#,
        "This is no JSON, or not all of it. At line 1, column 29: found the end of the text, expected a value. Expected the output of `vllm bench forward --output-json`.",
    );
    fails(
        &file(r#"{"case": "a", "requests": [{"query_len": 3, "kv_len": 8, "num_draft_tokens": 1}], "median_us": 1}"#),
        "No case of the file can be used. Case `a` (`[0]`) is left out: `[0].requests[0]` is no request of the case language. The query length is 3, with 1 drafts; expected 1 + drafts = 2 new tokens.",
    );
}

#[test]
fn what_cannot_be_used_is_left_out_and_said() {
    let good = r#"{"case": "a", "requests": [{"query_len": 1, "kv_len": 8}], "median_us": 2, "ranks": [{"num_tokens": "six"}, {"num_tokens": []}]}"#;
    let text = format!(
        r#"[{good}, {{"case": "b", "requests": [], "median_us": 1}}, {{"case": "c", "requests": [{{"query_len": 1, "kv_len": 8}}], "median_us": NaN}}]"#
    );
    let file = read(&text).unwrap();
    assert_eq!(file.cases.len(), 1);
    insta::assert_snapshot!(file.notes.join("\n"), @r#"
    Case `b` (`[1]`) is left out: its list of requests is empty; expected at least one.
    Case `c` (`[2]`) is left out: its median_us is NaN; expected a time above 0.
    `num_tokens` counts as unknown: at line 1, column 102, `[0].ranks[0].num_tokens` is the string "six", not a whole number, 0 or above, and once more.
    "#);
}

#[test]
fn warnings_say_what_and_where() {
    let file = two();
    assert_eq!(sentences(&file.cases[0], 2), "");
    // 3600 / 4000 - 1 = -10 %.
    insta::assert_snapshot!(sentences(&file.cases[1], 8), @"
    Unstable timing: samples differ by more than 0.5 % on rank 1 (1.25 %).
    The output holds NaN or infinity on rank 0.
    The captured graph does not give the same output each time on rank 1.
    The median of rank 1 is more than 5 % from the case's (-10.0 %).
    The file has 2 ranks and the layout TP8 has 8 GPUs: estimate and measurement are of different layouts.
    ");
    let text = |which: &[usize]| Ranks { which: which.to_vec(), of: 8 }.to_string();
    assert_eq!(text(&[0, 1, 2, 5, 7]), "ranks 0-2, 5, 7");
    assert_eq!((text(&[3]), text(&[0, 1, 2, 3, 4, 5, 6, 7])), ("rank 3".to_owned(), "all 8 ranks".to_owned()));
}

fn h200() -> Roof {
    Roof::of(find("h200-sxm").unwrap(), Precision::Fp8).unwrap()
}

/// 1.979e12 FLOPs in 10 ms are 197.9 TFLOP/s, a tenth of 1979; 24e9 B in 10 ms are 2.4 TB/s, half of 4.8; they take at
/// least 24e9 / 4800e9 = 5 ms.
#[test]
fn a_time_against_a_roof() {
    let cost = Cost { flops: Flops(1_979_000_000_000), read: Bytes(20_000_000_000), write: Bytes(4_000_000_000) };
    let against = Against::of(Seconds(0.01), cost, Some(&h200())).unwrap();
    let share = against.share.unwrap();
    let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    close(against.computed.0, 197.9e12);
    close(against.moved.0, 2.4e12);
    close(share.mfu, 0.1);
    close(share.mbu, 0.5);
    close(share.bound.0, 0.005);
    close(share.ratio, 2.0);
    assert_eq!((share.limit, against.beaten()), (Bound::Memory, None));
    assert!(Against::of(Seconds(0.004), cost, Some(&h200())).unwrap().beaten().unwrap().contains("KV-cache dtype"));
    assert_eq!(Against::of(Seconds(0.01), cost, None).unwrap().share, None);
    assert_eq!(Against::of(Seconds(0.01), Cost::default(), Some(&h200())).unwrap().share, None);
    for time in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Against::of(Seconds(time), cost, Some(&h200())), None);
    }
}

#[test]
fn two_files_side_by_side() {
    let one = |name: &str, kv: u64, median: f64, spread: &str| {
        format!(
            r#"{{"case": {name:?}, "requests": [{{"query_len": 1, "kv_len": {kv}}}], "median_us": {median}, "ranks": [{{"latency_us": {{{spread}}}}}]}}"#
        )
    };
    let spread = r#""sample_spread_pct": 1"#;
    let file = |cases: &[String]| read(&format!("[{}]", cases.join(","))).unwrap();
    let before = file(&[
        one("a", 8, 1000.0, spread),
        one("b", 8, 1000.0, spread),
        one("c", 8, 1000.0, spread),
        one("gone", 8, 1000.0, spread),
        one("d", 8, 1000.0, spread),
    ]);
    let after = file(&[
        one("new", 8, 5.0, spread),
        one("b", 8, 1014.0, spread),
        one("a", 8, 800.0, spread),
        one("c", 9, 800.0, spread),
        one("d", 8, 1000.0, ""),
    ]);
    // The spreads of b are 10 and 10.14 µs, more than the 14 between them.
    insta::assert_snapshot!(view::compared(&compare(&before, &after)).plain(), @"
    Before and after
    case before after change after / before speed-up remark
    a 1.00 ms 800 µs -200 µs 0.800× 1.25× 
    b 1.00 ms 1.01 ms +14.0 µs 1.01× 0.986× within the spread
    c 1.00 ms 800 µs -200 µs 0.800× 1.25× different requests
    gone 1.00 ms – – – – only before
    d 1.00 ms 1.00 ms 0 s 1.00× 1.00× spread unknown
    new – 5.00 µs – – – only after
    ");
}

#[test]
fn what_is_shown_of_a_case() {
    let file = two();
    let cost = Cost { flops: Flops(197_900_000_000), read: Bytes(2_000_000_000), write: Bytes(400_000_000) };
    let against = Against::of(file.cases[0].median(), cost, Some(&h200())).unwrap();
    let shown =
        Shown { measured: &file.cases[0], warnings: warnings(&file.cases[0], None), against: vec![("vllm", against)] };
    // Bars have no text.
    let text: Vec<String> =
        view::case(&shown).plain().lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    insta::assert_snapshot!(text.join("\n"), @"
    decode
    2*1@8192,4@4096:3
    1.00 ms spread 0.300% MFU 10.0% MBU 50.0% 2.00× the memory bound of the vllm model
    Measured against estimated
    model FLOP/s per GPU B/s per GPU MFU MBU bound measured / bound
    vllm 198 TFLOP/s 2.40 TB/s 10.0% 50.0% 500 µs (memory) 2.00×
    8 samples: least 998 µs, median 1.00 ms, 90 % within 1.01 ms, largest 1.01 ms
    2 ranks
    Ranks of decode
    rank median spread min p90 std tokens padded busy / span graph
    0 1.00 ms 0.200% 998 µs 1.00 ms 2.50 µs 6 8 95.0% 1.2e-3 from eager
    1 (largest spread) 1.00 ms 0.300% – – – 6 – – ok
    ");
    let markup = view::case(&shown).to_markup();
    assert!(markup.contains(r#"title="1000 µs""#) && markup.contains(r#"<tr class="worst">"#), "{markup}");
}

#[test]
fn strips_hold_every_sample() {
    let strip = Strip::of((1..=100).map(f64::from)).unwrap();
    assert_eq!((strip.min, strip.median, strip.p90, strip.max), (1.0, 50.5, 90.0, 100.0));
    assert_eq!((strip.buckets.len(), strip.buckets.iter().sum::<usize>()), (40, 100));
    assert_eq!(Strip::of([2.0, 2.0].into_iter()).unwrap().buckets, [2]);
    assert_eq!(Strip::of([f64::NAN].into_iter()), None);
    assert_eq!(Strip::of([f64::MIN, f64::MAX].into_iter()).unwrap().buckets.iter().sum::<usize>(), 2);
}

/// Prints the time. Without optimisation a tenth of the size will do.
#[test]
fn ten_megabytes_of_64_ranks() {
    let size = if cfg!(debug_assertions) { 1 << 20 } else { 10 << 20 };
    let text = large(size, 64);
    let start = std::time::Instant::now();
    let file = read(&text).unwrap();
    let read = start.elapsed();
    let start = std::time::Instant::now();
    let shown = Shown { measured: &file.cases[0], warnings: warnings(&file.cases[0], None), against: Vec::new() };
    let length = view::case(&shown).to_markup().len();
    println!("{} bytes, 64 ranks: read in {read:?}, shown as {length} bytes in {:?}", text.len(), start.elapsed());
    assert_eq!((file.cases.len(), file.cases[0].ranks.len()), (1, 64));
    assert!(text.len() >= size);
}

proptest! {
    #[test]
    fn no_text_panics(text in r#"[\[\]{}":,0-9a-z_. -]{0,80}|\PC{0,40}"#) {
        let _ = read(&text);
        let _ = kind::FileKind::of(&text);
    }

    #[test]
    fn no_part_of_a_file_panics(cut in 0..TWO.len(), from in 0..TWO.len(), with in r#"[\[\]{}":,0-9eN.-]{0,4}|null|true"#) {
        let mut text = TWO.to_owned();
        let start = from.min(text.len());
        text.replace_range(start..(start + with.len()).min(text.len()), &with);
        for text in [&TWO[..cut], &text] {
            if let Ok(file) = read(text) {
                for case in &file.cases {
                    let shown = Shown { measured: case, warnings: warnings(case, None), against: Vec::new() };
                    let _ = view::case(&shown).plain();
                }
                let _ = compare(&file, &file);
            }
        }
    }

    #[test]
    fn a_cut_file_is_an_error(cut in 1..TWO.trim_end().len()) {
        prop_assert!(read(&TWO[..cut]).is_err());
    }
}

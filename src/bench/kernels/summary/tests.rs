use super::*;
use proptest::prelude::*;

const A: &str = include_str!("../../../../tests/bench/decode.rank0.kernels.json");

#[track_caller]
fn refused(text: &str, message: &str) {
    assert_eq!(Summary::read(text).unwrap_err().to_string(), message);
}

/// A file with one thing replaced.
fn with(old: &str, new: &str) -> String {
    assert!(A.contains(old), "{old}");
    A.replacen(old, new, 1)
}

#[test]
fn a_file_is_read_whole() {
    let summary = Summary::read(A).unwrap();
    assert_eq!((summary.span_us, summary.busy_us, summary.activities), (200.0, 190.5, 12.0));
    assert_eq!((summary.replays, summary.pre_forward_us), (Some(5), Some(3.5)));
    assert_eq!(summary.trace.as_deref(), Some("decode.rank0.trace.json.gz"));
    assert_eq!(summary.overlap(), Some(0.9525));
    let first = &summary.kernels[0];
    assert_eq!((first.name.as_str(), first.us, first.pct, first.calls), ("nvjet_tst_128x64", 100.0, Some(52.5), 4.0));
    assert_eq!(summary.kernels.len(), 6);
}

#[test]
fn what_may_be_missing_is_none() {
    let text = r#"{"span_us": 0, "busy_us": 1.5, "activities": 1, "later": {}, "trace": null,
        "kernels": [{"name": "k", "us": 1, "calls": 1}, {"name": "l", "us": 2.5, "calls": 0.5}]}"#;
    let summary = Summary::read(text).unwrap();
    assert_eq!((&summary.trace, summary.replays, summary.pre_forward_us, summary.overlap()), (&None, None, None, None));
    let names: Vec<_> = summary.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["l", "k"]);
    assert_eq!((summary.kernels[0].pct, &summary.kernels[0].example), (None, &None));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    const NOT: &str = "The file is not a kernel summary of `vllm bench forward --profile-dir`: ";
    let field = |text: String, rest: &str| refused(&text, &format!("{NOT}{rest}"));
    field(
        with("\"us\": 40.0", "\"us\": -40.0"),
        "line 9, column 47: found -40.0 for `kernels[1].us`, expected microseconds, a number of 0 or more.",
    );
    field(
        with("\"us\": 40.0", "\"us\": NaN"),
        "line 9, column 47: found NaN for `kernels[1].us`, expected microseconds, a number of 0 or more.",
    );
    field(
        with("\"us\": 40.0", "\"us\": \"40\""),
        "line 9, column 47: found the string \"40\" for `kernels[1].us`, expected microseconds, a number of 0 or more.",
    );
    field(
        with("\"us\": 40.0, ", ""),
        "line 9, column 5: found nothing for `kernels[1].us`, expected microseconds, a number of 0 or more.",
    );
    field(
        with("\"span_us\": 200.0", "\"span\": 200.0"),
        "line 1, column 1: found nothing for `span_us`, expected microseconds, a number of 0 or more.",
    );
    field(
        with("\"replays\": 5", "\"replays\": 5.5"),
        "line 3, column 14: found 5.5 for `replays`, expected a whole number of 0 or more.",
    );
    field(
        r#"{"kernels": [1]}"#.to_owned(),
        "line 1, column 14: found 1 for `kernels[0]`, expected a kernel, an object with name, us and calls.",
    );
    field(
        r#"{"kernels": {}}"#.to_owned(),
        "line 1, column 13: found an object for `kernels`, expected a list of kernels.",
    );
    field(r#"{"kernels": []"#.to_owned(), "line 1, column 15: found the end of the text, expected `,` or `}`.");
}

#[test]
fn foreign_files_are_named() {
    let foreign = |text: &str, found: &str| {
        refused(
            text,
            &format!("The file is {found}; expected a kernel summary of `vllm bench forward --profile-dir`."),
        );
    };
    foreign(" \n", "empty");
    foreign("{}", "another JSON object, without kernels");
    foreign("[]", "a JSON list");
    foreign("3", "a single JSON value");
    foreign(r#"{"model_type": "llama"}"#, "a model's config");
    foreign(r#"{"cases": []}"#, "a shapes file");
    foreign(r#"{"traceEvents": []}"#, "a Chrome trace (name it .trace.json to have it summarised)");
    foreign(r#"[{"ph": "X"}]"#, "a Chrome trace (name it .trace.json to have it summarised)");
    foreign(r#"[{"case": "a", "median_us": 1}]"#, "a result file of `vllm bench forward --output-json`");
}

#[test]
fn every_truncation_is_an_error() {
    let text = A.trim_end();
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        assert!(Summary::read(&text[..end]).is_err(), "{end}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC*") {
        let _ = Summary::read(&text);
    }

    #[test]
    fn no_mutation_panics_or_brings_a_number_that_is_none(at in 0..A.len(), part in "[0-9eE.\\-\"{}\\[\\],:a-zN]{0,4}") {
        let mut text = A.to_owned();
        text.insert_str(at, &part);
        if let Ok(summary) = Summary::read(&text) {
            let kernels = summary.kernels.iter().flat_map(|kernel| [kernel.us, kernel.calls]);
            for number in kernels.chain([summary.span_us, summary.busy_us, summary.activities]) {
                prop_assert!(number.is_finite() && number >= 0.0);
            }
        }
    }
}

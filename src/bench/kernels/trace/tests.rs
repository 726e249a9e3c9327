use super::*;
use crate::bench::kernels::Origin;
use proptest::prelude::*;

/// A trace with everything around the events that torch's profiler puts there.
const TRACE: &str = include_str!("../../../../tests/bench/step.rank0.trace.json");

fn read(pieces: &[&[u8]]) -> Result<Summary, TraceError> {
    let mut trace = Trace::new();
    for piece in pieces {
        trace.push(piece)?;
    }
    trace.finish()
}

#[track_caller]
fn refused(text: &str, message: &str) {
    assert_eq!(read(&[text.as_bytes()]).unwrap_err().to_string(), message);
    let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
    assert_eq!(read(&bytes).unwrap_err().to_string(), message, "one byte at a time");
}

#[test]
fn activities_of_the_gpu_are_added_up() {
    let summary = read(&[TRACE.as_bytes()]).unwrap();
    assert_eq!((summary.span_us, summary.busy_us, summary.activities), (50.5, 51.0, 5.0));
    assert_eq!((summary.pre_forward_us, summary.replays, summary.origin), (None, None, Origin::Trace));
    let rows: Vec<_> = summary.kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.us, kernel.calls)).collect();
    assert_eq!(
        rows,
        [
            ("void gemm<\"a]}\">(int)", 35.0, 2.0),
            ("ncclDevKernel_AllReduce", 12.5, 1.0),
            ("Memcpy DtoD (Device -> Device)", 3.0, 1.0),
            ("Memset (Device)", 0.5, 1.0),
        ]
    );
    assert_eq!(summary.kernels[0].pct, Some(100.0 * 35.0 / 51.0));
    assert_eq!(summary.kernels[0].example.as_deref(), Some("void gemm<\"a]}\">(int)"));
}

#[test]
fn a_bare_list_is_a_trace_too() {
    let summary =
        read(&[b"\xef\xbb\xbf [{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"k\",\"ts\":-1,\"dur\":2}, ]\n"]).unwrap();
    assert_eq!((summary.span_us, summary.busy_us), (2.0, 2.0));
}

#[test]
fn what_is_no_trace_is_an_error_that_says_so() {
    const IS: &str = "(a trace of torch's profiler is `{\"traceEvents\": [...]}` or a list of events).";
    refused("", "The file is empty; expected a Chrome trace of torch's profiler.");
    refused("hello", &format!("The file is not a Chrome trace: found `h` at byte 1, expected `{{` or `[` {IS}"));
    refused("{\"a\": 1, \"b\": [2]}", "The file is not a Chrome trace: it is a JSON object without `traceEvents`.");
    refused(
        "{\"traceEvents\": 5}",
        &format!("The file is not a Chrome trace: found `5` at byte 17, expected the list of `traceEvents` {IS}"),
    );
    refused(
        "[1]",
        &format!("The file is not a Chrome trace: found `1` at byte 2, expected an event in braces or `]` {IS}"),
    );
    refused(
        "[] x",
        &format!("The file is not a Chrome trace: found `x` at byte 4, expected nothing after the trace {IS}"),
    );
    refused("[{}", "The trace ends early, after 3 bytes; expected its closing brackets.");
    refused("{\"traceEvents\": [{}]", "The trace ends early, after 20 bytes; expected its closing brackets.");
    refused(
        "[{\"ph\": \"X\", \"cat\": \"cpu_op\"}, {}]",
        "The trace has 2 events, but none of the GPU (category kernel, gpu_memcpy or gpu_memset); record it with the \
         profiler's CUDA activities.",
    );
}

#[test]
fn an_event_that_cannot_be_used_is_named() {
    let event = |rest: &str| format!("[{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", {rest}}}]");
    let refused = |rest: &str, reason: &str| {
        refused(&event(rest), &format!("The event at byte 2 of the trace cannot be used: {reason}."));
    };
    refused("\"ts\": 1, \"dur\": -1", "found `-1` for `dur`, expected microseconds, a number of 0 or more");
    refused("\"ts\": 1e300, \"dur\": 1", "found `1e300` for `ts`, expected a time in microseconds");
    refused("\"ts\": 1", "found nothing for `dur`, expected microseconds, a number of 0 or more");
    refused("\"ts\": 1, \"dur\": NaN", "found `NaN` for `dur`, expected microseconds, a number of 0 or more");
}

#[test]
fn sizes_are_limited() {
    let long = "x".repeat(MAX_EVENT);
    assert_eq!(read(&[format!("[{{\"a\": \"{long}\"}}]").as_bytes()]), Err(TraceError::LargeEvent(2)));
    assert_eq!(read(&[b"[{\"a\": \"", long.as_bytes()]), Err(TraceError::LargeEvent(2)));
    let key = read(&[b"{\"", long.as_bytes()]).unwrap_err().to_string();
    assert!(key.contains("a key of more than 1 MiB"), "{key}");
    assert_eq!(Trace::new().limit.0, MAX_TRACE);
    let mut trace = Trace::limited(1000);
    trace.push(&[b' '; 1000]).unwrap();
    assert_eq!(trace.bytes_read(), 1000);
    assert_eq!(trace.push(b" "), Err(TraceError::TooLarge));
    assert_eq!(trace.push(b""), Err(TraceError::TooLarge));
    assert_eq!(trace.finish(), Err(TraceError::TooLarge));
}

#[test]
fn deep_nesting_is_no_danger() {
    let deep = "[".repeat(500_000);
    let end = "]".repeat(500_000);
    let around = format!("{{\"a\": {deep}{end}, \"traceEvents\": []}}");
    assert_eq!(read(&[around.as_bytes()]), Err(TraceError::NoActivities(0)));
    let inside = format!("[{{\"a\": {deep}{end}}}]");
    assert_eq!(read(&[inside.as_bytes()]), Err(TraceError::NoActivities(1)));
    assert!(matches!(read(&["[{".repeat(9).as_bytes()]), Err(TraceError::Truncated(18))));
}

#[test]
fn every_truncation_is_an_error() {
    let text = TRACE.trim_end();
    for end in 0..text.len() {
        assert!(read(&[&text.as_bytes()[..end]]).is_err(), "{end}");
    }
}

proptest! {
    #[test]
    fn the_summary_is_the_same_whatever_the_pieces(mut cuts in prop::collection::vec(0..TRACE.len(), 0..40)) {
        cuts.extend([0, TRACE.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &TRACE.as_bytes()[cut[0]..cut[1]]).collect();
        prop_assert_eq!(read(&pieces), read(&[TRACE.as_bytes()]));
    }

    #[test]
    fn no_damage_panics_and_pieces_do_not_matter(at in 0..TRACE.len(), part in "[0-9eE.\\-\"{}\\[\\],:a-z\\\\ ]{0,3}", cut in 0..TRACE.len()) {
        let mut text = TRACE.as_bytes().to_vec();
        text.splice(at..at, part.into_bytes());
        let (start, end) = text.split_at(cut);
        prop_assert_eq!(read(&[start, end]), read(&[&text]));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..100), text in "[\\[\\]{}\":,a1 ]{0,40}") {
        let _ = read(&[&bytes]);
        let one: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        prop_assert_eq!(read(&one), read(&[text.as_bytes()]));
    }
}

/// The profiler writes what its numbers print as, which JSON does not have.
#[test]
fn bare_words_of_the_profiler_are_no_trouble() {
    let text = r#"[{"ph": "X", "cat": "Memcpy", "name": "a \"inf\" b", "ts": 1, "dur": 2, "args": {"bandwidth (GB/s)": inf,
        "x": [-inf, NaN, -Infinity]}}]"#;
    let mut trace = Trace::new();
    trace.push(text.as_bytes()).unwrap();
    let summary = trace.finish().unwrap();
    assert_eq!((summary.busy_us, summary.kernels[0].name.as_str()), (2.0, "a \"inf\" b"));
}

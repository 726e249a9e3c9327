//! Loading: under any path, from nowhere else, and with words where it fails.

use crate::page::{Options, Page, dist};
use crate::server::SUB_PATH;
use std::time::Duration;

const FAILED: &str = "document.documentElement.dataset.app === 'failed'";

/// Opens the page in a browser where it cannot start, and gives the text that stands there then.
#[track_caller]
fn failure(options: Options) -> String {
    let page = Page::open_with("", options);
    page.wait_until(FAILED, Duration::from_secs(10));
    assert_eq!(page.accessibility_violations(), [""; 0]);
    assert_eq!(page.count("[aria-busy]"), 0);
    page.text("[role=alert]")
}

#[test]
fn loads_under_a_sub_path_and_asks_nobody_else() {
    let page = Page::open("");
    assert_eq!(page.count("#app > .skeleton"), 0, "the app replaces what stood there before it");
    assert_ne!(page.text("#app"), "");
    assert_eq!(page.console_errors(), [""; 0]);
    assert_eq!(page.requests_outside_origin(), [""; 0]);
    let paths = page.server_paths();
    assert!(paths.iter().all(|path| path.starts_with(SUB_PATH)), "{paths:#?}");
    assert!(paths.iter().any(|path| path.ends_with("_bg.wasm")), "{paths:#?}");
    assert!(page.requests().iter().any(|url| url.ends_with("_bg.wasm")), "the log of requests is on");
}

#[test]
fn loads_each_file_once() {
    let page = Page::open("");
    let mut paths = page.server_paths();
    let asked = paths.len();
    paths.sort();
    paths.dedup();
    assert_eq!(asked, paths.len(), "a preload that does not match is a second request: {:#?}", page.server_paths());
}

#[test]
fn says_so_when_a_part_is_missing() {
    let text = failure(Options { missing: &[".wasm"], ..Options::default() });
    assert!(text.contains("could not start"), "{text}");
    let text = failure(Options { before: Some("window.WebAssembly = undefined"), ..Options::default() });
    assert!(text.contains("WebAssembly"), "{text}");
}

#[test]
fn has_words_before_and_without_scripts() {
    let page = Page::open_with("", Options { no_script: true, ..Options::default() });
    let text = page.accessible_text();
    for expected in ["rooflens", "What one forward step of an LLM costs", "JavaScript is off", "Decodes, prefills"] {
        assert!(text.contains(expected), "no {expected:?} in:\n{text}");
    }
}

#[test]
fn allows_no_inline_script() {
    let html = std::fs::read_to_string(dist().join("index.html")).expect("readable");
    let policy =
        html.split("Content-Security-Policy").nth(1).and_then(|rest| rest.split('>').next()).expect("a policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("form-action 'none'"), "{policy}");
    assert!(!policy.contains("script-src 'self' 'unsafe") && !policy.contains("'unsafe-eval'"), "{policy}");

    let page = Page::open("");
    let script = "const made = document.createElement('script');
        made.textContent = 'window.intruder = true';
        document.body.append(made);
        return window.intruder === true;";
    assert_eq!(page.execute(script, &serde_json::json!([])), false);
    assert_eq!(page.console_errors().len(), 1, "the refusal is an error: {:#?}", page.console());
}

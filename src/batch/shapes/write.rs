//! Writing a shapes file: a request a line, only what is not the default, equal neighbours merged.

use crate::batch::case::{Case, Request};

/// The cases as JSON.
#[must_use]
pub fn json(cases: &[Case]) -> String {
    let case = |case: &Case| {
        let requests: Vec<String> = requests(case).map(|request| format!("    {request}")).collect();
        format!("  {{\"name\": {}, \"requests\": [\n{}\n  ]}}", quoted(case), requests.join(",\n"))
    };
    format!("{{\"cases\": [\n{}\n]}}\n", cases.iter().map(case).collect::<Vec<_>>().join(",\n"))
}

/// The cases as YAML, whose strings and flow mappings are those of JSON.
#[must_use]
pub fn yaml(cases: &[Case]) -> String {
    let case = |case: &Case| {
        let requests: Vec<String> = requests(case).map(|request| format!("      - {request}\n")).collect();
        format!("  - name: {}\n    requests:\n{}", quoted(case), requests.concat())
    };
    format!("cases:\n{}", cases.iter().map(case).collect::<String>())
}

fn quoted(case: &Case) -> String {
    crate::json::build::text(case.name()).to_compact()
}

fn requests(case: &Case) -> impl Iterator<Item = String> {
    case.compress().requests().iter().map(request).collect::<Vec<_>>().into_iter()
}

fn request(request: &Request) -> String {
    let mut keys = vec![format!("\"query_len\": {}, \"kv_len\": {}", request.query(), request.kv())];
    if request.drafts() > 0 {
        keys.push(format!("\"num_draft_tokens\": {}", request.drafts()));
    }
    if request.chunked() {
        keys.push("\"chunked\": true".to_owned());
    }
    if request.count() != 1 {
        keys.push(format!("\"count\": {}", request.count()));
    }
    format!("{{{}}}", keys.join(", "))
}

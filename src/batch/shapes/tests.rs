use super::*;
use crate::batch::case::{Case, Request};
use proptest::prelude::*;

fn cases(texts: &[&str]) -> Vec<Case> {
    texts.iter().map(|text| Case::parse(text).unwrap()).collect()
}

const FILE: &str = r#"{"cases": [
  {"name": "mix", "requests": [
    {"query_len": 8192, "kv_len": 8192},
    {"query_len": 1, "kv_len": 8192, "count": 32}
  ]},
  {"name": "a \"b\": c", "requests": [
    {"query_len": 4, "kv_len": 4096, "num_draft_tokens": 3, "count": 16},
    {"query_len": 8192, "kv_len": 40960, "chunked": true}
  ]}
]}
"#;

#[test]
fn files_are_written_and_read() {
    let cases = cases(&["mix=8192,16*1@8192,16*1@8192", "a \"b\": c=16*4@4096:3,8192@40960c"]);
    assert_eq!(json(&cases), FILE);
    insta::assert_snapshot!(yaml(&cases), @r#"
    cases:
      - name: "mix"
        requests:
          - {"query_len": 8192, "kv_len": 8192}
          - {"query_len": 1, "kv_len": 8192, "count": 32}
      - name: "a \"b\": c"
        requests:
          - {"query_len": 4, "kv_len": 4096, "num_draft_tokens": 3, "count": 16}
          - {"query_len": 8192, "kv_len": 40960, "chunked": true}
    "#);
    let merged: Vec<Case> = cases.iter().map(Case::compress).collect();
    assert_eq!(read(&json(&cases)), Ok(merged.clone()));
    assert_eq!(read(&yaml(&cases)), Ok(merged));
}

#[test]
fn yaml_as_people_write_it() {
    let text = "cases:\n- name: verify # speculative\n  requests:\n  - query_len: 4\n    kv_len: 4096\n    num_draft_tokens: 3\n    count: 16\n";
    assert_eq!(read(text), Ok(cases(&["verify=16*4@4096:3"])));
}

#[test]
fn every_error_names_the_case_and_the_request() {
    let changes = [
        ("\"mix\"", "12"),
        ("\"name\": \"mix\", ", ""),
        ("\"query_len\": 1,", "\"query_len\": \"1\","),
        ("\"query_len\": 1,", "\"query_len\": 1.5,"),
        ("\"query_len\": 1,", "\"query_len\": -1,"),
        ("\"query_len\": 1,", "\"query_len\": 0,"),
        ("\"query_len\": 1,", ""),
        ("\"count\": 32", "\"counts\": 32"),
        ("\"count\": 32", "\"count\": 32, \"count\": 1"),
        ("\"count\": 32", "\"count\": 0"),
        ("\"chunked\": true", "\"chunked\": 1"),
        ("\"num_draft_tokens\": 3", "\"num_draft_tokens\": 2"),
        ("\"mix\"", "\"m=x\""),
        ("{\"cases\"", "{\"case\""),
        ("\"count\": 32}", "\"count\": 32"),
    ];
    let errors = changes.map(|(from, to)| {
        let text = FILE.replacen(from, to, 1);
        assert_ne!(text, FILE, "{from}");
        read(&text).unwrap_err().to_string()
    });
    insta::assert_snapshot!(errors.join("\n"), @r#"
    The shapes file, line 2, column 12, case 1, `name`: found 12; expected a string.
    The shapes file, line 2, column 3, case 1: found no such key; expected the key `name`.
    The shapes file, line 4, column 19, case 1 (`mix`), request 2, `query_len`: found the string "1"; expected a whole number.
    The shapes file, line 4, column 19, case 1 (`mix`), request 2, `query_len`: found 1.5; expected a whole number.
    The shapes file, line 4, column 19, case 1 (`mix`), request 2, `query_len`: found -1; expected a whole number.
    The shapes file, line 4, column 5, case 1 (`mix`), request 2: found no valid request; expected one that is: The query length is 0; expected at least 1 new token.
    The shapes file, line 4, column 5, case 1 (`mix`), request 2: found no such key; expected the key `query_len`.
    The shapes file, line 4, column 38, case 1 (`mix`), request 2: found the key `counts`; expected only the keys `query_len`, `kv_len`, `num_draft_tokens`, `chunked`, `count`, each once.
    The shapes file, line 4, column 51, case 1 (`mix`), request 2: found the key `count` again; expected only the keys `query_len`, `kv_len`, `num_draft_tokens`, `chunked`, `count`, each once.
    The shapes file, line 4, column 5, case 1 (`mix`), request 2: found no valid request; expected one that is: The number of requests is 0; expected at least 1.
    The shapes file, line 8, column 53, case 2 (`a "b": c`), request 2, `chunked`: found 1; expected true or false.
    The shapes file, line 7, column 5, case 2 (`a "b": c`), request 1: found no valid request; expected one that is: The query length is 4, with 2 drafts; expected 1 + drafts = 3 new tokens.
    The shapes file, line 2, column 3, case 1 (`m=x`): found no valid case; expected one that is: The name has a `=` in it, which would end it; expected a name without.
    The shapes file, line 1, column 2, the file: found the key `case`; expected only the keys `cases`, each once.
    The shapes file is no JSON: line 5, column 3: found `]`, expected `,` or `}`.
    "#);
    let others =
        ["{\"cases\": []}", "cases: 4", "[1]", "", "a: [1", "{\"cases\": [{\"name\": \"a\", \"requests\": []}]}"];
    let errors = others.map(|text| read(text).unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"), @r"
    The shapes file, line 1, column 1, `cases`: found 0 cases; expected 1 to 4096.
    The shapes file, line 1, column 8, `cases`: found 4; expected a list of cases.
    The shapes file, line 1, column 1, the file: found a list of 1; expected an object with `cases`.
    The shapes file, line 1, column 1, the file: found null; expected an object with `cases`.
    The shapes file is neither JSON nor YAML: line 2, column 1: while parsing a flow sequence, expected ',' or ']'.
    The shapes file, line 1, column 12, case 1 (`a`): found no valid case; expected one that is: There are no requests; expected at least one, such as `32*1@8192`.
    ");
}

proptest! {
    #[test]
    fn what_is_written_reads_back(
        name in "[^=]{1,12}",
        parts in proptest::collection::vec((1..99_u64, 1..9_u64, 0..9999_u64, 0..4_u64, any::<bool>()), 1..6),
    ) {
        let request = |(count, query, prefix, drafts, chunked)| {
            let query = if drafts > 0 { drafts + 1 } else { query };
            Request::new(count, query, query + prefix, drafts, chunked).ok()
        };
        if let Ok(case) = Case::new(&name, parts.into_iter().filter_map(request).collect()) {
            let cases = vec![case.compress()];
            prop_assert_eq!(read(&json(&cases)), Ok(cases.clone()));
            prop_assert_eq!(read(&yaml(&cases)), Ok(cases));
        }
    }

    #[test]
    fn no_text_panics(cut in 0..FILE.len(), text in r#"[\[\]{}:," a-z0-9\n-]{0,8}"#) {
        let _ = read(&text);
        if let (Some(before), Some(after)) = (FILE.get(..cut), FILE.get(cut + 1..)) {
            let _ = (read(before), read(&[before, &text, after].concat()));
        }
    }
}

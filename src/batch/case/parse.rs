//! Reading a case, as strictly as vLLM does.

use std::ops::Range;

use super::scan::{Part, Scanner};
use super::{Case, CaseError, Item, Problem, Request, Span, suggest};

/// See [`Case::parse`].
pub(super) fn case(text: &str) -> Result<Case, CaseError> {
    let whole = |problem, part| CaseError { problem, item: None, span: Span::of(text, part) };
    let (name, body) = text.split_once('=').unwrap_or((text, text));
    if text.trim().is_empty() {
        return Err(whole(Problem::Empty, 0..text.len()));
    }
    if name.trim().is_empty() {
        return Err(whole(Problem::EmptyName, 0..name.len()));
    }
    if body.trim().is_empty() {
        return Err(whole(Problem::NoRequests, text.len() - body.len()..text.len()));
    }
    let mut start = text.len() - body.len();
    let mut requests = Vec::new();
    for (index, item) in (1..).zip(body.split(',')) {
        let read = request(item.trim()).map_err(|(problem, part)| {
            let lead = start + item.len() - item.trim_start().len();
            let span = |part: Range<usize>| Span::of(text, lead + part.start..lead + part.end);
            let item = item.trim();
            let place = Item { index, text: item.to_owned(), span: span(0..item.len()) };
            CaseError { problem, item: Some(Box::new(place)), span: span(part) }
        });
        requests.push(read?);
        start += item.len() + 1;
    }
    Ok(Case { name: name.trim().to_owned(), requests })
}

/// Reads an item; an error comes with the part of it that is wrong, in bytes.
fn request(item: &str) -> Result<Request, (Problem, Range<usize>)> {
    if item.is_empty() {
        return Err((Problem::EmptyItem, 0..0));
    }
    let mut scanner = Scanner::new(item);
    let Some(parts) = scanner.parts() else {
        let problem = Problem::Syntax { found: scanner.rest().to_owned(), meant: suggest::item(item) };
        return Err((problem, scanner.at()..item.len()));
    };
    let number = |part: &Option<Part>, default| part.as_ref().map_or(default, |part| part.number);
    let query = parts.query.number;
    Request::new(
        number(&parts.count, 1),
        query,
        number(&parts.kv, query),
        number(&parts.drafts, 0),
        parts.chunked.is_some(),
    )
    .map_err(|error| {
        let part = parts.of(error);
        (error.into(), part.map_or(0..item.len(), |part| part.bytes.clone()))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{LARGEST_COUNT, LARGEST_TOKENS};
    use super::*;

    #[track_caller]
    fn reads(text: &str, name: &str, body: &str) {
        let case = Case::parse(text).unwrap();
        assert_eq!((case.name(), case.body().as_str()), (name, body));
    }

    #[test]
    fn names_spaces_and_what_goes_without_saying() {
        reads("decode=32*1@8192", "decode", "32*1@8192");
        reads("verify=16*4@4096:3", "verify", "16*4@4096:3");
        reads("chunk=8192@40960c", "chunk", "8192@40960c");
        reads("mix=8192,32*1@8192", "mix", "8192,32*1@8192");
        reads(" a b = 1*7@7:0 ,\t2 ", "a b", "7,2");
        reads(" 1*1@8:0 ", "1*1@8:0", "1@8");
        reads("007@0010", "007@0010", "7@10");
    }

    /// The text, the carets under it, and the message.
    fn report(text: &str) -> String {
        let error = Case::parse(text).unwrap_err();
        format!("{text}\n{}\n{error}\n", error.span.carets())
    }

    #[test]
    fn every_invalid_form_has_its_message_and_place() {
        let texts = [
            "",
            "=1",
            "a=",
            "1,,2",
            "a=1, ",
            "1@128k",
            "2x1@8Ki",
            "a=b=1",
            "1 2",
            "1@",
            "5@8c:0x",
            "é,1",
            "0*1",
            "0@5",
            "7@5",
            "4@4096:2",
            "4:3",
            "1@8192c",
            "4@4096c:3",
            "8c",
            "1000000001*1",
            "1@9007199254740993",
            "99999999999999999999999",
        ];
        insta::assert_snapshot!(texts.map(report).join("\n"), @r#"

        ^
        The case is empty; expected requests such as `32*1@8192`.

        =1
        ^
        The name is empty; expected one before `=`, or the requests alone.

        a=
          ^
        There are no requests; expected at least one, such as `32*1@8192`.

        1,,2
          ^
        Request 2: Nothing stands there; expected a request on either side of a comma.

        a=1, 
             ^
        Request 2: Nothing stands there; expected a request on either side of a comma.

        1@128k
             ^
        Request 1, `1@128k`: Found `k`; expected [N*]Q[@K][c][:D] with plain whole numbers; did you mean `1@128000`?

        2x1@8Ki
         ^^^^^^
        Request 1, `2x1@8Ki`: Found `x1@8Ki`; expected [N*]Q[@K][c][:D] with plain whole numbers; did you mean `2*1@8192`?

        a=b=1
          ^^^
        Request 1, `b=1`: Found `b=1`; expected [N*]Q[@K][c][:D] with plain whole numbers.

        1 2
         ^^
        Request 1, `1 2`: Found ` 2`; expected [N*]Q[@K][c][:D] with plain whole numbers.

        1@
          ^
        Request 1, `1@`: Found no more text; expected [N*]Q[@K][c][:D] with plain whole numbers.

        5@8c:0x
              ^
        Request 1, `5@8c:0x`: Found `x`; expected [N*]Q[@K][c][:D] with plain whole numbers.

        é,1
        ^
        Request 1, `é`: Found `é`; expected [N*]Q[@K][c][:D] with plain whole numbers.

        0*1
        ^
        Request 1, `0*1`: The number of requests is 0; expected at least 1.

        0@5
        ^
        Request 1, `0@5`: The query length is 0; expected at least 1 new token.

        7@5
          ^
        Request 1, `7@5`: The KV length 5 is shorter than the 7 new tokens that it includes; expected at least 7.

        4@4096:2
               ^
        Request 1, `4@4096:2`: The query length is 4, with 2 drafts; expected 1 + drafts = 3 new tokens.

        4:3
          ^
        Request 1, `4:3`: Drafts are verified behind a cached prefix, and there is none; expected a KV length above 4.

        1@8192c
              ^
        Request 1, `1@8192c`: `c` is for a prefill, and this is a decode; expected no `c`.

        4@4096c:3
              ^
        Request 1, `4@4096c:3`: `c` is for a prefill, and this is a verify; expected no `c`.

        8c
         ^
        Request 1, `8c`: `c` marks a prefix as computed in chunks, and there is none; expected a KV length above 8, or no `c`.

        1000000001*1
        ^^^^^^^^^^
        Request 1, `1000000001*1`: The number of requests is too large; expected at most 1000000000.

        1@9007199254740993
          ^^^^^^^^^^^^^^^^
        Request 1, `1@9007199254740993`: The KV length is too large; expected at most 9007199254740992.

        99999999999999999999999
        ^^^^^^^^^^^^^^^^^^^^^^^
        Request 1, `99999999999999999999999`: The query length is too large; expected at most 9007199254740992.
        "#);
    }

    fn requests() -> impl Strategy<Value = Request> {
        let numbers = (1..=LARGEST_COUNT, 1..=LARGEST_TOKENS, 0..=LARGEST_TOKENS, 0..8_u64, any::<bool>());
        numbers.prop_filter_map("not a request", |(count, query, prefix, drafts, chunked)| {
            // Small queries and counts too, so that all kinds come up.
            let query = if drafts > 0 { drafts + 1 } else { query >> (query % 54) };
            Request::new(count >> (count % 30), query, query.saturating_add(prefix), drafts, chunked).ok()
        })
    }

    proptest! {
        #[test]
        fn what_a_case_prints_reads_back(
            name in "[^=]{1,12}",
            requests in proptest::collection::vec(requests(), 1..6),
        ) {
            let unnamed = Case::unnamed(requests.clone()).unwrap();
            prop_assert_eq!(Case::parse(&unnamed.to_text()), Ok(unnamed));
            if let Ok(case) = Case::new(&name, requests) {
                prop_assert_eq!(Case::parse(&case.to_text()), Ok(case.clone()));
                let short = case.compress();
                prop_assert_eq!(short.totals(), case.totals());
                prop_assert_eq!(Case::parse(&short.to_text()), Ok(short));
            }
        }

        #[test]
        fn no_text_panics_and_every_correction_helps(text in r"\PC*|[0-9=*@:,ckKix× ]{0,40}") {
            if let Err(error) = Case::parse(&text) {
                prop_assert!(text.get(error.span.bytes.clone()).is_some());
                prop_assert!(!error.to_string().is_empty());
                if let Some(better) = error.corrected(&text) {
                    let next = Case::parse(&better).err().and_then(|error| error.item);
                    prop_assert!(next.is_none_or(|next| Some(next.index) > error.item.map(|item| item.index)));
                }
            }
        }
    }
}

//! Guessing at what was meant by an item that the grammar refuses.

use super::Request;
use crate::batch::count::parse_count;

/// The item as it would be right: numbers as people type them, spaces, `x` or `×` for `*`, the mark `c` at the end or as
/// a capital. Only a guess that is valid counts.
pub(super) fn item(item: &str) -> Option<String> {
    let (count, rest) = match item.split_once(['*', 'x', 'X', '×']) {
        Some((count, rest)) => (parse_count(count).ok()?, rest),
        None => (1, item),
    };
    let (rest, last) = without_mark(rest);
    let (rest, drafts) = match rest.split_once(':') {
        Some((rest, drafts)) => (rest, parse_count(drafts).ok()?),
        None => (rest, 0),
    };
    let (rest, middle) = without_mark(rest);
    let (query, kv) = match rest.split_once('@') {
        Some((query, kv)) => (parse_count(query).ok()?, Some(parse_count(kv).ok()?)),
        None => (parse_count(rest).ok()?, None),
    };
    let request = Request::new(count, query, kv.unwrap_or(query), drafts, last || middle).ok()?;
    Some(request.to_string())
}

fn without_mark(text: &str) -> (&str, bool) {
    let text = text.trim();
    text.strip_suffix(['c', 'C']).map_or((text, false), |rest| (rest, true))
}

#[cfg(test)]
mod tests {
    use super::super::Case;

    #[track_caller]
    fn suggests(text: &str, expected: Option<&str>) {
        let error = Case::parse(text).unwrap_err();
        assert_eq!(error.corrected(text).as_deref(), expected);
    }

    #[test]
    fn a_correction_replaces_only_the_item() {
        suggests("a=1@4, 32 × 1@128k ,2", Some("a=1@4, 32*1@128000 ,2"));
        suggests("4k @ 8Ki C", Some("4000@8192c"));
        suggests("4@4096:3 c", None);
        suggests("8@4096:0c", Some("8@4096c"));
        suggests("9k@8k", None);
        suggests("1 2", None);
        suggests("4:3", None);
    }
}

use super::*;
use proptest::prelude::*;

#[track_caller]
fn value(text: &str) -> Value {
    parse(text).unwrap().root.value
}

#[track_caller]
fn refused(text: &str, message: &str, excerpt: &str) {
    let error = parse(text).unwrap_err();
    assert_eq!(error.to_string(), message);
    assert_eq!(error.excerpt(), excerpt);
}

#[track_caller]
fn repaired(text: &str, repairs: &[Repair]) {
    let document = parse(text).unwrap();
    assert_eq!(document.repairs, repairs);
    assert_eq!(document.root.get("a").map(|node| &node.value), Some(&Value::Int(1)));
}

#[test]
fn numbers_are_exact_integers_or_floats() {
    assert_eq!(value("18446744073709551616"), Value::Int(1 << 64));
    assert_eq!(value("-0"), Value::Int(0));
    assert_eq!(value("8.0"), Value::Float(8.0));
    assert_eq!(value("1e3"), Value::Float(1000.0));
    assert_eq!(value(&"9".repeat(60)), Value::Float(1e60));
    assert_eq!(value("-Infinity"), Value::Float(f64::NEG_INFINITY));
    assert!(matches!(value("NaN"), Value::Float(x) if x.is_nan()));
    assert_eq!(value("1e999"), Value::Float(f64::INFINITY));
}

#[test]
fn strings_and_escapes() {
    assert_eq!(value(r#""a\n\u00e9\ud83d\ude00\ud83d""#), Value::Text("a\né😀\u{fffd}".to_owned()));
}

#[test]
fn the_last_of_equal_keys_counts() {
    assert_eq!(parse(r#"{"a": 1, "a": 2}"#).unwrap().root.get("a").unwrap().value, Value::Int(2));
}

#[test]
fn spans_point_at_values() {
    let text = "{\n  \"a\": [1, 22]\n}";
    let document = parse(text).unwrap();
    let second = &document.root.get("a").unwrap().items().unwrap()[1];
    assert_eq!(&text[second.span.start..second.span.end], "22");
    assert_eq!(Position::of(text, second.span.start), Position { line: 2, column: 12 });
}

#[test]
fn what_people_paste_by_mistake_is_read_with_a_note() {
    repaired("\u{feff}{\"a\":1}", &[Repair::ByteOrderMark]);
    repaired("{\"a\":1,}", &[Repair::TrailingComma]);
    repaired("{\"a\":1, \"b\": [1,],}", &[Repair::TrailingComma]);
    repaired("// x\n{/* y */\"a\"/**/:1}//", &[Repair::Comment]);
    repaired("```json\n{\"a\":1}\n```\n", &[Repair::Fence]);
    repaired("  {\u{a0}\"a\": 1}\r\n", &[]);
}

#[test]
fn errors_name_line_column_and_show_the_line() {
    refused(
        "{\n  \"hidden_size\": 4096\n  \"num_hidden_layers\": 32\n}",
        "line 3, column 3: found `\"`, expected `,` or `}`",
        "  \"num_hidden_layers\": 32\n  ^",
    );
    refused(
        "{\"a\": true.}",
        "line 1, column 11: found `.`, expected `,` or a closing bracket",
        "{\"a\": true.}\n          ^",
    );
    refused("{'a': 1}", "line 1, column 2: found `'`, expected a key in double quotes or `}`", "{'a': 1}\n ^");
    refused(
        "{\"a\": True}",
        "line 1, column 7: found `True`, expected a value (Python's literals: JSON writes true, false, null)",
        "{\"a\": True}\n      ^",
    );
    refused(
        "  ",
        "line 1, column 3: found the end of the text, expected a JSON object such as a model's config.json",
        "  \n  ^",
    );
    refused(
        "{\"a\": \"x",
        "line 1, column 7: found a string that does not end, expected a closing `\"`",
        "{\"a\": \"x\n      ^",
    );
    refused(
        "{\"a\": 01}",
        "line 1, column 7: found `01`, expected a number without leading zeros",
        "{\"a\": 01}\n      ^",
    );
    refused("{} x", "line 1, column 4: found `x`, expected nothing after the JSON value", "{} x\n   ^");
    refused("/* x", "line 1, column 1: found a comment that does not end, expected `*/`", "/* x\n^");
}

#[test]
fn a_long_line_is_cut_around_the_place() {
    let text = format!("{{\"a\": \"{}\" !, \"b\": \"{}\"}}", "x".repeat(500), "y".repeat(500));
    let error = parse(&text).unwrap_err();
    assert_eq!(error.at, Position { line: 1, column: 510 });
    let excerpt = error.excerpt();
    let (line, caret) = excerpt.split_once('\n').unwrap();
    assert_eq!(line.chars().nth(caret.len() - 1), Some('!'));
    assert!(line.chars().count() < 110);
}

#[test]
fn deep_nesting_and_huge_texts_are_errors() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let text = open.repeat(10_000) + "1" + &close.repeat(10_000);
        assert!(
            parse(&text)
                .unwrap_err()
                .to_string()
                .ends_with("found one more level of nesting, expected at most 128 levels")
        );
    }
    assert!(parse(&"[".repeat(128)).unwrap_err().to_string().contains("the end of the text"));
    assert!(parse(&" ".repeat(MAX_BYTES + 1)).unwrap_err().to_string().contains("at most 10 MiB"));
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC*") {
        let _ = parse(&text);
    }

    #[test]
    fn no_jsonish_text_panics(text in "[\\[\\]{}\",:/*\\\\utrefalsn0-9.eE+\u{feff}`\n -]{0,60}") {
        if let Err(error) = parse(&text) {
            prop_assert!(error.excerpt().lines().count() <= 2);
        }
    }

    #[test]
    fn what_serde_writes_is_read_back(numbers in prop::collection::vec(any::<i64>(), 0..8), text in ".*") {
        let written = serde_json::to_string(&(numbers.clone(), text.clone())).unwrap();
        let root = parse(&written).unwrap().root;
        let items = root.items().unwrap();
        let read: Vec<_> = items[0].items().unwrap().iter().map(|node| node.value.clone()).collect();
        prop_assert_eq!(read, numbers.into_iter().map(|n| Value::Int(n.into())).collect::<Vec<_>>());
        prop_assert_eq!(items[1].text(), Some(text.as_str()));
    }
}

/// A value without its places.
fn bare(value: &Value) -> String {
    match value {
        Value::List(items) => format!("[{}]", items.iter().map(|i| bare(&i.value)).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let members = members.iter().map(|m| format!("{:?}:{}", m.key, bare(&m.node.value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        value => format!("{value:?}"),
    }
}

#[test]
fn printed_values_read_back_the_same() {
    for preset in crate::model::presets::builtin() {
        let text = preset.config.root.to_text();
        assert_eq!(bare(&parse(&text).unwrap().root.value), bare(&preset.config.root.value), "{}", preset.id);
    }
    for preset in crate::model::presets::builtin() {
        let text = preset.config.root.to_compact();
        assert_eq!(bare(&parse(&text).unwrap().root.value), bare(&preset.config.root.value), "{}", preset.id);
    }
    let odd = r#"{"a": [], "b": {}, "c": [1, [2, {"d": null}]], "e\n\u0001\"\\": [8.0, 1e300, NaN, -Infinity, true]}"#;
    let node = parse(odd).unwrap().root;
    assert_eq!(bare(&parse(&node.to_text()).unwrap().root.value), bare(&node.value));
    assert_eq!(
        node.to_compact(),
        r#"{"a":[],"b":{},"c":[1,[2,{"d":null}]],"e\n\u0001\"\\":[8.0,1e300,NaN,-Infinity,true]}"#
    );
    assert_eq!(
        parse(r#"{"a":[1,2],"b":{"c":"x"}}"#).unwrap().root.to_text(),
        "{\n  \"a\": [1, 2],\n  \"b\": {\n    \"c\": \"x\"\n  }\n}"
    );
}

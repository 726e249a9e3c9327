//! YAML as the same values with positions that JSON is read into.
//!
//! `saphyr-parser` does the parsing (YAML 1.2); here its events become a tree. Plain scalars follow the core schema, and
//! `yes`, `no`, `on` and `off` are true and false too, as `PyYAML` has them. Aliases repeat what they name, up to
//! [`MOST_NODES`] values in all; a second document, a key that is no text and nesting beyond the JSON reader's are errors.

use crate::json::{MAX_DEPTH, Member, Node, Position, Span, Value};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

/// The most values that a text may stand for, aliases written out.
pub const MOST_NODES: usize = 1 << 20;

/// The text could not be read as YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {problem}")]
pub struct YamlError {
    /// Where.
    pub at: Position,
    /// What is wrong there, in words.
    pub problem: String,
}

/// Reads the one document of a text.
///
/// # Errors
/// The first thing that is no YAML, or none of what this reader takes, with its place.
pub fn parse(text: &str) -> Result<Node, YamlError> {
    let mut tree = Tree { offsets: Offsets { text, chars: 0, bytes: 0 }, ..Tree::default() };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| at(error.marker(), error.info()))?;
        tree.take(event, &span).map_err(|problem| at(&span.start, problem))?;
    }
    Ok(tree.root.unwrap_or_else(|| bare(Value::Null)))
}

fn at(marker: &Marker, problem: &str) -> YamlError {
    YamlError { at: Position { line: marker.line(), column: marker.col() + 1 }, problem: problem.to_owned() }
}

fn bare(value: Value) -> Node {
    Node { value, span: Span::default() }
}

/// Byte offsets of the parser's character offsets, which mostly grow.
#[derive(Default)]
struct Offsets<'a> {
    text: &'a str,
    chars: usize,
    bytes: usize,
}

impl Offsets<'_> {
    fn of(&mut self, chars: usize) -> usize {
        if chars < self.chars {
            (self.chars, self.bytes) = (0, 0);
        }
        let rest = self.text.get(self.bytes..).unwrap_or_default();
        self.bytes += rest.chars().take(chars - self.chars).map(char::len_utf8).sum::<usize>();
        self.chars = chars;
        self.bytes
    }
}

/// A list or an object that is not at its end yet.
struct Open {
    node: Node,
    anchor: usize,
    key: Option<(String, Span)>,
}

#[derive(Default)]
struct Tree<'a> {
    offsets: Offsets<'a>,
    open: Vec<Open>,
    anchors: Vec<(usize, Node)>,
    nodes: usize,
    root: Option<Node>,
}

impl Tree<'_> {
    fn take(&mut self, event: Event<'_>, span: &saphyr_parser::Span) -> Result<(), &'static str> {
        let start = self.offsets.of(span.start.index());
        let place = Span { start, end: self.offsets.of(span.end.index()) };
        match event {
            Event::DocumentStart(_) if self.root.is_some() => Err("a second document begins; expected one"),
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = style != ScalarStyle::Plain || tag.is_some_and(|tag| tag.suffix == "str");
                let value = if is_text { Value::Text(text.into_owned()) } else { plain(&text) };
                self.put(Node { value, span: place }, anchor)
            }
            Event::SequenceStart(anchor, _) => self.begin(Value::List(Vec::new()), place, anchor),
            Event::MappingStart(anchor, _) => self.begin(Value::Object(Vec::new()), place, anchor),
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(mut open) = self.open.pop() else { return Ok(()) };
                open.node.span.end = place.end;
                self.put(open.node, open.anchor)
            }
            Event::Alias(anchor) => {
                let known = self.anchors.iter().rev().find(|(known, _)| *known == anchor);
                let node =
                    known.map(|(_, node)| node.clone()).ok_or("an alias of something that is not at its end yet")?;
                self.nodes = self.nodes.saturating_add(size(&node));
                self.put(node, 0)
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, value: Value, span: Span, anchor: usize) -> Result<(), &'static str> {
        self.open.push(Open { node: Node { value, span }, anchor, key: None });
        if self.open.len() > MAX_DEPTH { Err("more levels of nesting than are read") } else { Ok(()) }
    }

    fn put(&mut self, node: Node, anchor: usize) -> Result<(), &'static str> {
        self.nodes = self.nodes.saturating_add(1);
        if self.nodes > MOST_NODES {
            return Err("more values than are read");
        }
        if anchor > 0 {
            self.anchors.push((anchor, node.clone()));
            self.nodes = self.nodes.saturating_add(size(&node));
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match (&mut open.node.value, open.key.take()) {
            (Value::List(items), _) => items.push(node),
            (Value::Object(members), Some((key, key_span))) => members.push(Member { key, key_span, node }),
            (_, _) => match node.value {
                Value::Text(key) => open.key = Some((key, node.span)),
                _ => return Err("a key that is no text"),
            },
        }
        Ok(())
    }
}

fn size(node: &Node) -> usize {
    1 + match &node.value {
        Value::List(items) => items.iter().map(size).sum(),
        Value::Object(members) => members.iter().map(|member| size(&member.node)).sum(),
        _ => 0,
    }
}

/// A scalar without quotes.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Value::Bool(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Value::Bool(false),
        _ => {}
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
        && let Ok(number) = text.replace('_', "").parse()
    {
        return Value::Int(number);
    }
    match crate::decimal::parse(text) {
        Some(number) if digits.bytes().any(|byte| byte.is_ascii_digit()) => Value::Float(number),
        _ => Value::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn reads(yaml: &str, json: &str) {
        let values = |node: &Node| node.to_text();
        assert_eq!(parse(yaml).map(|node| values(&node)), Ok(values(&crate::json::parse(json).unwrap().root)));
    }

    #[test]
    fn values_lists_objects_and_aliases() {
        reads(
            "a: 1\nb: [x, 'y', -3, 1.5, ~, yes, \"no\"]\n",
            r#"{"a": 1, "b": ["x", "y", -3, 1.5, null, true, "no"]}"#,
        );
        reads("- &r {q: 1}\n- *r\n- [*r]\n", r#"[{"q": 1}, {"q": 1}, [{"q": 1}]]"#);
        reads("!!str 12", r#""12""#);
        reads("", "null");
        reads("1_000", "1000");
        reads("1@8192c", r#""1@8192c""#);
    }

    #[test]
    fn places_are_bytes_of_the_text() {
        let text = "ä: é\nb: 12\n";
        let node = parse(text).unwrap();
        let b = node.get("b").unwrap().span;
        assert_eq!(text.get(b.start..b.end), Some("12"));
        let first = node.get("ä").unwrap().span;
        assert_eq!(text.get(first.start..first.end), Some("é"));
    }

    #[test]
    fn what_is_not_read_has_its_place() {
        let bomb = (1..40).fold("- &a0 [x, x]\n".to_owned(), |text, at| {
            format!("{text}- &a{at} [*a{before}, *a{before}]\n", before = at - 1)
        });
        let texts = ["a: [1", "a: 1\n---\nb: 2", "? [1]\n: 2", "a: *b", &"[".repeat(200), &"- ".repeat(5000), &bomb];
        let errors = texts.map(|text| parse(text).unwrap_err().to_string());
        insta::assert_snapshot!(errors.join("\n"), @r"
        line 2, column 1: while parsing a flow sequence, expected ',' or ']'
        line 2, column 1: a second document begins; expected one
        line 1, column 5: a key that is no text
        line 1, column 4: while parsing node, found unknown anchor
        line 1, column 129: more levels of nesting than are read
        line 1, column 257: more levels of nesting than are read
        line 18, column 9: more values than are read
        ");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r"\PC*|[-:a1 \n\[\]{},&*'!|>#%@?~]{0,60}") {
            let _ = parse(&text);
        }
    }
}

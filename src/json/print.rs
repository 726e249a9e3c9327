//! Writing a value back as JSON: for people, two spaces a level and short lists on one line; for links, without spaces.

use super::{Node, Value};
use std::fmt::Write as _;

impl Node {
    /// The value as indented JSON. `NaN` and the infinities are written as Python writes them, so that reading the
    /// text gives the same value.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        write(&self.value, 0, &mut out);
        out
    }

    /// The value as JSON without any space between its parts; else as [`Self::to_text`].
    #[must_use]
    pub fn to_compact(&self) -> String {
        let mut out = String::new();
        compact(&self.value, &mut out);
        out
    }
}

fn compact(value: &Value, out: &mut String) {
    match value {
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                compact(&item.value, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, member) in members.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                quote(&member.key, out);
                out.push(':');
                compact(&member.node.value, out);
            }
            out.push('}');
        }
        scalar => write(scalar, 0, out),
    }
}

fn write(value: &Value, level: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) => push(out, value),
        Value::Float(value) if value.is_nan() => out.push_str("NaN"),
        Value::Float(value) if value.is_infinite() => out.push_str(if *value > 0.0 { "Infinity" } else { "-Infinity" }),
        // `{:?}` keeps a float a float: 8.0, 1e300.
        Value::Float(value) => {
            let _ = write!(out, "{value:?}");
        }
        Value::Text(text) => quote(text, out),
        Value::List(items) => {
            let flat = items.iter().all(|item| !matches!(item.value, Value::List(_) | Value::Object(_)));
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                separate(at, !flat, level, out);
                write(&item.value, level + 1, out);
            }
            end(!flat && !items.is_empty(), level, out);
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, member) in members.iter().enumerate() {
                separate(at, true, level, out);
                quote(&member.key, out);
                out.push_str(": ");
                write(&member.node.value, level + 1, out);
            }
            end(!members.is_empty(), level, out);
            out.push('}');
        }
    }
}

fn push(out: &mut String, value: &i128) {
    let _ = write!(out, "{value}");
}

fn separate(at: usize, lines: bool, level: usize, out: &mut String) {
    if at > 0 {
        out.push_str(if lines { "," } else { ", " });
    }
    if lines {
        out.push('\n');
        indent(level + 1, out);
    }
}

fn end(lines: bool, level: usize, out: &mut String) {
    if lines {
        out.push('\n');
        indent(level, out);
    }
}

fn indent(level: usize, out: &mut String) {
    for _ in 0..level {
        out.push_str("  ");
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

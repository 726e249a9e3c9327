//! Building values to print.

use super::{Member, Node, Span, Value};

/// An object in the making.
#[derive(Debug, Default)]
pub struct Object(Vec<Member>);

impl Object {
    /// Adds a member.
    pub fn put(&mut self, key: &str, node: Node) {
        self.0.push(Member { key: key.to_owned(), key_span: Span::default(), node });
    }

    /// Adds a member unless it goes without saying.
    pub fn put_unless(&mut self, key: &str, node: Node, default: bool) {
        if !default {
            self.put(key, node);
        }
    }

    /// Puts a value instead of one that is there.
    pub fn put_again(&mut self, key: &str, node: Node) {
        self.0.retain(|member| member.key != key);
        self.put(key, node);
    }

    /// Whether there is such a member.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.0.iter().any(|member| member.key == key)
    }

    /// The value.
    #[must_use]
    pub fn node(self) -> Node {
        bare(Value::Object(self.0))
    }
}

fn bare(value: Value) -> Node {
    Node { value, span: Span::default() }
}

/// `null`
#[must_use]
pub fn null() -> Node {
    bare(Value::Null)
}

/// `true` or `false`
#[must_use]
pub fn flag(on: bool) -> Node {
    bare(Value::Bool(on))
}

/// A string.
#[must_use]
pub fn text(text: &str) -> Node {
    bare(Value::Text(text.to_owned()))
}

/// A whole number.
#[must_use]
pub fn whole(number: i128) -> Node {
    bare(Value::Int(number))
}

/// A number, without `.0` where it is whole.
#[must_use]
pub fn decimal(number: f64) -> Node {
    #[expect(clippy::cast_possible_truncation, reason = "whole and small")]
    let value = if number.fract() == 0.0 && number < 1e15 { Value::Int(number as i128) } else { Value::Float(number) };
    bare(value)
}

/// An array.
#[must_use]
pub fn list(items: impl IntoIterator<Item = Node>) -> Node {
    bare(Value::List(items.into_iter().collect()))
}

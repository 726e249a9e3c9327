//! Values with the place where they stood.

/// Byte offsets into the text that was read: from `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

/// A value and where it stood.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What was read.
    pub value: Value,
    /// Where.
    pub span: Span,
}

/// A JSON value. Integers are kept exact; an integer beyond 128 bits is a [`Value::Float`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number without fraction and exponent.
    Int(i128),
    /// Any other number, `NaN` and the infinities included.
    Float(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Node>),
    /// An object, its members in the order they stood.
    Object(Vec<Member>),
}

/// A key of an object with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The key.
    pub key: String,
    /// Where the key stood.
    pub key_span: Span,
    /// The value.
    pub node: Node,
}

impl Node {
    /// The member named `key`, if this is an object that has it. Of equal keys the last one counts, as in Python.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.members().iter().rev().find(|member| member.key == key).map(|member| &member.node)
    }

    /// The members, if this is an object; else none.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        match &self.value {
            Value::Object(members) => members,
            _ => &[],
        }
    }

    /// The items, if this is an array.
    #[must_use]
    pub fn items(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The text, if this is a string.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// Whether this is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        matches!(self.value, Value::Object(_))
    }

    /// Whether Python would call the value true: not null, false, zero or empty.
    #[must_use]
    pub fn is_truthy(&self) -> bool {
        match &self.value {
            Value::Null => false,
            Value::Bool(value) => *value,
            Value::Int(value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
        }
    }

    /// The value in words for an error, with its text when that is short: `the string "eight"`, `an object`.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::Float(value) if value.is_infinite() => "a number beyond any range".to_owned(),
            Value::Float(value) => format!("{value:?}"),
            Value::Text(text) => {
                let mut shown: String = text.chars().take(40).collect();
                if shown.len() < text.len() {
                    shown.push('…');
                }
                format!("the string {shown:?}")
            }
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Object(_) => "an object".to_owned(),
        }
    }
}

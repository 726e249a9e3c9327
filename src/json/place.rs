//! Reading what is expected of a document: values with the path that leads to them, so that an error names the place.

use super::{Node, Value};

/// A value of a document and its path, such as `[2].requests[0].kv_len`; the root's is empty.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    node: &'a Node,
    path: String,
}

/// A value that is not what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The path of the value; empty for the root.
    pub path: String,
    /// Where it stands, in bytes of the text.
    pub offset: usize,
    /// What stands there, in words.
    pub found: String,
    /// What was expected, in words.
    pub expected: String,
}

impl<'a> Place<'a> {
    /// The root of a document.
    #[must_use]
    pub fn root(node: &'a Node) -> Self {
        Self { node, path: String::new() }
    }

    /// The value.
    #[must_use]
    pub fn node(&self) -> &'a Node {
        self.node
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The member of that name, if there is one and it is not null.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<Self> {
        let node = self.node.get(key).filter(|node| !node.is_null())?;
        Some(Self { node, path: joined(&self.path, key) })
    }

    /// The member of that name.
    ///
    /// # Errors
    /// Where there is none; the place is this value's.
    pub fn required(&self, key: &str, expected: &str) -> Result<Self, Misfit> {
        if !self.node.is_object() {
            return Err(self.misfit("an object"));
        }
        let Some(node) = self.node.get(key) else {
            let found = format!("an object without `{key}`");
            return Err(Misfit { found, ..self.misfit(&format!("`{key}`: {expected}")) });
        };
        Ok(Self { node, path: joined(&self.path, key) })
    }

    /// The items of a list.
    ///
    /// # Errors
    /// Where this is no list.
    pub fn items(&self, expected: &str) -> Result<impl ExactSizeIterator<Item = Self> + use<'a>, Misfit> {
        let path = self.path.clone();
        let items = self.node.items().ok_or_else(|| self.misfit(expected))?;
        Ok(items.iter().enumerate().map(move |(at, node)| Self { node, path: format!("{path}[{at}]") }))
    }

    /// A string.
    ///
    /// # Errors
    /// Where this is none.
    pub fn text(&self) -> Result<&'a str, Misfit> {
        self.node.text().ok_or_else(|| self.misfit("a string"))
    }

    /// A whole number from 0 on; a float without a fraction counts.
    ///
    /// # Errors
    /// Where this is none.
    pub fn whole(&self) -> Result<u64, Misfit> {
        let value = match &self.node.value {
            Value::Int(value) => u64::try_from(*value).ok(),
            // Up to 2^53 a float's integer is what was meant.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
            Value::Float(value) if value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(value) => {
                Some(*value as u64)
            }
            _ => None,
        };
        value.ok_or_else(|| self.misfit("a whole number, 0 or above"))
    }

    /// A number; `NaN` and the infinities count, as Python writes them.
    ///
    /// # Errors
    /// Where this is none.
    pub fn number(&self) -> Result<f64, Misfit> {
        number(self.node).ok_or_else(|| self.misfit("a number"))
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// Where this is neither.
    pub fn boolean(&self) -> Result<bool, Misfit> {
        match self.node.value {
            Value::Bool(value) => Ok(value),
            _ => Err(self.misfit("true or false")),
        }
    }

    /// This value as one that is not what was expected.
    #[must_use]
    pub fn misfit(&self, expected: &str) -> Misfit {
        Misfit {
            path: self.path.clone(),
            offset: self.node.span.start,
            found: self.node.describe(),
            expected: expected.to_owned(),
        }
    }
}

/// A number as a float, if the value is one.
pub(crate) fn number(node: &Node) -> Option<f64> {
    match node.value {
        Value::Int(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        _ => None,
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn a_misfit_names_its_path() {
        let root = parse(r#"[{"a": {"b": [1, 2.0, "x", null]}}]"#).unwrap().root;
        let first = Place::root(&root).items("a list").unwrap().next().unwrap();
        let b = first.required("a", "an object").unwrap().member("b").unwrap();
        let items: Vec<_> = b.items("a list").unwrap().collect();
        assert_eq!(items.iter().map(|item| item.whole().ok()).collect::<Vec<_>>(), [Some(1), Some(2), None, None]);
        let misfit = items[2].whole().unwrap_err();
        assert_eq!((misfit.path.as_str(), misfit.offset), ("[0].a.b[2]", 22));
        assert_eq!(
            (misfit.found.as_str(), misfit.expected.as_str()),
            ("the string \"x\"", "a whole number, 0 or above")
        );
        let misfit = first.required("c", "a number").unwrap_err();
        assert_eq!((misfit.path.as_str(), misfit.found.as_str()), ("[0]", "an object without `c`"));
    }
}

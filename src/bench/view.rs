//! What the page shows of a measurement, as data: a tree of elements whose texts are only ever texts.
//!
//! Tags and attribute names are constants of this program. What came from a file is a text or an attribute's value, so
//! no file can bring markup along.

use serde::ser::{Serialize, SerializeTuple, Serializer};

/// A piece of what is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// A text.
    Text(String),
    /// An element with what is in it.
    Element(Element),
}

/// An element of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    tag: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<View>,
}

/// A new element, such as `element("table")`.
#[must_use]
pub fn element(tag: &'static str) -> Element {
    Element { tag, attributes: Vec::new(), children: Vec::new() }
}

impl Element {
    /// With an attribute.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }

    /// With an attribute where there is a value for it.
    #[must_use]
    pub fn maybe(self, name: &'static str, value: Option<impl Into<String>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// With something more in it: a text or an element.
    #[must_use]
    pub fn and(mut self, child: impl Into<View>) -> Self {
        self.children.push(child.into());
        self
    }

    /// With several things more in it.
    #[must_use]
    pub fn all(mut self, children: impl IntoIterator<Item = impl Into<View>>) -> Self {
        self.children.extend(children.into_iter().map(Into::into));
        self
    }
}

impl From<Element> for View {
    fn from(element: Element) -> Self {
        Self::Element(element)
    }
}

impl From<String> for View {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for View {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl View {
    /// Every text in it, one a line: what a reader sees.
    #[must_use]
    pub fn plain(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Element(element) => {
                let lines: Vec<String> = element.children.iter().map(Self::plain).collect();
                lines.join(if matches!(element.tag, "tr" | "p" | "label" | "li") { " " } else { "\n" })
            }
        }
    }
}

/// A text as a string, an element as `[tag, {attributes}, [children]]`.
impl Serialize for View {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Element(element) => {
                let mut parts = serializer.serialize_tuple(3)?;
                parts.serialize_element(element.tag)?;
                parts.serialize_element(&Attributes(&element.attributes))?;
                parts.serialize_element(&element.children)?;
                parts.end()
            }
        }
    }
}

struct Attributes<'a>(&'a [(&'static str, String)]);

impl Serialize for Attributes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_json_of_tags_attributes_and_children() {
        let row = element("tr").all([element("td").and("<b>"), element("td").with("class", "n").and("1")]);
        let json = serde_json::to_string(&View::from(row.clone())).unwrap();
        assert_eq!(json, r#"["tr",{},[["td",{},["<b>"]],["td",{"class":"n"},["1"]]]]"#);
        assert_eq!(View::from(row).plain(), "<b> 1");
    }
}

//! What the page shows of a measurement, as data: a tree of elements whose texts are only ever texts.
//!
//! Tags and attribute names are constants of this program. What came from a file is a text or an attribute's value, so
//! no file can bring markup along.

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

/// Something wide, in a part that scrolls on its own and can be reached with the keyboard.
#[must_use]
pub fn scrolled(wide: impl Into<View>) -> View {
    element("div").with("class", "scroll").with("tabindex", "0").and(wide).into()
}

impl Element {
    /// With an attribute.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.attribute(name, value.into());
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
        self.child(child.into());
        self
    }

    /// With several things more in it.
    #[must_use]
    pub fn all(mut self, children: impl IntoIterator<Item = impl Into<View>>) -> Self {
        for child in children {
            self.child(child.into());
        }
        self
    }

    // Both are behind hundreds of calls, each of which would bring its own copy.
    #[inline(never)]
    fn attribute(&mut self, name: &'static str, value: String) {
        self.attributes.push((name, value));
    }

    #[inline(never)]
    fn child(&mut self, child: View) {
        self.children.push(child);
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
    #[inline(never)]
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

impl View {
    /// [`View::markup`] on its own.
    #[must_use]
    pub fn to_markup(&self) -> String {
        let mut out = String::new();
        self.markup(&mut out);
        out
    }

    /// As markup, with every text and every attribute's value escaped.
    pub fn markup(&self, out: &mut String) {
        match self {
            Self::Text(text) => escape(text, out),
            Self::Element(element) => {
                out.extend(["<", element.tag]);
                for (name, value) in &element.attributes {
                    out.extend([" ", name, "=\""]);
                    escape(value, out);
                    out.push('"');
                }
                out.push('>');
                // These have nothing in them and no end.
                if !matches!(element.tag, "input" | "br" | "col") {
                    element.children.iter().for_each(|child| child.markup(out));
                    out.extend(["</", element.tag, ">"]);
                }
            }
        }
    }
}

/// Adds a text to markup, as text: inside an element or a quoted attribute.
pub(crate) fn escape(text: &str, out: &mut String) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escaped = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            _ => continue,
        };
        out.push_str(text.get(from..at).unwrap_or_default());
        out.push_str(escaped);
        from = at + 1;
    }
    out.push_str(text.get(from..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_values_never_are_markup() {
        let row = element("tr").all([element("td").and("<b>&'"), element("td").with("title", "\"><i>").and("1")]);
        assert_eq!(
            View::from(row.clone()).to_markup(),
            "<tr><td>&lt;b&gt;&amp;&#39;</td><td title=\"&quot;&gt;&lt;i&gt;\">1</td></tr>"
        );
        assert_eq!(View::from(row).plain(), "<b>&' 1");
    }
}

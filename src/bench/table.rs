//! Tables of a [`View`](super::view::View): a caption, heads with their scope, numbers with their exact value.

use super::view::{Element, element};
use crate::format::{Unit, grouped, si};

/// A cell below the heads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    text: String,
    exact: Option<String>,
    number: bool,
}

impl Cell {
    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(text.into(), false)
    }

    /// A number as it is shown.
    #[must_use]
    pub fn number(text: impl Into<String>) -> Self {
        Self::new(text.into(), true)
    }

    #[inline(never)]
    fn new(text: String, number: bool) -> Self {
        Self { text, exact: None, number }
    }

    /// An exact amount, rounded as it is shown.
    #[must_use]
    #[inline(never)]
    pub fn amount(amount: u128, unit: Unit) -> Self {
        Self::number(si(amount as f64, unit)).exactly(grouped(amount))
    }

    /// With the exact value, for whoever points at it.
    #[must_use]
    pub fn exactly(mut self, exact: impl Into<String>) -> Self {
        self.exact = Some(exact.into());
        self
    }

    /// The text that is shown.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.text
    }

    /// The cell as an element.
    #[must_use]
    #[inline(never)]
    pub fn element(self) -> Element {
        element("td").maybe("class", self.number.then_some("n")).maybe("title", self.exact).and(self.text)
    }
}

/// An empty table under a caption, with these heads.
#[must_use]
pub fn table(caption: impl Into<String>, heads: &[&str]) -> Element {
    headed(caption.into(), heads)
}

// Here and in `row`, what does not depend on a type is compiled once.
#[inline(never)]
fn headed(caption: String, heads: &[&str]) -> Element {
    let heads = heads.iter().map(|head| element("th").with("scope", "col").and(*head));
    element("table").and(element("caption").and(caption)).and(element("thead").and(element("tr").all(heads)))
}

/// A row: what it is about, and its cells.
#[must_use]
pub fn row(head: impl Into<String>, cells: impl IntoIterator<Item = Cell>) -> Element {
    line(head.into()).all(cells.into_iter().map(Cell::element))
}

#[inline(never)]
fn line(head: String) -> Element {
    element("tr").and(element("th").with("scope", "row").and(head))
}

#[cfg(test)]
mod tests {
    use super::super::view::View;
    use super::*;

    #[test]
    fn heads_have_scopes_and_numbers_their_exact_value() {
        let cells = [Cell::number("1.50 ms").exactly("1500.25 µs"), Cell::text("ok")];
        let body = element("tbody").and(row("decode", cells));
        let markup = View::from(table("Times", &["case", "median"]).and(body)).to_markup();
        insta::assert_snapshot!(markup, @r#"<table><caption>Times</caption><thead><tr><th scope="col">case</th><th scope="col">median</th></tr></thead><tbody><tr><th scope="row">decode</th><td class="n" title="1500.25 µs">1.50 ms</td><td>ok</td></tr></tbody></table>"#);
    }
}

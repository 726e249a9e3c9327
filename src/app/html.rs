//! HTML made as text, for what is shown but not typed into: tables, lists, figures.
//!
//! A result is replaced as a whole whenever it changes, so there is nothing to diff; one string and the browser's own
//! parser are quicker, and far smaller in WebAssembly, than a tree of typed views. Text can enter as markup only if it
//! is a literal of this program: [`Html::raw`] takes `&'static str`, everything else goes through [`Html::text`].

use leptos::prelude::*;

/// Markup in the making.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Adds markup of this program's own.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds a text, as text: inside an element or a quoted attribute.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
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
            self.0.push_str(text.get(from..at).unwrap_or_default());
            self.0.push_str(escaped);
            from = at + 1;
        }
        self.0.push_str(text.get(from..).unwrap_or_default());
        self
    }

    /// Adds an element with a text: `open` and `close` are its tags.
    pub(super) fn element(&mut self, open: &'static str, text: &str, close: &'static str) -> &mut Self {
        self.raw(open).text(text).raw(close)
    }

    /// The markup.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.0)
    }
}

/// A `div` of a class that shows markup, made anew when `markup` changes.
#[component]
pub(super) fn Block(class: &'static str, #[prop(into)] markup: Signal<String>) -> impl IntoView {
    let shown = Memo::new(move |_| markup.get());
    view! { <div class=class inner_html=move || shown.get()></div> }
}

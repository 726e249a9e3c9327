//! HTML made as text, for what is shown but not typed into: tables, lists, figures.
//!
//! A result is made as a whole whenever it changes: one string and the browser's own parser are quicker, and far smaller
//! in WebAssembly, than a tree of typed views. What is shown then takes over what differs, and nothing else. Text can
//! enter as markup only if it is a literal of this program: [`Html::raw`] takes `&'static str`, everything else goes through [`Html::text`].

use leptos::html::Div;
use leptos::prelude::*;
use std::pin::Pin;
use wasm_bindgen::prelude::*;

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
        crate::bench::view::escape(text, &mut self.0);
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

/// A `div` that shows markup, and follows when that changes. An element in it that has `data-act` reports clicks with
/// that text.
#[component]
pub(super) fn Block(
    class: &'static str,
    markup: Signal<String>,
    /// Takes what was clicked.
    #[prop(optional)]
    act: Option<Callback<String>>,
) -> impl IntoView {
    let place = NodeRef::<Div>::new();
    let shown = kept(move || markup.get());
    follow(move || {
        let (Some(place), markup) = (place.get(), shown.get()) else { return };
        replace(&place, &markup);
    });
    let click = move |event: web_sys::MouseEvent| {
        let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        let actor = target.and_then(|element| element.closest("[data-act]").ok().flatten());
        if let (Some(act), Some(key)) = (act, actor.and_then(|element| element.get_attribute("data-act"))) {
            act.run(key);
        }
    };
    view! { <div class=class node_ref=place on:click=pressed(click)></div> }
}

#[wasm_bindgen]
extern "C" {
    /// Brings what is in an element to new markup; what is the same stays as it is. `boot.js` has it.
    #[wasm_bindgen(js_name = bring)]
    pub(super) fn replace(place: &web_sys::Element, markup: &str);
}

/// A text that follows signals. One type for all of them keeps the page small: every kind of closure that a view holds
/// is compiled anew.
pub(super) fn text(read: impl Fn() -> String + Send + Sync + 'static) -> Signal<String> {
    let read: Box<dyn Fn() -> String + Send + Sync> = Box::new(read);
    Signal::derive(read)
}

/// A text that tells whoever follows it only when it is another one.
pub(super) fn kept(read: impl Fn() -> String + Send + Sync + 'static) -> Memo<String> {
    let read = text(read);
    Memo::new(move |_| read.get())
}

/// Runs something now, and again when a signal that it read changes.
pub(super) fn follow(run: impl Fn() + 'static) {
    let run: Box<dyn Fn()> = Box::new(run);
    Effect::new(move |_| run());
}

/// Does something on an event of the window, as long as the page lives.
pub(super) fn listen(event: &str, run: impl FnMut(web_sys::Event) + 'static) {
    let run: Box<dyn FnMut(web_sys::Event)> = Box::new(run);
    let run = Closure::wrap(run);
    let _ = window().add_event_listener_with_callback(event, run.as_ref().unchecked_ref());
    run.forget();
}

/// Runs a future to its end.
pub(super) fn spawn(run: impl Future<Output = ()> + 'static) {
    let run: Pin<Box<dyn Future<Output = ()>>> = Box::pin(run);
    leptos::task::spawn_local(run);
}

/// What happens on a click, in the one type that all have.
pub(super) fn pressed(run: impl FnMut(web_sys::MouseEvent) + 'static) -> Box<dyn FnMut(web_sys::MouseEvent)> {
    Box::new(run)
}

/// What happens on a change or an input, in the one type that all have.
pub(super) fn changed(run: impl FnMut(web_sys::Event) + 'static) -> Box<dyn FnMut(web_sys::Event)> {
    Box::new(run)
}

/// A condition that follows signals, for the same reason.
pub(super) fn flag(read: impl Fn() -> bool + Send + Sync + 'static) -> Signal<bool> {
    let read: Box<dyn Fn() -> bool + Send + Sync> = Box::new(read);
    Signal::derive(read)
}

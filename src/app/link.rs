//! The state in the address: opened at the start and when the address changes, written back a moment after every edit.

use super::facts::{Facts, Ready};
use super::html::{Block, Html, text};
use super::scenarios::{letter, names};
use super::state::{State, Status};
use super::zlib::{deflate, inflate};
use crate::scenario::link::{Letter, LinkError, Opened, Received};
use crate::scenario::state::{Comparison, ModelChoice};
use leptos::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use wasm_bindgen_futures::JsFuture;

/// How long the page waits after an edit until it rewrites the address.
const PAUSE: Duration = Duration::from_millis(250);

/// What became of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LinkState {
    /// Why the link in the address was not opened.
    error: Option<String>,
    /// That link, as it was.
    broken: String,
    /// What has changed since the link was made.
    changed: Vec<String>,
}

/// A comparison and its fragment, or why it has none.
pub(super) type Written = (Arc<Comparison>, Result<String, String>);

/// Opens the link in the address, if there is one.
pub(super) async fn open(state: State, facts: &Ready) {
    let hash = window().location().hash().unwrap_or_default();
    if hash.len() < 2 {
        return;
    }
    let opened = unpacked(&hash, facts).await.map_err(|error| error.to_string());
    if let Err(error) = opened.and_then(|opened| show(state, opened, facts)) {
        broken(state, error);
    }
}

async fn unpacked(hash: &str, facts: &Ready) -> Result<Opened, LinkError> {
    let received = Received::read(hash)?;
    received.open(inflate(received.stream()).await?, &facts.presets)
}

fn broken(state: State, error: String) {
    let href = window().location().href().unwrap_or_default();
    let link = LinkState { error: Some(error), broken: href, changed: Vec::new() };
    state.status.update(|status| status.link = link);
}

/// Shows what a link or a file holds; or why that cannot be shown, and then nothing changes.
pub(super) fn show(state: State, opened: Opened, facts: &Ready) -> Result<(), String> {
    for (place, scenario) in opened.comparison.scenarios().iter().enumerate() {
        if let ModelChoice::Custom(model) = &scenario.model {
            crate::model::Depth::FIELDS
                .read(&model.config, model.companion.as_deref(), &facts.classes)
                .map_err(|error| format!("The config.json of scenario {} cannot be read: {error}", letter(place)))?;
        }
    }
    state.status.update(|status| status.link = LinkState { changed: opened.changed, ..LinkState::default() });
    state.change("open", |comparison| *comparison = opened.comparison);
    state.selected.set(state.comparison.with_untracked(crate::scenario::state::Comparison::baseline));
    Ok(())
}

/// The fragment for what is shown, if it is known already.
fn known(state: State) -> Option<Result<String, String>> {
    let now = state.comparison.now_untracked();
    state.written.with_value(|written| {
        written.as_ref().filter(|(of, _)| Arc::ptr_eq(of, &now)).map(|(_, fragment)| fragment.clone())
    })
}

/// Makes the fragment for what is shown, and keeps it.
async fn write(state: State) -> Result<String, String> {
    let now = state.comparison.now_untracked();
    let Facts::Ready(facts) = Facts::clone(&state.facts.now_untracked()) else {
        return Err("The page is still loading.".to_owned());
    };
    let fragment = packed(&now, &facts).await.map_err(|error| error.to_string());
    state.written.set_value(Some((now, fragment.clone())));
    fragment
}

async fn packed(comparison: &Comparison, facts: &Ready) -> Result<String, LinkError> {
    let letter = Letter::write(comparison, &facts.presets)?;
    Ok(letter.fragment(&deflate(letter.bytes()).await?))
}

/// Hands over the address for what is shown: at once if it is known, since some browsers copy and save only while a
/// click is handled; else in a moment.
pub(super) fn address(state: State, then: impl FnOnce(Result<String, String>) + 'static) {
    let then: Box<dyn FnOnce(Result<String, String>)> = Box::new(then);
    match known(state) {
        Some(fragment) => then(fragment.map(|fragment| with_fragment(&fragment))),
        None => super::html::spawn(async move {
            then(write(state).await.map(|fragment| with_fragment(&fragment)));
        }),
    }
}

fn with_fragment(fragment: &str) -> String {
    let href = window().location().href().unwrap_or_default();
    format!("{}#{fragment}", href.split('#').next().unwrap_or_default())
}

/// Keeps the address and the title up to date, and opens links that are put into the address.
pub(super) fn follow(state: State) {
    let waiting = StoredValue::new(None::<TimeoutHandle>);
    let shown = StoredValue::new(String::new());
    super::html::follow(move || {
        let named = title(state);
        state.comparison.track();
        if !matches!(Facts::clone(&state.facts.now()), Facts::Ready(_)) {
            return;
        }
        if let Some(timer) = waiting.get_value() {
            timer.clear();
        }
        let put = move |address: Result<String, String>| {
            document().set_title(&named);
            // Whatever came next is put there by its own turn. The worked example has no link, and a broken link stays
            // until something is changed.
            if known(state).is_none() || state.status.with_untracked(|status| status.steps == (0, 0)) {
                return;
            }
            let Ok(history) = window().history() else { return };
            // An address that shows something else is worse than none.
            let address = address.unwrap_or_else(|error| {
                state.say(error);
                window().location().pathname().unwrap_or_default()
            });
            shown.set_value(address.clone());
            let _ = history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&address));
        };
        waiting.set_value(set_timeout_with_handle(move || address(state, put), PAUSE).ok());
    });
    super::html::listen("hashchange", move |_| {
        let href = window().location().href().unwrap_or_default();
        if shown.with_value(|shown| *shown != href)
            && let Facts::Ready(facts) = Facts::clone(&state.facts.now_untracked())
        {
            super::html::spawn(async move { open(state, &facts).await });
        }
    });
}

/// What the comparison is of: scenarios by name, then the model.
fn title(state: State) -> String {
    let names = names(state);
    let model = state.resolved().map(|outcome| outcome.model.name.clone()).unwrap_or_default();
    match names.as_slice() {
        [] | [_] => {
            let layout = state.resolved().map(|outcome| outcome.settings.layout.label()).unwrap_or_default();
            format!("{model} · {layout} – rooflens")
        }
        names => format!("{} · {model} – rooflens", names.join(" vs ")),
    }
}

/// Puts a text on the clipboard, and says how that went.
pub(super) fn copy(state: State, what: &'static str, content: &str) {
    // Begins now, while the click that asks for it is handled.
    let writing = window().navigator().clipboard().write_text(content);
    super::html::spawn(async move {
        let done = JsFuture::from(writing).await.is_ok();
        let said = if done { format!("{what} copied.") } else { "The browser does not allow copying here.".to_owned() };
        state.say(said);
    });
}

/// The button that copies the link.
#[component]
pub(super) fn Share(state: State) -> impl IntoView {
    let share = move |_| {
        address(state, move |address| match address {
            Ok(address) => copy(state, "Link", &address),
            Err(error) => state.say(error),
        });
    };
    view! {
        <button
            type="button"
            class="button primary"
            id="copy-link"
            title="The link contains everything; nothing is uploaded."
            on:click=super::html::pressed(share)
        >
            "Copy link"
        </button>
    }
}

/// What became of the link that was opened, and what was just done.
#[component]
pub(super) fn Banner(state: State) -> impl IntoView {
    let markup = text(move || {
        let mut html = Html::default();
        state.status.with(|Status { link, .. }| {
            if let Some(error) = &link.error {
                html.element("<div class=\"banner bad\" role=\"alert\" id=\"link-error\"><p>", error, "</p>");
                html.raw("<p>What is shown is not what it holds. The link is kept: <code>").text(&link.broken);
                html.raw("</code></p><button type=\"button\" class=\"chip\" data-act=\"copy\">Copy that link</button>");
                html.raw("<button type=\"button\" class=\"chip\" data-act=\"close\">Dismiss</button></div>");
            }
            if !link.changed.is_empty() {
                html.raw("<div class=\"banner\" role=\"alert\" id=\"link-changed\">");
                for sentence in &link.changed {
                    html.element("<p>", sentence, "</p>");
                }
                html.raw("<button type=\"button\" class=\"chip\" data-act=\"close\">Dismiss</button></div>");
            }
        });
        html.take()
    });
    let act = Callback::new(move |act: String| {
        if act == "copy" {
            state.status.with_untracked(|status| copy(state, "Link", &status.link.broken));
        } else {
            state.status.update(|status| status.link = LinkState::default());
        }
    });
    view! {
        <Block class="banners" markup act/>
        <p class="said" role="status" id="said">{text(move || state.status.with(|status| status.said.clone()))}</p>
    }
}

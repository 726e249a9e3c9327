//! The page: components, state and what they touch outside, apart from each other. No formula lives here.
#![allow(unreachable_pub, reason = "the component macro makes the props of private components public")]

mod batch;
mod canvas;
mod charts;
mod compare;
mod export;
mod facts;
mod field;
mod hardware;
mod held;
mod history;
mod html;
mod intake;
mod layout;
mod link;
mod measure;
mod model;
mod notes;
mod operations;
mod precision;
mod scenarios;
mod share;
mod state;
mod sweep;
mod tiles;
mod zlib;

use crate::estimate::Scope;
use crate::scenario::state::{Comparison, Scenario};
use leptos::prelude::*;
use state::State;
use wasm_bindgen::JsCast;

/// Replaces the static first paint by the live page.
pub fn start() {
    console_error_panic_hook::set_once();
    let Some(root) = document().get_element_by_id("app").and_then(|e| e.dyn_into::<web_sys::HtmlElement>().ok()) else {
        return;
    };
    let Some(example) = Scenario::example() else { return };
    root.set_inner_html("");
    mount_to(root, move || Page(PageProps { comparison: Comparison::of(example.clone()) })).forget();
}

/// The whole page.
#[component]
fn Page(comparison: Comparison) -> impl IntoView {
    let state = State::new(comparison);
    facts::fetch(state);
    scenarios::listen(state);
    link::follow(state);
    intake::listen(state);
    view! {
        <header class="bar">
            <h1 class="brand">"rooflens"</h1>
            <scenarios::Tabs state/>
            <scenarios::Steps state/>
            <Scopes state/>
            <Theme state/>
            <export::Menu state/>
            <link::Share state/>
        </header>
        <div class="page" class:dragging=html::flag(move || state.status.with(|status| status.dragging))>
            <form class="inputs" aria-label="Inputs" on:submit=|ev| ev.prevent_default()>
                <scenarios::Panel state/>
                <model::Panel state/>
                <layout::Panel state/>
                <precision::Panel state/>
                <batch::Panel state/>
                <hardware::Panel state/>
            </form>
            <main class="results" id="results" class:stale=html::flag(move || state.is_stale())>
                <link::Banner state/>
                <tiles::Tiles state/>
                <compare::Compare state/>
                <notes::Notes state/>
                <charts::Charts state/>
                <sweep::Panel state/>
                <operations::Operations state/>
                <measure::Physics state/>
                <measure::Panel state/>
            </main>
        </div>
        <footer class="foot">
            <p>
                "FLOPs and bytes are those of vLLM’s own estimator (vllm.v1.metrics.perf, 0.33.0), to the last integer, with its simplifications. The time is the least that the roofline allows, without communication. Everything is computed in this page: nothing is uploaded."
            </p>
        </footer>
    }
}

/// The theme: the system's, light or dark. The only thing that the page stores.
#[component]
fn Theme(state: State) -> impl IntoView {
    const KEY: &str = "rooflens-theme";
    let root = || document().document_element();
    let now = move || root().and_then(|root| root.get_attribute("data-theme")).unwrap_or_default();
    let cycle = move |_| {
        let next = match now().as_str() {
            "" => "light",
            "light" => "dark",
            _ => "",
        };
        if let Some(root) = root() {
            let _ = if next.is_empty() {
                root.remove_attribute("data-theme")
            } else {
                root.set_attribute("data-theme", next)
            };
        }
        if let Ok(Some(storage)) = window().local_storage() {
            let _ = if next.is_empty() { storage.remove_item(KEY) } else { storage.set_item(KEY, next) };
        }
        state.dark.set(canvas::is_dark());
        state.say(format!("Theme: {}.", if next.is_empty() { "as the system" } else { next }));
    };
    view! {
        <button type="button" class="icon" id="theme" aria-label="Theme" title="Theme: system, light, dark" on:click=html::pressed(cycle)>
            "◐"
        </button>
    }
}

/// What the figures are of.
fn scope(state: State) -> &'static str {
    match state.comparison.with(|comparison| comparison.scope) {
        Scope::PerGpu => "per GPU",
        Scope::Global => "whole model",
    }
}

/// Per GPU or the whole model.
#[component]
fn Scopes(state: State) -> impl IntoView {
    let now = move || state.comparison.with(|comparison| comparison.scope);
    let choice = move |scope: Scope, label: &'static str| {
        view! {
            <label class="choice">
                <input
                    type="radio"
                    name="scope"
                    prop:checked=html::flag(move || now() == scope)
                    on:change=html::changed(move |_| state.change("scope", |comparison| comparison.scope = scope))
                />
                <span>{label}</span>
            </label>
        }
    };
    view! {
        <fieldset class="choices">
            <legend class="visually-hidden">"Scope"</legend>
            {choice(Scope::PerGpu, "Per GPU")}
            {choice(Scope::Global, "Whole model")}
        </fieldset>
    }
}

/// The chart colours that are on.
fn theme(state: State) -> &'static crate::chart::theme::Theme {
    use crate::chart::theme::Theme;
    if state.dark.get() { &Theme::DARK } else { &Theme::LIGHT }
}

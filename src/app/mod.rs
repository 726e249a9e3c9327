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

use crate::estimate::{Method, Scope};
use crate::scenario::state::{Comparison, Scenario};
use html::{Block, Html};
use leptos::prelude::*;
use state::State;
use wasm_bindgen::JsCast;

/// Replaces the static first paint by the live page.
pub fn start() {
    crate::panics::show();
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
            <Choices state/>
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
            <main class="results" id="results" class:stale=html::flag(move || state.is_stale()) class:waiting=html::flag(move || state.is_waiting())>
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
            <p>{html::text(move || format!("{} Everything is computed in this page: nothing is uploaded.", how(state)))}</p>
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

/// What is shown: of what, and which model counted it. An answer may still be that of before.
fn counted(state: State) -> (Scope, Method) {
    match state.shown() {
        Some(outcome) if outcome.physical.is_some() => (outcome.scope, Method::Physical),
        Some(outcome) => (outcome.scope, Method::Vllm),
        None => state.comparison.with(|comparison| (comparison.scope, comparison.method)),
    }
}

/// What counts, in words.
fn how(state: State) -> &'static str {
    match counted(state).1 {
        Method::Vllm => {
            "FLOPs and bytes are those of vLLM’s own estimator (vllm.v1.metrics.perf, 0.33.0), to the last integer, with its simplifications. The time is the least that the roofline allows, without communication."
        }
        Method::Physical => {
            "FLOPs and bytes are what the hardware has to do, counted layer by layer (physical model). The time is the least that a step can take, communication included; calibrated is what measurements suggest, assumed what you say."
        }
    }
}

/// What the figures are of.
fn scope(state: State) -> &'static str {
    match counted(state) {
        (Scope::PerGpu, Method::Vllm) => "per GPU",
        (Scope::Global, Method::Vllm) => "whole model",
        (Scope::PerGpu, Method::Physical) => "per GPU, physical model",
        (Scope::Global, Method::Physical) => "whole model, physical model",
    }
}

/// The model that counts, and of what.
#[component]
fn Choices(state: State) -> impl IntoView {
    const GROUPS: [(&str, [(&str, &str); 2]); 2] = [
        ("Model that counts", [("vllm", "vllm"), ("physical", "physical")]),
        ("Scope", [("gpu", "Per GPU"), ("global", "Whole model")]),
    ];
    let markup = html::text(move || {
        let (scope, method) = state.comparison.with(|comparison| (comparison.scope, comparison.method));
        let on = [usize::from(method == Method::Physical), usize::from(scope == Scope::Global)];
        let mut html = Html::default();
        for ((group, choices), on) in GROUPS.iter().zip(on) {
            html.raw("<div class=\"choices\" role=\"group\" aria-label=\"").raw(group).raw("\">");
            for (at, (act, label)) in choices.iter().enumerate() {
                html.raw("<button type=\"button\" class=\"choice\" aria-pressed=\"");
                html.raw(if at == on { "true" } else { "false" }).raw("\" data-act=\"").raw(act).raw("\">");
                html.raw(label).raw("</button>");
            }
            html.raw("</div>");
        }
        html.take()
    });
    let act = Callback::new(move |act: String| {
        state.change("choice", |comparison| match act.as_str() {
            "vllm" => comparison.method = Method::Vllm,
            "physical" => comparison.method = Method::Physical,
            "gpu" => comparison.scope = Scope::PerGpu,
            _ => comparison.scope = Scope::Global,
        });
    });
    view! { <Block class="switches" markup act/> }
}

/// The chart colours that are on.
fn theme(state: State) -> &'static crate::chart::theme::Theme {
    use crate::chart::theme::Theme;
    if state.dark.get() { &Theme::DARK } else { &Theme::LIGHT }
}

//! The scenarios: tabs to choose one, and what can be done with the chosen one.

use super::html::{Block, Html, flag, text};
use super::state::{Outcome, State};
use crate::report::Entry;
use crate::scenario::state::MOST_SCENARIOS;
use leptos::prelude::*;
use std::sync::Arc;
use wasm_bindgen::JsCast;

/// The letter of a place, `A` for the first.
pub(super) fn letter(place: usize) -> char {
    u8::try_from(place).ok().and_then(|place| b'A'.checked_add(place)).map_or('?', char::from)
}

/// Scenario names, the given ones or by what differs.
pub(super) fn names(state: State) -> Arc<Vec<String>> {
    state.names.now()
}

/// The scenarios that have numbers, as charts and tables take them.
pub(super) struct Entries {
    pub(super) outcomes: Vec<Arc<Outcome>>,
    /// Place in the comparison and name of each.
    pub(super) named: Vec<(usize, String)>,
}

impl Entries {
    /// Those of the comparison now.
    pub(super) fn of(state: State) -> Self {
        let names = names(state);
        let mut entries = Self { outcomes: Vec::new(), named: Vec::new() };
        for outcome in &state.outcomes.now().0 {
            let place = state.comparison.with(|comparison| comparison.place(outcome.scenario.id));
            if let (Some(place), Ok(_), Ok(_)) = (place, &outcome.breakdown, &outcome.per_gpu) {
                entries.outcomes.push(outcome.clone());
                entries.named.push((place, names.get(place).cloned().unwrap_or_default()));
            }
        }
        entries
    }

    /// Uses them.
    pub(super) fn with<T>(&self, use_them: impl FnOnce(&[Entry<'_>]) -> T) -> T {
        let entries = self.outcomes.iter().zip(&self.named).filter_map(|(outcome, (place, name))| {
            Some(Entry {
                key: letter(*place),
                name,
                place: *place,
                breakdown: outcome.breakdown.as_ref().ok()?,
                per_gpu: outcome.per_gpu.as_ref().ok()?,
                roof: outcome.roof.as_ref(),
                accelerator: &outcome.accelerator,
                stages: outcome.settings.layout.pp.get(),
                step: outcome.step(),
            })
        });
        use_them(&entries.collect::<Vec<_>>())
    }
}

/// The tabs.
#[component]
pub(super) fn Tabs(state: State) -> impl IntoView {
    let markup = text(move || {
        let mut html = Html::default();
        let chosen = state.scenario.with(|scenario| scenario.id);
        let ids: Vec<u32> = state.comparison.with(|comparison| comparison.scenarios().iter().map(|s| s.id).collect());
        let theme = super::theme(state);
        for (place, (id, name)) in ids.into_iter().zip(names(state).iter()).enumerate() {
            let on = id == chosen;
            html.raw("<button type=\"button\" class=\"tab").raw(if on { " on" } else { "" }).raw("\" aria-pressed=\"");
            html.raw(if on { "true" } else { "false" }).raw("\" data-act=\"").text(&id.to_string());
            html.raw("\"><span class=\"badge\" style=\"background:").text(&theme.scenario(place).to_string());
            html.raw(";color:").text(&theme.scenario(place).letter().to_string()).raw("\">");
            html.text(&letter(place).to_string()).element("</span><span class=\"tab-name\">", name, "</span></button>");
        }
        html.take()
    });
    let choose = Callback::new(move |id: String| {
        if let Ok(id) = id.parse() {
            state.selected.set(id);
        }
    });
    let full = flag(move || state.comparison.with(|c| c.scenarios().len() >= MOST_SCENARIOS));
    view! {
        <nav class="tabs" aria-label="Scenarios">
            <Block class="tab-list" markup act=choose/>
            <button
                type="button"
                class="tab add"
                id="add-scenario"
                aria-label="Add a scenario, as a copy of the selected one"
                title="Add a scenario, as a copy of the selected one (at most 8)"
                prop:disabled=full
                on:click=super::html::pressed(move |_| duplicate(state))
            >
                "+"
            </button>
        </nav>
    }
}

fn duplicate(state: State) {
    let id = state.id();
    let mut new = None;
    state.change("duplicate", |comparison| new = comparison.duplicate(id));
    if let Some(new) = new {
        state.selected.set(new);
    }
}

/// What can be done with the selected scenario. Shown as soon as there are several.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    let place = move || {
        let id = state.scenario.with(|scenario| scenario.id);
        state.comparison.with(|comparison| comparison.place(id)).unwrap_or(0)
    };
    let count = move || state.comparison.with(|comparison| comparison.scenarios().len());
    let is_baseline = move || {
        let id = state.scenario.with(|scenario| scenario.id);
        state.comparison.with(|comparison| comparison.baseline() == id)
    };
    let markup = text(move || {
        let mut html = Html::default();
        let (place, count) = (place(), count());
        let actions = [
            ("duplicate", "Duplicate", count >= MOST_SCENARIOS),
            ("left", "← Move", place == 0),
            ("right", "Move →", place + 1 >= count),
            ("baseline", "Make baseline", is_baseline()),
            ("remove", "Remove", count < 2),
        ];
        for (act, label, off) in actions {
            html.raw("<button type=\"button\" class=\"chip\" data-act=\"").raw(act).raw("\"");
            html.raw(if off { " disabled>" } else { ">" }).raw(label).raw("</button>");
        }
        html.take()
    });
    let act = Callback::new(move |act: String| {
        let id = state.id();
        match act.as_str() {
            "duplicate" => duplicate(state),
            "left" => state.change("move", |comparison| comparison.shift(id, -1)),
            "right" => state.change("move", |comparison| comparison.shift(id, 1)),
            "baseline" => state.change("baseline", |comparison| comparison.set_baseline(id)),
            _ => state.change("remove", |comparison| comparison.remove(id)),
        }
    });
    let rename = move |ev: web_sys::Event| {
        let name = event_target_value(&ev);
        let id = state.id();
        state.change("name", |comparison| comparison.rename(id, &name));
    };
    view! {
        <section class="card panel" hidden=flag(move || count() < 2)>
            <h2>{text(move || format!("Scenario {}", letter(place())))}</h2>
            <label class="choose">
                <span class="name">"Name"</span>
                <input
                    type="text"
                    id="scenario-name"
                    maxlength="60"
                    autocomplete="off"
                    placeholder=text(move || names(state).get(place()).cloned().unwrap_or_default())
                    prop:value=text(move || state.scenario.with(|scenario| scenario.name.clone()))
                    on:input=super::html::changed(rename)
                />
            </label>
            <Block class="chips actions" markup act/>
        </section>
    }
}

/// Undo and redo.
#[component]
pub(super) fn Steps(state: State) -> impl IntoView {
    view! {
        <div class="steps" role="group" aria-label="History">
            <button
                type="button"
                class="icon"
                id="undo"
                aria-label="Undo"
                title="Undo (Ctrl+Z)"
                prop:disabled=flag(move || state.status.with(|status| status.steps).0 == 0)
                on:click=super::html::pressed(move |_| state.undo())
            >
                "↶"
            </button>
            <button
                type="button"
                class="icon"
                id="redo"
                aria-label="Redo"
                title="Redo (Ctrl+Shift+Z)"
                prop:disabled=flag(move || state.status.with(|status| status.steps).1 == 0)
                on:click=super::html::pressed(move |_| state.redo())
            >
                "↷"
            </button>
        </div>
    }
}

/// Ctrl+Z and Ctrl+Shift+Z anywhere but in the config's own editor, which has its browser's undo.
pub(super) fn listen(state: State) {
    super::html::listen("keydown", move |event| {
        let Some(event) = event.dyn_ref::<web_sys::KeyboardEvent>() else { return };
        let key = event.key();
        let in_editor = event.target().is_some_and(|target| {
            target.dyn_ref::<web_sys::Element>().is_some_and(|element| element.tag_name() == "TEXTAREA")
        });
        if !(event.ctrl_key() || event.meta_key()) || event.alt_key() || in_editor {
            return;
        }
        match (key.as_str(), event.shift_key()) {
            ("z", false) => state.undo(),
            ("z" | "Z", true) | ("y", false) => state.redo(),
            _ => return,
        }
        event.prevent_default();
    });
}

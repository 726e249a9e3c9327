//! The scenarios: tabs to choose one, and what can be done with the chosen one.

use super::state::State;
use leptos::prelude::*;

/// The letter of a place, `A` for the first.
pub(super) fn letter(place: usize) -> char {
    u8::try_from(place).ok().and_then(|place| b'A'.checked_add(place)).map_or('?', char::from)
}

/// Scenario names, the given ones or by what differs.
pub(super) fn names(state: State) -> Vec<String> {
    let models = move |choice: &crate::scenario::state::ModelChoice| {
        state.outcomes.with(|outcomes| {
            let found = outcomes.0.iter().find(|outcome| outcome.scenario.model == *choice);
            found.map_or_else(String::new, |outcome| outcome.model.name.clone())
        })
    };
    state.comparison.with(|comparison| crate::report::names(comparison, models))
}

/// The tabs.
#[component]
pub(super) fn Tabs(state: State) -> impl IntoView {
    let tab = move |place: usize, id: u32, name: String| {
        let colour = super::theme(state).scenario(place).to_string();
        let chosen = move || state.scenario.with(|scenario| scenario.id) == id;
        view! {
            <button
                type="button"
                class="tab"
                class:on=chosen
                aria-pressed=move || chosen().to_string()
                on:click=move |_| state.selected.set(id)
            >
                <span class="badge" style:background=colour>{letter(place).to_string()}</span>
                <span class="tab-name">{name}</span>
            </button>
        }
    };
    let tabs = move || {
        let ids: Vec<u32> = state.comparison.with(|comparison| comparison.scenarios().iter().map(|s| s.id).collect());
        let tabs = ids.into_iter().zip(names(state)).enumerate().map(|(place, (id, name))| tab(place, id, name));
        tabs.collect_view()
    };
    let full = move || state.comparison.with(|c| c.scenarios().len() >= crate::scenario::state::MOST_SCENARIOS);
    view! {
        <nav class="tabs" aria-label="Scenarios">
            {tabs}
            <button
                type="button"
                class="tab add"
                id="add-scenario"
                aria-label="Add a scenario, as a copy of the selected one"
                title="Add a scenario, as a copy of the selected one (at most 8)"
                disabled=full
                on:click=move |_| duplicate(state)
            >
                "+"
            </button>
        </nav>
    }
}

fn duplicate(state: State) {
    let id = state.scenario.with_untracked(|scenario| scenario.id);
    let mut new = None;
    state.change("duplicate", |comparison| new = comparison.duplicate(id));
    if let Some(new) = new {
        state.selected.set(new);
    }
}

/// What can be done with the selected scenario. Shown as soon as there are several.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    let id = move || state.scenario.with_untracked(|scenario| scenario.id);
    let place = move || {
        let id = state.scenario.with(|scenario| scenario.id);
        state.comparison.with(|comparison| comparison.place(id)).unwrap_or(0)
    };
    let count = move || state.comparison.with(|comparison| comparison.scenarios().len());
    let is_baseline = move || {
        let id = state.scenario.with(|scenario| scenario.id);
        state.comparison.with(|comparison| comparison.baseline() == id)
    };
    let button = move |label: &'static str, id: &'static str, off: Signal<bool>, act: Callback<()>| {
        view! { <button type="button" class="chip" id=id disabled=off on:click=move |_| act.run(())>{label}</button> }
    };
    let panel = move || {
        (count() > 1).then(|| {
            view! {
                <section class="card panel">
                    <h2>"Scenario " {move || letter(place()).to_string()}</h2>
                    <label class="choose">
                        <span class="name">"Name"</span>
                        <input
                            type="text"
                            id="scenario-name"
                            maxlength="60"
                            autocomplete="off"
                            placeholder=move || names(state).get(place()).cloned().unwrap_or_default()
                            prop:value=move || state.scenario.with(|scenario| scenario.name.clone())
                            on:input=move |ev| {
                                let name = event_target_value(&ev);
                                state.change("name", |comparison| comparison.rename(id(), &name));
                            }
                        />
                    </label>
                    <div class="chips actions">
                        {button("Duplicate", "duplicate", Signal::derive(move || count() >= 8), Callback::new(move |()| duplicate(state)))}
                        {button("← Move", "move-left", Signal::derive(move || place() == 0), Callback::new(move |()| {
                            state.change("move", |comparison| comparison.shift(id(), -1));
                        }))}
                        {button("Move →", "move-right", Signal::derive(move || place() + 1 >= count()), Callback::new(move |()| {
                            state.change("move", |comparison| comparison.shift(id(), 1));
                        }))}
                        {button("Make baseline", "make-baseline", Signal::derive(is_baseline), Callback::new(move |()| {
                            state.change("baseline", |comparison| comparison.set_baseline(id()));
                        }))}
                        {button("Remove", "remove-scenario", Signal::derive(move || count() < 2), Callback::new(move |()| {
                            state.change("remove", |comparison| comparison.remove(id()));
                        }))}
                    </div>
                </section>
            }
        })
    };
    // The panel is made anew only when it appears or goes: typing a name must not replace its field.
    let several = Memo::new(move |_| count() > 1);
    view! { {move || { let _ = several.get(); untrack(panel) }} }
}

/// Undo and redo.
#[component]
pub(super) fn Steps(state: State) -> impl IntoView {
    view! {
        <div class="steps" role="group" aria-label="History">
            <button type="button" class="icon" id="undo" aria-label="Undo" title="Undo (Ctrl+Z)"
                disabled=move || state.steps.get().0 == 0 on:click=move |_| state.undo()>"↶"</button>
            <button type="button" class="icon" id="redo" aria-label="Redo" title="Redo (Ctrl+Shift+Z)"
                disabled=move || state.steps.get().1 == 0 on:click=move |_| state.redo()>"↷"</button>
        </div>
    }
}

/// Ctrl+Z and Ctrl+Shift+Z anywhere but in the config's own editor, which has its browser's undo.
pub(super) fn listen(state: State) {
    let keys = window_event_listener(leptos::ev::keydown, move |event| {
        let key = event.key();
        let in_editor = event.target().is_some_and(|target| {
            use wasm_bindgen::JsCast;
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
    on_cleanup(move || keys.remove());
}

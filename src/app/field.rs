//! Input fields: text that stays as it was typed, with its error beside it.

use super::html::{Html, kept, text};
use super::state::State;
use leptos::prelude::*;

/// Takes what was typed, or says what is wrong with it.
pub(super) type Take = Callback<String, Result<(), String>>;

/// A small number field. It shows `value`; while it has the focus, what is being typed.
#[component]
pub(super) fn NumberField(
    /// Where errors are counted.
    state: State,
    /// What it is called.
    label: &'static str,
    /// The text outside of editing.
    value: Signal<String>,
    /// Takes what was typed.
    take: Take,
    /// Another value, for the arrow keys: up is true.
    #[prop(optional)]
    step: Option<Callback<bool>>,
    /// Whether the label stays invisible because a table's header says it.
    #[prop(optional)]
    bare: bool,
    /// What the field is a part of: when that changes, what was typed is gone.
    #[prop(optional)]
    context: Option<Signal<String>>,
) -> impl IntoView {
    // What was typed, its error (empty: none), and the value it led to: as soon as the value is another one, that is
    // shown instead; so it is when another scenario is selected.
    let typed = RwSignal::new(None::<(String, String, String)>);
    let now = move || {
        let id = state.scenario.with(|scenario| scenario.id);
        format!("{id}\n{}\n{}", value.get(), context.map(|context| context.get()).unwrap_or_default())
    };
    let current = move || typed.get().filter(|(_, _, then)| *then == now());
    let input = move |ev: web_sys::Event| {
        let text = event_target_value(&ev);
        let error = take.run(text.clone()).err().unwrap_or_default();
        typed.set(Some((text, error, untrack(now))));
    };
    let error = kept(move || current().map(|(_, error, _)| error).unwrap_or_default());
    count_errors(state, error);
    let keys = move |event: web_sys::KeyboardEvent| {
        let up = event.key() == "ArrowUp";
        if let Some(step) = step.filter(|_| up || event.key() == "ArrowDown") {
            event.prevent_default();
            step.run(up);
        }
    };
    let leave = move |_| {
        if error.with_untracked(String::is_empty) {
            typed.set(None);
        }
    };
    view! {
        <label class="field">
            <span class=if bare { "visually-hidden" } else { "name" }>{label}</span>
            <input
                type="text"
                inputmode="numeric"
                autocomplete="off"
                spellcheck="false"
                prop:value=text(move || current().map_or_else(|| value.get(), |(typed, _, _)| typed))
                aria-invalid=text(move || (!error.with(String::is_empty)).to_string())
                on:input=super::html::changed(input)
                on:keydown=keys
                on:blur=leave
            />
            <span class="error" role="alert">{text(move || error.get())}</span>
        </label>
    }
}

/// Counts a field among those that hold something invalid, as long as it has an error and exists.
pub(super) fn count_errors(state: State, error: Memo<String>) {
    let counted = StoredValue::new(false);
    super::html::follow(move || {
        let now = !error.with(String::is_empty);
        if counted.get_value() != now {
            counted.set_value(now);
            state.status.update(|s| s.errors = if now { s.errors + 1 } else { s.errors.saturating_sub(1) });
        }
    });
    on_cleanup(move || {
        if counted.try_get_value() == Some(true) {
            state.status.update(|status| status.errors = status.errors.saturating_sub(1));
        }
    });
}

/// A choice from a list: values and what they are called.
#[component]
pub(super) fn Choice(
    /// What it is called.
    label: &'static str,
    /// Values with their names.
    options: Callback<(), Vec<(String, String)>>,
    /// The value now.
    value: Signal<String>,
    /// Takes another one.
    take: Callback<String>,
) -> impl IntoView {
    let markup = kept(move || {
        let chosen = value.get();
        let mut html = Html::default();
        for (id, name) in options.run(()) {
            html.raw("<option value=\"").text(&id).raw(if id == chosen { "\" selected>" } else { "\">" });
            html.text(&name).raw("</option>");
        }
        html.take()
    });
    view! {
        <label class="choose">
            <span class="name">{label}</span>
            <select on:change=super::html::changed(move |ev| take.run(event_target_value(&ev))) inner_html=text(move || markup.get())></select>
        </label>
    }
}

//! Input fields: text that stays as it was typed, with its error beside it.

use leptos::prelude::*;

/// A small number field. It shows `value`; while it has the focus, what is being typed.
#[component]
pub(super) fn NumberField(
    /// What it is called.
    label: &'static str,
    /// The text outside of editing.
    #[prop(into)]
    value: Signal<String>,
    /// Takes what was typed; `Err` is shown at the field.
    take: impl Fn(String) -> Result<(), String> + Copy + 'static,
    /// Another value, for the arrow keys: up is true.
    #[prop(optional)]
    step: Option<Callback<bool>>,
    /// Whether the label stays invisible because a table's header says it.
    #[prop(optional)]
    bare: bool,
) -> impl IntoView {
    // What was typed, its error, and the value it led to: as soon as the value is another one, that is shown instead.
    let typed = RwSignal::new(None::<(String, Option<String>, String)>);
    let current = move || typed.get().filter(|(_, _, then)| *then == value.get());
    let input = move |text: String| {
        let error = take(text.clone()).err();
        typed.set(Some((text, error, value.get_untracked())));
    };
    let error = Memo::new(move |_| current().and_then(|(_, error, _)| error));
    let keys = move |event: web_sys::KeyboardEvent| {
        let up = match event.key().as_str() {
            "ArrowUp" => true,
            "ArrowDown" => false,
            _ => return,
        };
        if let Some(step) = step {
            event.prevent_default();
            step.run(up);
        }
    };
    view! {
        <label class="field" class:invalid=move || error.get().is_some()>
            <span class=if bare { "visually-hidden" } else { "name" }>{label}</span>
            <input
                type="text"
                inputmode="numeric"
                autocomplete="off"
                spellcheck="false"
                prop:value=move || current().map_or_else(|| value.get(), |(text, _, _)| text)
                aria-invalid=move || error.get().is_some().to_string()
                on:input=move |ev| input(event_target_value(&ev))
                on:keydown=keys
                on:blur=move |_| {
                    if error.get_untracked().is_none() {
                        typed.set(None);
                    }
                }
            />
            {move || error.get().map(|text| view! { <span class="error" role="alert">{text}</span> })}
        </label>
    }
}

/// A choice from a list: values and what they are called.
#[component]
pub(super) fn Choice(
    /// What it is called.
    label: &'static str,
    /// Values with their names.
    #[prop(into)]
    options: Signal<Vec<(String, String)>>,
    /// The value now.
    #[prop(into)]
    value: Signal<String>,
    /// Takes another one.
    take: impl Fn(String) + Copy + 'static,
) -> impl IntoView {
    view! {
        <label class="choose">
            <span class="name">{label}</span>
            <select on:change=move |ev| take(event_target_value(&ev)) prop:value=move || value.get()>
                {move || {
                    let chosen = value.get();
                    options
                        .get()
                        .into_iter()
                        .map(|(id, name)| {
                            let selected = id == chosen;
                            view! { <option value=id selected=selected>{name}</option> }
                        })
                        .collect_view()
                }}
            </select>
        </label>
    }
}

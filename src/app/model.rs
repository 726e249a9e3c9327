//! The model: a preset, or a config that was pasted, dropped, chosen or edited.

use super::facts::Facts;
use super::intake;
use super::state::{Model, ModelInput, State};
use crate::format::grouped;
use crate::model::ConfigError;
use crate::report;
use leptos::prelude::*;
use std::sync::Arc;
use wasm_bindgen::JsCast;

/// The model panel.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    let value = move || state.read_model.with(|kept| kept.value.clone());
    let facts = move || {
        value().map(|model| report::facts(&model.spec).into_iter().map(|fact| view! { <li>{fact}</li> }).collect_view())
    };
    view! {
        <section class="card panel">
            <h2>"Model"</h2>
            <Presets state/>
            <ul class="facts-list" aria-label="What was read">{facts}</ul>
            <p class="hint">{move || value().map(|model| model.source.clone())}</p>
            <p class="hint">
                "Paste or drop a config.json anywhere, or "
                <label class="browse">
                    "browse"
                    <input
                        type="file"
                        class="visually-hidden"
                        accept=".json,application/json"
                        multiple
                        on:change=move |ev| {
                            let input = ev.target().and_then(|t| t.dyn_into::<web_sys::HtmlInputElement>().ok());
                            if let Some(files) = input.and_then(|input| input.files()) {
                                intake::take_files(state, &files);
                            }
                        }
                    />
                </label>
                "."
            </p>
            {move || state.notice.get().map(|text| view! { <p class="error" role="alert">{text}</p> })}
            {move || state.read_model.with(|kept| kept.error.clone().map(|error| refused(state, &error, kept.value.clone())))}
            <Editor state/>
            <Fields state/>
        </section>
    }
}

/// The error with its line and a caret, and the way back.
fn refused(state: State, error: &ConfigError, last: Option<Arc<Model>>) -> impl IntoView + use<> {
    let excerpt = match error {
        ConfigError::Json(error) => Some(view! { <pre class="excerpt">{error.excerpt()}</pre> }),
        _ => None,
    };
    let mut message = error.to_string();
    if let Some(first) = message.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let back = last.map(|model| {
        let input = model.input.clone();
        let label = format!("Back to {}", model.name);
        view! { <button type="button" class="chip" on:click=move |_| state.model.set(input.clone())>{label}</button> }
    });
    view! {
        <div class="refused" role="alert" id="config-error">
            <p>{message} "."</p>
            {excerpt}
            {back}
        </div>
    }
}

#[component]
fn Presets(state: State) -> impl IntoView {
    let options = move || {
        let custom = state.model.with(|model| matches!(model, ModelInput::Custom { .. }));
        let name = state.read_model.with(|kept| kept.value.as_ref().map(|model| model.name.clone()));
        let mut options = Vec::new();
        if custom {
            options.push((String::new(), format!("{} (yours)", name.unwrap_or_else(|| "config".to_owned()))));
        }
        if let Facts::Ready(ready) = state.facts.get() {
            options.extend(ready.presets.iter().map(|preset| (preset.id.clone(), preset.name.clone())));
        }
        options
    };
    let value = move || {
        state.model.with(|model| match model {
            ModelInput::Preset(id) => id.clone(),
            ModelInput::Custom { .. } => String::new(),
        })
    };
    view! {
        <super::field::Choice
            label="Preset"
            options=Signal::derive(options)
            value=Signal::derive(value)
            take=move |id: String| {
                if !id.is_empty() {
                    state.notice.set(None);
                    state.model.set(ModelInput::Preset(id));
                }
            }
        />
    }
}

/// The config as text, to read and to edit.
#[component]
fn Editor(state: State) -> impl IntoView {
    let edit = move |text: String| {
        state.model.update(|model| match model {
            ModelInput::Custom { text: old, .. } => *old = text,
            ModelInput::Preset(id) => {
                *model = ModelInput::Custom { text, companion: None, file: Some(id.clone()) };
            }
        });
    };
    view! {
        <details class="more">
            <summary>"config.json"</summary>
            <textarea
                id="config"
                class="code"
                rows="14"
                spellcheck="false"
                autocomplete="off"
                aria-label="config.json"
                aria-invalid=move || state.read_model.with(|kept| kept.error.is_some()).to_string()
                prop:value=move || state.config_text()
                on:input=move |ev| edit(event_target_value(&ev))
            ></textarea>
        </details>
    }
}

/// Every field with its origin.
#[component]
fn Fields(state: State) -> impl IntoView {
    let rows = move || {
        let model = state.read_model.with(|kept| kept.value.clone())?;
        let spec = &model.spec;
        let row = |name: &str, value: String, origin: String| {
            view! { <tr><th scope="row"><code>{name.to_owned()}</code></th><td>{value}</td><td class="origin">{origin}</td></tr> }
        };
        let fields = spec.fields().into_iter().map(|(name, reading)| {
            let value = match &reading.value {
                Ok(value) => grouped(u128::from(*value)),
                Err(reason) => reason.clone(),
            };
            row(name, value, reading.origin.to_string())
        });
        let method = spec.quantization.method.clone().unwrap_or_else(|| "none".to_owned());
        Some((
            fields.collect_view(),
            row("dtype", spec.dtype.dtype.name().to_owned(), spec.dtype.origin.to_string()),
            row("quantization", method, spec.quantization_origin().to_string()),
        ))
    };
    view! {
        <details class="more">
            <summary>"Every field and where it came from"</summary>
            <table class="fields"><tbody>{rows}</tbody></table>
        </details>
    }
}

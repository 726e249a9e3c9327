//! The model: a preset, or a config that was pasted, dropped, chosen or edited.

use super::facts::Facts;
use super::html::{Block, Html, text};
use super::intake;
use super::state::State;
use crate::format::grouped;
use crate::model::{ConfigError, Origin};
use crate::report;
use crate::scenario::state::{ModelChoice, Section};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// The model panel.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    let model = move || state.resolved().map(|outcome| outcome.model.clone());
    let facts = text(move || {
        let mut html = Html::default();
        html.raw("<ul class=\"facts-list\" aria-label=\"What was read\">");
        for fact in model().map(|model| report::facts(&model.spec)).unwrap_or_default() {
            html.element("<li>", &fact, "</li>");
        }
        html.raw("</ul>").take()
    });
    let browse = move |ev: web_sys::Event| {
        let input = ev.target().and_then(|t| t.dyn_into::<web_sys::HtmlInputElement>().ok());
        if let Some(input) = input {
            if let Some(files) = input.files() {
                intake::take_files(state, &files);
            }
            // So that choosing the same file again is a change again.
            input.set_value("");
        }
    };
    let problems = text(move || {
        let mut html = Html::default();
        state.status.with(|status| {
            if let Some(notice) = &status.notice {
                html.element("<p class=\"error\" role=\"alert\">", notice, "</p>");
            }
        });
        if let Some(draft) = state.draft() {
            refused(state, &draft.error, &mut html);
        }
        html.take()
    });
    let back = Callback::new(move |_: String| state.forget_draft());
    view! {
        <section class="card panel">
            <super::share::Heading state section=Section::Model title=text(|| "Model".to_owned())/>
            <Presets state/>
            <Block class="read" markup=facts/>
            <p class="hint">{text(move || model().map(|model| model.source.clone()).unwrap_or_default())}</p>
            <p class="hint">
                "Paste or drop a config.json anywhere, or "
                <label class="browse">
                    "browse"
                    <input
                        type="file"
                        id="browse"
                        class="visually-hidden"
                        accept=".json,application/json"
                        multiple
                        on:change=super::html::changed(browse)
                    />
                </label>
                "."
            </p>
            <Block class="problems" markup=problems act=back/>
            <Editor state/>
            <Fields state/>
        </section>
    }
}

/// The error with its line and a caret, and the way back.
fn refused(state: State, error: &ConfigError, html: &mut Html) {
    let mut message = error.to_string();
    if let Some(first) = message.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    html.element("<div class=\"refused\" role=\"alert\" id=\"config-error\"><p>", &message, ".</p>");
    if let ConfigError::Json(error) = error {
        html.element("<pre class=\"excerpt\">", &error.excerpt(), "</pre>");
    }
    if let Some(outcome) = state.resolved() {
        html.raw("<button type=\"button\" class=\"chip\" data-act=\"back\">Back to ");
        html.text(&outcome.model.name).raw("</button>");
    }
    html.raw("</div>");
}

#[component]
fn Presets(state: State) -> impl IntoView {
    let choice = move || state.scenario.with(|scenario| scenario.model.clone());
    let options = move || {
        let mut options = Vec::new();
        if matches!(choice(), ModelChoice::Custom(_)) {
            let name = state.resolved().map_or_else(|| "config".to_owned(), |outcome| outcome.model.name.clone());
            options.push((String::new(), format!("{name} (yours)")));
        }
        if let Facts::Ready(ready) = Facts::clone(&state.facts.now()) {
            options.extend(ready.presets.iter().map(|preset| (preset.id.clone(), preset.name.clone())));
        }
        options
    };
    let value = move || match choice() {
        ModelChoice::Preset(id) => id,
        ModelChoice::Custom(_) => String::new(),
    };
    view! {
        <super::field::Choice
            label="Preset"
            options=Callback::new(move |()| options())
            value=text(value)
            take=Callback::new(move |id: String| {
                if !id.is_empty() {
                    state.forget_draft();
                    state.edit(Section::Model, "preset", |scenario| scenario.model = ModelChoice::Preset(id));
                }
            })
        />
    }
}

/// The config as text, to read and to edit.
#[component]
fn Editor(state: State) -> impl IntoView {
    let edit = move |text: String| {
        let (companion, file) = state.scenario.with_untracked(|scenario| match &scenario.model {
            ModelChoice::Custom(custom) => (custom.companion.clone(), Some(custom.name.clone())),
            ModelChoice::Preset(id) => (None, Some(id.clone())),
        });
        state.take_config(text, companion, file);
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
                aria-invalid=text(move || state.draft().is_some().to_string())
                prop:value=text(move || state.config_text())
                on:input=super::html::changed(move |ev| edit(event_target_value(&ev)))
            ></textarea>
        </details>
    }
}

/// Every field with its origin.
#[component]
fn Fields(state: State) -> impl IntoView {
    let markup = text(move || {
        let Some(outcome) = state.resolved() else { return String::new() };
        let spec = &outcome.model.spec;
        let mut html = Html::default();
        html.raw("<table class=\"fields\"><tbody>");
        let mut row = |name: &str, value: &str, origin: &Origin| {
            html.element("<tr><th scope=\"row\"><code>", name, "</code></th>").element("<td>", value, "</td>");
            html.element("<td class=\"origin\">", &origin.to_string(), "</td></tr>");
        };
        for (name, reading) in spec.fields() {
            match &reading.value {
                Ok(value) => row(name, &grouped(u128::from(*value)), &reading.origin),
                Err(reason) => row(name, reason, &reading.origin),
            }
        }
        row("dtype", spec.dtype.dtype.name(), &spec.dtype.origin);
        let method = spec.quantization.method.as_deref().unwrap_or("none");
        row("quantization", method, &spec.quantization_origin());
        html.raw("</tbody></table>").take()
    });
    view! {
        <details class="more">
            <summary>"Every field and where it came from"</summary>
            <Block class="scroll" markup/>
        </details>
    }
}

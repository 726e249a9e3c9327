//! Pasting and dropping anywhere on the page, and choosing a file.

use super::facts::Facts;
use super::html;
use super::state::State;
use crate::bench::desk;
use crate::json::MAX_BYTES;
use crate::scenario::file::from_file;
use crate::scenario::{Document, recognise};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;

/// Listens for pastes and drops.
pub(super) fn listen(state: State) {
    let drag = move |on: bool| {
        if state.status.with_untracked(|status| status.dragging) != on {
            state.status.update(|status| status.dragging = on);
        }
    };
    html::listen("paste", move |event| {
        if is_text_field(event.target().as_ref()) {
            return;
        }
        let data = event.dyn_ref::<web_sys::ClipboardEvent>().and_then(web_sys::ClipboardEvent::clipboard_data);
        let text = data.and_then(|data| data.get_data("text/plain").ok()).unwrap_or_default();
        if !text.trim().is_empty() {
            event.prevent_default();
            brought(state, text);
        }
    });
    html::listen("dragover", move |event| {
        event.prevent_default();
        drag(true);
    });
    html::listen("dragleave", move |event| {
        if event.dyn_ref::<web_sys::DragEvent>().is_some_and(|event| event.related_target().is_none()) {
            drag(false);
        }
    });
    html::listen("drop", move |event| {
        event.prevent_default();
        drag(false);
        let data = event.dyn_ref::<web_sys::DragEvent>().and_then(web_sys::DragEvent::data_transfer);
        let Some(data) = data else { return };
        match data.files() {
            Some(files) if files.length() > 0 => take_files(state, &files),
            _ => {
                let text = data.get_data("text/plain").unwrap_or_default();
                if !text.trim().is_empty() {
                    brought(state, text);
                }
            }
        }
    });
}

/// Takes a text that was pasted or dropped to where it belongs.
fn brought(state: State, text: String) {
    if desk::is_for(&text) {
        super::measure::bring_text(state, &text);
    } else {
        take(state, text, None);
    }
}

/// Reads files that were dropped or chosen, one after the other: a config, and what belongs beside it.
pub(super) fn take_files(state: State, files: &web_sys::FileList) {
    let files: Vec<web_sys::File> = (0..files.length()).filter_map(|at| files.get(at)).collect();
    super::measure::begin(state);
    html::spawn(async move {
        let mut read = Vec::new();
        for file in files {
            // A config is small text; what is neither may be a measurement.
            if file.size() > MAX_BYTES as f64 || desk::is_named_for(&file.name()) {
                super::measure::bring(state, &file);
            } else if let Ok(text) = JsFuture::from(file.text()).await {
                let text = text.as_string().unwrap_or_default();
                if text.trim().is_empty() {
                    notice(state, format!("{} is empty.", file.name()));
                } else if desk::is_for(&text) {
                    super::measure::bring(state, &file);
                } else {
                    read.push((text, file.name()));
                }
            } else {
                notice(state, format!("{} could not be read.", file.name()));
            }
        }
        // A quantization document belongs to the config that is dropped with it.
        let (beside, configs): (Vec<_>, Vec<_>) =
            read.into_iter().partition(|(text, _)| recognise(text) == Document::Companion);
        let several = (configs.len() > 1).then(|| configs.last().map(|(_, name)| name.clone())).flatten();
        for (text, name) in configs.into_iter().chain(beside) {
            take(state, text, Some(name));
        }
        if let Some(name) = several {
            notice(
                state,
                format!("Several files came at once: {name} is taken. To compare models, add a scenario for each."),
            );
        }
    });
}

/// Takes a text as a new config, as the quantization document of the one that is there, or as a saved comparison.
pub(super) fn take(state: State, text: String, name: Option<String>) {
    let name = name.map(|name| name.strip_suffix(".json").unwrap_or(&name).to_owned()).filter(|name| name != "config");
    state.forget_draft();
    match recognise(&text) {
        Document::Config => state.take_config(text, None, name),
        Document::Companion => {
            let config = untrack(move || state.config_text());
            let file = untrack(move || state.resolved()).map(|outcome| outcome.model.name.clone());
            state.take_config(config, Some(text), file);
        }
        Document::Comparison => {
            let Facts::Ready(facts) = Facts::clone(&state.facts.now_untracked()) else { return };
            match from_file(&text, &facts.presets) {
                Ok(opened) => {
                    if let Err(error) = super::link::show(state, opened, &facts) {
                        notice(state, error);
                    }
                }
                Err(error) => notice(state, error.to_string()),
            }
        }
    }
}

fn notice(state: State, text: String) {
    state.status.update(|status| status.notice = Some(text));
}

fn is_text_field(target: Option<&web_sys::EventTarget>) -> bool {
    target.and_then(|target| target.dyn_ref::<web_sys::Element>()).is_some_and(|element| {
        element.matches("input:not([type=radio]):not([type=checkbox]), textarea, [contenteditable]").unwrap_or(false)
    })
}

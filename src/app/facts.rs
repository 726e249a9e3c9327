//! Facts that the page fetches beside itself after the first paint: config classes and presets.

use super::state::State;
use crate::model::ClassTable;
use crate::model::presets::{self, Preset};
use leptos::prelude::*;
use std::sync::Arc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// The facts, once they are there.
#[derive(Clone, Debug)]
pub(super) enum Facts {
    /// On their way.
    Loading,
    /// Here.
    Ready(Arc<Ready>),
    /// Not to be had, with the reason.
    Failed(String),
}

/// Class facts and presets.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    pub(super) classes: ClassTable,
    pub(super) presets: Vec<Preset>,
}

impl Ready {
    /// The preset of an id.
    pub(super) fn preset(&self, id: &str) -> Option<&Preset> {
        self.presets.iter().find(|preset| preset.id == id)
    }
}

/// Begins to fetch.
pub(super) fn fetch(state: State) {
    super::html::spawn(async move {
        let facts = match load().await {
            Ok(ready) => {
                // Before anything is shown, so that nothing else is.
                super::link::open(state, &ready).await;
                Facts::Ready(Arc::new(ready))
            }
            Err(reason) => Facts::Failed(reason),
        };
        state.facts.set(facts);
    });
}

async fn load() -> Result<Ready, String> {
    let classes = text("classes.json").await?;
    let presets = text("presets.json").await?;
    Ok(Ready {
        classes: ClassTable::parse(&classes).map_err(|error| format!("classes.json: {error}"))?,
        presets: presets::parse(&presets).map_err(|error| format!("presets.json: {error}"))?,
    })
}

async fn text(path: &str) -> Result<String, String> {
    // The single file holds them itself.
    if let Some(held) = document().get_element_by_id(path).and_then(|element| element.text_content()) {
        return Ok(held);
    }
    let failed = |what: &str| format!("{path} could not be loaded ({what}). Reload the page to try again.");
    let response = JsFuture::from(window().fetch_with_str(path)).await.map_err(|_| failed("no answer"))?;
    let response: web_sys::Response = response.dyn_into().map_err(|_| failed("no answer"))?;
    if !response.ok() {
        return Err(failed(&format!("status {}", response.status())));
    }
    let body = response.text().map_err(|_| failed("no text"))?;
    let body: JsValue = JsFuture::from(body).await.map_err(|_| failed("cut off"))?;
    body.as_string().ok_or_else(|| failed("no text"))
}

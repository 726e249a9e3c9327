//! Facts that the page fetches beside itself after the first paint: config classes and presets.

use super::state::State;
use crate::model::ClassTable;
use crate::model::presets::{self, Preset};
use std::sync::Arc;
use wasm_bindgen::prelude::*;
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

/// The text of a file beside the page, or why there is none.
async fn text(path: &str) -> Result<String, String> {
    let text = JsFuture::from(fact(path)).await.map_err(|reason| reason.as_string().unwrap_or_default())?;
    Ok(text.as_string().unwrap_or_default())
}

#[wasm_bindgen]
extern "C" {
    /// Fetches a file beside the page, once. `boot.js` has it.
    #[wasm_bindgen(js_name = fact)]
    fn fact(path: &str) -> js_sys::Promise;
}

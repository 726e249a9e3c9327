//! What a panic leaves in the browser's console: its message and its place. The page says the rest itself.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn error(text: &str);
}

/// Has panics written to the console.
pub(crate) fn show() {
    std::panic::set_hook(Box::new(|panic| error(&panic.to_string())));
}

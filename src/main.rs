//! The page's entry: panic hook and mount, nothing else.

#[cfg(target_arch = "wasm32")]
fn main() {
    use leptos::prelude::*;
    use wasm_bindgen::JsCast;

    console_error_panic_hook::set_once();
    let Some(app) = document().get_element_by_id("app").and_then(|app| app.dyn_into::<web_sys::HtmlElement>().ok())
    else {
        return;
    };
    app.set_inner_html("");
    leptos::mount::mount_to(app, || view! { <p>"rooflens"</p> }).forget();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {}

//! What leaves the page: text to paste, files to keep, pictures, print.

use super::compare::{heading, input};
use super::facts::Facts;
use super::html::{Block, text};
use super::link;
use super::scenarios::{Entries, letter};
use super::state::{Outcome, State};
use crate::estimate::Method;
use crate::export::comparison::{self, Column, Sheet};
use crate::scenario::file::to_file;
use crate::scenario::state::Section;
use leptos::prelude::*;
use std::fmt::Write as _;
use std::sync::Arc;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};

/// The menu.
#[component]
pub(super) fn Menu(state: State) -> impl IntoView {
    let act = Callback::new(move |act: String| run(state, &act));
    let markup = text(|| {
        [
            ("markdown", "Copy as Markdown"),
            ("csv", "Save CSV, every term exact"),
            ("json", "Save JSON, every term exact"),
            ("file", "Save this comparison as a file"),
            ("print", "Print"),
        ]
        .map(|(act, label)| format!("<button type=\"button\" data-act=\"{act}\">{label}</button>"))
        .concat()
    });
    view! {
        <details class="menu" id="export">
            <summary class="button">"Export"</summary>
            <Block class="menu-items" markup act/>
        </details>
    }
}

fn run(state: State, act: &str) {
    if let Some(menu) = document().get_element_by_id("export") {
        let _ = menu.remove_attribute("open");
    }
    match act {
        "markdown" => {
            with_sheet(state, move |sheet| link::copy(state, "Markdown", &comparison::markdown(sheet)));
        }
        "csv" => with_sheet(state, |sheet| download("rooflens.csv", "text/csv", &comparison::csv(sheet))),
        "json" => with_sheet(state, |sheet| download("rooflens.json", "application/json", &comparison::json(sheet))),
        "file" => {
            if let Facts::Ready(facts) = Facts::clone(&state.facts.now_untracked()) {
                let file = state.comparison.with_untracked(|comparison| to_file(comparison, &facts.presets));
                download("comparison.rooflens.json", "application/json", &file);
            }
        }
        _ => {
            let _ = window().print();
        }
    }
}

/// Does something with the scenarios as exports take them.
fn with_sheet(state: State, take: impl FnOnce(&Sheet) + 'static) {
    let take: Box<dyn FnOnce(&Sheet)> = Box::new(take);
    link::address(state, move |address| take(&sheet(state, address.unwrap_or_default())));
}

fn sheet(state: State, link: String) -> Sheet {
    let held = untrack(move || Entries::of(state));
    let baseline = state.comparison.with_untracked(|comparison| comparison.baseline());
    let (scope, method) = untrack(move || super::counted(state));
    let column = |(outcome, (place, name)): (&Arc<Outcome>, &(usize, String))| {
        Some(Column {
            name: heading(*place, name),
            key: letter(*place),
            baseline: outcome.scenario.id == baseline,
            inputs: Section::ALL.map(|section| input(section, outcome)),
            breakdown: outcome.breakdown.as_ref().ok()?.clone(),
            per_gpu: outcome.per_gpu.as_ref().ok()?.clone(),
            roof: outcome.roof.clone(),
            accelerator: outcome.accelerator.clone(),
            stages: outcome.settings.layout.pp.get(),
            step: outcome.step().copied(),
        })
    };
    Sheet {
        scope,
        method,
        columns: held.outcomes.iter().zip(&held.named).filter_map(column).collect(),
        notes: untrack(move || super::notes::strong(state, None)),
        link,
    }
}

/// Gives a file to the browser's downloads.
pub(super) fn download(name: &str, kind: &str, content: &str) {
    let parts = js_sys::Array::of1(&JsValue::from_str(content));
    let options = web_sys::BlobPropertyBag::new();
    options.set_type(kind);
    if let Ok(blob) = web_sys::Blob::new_with_str_sequence_and_options(&parts, &options) {
        save(name, &blob);
    }
}

fn save(name: &str, blob: &web_sys::Blob) {
    let Ok(address) = web_sys::Url::create_object_url_with_blob(blob) else { return };
    let anchor = document().create_element("a").ok().and_then(|e| e.dyn_into::<web_sys::HtmlAnchorElement>().ok());
    if let Some(anchor) = anchor {
        anchor.set_href(&address);
        anchor.set_download(name);
        anchor.click();
    }
    // The download has begun by then; the browser holds what it needs.
    set_timeout(
        move || {
            let _ = web_sys::Url::revoke_object_url(&address);
        },
        std::time::Duration::from_secs(10),
    );
}

/// Saves a chart, on white and with a caption of its inputs and the link, as SVG or PNG.
pub(super) fn picture(state: State, name: &'static str, kind: String, svg: String, size: (f64, f64)) {
    with_sheet(state, move |sheet| {
        // Sweeps are vLLM's whatever counts beside them.
        let method = if name == "sweep" { Method::Vllm } else { sheet.method };
        let svg = captioned(&Sheet { method, ..sheet.clone() }, &svg, size);
        if kind == "svg" {
            download(&format!("{name}.svg"), "image/svg+xml", &svg);
            return;
        }
        let address = format!("data:image/svg+xml,{}", String::from(js_sys::encode_uri_component(&svg)));
        let Ok(image) = web_sys::HtmlImageElement::new() else { return };
        let drawn = image.clone();
        let loaded = Closure::once_into_js(move || {
            let _ = rasterise(&drawn, name);
        });
        image.set_onload(Some(loaded.unchecked_ref()));
        image.set_src(&address);
    });
}

/// Draws a picture at twice its size, for slides, and saves it as PNG; `None` where the browser does not do that.
fn rasterise(picture: &web_sys::HtmlImageElement, name: &'static str) -> Option<()> {
    let canvas = document().create_element("canvas").ok()?.dyn_into::<web_sys::HtmlCanvasElement>().ok()?;
    canvas.set_width(picture.natural_width() * 2);
    canvas.set_height(picture.natural_height() * 2);
    let context = canvas.get_context("2d").ok()??.dyn_into::<web_sys::CanvasRenderingContext2d>().ok()?;
    let (width, height) = (f64::from(canvas.width()), f64::from(canvas.height()));
    context.draw_image_with_html_image_element_and_dw_and_dh(picture, 0.0, 0.0, width, height).ok()?;
    let done = Closure::once_into_js(move |blob: web_sys::Blob| save(&format!("{name}.png"), &blob));
    canvas.to_blob(done.unchecked_ref()).ok()
}

/// Cuts a text into lines of a caption; nothing is left out, so that a link stays one that can be copied.
fn wrap(text: &str, lines: &mut Vec<String>) {
    const LETTERS: usize = 110;
    let mut line = String::new();
    // Control characters are none of XML's.
    for (at, letter) in text.chars().filter(|letter| !letter.is_control()).enumerate() {
        if at > 0 && at % LETTERS == 0 {
            lines.push(std::mem::take(&mut line));
        }
        line.push(letter);
    }
    lines.push(line);
}

/// The chart with a margin, and below it what it is of.
fn captioned(sheet: &Sheet, svg: &str, (width, height): (f64, f64)) -> String {
    const MARGIN: f64 = 16.0;
    const LINE: f64 = 15.0;
    let mut lines = vec![format!("counted by: the {} model", sheet.method.name())];
    for column in &sheet.columns {
        wrap(&format!("{}: {}", column.name, column.inputs.join(" · ")), &mut lines);
    }
    sheet.notes.iter().for_each(|note| wrap(note, &mut lines));
    wrap(&sheet.link, &mut lines);
    let rows = u32::try_from(lines.len()).map_or(0.0, f64::from);
    let (full_width, full_height) = (width + 2.0 * MARGIN, height + 3.0 * MARGIN + rows * LINE);
    let inner = svg.get(svg.find("<svg").unwrap_or(0)..).unwrap_or_default();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{full_width}\" height=\"{full_height}\"><rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/><svg x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{width}\" height=\"{height}\">{inner}</svg>"
    );
    let mut y = height + 2.0 * MARGIN + 4.0;
    for line in &lines {
        let mut html = super::html::Html::default();
        html.text(line);
        let _ = write!(
            out,
            "<text x=\"{MARGIN}\" y=\"{y}\" font-family=\"system-ui, sans-serif\" font-size=\"10\" fill=\"#646c76\">{}</text>",
            html.take()
        );
        y += LINE;
    }
    out + "</svg>"
}

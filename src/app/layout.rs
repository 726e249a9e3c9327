//! Parallel sizes, and what would divide where vLLM would refuse.

use super::field::NumberField;
use super::html::{Block, Html, flag, text};
use super::state::State;
use crate::layout::Refusal;
use crate::scenario::Size;
use crate::scenario::state::Section;
use leptos::prelude::*;

/// The layout panel.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    let layout = move || state.scenario.with(|scenario| scenario.layout);
    let title = text(move || {
        let gpus = layout().gpus();
        format!("Layout · {} {}", crate::format::grouped(gpus), if gpus == 1 { "GPU" } else { "GPUs" })
    });
    let refused = text(move || {
        let mut html = Html::default();
        let layout = layout();
        for refusal in state.resolved().map(|outcome| layout.refusals(&outcome.model.spec)).unwrap_or_default() {
            refused(&mut html, &refusal);
        }
        html.take()
    });
    let fit = Callback::new(move |act: String| {
        let (setting, value) = act.split_once('=').unwrap_or_default();
        let size = [Size::Tp, Size::Pp].into_iter().find(|size| size.label().eq_ignore_ascii_case(setting));
        if let (Some(size), Ok(value)) = (size, value.parse()) {
            resize(state, size, value);
        }
    });
    let set = move |ev: web_sys::Event| {
        let on = event_target_checked(&ev);
        state.edit(Section::Layout, "ep", |scenario| scenario.layout.ep = on);
    };
    view! {
        <section class="card panel">
            <super::share::Heading state section=Section::Layout title/>
            <div class="sizes">
                <SizeField state size=Size::Tp/>
                <SizeField state size=Size::Pp/>
                <SizeField state size=Size::Dp/>
                <label class="toggle">
                    <span class="name" title="Expert parallelism: experts are spread over all TP x DP ranks">"EP"</span>
                    <input type="checkbox" id="ep" prop:checked=flag(move || layout().ep) on:change=super::html::changed(set)/>
                    <span class="face">{text(move || if layout().ep { "on" } else { "off" }.to_owned())}</span>
                </label>
            </div>
            <p class="hint">"Tensor, pipeline, data and expert parallel. The batch is that of one data-parallel rank."</p>
            <Block class="refusals" markup=refused act=fit/>
        </section>
    }
}

fn refused(html: &mut Html, refusal: &Refusal) {
    html.element("<div class=\"refused\" role=\"alert\"><p>vLLM refuses: ", &refusal.reason, ".</p>");
    if !refusal.fits.is_empty() {
        let which = if refusal.setting == "ep" { "EP ranks" } else { refusal.setting };
        html.element("<p class=\"fits\">Would work, ", &which.to_ascii_uppercase(), ": ");
        for value in refusal.fits.iter().take(32) {
            let value = value.to_string();
            if refusal.setting == "ep" {
                html.element("<span class=\"chip\">", &value, "</span>");
            } else {
                html.raw("<button type=\"button\" class=\"chip\" data-act=\"").text(refusal.setting).raw("=");
                html.text(&value).raw("\">").text(&value).raw("</button>");
            }
        }
        html.raw("</p>");
    }
    html.raw("</div>");
}

/// One size. The arrow keys double and halve it.
#[component]
fn SizeField(state: State, size: Size) -> impl IntoView {
    let value = move || state.scenario.with(|scenario| size.of(&scenario.layout));
    let take = Callback::new(move |text: String| {
        let read = size.read(&text)?;
        state.edit(Section::Layout, size.label(), |scenario| size.set(&mut scenario.layout, read));
        Ok(())
    });
    let step = Callback::new(move |up: bool| {
        let now = u64::from(untrack(value).get());
        resize(state, size, if up { (now * 2).min(1024) } else { (now / 2).max(1) });
    });
    view! {
        <NumberField state label=size.label() value=text(move || value().to_string()) take step/>
    }
}

fn resize(state: State, size: Size, value: u64) {
    if let Ok(read) = size.read(&value.to_string()) {
        state.edit(Section::Layout, size.label(), |scenario| size.set(&mut scenario.layout, read));
    }
}

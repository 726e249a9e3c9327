//! Parallel sizes, and what would divide where vLLM would refuse.

use super::field::NumberField;
use super::state::State;
use crate::layout::Refusal;
use crate::scenario::Size;
use leptos::prelude::*;

/// The layout panel.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    let gpus = move || {
        state.read_layout.with(|kept| kept.value.as_ref().map(|layout| layout.gpus())).map_or_else(
            String::new,
            |gpus| {
                let unit = if gpus == 1 { "GPU" } else { "GPUs" };
                format!(" · {} {unit}", crate::format::grouped(gpus))
            },
        )
    };
    let refusals = Memo::new(move |_| {
        let model = state.read_model.with(|kept| kept.value.clone());
        let layout = state.read_layout.with(|kept| kept.value.clone());
        match (model, layout) {
            (Some(model), Some(layout)) => layout.refusals(&model.spec),
            _ => Vec::new(),
        }
    });
    view! {
        <section class="card panel">
            <h2>"Layout" {gpus}</h2>
            <div class="sizes">
                <SizeField state size=Size::Tp/>
                <SizeField state size=Size::Pp/>
                <SizeField state size=Size::Dp/>
                <label class="toggle">
                    <span class="name">"EP"</span>
                    <input
                        type="checkbox"
                        id="ep"
                        prop:checked=move || state.layout.with(|layout| layout.ep)
                        on:change=move |ev| state.layout.update(|layout| layout.ep = event_target_checked(&ev))
                    />
                    <span class="face">{move || if state.layout.with(|layout| layout.ep) { "on" } else { "off" }}</span>
                </label>
            </div>
            {move || refusals.get().into_iter().map(|refusal| refused(state, refusal)).collect_view()}
        </section>
    }
}

fn refused(state: State, refusal: Refusal) -> impl IntoView {
    let size = match refusal.setting {
        "tp" => Some(Size::Tp),
        "pp" => Some(Size::Pp),
        _ => None,
    };
    let fit = move |value: u64| match size {
        Some(size) => {
            let set = move |_| state.layout.update(|layout| layout.set(size, value.to_string()));
            view! { <button type="button" class="chip" on:click=set>{value.to_string()}</button> }.into_any()
        }
        None => view! { <span class="chip">{value.to_string()}</span> }.into_any(),
    };
    let fits: Vec<u64> = refusal.fits.into_iter().take(24).collect();
    let which = size.map_or("ranks", Size::label);
    let would = (!fits.is_empty()).then(|| {
        view! { <p class="fits">{format!("Would work, {which}: ")} {fits.into_iter().map(fit).collect_view()}</p> }
    });
    view! {
        <div class="refused" role="alert">
            <p>"vLLM refuses: " {refusal.reason} "."</p>
            {would}
        </div>
    }
}

/// One size. The arrow keys double and halve it.
#[component]
fn SizeField(state: State, size: Size) -> impl IntoView {
    let take = move |text: String| {
        let mut input = state.layout.get_untracked();
        input.set(size, text);
        let read = input.size(size).map(|_| ());
        state.layout.set(input);
        read
    };
    let step = Callback::new(move |up: bool| {
        if let Ok(now) = state.layout.with_untracked(|layout| layout.size(size)) {
            let next = if up { now.get().saturating_mul(2).min(1024) } else { (now.get() / 2).max(1) };
            state.layout.update(|layout| layout.set(size, next.to_string()));
        }
    });
    view! { <NumberField label=size.label() value=Signal::derive(move || state.layout.with(|l| l.text(size).to_owned())) take step/> }
}

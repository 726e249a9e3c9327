//! Parallel sizes, and what would divide where vLLM would refuse.

use super::field::NumberField;
use super::state::State;
use crate::layout::Refusal;
use crate::scenario::Size;
use crate::scenario::state::Section;
use leptos::prelude::*;

/// The layout panel.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    let layout = Memo::new(move |_| state.scenario.with(|scenario| scenario.layout));
    let gpus = move || {
        let gpus = layout.get().gpus();
        format!(" · {} {}", crate::format::grouped(gpus), if gpus == 1 { "GPU" } else { "GPUs" })
    };
    let refusals =
        Memo::new(move |_| state.shown().map(|outcome| layout.get().refusals(&outcome.model.spec)).unwrap_or_default());
    view! {
        <section class="card panel">
            <super::share::Heading state section=Section::Layout>"Layout" {gpus}</super::share::Heading>
            <div class="sizes">
                <SizeField state size=Size::Tp/>
                <SizeField state size=Size::Pp/>
                <SizeField state size=Size::Dp/>
                <label class="toggle">
                    <span class="name">"EP"</span>
                    <input
                        type="checkbox"
                        id="ep"
                        prop:checked=move || layout.get().ep
                        on:change=move |ev| {
                            let on = event_target_checked(&ev);
                            state.edit(Section::Layout, "ep", |scenario| scenario.layout.ep = on);
                        }
                    />
                    <span class="face">{move || if layout.get().ep { "on" } else { "off" }}</span>
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
            let set = move |_| resize(state, size, value);
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
    let value = Memo::new(move |_| state.scenario.with(|scenario| size.of(&scenario.layout)));
    let take = Callback::new(move |text: String| {
        let read = size.read(&text)?;
        state.edit(Section::Layout, size.label(), |scenario| size.set(&mut scenario.layout, read));
        Ok(())
    });
    let step = Callback::new(move |up: bool| {
        let now = u64::from(value.get_untracked().get());
        resize(state, size, if up { (now * 2).min(1024) } else { (now / 2).max(1) });
    });
    view! {
        <NumberField state label=size.label() value=Signal::derive(move || value.get().to_string()) take step/>
    }
}

fn resize(state: State, size: Size, value: u64) {
    if let Ok(read) = size.read(&value.to_string()) {
        state.edit(Section::Layout, size.label(), |scenario| size.set(&mut scenario.layout, read));
    }
}

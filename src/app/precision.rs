//! Quantization and dtypes.

use super::field::Choice;
use super::html::{flag, text};
use super::state::State;
use crate::model::dtype::KV_CACHE_DTYPES;
use crate::model::quantization::{HALF_BYTE, ONE_BYTE, engine_name};
use crate::model::{Dtype, KvDtype};
use crate::scenario::state::{Scenario, Section};
use crate::settings::QuantizationChoice;
use leptos::prelude::*;

/// The precision panel.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    let spec = move || state.resolved().map(|outcome| outcome.model.clone());
    let part = move |read: fn(&Scenario) -> String| text(move || state.scenario.with(read));
    let methods = move || {
        let named = spec().and_then(|model| {
            let method = model.spec.quantization.method.clone().filter(|method| !method.is_empty())?;
            let engine = engine_name(&method, &model.spec.model_type).map(str::to_owned);
            Some((method, engine))
        });
        let auto = match &named {
            Some((method, _)) => format!("{method} (from config)"),
            None => "none (from config)".to_owned(),
        };
        let mut options = vec![("auto".to_owned(), auto)];
        if let Some((_, Some(engine))) = named {
            options.push(("as-engine".to_owned(), format!("{engine} (as the engine names it)")));
        }
        options.push(("none".to_owned(), "none".to_owned()));
        let known = ONE_BYTE.iter().chain(&HALF_BYTE).chain(&["bitsandbytes", "gguf"]);
        options.extend(known.map(|method| ((*method).to_owned(), (*method).to_owned())));
        // A link may name another one.
        let chosen = state.scenario.with(|scenario| scenario.quantization.name().to_owned());
        if options.iter().all(|(method, _)| *method != chosen) {
            options.push((chosen.clone(), chosen));
        }
        options
    };
    let kv = move || {
        let model = spec()
            .map_or("model dtype", |model| state.scenario.with(|s| s.dtype).unwrap_or(model.spec.dtype.dtype).name());
        KV_CACHE_DTYPES
            .iter()
            .map(|name| {
                ((*name).to_owned(), if *name == "auto" { format!("auto · {model}") } else { (*name).to_owned() })
            })
            .collect::<Vec<_>>()
    };
    let dtypes = move || {
        let auto =
            spec().map_or_else(|| "auto".to_owned(), |model| format!("auto · {}", model.spec.dtype.dtype.name()));
        let mut options = vec![("auto".to_owned(), auto)];
        options.extend(Dtype::ALL.map(|dtype| (dtype.name().to_owned(), dtype.name().to_owned())));
        options
    };
    view! {
        <section class="card panel">
            <super::share::Heading state section=Section::Precision title=text(|| "Precision".to_owned())/>
            <Choice
                label="Weights"
                options=Callback::new(move |()| methods())
                value=part(|scenario| scenario.quantization.name().to_owned())
                take=Callback::new(move |name: String| {
                    let choice = QuantizationChoice::named(&name);
                    state.edit(Section::Precision, "quantization", |scenario| scenario.quantization = choice);
                })
            />
            <Choice
                label="KV cache"
                options=Callback::new(move |()| kv())
                value=part(|scenario| scenario.kv_cache.name().to_owned())
                take=Callback::new(move |name: String| {
                    let format = KvDtype::named(&name).unwrap_or(KvDtype::AUTO);
                    state.edit(Section::Precision, "kv", |scenario| scenario.kv_cache = format);
                })
            />
            <Choice
                label="Activations"
                options=Callback::new(move |()| dtypes())
                value=part(|scenario| scenario.dtype.map_or("auto", Dtype::name).to_owned())
                take=Callback::new(move |name: String| {
                    let dtype = Dtype::named(&name);
                    state.edit(Section::Precision, "dtype", |scenario| scenario.dtype = dtype);
                })
            />
            <label class="check">
                <input
                    type="checkbox"
                    id="disable-sliding-window"
                    prop:checked=flag(move || state.scenario.with(|scenario| scenario.disable_sliding_window))
                    on:change=super::html::changed(move |ev| {
                        let off = event_target_checked(&ev);
                        state.edit(Section::Precision, "window", |scenario| scenario.disable_sliding_window = off);
                    })
                />
                <span>"Sliding windows off"</span>
            </label>
        </section>
    }
}

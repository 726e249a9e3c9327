//! Quantization and dtypes.

use super::field::Choice;
use super::state::State;
use crate::model::dtype::KV_CACHE_DTYPES;
use crate::model::quantization::{HALF_BYTE, ONE_BYTE, engine_name};
use crate::model::{Dtype, KvDtype};
use crate::settings::QuantizationChoice;
use leptos::prelude::*;

/// The precision panel.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    let spec = move || state.read_model.with(|kept| kept.value.clone());
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
        options
    };
    let kv = move || {
        let model = spec().map_or("model dtype", |model| state.dtype.get().unwrap_or(model.spec.dtype.dtype).name());
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
            <h2>"Precision"</h2>
            <Choice
                label="Weights"
                options=Signal::derive(methods)
                value=Signal::derive(move || state.quantization.with(|choice| choice.name().to_owned()))
                take=move |name| state.quantization.set(QuantizationChoice::named(&name))
            />
            <Choice
                label="KV cache"
                options=Signal::derive(kv)
                value=Signal::derive(move || state.kv_cache.get().name().to_owned())
                take=move |name| state.kv_cache.set(KvDtype::named(&name).unwrap_or(KvDtype::AUTO))
            />
            <Choice
                label="Activations"
                options=Signal::derive(dtypes)
                value=Signal::derive(move || state.dtype.get().map_or("auto", Dtype::name).to_owned())
                take=move |name| state.dtype.set(Dtype::named(&name))
            />
            <label class="check">
                <input
                    type="checkbox"
                    id="disable-sliding-window"
                    prop:checked=move || state.disable_sliding_window.get()
                    on:change=move |ev| state.disable_sliding_window.set(event_target_checked(&ev))
                />
                <span>"Sliding windows off"</span>
            </label>
        </section>
    }
}

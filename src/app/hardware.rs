//! The accelerator, and the precision whose roof counts.

use super::field::Choice;
use super::state::State;
use crate::format::{Unit, capacity, si};
use crate::hardware::{self, Accelerator, Precision, Status, source_title};
use leptos::prelude::*;

/// The accelerator panel.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    let all = || {
        hardware::all()
            .iter()
            .map(|accelerator| {
                let disputed = if accelerator.status == Status::Disputed { " (disputed)" } else { "" };
                (accelerator.id.to_string(), format!("{}{disputed}", accelerator.name))
            })
            .collect::<Vec<_>>()
    };
    let precisions = move || {
        let auto = state.shown().map_or_else(String::new, |outcome| outcome.computed.precision.label().to_owned());
        let auto = match state.precision.get() {
            None => format!("auto · {auto}"),
            Some(_) => "auto".to_owned(),
        };
        let mut options = vec![("auto".to_owned(), auto)];
        options.extend(Precision::ALL.map(|p| (p.label().to_owned(), p.label().to_owned())));
        options
    };
    view! {
        <section class="card panel">
            <h2>"Accelerator"</h2>
            <Choice
                label="GPU"
                options=Signal::derive(all)
                value=state.accelerator
                take=move |id| state.accelerator.set(id)
            />
            <Choice
                label="Compute"
                options=Signal::derive(precisions)
                value=Signal::derive(move || state.precision.get().map_or("auto", Precision::label).to_owned())
                take=move |name: String| state.precision.set(Precision::ALL.into_iter().find(|p| p.label() == name))
            />
            {move || hardware::by_id(&state.accelerator.get()).map(describe)}
        </section>
    }
}

fn describe(accelerator: &'static Accelerator) -> impl IntoView {
    let peak = |precision: Precision| {
        let rate = accelerator.peaks.of(precision)?;
        Some(view! { <div><dt>{precision.label()}</dt><dd>{si(rate.0, Unit::FLOP_PER_SECOND)}</dd></div> })
    };
    let memory = match accelerator.usable {
        Some(usable) => format!("{} usable", capacity(usable)),
        None => format!("{} nominal", si(accelerator.capacity.as_f64(), Unit::BYTE)),
    };
    let sources: Vec<&str> = accelerator.sources.iter().filter_map(|letter| source_title(letter)).collect();
    let disputed = (accelerator.status == Status::Disputed).then(|| view! { <span class="tag">"disputed"</span> });
    let note = (!accelerator.note.is_empty()).then(|| view! { <p class="hint">{accelerator.note.to_string()}</p> });
    view! {
        <dl class="facts">
            {Precision::ALL.into_iter().filter_map(peak).collect_view()}
            <div><dt>"Memory"</dt><dd>{si(accelerator.bandwidth.0, Unit::BYTE_PER_SECOND)} " · " {memory}</dd></div>
        </dl>
        <p class="hint">
            {disputed} "Dense peak rates. " {sources.join("; ")} ", read " {accelerator.as_of.to_string()} "."
        </p>
        {note}
    }
}

//! What a reader of the numbers must know: refused layouts, components left out, simplifications.

use super::state::{Outcome, State};
use crate::model::Weight;
use crate::report::{engine_note, left_out};
use leptos::prelude::*;

/// The remarks, weightiest first.
#[component]
pub(super) fn Notes(state: State) -> impl IntoView {
    let notes = move || {
        let outcome = state.shown()?;
        let (weighty, info): (Vec<_>, Vec<_>) =
            collect(&outcome).into_iter().partition(|(weight, _)| *weight > Weight::Info);
        let class = |weight| match weight {
            Weight::Strong => "note strong",
            Weight::Caution => "note caution",
            Weight::Info => "note",
        };
        let item = move |(weight, text): (Weight, String)| view! { <li class=class(weight)>{text}</li> };
        let count = info.len();
        let more = (count > 0).then(|| {
            let label = if count == 1 {
                "1 remark on the reading".to_owned()
            } else {
                format!("{count} remarks on the reading")
            };
            view! {
                <details class="more">
                    <summary>{label}</summary>
                    <ul>{info.into_iter().map(item).collect_view()}</ul>
                </details>
            }
        });
        Some(view! {
            <ul class="notes" aria-label="Notes">{weighty.into_iter().map(item).collect_view()}</ul>
            {more}
        })
    };
    view! { <div class="notes-region">{notes}</div> }
}

fn collect(outcome: &Outcome) -> Vec<(Weight, String)> {
    let (spec, settings) = (&outcome.model.spec, &outcome.settings);
    let mut notes = Vec::new();
    if let Err(error) = &outcome.breakdown {
        notes.push((Weight::Strong, format!("There is no estimate: {error}.")));
    }
    for refusal in settings.layout.refusals(spec) {
        notes.push((
            Weight::Strong,
            format!("vLLM would not start with this layout: {}. The numbers are its formulas’, rounded down, and run nowhere.", refusal.reason),
        ));
    }
    if !outcome.vllm.applies() {
        notes.push((Weight::Strong, "No component applies: vLLM’s estimator would be disabled.".to_owned()));
    } else if spec.unreadable.is_none() {
        for (component, reason) in left_out(&outcome.vllm, spec) {
            let text = format!("{} is not in these sums: {reason}.", component.title());
            notes.push((Weight::Strong, text));
        }
    }
    notes.extend(outcome.computed.assumed.map(|text| (Weight::Info, format!("Compute roof: {text}"))));
    notes.extend(outcome.roof.as_ref().and_then(|roof| roof.peak.reason.clone()).map(|text| (Weight::Caution, text)));
    notes.extend(engine_note(settings, spec).map(|text| (Weight::Caution, text)));
    notes.extend(spec.notes.iter().map(|note| (note.weight, note.text.clone())));
    notes
}

//! What a reader of the numbers must know: refused layouts, components left out, simplifications.

use super::compare::heading;
use super::html::{Block, Html, text};
use super::state::{Outcome, State};
use crate::model::Weight;
use crate::report::{engine_note, left_out};
use leptos::prelude::*;

/// The remarks, weightiest first.
#[component]
pub(super) fn Notes(state: State) -> impl IntoView {
    let markup = text(move || {
        let Some(outcome) = state.shown() else { return String::new() };
        let (mut weighty, info): (Vec<_>, Vec<_>) =
            collect(&outcome).into_iter().partition(|(weight, _)| *weight > Weight::Info);
        weighty.extend(strong(state, Some(outcome.scenario.id)).into_iter().map(|text| (Weight::Strong, text)));
        let mut html = Html::default();
        list(&mut html, "<ul class=\"notes\" aria-label=\"Notes\">", &weighty);
        if !info.is_empty() {
            let count = format!("{} remark{} on the reading", info.len(), if info.len() == 1 { "" } else { "s" });
            html.element("<details class=\"more\"><summary>", &count, "</summary>");
            list(&mut html, "<ul class=\"notes\">", &info);
            html.raw("</details>");
        }
        html.take()
    });
    view! { <Block class="notes-region" markup/> }
}

/// What weighs most of every scenario but one, with the scenario in front where there are several.
pub(super) fn strong(state: State, but: Option<u32>) -> Vec<String> {
    let names = super::scenarios::names(state);
    let outcomes = state.outcomes.now();
    let mut notes = Vec::new();
    for outcome in outcomes.0.iter().filter(|outcome| Some(outcome.scenario.id) != but) {
        let place = state.comparison.with(|comparison| comparison.place(outcome.scenario.id)).unwrap_or(usize::MAX);
        for (_, text) in collect(outcome).into_iter().filter(|(weight, _)| *weight == Weight::Strong) {
            notes.push(match names.get(place) {
                Some(name) if outcomes.0.len() > 1 => format!("{}: {text}", heading(place, name)),
                _ => text,
            });
        }
    }
    notes
}

fn list(html: &mut Html, open: &'static str, notes: &[(Weight, String)]) {
    if notes.is_empty() {
        return;
    }
    html.raw(open);
    for (weight, text) in notes {
        html.raw(match weight {
            Weight::Strong => "<li class=\"note strong\">",
            Weight::Caution => "<li class=\"note caution\">",
            Weight::Info => "<li class=\"note\">",
        });
        html.text(text).raw("</li>");
    }
    html.raw("</ul>");
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
            format!(
                "vLLM would not start with this layout: {}. The numbers {}run nowhere.",
                refusal.reason,
                if outcome.physical.is_some() { "" } else { "are its formulas’, rounded down, and " }
            ),
        ));
    }
    let rate = outcome.roof.as_ref().and_then(|roof| roof.peak.reason.clone()).map(|text| (Weight::Caution, text));
    if let Some(answer) = &outcome.physical {
        notes.extend(answer.iter().flat_map(|answer| answer.notes.iter().cloned()));
        notes.extend(rate);
        return notes;
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
    notes.extend(rate);
    notes.extend(engine_note(settings, spec).map(|text| (Weight::Caution, text)));
    notes.extend(spec.notes.iter().map(|note| (note.weight, note.text.clone())));
    notes
}

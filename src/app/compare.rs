//! Scenarios beside each other: figures with ratios to the baseline, and the inputs in which they differ.

use super::html::{Block, Html, text};
use super::scenarios::{Entries, letter};
use super::state::{Outcome, State};
use crate::batch::case::VerifyAs;
use crate::report::{Verdict, compare_rows};
use crate::scenario::state::Section;
use leptos::prelude::*;
use std::sync::Arc;

/// The comparison, as soon as there are two scenarios.
#[component]
pub(super) fn Compare(state: State) -> impl IntoView {
    let single = super::html::flag(move || state.comparison.with(|comparison| comparison.scenarios().len() < 2));
    let choose = Callback::new(move |id: String| {
        if let Ok(id) = id.parse() {
            state.selected.set(id);
        }
    });
    view! {
        <section class="card" id="compare" hidden=single>
            <h2>{text(move || format!("Compare, {}", super::scope(state)))}</h2>
            <div class="scroll" tabindex="0" role="region" aria-label="Comparison">
                <Block class="compare-table" markup=text(move || table(state)) act=choose/>
            </div>
        </section>
    }
}

fn table(state: State) -> String {
    let held = Entries::of(state);
    held.with(|entries| {
        let baseline = state.comparison.with(|comparison| comparison.baseline());
        let base = held.outcomes.iter().position(|outcome| outcome.scenario.id == baseline);
        let mut html = Html::default();
        if entries.len() < 2 {
            return String::new();
        }
        let theme = super::theme(state);
        html.raw("<table class=\"compare\"><thead><tr><th scope=\"col\"><span class=\"visually-hidden\">Figure</span></th>");
        for (at, (entry, outcome)) in entries.iter().zip(&held.outcomes).enumerate() {
            let colour = theme.scenario(entry.place);
            html.raw("<th scope=\"col\"><button type=\"button\" class=\"head\" data-act=\"").text(&outcome.scenario.id.to_string());
            html.raw("\"><span class=\"badge\" style=\"background:").text(&colour.to_string()).raw(";color:");
            html.text(&colour.letter().to_string()).raw("\">").text(&entry.key.to_string()).raw("</span> ");
            html.text(entry.name).raw("</button>").raw(if Some(at) == base { " <em>baseline</em>" } else { "" }).raw("</th>");
        }
        html.raw("</tr></thead><tbody>");
        for row in compare_rows(entries, base) {
            html.element("<tr><th scope=\"row\">", row.label, "</th>");
            for cell in &row.cells {
                html.raw("<td title=\"").text(&cell.exact).raw("\">").text(&cell.text);
                html.element(" <u>", &cell.unit, "</u>");
                if let Some(ratio) = &cell.ratio {
                    html.raw(match cell.verdict {
                        Verdict::Better => "<small class=\"good\">",
                        Verdict::Worse => "<small class=\"worse\">",
                        Verdict::Neutral => "<small>",
                    });
                    html.text(ratio).raw("</small>");
                }
                html.raw("</td>");
            }
            html.raw("</tr>");
        }
        inputs(&mut html, &held.outcomes, base.unwrap_or(0));
        html.raw("</tbody></table>");
        if held.outcomes.iter().any(|outcome| outcome.settings.layout.pp.get() > 1 && outcome.step().is_none()) {
            html.raw("<p class=\"hint\">With pipeline stages the time is that of one GPU’s stage; a step passes all stages one after the other.</p>");
        }
        if held.outcomes.iter().any(|outcome| outcome.settings.layout.dp.get() > 1) {
            html.raw("<p class=\"hint\">The batch is that of one data-parallel rank.</p>");
        }
        html.take()
    })
}

/// The inputs in which scenarios differ; what is not the baseline's stands out.
fn inputs(html: &mut Html, outcomes: &[Arc<Outcome>], base: usize) {
    let Some(first) = outcomes.get(base) else { return };
    for section in Section::ALL {
        let differ = |outcome: &Arc<Outcome>| !outcome.scenario.agrees(section, &first.scenario);
        if !outcomes.iter().any(differ) {
            continue;
        }
        let name = match section {
            Section::Model => "Model",
            Section::Layout => "Layout",
            Section::Precision => "Precision",
            Section::Batch => "Batch",
            Section::Accelerator => "Accelerator",
        };
        html.element("<tr class=\"input\"><th scope=\"row\">", name, "</th>");
        for outcome in outcomes {
            html.raw(if differ(outcome) { "<td class=\"differs\">" } else { "<td>" });
            html.text(&input(section, outcome)).raw("</td>");
        }
        html.raw("</tr>");
    }
}

/// A section of the inputs in a few words.
pub(super) fn input(section: Section, outcome: &Outcome) -> String {
    let settings = &outcome.settings;
    match section {
        Section::Model => outcome.model.name.clone(),
        Section::Layout => settings.layout.label(),
        Section::Precision => {
            let spec = &outcome.model.spec;
            let weights = settings.quantization(spec).filter(|method| !method.is_empty());
            let window = if settings.disable_sliding_window { ", windows off" } else { "" };
            format!(
                "{} weights, {} KV, {}{window}",
                weights.as_deref().unwrap_or("unquantized"),
                kv(outcome),
                settings.dtype(spec).name()
            )
        }
        Section::Batch if outcome.scenario.verify == VerifyAs::Prefill => {
            format!("{}, verifies as prefills", outcome.case.to_text())
        }
        Section::Batch => outcome.case.to_text(),
        Section::Accelerator => match &outcome.roof {
            Some(roof) => format!("{}, {}", outcome.accelerator.name, roof.peak.precision_used.label()),
            None => outcome.accelerator.name.to_string(),
        },
    }
}

/// The dtype that the KV cache is counted in.
fn kv(outcome: &Outcome) -> &'static str {
    match outcome.settings.kv_cache.name() {
        "auto" => outcome.settings.dtype(&outcome.model.spec).name(),
        name => name,
    }
}

/// The letter and name of a scenario, for exports.
pub(super) fn heading(place: usize, name: &str) -> String {
    format!("{} {name}", letter(place))
}

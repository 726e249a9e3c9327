//! The headline figures.

use super::facts::Facts;
use super::html::{Block, Html, text};
use super::state::{Outcome, State};
use crate::estimate::{Method, Scope};
use crate::format::{NONE, Unit, duration, grouped, si};
use crate::report::Summary;
use crate::units::Seconds;
use leptos::prelude::*;

/// What is shown, and its headline figures, in a live region.
#[component]
pub(super) fn Tiles(state: State) -> impl IntoView {
    let markup = text(move || {
        let mut html = Html::default();
        status(state, &mut html);
        html.raw("<dl class=\"tiles\">");
        if let Some(outcome) = state.shown() {
            figures(&outcome, &mut html);
            // It arrives a moment later, and is then put in on its own.
            let known = super::measure::memory(state);
            let (text, title) = known.unwrap_or((NONE.to_owned(), "The physical model is loading".to_owned()));
            tile(&mut html, MEMORY, "Memory, weights", &text, &title);
        }
        html.raw("</dl>").take()
    });
    view! {
        <section class="tiles-region" aria-live="polite" aria-atomic="true" aria-label="Headline figures">
            <Block class="headline" markup/>
        </section>
    }
}

/// What is being estimated, or why the figures are not those of the input.
fn status(state: State, html: &mut Html) {
    if let Facts::Failed(reason) = Facts::clone(&state.facts.now()) {
        html.element("<p class=\"status bad\">", &reason, "</p>");
        return;
    }
    let Some(outcome) = state.shown() else {
        let physical = state.comparison.with(|comparison| comparison.method == Method::Physical);
        html.element(
            "<p class=\"status\">",
            if physical { "Loading the physical model…" } else { "Loading class facts and presets…" },
            "</p>",
        );
        return;
    };
    if state.is_stale() {
        html.raw("<p class=\"status bad\" id=\"stale\">An input has an error. These are the last valid results: ");
    } else {
        html.raw("<p class=\"status\">");
    }
    let layout = outcome.settings.layout.label();
    html.text(&outcome.model.name).raw(" · ").text(&layout).raw(" · ").text(&outcome.case.to_text()).raw("</p>");
}

fn figures(outcome: &Outcome, html: &mut Html) {
    let (Ok(breakdown), Ok(per_gpu)) = (&outcome.breakdown, &outcome.per_gpu) else { return };
    let cost = breakdown.cost();
    // Time is always that of one GPU: all of them run at once.
    let step = outcome.step();
    let summary = Summary::of(per_gpu.cost(), outcome.roof.as_ref()).within(step);
    let exact = |amount: u128, unit: &str| format!("{} {unit}", grouped(amount));
    let titles = match outcome.scope {
        Scope::PerGpu => ["FLOPs per GPU", "Read per GPU", "Written per GPU", "Intensity", "Bound"],
        Scope::Global => [
            "FLOPs, whole model",
            "Read, whole model",
            "Written, whole model",
            "Intensity, whole model",
            "Bound, one GPU",
        ],
    };
    let [flops, read, write, ratio, limit] = titles;
    tile(html, "", flops, &si(cost.flops.as_f64(), Unit::FLOP), &exact(cost.flops.0, "FLOP"));
    tile(html, "", read, &si(cost.read.as_f64(), Unit::BYTE), &exact(cost.read.0, "bytes"));
    tile(html, "", write, &si(cost.write.as_f64(), Unit::BYTE), &exact(cost.write.0, "bytes"));
    let intensity = cost.intensity().map_or_else(|| NONE.to_owned(), |i| si(i.0, Unit::INTENSITY));
    tile(html, "", ratio, &intensity, "FLOPs per byte read or written");
    let bound = summary.bound.map_or(NONE, |bound| bound.label());
    tile(
        html,
        bound,
        limit,
        bound,
        if step.is_some() {
            "What most of the least time goes to"
        } else {
            "What limits one GPU at this arithmetic intensity"
        },
    );
    if let Some(step) = step {
        let exact = |time: Seconds, how: &str| format!("{} s: {how}", time.0);
        let how = "every operation at its roof, communication, all stages one after the other";
        tile(html, "", "Step, at least", &duration(step.bound), &exact(step.bound, how));
        tile(html, "", step.label(), &duration(step.expected), &exact(step.expected, step.source()));
        return;
    }
    let time = summary.time.map_or_else(|| NONE.to_owned(), duration);
    let stages = outcome.settings.layout.pp.get();
    let how = summary.time.map_or_else(String::new, |time| {
        format!("{} s: the larger of FLOPs over peak and bytes over bandwidth, on one GPU", time.0)
    });
    // With pipeline stages a step passes all of them, one after the other: the time of one GPU is a stage's.
    if stages > 1 {
        tile(html, "", "Stage, at least", &time, &format!("{how}. A step passes {stages} stages one after the other."));
    } else {
        tile(html, "", "Step, at least", &time, &how);
    }
}

/// The class of the memory's tile.
const MEMORY: &str = "memory-tile";

/// Puts the memory in.
pub(super) fn set_memory(text: &str, title: &str) {
    let Some(shown) = document().query_selector(".memory-tile").ok().flatten() else { return };
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let _ = shown.set_attribute("title", title);
    for (part, text) in [("b", number), ("span", unit)] {
        if let Some(part) = shown.query_selector(part).ok().flatten() {
            part.set_text_content(Some(text));
        }
    }
}

fn tile(html: &mut Html, class: &str, title: &'static str, text: &str, exact: &str) {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    html.raw("<div class=\"tile ").text(class).raw("\" title=\"").text(exact).raw("\">");
    html.element("<dt>", title, "</dt>").element("<dd><b>", number, "</b>").element(
        "<span>",
        unit,
        "</span></dd></div>",
    );
}

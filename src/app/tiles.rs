//! The headline figures.

use super::state::{Outcome, State};
use crate::format::{Unit, duration, grouped, si};
use crate::report::Summary;
use leptos::prelude::*;

/// A figure: what it is, its number, unit, and the exact value.
struct Figure {
    title: &'static str,
    text: String,
    exact: String,
    bound: bool,
}

/// The headline figures, in a live region.
#[component]
pub(super) fn Tiles(state: State) -> impl IntoView {
    let tile = |figure: Figure| {
        let (number, unit) = match figure.text.split_once(' ') {
            Some((number, unit)) => (number.to_owned(), unit.to_owned()),
            None => (figure.text, String::new()),
        };
        view! {
            <div class="tile" class:bound=figure.bound title=figure.exact>
                <dt>{figure.title}</dt>
                <dd>
                    <b>{number}</b>
                    <span>{unit}</span>
                </dd>
            </div>
        }
    };
    let tiles = move || state.shown().map(|outcome| figures(&outcome).into_iter().map(tile).collect_view());
    view! {
        <section class="tiles-region" aria-live="polite" aria-label="Headline figures">
            <Status state/>
            <dl class="tiles">{tiles}</dl>
        </section>
    }
}

/// What is being estimated, or why the figures are not those of the input.
#[component]
fn Status(state: State) -> impl IntoView {
    use super::facts::Facts;
    move || {
        if let Facts::Failed(reason) = state.facts.get() {
            return view! { <p class="status bad">{reason}</p> }.into_any();
        }
        let Some(outcome) = state.shown() else {
            return view! { <p class="status">"Loading class facts and presets…"</p> }.into_any();
        };
        let what = format!("{} · {} · {}", outcome.model.name, outcome.settings.layout.label(), outcome.case.to_text());
        if state.is_stale() {
            let text = format!("An input has an error. These are the last valid results: {what}");
            view! { <p class="status bad" id="stale">{text}</p> }.into_any()
        } else {
            view! { <p class="status">{what}</p> }.into_any()
        }
    }
}

fn figures(outcome: &Outcome) -> Vec<Figure> {
    let (Ok(breakdown), Ok(per_gpu)) = (&outcome.breakdown, &outcome.per_gpu) else { return Vec::new() };
    let cost = breakdown.cost();
    // Time is always that of one GPU: all of them run at once.
    let summary = Summary::of(per_gpu.cost(), outcome.roof.as_ref());
    let none = || crate::format::NONE.to_owned();
    let amount = |title, unit: Unit, value: f64, exact: u128, name: &str| Figure {
        title,
        text: si(value, unit),
        exact: format!("{} {name}", grouped(exact)),
        bound: false,
    };
    let other = |title, text: Option<String>, exact: Option<String>, bound| Figure {
        title,
        text: text.unwrap_or_else(none),
        exact: exact.unwrap_or_default(),
        bound,
    };
    vec![
        amount("FLOPs", Unit::FLOP, cost.flops.as_f64(), cost.flops.0, "FLOP"),
        amount("Read", Unit::BYTE, cost.read.as_f64(), cost.read.0, "bytes"),
        amount("Written", Unit::BYTE, cost.write.as_f64(), cost.write.0, "bytes"),
        other(
            "Intensity",
            cost.intensity().map(|i| si(i.0, Unit::INTENSITY)),
            cost.intensity().map(|i| format!("{} FLOP per byte read or written", i.0)),
            false,
        ),
        other("Bound", summary.bound.map(|b| b.label().to_owned()), None, true),
        other(
            "Step, at least",
            summary.time.map(duration),
            summary.time.map(|t| format!("{} s: the larger of FLOPs over peak and bytes over bandwidth", t.0)),
            false,
        ),
    ]
}

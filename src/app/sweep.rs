//! Sweeps: one input on the x axis, a result of every scenario above it.
//!
//! A sweep runs hundreds of estimates, so it follows the inputs a moment after an edit, and only while it is unfolded.

use super::canvas::{Chart, Spot};
use super::field;
use super::html::{Block, Html, flag, text};
use super::scenarios::{Entries, letter, names};
use super::state::State;
use crate::chart::Axes;
use crate::report::charts::{Swept, sweep_lines, sweep_scale, sweep_x_tick, sweep_y_tick};
use crate::report::sweep_table;
use crate::sweep::{Axis, Measure, Series, sweep};
use leptos::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// How long the sweep waits after an edit.
const PAUSE: Duration = Duration::from_millis(120);

/// What is to be swept, and what was.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    axis: Axis,
    measure: Measure,
    log: (bool, bool),
    open: bool,
    result: Option<Arc<Result>>,
}

impl Default for Choice {
    fn default() -> Self {
        Self { axis: Axis::Requests, measure: Measure::Time, log: (true, false), open: false, result: None }
    }
}

/// What was swept.
#[derive(Clone, Debug)]
struct Result {
    axis: Axis,
    measure: Measure,
    lines: Vec<(usize, String, Series)>,
}

impl Result {
    fn swept(&self) -> Vec<Swept<'_>> {
        let swept = |(place, name, series)| {
            let (place, name, series): (&usize, &String, &Series) = (place, name, series);
            Swept { key: letter(*place), name, place: *place, series }
        };
        self.lines.iter().map(|(place, name, series)| swept((place, name, series))).collect()
    }
}

/// The panel.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    let now = move || state.view.with(|view| (view.sweep.axis, view.sweep.measure, view.sweep.open));
    let result = move || state.view.with(|view| view.sweep.result.clone());
    let waiting = StoredValue::new(None::<TimeoutHandle>);
    let wanted = super::html::kept(move || {
        let (axis, measure, open) = now();
        if open { format!("{}\n{}", axis.label(), measure.label()) } else { String::new() }
    });
    super::html::follow(move || {
        state.outcomes.track();
        if wanted.with(String::is_empty) {
            return;
        }
        if let Some(timer) = waiting.get_value() {
            timer.clear();
        }
        let run = move || {
            let (axis, measure, _) = untrack(now);
            let result = Arc::new(untrack(move || swept(state, axis, measure)));
            state.view.update(|view| view.sweep.result = Some(result));
        };
        waiting.set_value(set_timeout_with_handle(run, PAUSE).ok());
    });
    let toggled = move |event: web_sys::Event| {
        use wasm_bindgen::JsCast;
        let details = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        let open = details.is_some_and(|details| details.id() == "sweep" && details.has_attribute("open"));
        if untrack(now).2 != open {
            state.view.update(|view| view.sweep.open = open);
        }
    };
    let label = text(move || {
        result().map_or_else(String::new, |result| format!("{} over {}.", result.measure.label(), result.axis.label()))
    });
    view! {
        <details class="card sweep foldable" id="sweep" on:toggle=toggled>
            <summary><h2>"Sweep"</h2></summary>
            <Controls state/>
            <p class="hint">{text(move || said(state, result().map_or("", |result| remark(&result))))}</p>
            <Chart
                label
                dark=state.dark
                name="sweep"
                state
                height=Box::new(move |_| if result().is_some() { 330.0 } else { 60.0 })
                draw=Box::new(move |sheet| {
                    let log = state.view.with(|view| view.sweep.log);
                    result().map(|result| drawn(sheet, &result, log)).unwrap_or_default()
                })
            />
            <details class="more">
                <summary>"As a table"</summary>
                <div class="scroll" tabindex="0" role="region" aria-label="Sweep">
                    <Block class="sweep-table" markup=text(move || result().map(|result| table(&result)).unwrap_or_default())/>
                </div>
            </details>
        </details>
    }
}

/// What is swept, and how it is drawn.
#[component]
fn Controls(state: State) -> impl IntoView {
    let now = move || state.view.with(|view| (view.sweep.axis, view.sweep.measure));
    let change =
        move |change: fn(&mut Choice, &str), with: &str| state.view.update(|view| change(&mut view.sweep, with));
    let axes = Callback::new(|()| Axis::ALL.map(|axis| (axis.label().to_owned(), axis.label().to_owned())).to_vec());
    let measures = Callback::new(|()| {
        Measure::ALL.map(|measure| (measure.label().to_owned(), measure.label().to_owned())).to_vec()
    });
    let scale = move |x: bool| {
        let on = flag(move || state.view.with(|view| if x { view.sweep.log.0 } else { view.sweep.log.1 }));
        let set = move |_| {
            state.view.update(|view| if x { view.sweep.log.0 ^= true } else { view.sweep.log.1 ^= true });
        };
        view! {
            <label class="check">
                <input type="checkbox" prop:checked=on on:change=super::html::changed(set)/>
                <span>{if x { "log x" } else { "log y" }}</span>
            </label>
        }
    };
    view! {
            <div class="sweep-controls">
                <field::Choice
                    label="Result"
                    options=measures
                    value=text(move || now().1.label().to_owned())
                    take=Callback::new(move |name: String| change(|choice, name| {
                        choice.measure = Measure::ALL.into_iter().find(|m| m.label() == name).unwrap_or(choice.measure);
                    }, &name))
                />
                <field::Choice
                    label="over"
                    options=axes
                    value=text(move || now().0.label().to_owned())
                    take=Callback::new(move |name: String| change(|choice, name| {
                        choice.axis = Axis::ALL.into_iter().find(|axis| axis.label() == name).unwrap_or(choice.axis);
                    }, &name))
                />
                {scale(true)}
                {scale(false)}
            </div>
    }
}

/// A remark, and what counts where that is not what the rest of the page shows.
fn said(state: State, remark: &str) -> String {
    let physical = state.comparison.with(|comparison| comparison.method == crate::estimate::Method::Physical);
    format!("{remark}{}", if physical { " Sweeps are of the vllm model." } else { "" })
}

/// What a sweep leaves unsaid.
fn remark(result: &Result) -> &'static str {
    if result.swept().iter().all(|line| line.series.points.is_empty()) {
        return "No value of this axis suits these scenarios: vLLM refuses the rest of their layout, or the batch has no such number.";
    }
    match result.axis {
        Axis::Pp => "Sizes that vLLM refuses are left out. With pipeline stages the time is that of one stage.",
        Axis::Dp | Axis::Ep => "The batch is that of each data-parallel rank. Sizes that vLLM refuses are left out.",
        Axis::Tp => "Sizes that vLLM refuses are left out.",
        _ => "",
    }
}

/// Draws what was swept; each x tells of every scenario.
fn drawn(sheet: &mut super::canvas::Sheet<'_, '_>, result: &Result, log: (bool, bool)) -> Vec<Spot> {
    let swept = result.swept();
    let scale = sweep_scale(&swept, result.measure);
    let y_title = format!("{}, {}", result.measure.label(), scale.symbol());
    let axes = Axes {
        x_title: result.axis.label(),
        y_title: &y_title,
        x_tick: &sweep_x_tick,
        y_tick: &|value| sweep_y_tick(&scale, value),
    };
    let chart = sweep_lines(&swept, result.axis, sheet.theme, log);
    let told = |band: &crate::chart::lines::Band| {
        let rows = band.hits.iter().filter_map(|hit| {
            let line = swept.get(hit.series)?;
            let point = line.series.points.get(hit.point)?;
            let bound = point.bound.map_or("", |bound| bound.label());
            Some(format!("{} = {}: {} {} {bound}", result.axis.label(), point.x, line.key, scale.text(point.value?)))
        });
        rows.collect::<Vec<_>>().join("\n")
    };
    sheet.lines(&chart, &axes).iter().map(|band| Spot { area: band.area, text: told(band) }).collect()
}

fn swept(state: State, axis: Axis, measure: Measure) -> Result {
    let names = names(state);
    let lines = Entries::of(state).outcomes.into_iter().filter_map(|outcome| {
        let place = state.comparison.with(|comparison| comparison.place(outcome.scenario.id))?;
        let values = axis.values(&outcome.scenario, &outcome.model.spec);
        let series = sweep(&outcome.scenario, &outcome.model.spec, axis, measure, &values);
        Some((place, names.get(place).cloned().unwrap_or_default(), series))
    });
    Result { axis, measure, lines: lines.collect() }
}

fn table(result: &Result) -> String {
    let table = sweep_table(&result.swept(), result.axis, result.measure);
    let mut html = Html::default();
    html.element("<table class=\"points\"><caption>", &table.caption, "</caption><thead><tr>");
    for head in &table.heads {
        html.element("<th scope=\"col\">", head, "</th>");
    }
    html.raw("</tr></thead><tbody>");
    for row in &table.rows {
        html.element("<tr><th scope=\"row\">", &row.head, "</th>");
        for (text, _, bound) in &row.cells {
            html.raw("<td title=\"").text(bound.map_or("", |bound| bound.label())).element("\">", text, "</td>");
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table>").take()
}

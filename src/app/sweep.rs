//! Sweeps: one input on the x axis, a result of every scenario above it.
//!
//! A sweep runs hundreds of estimates, so it follows the inputs a moment after an edit, and only while it is unfolded.

use super::canvas::{Chart, Spot};
use super::field::Choice;
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

/// What was swept.
#[derive(Clone)]
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
    let axis = RwSignal::new(Axis::Requests);
    let measure = RwSignal::new(Measure::Time);
    let log = RwSignal::new((true, false));
    let open = RwSignal::new(false);
    let result = RwSignal::new(None::<Arc<Result>>);
    let waiting = StoredValue::new(None::<TimeoutHandle>);
    Effect::new(move |_| {
        let (axis, measure) = (axis.get(), measure.get());
        state.outcomes.track();
        if !open.get() {
            return;
        }
        if let Some(timer) = waiting.get_value() {
            timer.clear();
        }
        let run = move || result.set(Some(Arc::new(untrack(move || swept(state, axis, measure)))));
        waiting.set_value(set_timeout_with_handle(run, PAUSE).ok());
    });
    let toggled = move |event: web_sys::Event| {
        use wasm_bindgen::JsCast;
        let details = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        open.set(details.is_some_and(|details| details.has_attribute("open")));
    };
    let axes = Callback::new(|()| Axis::ALL.map(|axis| (axis.label().to_owned(), axis.label().to_owned())).to_vec());
    let measures = Callback::new(|()| {
        Measure::ALL.map(|measure| (measure.label().to_owned(), measure.label().to_owned())).to_vec()
    });
    let scale = move |x: bool| {
        let change = move |ev: web_sys::Event| {
            let on = event_target_checked(&ev);
            log.update(|log| if x { log.0 = on } else { log.1 = on });
        };
        let on = flag(move || if x { log.get().0 } else { log.get().1 });
        view! {
            <label class="check">
                <input type="checkbox" prop:checked=on on:change=change/>
                <span>{if x { "log x" } else { "log y" }}</span>
            </label>
        }
    };
    let label = text(move || {
        result
            .get()
            .map_or_else(String::new, |result| format!("{} over {}.", result.measure.label(), result.axis.label()))
    });
    view! {
        <details class="card sweep" id="sweep" on:toggle=toggled>
            <summary><h2>"Sweep"</h2></summary>
            <div class="sweep-controls">
                <Choice
                    label="Result"
                    options=measures
                    value=text(move || measure.get().label().to_owned())
                    take=Callback::new(move |name: String| {
                        measure.set(Measure::ALL.into_iter().find(|m| m.label() == name).unwrap_or(Measure::Time));
                    })
                />
                <Choice
                    label="over"
                    options=axes
                    value=text(move || axis.get().label().to_owned())
                    take=Callback::new(move |name: String| {
                        axis.set(Axis::ALL.into_iter().find(|axis| axis.label() == name).unwrap_or(Axis::Requests));
                    })
                />
                {scale(true)}
                {scale(false)}
            </div>
            <Chart
                label
                dark=state.dark
                name="sweep"
                state
                height=Box::new(move |_| if result.with(Option::is_some) { 330.0 } else { 60.0 })
                draw=Box::new(move |sheet| {
                    let Some(result) = result.get() else { return Vec::new() };
                    let swept = result.swept();
                    let scale = sweep_scale(&swept, result.measure);
                    let y_title = format!("{}, {}", result.measure.label(), scale.symbol());
                    let axes = Axes {
                        x_title: result.axis.label(),
                        y_title: &y_title,
                        x_tick: &sweep_x_tick,
                        y_tick: &|value| sweep_y_tick(&scale, value),
                    };
                    let chart = sweep_lines(&swept, result.axis, sheet.theme, log.get());
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
                })
            />
            <details class="more">
                <summary>"As a table"</summary>
                <div class="scroll" tabindex="0" role="region" aria-label="Sweep">
                    <Block class="sweep-table" markup=text(move || result.get().map(|result| table(&result)).unwrap_or_default())/>
                </div>
            </details>
        </details>
    }
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

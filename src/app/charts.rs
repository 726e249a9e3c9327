//! The charts of all scenarios, each with its finding in words, a legend that hides and shows, and a table.

use super::canvas::{Chart, Sheet, Spot};
use super::held::Known;
use super::html::{Block, Html, text};
use super::scenarios::{Entries, letter};
use super::state::State;
use crate::chart::theme::Theme;
use crate::chart::{bars, roofline};
use crate::format::{NONE, Unit, duration, si, significant};
use crate::report::charts::{self, Layer};
use crate::report::{Entry, Summary};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// Places of the charts in [`super::state::View::hidden`].
const BARS: usize = 0;
const TRAFFIC: usize = 1;
const POINTS: usize = 2;

/// Where it goes, what is moved, and the roofline.
#[component]
pub(super) fn Charts(state: State) -> impl IntoView {
    let by_operation = move || state.view.with(|view| view.by_operation);
    let made = move |entries: &[Entry<'_>], theme: &Theme| {
        state.view.with(|view| {
            let visible = |layer: Layer| !view.hidden[BARS].contains(&layer);
            if view.by_operation {
                charts::operation_bars(entries, theme, &visible)
            } else {
                charts::bars(entries, theme, &visible)
            }
        })
    };
    let traffic = move |entries: &[Entry<'_>], theme: &Theme| {
        state.view.with(|view| charts::traffic_bars(entries, theme, &|layer| !view.hidden[TRAFFIC].contains(&layer)))
    };
    let (made, traffic) = (Stacked::new(state, Box::new(made)), Stacked::new(state, Box::new(traffic)));
    let by = Callback::new(move |act: String| state.view.update(|view| view.by_operation = act == "operations"));
    let modes = text(move || {
        let mut html = Html::default();
        for (act, name, on) in
            [("components", "by component", !by_operation()), ("operations", "by operation", by_operation())]
        {
            html.raw("<button type=\"button\" class=\"chip").raw(if on { " on" } else { "" }).raw("\" aria-pressed=\"");
            html.raw(if on { "true" } else { "false" })
                .raw("\" data-act=\"")
                .raw(act)
                .raw("\">")
                .raw(name)
                .raw("</button>");
        }
        html.take()
    });
    let of_roof = text(move || match state.shown() {
        Some(outcome) if Entries::of(state).outcomes.iter().any(|other| other.accelerator != outcome.accelerator) => {
            "Roofline".to_owned()
        }
        Some(outcome) => match &outcome.roof {
            Some(roof) => format!("Roofline · {}, {}", outcome.accelerator.name, roof.peak.precision_used.label()),
            None => format!("Roofline · {}", outcome.accelerator.name),
        },
        None => "Roofline".to_owned(),
    });
    let points = text(move || points(state));
    view! {
        <div class="charts">
            <section class="card" data-chart="bars">
                <div class="heading"><h2>{text(move || format!("Where it goes, {}", super::scope(state)))}</h2><Block class="chips modes" markup=modes act=by/></div>
                <Legend state chart=BARS/>
                <Chart
                    label=text(move || Entries::of(state).with(components_label))
                    dark=state.dark
                    name="where-it-goes"
                    state
                    height=Box::new(move |_| made.shown.with(bars::height))
                    draw=Box::new(move |sheet| made.draw(sheet))
                />
                <Segments name="Bars as a table" chart=text(move || made.shown.with(segments))/>
                <h3>"Memory traffic, by what is moved"</h3>
                <Legend state chart=TRAFFIC/>
                <Chart
                    label=text(move || Entries::of(state).with(traffic_label))
                    dark=state.dark
                    name="memory-traffic"
                    state
                    height=Box::new(move |_| traffic.shown.with(bars::height))
                    draw=Box::new(move |sheet| traffic.draw(sheet))
                />
                <Segments name="Traffic as a table" chart=text(move || traffic.shown.with(segments))/>
            </section>
            <section class="card" data-chart="roofline">
                <h2>{of_roof} ", per GPU"</h2>
                <Legend state chart=POINTS/>
                <Chart
                    label=text(move || Entries::of(state).with(roofline_label))
                    dark=state.dark
                    name="roofline"
                    state
                    height=Box::new(|width| (width * 0.62).clamp(250.0, 440.0))
                    draw=Box::new(move |sheet| {
                        state.view.with(|view| Entries::of(state).with(|e| draw_roofline(sheet, e, &view.hidden[POINTS], &view.measured)))
                    })
                />
                <div class="scroll" tabindex="0" role="region" aria-label="Points of the roofline">
                    <Block class="points-table" markup=points/>
                </div>
            </section>
        </div>
    }
}

/// A chart of bars of all scenarios.
#[derive(Clone, Copy)]
struct Stacked {
    /// In the page's colours.
    shown: Known<bars::Bars>,
    state: State,
    make: StoredValue<Make>,
}

type Make = Box<dyn Fn(&[Entry<'_>], &Theme) -> bars::Bars + Send + Sync>;

impl Stacked {
    fn new(state: State, make: Make) -> Self {
        let make = StoredValue::new(make);
        let shown = Known::new(move |_| stacked(state, make, super::theme(state)));
        Self { shown, state, make }
    }

    /// Draws it in the sheet's colours.
    fn draw(self, sheet: &mut Sheet<'_, '_>) -> Vec<Spot> {
        if std::ptr::eq(sheet.theme, super::theme(self.state)) {
            return self.shown.with(|bars| draw_bars(sheet, bars));
        }
        let bars = stacked(self.state, self.make, sheet.theme);
        draw_bars(sheet, &bars)
    }
}

fn stacked(state: State, make: StoredValue<Make>, theme: &Theme) -> bars::Bars {
    Entries::of(state).with(|entries| make.with_value(|make| make(entries, theme)))
}

fn draw_bars(sheet: &mut Sheet<'_, '_>, chart: &bars::Bars) -> Vec<Spot> {
    let regions = sheet.bars(chart);
    let label = |region: &bars::Region| {
        let row = chart.groups.get(region.group)?.rows.get(region.row)?;
        Some(row.segments.get(region.segment)?.label.clone())
    };
    regions.iter().filter_map(|region| Some(Spot { area: region.area, text: label(region)? })).collect()
}

fn draw_roofline(
    sheet: &mut Sheet<'_, '_>,
    entries: &[Entry<'_>],
    hidden: &[Layer],
    measured: &[charts::Measured],
) -> Vec<Spot> {
    let mut chart = charts::roofline(entries, sheet.theme, &|layer| !hidden.contains(&layer));
    chart.points.extend(measured.iter().map(|one| one.mark(sheet.theme)));
    let axes = roofline::Axes {
        x_title: "arithmetic intensity, FLOP per byte",
        y_title: "attainable FLOP/s per GPU",
        x_tick: &significant,
        y_tick: &|rate| {
            let text = si(rate, Unit::FLOP_PER_SECOND);
            text.strip_suffix("FLOP/s").unwrap_or(&text).to_owned()
        },
    };
    let regions = sheet.roofline(&chart, &axes);
    let label = |mark: usize| chart.points.get(mark).map(|mark| mark.label.clone());
    regions.iter().filter_map(|region| Some(Spot { area: region.area, text: label(region.mark)? })).collect()
}

/// The table of a chart of bars, folded away.
#[component]
fn Segments(name: &'static str, chart: Signal<String>) -> impl IntoView {
    let open = RwSignal::new(false);
    view! {
        <details class="more" on:toggle=super::html::changed(move |event| open.set(is_open(&event)))>
            <summary>"As a table"</summary>
            <div class="scroll" tabindex="0" role="region" aria-label=name>
                <Block class="segments" markup=text(move || if open.get() { chart.get() } else { String::new() })/>
            </div>
        </details>
    }
}

/// Whether what was unfolded or folded is unfolded now.
fn is_open(event: &web_sys::Event) -> bool {
    let element = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    element.is_some_and(|element| element.has_attribute("open"))
}

/// What bars are made of, a row for each bar.
fn segments(chart: &bars::Bars) -> String {
    let mut html = Html::default();
    html.raw("<table class=\"points\"><thead><tr><th scope=\"col\">bar</th><th scope=\"col\">parts</th><th scope=\"col\">total</th></tr></thead><tbody>");
    for group in &chart.groups {
        for row in &group.rows {
            html.element("<tr><th scope=\"row\">", &group.heading, " ").text(&row.key).raw(" ").text(&row.label);
            html.raw("</th><td>");
            for segment in row.segments.iter().filter(|segment| segment.value > 0.0) {
                let part = segment.label.rsplit('\n').next().unwrap_or_default();
                html.element("<div>", part, "</div>");
            }
            html.element("</td><td>", &row.total, "</td></tr>");
        }
    }
    html.raw("</tbody></table>").take()
}

/// Sentences about each scenario, joined.
fn told(entries: &[Entry<'_>], tell: impl Fn(&Entry<'_>) -> String) -> String {
    let several = entries.len() > 1;
    let tell = |entry: &Entry<'_>| if several { format!("{}: {}", entry.key, tell(entry)) } else { tell(entry) };
    entries.iter().map(tell).collect::<Vec<_>>().join(". ")
}

fn components_label(entries: &[Entry<'_>]) -> String {
    let told = told(entries, |entry| {
        let whole = entry.breakdown.cost().flops;
        let parts = entry.breakdown.parts.iter();
        let parts = parts.map(|part| format!("{} {}", part.component.title(), charts::share(part.cost().flops, whole)));
        parts.collect::<Vec<_>>().join(", ")
    });
    format!("Share of FLOPs by component. {told}.")
}

fn traffic_label(entries: &[Entry<'_>]) -> String {
    let told = told(entries, |entry| {
        let parts = entry.breakdown.parts.iter();
        let parts =
            parts.map(|part| format!("{} {}", part.component.title(), si(part.cost().moved().as_f64(), Unit::BYTE)));
        parts.collect::<Vec<_>>().join(", ")
    });
    format!("Bytes moved by component. {told}.")
}

fn roofline_label(entries: &[Entry<'_>]) -> String {
    let told =
        told(entries, |entry| charts::finding(&entry.summary()).unwrap_or_else(|| "nothing to place on it".to_owned()));
    format!("Roofline, whole step per GPU. {told}.")
}

/// What a legend shows.
fn layers(state: State, chart: usize) -> Vec<(Layer, crate::chart::theme::Colour)> {
    let theme = super::theme(state);
    let by_operation = chart == BARS && state.view.with(|view| view.by_operation);
    match chart {
        TRAFFIC => charts::kinds(theme),
        _ if by_operation => Entries::of(state).with(|entries| charts::operations(entries, theme)),
        _ => Entries::of(state).with(|entries| charts::components(entries, theme)),
    }
}

/// Which colour is what; each entry hides and shows its layer.
#[component]
fn Legend(state: State, chart: usize) -> impl IntoView {
    let markup = text(move || {
        let mut html = Html::default();
        let glyphs = chart == POINTS;
        html.raw("<ul class=\"legend\">");
        if glyphs {
            let whole = crate::chart::theme::Shape::Circle.glyph().to_string();
            html.element("<li><span class=\"glyph\" aria-hidden=\"true\">", &whole, "</span>whole step</li>");
            if state.shown().is_some_and(|outcome| outcome.step().is_some()) {
                html.raw("<li><span class=\"glyph\" aria-hidden=\"true\">⬡</span>links</li>");
            }
        }
        for (at, (layer, colour)) in layers(state, chart).into_iter().enumerate() {
            let off = state.view.with(|view| view.hidden.get(chart).is_some_and(|hidden| hidden.contains(&layer)));
            html.raw("<li><button type=\"button\" class=\"layer\" aria-pressed=\"").raw(if off {
                "false"
            } else {
                "true"
            });
            html.raw("\" data-act=\"").text(&at.to_string()).raw("\" title=\"Hide or show\">");
            match layer.component().filter(|_| glyphs) {
                Some(component) => {
                    let glyph = charts::shape(component).glyph().to_string();
                    html.element(
                        "<span class=\"glyph\" aria-hidden=\"true\" style=\"color:",
                        &colour.to_string(),
                        "\">",
                    );
                    html.text(&glyph);
                }
                None => {
                    html.element("<span class=\"swatch\" style=\"background:", &colour.to_string(), "\">");
                }
            }
            html.element("</span>", layer.title(), "</button></li>");
        }
        html.raw("</ul>").take()
    });
    let toggle = Callback::new(move |act: String| {
        let layer =
            untrack(move || layers(state, chart)).get(act.parse().unwrap_or(usize::MAX)).map(|(layer, _)| *layer);
        state.view.update(|view| {
            if let (Some(hidden), Some(layer)) = (view.hidden.get_mut(chart), layer) {
                match hidden.iter().position(|other| *other == layer) {
                    Some(at) => {
                        hidden.swap_remove(at);
                    }
                    None => hidden.push(layer),
                }
            }
        });
    });
    view! { <Block class="legend-block" markup act=toggle/> }
}

/// The roofline's points as a table: each scenario's whole step, and the components of the selected one.
fn points(state: State) -> String {
    let mut html = Html::default();
    html.raw("<table class=\"points\"><thead><tr><th scope=\"col\"><span class=\"visually-hidden\">Part</span></th><th scope=\"col\">FLOP/B</th><th scope=\"col\">attainable</th><th scope=\"col\">bound</th><th scope=\"col\">at least</th></tr></thead><tbody>");
    let mut row = |title: &str, summary: Summary| {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
        html.element("<tr><th scope=\"row\">", title, "</th>");
        for text in [
            summary.intensity.map(|i| significant(i.0)),
            summary.attainable.map(|rate| si(rate, Unit::FLOP_PER_SECOND)),
            summary.bound.map(|bound| bound.label().to_owned()),
            summary.time.map(duration),
        ] {
            html.element("<td>", &or_none(text), "</td>");
        }
        html.raw("</tr>");
    };
    Entries::of(state).with(|entries| {
        let several = entries.len() > 1;
        for entry in entries {
            let title = if several { format!("{} whole step", entry.key) } else { "Whole step".to_owned() };
            row(&title, entry.summary());
            for (name, summary) in entry.links() {
                row(&if several { format!("{} {name}", entry.key) } else { name.to_owned() }, summary);
            }
        }
        let chosen = state.shown();
        let chosen =
            chosen.as_ref().and_then(|outcome| outcome.per_gpu.as_ref().ok().map(|per_gpu| (outcome, per_gpu)));
        if let Some((outcome, per_gpu)) = chosen {
            let place = state.comparison.with(|comparison| comparison.place(outcome.scenario.id));
            for part in &per_gpu.parts {
                let title = part.component.title();
                let title = if several { format!("{} {title}", place.map_or('?', letter)) } else { title.to_owned() };
                row(&title, Summary::of_part(part, outcome.roof.as_ref(), Some(&outcome.accelerator)));
            }
        }
    });
    state.view.with(|view| {
        for one in &view.measured {
            let (name, time) = one.label.rsplit_once(':').unwrap_or((&one.label, NONE));
            html.element("<tr><th scope=\"row\">", name, "</th>");
            html.element("<td>", &significant(one.intensity), "</td>");
            html.element("<td>", &si(one.rate, Unit::FLOP_PER_SECOND), "</td><td>measured</td>");
            html.element("<td>", time.trim_start(), "</td></tr>");
        }
    });
    html.raw("</tbody></table><p class=\"hint\">A step is held against the roofline as a whole; run one after the other, its parts take at least the sum of their times.</p>");
    html.take()
}

//! The charts of one estimate, each with its finding in words.

use super::canvas::{Chart, Spot};
use super::state::{Outcome, State};
use crate::chart::{bars, roofline};
use crate::estimate::Scope;
use crate::format::{Unit, si, significant};
use crate::report::{Entry, Summary, charts};
use leptos::prelude::*;

/// Where it goes, what is moved, and the roofline.
#[component]
pub(super) fn Charts(state: State) -> impl IntoView {
    let scope = move || match state.scope.get() {
        Scope::PerGpu => "per GPU",
        Scope::Global => "whole model",
    };
    let ready = move || state.shown().filter(|outcome| outcome.breakdown.is_ok());
    view! {
        <div class="charts">
            <section class="card">
                <h2>"Where it goes, " {scope}</h2>
                <Legend state/>
                <Chart
                    label=Signal::derive(move || ready().map(|o| components_label(&o)).unwrap_or_default())
                    dark=state.dark
                    height=move |_| ready().map_or(180.0, |o| with(&o, |e| bars::height(&charts::bars(&[e], &crate::chart::theme::Theme::LIGHT, &charts::all))))
                    draw=move |sheet| {
                        let Some(outcome) = ready() else { return Vec::new() };
                        with(&outcome, |entry| draw_bars(sheet, &charts::bars(&[entry], sheet.theme, &charts::all)))
                    }
                />
                <h3>"Memory traffic, by what is moved"</h3>
                <TrafficLegend state/>
                <Chart
                    label=Signal::derive(move || ready().map(|o| traffic_label(&o)).unwrap_or_default())
                    dark=state.dark
                    height=move |_| ready().map_or(120.0, |o| with(&o, |e| bars::height(&charts::traffic_bars(&[e], &crate::chart::theme::Theme::LIGHT, &charts::all))))
                    draw=move |sheet| {
                        let Some(outcome) = ready() else { return Vec::new() };
                        with(&outcome, |entry| draw_bars(sheet, &charts::traffic_bars(&[entry], sheet.theme, &charts::all)))
                    }
                />
            </section>
            <section class="card">
                <h2>
                    "Roofline · "
                    {move || state.shown().map(|o| o.accelerator.name.to_string())}
                    {move || state.shown().and_then(|o| o.roof.as_ref().map(|r| format!(", {}, per GPU", r.peak.precision_used.label())))}
                </h2>
                <RooflineLegend state/>
                <Chart
                    label=Signal::derive(move || ready().map(|o| roofline_label(&o)).unwrap_or_default())
                    dark=state.dark
                    height=|width| (width * 0.62).clamp(250.0, 440.0)
                    draw=move |sheet| {
                        let Some(outcome) = ready() else { return Vec::new() };
                        draw_roofline(sheet, &outcome)
                    }
                />
                <Points state/>
            </section>
        </div>
    }
}

fn with<T: Default>(outcome: &Outcome, make: impl FnOnce(Entry<'_>) -> T) -> T {
    let (Ok(breakdown), Ok(per_gpu)) = (&outcome.breakdown, &outcome.per_gpu) else { return T::default() };
    let (roof, accelerator) = (outcome.roof.as_ref(), outcome.accelerator);
    make(Entry { key: 'A', name: "", place: 0, breakdown, per_gpu, roof, accelerator })
}

fn draw_bars(sheet: &mut super::canvas::Sheet<'_>, chart: &bars::Bars) -> Vec<Spot> {
    let regions = bars::draw(sheet.backend, sheet.frame, sheet.theme, chart).unwrap_or_default();
    let text = |region: &bars::Region| {
        let row = chart.groups.get(region.group)?.rows.get(region.row)?;
        Some(row.segments.get(region.segment)?.label.clone())
    };
    regions.iter().filter_map(|region| Some(Spot { area: region.area, text: text(region)? })).collect()
}

fn draw_roofline(sheet: &mut super::canvas::Sheet<'_>, outcome: &Outcome) -> Vec<Spot> {
    let chart = with(outcome, |entry| charts::roofline(&[entry], sheet.theme, &charts::all));
    let axes = roofline::Axes {
        x_title: "arithmetic intensity, FLOP per byte",
        y_title: "attainable FLOP/s per GPU",
        x_tick: &significant,
        y_tick: &|rate| si(rate, Unit::FLOP_PER_SECOND).trim_end_matches("FLOP/s").to_owned(),
    };
    let Ok(drawn) = roofline::draw(sheet.backend, sheet.frame, sheet.theme, &chart, &axes) else { return Vec::new() };
    let text = |mark: usize| chart.points.get(mark).map(|mark| mark.label.clone());
    drawn.regions.iter().filter_map(|region| Some(Spot { area: region.area, text: text(region.mark)? })).collect()
}

fn components_label(outcome: &Outcome) -> String {
    with(outcome, |Entry { breakdown, .. }| {
        let whole = breakdown.cost().flops;
        let parts = breakdown.parts.iter();
        let parts = parts.map(|part| format!("{} {}", part.component.title(), charts::share(part.cost().flops, whole)));
        format!("Share of FLOPs by component: {}.", parts.collect::<Vec<_>>().join(", "))
    })
}

fn traffic_label(outcome: &Outcome) -> String {
    with(outcome, |Entry { breakdown, .. }| {
        let parts = breakdown.parts.iter();
        let parts =
            parts.map(|part| format!("{} {}", part.component.title(), si(part.cost().moved().as_f64(), Unit::BYTE)));
        format!("Bytes moved by component: {}.", parts.collect::<Vec<_>>().join(", "))
    })
}

fn roofline_label(outcome: &Outcome) -> String {
    let finding = outcome
        .per_gpu
        .as_ref()
        .ok()
        .and_then(|breakdown| charts::finding(&Summary::of(breakdown.cost(), outcome.roof.as_ref())));
    finding.map_or_else(
        || "Roofline: there is nothing to place on it.".to_owned(),
        |finding| format!("Roofline of {}: the whole step has {finding}.", outcome.accelerator.name),
    )
}

/// Which colour is which component.
#[component]
fn Legend(state: State) -> impl IntoView {
    let entries = move || {
        let theme = super::theme(state);
        let outcome = state.shown()?;
        let breakdown = outcome.breakdown.as_ref().ok()?;
        let entry = |part: &crate::estimate::Part| {
            let colour = charts::colour(&theme.parts, part.component).to_string();
            view! { <li><span class="swatch" style:background=colour></span>{part.component.title()}</li> }
        };
        Some(breakdown.parts.iter().map(entry).collect_view())
    };
    view! { <ul class="legend">{entries}</ul> }
}

/// Which colour is which kind of traffic.
#[component]
fn TrafficLegend(state: State) -> impl IntoView {
    use crate::estimate::Traffic;
    let entries = move || {
        let theme = super::theme(state);
        [Traffic::Weights, Traffic::KvCache, Traffic::Activations]
            .map(|kind| {
                let (name, colour) = charts::traffic(theme, kind);
                view! { <li><span class="swatch" style:background=colour.to_string()></span>{name}</li> }
            })
            .collect_view()
    };
    view! { <ul class="legend">{entries}</ul> }
}

/// Which mark is which component.
#[component]
fn RooflineLegend(state: State) -> impl IntoView {
    let entries = move || {
        let theme = super::theme(state);
        let outcome = state.shown()?;
        let breakdown = outcome.breakdown.as_ref().ok()?;
        let entry = |part: &crate::estimate::Part| {
            let colour = charts::colour(&theme.parts, part.component).to_string();
            let glyph = charts::shape(part.component).glyph().to_string();
            view! { <li><span class="glyph" style:color=colour aria-hidden="true">{glyph}</span>{part.component.title()}</li> }
        };
        Some(breakdown.parts.iter().map(entry).collect_view())
    };
    let whole = crate::chart::theme::Shape::Circle.glyph().to_string();
    view! { <ul class="legend"><li><span class="glyph" aria-hidden="true">{whole}</span>"Whole step"</li>{entries}</ul> }
}

/// The roofline's points as a table.
#[component]
fn Points(state: State) -> impl IntoView {
    let row = |title: &'static str, summary: Summary| {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| crate::format::NONE.to_owned());
        view! {
            <tr>
                <th scope="row">{title}</th>
                <td>{or_none(summary.intensity.map(|i| significant(i.0)))}</td>
                <td>{or_none(summary.attainable.map(|rate| si(rate, Unit::FLOP_PER_SECOND)))}</td>
                <td>{or_none(summary.bound.map(|bound| bound.label().to_owned()))}</td>
                <td>{or_none(summary.time.map(crate::format::duration))}</td>
            </tr>
        }
    };
    let rows = move || {
        let outcome = state.shown()?;
        let breakdown = outcome.per_gpu.as_ref().ok()?;
        let roof = outcome.roof.as_ref();
        let parts = breakdown.parts.iter();
        let parts = parts.map(|part| row(part.component.title(), Summary::of(part.cost(), roof))).collect_view();
        Some((row("Whole step", Summary::of(breakdown.cost(), roof)), parts))
    };
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Points of the roofline"><table class="points">
            <thead>
                <tr>
                    <th scope="col"><span class="visually-hidden">"Part"</span></th>
                    <th scope="col">"FLOP/B"</th>
                    <th scope="col">"attainable"</th>
                    <th scope="col">"bound"</th>
                    <th scope="col">"at least"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table></div>
    }
}

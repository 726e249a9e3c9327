//! The accelerator: one of the list or one's own numbers, and the precision whose roof counts.

use super::field::{Choice, NumberField};
use super::html::{Block, Html, text};
use super::state::State;
use crate::decimal;
use crate::format::{Unit, capacity, si, significant};
use crate::hardware::{self, Accelerator, Precision, Status, source_title};
use crate::scenario::hardware::{AcceleratorChoice, Number};
use crate::scenario::state::Section;
use leptos::prelude::*;

/// The accelerator panel.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    let all = move || {
        let edited = state.scenario.with(|scenario| {
            let choice = &scenario.accelerator;
            choice.is_edited().then(|| choice.accelerator()).flatten()
        });
        let list = hardware::all().iter().map(|accelerator| {
            let disputed = if accelerator.status == Status::Disputed { " (disputed)" } else { "" };
            (accelerator.id.to_string(), format!("{}{disputed}", accelerator.name))
        });
        edited.map(|own| (String::new(), own.name.to_string())).into_iter().chain(list).collect::<Vec<_>>()
    };
    let precision = move || state.scenario.with(|scenario| scenario.precision);
    let precisions = move || {
        let auto = state.resolved().map_or("", |outcome| outcome.computed.precision.label());
        let auto = if precision().is_none() { format!("auto · {auto}") } else { "auto".to_owned() };
        let mut options = vec![("auto".to_owned(), auto)];
        options.extend(Precision::ALL.map(|p| (p.label().to_owned(), p.label().to_owned())));
        options
    };
    view! {
        <section class="card panel">
            <super::share::Heading state section=Section::Accelerator title=text(|| "Accelerator".to_owned())/>
            <Choice
                label="Chip"
                options=Callback::new(move |()| all())
                value=text(move || state.scenario.with(|scenario| {
                    let choice = &scenario.accelerator;
                    if choice.is_edited() { String::new() } else { choice.id.clone() }
                }))
                take=Callback::new(move |id: String| {
                    if !id.is_empty() {
                        state.edit(Section::Accelerator, "gpu", |scenario| {
                            scenario.accelerator = AcceleratorChoice::listed(&id);
                        });
                    }
                })
            />
            <Choice
                label="Compute"
                options=Callback::new(move |()| precisions())
                value=text(move || precision().map_or("auto", Precision::label).to_owned())
                take=Callback::new(move |name: String| {
                    let chosen = Precision::ALL.into_iter().find(|p| p.label() == name);
                    state.edit(Section::Accelerator, "precision", |scenario| scenario.precision = chosen);
                })
            />
            <Block class="described" markup=text(move || {
                state.scenario.with(|scenario| scenario.accelerator.accelerator()).map(|accelerator| describe(&accelerator)).unwrap_or_default()
            })/>
            <Editor state/>
        </section>
    }
}

/// Every number, to edit.
#[component]
fn Editor(state: State) -> impl IntoView {
    let field = move |number: Number| {
        let value = move || {
            state.scenario.with(|scenario| {
                let value = scenario.accelerator.accelerator().and_then(|accelerator| number.of(&accelerator));
                value.map_or_else(String::new, |value| {
                    let rounded = significant(value);
                    // Show what reads back as the same number.
                    if decimal::parse(&rounded) == Some(value) { rounded } else { value.to_string() }
                })
            })
        };
        let take = Callback::new(move |text: String| {
            let text = text.trim().replace(['_', '\u{202f}', ' '], "");
            // A comma sets thousands apart, or it is a decimal comma: then it would multiply.
            let grouped = text.split(',').skip(1).all(|group| group.split('.').next().is_some_and(|g| g.len() == 3));
            let text = if grouped { text.replace(',', "") } else { text };
            let read = if text.is_empty() || text == "–" { None } else { Some(decimal::parse(&text)) };
            let value = match read {
                None if number == Number::Bandwidth => return Err("A bandwidth is needed.".to_owned()),
                None => None,
                Some(Some(value)) if value.is_finite() && value > 0.0 => Some(value),
                Some(_) => return Err("Expected a number above 0, or nothing if it is not supported.".to_owned()),
            };
            state.edit(Section::Accelerator, number.label(), |scenario| scenario.accelerator.set(number, value));
            Ok(())
        });
        view! { <NumberField state label=number.label() value=text(value) take/> }
    };
    view! {
        <details class="more">
            <summary>"Edit the numbers, or define one of your own"</summary>
            <label class="field wide">
                <span class="name">"Name"</span>
                <input
                    type="text"
                    id="gpu-name"
                    maxlength="60"
                    autocomplete="off"
                    prop:value=text(move || state.scenario.with(|scenario| scenario.accelerator.name.clone()))
                    placeholder=text(move || state.scenario.with(|s| s.accelerator.accelerator().map(|a| a.name.to_string())).unwrap_or_default())
                    on:input=super::html::changed(move |ev| {
                        let name: String = event_target_value(&ev).trim_start().chars().take(60).collect();
                        state.edit(Section::Accelerator, "gpu-name", |scenario| scenario.accelerator.name = name);
                    })
                />
            </label>
            <div class="numbers">{Number::ALL.map(field).collect_view()}</div>
            <p class="hint">"Dense rates, without sparsity. Empty: not supported."</p>
        </details>
    }
}

fn describe(accelerator: &Accelerator) -> String {
    let mut html = Html::default();
    html.raw("<dl class=\"facts\">");
    for precision in Precision::ALL {
        if let Some(rate) = accelerator.peaks.of(precision) {
            let rate = si(rate.0, Unit::FLOP_PER_SECOND);
            html.element("<div><dt>", precision.label(), "</dt>").element("<dd>", &rate, "</dd></div>");
        }
    }
    let memory = match accelerator.usable {
        Some(usable) => format!("{} usable", capacity(usable)),
        None => format!("{} nominal", si(accelerator.capacity.as_f64(), Unit::BYTE)),
    };
    let bandwidth = si(accelerator.bandwidth.0, Unit::BYTE_PER_SECOND);
    html.raw("<div><dt>Memory</dt><dd>").text(&bandwidth).raw(" · ").text(&memory).raw("</dd></div></dl>");
    let disputed = accelerator.status == Status::Disputed;
    if disputed || !accelerator.note.is_empty() {
        html.raw("<p class=\"hint\">").raw(if disputed { "<span class=\"tag\">disputed</span>" } else { "" });
        html.text(if accelerator.note.is_empty() { "Sources disagree about its numbers." } else { &accelerator.note });
        html.raw("</p>");
    }
    html.raw("<details class=\"more\"><summary>Dense peak rates · sources</summary><p class=\"hint\">Sources: ");
    for (at, title) in accelerator.sources.iter().filter_map(|letter| source_title(letter)).enumerate() {
        html.raw(if at > 0 { "; " } else { "" }).text(title);
    }
    html.raw(". Read ").text(&accelerator.as_of).raw(".</p></details>").take()
}

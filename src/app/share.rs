//! Headings of the input panels: whether all scenarios share the section, and whether they differ in it.

use super::html::{flag, text};
use super::state::State;
use crate::scenario::state::{Scenario, Section};
use leptos::prelude::*;

/// The heading of a section; with several scenarios, a switch between "all scenarios" and "this one".
#[component]
pub(super) fn Heading(state: State, section: Section, title: Signal<String>) -> impl IntoView {
    let single = flag(move || state.comparison.with(|comparison| comparison.scenarios().len() < 2));
    let label = move || {
        state.comparison.with(|comparison| {
            let differ = |pair: &[_]| matches!(pair, [a, b] if !Scenario::agrees(a, section, b));
            if comparison.is_shared(section) {
                "all scenarios"
            } else if comparison.scenarios().windows(2).any(differ) {
                "this scenario · differs"
            } else {
                "this scenario"
            }
        })
    };
    let hint = text(move || {
        if label() == "all scenarios" {
            "One value for all scenarios. Press to give each its own."
        } else {
            "Each scenario has its own value. Press to use this one for all."
        }
        .to_owned()
    });
    let toggle = move |_| {
        let id = state.id();
        state.change("share", |comparison| {
            let on = !comparison.is_shared(section);
            comparison.share(section, id, on);
        });
    };
    view! {
        <div class="heading">
            <h2>{title}</h2>
            <button type="button" class="share" hidden=single title=hint data-shared=text(move || label().to_owned()) on:click=super::html::pressed(toggle)>
                {text(move || label().to_owned())}
            </button>
        </div>
    }
}

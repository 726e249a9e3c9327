//! Headings of the input panels: whether all scenarios share the section, and whether they differ in it.

use super::state::State;
use crate::scenario::state::Section;
use leptos::prelude::*;

/// The heading of a section; with several scenarios, a switch between "all scenarios" and "this one".
#[component]
pub(super) fn Heading(state: State, section: Section, children: Children) -> impl IntoView {
    let several = move || state.comparison.with(|comparison| comparison.scenarios().len() > 1);
    let shared = move || state.comparison.with(|comparison| comparison.is_shared(section));
    let differs = move || {
        state.comparison.with(|comparison| {
            let scenarios = comparison.scenarios();
            scenarios.windows(2).any(|pair| matches!(pair, [a, b] if !a.agrees(section, b)))
        })
    };
    let toggle = move |_| {
        let id = state.scenario.with_untracked(|scenario| scenario.id);
        state.change("share", |comparison| {
            let on = !comparison.is_shared(section);
            comparison.share(section, id, on);
        });
    };
    let switch = move || {
        several().then(|| {
            let hint = if shared() {
                "One value for all scenarios. Press to give each its own."
            } else {
                "Each scenario has its own value. Press to use this one for all."
            };
            view! {
                <button type="button" class="share" class:own=move || !shared() class:differs=differs title=hint on:click=toggle>
                    {move || if shared() { "all scenarios" } else if differs() { "this scenario · differs" } else { "this scenario" }}
                </button>
            }
        })
    };
    view! { <div class="heading"><h2>{children()}</h2>{switch}</div> }
}

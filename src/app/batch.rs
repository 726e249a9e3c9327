//! The batch, as text in the case language and as rows: two views of one thing.

use super::field::NumberField;
use super::state::State;
use crate::batch::case::{Case, CaseError, Kind, Request, VerifyAs};
use crate::batch::count::parse_count;
use crate::format::grouped;
use crate::scenario::state::{MOST_CASES, Section};
use leptos::prelude::*;

/// Batches to begin with.
const EXAMPLES: [(&str, &str); 6] = [
    ("Decode", "decode=32*1@8192"),
    ("Prefill", "prefill=8192"),
    ("Chunk", "chunk=8192@40960c"),
    ("Prefix hit", "hit=8192@40960"),
    ("Verify", "verify=16*4@4096:3"),
    ("Mix", "mix=8192,32*1@8192"),
];

/// A part of a request that a row edits.
#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Count,
    Query,
    Kv,
    Drafts,
}

/// The batch panel.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    let case = Memo::new(move |_| state.scenario.with(|scenario| scenario.case().cloned()));
    let rows = Memo::new(move |_| case.with(|case| case.as_ref().map_or(0, |case| case.requests().len())));
    let totals = move || {
        case.with(|case| {
            case.as_ref().map(|case| {
                let totals = case.totals();
                let (requests, tokens) = (grouped(totals.requests), grouped(totals.tokens()));
                let (prefill, decode) = (grouped(totals.prefill_tokens), grouped(totals.decode_tokens));
                let logits = grouped(totals.logits_tokens);
                format!("{requests} requests · {tokens} new tokens ({prefill} prefill, {decode} decode) · {logits} need logits")
            })
        })
    };
    let example = move |(name, text): (&'static str, &'static str)| {
        let put = move |_| {
            if let Ok(case) = Case::parse(text) {
                replace(state, "example", case);
            }
        };
        view! { <button type="button" class="chip" on:click=put>{name}</button> }
    };
    let add = move |_| {
        if let Some(case) = case.get_untracked()
            && let Ok(request) = Request::new(1, 1, 8192, 0, false)
        {
            let mut requests = case.requests().to_vec();
            requests.push(request);
            rewrite(state, &case, requests);
        }
    };
    let verifies = move || {
        case.with(|case| case.as_ref().is_some_and(|case| case.requests().iter().any(|r| r.kind() == Kind::Verify)))
    };
    view! {
        <section class="card panel">
            <super::share::Heading state section=Section::Batch>"Batch"</super::share::Heading>
            <Cases state/>
            <div class="chips" role="group" aria-label="Examples">{EXAMPLES.map(example).collect_view()}</div>
            <CaseField state/>
            <div class="scroll" tabindex="0" role="region" aria-label="Requests">
            <table class="requests">
                <thead>
                    <tr>
                        <th scope="col">"count"</th>
                        <th scope="col">"new"</th>
                        <th scope="col">"KV length"</th>
                        <th scope="col">"drafts"</th>
                        <th scope="col">"kind"</th>
                        <th scope="col"><span class="visually-hidden">"remove"</span></th>
                    </tr>
                </thead>
                <tbody>
                    <For each=move || 0..rows.get() key=|at| *at let:at>
                        <Row state at/>
                    </For>
                </tbody>
            </table>
            </div>
            <button type="button" class="chip" on:click=add>"Add requests"</button>
            <p class="hint" id="totals">{totals}</p>
            {move || verifies().then(|| view! {
                <label class="check">
                    <input
                        type="checkbox"
                        id="verify-as-prefill"
                        prop:checked=move || state.scenario.with(|s| s.verify == VerifyAs::Prefill)
                        on:change=move |ev| {
                            let verify = if event_target_checked(&ev) { VerifyAs::Prefill } else { VerifyAs::Decode };
                            state.edit(Section::Batch, "verify", |scenario| scenario.verify = verify);
                        }
                    />
                    <span>"Count a verify as a prefill, as vLLM’s serving counters do"</span>
                </label>
            })}
        </section>
    }
}

/// The named cases of the scenario.
#[component]
fn Cases(state: State) -> impl IntoView {
    let list = Memo::new(move |_| {
        state.scenario.with(|scenario| {
            let names: Vec<String> = scenario.cases.iter().map(|case| case.name().to_owned()).collect();
            (names, scenario.active)
        })
    });
    let tab = move |(at, name): (usize, String)| {
        let on = move || list.with(|(_, active)| *active == at);
        view! {
            <button
                type="button"
                class="chip case"
                class:on=on
                aria-pressed=move || on().to_string()
                on:click=move |_| state.edit(Section::Batch, "active", |scenario| scenario.active = at)
            >
                {name}
            </button>
        }
    };
    let add = move |_| {
        state.edit(Section::Batch, "add-case", |scenario| {
            if scenario.cases.len() < MOST_CASES
                && let Some(case) = scenario.case()
            {
                let name = format!("case {}", scenario.cases.len() + 1);
                let case = Case::new(&name, case.requests().to_vec());
                scenario.cases.extend(case.ok());
                scenario.active = scenario.cases.len() - 1;
            }
        });
    };
    let remove = move |_| {
        state.edit(Section::Batch, "remove-case", |scenario| {
            if scenario.cases.len() > 1 && scenario.active < scenario.cases.len() {
                scenario.cases.remove(scenario.active);
                scenario.active = scenario.active.min(scenario.cases.len() - 1);
            }
        });
    };
    view! {
        <div class="chips cases" role="group" aria-label="Cases">
            {move || {
                let names = list.with(|(names, _)| names.clone());
                (names.len() > 1).then(|| names.into_iter().enumerate().map(tab).collect_view())
            }}
            <button type="button" class="chip" id="add-case" title="Add a case, as a copy of this one" on:click=add>"+ case"</button>
            {move || (list.with(|(names, _)| names.len()) > 1).then(|| view! {
                <button type="button" class="chip" id="remove-case" on:click=remove>"Remove case"</button>
            })}
        </div>
    }
}

/// The case as text. It shows what is typed as long as that means the case.
#[component]
fn CaseField(state: State) -> impl IntoView {
    let value = Memo::new(move |_| state.scenario.with(|s| s.case().map(Case::to_text)).unwrap_or_default());
    let typed = RwSignal::new(None::<(String, String)>);
    let current = move || typed.get().filter(|(_, then)| *then == value.get()).map(|(text, _)| text);
    let error = Memo::new(move |_| current().and_then(|text| Case::parse(&text).err().map(|error| (text, error))));
    let wrong = Memo::new(move |_| if error.with(Option::is_some) { "wrong".to_owned() } else { String::new() });
    super::field::count_errors(state, wrong);
    let input = move |text: String| {
        if let Ok(case) = Case::parse(&text) {
            replace(state, "case", case);
        }
        typed.set(Some((text, value.get_untracked())));
    };
    view! {
        <label class="field wide">
            <span class="name">"Case"</span>
            <input
                type="text"
                id="case"
                class="code"
                spellcheck="false"
                autocomplete="off"
                placeholder="NAME=N*Q@KV, …"
                prop:value=move || current().unwrap_or_else(|| value.get())
                aria-invalid=move || error.with(Option::is_some).to_string()
                on:input=move |ev| input(event_target_value(&ev))
            />
        </label>
        {move || error.get().map(|(text, error)| refused(state, &text, &error))}
    }
}

/// The error of a case, with a caret under the place and a correction where one is known.
fn refused(state: State, text: &str, error: &CaseError) -> impl IntoView + use<> {
    let fix = error.corrected(text).and_then(|fixed| Some((Case::parse(&fixed).ok()?, fixed))).map(|(case, fixed)| {
        let label = format!("Use {fixed}");
        let put = move |_| replace(state, "fix", case.clone());
        view! { <button type="button" class="chip" on:click=put>{label}</button> }
    });
    view! {
        <div class="refused" role="alert" id="case-error">
            <p>{error.to_string()}</p>
            <pre class="excerpt">{format!("{text}\n{}", error.span.carets())}</pre>
            {fix}
        </div>
    }
}

/// Puts another case in the place of the one that is shown.
fn replace(state: State, field: &'static str, case: Case) {
    state.edit(Section::Batch, field, |scenario| match scenario.cases.get_mut(scenario.active) {
        Some(slot) => *slot = case,
        None => scenario.cases.push(case),
    });
}

/// Puts other requests into a case, under its name.
fn rewrite(state: State, case: &Case, requests: Vec<Request>) {
    let rewritten = if case.is_named() { Case::new(case.name(), requests) } else { Case::unnamed(requests) };
    if let Ok(case) = rewritten {
        replace(state, "rows", case);
    }
}

/// One group of equal requests.
#[component]
fn Row(state: State, at: usize) -> impl IntoView {
    let case = move || state.scenario.with(|scenario| scenario.case().cloned());
    let request = Memo::new(move |_| case().and_then(|case| case.requests().get(at).copied()));
    let cell = move |label: &'static str, cell: Cell| {
        let value = move || request.get().map(|request| part(request, cell).to_string()).unwrap_or_default();
        let take = Callback::new(move |text: String| {
            let number = parse_count(&text).map_err(|error| error.to_string())?;
            let (Some(case), Some(old)) = (untrack(case), request.get_untracked()) else { return Ok(()) };
            let new = changed(old, cell, number).map_err(|error| error.to_string())?;
            let mut requests = case.requests().to_vec();
            if let Some(slot) = requests.get_mut(at) {
                *slot = new;
            }
            rewrite(state, &case, requests);
            Ok(())
        });
        view! { <td><NumberField state label value=Signal::derive(value) take bare=true/></td> }
    };
    let remove = move |_| {
        if let Some(case) = untrack(case) {
            let mut requests = case.requests().to_vec();
            if at < requests.len() && requests.len() > 1 {
                requests.remove(at);
                rewrite(state, &case, requests);
            }
        }
    };
    view! {
        <tr>
            {cell("count", Cell::Count)}
            {cell("new tokens", Cell::Query)}
            {cell("KV length", Cell::Kv)}
            {cell("draft tokens", Cell::Drafts)}
            <td class="kind">{move || request.get().map(|request| request.kind().label())}</td>
            <td>
                <button type="button" class="remove" aria-label="Remove these requests" on:click=remove>"×"</button>
            </td>
        </tr>
    }
}

fn part(request: Request, cell: Cell) -> u64 {
    match cell {
        Cell::Count => request.count(),
        Cell::Query => request.query(),
        Cell::Kv => request.kv(),
        Cell::Drafts => request.drafts(),
    }
}

/// The request with one part changed. A prefill without a prefix keeps having none when its length changes; a verify
/// has one new token more than drafts, so that changing either changes both.
fn changed(old: Request, cell: Cell, number: u64) -> Result<Request, crate::batch::case::RequestError> {
    let (mut count, mut query, mut kv, mut drafts) = (old.count(), old.query(), old.kv(), old.drafts());
    match cell {
        Cell::Count => count = number,
        Cell::Query => {
            if old.prefix() == 0 || number > kv {
                kv = number;
            }
            if drafts > 0 {
                drafts = number.saturating_sub(1);
            }
            query = number;
        }
        Cell::Kv => kv = number,
        Cell::Drafts => {
            drafts = number;
            query = number.saturating_add(1);
        }
    }
    let chunked = old.chunked() && kv > query && !(drafts == 0 && query == 1);
    Request::new(count, query, kv, drafts, chunked)
}

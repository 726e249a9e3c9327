//! The batch, as text in the case language and as rows: two views of one thing.

use super::field::NumberField;
use super::state::State;
use crate::batch::case::{Case, CaseError, Request};
use crate::batch::count::parse_count;
use crate::format::grouped;
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
    let case = move || state.read_case.with(|kept| kept.value.clone());
    let rows = Memo::new(move |_| case().map_or(0, |case| case.requests().len()));
    let totals = move || {
        case().map(|case| {
            let totals = case.totals();
            let (requests, tokens) = (grouped(totals.requests), grouped(totals.tokens()));
            let (prefill, decode) = (grouped(totals.prefill_tokens), grouped(totals.decode_tokens));
            let logits = grouped(totals.logits_tokens);
            format!(
                "{requests} requests · {tokens} new tokens ({prefill} prefill, {decode} decode) · {logits} need logits"
            )
        })
    };
    let example = move |(name, text): (&'static str, &'static str)| {
        view! { <button type="button" class="chip" on:click=move |_| state.case.set(text.to_owned())>{name}</button> }
    };
    let add = move |_| {
        if let Some(case) = case()
            && let Ok(request) = Request::new(1, 1, 8192, 0, false)
        {
            let mut requests = case.requests().to_vec();
            requests.push(request);
            rewrite(state, &case, requests);
        }
    };
    view! {
        <section class="card panel">
            <h2>"Batch"</h2>
            <div class="chips" role="group" aria-label="Examples">{EXAMPLES.map(example).collect_view()}</div>
            <label class="field wide">
                <span class="name">"Case"</span>
                <input
                    type="text"
                    id="case"
                    class="code"
                    spellcheck="false"
                    autocomplete="off"
                    placeholder="NAME=N*Q@KV, …"
                    prop:value=state.case
                    aria-invalid=move || state.read_case.with(|kept| kept.error.is_some()).to_string()
                    on:input=move |ev| state.case.set(event_target_value(&ev))
                />
            </label>
            {move || state.read_case.with(|kept| kept.error.clone()).map(|error| refused(state, &error))}
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
            <button type="button" class="chip" on:click=add>"Add requests"</button>
            <p class="hint">{totals}</p>
        </section>
    }
}

/// The error of a case, with a caret under the place and a correction where one is known.
fn refused(state: State, error: &CaseError) -> impl IntoView + use<> {
    let text = state.case.get_untracked();
    let fix = error.corrected(&text).map(|fixed| {
        let label = format!("Use {fixed}");
        view! { <button type="button" class="chip" on:click=move |_| state.case.set(fixed.clone())>{label}</button> }
    });
    view! {
        <div class="refused" role="alert" id="case-error">
            <p>{error.to_string()}</p>
            <pre class="excerpt">{format!("{text}\n{}", error.span.carets())}</pre>
            {fix}
        </div>
    }
}

/// Puts other requests into a case, under its name.
fn rewrite(state: State, case: &Case, requests: Vec<Request>) {
    let rewritten = if case.is_named() { Case::new(case.name(), requests) } else { Case::unnamed(requests) };
    if let Ok(case) = rewritten {
        state.case.set(case.to_text());
    }
}

/// One group of equal requests.
#[component]
fn Row(state: State, at: usize) -> impl IntoView {
    let case = move || state.read_case.with(|kept| kept.value.clone());
    let request = Memo::new(move |_| case().and_then(|case| case.requests().get(at).copied()));
    let cell = move |label: &'static str, cell: Cell| {
        let value = move || request.get().map(|request| part(request, cell).to_string()).unwrap_or_default();
        let take = move |text: String| {
            let number = parse_count(&text).map_err(|error| error.to_string())?;
            let (Some(case), Some(old)) = (untrack(case), request.get_untracked()) else { return Ok(()) };
            let new = changed(old, cell, number).map_err(|error| error.to_string())?;
            let mut requests = case.requests().to_vec();
            if let Some(slot) = requests.get_mut(at) {
                *slot = new;
            }
            rewrite(state, &case, requests);
            Ok(())
        };
        view! { <td><NumberField label value=Signal::derive(value) take bare=true/></td> }
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

//! The batch, as text in the case language and as rows: two views of one thing.

use super::field::NumberField;
use super::html::{Block, Html, flag, kept, text};
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

impl Cell {
    /// All of them, as a row has them.
    const ALL: [Self; 4] = [Self::Count, Self::Query, Self::Kv, Self::Drafts];
}

/// The batch panel.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    let rows = Memo::new(move |_| state.scenario.with(|s| s.case().map_or(0, |case| case.requests().len())));
    let totals = text(move || state.scenario.with(|scenario| scenario.case().map(totals).unwrap_or_default()));
    let chips = text(|| {
        let mut html = Html::default();
        for (name, case) in EXAMPLES {
            html.raw("<button type=\"button\" class=\"chip\" data-act=\"").raw(case).raw("\">").raw(name);
            html.raw("</button>");
        }
        html.take()
    });
    let example = Callback::new(move |text: String| {
        if let Ok(case) = Case::parse(&text) {
            replace(state, "example", case);
        }
    });
    let add = move |_| {
        if let Some(case) = state.scenario.with_untracked(|scenario| scenario.case().cloned())
            && let Ok(request) = Request::new(1, 1, 8192, 0, false)
        {
            let mut requests = case.requests().to_vec();
            requests.push(request);
            rewrite(state, &case, requests);
        }
    };
    let no_verify = flag(move || {
        let verifies = |case: &Case| case.requests().iter().any(|request| request.kind() == Kind::Verify);
        !state.scenario.with(|scenario| scenario.case().is_some_and(verifies))
    });
    let verify = move |ev: web_sys::Event| {
        let verify = if event_target_checked(&ev) { VerifyAs::Prefill } else { VerifyAs::Decode };
        state.edit(Section::Batch, "verify", |scenario| scenario.verify = verify);
    };
    view! {
        <section class="card panel">
            <super::share::Heading state section=Section::Batch title=text(|| "Batch".to_owned())/>
            <Cases state/>
            <Block class="chips examples" markup=chips act=example/>
            <CaseField state/>
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
                    // Rows are told apart by their place, so there is nothing to match up.
                    {move || (0..rows.get()).map(|at| view! { <Row state at/> }).collect_view()}
                </tbody>
            </table>
            <button type="button" class="chip" id="add-requests" on:click=super::html::pressed(add)>"Add requests"</button>
            <p class="hint" id="totals">{totals}</p>
            <label class="check" hidden=no_verify>
                <input
                    type="checkbox"
                    id="verify-as-prefill"
                    prop:checked=flag(move || state.scenario.with(|s| s.verify == VerifyAs::Prefill))
                    on:change=super::html::changed(verify)
                />
                <span>"Count a verify as a prefill, as vLLM’s serving counters do"</span>
            </label>
            <p class="hint">
                "New: tokens that the step computes. KV length: after the step, new tokens included. Drafts: tokens that a spec-decode verify checks."
            </p>
        </section>
    }
}

fn totals(case: &Case) -> String {
    let totals = case.totals();
    let (requests, tokens) = (grouped(totals.requests), grouped(totals.tokens()));
    let (prefill, decode) = (grouped(totals.prefill_tokens), grouped(totals.decode_tokens));
    let (logits, plural) = (grouped(totals.logits_tokens), if totals.requests == 1 { "" } else { "s" });
    format!(
        "{requests} request{plural} · {tokens} new tokens ({prefill} prefill, {decode} decode) · logits for {logits}"
    )
}

/// The named cases of the scenario.
#[component]
fn Cases(state: State) -> impl IntoView {
    let markup = text(move || {
        state.scenario.with(|scenario| {
            let mut html = Html::default();
            let several = scenario.cases.len() > 1;
            for (at, case) in scenario.cases.iter().enumerate().filter(|_| several) {
                let on = at == scenario.active;
                html.raw("<button type=\"button\" class=\"chip case").raw(if on { " on" } else { "" });
                html.raw("\" aria-pressed=\"").raw(if on { "true" } else { "false" }).raw("\" data-act=\"");
                html.text(&at.to_string()).raw("\">").text(case.name()).raw("</button>");
            }
            html.raw("<button type=\"button\" class=\"chip\" id=\"add-case\" data-act=\"add\" title=\"Add a case, as a copy of this one\">+ case</button>");
            if several {
                html.raw("<button type=\"button\" class=\"chip\" id=\"remove-case\" data-act=\"remove\">Remove case</button>");
            }
            html.take()
        })
    });
    let act = Callback::new(move |act: String| {
        state.edit(Section::Batch, "cases", |scenario| match act.as_str() {
            "add" if scenario.cases.len() < MOST_CASES => {
                let name = format!("case {}", scenario.cases.len() + 1);
                let copy = scenario.case().and_then(|case| Case::new(&name, case.requests().to_vec()).ok());
                scenario.cases.extend(copy);
                scenario.active = scenario.cases.len().saturating_sub(1);
            }
            "remove" if scenario.cases.len() > 1 && scenario.active < scenario.cases.len() => {
                scenario.cases.remove(scenario.active);
                scenario.active = scenario.active.min(scenario.cases.len() - 1);
            }
            at => scenario.active = at.parse().unwrap_or(scenario.active).min(scenario.cases.len().saturating_sub(1)),
        });
    });
    view! { <Block class="chips cases" markup act/> }
}

/// The case as text. It shows what is typed as long as that means the case.
#[component]
fn CaseField(state: State) -> impl IntoView {
    let value = kept(move || state.scenario.with(|s| s.case().map(Case::to_text)).unwrap_or_default());
    let typed = RwSignal::new(None::<(String, String, String)>);
    let now = move || format!("{}\n{}", state.scenario.with(|scenario| scenario.id), value.get());
    let shown = text(move || {
        typed.get().filter(|(_, _, then)| *then == now()).map_or_else(|| value.get(), |(typed, _, _)| typed)
    });
    let error = kept(move || {
        let text = shown.get();
        Case::parse(&text).err().map(|error| refused(&text, &error)).unwrap_or_default()
    });
    super::field::count_errors(state, error);
    let input = move |ev: web_sys::Event| {
        let text = event_target_value(&ev);
        if let Ok(case) = Case::parse(&text) {
            replace(state, "case", case);
        }
        typed.set(Some((text, String::new(), untrack(now))));
    };
    let fix = Callback::new(move |text: String| {
        if let Ok(case) = Case::parse(&text) {
            typed.set(None);
            replace(state, "fix", case);
        }
    });
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
                prop:value=shown
                aria-invalid=text(move || (!error.with(String::is_empty)).to_string())
                on:input=super::html::changed(input)
            />
        </label>
        <Block class="case-error" markup=text(move || error.get()) act=fix/>
    }
}

/// The error of a case, with a caret under the place and a correction where one is known.
fn refused(text: &str, error: &CaseError) -> String {
    let mut html = Html::default();
    html.element("<div class=\"refused\" role=\"alert\" id=\"case-error\"><p>", &error.to_string(), "</p>");
    let excerpt = format!("{text}\n{}", error.span.carets());
    html.element("<pre class=\"excerpt\">", &excerpt, "</pre>");
    if let Some(fixed) = error.corrected(text).filter(|fixed| Case::parse(fixed).is_ok()) {
        html.raw("<button type=\"button\" class=\"chip\" data-act=\"").text(&fixed);
        html.element("\">Use ", &fixed, "</button>");
    }
    html.raw("</div>").take()
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
    let request = move || state.scenario.with(|scenario| scenario.case()?.requests().get(at).copied());
    // An edit of another row is none of this one.
    let row = kept(move || {
        let Some(request) = request() else { return String::new() };
        let numbers = Cell::ALL.map(|cell| part(request, cell).to_string());
        format!("{} {}", numbers.join(" "), request.kind().label())
    });
    let shown = move |place: usize| row.with(|row| row.splitn(5, ' ').nth(place).unwrap_or_default().to_owned());
    let cell = move |label: &'static str, cell: Cell| {
        let value = move || shown(cell as usize);
        let take = Callback::new(move |text: String| {
            let number = parse_count(&text).map_err(|error| error.to_string())?;
            let (Some(case), Some(old)) = (untrack(case), untrack(request)) else { return Ok(()) };
            let new = changed(old, cell, number).map_err(|error| error.to_string())?;
            let mut requests = case.requests().to_vec();
            if let Some(slot) = requests.get_mut(at) {
                *slot = new;
            }
            rewrite(state, &case, requests);
            Ok(())
        });
        let context = text(move || case().map(|case| case.to_text()).unwrap_or_default());
        view! { <td><NumberField state label value=text(value) take bare=true context/></td> }
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
            <td class="kind">{text(move || shown(Cell::ALL.len()))}</td>
            <td>
                <button type="button" class="remove" aria-label="Remove these requests" on:click=super::html::pressed(remove)>"×"</button>
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

//! The table of every operation: components, operations, and each term with its formula and the numbers put in.

use super::html::{Block, Html, text};
use super::state::{Outcome, State, View};
use crate::estimate::{Part, Quantity, Scope, Term};
use crate::format::{NONE, grouped, significant};
use crate::report::{Columns, OperationRow, SortBy, Summary, explain, rows, sort};
use leptos::prelude::*;

/// What a head does that sorts by its column, before the column's number.
const SORT: &str = "sort:";

/// The table.
#[component]
pub(super) fn Operations(state: State) -> impl IntoView {
    let all = move || state.view.with(|view| view.all_open);
    let markup = text(move || {
        let Some(outcome) = state.shown() else { return String::new() };
        state.view.with(|view| table(&outcome, view))
    });
    let toggle = Callback::new(move |key: String| {
        state.view.update(|view| {
            if let Some(column) = key.strip_prefix(SORT) {
                let by = column.parse().ok().and_then(|at: usize| SortBy::ALL.get(at));
                view.sort = match view.sort {
                    // Downwards, upwards, and as the model computes.
                    Some((now, ascending)) if Some(&now) == by => (!ascending).then_some((now, true)),
                    _ => by.map(|by| (*by, false)),
                };
            } else if let Some(at) = view.open.iter().position(|other| *other == key) {
                view.open.swap_remove(at);
            } else {
                view.open.push(key);
            }
        });
    });
    let label = text(move || if all() { "Hide formulas" } else { "Show every term and formula" }.to_owned());
    view! {
        <section class="card">
            <div class="heading">
                <h2>"Every operation"</h2>
                <button
                    type="button"
                    class="chip"
                    id="unfold"
                    aria-pressed=text(move || all().to_string())
                    on:click=super::html::pressed(move |_| state.view.update(|view| view.all_open = !view.all_open))
                >
                    {label}
                </button>
            </div>
            <div class="scroll" tabindex="0" role="region" aria-label="Operations">
                <Block class="operations-table" markup act=toggle/>
            </div>
        </section>
    }
}

fn table(outcome: &Outcome, view: &View) -> String {
    let Ok(breakdown) = &outcome.breakdown else { return String::new() };
    let total = breakdown.cost();
    let columns = Columns::of(&total);
    let mut html = Html::default();
    html.raw("<table class=\"operations\"><thead><tr><th scope=\"col\">operation</th>");
    let heads = columns.heads().into_iter().chain(["FLOP/B".to_owned()]);
    for (at, (head, by)) in heads.zip(SortBy::ALL).enumerate() {
        html.raw(match view.sort {
            Some((now, true)) if now == by => "<th scope=\"col\" aria-sort=\"ascending\">",
            Some((now, false)) if now == by => "<th scope=\"col\" aria-sort=\"descending\">",
            _ => "<th scope=\"col\">",
        });
        html.raw("<button type=\"button\" class=\"sort\" title=\"Sort by this\" data-act=\"").raw(SORT);
        html.text(&at.to_string()).element("\">", &head, "</button></th>");
    }
    html.raw("<th scope=\"col\">bound</th></tr></thead>");
    // A roofline is about one GPU: the whole model's intensity has no bound.
    let roof = outcome.roof.as_ref().filter(|_| outcome.scope == Scope::PerGpu);
    let mut rows = rows(breakdown, roof, Some(&outcome.accelerator));
    if let Some((by, ascending)) = view.sort {
        sort(&mut rows, by, ascending);
    }
    for part in rows {
        let name = part.component.name();
        html.element("<tbody><tr class=\"part\"><th scope=\"rowgroup\">", part.component.title(), "</th>");
        cells(&mut html, &part.summary, &columns);
        html.raw("</tr>");
        for row in &part.operations {
            let key = format!("{name}.{}", row.name);
            let unfolded = view.all_open || view.open.contains(&key);
            operation(&mut html, row, &key, unfolded, &columns);
            if unfolded {
                row.terms.iter().for_each(|t| term(&mut html, name, t, part.part, &columns, outcome));
            }
        }
        html.raw("</tbody>");
    }
    html.raw("<tfoot><tr class=\"part\"><th scope=\"row\">Step</th>");
    let step = Summary::of(total, roof).within(roof.and(outcome.step()));
    cells(&mut html, &step, &columns);
    html.raw("</tr></tfoot></table>").take()
}

fn amount(html: &mut Html, quantity: Quantity, value: u128, columns: &Columns) {
    let text = if value == 0 { NONE.to_owned() } else { columns.cell(quantity, value) };
    html.raw("<td data-exact=\"").text(&value.to_string()).raw("\" title=\"").text(&grouped(value)).raw("\">");
    html.text(&text).raw("</td>");
}

fn cells(html: &mut Html, summary: &Summary, columns: &Columns) {
    let cost = summary.cost;
    amount(html, Quantity::Flops, cost.flops.0, columns);
    amount(html, Quantity::Read, cost.read.0, columns);
    amount(html, Quantity::Write, cost.write.0, columns);
    let intensity = summary.intensity.map_or_else(|| NONE.to_owned(), |i| significant(i.0));
    let bound = summary.bound.map_or(NONE, |bound| bound.label());
    html.element("<td>", &intensity, "</td>");
    html.element("<td class=\"bound ", bound, "\">").element("", bound, "</td>");
}

fn operation(html: &mut Html, row: &OperationRow<'_>, key: &str, unfolded: bool, columns: &Columns) {
    html.raw("<tr class=\"operation\"><th scope=\"row\"><button type=\"button\" class=\"fold\" aria-expanded=\"");
    html.raw(if unfolded { "true" } else { "false" }).raw("\" data-act=\"").text(key).raw("\">");
    html.text(row.name).raw("</button></th>");
    cells(html, &row.summary, columns);
    html.raw("</tr>");
}

fn term(html: &mut Html, prefix: &str, term: &Term, part: &Part, columns: &Columns, outcome: &Outcome) {
    let name = format!("{prefix}.{}", term.def.name);
    html.raw("<tr class=\"term\" data-term=\"").text(&name).raw("\"><th scope=\"row\"><code>").text(&name);
    html.raw("</code></th>");
    for column in [Quantity::Flops, Quantity::Read, Quantity::Write] {
        if column == term.def.quantity {
            amount(html, column, term.amount, columns);
        } else {
            html.raw("<td></td>");
        }
    }
    html.raw("<td colspan=\"2\"></td></tr><tr class=\"formula\"><td colspan=\"6\"><code>");
    html.text(&term.def.formula.text()).raw("</code> = <code>");
    html.text(&part.written(term)).raw("</code><ul class=\"inputs-of\">");
    for input in explain(term, part, &outcome.model.spec, &outcome.settings) {
        html.element("<li><code>", input.symbol, "</code> ").text(&input.value).raw(" ").text(input.meaning);
        html.element(" <span class=\"origin\">", &input.origin, "</span></li>");
    }
    html.raw("</ul></td></tr>");
}

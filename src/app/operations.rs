//! The table of every operation: components, operations, and each term with its formula and the numbers put in.

use super::state::{Outcome, State};
use crate::estimate::{Part, Quantity, Term};
use crate::format::{NONE, grouped, significant};
use crate::report::{Columns, OperationRow, Summary, rows};
use leptos::prelude::*;

/// The table.
#[component]
pub(super) fn Operations(state: State) -> impl IntoView {
    // Operations that are unfolded, as component.operation.
    let open = RwSignal::new(Vec::<String>::new());
    let all = RwSignal::new(false);
    let body = move || {
        let outcome = state.shown()?;
        Some(table(&outcome, open, all.get()))
    };
    view! {
        <section class="card">
            <div class="heading">
                <h2>"Every operation"</h2>
                <button type="button" class="chip" id="unfold" aria-pressed=move || all.get().to_string() on:click=move |_| all.update(|all| *all = !*all)>
                    {move || if all.get() { "Hide formulas" } else { "Show every term and formula" }}
                </button>
            </div>
            <div class="scroll" tabindex="0" role="region" aria-label="Operations">{body}</div>
        </section>
    }
}

fn table(outcome: &Outcome, open: RwSignal<Vec<String>>, all: bool) -> impl IntoView + use<> {
    let Ok(breakdown) = &outcome.breakdown else { return None };
    let total = breakdown.cost();
    let columns = Columns::of(&total);
    let [flops, read, write] = columns.heads();
    let roof = outcome.roof.as_ref();
    let parts = rows(breakdown, roof)
        .into_iter()
        .map(|part| {
            let prefix = part.component.name();
            let operations = part.operations.iter().map(|row| operation(prefix, row, part.part, &columns, open, all));
            view! {
                <tbody>
                    <tr class="part">
                        <th scope="rowgroup">{part.component.title()}</th>
                        {cells(&part.summary, &columns)}
                    </tr>
                    {operations.collect_view()}
                </tbody>
            }
        })
        .collect_view();
    let whole = Summary::of(total, roof);
    Some(view! {
        <table class="operations">
            <thead>
                <tr>
                    <th scope="col">"operation"</th>
                    <th scope="col">{flops}</th>
                    <th scope="col">{read}</th>
                    <th scope="col">{write}</th>
                    <th scope="col">"FLOP/B"</th>
                    <th scope="col">"bound"</th>
                </tr>
            </thead>
            {parts}
            <tfoot>
                <tr class="part">
                    <th scope="row">"Step"</th>
                    {cells(&whole, &columns)}
                </tr>
            </tfoot>
        </table>
    })
}

fn amount(quantity: Quantity, value: u128, columns: &Columns) -> impl IntoView + use<> {
    let text = if value == 0 { NONE.to_owned() } else { columns.cell(quantity, value) };
    view! { <td data-exact=value.to_string() title=grouped(value)>{text}</td> }
}

fn cells(summary: &Summary, columns: &Columns) -> impl IntoView + use<> {
    let cost = summary.cost;
    let bound = summary.bound.map_or(NONE, |bound| bound.label());
    view! {
        {amount(Quantity::Flops, cost.flops.0, columns)}
        {amount(Quantity::Read, cost.read.0, columns)}
        {amount(Quantity::Write, cost.write.0, columns)}
        <td>{summary.intensity.map_or_else(|| NONE.to_owned(), |i| significant(i.0))}</td>
        <td class=format!("bound {bound}")>{bound}</td>
    }
}

fn operation(
    prefix: &'static str,
    row: &OperationRow<'_>,
    part: &Part,
    columns: &Columns,
    open: RwSignal<Vec<String>>,
    all: bool,
) -> impl IntoView + use<> {
    let key = format!("{prefix}.{}", row.name);
    let unfolded = all || open.with(|open| open.contains(&key));
    let toggle = move |_| {
        open.update(|open| match open.iter().position(|other| *other == key) {
            Some(at) => {
                open.swap_remove(at);
            }
            None => open.push(key.clone()),
        });
    };
    let terms = unfolded.then(|| row.terms.iter().map(|t| term(prefix, t, part, columns)).collect_view());
    view! {
        <tr class="operation">
            <th scope="row">
                <button type="button" class="fold" aria-expanded=unfolded.to_string() on:click=toggle>{row.name}</button>
            </th>
            {cells(&row.summary, columns)}
        </tr>
        {terms}
    }
}

fn term(prefix: &'static str, term: &Term, part: &Part, columns: &Columns) -> impl IntoView + use<> {
    let name = format!("{prefix}.{}", term.def.name);
    let id = name.clone();
    let quantity = term.def.quantity;
    let cells = [Quantity::Flops, Quantity::Read, Quantity::Write]
        .map(|column| {
            if column == quantity {
                amount(quantity, term.amount, columns).into_any()
            } else {
                view! { <td></td> }.into_any()
            }
        })
        .collect_view();
    let symbols = term.def.formula.symbols();
    let legend: Vec<String> = symbols.iter().map(|s| format!("{}: {}", s.name(), s.meaning())).collect();
    view! {
        <tr class="term" data-term=id>
            <th scope="row"><code>{name}</code></th>
            {cells}
            <td colspan="2"></td>
        </tr>
        <tr class="formula">
            <td colspan="6" title=legend.join("\n")>
                <code>{term.def.formula.text()}</code>
                " = "
                <code>{term.def.formula.with_values(&part.values)}</code>
            </td>
        </tr>
    }
}

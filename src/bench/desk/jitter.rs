//! The batch as it is and as it would be drawn, side by side.

use super::Reply;
use super::selected::Selected;
use crate::bench::table::{Cell, row, table};
use crate::bench::view::{View, element, scrolled};
use crate::estimate::Cost;
use crate::format::{NONE, Unit, duration, ratio, si};
use crate::report::{Roof, Summary};

/// Shows both.
pub(super) fn show(selected: &Selected, reply: &mut Reply) {
    let (case, jitter) = (&selected.outcome.case, &selected.run.jitter);
    let drawn = match jitter.case(case) {
        Ok(drawn) => drawn,
        Err(error) => {
            let said = element("p").with("class", "problem").and(error.to_string());
            return reply.show("jitter", [View::from(said)]);
        }
    };
    if case.compress().requests() == drawn.requests() {
        return reply.show("jitter", []);
    }
    let (exact, other) = (selected.cost(case), selected.cost(&drawn));
    let rows = [("as it is", exact), ("as it is drawn", other)]
        .map(|(name, cost)| row(name, cells(cost, selected.outcome.roof.as_ref())));
    let caption = format!(
        "{} as it is, and with the KV lengths that are drawn from seed {} with jitter {}: per GPU",
        case.name(),
        selected.run.get("seed"),
        selected.run.get("kv_len_jitter")
    );
    let heads = ["batch", "FLOPs", "read", "written", "intensity", "roofline time"];
    let body = table(caption, &heads).and(element("tbody").all(rows));
    let change = exact.zip(other).map(|(exact, drawn)| {
        let of = |drawn: f64, exact: f64| if exact > 0.0 { ratio(drawn / exact) } else { NONE.to_owned() };
        format!(
            "Drawn against exact: FLOPs {}, bytes {}.",
            of(drawn.flops.as_f64(), exact.flops.as_f64()),
            of(drawn.moved().as_f64(), exact.moved().as_f64())
        )
    });
    let requests = element("pre").with("class", "command").with("tabindex", "0").and(drawn.to_text());
    let requests = element("details").and(element("summary").and("The requests that are drawn")).and(requests);
    let add = element("button").with("type", "button").with("data-act", "jittered").and("Add it as a scenario");
    let foot = element("p").with("class", "desk-head").and(element("span").and(change.unwrap_or_default())).and(add);
    reply.show("jitter", [scrolled(body), foot.into(), requests.into()]);
}

/// FLOPs, bytes and what the roofline makes of them.
pub(super) fn cells(cost: Option<Cost>, roof: Option<&Roof>) -> Vec<Cell> {
    let Some(cost) = cost else { return vec![Cell::number(NONE).exactly("not estimated"); 5] };
    let summary = Summary::of(cost, roof);
    let maybe = |text: Option<String>| Cell::number(text.unwrap_or_else(|| NONE.to_owned()));
    vec![
        Cell::amount(cost.flops.0, Unit::FLOP),
        Cell::amount(cost.read.0, Unit::BYTE),
        Cell::amount(cost.write.0, Unit::BYTE),
        maybe(summary.intensity.map(|intensity| si(intensity.0, Unit::INTENSITY))),
        maybe(summary.time.map(duration)),
    ]
}

//! The batch as it is and as it would be drawn, side by side.

use super::Reply;
use crate::bench::context::{Context, Estimated, Limit};
use crate::bench::view::{Element, View, element};
use crate::format::{NONE, Unit, ratio, si};
use crate::units::Seconds;

/// Shows both, and says what has to be estimated for it.
pub(super) fn show(context: &Context, wanted: &mut Vec<String>, reply: &mut Reply) {
    let Some(case) = context.case() else { return reply.show("jitter", []) };
    let drawn = match context.run.jitter.case(case) {
        Ok(drawn) => drawn,
        Err(error) => {
            let said = element("p").with("class", "problem").and(error.to_string());
            return reply.show("jitter", [View::from(said)]);
        }
    };
    if case.compress().requests() == drawn.requests() {
        return reply.show("jitter", []);
    }
    let (exact, drawn) = (case.to_text(), drawn.to_text());
    let estimates = [context.estimate(&exact), context.estimate(&drawn)];
    let rows = [("as it is", estimates[0]), ("as it is drawn", estimates[1])];
    let body = rows.map(|(name, estimate)| row(name, estimate, &context.limit));
    let heads = ["Batch", "FLOPs", "Read", "Written", "Intensity", "Roofline time"];
    let table = element("table")
        .with("class", "desk-table")
        .and(element("caption").and(format!(
            "{} as it is, and with the KV lengths that are drawn from seed {} with jitter {}, per GPU",
            case.name(),
            context.run.get("seed"),
            context.run.get("kv_len_jitter")
        )))
        .and(element("thead").and(element("tr").all(heads.map(|head| element("th").with("scope", "col").and(head)))))
        .and(element("tbody").all(body));
    let change = match estimates {
        [Some(exact), Some(drawn)] if exact.flops > 0 && exact.bytes() > 0 => Some(format!(
            "Drawn against exact: FLOPs {}, bytes {}.",
            ratio(drawn.flops as f64 / exact.flops as f64),
            ratio(drawn.bytes() as f64 / exact.bytes() as f64)
        )),
        _ => None,
    };
    let lengths = element("details")
        .and(element("summary").and("The requests that are drawn"))
        .and(element("pre").with("class", "command").with("tabindex", "0").and(drawn.clone()));
    let add = element("button").with("type", "button").with("data-act", "jittered").and("Add it as a scenario");
    let foot = element("p").with("class", "desk-head").and(change.unwrap_or_default()).and(add);
    wanted.extend([exact, drawn]);
    reply.show("jitter", [View::from(table), foot.into(), lengths.into()]);
}

impl Estimated {
    /// Bytes read and written.
    #[must_use]
    pub fn bytes(&self) -> u128 {
        self.read.saturating_add(self.write)
    }

    /// The least time that the roofline allows, if the accelerator has both roofs.
    #[must_use]
    pub fn bound(&self, limit: &Limit) -> Option<Seconds> {
        let (peak, _) = limit.peak.as_ref()?;
        Some(Seconds((self.flops as f64 / peak).max(self.bytes() as f64 / limit.bandwidth?)))
    }
}

fn row(name: &'static str, estimate: Option<Estimated>, limit: &Limit) -> Element {
    let exact = |value: u128, unit: Unit| (si(value as f64, unit), crate::format::grouped(value));
    let cells = match estimate {
        None => [(); 5].map(|()| (NONE.to_owned(), "not estimated".to_owned())),
        Some(estimate) => {
            let intensity = estimate.flops as f64 / estimate.bytes() as f64;
            let intensity = if intensity.is_finite() { si(intensity, Unit::INTENSITY) } else { NONE.to_owned() };
            let time = estimate.bound(limit).map_or_else(|| NONE.to_owned(), crate::format::duration);
            [
                exact(estimate.flops, Unit::FLOP),
                exact(estimate.read, Unit::BYTE),
                exact(estimate.write, Unit::BYTE),
                (intensity.clone(), intensity),
                (time.clone(), time),
            ]
        }
    };
    let cells = cells.map(|(text, title)| element("td").with("class", "n").with("title", title).and(text));
    element("tr").and(element("th").with("scope", "row").and(name)).all(cells)
}

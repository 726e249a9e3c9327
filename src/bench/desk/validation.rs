//! The physical model against public measurements, row by row.

use crate::bench::order::rising;
use crate::bench::table::{Cell, row, table};
use crate::bench::view::{View, element, scrolled};
use crate::format::{duration, percent};
use crate::model::{ClassTable, KvDtype};
use crate::validation::{SAMPLE, model, rows};

/// Every row of the sample with its bound, the fraction of the measured time that the bound is, and the error of the
/// calibrated time.
pub(super) fn view(classes: &ClassTable) -> View {
    let (mut fractions, mut errors, mut shown) = (Vec::new(), Vec::new(), Vec::new());
    for measured in rows(SAMPLE) {
        let Some(times) = model(&measured.model, classes).and_then(|spec| measured.times(&spec, KvDtype::AUTO)) else {
            continue;
        };
        let fraction = times.bound.0 / measured.measured.0;
        let error = times.calibrated.0 / measured.measured.0 - 1.0;
        fractions.push(fraction);
        if measured.is_fitted() {
            errors.push(error.abs());
        }
        let what = format!(
            "{} {}, {}, {}, TP{}, {} clients, {} + {} tokens",
            measured.model,
            measured.precision,
            measured.system,
            measured.engine,
            measured.tp,
            measured.concurrency,
            measured.lengths.0,
            measured.lengths.1
        );
        shown.push(row(
            what,
            [
                Cell::number(duration(measured.measured)),
                Cell::number(duration(times.bound)),
                Cell::number(percent(fraction)),
                Cell::number(duration(times.calibrated)),
                Cell::number(percent(error)),
            ],
        ));
    }
    let said = format!(
        "Times per output token of served models (public silicon sample of aiconfigurator, Apache-2.0). The bound of a \
         decode step at that concurrency and mean context is the part of the measured time that physics explains: \
         {} at the median of these {} rows, and never more than all of it. The calibrated time is off by {} at the median \
         of the {} rows of dense models with up to 8 clients here; over all 252 such rows of the full sample by 7.1%, \
         which it was fitted to. It says nothing about mixtures of experts.",
        percent(median(&fractions)),
        shown.len(),
        percent(median(&errors)),
        errors.len()
    );
    let heads = ["served", "measured", "bound", "bound / measured", "calibrated", "off by"];
    let body = table("Measured rows beside the bound", &heads).and(element("tbody").all(shown));
    element("div").and(element("p").with("class", "hint").and(said)).and(scrolled(body)).into()
}

fn median(values: &[f64]) -> f64 {
    rising(values).get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

//! The physical model against public measurements, row by row.

use crate::bench::order::rising;
use crate::bench::table::{Cell, row, table};
use crate::bench::view::{View, element, scrolled};
use crate::format::{duration, percent};
use crate::model::{ClassTable, KvDtype};
use crate::step::preset::CALIBRATED_ON;
use crate::validation::{SAMPLE, model, rows};

/// Every row of the sample with its bound, the fraction of the measured time that the bound is, and the error of the
/// calibrated time.
pub(super) fn view(classes: &ClassTable) -> View {
    let (mut fractions, mut errors, mut fitted, mut shown) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for measured in rows(SAMPLE) {
        let Some(times) = model(&measured.model, classes).and_then(|spec| measured.times(&spec, KvDtype::AUTO)) else {
            continue;
        };
        let fraction = times.bound.0 / measured.measured.0;
        let error = times.calibrated.0 / measured.measured.0 - 1.0;
        fractions.push(fraction);
        errors.push(error.abs());
        if measured.is_fitted() {
            fitted.push(error.abs());
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
         {} at the median of these {} rows, and never more than all of it. The two constants of the calibrated time were \
         fitted on {} to all {} rows of dense models with up to 8 clients of the full sample, over which its median error \
         is {}. Of those, {} stand here, and over them it is {}, as computed now; over all rows here, most of which are \
         mixtures of experts or have more clients, which it was not fitted to, it is {}.",
        percent(median(&fractions)),
        shown.len(),
        CALIBRATED_ON.date,
        CALIBRATED_ON.rows,
        percent(CALIBRATED_ON.error),
        fitted.len(),
        percent(median(&fitted)),
        percent(median(&errors)),
    );
    let heads = ["served", "measured", "bound", "bound / measured", "calibrated", "off by"];
    let body = table("Measured rows beside the bound", &heads).and(element("tbody").all(shown));
    element("div").and(element("p").with("class", "hint").and(said)).and(scrolled(body)).into()
}

/// The value in the middle, or between the two there.
fn median(values: &[f64]) -> f64 {
    let values = rising(values);
    let at = |place: usize| values.get(place).copied().unwrap_or(f64::NAN);
    f64::midpoint(at(values.len().saturating_sub(1) / 2), at(values.len() / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&[4.0, 1.0, 3.0, 2.0]) - 2.5).abs() < 1e-12);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn what_was_fitted_stands_beside_what_is_computed() {
        let mut markup = String::new();
        view(ClassTable::builtin()).markup(&mut markup);
        let said = markup.split("</p>").next().unwrap().replace('\u{202f}', " ");
        insta::assert_snapshot!(said, @r#"<div><p class="hint">Times per output token of served models (public silicon sample of aiconfigurator, Apache-2.0). The bound of a decode step at that concurrency and mean context is the part of the measured time that physics explains: 34.1% at the median of these 61 rows, and never more than all of it. The two constants of the calibrated time were fitted on 2026-11-30 to all 252 rows of dense models with up to 8 clients of the full sample, over which its median error is 7.09%. Of those, 6 stand here, and over them it is 8.93%, as computed now; over all rows here, most of which are mixtures of experts or have more clients, which it was not fitted to, it is 20.3%."#);
    }
}

//! The physical model against public measurements, row by row.

use crate::bench::order::rising;
use crate::bench::table::{Cell, row, table};
use crate::bench::view::{View, element, scrolled};
use crate::format::{duration, grouped, percent};
use crate::model::{ClassTable, KvDtype, ModelSpec};
use crate::step::preset::CALIBRATED;
use crate::validation::{model, rows};

/// Every row of a table of measurements with its bound, the fraction of the measured time that the bound is, and the
/// error of the calibrated time; rows that are faster than their bound are named, with what explains them.
pub(super) fn view(measurements: &str, classes: &ClassTable) -> View {
    if measurements.is_empty() {
        return element("p").with("class", "problem").and("The measurements did not load; reload to try again.").into();
    }
    let (mut fractions, mut errors, mut fitted) = (Vec::new(), Vec::new(), Vec::new());
    let (mut shown, mut faster) = (Vec::new(), Vec::new());
    // Rows of a model stand together.
    let mut known: Option<(String, ModelSpec)> = None;
    for measured in rows(measurements) {
        if known.as_ref().is_none_or(|(name, _)| *name != measured.model) {
            known = model(&measured.model, classes).map(|spec| (measured.model.clone(), spec));
        }
        let Some((_, spec)) = &known else { continue };
        let Some(times) = measured.times(spec, KvDtype::AUTO) else { continue };
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
        if fraction > 1.0 {
            let narrow = KvDtype::named("fp8").and_then(|cache| measured.times(spec, cache));
            let narrow = narrow.map_or(f64::NAN, |times| times.bound.0 / measured.measured.0);
            faster.push(format!(
                "{what}: the bound is {} of the measured time with a KV cache in 16 bit, {} with one in 8 bit. The \
                 source does not say which it had.",
                percent(fraction),
                percent(narrow)
            ));
        }
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
         decode step at that concurrency and mean context is the part of the measured time that physics explains: {} at \
         the median of these {} rows, and more than all of it in {}, which are named below. The calibrated time was {}. \
         Of these rows, {} are of dense models with up to 8 clients, and over them its median error is {}; over all rows, \
         most of which have more clients or are of mixtures of experts, to which it was not fitted, it is {}.",
        percent(median(&fractions)),
        grouped(shown.len() as u128),
        faster.len(),
        CALIBRATED.source,
        fitted.len(),
        percent(median(&fitted)),
        percent(median(&errors)),
    );
    let heads = ["served", "measured", "bound", "bound / measured", "calibrated", "off by"];
    let body = table("Measured rows beside the bound", &heads).and(element("tbody").all(shown));
    let faster = faster.into_iter().map(|text| element("li").and(text));
    element("div")
        .and(element("p").with("class", "hint").and(said))
        .and(element("ul").with("class", "said").all(faster))
        .and(scrolled(body))
        .into()
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
    use crate::validation::MEASURED;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&[4.0, 1.0, 3.0, 2.0]) - 2.5).abs() < 1e-12);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn what_was_fitted_stands_beside_what_is_computed() {
        let mut markup = String::new();
        view(MEASURED, ClassTable::builtin()).markup(&mut markup);
        let said = markup.split("</ul>").next().unwrap().replace('\u{202f}', " ");
        insta::assert_snapshot!(said, @r#"<div><p class="hint">Times per output token of served models (public silicon sample of aiconfigurator, Apache-2.0). The bound of a decode step at that concurrency and mean context is the part of the measured time that physics explains: 36.9% at the median of these 1 320 rows, and more than all of it in 3, which are named below. The calibrated time was fitted on 2026-11-30 to 252 measured times per output token of dense models at up to 8 requests (aiconfigurator&#39;s public sample), median error 7.09 %. Of these rows, 252 are of dense models with up to 8 clients, and over them its median error is 7.09%; over all rows, most of which have more clients or are of mixtures of experts, to which it was not fitted, it is 19.0%.</p><ul class="said"><li>Qwen/Qwen3-32B fp8, h100-sxm, vllm 0.12.0, TP1, 24 clients, 4000 + 1000 tokens: the bound is 110% of the measured time with a KV cache in 16 bit, 84.4% with one in 8 bit. The source does not say which it had.</li><li>Qwen/Qwen3-32B fp8, h100-sxm, vllm 0.12.0, TP2, 48 clients, 4000 + 1000 tokens: the bound is 118% of the measured time with a KV cache in 16 bit, 82.1% with one in 8 bit. The source does not say which it had.</li><li>meta-llama/Llama-3.1-70B fp8, h200-sxm, trtllm, TP2, 128 clients, 1024 + 8192 tokens: the bound is 106% of the measured time with a KV cache in 16 bit, 68.3% with one in 8 bit. The source does not say which it had.</li>"#);
    }
}

//! Result files, one by one and one against another.

use super::Reply;
use super::selected::Selected;
use crate::bench::results::against::Against;
use crate::bench::results::compare::compare;
use crate::bench::results::view::{Shown, case, compared, notes};
use crate::bench::results::warning::warnings;
use crate::bench::results::{Measured, ResultFile};
use crate::bench::table::{Cell, row, table};
use crate::bench::view::{Element, View, element, scrolled};
use crate::format::{NONE, duration, percent, ratio};

/// So many cases are shown with their samples and ranks, the others as rows of a table.
const IN_FULL: usize = 8;

/// The most rows of that table.
const MOST_ROWS: usize = 500;

/// The most points that a roofline can show and still be read.
const MOST_POINTS: usize = 40;

/// The files that were brought, by name.
#[derive(Debug, Default)]
pub(super) struct Results(Vec<(String, ResultFile)>);

impl Results {
    /// Takes a file; one of the same name is replaced.
    pub(super) fn take(&mut self, name: &str, file: ResultFile) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some(known) => known.1 = file,
            None => self.0.push((name.to_owned(), file)),
        }
    }

    /// Puts a file away.
    pub(super) fn drop(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }

    /// Shows all of them against the estimate for the requests that they hold.
    pub(super) fn show(&self, selected: &Selected, reply: &mut Reply) {
        let mut views: Vec<View> = Vec::new();
        let mut points = Vec::new();
        let mut in_full = 0;
        if let [.., (before, first), (after, second)] = self.0.as_slice() {
            let rows = compare(first, second);
            views.push(element("p").with("class", "hint").and(format!("Before: {before}. After: {after}.")).into());
            views.push(scrolled(compared(&rows)));
        }
        if let Ok(physics) = selected.physics.as_ref()
            && let Some(said) = crate::report::answer::overridden(physics, &selected.run).filter(|_| !self.0.is_empty())
        {
            views.push(element("p").with("class", "caution").and(said).into());
        }
        for (name, file) in &self.0 {
            let put_away = element("button")
                .with("type", "button")
                .with("data-act", format!("drop-result:{name}"))
                .with("aria-label", format!("Put {name} away"))
                .and("×");
            let against = format!("{name}, against {}", selected.name);
            views.push(element("p").with("class", "desk-head").and(element("span").and(against)).and(put_away).into());
            views.extend(notes(file));
            let mut short = Vec::new();
            for measured in &file.cases {
                let against = against_of(measured, selected);
                if let Some(against) = against.filter(|_| points.len() < MOST_POINTS)
                    && against.cost.moved().0 > 0
                {
                    let intensity = against.cost.flops.as_f64() / against.cost.moved().as_f64();
                    let time = crate::format::duration(against.time);
                    let label = format!("{}, {name} measured: {time}", measured.title());
                    points.push([label, intensity.to_string(), against.computed.0.to_string()]);
                }
                let shown = Shown {
                    measured,
                    warnings: warnings(measured, Some(&selected.outcome.scenario.layout)),
                    against: [("vllm", against), ("physical", physical_of(measured, selected))]
                        .into_iter()
                        .filter_map(|(model, against)| Some((model, against?)))
                        .collect(),
                };
                if in_full < IN_FULL {
                    views.push(scrolled(case(&shown)));
                    in_full += 1;
                } else {
                    short.push(shown);
                }
            }
            if !short.is_empty() {
                views.push(scrolled(shortened(&short)));
            }
        }
        reply.show("results", views);
        reply.points(points);
    }
}

/// Cases in a row each.
fn shortened(cases: &[Shown<'_>]) -> Element {
    let rows = cases.iter().take(MOST_ROWS).map(|shown| {
        let share = shown.against.first().and_then(|(_, against)| against.share);
        let maybe = |text: Option<String>| Cell::number(text.unwrap_or_else(|| NONE.to_owned()));
        row(
            shown.measured.title(),
            [
                Cell::number(duration(shown.measured.median())),
                maybe(shown.measured.spread_pct().map(|pct| percent(pct / 100.0))),
                maybe(share.map(|share| percent(share.mfu))),
                maybe(share.map(|share| percent(share.mbu))),
                maybe(share.map(|share| ratio(share.ratio))),
                Cell::number(shown.warnings.len().to_string()),
            ],
        )
    });
    let caption = match cases.len().checked_sub(MOST_ROWS) {
        Some(more @ 1..) => format!("Further cases, of them {more} not shown; the command line shows all"),
        _ => "Further cases".to_owned(),
    };
    let heads = ["case", "median", "spread", "MFU", "MBU", "x bound", "warnings"];
    table(caption, &heads).and(element("tbody").all(rows))
}

/// Against the physical model, whose bound is that of its operations and collectives.
fn physical_of(measured: &Measured, selected: &Selected) -> Option<Against> {
    let physics = selected.physics.as_ref().as_ref().ok()?;
    let batch = measured.case.batch_with(selected.outcome.scenario.verify);
    let outcome = &selected.outcome;
    let on = Some((&outcome.accelerator, &physics.on.links));
    Against::of_physical(measured.median(), &batch, &physics.model, on, outcome.roof.as_ref()).ok()?
}

fn against_of(measured: &Measured, selected: &Selected) -> Option<Against> {
    Against::of(measured.median(), selected.cost(&measured.case)?, selected.outcome.roof.as_ref())
}

//! Result files, one by one and one against another.

use super::Reply;
use super::selected::Selected;
use crate::bench::results::against::Against;
use crate::bench::results::compare::compare;
use crate::bench::results::view::{Shown, case, compared, notes};
use crate::bench::results::warning::warnings;
use crate::bench::results::{Measured, ResultFile};
use crate::bench::view::{View, element, scrolled};

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
        if let [.., (before, first), (after, second)] = self.0.as_slice() {
            let rows = compare(first, second);
            views.push(element("p").with("class", "hint").and(format!("Before: {before}. After: {after}.")).into());
            views.push(scrolled(compared(&rows)));
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
            for measured in &file.cases {
                let against = against_of(measured, selected);
                if let Some(against) = against.filter(|_| points.len() < MOST_POINTS)
                    && against.cost.moved().0 > 0
                {
                    let intensity = against.cost.flops.as_f64() / against.cost.moved().as_f64();
                    let label = format!("{} measured: {}", measured.title(), crate::format::duration(against.time));
                    points.push([label, intensity.to_string(), against.computed.0.to_string()]);
                }
                let shown = Shown {
                    measured,
                    warnings: warnings(measured, Some(&selected.outcome.scenario.layout)),
                    against: against.map(|against| ("vllm", against)).into_iter().collect(),
                };
                views.push(scrolled(case(&shown)));
            }
        }
        reply.show("results", views);
        reply.points(points);
    }
}

fn against_of(measured: &Measured, selected: &Selected) -> Option<Against> {
    Against::of(measured.median(), selected.cost(&measured.case)?, selected.outcome.roof.as_ref())
}

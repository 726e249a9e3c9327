//! What a server says of its own estimate: metrics, logs, scheduler steps.

use super::Reply;
use super::jitter::cells;
use super::selected::Selected;
use crate::bench::table::{row, table};
use crate::bench::view::{View, element, scrolled};
use crate::estimate::{Estimator, Scope};
use crate::serving::counters::{Counters, counters};
use crate::serving::{compare, log, rates, step, view};
use crate::units::Seconds;

/// What was pasted.
#[derive(Debug)]
pub(super) struct Serving {
    first: String,
    later: String,
    seconds: String,
}

impl Default for Serving {
    fn default() -> Self {
        Self { first: String::new(), later: String::new(), seconds: "10".to_owned() }
    }
}

impl Serving {
    /// Takes a text for one of the fields.
    pub(super) fn take(&mut self, field: &str, text: &str) {
        let slot = match field {
            "serving" => &mut self.first,
            "serving-later" => &mut self.later,
            _ => &mut self.seconds,
        };
        text.clone_into(slot);
    }

    /// The scheduler step that was pasted, in the case language.
    pub(super) fn step(&self) -> Option<String> {
        step::read(&self.first).ok().map(|step| step.case.compress().to_text())
    }

    /// Shows what was understood.
    pub(super) fn show(&self, selected: &Selected, reply: &mut Reply) {
        let views = match self.views(selected) {
            Ok(views) => views,
            Err(problem) => vec![element("p").with("class", "problem").with("role", "alert").and(problem).into()],
        };
        reply.show("serving", views.into_iter().map(scrolled));
    }

    fn views(&self, selected: &Selected) -> Result<Vec<View>, String> {
        let text = self.first.trim_start();
        if text.is_empty() && self.later.trim().is_empty() {
            return Ok(Vec::new());
        }
        if is_log(text) {
            return logged(text, selected);
        }
        if text.starts_with('{') {
            return stepped(text, selected);
        }
        let first = read(text)?;
        if self.later.trim().is_empty() {
            return Ok(vec![view::counters(&first)]);
        }
        let later = read(&self.later).map_err(|error| format!("The later page: {error}"))?;
        let seconds = crate::decimal::parse(self.seconds.trim()).ok_or_else(|| {
            format!("The seconds between the pages are {}; expected a number.", quoted(&self.seconds))
        })?;
        let found = rates::rates(&first, &later, Seconds(seconds)).map_err(|error| error.to_string())?;
        Ok(vec![view::rates(&found, selected.outcome.roof.as_ref()), view::counters(&later)])
    }
}

/// Whether a text is for this part, wherever it was pasted.
pub(super) fn is_serving(text: &str) -> bool {
    is_log(text) || text.contains("vllm:") || is_step(text)
}

fn is_log(text: &str) -> bool {
    text.contains("MFU: ") || text.contains("MFU details: ") || text.contains("\"context_breakdown\"")
}

fn is_step(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"num_computed_tokens\"")
}

fn quoted(text: &str) -> String {
    if text.trim().is_empty() { "missing".to_owned() } else { crate::format::quoted(text) }
}

fn read(text: &str) -> Result<Counters, String> {
    counters(text).map_err(|error| error.to_string())
}

fn logged(text: &str, selected: &Selected) -> Result<Vec<View>, String> {
    let found = log::scan(text).map_err(|error| error.to_string())?;
    let mut views = vec![view::log(&found, selected.outcome.roof.as_ref())];
    for one in &found.details {
        let said = format!("The details of line {} against {}", one.line, selected.name);
        views.push(element("h4").and(said).into());
        let rows = compare::compare(&one.details, &selected.outcome.vllm).map_err(|error| error.to_string())?;
        views.push(view::compared(&rows));
    }
    Ok(views)
}

fn stepped(text: &str, selected: &Selected) -> Result<Vec<View>, String> {
    let step = step::read(text).map_err(|error| error.to_string())?;
    let cost = selected.outcome.vllm.estimate(&step.batch, Scope::PerGpu).ok().map(|breakdown| breakdown.cost());
    let heads = ["step", "FLOPs", "read", "written", "intensity", "roofline time"];
    let caption = format!("The step as vLLM counts it, for {}: per GPU", selected.name);
    let figures =
        table(caption, &heads).and(element("tbody").and(row("this step", cells(cost, selected.outcome.roof.as_ref()))));
    let add = element("button").with("type", "button").with("data-act", "step").and("Add it as a scenario");
    Ok(vec![view::step(&step), figures.into(), element("p").and(add).into()])
}

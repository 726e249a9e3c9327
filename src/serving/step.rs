//! A scheduler step as JSON, and the batch that vLLM's estimator makes of it.
//!
//! `{"new": [{"num_computed_tokens": n, "num_tokens": m}...], "cached": [...]}`: each request computes m tokens behind
//! n; a new one is a prefill, a continuing one (`cached`) is a prefill exactly if m > 1, and m = 0 is skipped.

use crate::batch::case::{Case, Problem, Request, RequestError};
use crate::batch::{Batch, Group, Phase};
use crate::json::{JsonError, Misfit, Place, Position, parse};
use thiserror::Error;

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What the estimators take: phases by vLLM's rule.
    pub batch: Batch,
    /// The same requests in the case language, named `step`. It goes by lengths alone, so it may disagree with the batch
    /// about phases; the notes say so.
    pub case: Case,
    /// Requests without new tokens, which vLLM skips.
    pub skipped: usize,
    /// Where the case and the batch disagree, and what was assumed, as sentences.
    pub notes: Vec<String>,
}

/// Why a text is no step.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StepError {
    /// No JSON.
    #[error("This is no JSON: at {}: found {}, expected {}; a step is {EXPECTED}.", .0.at, .0.found, .0.expected)]
    Json(JsonError),
    /// A value that is not what it should be.
    #[error("At {at}, {}: found {}; expected {}; a step is {EXPECTED}.", path(.misfit), .misfit.found, .misfit.expected)]
    Misfit {
        /// The place.
        at: Position,
        /// What and where.
        misfit: Misfit,
    },
    /// Numbers that make no request.
    #[error("At {at}, `{path}`: {error}")]
    Request {
        /// The place.
        at: Position,
        /// The path.
        path: String,
        /// What is wrong.
        error: RequestError,
    },
    /// Nothing is scheduled.
    #[error("The step schedules no tokens; expected at least one request with num_tokens above 0.")]
    Empty,
}

const EXPECTED: &str = "{\"new\": [{\"num_computed_tokens\": n, \"num_tokens\": m}, ...], \"cached\": [the same, ...]}";

fn path(misfit: &Misfit) -> String {
    if misfit.path.is_empty() { "the outermost value".to_owned() } else { format!("`{}`", misfit.path) }
}

/// How often the case says something else than the batch.
#[derive(Default)]
struct Counts {
    skipped: usize,
    new_single: u64,
    first_single: u64,
    continued: u64,
}

/// Reads a step.
///
/// # Errors
/// Where the text is no JSON or no step, with the place, or where no tokens are scheduled.
pub fn read(text: &str) -> Result<Step, StepError> {
    let document = parse(text).map_err(StepError::Json)?;
    let root = Place::root(&document.root);
    let misfit = |misfit: Misfit| StepError::Misfit { at: Position::of(text, misfit.offset), misfit };
    let (new, cached) = (root.member("new"), root.member("cached"));
    if new.is_none() && cached.is_none() {
        let found = if document.root.is_object() {
            "an object with neither `new` nor `cached`".to_owned()
        } else {
            document.root.describe()
        };
        return Err(misfit(Misfit { found, ..root.misfit("`new`, `cached` or both") }));
    }
    let (mut groups, mut requests, mut counts) = (Vec::new(), Vec::new(), Counts::default());
    for (list, is_new) in [(new, true), (cached, false)] {
        let Some(list) = list else { continue };
        for item in list.items("a list of requests").map_err(misfit)? {
            let (computed, tokens) = numbers(&item).map_err(misfit)?;
            if tokens == 0 {
                counts.skipped += 1;
                continue;
            }
            let (request, group) = made(computed, tokens, is_new, &mut counts).map_err(|error| StepError::Request {
                at: Position::of(text, item.node().span.start),
                path: item.path().to_owned(),
                error,
            })?;
            requests.push(request);
            push(&mut groups, group);
        }
    }
    let case = Case::new("step", requests).map_err(|_: Problem| StepError::Empty)?.compress();
    let notes = notes(&counts, document.repairs.iter().map(|repair| repair.note().to_owned()).collect());
    Ok(Step { batch: Batch::new(groups), case, skipped: counts.skipped, notes })
}

fn numbers(item: &Place<'_>) -> Result<(u64, u64), Misfit> {
    let computed = item.required("num_computed_tokens", "the tokens before the step")?.whole()?;
    let tokens = item.required("num_tokens", "the tokens that the step computes")?.whole()?;
    Ok((computed, tokens))
}

/// A request of m tokens behind n, as an item of a case and as vLLM's estimator sees it.
fn made(computed: u64, tokens: u64, is_new: bool, counts: &mut Counts) -> Result<(Request, Group), RequestError> {
    let context = computed.saturating_add(tokens);
    let prefill = is_new || tokens > 1;
    let chunked = !is_new && tokens > 1 && computed > 0;
    counts.continued += u64::from(chunked);
    counts.new_single += u64::from(is_new && tokens == 1 && computed > 0);
    counts.first_single += u64::from(!is_new && tokens == 1 && computed == 0);
    let request = Request::new(1, tokens, context, 0, chunked)?;
    let phase = if prefill { Phase::Prefill } else { Phase::Decode };
    Ok((request, Group { count: 1, tokens, context, phase }))
}

/// Adds a group, to the last one if they are equal.
fn push(groups: &mut Vec<Group>, group: Group) {
    match groups.last_mut() {
        Some(last) if Group { count: last.count, ..group } == *last => last.count = last.count.saturating_add(1),
        _ => groups.push(group),
    }
}

fn notes(counts: &Counts, mut notes: Vec<String>) -> Vec<String> {
    let are = |count: u64, what: &str| match count {
        1 => format!("1 {what} is"),
        count => format!("{count} {what}s are"),
    };
    if counts.skipped > 0 {
        let skipped = are(counts.skipped as u64, "request");
        notes.push(format!("{skipped} skipped: no tokens are scheduled."));
    }
    if counts.new_single > 0 {
        notes.push(format!(
            "{} counted as prefill, as vLLM does; the case language calls one token behind a prefix a decode.",
            are(counts.new_single, "new request of one token")
        ));
    }
    if counts.first_single > 0 {
        notes.push(format!(
            "{} counted as decode, as vLLM does; the case language calls one token without a prefix a fresh prefill.",
            are(counts.first_single, "continuing request of one token")
        ));
    }
    if counts.continued > 0 {
        notes.push(format!(
            "{} counted as prefill, as vLLM does, and written as a chunk; if tokens are verified drafts, write the \
             request as a verify.",
            are(counts.continued, "continuing request of several tokens")
        ));
    }
    notes
}

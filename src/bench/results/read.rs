//! From the text of a file to the cases in it.

use super::error::EXPECTED;
use super::kind::FileKind;
use super::notes::Notes;
use super::{Measured, Rank, ResultError, ResultFile};
use crate::batch::case::{Case, Request, RequestError};
use crate::format::quoted;
use crate::json::{Misfit, Place, Position, parse_up_to};

/// The largest file that is read: many ranks with all of their samples.
pub const MAX_BYTES: usize = 64 << 20;

/// Reads a result file. A case whose requests break the rules of the case language, or whose median is no positive
/// time, is left out with a note; the rest of the file still counts.
///
/// # Errors
/// Where the text is no JSON, is another kind of file, lacks `case`, `requests` or `median_us` or holds something else
/// in their places, or where every case had to be left out.
pub fn read(text: &str) -> Result<ResultFile, ResultError> {
    if text.trim().is_empty() {
        return Err(ResultError::Empty);
    }
    let kind = FileKind::of(text);
    let document = parse_up_to(text, MAX_BYTES).map_err(|error| match kind {
        // YAML and Prometheus pages are no broken JSON.
        FileKind::Shapes | FileKind::Other if !text.trim_start().starts_with(['{', '[', '`', '\u{feff}']) => {
            ResultError::Foreign(kind)
        }
        _ => ResultError::Json(error),
    })?;
    let root = Place::root(&document.root);
    let Some(items) = document.root.items() else { return Err(ResultError::Foreign(kind)) };
    if items.is_empty() {
        return Err(ResultError::NoCases);
    }
    if !items.iter().any(|item| item.get("case").is_some() || item.get("median_us").is_some()) {
        return Err(ResultError::Foreign(FileKind::List));
    }
    let misfit = |misfit: Misfit| ResultError::Misfit { at: Position::of(text, misfit.offset), misfit };
    let mut notes = Notes::default();
    for repair in &document.repairs {
        notes.say(repair.note().to_owned());
    }
    let mut cases = Vec::with_capacity(items.len());
    let mut left_out = None;
    for place in root.items(EXPECTED).map_err(misfit)? {
        match case(&place, &mut notes).map_err(misfit)? {
            Ok(measured) => cases.push(measured),
            Err(reason) => {
                left_out = left_out.or_else(|| Some(reason.clone()));
                notes.say(reason);
            }
        }
    }
    if cases.is_empty() {
        return Err(ResultError::NothingUsable(left_out.unwrap_or_default()));
    }
    Ok(ResultFile { cases, notes: notes.finish(text) })
}

/// A case, or why it is left out.
fn case(place: &Place<'_>, notes: &mut Notes) -> Result<Result<Measured, String>, Misfit> {
    let name = place.required("case", "the case's name")?.text()?.to_owned();
    let listed = place.required("requests", "the list of its requests")?;
    let median = place.required("median_us", "the median time in microseconds")?;
    let median_us = median.number()?;
    let mut requests = Vec::new();
    let mut broken = None;
    for item in listed.items("a list of requests")? {
        match request(&item)? {
            Ok(request) => requests.push(request),
            Err(error) => broken = broken.or_else(|| Some((item.path().to_owned(), error))),
        }
    }
    let ranks = match place.member("ranks") {
        Some(ranks) => {
            ranks.items("a list with an object for each rank")?.map(|rank| Rank::read(&rank, notes)).collect()
        }
        None => Ok(Vec::new()),
    }?;
    let left_out = |why: &str| Ok(Err(format!("Case {} ({}) is left out: {why}", quoted(&name), quoted(place.path()))));
    if let Some((path, error)) = broken {
        return left_out(&format!("{} is no request of the case language. {error}", quoted(&path)));
    }
    if !(median_us > 0.0 && median_us.is_finite()) {
        return left_out(&format!("its median_us is {}; expected a time above 0.", median.node().describe()));
    }
    let Ok(unnamed) = Case::unnamed(requests) else {
        return left_out("its list of requests is empty; expected at least one.");
    };
    let requests = unnamed.compress().requests().to_vec();
    // A name that the case language cannot say is kept beside the case.
    match Case::new(&name, requests.clone()).or_else(|_| Case::unnamed(requests)) {
        Ok(case) => Ok(Ok(Measured { name, case, median_us, ranks })),
        Err(problem) => left_out(&problem.to_string()),
    }
}

/// A request; drafts and the chunk mark are as in a shapes file, where leaving them out means none. One that the case
/// language does not allow comes as the inner error.
fn request(place: &Place<'_>) -> Result<Result<Request, RequestError>, Misfit> {
    let query = place.required("query_len", "the number of new tokens")?.whole()?;
    let kv = place.required("kv_len", "the KV length after the step")?.whole()?;
    let drafts = place.member("num_draft_tokens").map_or(Ok(0), |drafts| drafts.whole())?;
    let chunked = place.member("chunked").map_or(Ok(false), |chunked| chunked.boolean())?;
    let count = place.member("count").map_or(Ok(1), |count| count.whole())?;
    Ok(Request::new(count, query, kv, drafts, chunked))
}

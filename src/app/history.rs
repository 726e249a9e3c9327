//! Undo and redo over the whole comparison, and what of it was looked at.

use crate::scenario::state::Comparison;

/// A comparison, and the id of its scenario that was selected.
type Step = (Comparison, u32);

/// How many steps are kept.
const STEPS: usize = 200;

/// Edits of one field that follow each other faster than this (milliseconds) are one step.
const PAUSE: f64 = 1000.0;

/// What came before, and what was undone.
#[derive(Debug, Default)]
pub(super) struct History {
    past: Vec<Step>,
    future: Vec<Step>,
    last: Option<(u32, &'static str, f64)>,
}

impl History {
    /// Keeps what stood before an edit of `field` of the selected scenario, `id`, at a time in milliseconds.
    pub(super) fn keep(&mut self, before: &Comparison, id: u32, field: &'static str, now: f64) {
        let goes_on =
            matches!(self.last, Some((last_id, last, then)) if last_id == id && last == field && now - then < PAUSE);
        self.last = Some((id, field, now));
        self.future.clear();
        if !goes_on {
            self.past.push((before.clone(), id));
            if self.past.len() > STEPS {
                self.past.remove(0);
            }
        }
    }

    /// Steps back from `now`.
    pub(super) fn undo(&mut self, now: &Comparison, id: u32) -> Option<Step> {
        let before = self.past.pop()?;
        self.future.push((now.clone(), id));
        self.last = None;
        Some(before)
    }

    /// Steps forward from `now`.
    pub(super) fn redo(&mut self, now: &Comparison, id: u32) -> Option<Step> {
        let after = self.future.pop()?;
        self.past.push((now.clone(), id));
        self.last = None;
        Some(after)
    }

    /// How many steps back and forward there are.
    pub(super) fn depth(&self) -> (usize, usize) {
        (self.past.len(), self.future.len())
    }
}

//! What was not understood of a file: one note a field, however often it occurs.

use crate::format::quoted;
use crate::json::{Misfit, Position};

/// The most notes that are kept; a file that gives more is odd all over.
const MOST: usize = 20;

/// Notes that are being collected.
#[derive(Debug, Default)]
pub(super) struct Notes {
    fields: Vec<Oddity>,
    sentences: Vec<String>,
    more: usize,
}

/// A field that is not what it should be, in one place or several.
#[derive(Debug)]
struct Oddity {
    field: &'static str,
    first: Misfit,
    times: usize,
}

impl Notes {
    /// Notes that a field is left unknown.
    pub(super) fn odd(&mut self, field: &'static str, misfit: Misfit) {
        match self.fields.iter_mut().find(|oddity| oddity.field == field) {
            Some(oddity) => oddity.times += 1,
            None => self.fields.push(Oddity { field, first: misfit, times: 1 }),
        }
    }

    /// Notes a sentence.
    pub(super) fn say(&mut self, sentence: String) {
        if self.sentences.len() < MOST { self.sentences.push(sentence) } else { self.more += 1 }
    }

    /// All of them.
    pub(super) fn finish(mut self, text: &str) -> Vec<String> {
        if self.more > 0 {
            self.sentences.push(format!("And {} more like these.", self.more));
        }
        self.sentences.extend(self.fields.iter().map(|Oddity { field, first, times }| {
            let again = match times {
                1 => String::new(),
                2 => ", and once more".to_owned(),
                times => format!(", and {} times more", times - 1),
            };
            let (at, path) = (Position::of(text, first.offset), quoted(&first.path));
            let (found, expected) = (&first.found, &first.expected);
            format!("{} counts as unknown: at {at}, {path} is {found}, not {expected}{again}.", quoted(field))
        }));
        self.sentences
    }
}

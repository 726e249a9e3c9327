//! Where reading stopped, and why.

use std::fmt;

/// A place in a text, as editors count: both from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line number.
    pub line: usize,
    /// Column number.
    pub column: usize,
}

impl Position {
    /// The place of a byte offset; an offset inside a character or past the end counts as the next boundary before it.
    #[must_use]
    pub fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..floor_boundary(text, offset)).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.bytes().filter(|&byte| byte == b'\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// The text could not be read as JSON. Says where, what was found and what was expected, and shows the line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: found {found}, expected {expected}")]
pub struct JsonError {
    /// Where.
    pub at: Position,
    /// What stood there, in words.
    pub found: String,
    /// What would have been right, in words, with a hint where one is known.
    pub expected: String,
    /// The offending line, cut around the place when it is long.
    pub line: String,
    /// How many characters of `line` stand before the place: where a caret goes.
    pub caret: usize,
}

impl JsonError {
    /// An error at a byte offset of a text.
    pub(super) fn new(text: &str, offset: usize, found: impl Into<String>, expected: impl Into<String>) -> Self {
        const BEFORE: usize = 60;
        const AFTER: usize = 40;
        let at = Position::of(text, offset);
        let line = text.split('\n').nth(at.line - 1).unwrap_or_default().trim_end_matches('\r');
        let skipped = (at.column - 1).saturating_sub(BEFORE);
        let mut shown: String = line.chars().skip(skipped).take(BEFORE + AFTER).map(printable).collect();
        let mut caret = at.column - 1 - skipped;
        if skipped > 0 {
            shown.insert(0, '…');
            caret += 1;
        }
        if line.chars().nth(skipped + BEFORE + AFTER).is_some() {
            shown.push('…');
        }
        Self { at, found: found.into(), expected: expected.into(), line: shown, caret }
    }

    /// The offending line with a caret below the place.
    #[must_use]
    pub fn excerpt(&self) -> String {
        format!("{}\n{}^", self.line, " ".repeat(self.caret))
    }
}

/// Tabs, control characters and marks of writing direction would move the caret away from its place.
fn printable(c: char) -> char {
    if c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') {
        ' '
    } else {
        c
    }
}

fn floor_boundary(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

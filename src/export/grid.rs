//! Columns of text for a fixed-width font.

/// Rows as lines: the first `left` columns aligned left, the others right, two spaces between, nothing after the last.
#[must_use]
pub fn aligned<R: AsRef<[String]>>(rows: &[R], left: usize) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (column, cell) in row.as_ref().iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(column) {
                Some(widest) => *widest = width.max(*widest),
                None => widths.push(width),
            }
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.as_ref().iter().zip(&widths).enumerate() {
            let between = if column > 0 { "  " } else { "" };
            let space = " ".repeat(width - cell.chars().count());
            let (before, after) = if column < left { ("", &*space) } else { (&*space, "") };
            line.extend([between, before, cell, after]);
        }
        text.extend([line.trim_end(), "\n"]);
    }
    text
}

/// Somebody's text for a terminal: its control characters, which could move the cursor or end the line, are replaced.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

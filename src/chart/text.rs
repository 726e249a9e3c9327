//! Texts with a place, and how wide they are.
//!
//! The page uses the reader's system font, so no width is exact here. The table holds the advance widths of `DejaVu`
//! Sans (version 2.37, table `hmtx`), the widest of the faces that `system-ui` commonly stands for: room that is kept
//! by it suffices for Segoe UI, San Francisco, Roboto, Cantarell and Noto Sans.

use super::rect::Rect;

/// The fonts of all charts, valid both as a CSS font family and as an SVG attribute.
pub(crate) const FAMILY: &str = "system-ui, sans-serif";
/// Size of labels and numbers, in CSS pixels.
pub(crate) const BODY: f64 = 12.0;
/// Size of ticks, headings and titles.
pub(crate) const SMALL: f64 = 11.0;
/// Bold faces are about this much wider.
const BOLD: f64 = 1.15;

/// Advance widths of the characters from space to tilde, in thousandths of the font size.
#[rustfmt::skip]
const WIDTHS: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, // space to /
    636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, // 0 to ?
    1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787, // @ to O
    603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, // P to _
    500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, // ` to o
    635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838, // p to ~
];

/// The width of one character in thousandths of the font size.
fn advance(character: char) -> u16 {
    let ascii = u32::from(character).checked_sub(0x20).and_then(|i| usize::try_from(i).ok());
    match (ascii.and_then(|i| WIDTHS.get(i)), character) {
        (Some(width), _) => *width,
        (None, '\u{b7}') => 318,
        (None, '\u{2009}' | '\u{202f}') => 200,
        (None, '\u{a0}'..='\u{24f}' | '\u{2010}'..='\u{2013}') => 700,
        (None, '\u{250}'..='\u{10ff}') => 850,
        (None, _) => 1000,
    }
}

/// The width of a text at a font size.
#[must_use]
pub fn width(text: &str, size: f64, bold: bool) -> f64 {
    let thousandths: f64 = text.chars().map(|c| f64::from(advance(c))).sum();
    thousandths / 1000.0 * size * if bold { BOLD } else { 1.0 }
}

/// The text if it fits, else as much of its start as does with an ellipsis; empty where not even that fits.
#[must_use]
pub fn elide(text: &str, size: f64, room: f64) -> String {
    if width(text, size, false) <= room {
        return text.to_owned();
    }
    let mut left = room - width("\u{2026}", size, false);
    if left.is_nan() || left < 0.0 {
        return String::new();
    }
    let fits = |c: &char| {
        left -= f64::from(advance(*c)) / 1000.0 * size;
        left >= 0.0
    };
    let start: String = text.chars().take_while(fits).collect();
    format!("{}\u{2026}", start.trim_end())
}

/// Which part of a text its x names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Start,
    Middle,
    End,
}

/// What a text is coloured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Ink,
    Muted,
    /// A letter on a marker of this colour.
    On(super::theme::Colour),
}

/// One line of text; `y` is the middle of its capitals and digits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    pub(crate) words: String,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) align: Align,
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) tone: Tone,
}

impl Text {
    pub(crate) fn new(words: impl Into<String>, (x, y): (f64, f64), align: Align, size: f64, tone: Tone) -> Self {
        Self { words: words.into(), x, y, align, size, bold: false, tone }
    }

    pub(crate) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(crate) fn width(&self) -> f64 {
        width(&self.words, self.size, self.bold)
    }

    /// The box with ascenders and descenders.
    pub(crate) fn area(&self) -> Rect {
        let width = self.width();
        let x0 = match self.align {
            Align::Start => self.x,
            Align::Middle => self.x - width / 2.0,
            Align::End => self.x - width,
        };
        Rect::new(x0, self.y - 0.6 * self.size, x0 + width, self.y + 0.6 * self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_table() {
        assert!((width("129", 10.0, false) - 19.08).abs() < 1e-9);
        assert!((width("~", 1000.0, false) - 838.0).abs() < 1e-9);
        assert!(width("é×\u{4f60}", 10.0, false) > 20.0);
        assert!(width("", 10.0, true).abs() < 1e-9);
    }

    #[test]
    fn long_texts_are_elided() {
        assert_eq!(elide("TP8 EP8", 12.0, 100.0), "TP8 EP8");
        assert_eq!(elide("TP8 EP8 with a long name", 12.0, 60.0), "TP8 EP…");
        assert_eq!(elide("TP8 EP8", 12.0, 42.0), "TP8…");
        assert_eq!(elide("TP8 EP8", 12.0, 5.0), "");
        assert_eq!(elide("TP8", 12.0, f64::NAN), "");
    }
}

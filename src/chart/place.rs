//! Finds places for labels: none ever lies on another, on a line or on a marker.

use super::rect::{Point, Rect};
use super::text::Text;

/// What is taken, and the texts that found a place.
pub(crate) struct Placer {
    bounds: Rect,
    lines: Vec<(Point, Point)>,
    blocks: Vec<Rect>,
    texts: Vec<Text>,
    homeless: Vec<String>,
}

impl Placer {
    /// Nothing leaves these bounds.
    pub(crate) fn new(bounds: Rect) -> Self {
        Self { bounds, lines: Vec::new(), blocks: Vec::new(), texts: Vec::new(), homeless: Vec::new() }
    }

    /// Keeps labels off a line.
    pub(crate) fn line(&mut self, from: Point, to: Point) {
        self.lines.push((from, to));
    }

    /// Keeps labels off an area.
    pub(crate) fn block(&mut self, area: Rect) {
        self.blocks.push(area);
    }

    /// Puts a text where it has to be, whatever it covers, unless that is another text: then it is left out.
    pub(crate) fn fix(&mut self, text: Text) {
        let area = text.area();
        if self.bounds.encloses(&area) && !self.texts.iter().any(|other| other.area().overlaps(&area)) {
            self.texts.push(text);
        }
    }

    /// Puts a label at the first of its candidates that is clear of everything, and returns it; notes it if none is.
    pub(crate) fn place(&mut self, label: &str, candidates: impl IntoIterator<Item = Text>) -> Option<Text> {
        let found = candidates.into_iter().find(|text| self.is_clear(&text.area()));
        match &found {
            Some(text) => self.texts.push(text.clone()),
            None => self.homeless.push(label.to_owned()),
        }
        found
    }

    /// Whether a line that is still to be drawn would pass no text.
    pub(crate) fn passes(&self, from: Point, to: Point) -> bool {
        !self.texts.iter().any(|text| text.area().grow(1.0).is_crossed(from, to))
    }

    fn is_clear(&self, area: &Rect) -> bool {
        let wide = area.grow(1.0);
        self.bounds.encloses(area)
            && !self.texts.iter().any(|other| other.area().overlaps(&wide))
            && !self.blocks.iter().any(|block| block.overlaps(area))
            && !self.lines.iter().any(|(from, to)| wide.is_crossed(*from, *to))
    }

    /// The texts with their places, and the labels for which there was no room.
    pub(crate) fn finish(self) -> (Vec<Text>, Vec<String>) {
        (self.texts, self.homeless)
    }
}

//! What the desk answers: what changed of what is shown, and what the page is to do.

use crate::bench::view::View;
use crate::json::Node;
use crate::json::build::{Object, list, text};

/// An answer. What is empty changes nothing.
#[derive(Debug, Default)]
pub struct Reply {
    /// Blocks by id, as markup.
    blocks: Vec<(&'static str, String)>,
    /// Fields by name, with their text.
    values: Vec<(String, String)>,
    /// Fields whose texts are wrong.
    wrong: Vec<String>,
    /// Settings of the run that were set.
    set: Vec<(String, String)>,
    /// Inputs of the scenario that are to be taken over, in one step.
    apply: Vec<(&'static str, String)>,
    /// Cases that replace those of the scenario.
    cases: Vec<String>,
    /// A name and a case that become a scenario of their own.
    scenario: Option<[String; 2]>,
    /// Measured points of the roofline: label, FLOP per byte, FLOP per second.
    points: Option<Vec<[String; 3]>>,
    /// A text for the clipboard, with what it is.
    copy: Option<[String; 2]>,
    /// A file to save: name and content.
    save: Option<[String; 2]>,
    /// The memory of the headline figures: a text, and what it is exactly.
    tile: Option<[String; 2]>,
    /// A sentence for the live region.
    say: Option<String>,
    /// The physical model's answers for all scenarios.
    answers: Option<Node>,
}

impl Reply {
    /// Shows something in a block.
    pub(super) fn show(&mut self, block: &'static str, views: impl IntoIterator<Item = View>) {
        let mut markup = String::new();
        views.into_iter().for_each(|view| view.markup(&mut markup));
        self.blocks.push((block, markup));
    }

    /// Leaves out blocks that are shown already.
    pub(super) fn without(&mut self, shown: &mut Vec<(&'static str, String)>) {
        self.blocks.retain(|new| !shown.contains(new));
        for new in &self.blocks {
            shown.retain(|(block, _)| *block != new.0);
            shown.push(new.clone());
        }
    }

    pub(super) fn value(&mut self, field: impl Into<String>, value: impl Into<String>) {
        self.values.push((field.into(), value.into()));
    }

    pub(super) fn wrong(&mut self, fields: impl Iterator<Item = String>) {
        self.wrong = fields.collect();
    }

    pub(super) fn set(&mut self, key: &str, value: impl Into<String>) {
        self.set.push((key.to_owned(), value.into()));
    }

    pub(super) fn apply(&mut self, key: &'static str, value: impl Into<String>) {
        self.apply.push((key, value.into()));
    }

    pub(super) fn cases(&mut self, cases: impl IntoIterator<Item = String>) {
        self.cases.extend(cases);
    }

    pub(super) fn scenario(&mut self, name: &str, case: String) {
        self.scenario = Some([name.to_owned(), case]);
    }

    pub(super) fn points(&mut self, points: Vec<[String; 3]>) {
        self.points = Some(points);
    }

    pub(super) fn tile(&mut self, text: &str, title: &str) {
        self.tile = Some([text.to_owned(), title.to_owned()]);
    }

    pub(super) fn copy(&mut self, what: &str, content: String) {
        self.copy = Some([what.to_owned(), content]);
    }

    pub(super) fn save(&mut self, name: &str, content: String) {
        self.save = Some([name.to_owned(), content]);
    }

    pub(super) fn answers(&mut self, answers: Node) {
        self.answers = Some(answers);
    }

    /// Says something.
    pub fn say(&mut self, sentence: impl Into<String>) {
        self.say = Some(sentence.into());
    }

    /// As JSON.
    #[must_use]
    pub fn write(self) -> Node {
        let texts = |texts: &[String]| list(texts.iter().map(|one| text(one)));
        let pairs = |pairs: &[(String, String)]| list(pairs.iter().map(|(a, b)| list([text(a), text(b)])));
        let mut out = Object::default();
        let blocks = self.blocks.iter().map(|(block, markup)| list([text(block), text(markup)]));
        if let Some(answers) = self.answers {
            out.put("answers", answers);
        }
        out.put_unless("blocks", list(blocks), self.blocks.is_empty());
        out.put_unless("values", pairs(&self.values), self.values.is_empty());
        out.put("wrong", texts(&self.wrong));
        out.put_unless("set", pairs(&self.set), self.set.is_empty());
        let apply: Vec<(String, String)> = self.apply.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        out.put_unless("apply", pairs(&apply), apply.is_empty());
        out.put_unless("cases", texts(&self.cases), self.cases.is_empty());
        if let Some(said) = &self.say {
            out.put("say", text(said));
        }
        if let Some(points) = &self.points {
            out.put("points", list(points.iter().map(|point| texts(point))));
        }
        for (key, pair) in
            [("copy", &self.copy), ("save", &self.save), ("scenario", &self.scenario), ("tile", &self.tile)]
        {
            if let Some(pair) = pair {
                out.put(key, texts(pair));
            }
        }
        out.node()
    }
}

//! Kernel summaries: the last one that was brought, or the last two against each other.

use super::Reply;
use crate::bench::kernels::view::{one, two};
use crate::bench::kernels::{DEFAULT_RULES, FileName, Rules, Summary, diff, group};
use crate::bench::view::{View, element, scrolled};

/// The summaries that were brought, by name, and the rules that group them.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    files: Vec<(String, Summary)>,
    rules: Rules,
    wrong: Option<String>,
}

impl Kernels {
    /// Takes a summary; one of the same name is replaced.
    pub(super) fn take(&mut self, name: &str, summary: Summary) {
        self.drop(name);
        self.files.push((name.to_owned(), summary));
    }

    /// Puts a summary away.
    pub(super) fn drop(&mut self, name: &str) {
        self.files.retain(|(known, _)| known != name);
    }

    /// Takes other rules.
    pub(super) fn take_rules(&mut self, text: &str) {
        match Rules::parse(text) {
            Ok(rules) => (self.rules, self.wrong) = (rules, None),
            Err(error) => self.wrong = Some(error.to_string()),
        }
    }

    /// Takes the first of the two last to the end, so that after becomes before.
    pub(super) fn swap(&mut self) {
        if let [.., before, after] = self.files.as_mut_slice() {
            std::mem::swap(before, after);
        }
    }

    /// The rules to begin with.
    pub(super) fn usual_rules() -> &'static str {
        DEFAULT_RULES
    }

    /// Shows them.
    pub(super) fn show(&self, reply: &mut Reply) {
        let problem = |text: &String| View::from(element("p").with("class", "problem").and(text.as_str()));
        reply.show("rules-problem", self.wrong.iter().map(problem));
        let mut views: Vec<View> = Vec::new();
        let button = |act: String, label: &str| {
            element("button").with("type", "button").with("data-act", act).and(label.to_owned())
        };
        if let [.., (before, a), (after, b)] = self.files.as_slice() {
            let swap = button("swap-kernels".to_owned(), "Swap");
            let said = format!("A: {before}. B: {after}.");
            views.push(element("p").with("class", "desk-head").and(element("span").and(said)).and(swap).into());
            views.push(scrolled(two((&FileName::of(before), a), (&FileName::of(after), b), &diff(a, b))));
        }
        // The newest first: it is what was just brought.
        for (place, (name, summary)) in self.files.iter().rev().enumerate() {
            let put_away = button(format!("drop-kernels:{name}"), "×").with("aria-label", format!("Put {name} away"));
            let view = one(&FileName::of(name), summary, &group(summary, &self.rules));
            let head = element("p").with("class", "desk-head").and(element("span").and(name.as_str())).and(put_away);
            let folded = element("details").maybe("open", (place == 0).then_some(""));
            views.push(head.into());
            views.push(folded.and(element("summary").and(format!("Kernels of {name}"))).and(scrolled(view)).into());
        }
        reply.show("kernels", views);
    }
}

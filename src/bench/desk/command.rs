//! The command, and what it cannot say.

use super::Reply;
use super::selected::Selected;
use crate::bench::command::warnings;
use crate::bench::run::Run;
use crate::bench::view::{View, element};

/// Shows it, and what is wrong with a field of the run.
pub(super) fn show(selected: &Selected, wrong: &[(String, String)], reply: &mut Reply) {
    let problem = |(field, problem): &(String, String)| {
        let name = field.replace('_', "-");
        View::from(element("p").with("class", "problem").and(format!("{name}: {problem}")))
    };
    let (served, ours): (Vec<_>, Vec<_>) = wrong.iter().partition(|(field, _)| Run::SERVED.contains(&field.as_str()));
    let kept = || View::from(element("p").with("class", "hint").and("Until then what was valid last counts."));
    for (block, wrong) in [("run-problem", ours), ("physical-problem", served)] {
        let last = (!wrong.is_empty()).then(kept);
        reply.show(block, wrong.into_iter().map(problem).chain(last));
    }
    let command = selected.command();
    let said = warnings(&command, &selected.subject());
    let copy = element("button").with("type", "button").with("data-act", "copy-command").and("Copy the command");
    let text = element("pre").with("class", "command").with("tabindex", "0").and(command.to_shell());
    let list = element("ul").with("class", "said").all(said.into_iter().map(|said| element("li").and(said)));
    let head = element("p").with("class", "desk-head").and(element("span").and(format!("For {}", selected.name)));
    reply.show("command", [head.and(copy), text, list].map(View::from));
}

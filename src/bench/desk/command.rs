//! The command, and what it cannot say.

use super::Reply;
use crate::bench::command::{Command, Subject, warnings};
use crate::bench::context::Context;
use crate::bench::view::{View, element};

/// The command of what is selected.
pub(super) fn command(context: &Context) -> Command {
    let subject = subject(context);
    Command {
        model: subject.model(&context.run.model),
        layout: context.layout,
        quantization: subject.method(),
        kv_cache: context.kv_cache,
        dtype: context.dtype,
        run: context.run.clone(),
        cases: context.cases.clone(),
    }
}

fn subject(context: &Context) -> Subject {
    Subject {
        source: context.source.clone(),
        checkpoint: context.checkpoint.clone(),
        quantization: context.quantization.clone(),
        disable_sliding_window: context.disable_sliding_window,
        verify: context.verify,
        accelerator: Some((context.limit.accelerator.clone(), context.limit.edited)),
        refusals: context.refusals.clone(),
    }
}

/// Shows it.
pub(super) fn show(context: &Context, wrong: Option<&(String, String)>, reply: &mut Reply) {
    reply.show("run-problem", wrong.map(|(field, problem)| problem_of(field, problem)));
    let command = command(context);
    let said = warnings(&command, &subject(context));
    let copy = element("button").with("type", "button").with("data-act", "copy-command").and("Copy the command");
    let text = element("pre").with("class", "command").with("tabindex", "0").and(command.to_shell());
    let list = element("ul").with("class", "said").all(said.into_iter().map(|said| element("li").and(said)));
    let head = element("p").with("class", "desk-head").and(format!("For {}", context.name)).and(copy);
    reply.show("command", [head, text, list].map(View::from));
}

fn problem_of(field: &str, problem: &str) -> View {
    let name = field.replace('_', "-");
    element("p").with("class", "problem").and(format!("{name}: {problem}")).into()
}

//! The measuring desk: the half of the page that has to do with measurements, without the page.
//!
//! It runs beside the page, in a worker, as files can be large. The page tells it what is selected, typed, clicked,
//! pasted and dropped; the desk keeps what was brought, and answers with markup for the blocks of its [`shell`] and with
//! what the page is to do. It computes no estimate: it says which cases it wants, and the page answers with them in the
//! next context, so that a figure has one source.

mod cases;
mod command;
mod jitter;
mod reply;
mod shell;

pub use reply::Reply;
pub use shell::shell;

use super::context::Context;
use super::run::Run;

/// The desk.
#[derive(Debug, Default)]
pub struct Desk {
    context: Option<Context>,
    /// A field of the run whose text is no setting, with what is wrong.
    wrong: Option<(String, String)>,
    cases: cases::Pasted,
    /// Blocks that are shown.
    shown: Vec<(&'static str, String)>,
}

impl Desk {
    /// Takes what is selected on the page, as JSON.
    pub fn context(&mut self, json: &str) -> Reply {
        let mut reply = Reply::default();
        if let Some(context) = Context::read(json) {
            for key in Run::KEYS {
                let is_wrong = self.wrong.as_ref().is_some_and(|(field, _)| field == key);
                let same = self.context.as_ref().is_some_and(|before| before.run.get(key) == context.run.get(key));
                if !is_wrong || !same {
                    reply.value(key, context.run.get(key));
                }
            }
            self.context = Some(context);
        }
        self.refreshed(reply)
    }

    /// Takes a text that was typed into a field.
    pub fn field(&mut self, field: &str, text: &str) -> Reply {
        let mut reply = Reply::default();
        if Run::KEYS.contains(&field) {
            match Run::default().set(field, text) {
                Ok(()) => {
                    self.wrong = self.wrong.take().filter(|(wrong, _)| wrong != field);
                    reply.set(field, text);
                }
                Err(problem) => self.wrong = Some((field.to_owned(), problem)),
            }
        } else if field == "pasted" {
            self.cases.take(text);
        }
        self.refreshed(reply)
    }

    /// Takes a click.
    pub fn act(&mut self, act: &str) -> Reply {
        let mut reply = Reply::default();
        let Some(context) = &self.context else { return reply };
        let (what, _rest) = act.split_once(':').unwrap_or((act, ""));
        match what {
            "copy-command" => reply.copy("Command", command::command(context).to_shell()),
            "jittered" => {
                if let Some(Ok(case)) = context.case().map(|case| context.run.jitter.case(case)) {
                    reply.scenario(case.to_text());
                }
            }
            "shapes-json" => reply.save("shapes.json", crate::batch::shapes::json(&context.cases)),
            "shapes-yaml" => reply.save("shapes.yaml", crate::batch::shapes::yaml(&context.cases)),
            "take" => self.cases.apply(&mut reply),
            _ => {}
        }
        self.refreshed(reply)
    }

    /// Takes a text that was pasted into the page, or a file of text.
    pub fn text(&mut self, text: &str) -> Reply {
        let mut reply = Reply::default();
        self.cases.take(text);
        reply.value("pasted", text);
        self.refreshed(reply)
    }

    /// The blocks that changed, and what is wanted.
    fn refreshed(&mut self, mut reply: Reply) -> Reply {
        let Some(context) = &self.context else { return reply };
        command::show(context, self.wrong.as_ref(), &mut reply);
        let mut wanted = Vec::new();
        jitter::show(context, &mut wanted, &mut reply);
        self.cases.show(&mut reply);
        if wanted.iter().any(|case| !context.estimates.iter().any(|(known, _)| known == case)) {
            reply.want(wanted);
        }
        reply.without(&mut self.shown);
        reply
    }
}

#[cfg(test)]
mod tests;

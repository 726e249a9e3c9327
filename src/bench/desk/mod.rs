//! The measuring desk: the half of the page that has to do with measurements, without the page.
//!
//! It runs beside the page, in a worker, as files can be large. The page tells it what is selected, typed, clicked,
//! pasted and dropped; the desk keeps what was brought, and answers with markup for the blocks of the page's HTML and
//! with what the page is to do. It has the whole core, so what it estimates is what the page estimates.

mod cases;
mod command;
mod jitter;
mod kernels;
mod physical;
mod reply;
mod results;
mod selected;
mod serving;
mod shell;
mod taken;
mod validation;

pub use reply::Reply;
pub use shell::format_options;
pub use taken::Taken;

use super::kernels::Summary;
use super::results::kind::FileKind;
use super::run::Run;
use super::view::{View, element};
use crate::estimate::Scope;
use crate::model::ClassTable;
use crate::model::presets::{self, Preset};
use crate::report::answer::{self, Answer};
use selected::Selected;
use taken::Brought;

/// What is known of models, which the page holds too and sends over.
#[derive(Debug, Default)]
struct Facts {
    classes: ClassTable,
    presets: Vec<Preset>,
    /// Measurements, as a table, until they are shown.
    measured: Option<String>,
}

/// The desk.
#[derive(Debug, Default)]
pub struct Desk {
    facts: Facts,
    /// All scenarios, and the place of the one that is selected.
    all: Vec<Selected>,
    place: usize,
    /// Scenarios that were counted and are not selected yet.
    counted: Vec<Selected>,
    /// Fields of the run whose texts are no settings, with what is wrong.
    wrong: Vec<(String, String)>,
    cases: cases::Pasted,
    results: results::Results,
    kernels: kernels::Kernels,
    serving: serving::Serving,
    /// What became of the files that were brought last, and whether it is an error.
    files: Vec<(String, bool)>,
    /// Blocks that are shown.
    shown: Vec<(&'static str, String)>,
}

/// What is shown, by what it depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// What the physical model says of the scenarios, and what follows from them alone.
    Scenarios,
    /// The command, and what is wrong with a field of the run.
    Run,
    /// The cases that were pasted.
    Cases,
    /// What became of files.
    Files,
    /// Result files.
    Results,
    /// Kernel summaries.
    Kernels,
    /// What a server says.
    Serving,
}

impl Part {
    /// All of them: a scenario that changed can change any.
    const ALL: [Self; 7] =
        [Self::Run, Self::Scenarios, Self::Cases, Self::Files, Self::Results, Self::Kernels, Self::Serving];

    /// Those that what is brought to the desk, or done to it there, can change.
    const BROUGHT: [Self; 5] = [Self::Cases, Self::Files, Self::Results, Self::Kernels, Self::Serving];
}

impl Desk {
    /// Takes the texts of `classes.json`, `presets.json` and `served-tpot.csv`. They come first: without them nothing is
    /// selected.
    pub fn facts(&mut self, classes: &str, presets: &str, measured: String) {
        self.facts = Facts {
            classes: ClassTable::parse(classes).unwrap_or_default(),
            presets: presets::parse(presets).unwrap_or_default(),
            measured: Some(measured),
        };
    }

    /// Takes what is on the page: a comparison as a file holds it, the place of the scenario that is selected, and the
    /// names of all, one a line.
    pub fn select(&mut self, file: &str, place: usize, names: &str) -> Reply {
        let mut reply = Reply::default();
        let before = self.all.get(self.place).map(|selected| selected.run.clone());
        if let Some((all, _)) = self.read(file, names).filter(|(all, _)| place < all.len()) {
            (self.all, self.place) = (all, place);
            let Some(selected) = self.all.get(place) else { return reply };
            if before.is_none() {
                reply.value("rules", kernels::Kernels::usual_rules());
            }
            for key in Run::KEYS {
                // What is typed and no setting stays, until something else changes it.
                let same = before.as_ref().is_some_and(|run| run.get(key) == selected.run.get(key));
                if !same {
                    self.wrong.retain(|(field, _)| field != key);
                }
                if !self.wrong.iter().any(|(field, _)| field == key) {
                    reply.value(key, selected.run.get(key));
                }
            }
        }
        self.refreshed(reply)
    }

    /// Answers what the physical model counts for the scenarios of a comparison, as a file holds it, and nothing else: a
    /// page that shows it waits for it.
    pub fn count(&mut self, file: &str) -> Reply {
        let mut reply = Reply::default();
        let Some((all, scope)) = self.read(file, "") else { return reply };
        let answer = |one: &Selected| {
            one.physics
                .as_ref()
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|physics| Answer::of(&one.outcome, physics, &one.run, scope))
        };
        reply.answers(answer::write(&all.iter().map(answer).collect::<Vec<_>>()));
        self.counted = all;
        reply
    }

    /// Reads a comparison; scenarios that are known are not worked out again.
    fn read(&mut self, file: &str, names: &str) -> Option<(Vec<Selected>, Scope)> {
        let mut known = std::mem::take(&mut self.all);
        let selected = known.len();
        known.append(&mut self.counted);
        let read = Selected::read(file, names, &known, &self.facts);
        known.truncate(selected);
        self.all = known;
        read
    }

    /// Takes a text that was typed into a field.
    pub fn field(&mut self, field: &str, text: &str) -> Reply {
        let mut reply = Reply::default();
        let part = match field {
            "pasted" => {
                self.cases.take(text);
                Part::Cases
            }
            "rules" => {
                self.kernels.take_rules(text);
                Part::Kernels
            }
            "serving" | "serving-later" | "serving-seconds" => {
                self.serving.take(field, text);
                Part::Serving
            }
            _ if Run::KEYS.contains(&field) => {
                self.wrong.retain(|(wrong, _)| wrong != field);
                match Run::default().set(field, text) {
                    Ok(()) => reply.set(field, text),
                    Err(problem) => self.wrong.push((field.to_owned(), problem)),
                }
                Part::Run
            }
            _ => return self.shown_anew(reply, &[]),
        };
        self.shown_anew(reply, &[part])
    }

    /// Takes a click.
    pub fn act(&mut self, act: &str) -> Reply {
        let mut reply = Reply::default();
        let Some(selected) = self.all.get(self.place) else { return reply };
        let (what, rest) = act.split_once(':').unwrap_or((act, ""));
        let cases = &selected.outcome.scenario.cases;
        match what {
            "copy-command" => reply.copy("Command", selected.command().to_shell()),
            "jittered" => {
                if let Ok(case) = selected.run.jitter.case(&selected.outcome.case) {
                    reply.scenario("as it is drawn", case.to_text());
                }
            }
            "step" => {
                if let Some(case) = self.serving.step() {
                    reply.scenario("scheduler step", case);
                }
            }
            "shapes-json" => reply.save("shapes.json", crate::batch::shapes::json(cases)),
            "shapes-yaml" => reply.save("shapes.yaml", crate::batch::shapes::yaml(cases)),
            "validation" => {
                // It takes a while and is always the same: once, when somebody wants to see it.
                if let Some(measured) = self.facts.measured.take() {
                    reply.show("validation", [validation::view(&measured, &self.facts.classes)]);
                }
            }
            "take" => self.cases.apply(&self.facts.presets, &mut reply),
            "drop-result" => self.results.drop(rest),
            "drop-kernels" => self.kernels.drop(rest),
            "swap-kernels" => self.kernels.swap(),
            "rules-default" => {
                self.kernels.take_rules(kernels::Kernels::usual_rules());
                reply.value("rules", kernels::Kernels::usual_rules());
            }
            _ => {}
        }
        self.shown_anew(reply, &Part::BROUGHT)
    }

    /// Takes a text that was pasted into the page.
    pub fn text(&mut self, text: &str) -> Reply {
        let mut reply = Reply::default();
        if serving::is_serving(text) {
            self.serving.take("serving", text);
            reply.value("serving", text);
        } else if FileKind::of(text) == FileKind::Other || FileKind::of(text) == FileKind::Shapes {
            self.cases.take(text);
            reply.value("pasted", text);
        } else {
            self.files.clear();
            self.take("the pasted text", text, &mut reply);
        }
        self.shown_anew(reply, &Part::BROUGHT)
    }

    /// How far a file is.
    pub fn progress(&mut self, taken: &Taken) -> Reply {
        let mut reply = Reply::default();
        reply.show("files", [View::from(element("p").and(taken.progress()))]);
        reply.without(&mut self.shown);
        reply
    }

    /// Begins with files that are brought together.
    pub fn begin(&mut self) {
        self.files.clear();
    }

    /// Takes a file that was read to its end.
    pub fn file(&mut self, taken: Taken) -> Reply {
        let mut reply = Reply::default();
        let name = taken.name().to_owned();
        match taken.finish() {
            Err(reason) => self.files.push((format!("{name}: {reason}"), true)),
            Ok(Brought::Trace(summary)) => {
                self.kernels.take(&name, *summary);
                self.files.push((format!("{name} was added up."), false));
            }
            Ok(Brought::Text(text)) => self.take(&name, &text, &mut reply),
        }
        self.shown_anew(reply, &Part::BROUGHT)
    }

    /// Takes the text of a file by what it is.
    fn take(&mut self, name: &str, text: &str, reply: &mut Reply) {
        // A name says what a file was meant to be, however broken it is.
        let kind = if name.ends_with(".kernels.json") { FileKind::Kernels } else { FileKind::of(text) };
        let taken = match kind {
            _ if text.trim().is_empty() => Err(format!("It is empty. {EXPECTED}")),
            FileKind::Results | FileKind::List => {
                super::results::read(text).map(|file| self.results.take(name, file)).map_err(|error| error.to_string())
            }
            FileKind::Kernels => {
                Summary::read(text).map(|file| self.kernels.take(name, file)).map_err(|error| error.to_string())
            }
            FileKind::Trace => {
                let mut trace = super::kernels::TraceFile::new();
                let summary = trace.push(text.as_bytes()).and_then(|()| trace.finish());
                summary.map(|file| self.kernels.take(name, file)).map_err(|error| error.to_string())
            }
            _ if serving::is_serving(text) => {
                self.serving.take("serving", text);
                reply.value("serving", text);
                Ok(())
            }
            FileKind::Shapes => {
                self.cases.take(text);
                reply.value("pasted", text);
                Ok(())
            }
            FileKind::Config | FileKind::Other => Err(EXPECTED.to_owned()),
        };
        self.files.push(match taken {
            Ok(()) => (format!("{name} was read."), false),
            Err(reason) => (format!("{name}: {reason}"), true),
        });
    }

    /// The blocks that changed, after anything may have.
    fn refreshed(&mut self, reply: Reply) -> Reply {
        self.shown_anew(reply, &Part::ALL)
    }

    /// The blocks that changed, of these parts.
    fn shown_anew(&mut self, mut reply: Reply, parts: &[Part]) -> Reply {
        let Some(selected) = self.all.get(self.place) else { return reply };
        reply.wrong(self.wrong.iter().map(|(field, _)| field.clone()));
        for part in parts {
            match part {
                Part::Scenarios => {
                    physical::show(&self.all, self.place, &mut reply);
                    jitter::show(selected, &mut reply);
                }
                Part::Run => command::show(selected, &self.wrong, &mut reply),
                Part::Cases => self.cases.show(&self.facts.presets, &mut reply),
                Part::Files => {
                    let said = self.files.iter().map(|(text, wrong)| {
                        let class = if *wrong { "problem" } else { "done" };
                        View::from(element("p").with("class", class).and(text.as_str()))
                    });
                    reply.show("files", said);
                }
                Part::Results => self.results.show(selected, &mut reply),
                Part::Kernels => self.kernels.show(&mut reply),
                Part::Serving => self.serving.show(selected, &mut reply),
            }
        }
        reply.without(&mut self.shown);
        reply
    }
}

/// Whether a text that was pasted or dropped is for the desk, at a glance.
#[must_use]
pub fn is_for(text: &str) -> bool {
    match FileKind::of(text) {
        FileKind::Config => false,
        FileKind::Other => super::command::is_command(text) || serving::is_serving(text) || cases::are_cases(text),
        _ => true,
    }
}

/// Whether a file is for the desk by its name.
#[must_use]
pub fn is_named_for(name: &str) -> bool {
    [".gz", ".kernels.json", ".trace.json", ".yaml", ".yml", ".txt", ".log", ".prom"]
        .iter()
        .any(|end| name.ends_with(end))
}

const EXPECTED: &str = "This is none of the files that are read here; expected results of `vllm bench forward \
    --output-json`, a kernel summary (`*.kernels.json`), a Chrome trace (`*.trace.json`, also `.gz`), a shapes file in \
    JSON or YAML, or a metrics page or log of a vLLM server.";

#[cfg(test)]
mod tests;

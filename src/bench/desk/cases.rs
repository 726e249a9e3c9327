//! A command, cases or a shapes file that were pasted, and what of them can be taken over.

use super::Reply;
use crate::batch::case::Case;
use crate::batch::shapes;
use crate::bench::command::{Command, MODEL, Parsed, is_command, parse};
use crate::bench::run::Run;
use crate::bench::view::{View, element};
use crate::model::presets::Preset;
use crate::scenario::Size;
use crate::scenario::state::MOST_CASES;

/// What was pasted.
#[derive(Debug, Default)]
pub(super) enum Pasted {
    /// Nothing.
    #[default]
    Nothing,
    /// Something that is none of it.
    Wrong(String),
    /// Cases.
    Cases(Vec<Case>),
    /// A command.
    Command(Box<Parsed>),
}

impl Pasted {
    /// Reads a text.
    pub(super) fn take(&mut self, text: &str) {
        *self = if text.trim().is_empty() {
            Self::Nothing
        } else if is_command(text) {
            parse(text).map_or_else(|error| Self::Wrong(error.to_string()), |parsed| Self::Command(Box::new(parsed)))
        } else {
            cases(text).map_or_else(Self::Wrong, Self::Cases)
        };
    }

    /// Puts what it says in place of what is on the page.
    pub(super) fn apply(&self, presets: &[Preset], reply: &mut Reply) {
        match self {
            Self::Nothing | Self::Wrong(_) => {}
            Self::Cases(cases) => reply.cases(fitting(cases)),
            Self::Command(parsed) => {
                reply.cases(fitting(&parsed.command.cases));
                command(&parsed.command, presets, reply);
            }
        }
        reply.say("Taken over.");
    }

    /// Shows what was understood.
    pub(super) fn show(&self, presets: &[Preset], reply: &mut Reply) {
        let problem = |text: String| View::from(element("p").with("class", "problem").with("role", "alert").and(text));
        let views: Vec<View> = match self {
            Self::Nothing => Vec::new(),
            Self::Wrong(error) => vec![problem(error.clone())],
            Self::Cases(cases) => understood(cases, Vec::new()),
            Self::Command(parsed) => {
                let mut said: Vec<String> =
                    parsed.left.iter().map(|left| format!("Not understood, and left out: {left}")).collect();
                let model = &parsed.command.model;
                if model != MODEL && !is_preset(model, presets) {
                    said.push(format!(
                        "No preset is {}: the model of the page stays. Paste its config.json to estimate it.",
                        crate::format::quoted(model)
                    ));
                }
                if parsed.shapes.is_some() {
                    said.push("Further cases are in its shapes file: drop that file too.".to_owned());
                }
                understood(&parsed.command.cases, said)
            }
        };
        reply.show("pasted", views);
    }
}

fn is_preset(model: &str, presets: &[Preset]) -> bool {
    presets.iter().any(|preset| preset.source == model)
}

fn fitting(cases: &[Case]) -> Vec<String> {
    cases.iter().take(MOST_CASES).map(|case| case.compress().to_text()).collect()
}

fn understood(cases: &[Case], mut said: Vec<String>) -> Vec<View> {
    if cases.len() > MOST_CASES {
        said.push(format!("A scenario holds {MOST_CASES} cases: the first {MOST_CASES} of {} are taken.", cases.len()));
    }
    let list = element("ul").with("class", "said").all(said.into_iter().map(|said| element("li").and(said)));
    let texts: Vec<String> = cases.iter().map(|case| case.compress().to_text()).collect();
    let button = element("button").with("type", "button").with("data-act", "take").and("Take it over");
    vec![
        element("pre").with("class", "command").with("tabindex", "0").and(texts.join("\n")).into(),
        list.into(),
        element("p").and(button).into(),
    ]
}

/// Whether a text is nothing but cases, one a line.
pub(super) fn are_cases(text: &str) -> bool {
    !text.trim().is_empty() && text.lines().all(|line| line.trim().is_empty() || Case::parse(line).is_ok())
}

/// Cases one a line, or a shapes file.
fn cases(text: &str) -> Result<Vec<Case>, String> {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_file = text.trim_start().starts_with('{') || lines.iter().any(|line| line.starts_with("cases:"));
    if is_file {
        return shapes::read(text).map_err(|error| error.to_string());
    }
    let case = |(at, line): (usize, &&str)| Case::parse(line).map_err(|error| format!("Line {at}: {error}"));
    (1..).zip(&lines).map(case).collect()
}

fn command(command: &Command, presets: &[Preset], reply: &mut Reply) {
    if is_preset(&command.model, presets) {
        reply.apply("source", &command.model);
        reply.set("model", "");
    } else if command.model != MODEL && Run::default().set("model", &command.model).is_ok() {
        reply.set("model", &command.model);
    }
    for size in [Size::Tp, Size::Pp, Size::Dp] {
        let key = match size {
            Size::Tp => "tp",
            Size::Pp => "pp",
            Size::Dp => "dp",
        };
        reply.apply(key, size.of(&command.layout).to_string());
    }
    reply.apply("ep", command.layout.ep.to_string());
    reply.apply("quantization", command.quantization.clone().unwrap_or_else(|| "auto".to_owned()));
    reply.apply("kv_cache", command.kv_cache.name());
    reply.apply("dtype", command.dtype.map_or("auto", crate::model::Dtype::name));
    let told = command.nodes().is_some_and(|(nodes, _)| nodes > 1);
    let said = |key: &&str| !Run::SERVED.contains(key) && *key != "model" && (told || *key != "gpus_per_node");
    for key in Run::KEYS.iter().filter(|key| said(key)) {
        reply.set(key, command.run.get(key));
    }
}

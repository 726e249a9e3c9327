//! `rooflens bench parse`: cases, whole commands and shapes files, read and printed canonically.

use crate::failure::{Failure, print, say};
use crate::input;
use clap::{Args as ClapArgs, ValueEnum};
use rooflens::batch::case::Case;
use rooflens::batch::shapes;
use rooflens::bench::command::{is_command, parse};
use rooflens::json::MAX_BYTES;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Equal neighbours are merged; their order, which a jittered run depends on, stays.\n\nExit codes:\n  \
    0  done\n  1  a file could not be used\n  2  the arguments could not be used"
)]
pub(crate) struct Args {
    /// A case, or a whole `vllm bench forward` command.
    #[arg(value_name = "TEXT", required_unless_present = "shapes")]
    texts: Vec<String>,
    /// A shapes file, JSON or YAML; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    shapes: Vec<PathBuf>,
    /// How the cases are printed.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    /// A case a line, in the case language.
    #[default]
    Text,
    /// A shapes file in JSON.
    Json,
    /// A shapes file in YAML.
    Yaml,
    /// A command again, the last one with the cases of all.
    Command,
}

/// Reads and prints.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut cases: Vec<Case> = Vec::new();
    let mut command = None;
    for text in &args.texts {
        if is_command(text) {
            let parsed = parse(text).map_err(|error| Failure::Refused(error.to_string()))?;
            for left in &parsed.left {
                say("note", &format!("Not understood, and left out: {left}"));
            }
            if let Some(file) = &parsed.shapes {
                say("note", &format!("Further cases are in {file}; read it with --shapes."));
            }
            cases.extend(parsed.command.cases.clone());
            command = Some(parsed.command);
        } else {
            cases.push(Case::parse(text).map_err(|error| Failure::Refused(error.to_string()))?);
        }
    }
    for path in &args.shapes {
        let (name, text) = input::text(path, MAX_BYTES)?;
        cases.extend(shapes::read(&text).map_err(|error| Failure::Foreign { name, error: error.to_string() })?);
    }
    let cases: Vec<Case> = cases.iter().map(Case::compress).collect();
    let text = match (args.format, command) {
        (Format::Text, _) => cases.iter().map(|case| case.to_text() + "\n").collect(),
        (Format::Json, _) => shapes::json(&cases),
        (Format::Yaml, _) => shapes::yaml(&cases),
        (Format::Command, Some(mut command)) => {
            command.cases = cases;
            command.to_shell() + "\n"
        }
        (Format::Command, None) => {
            return Err(Failure::Refused("There is no command among the texts; expected one to print again.".into()));
        }
    };
    print(&text)
}

//! What can go wrong, as sentences, and the exit code that tells a script about it.

use crate::args::Cli;
use clap::CommandFactory as _;
use clap::error::ErrorKind;
use rooflens::estimate::EstimateError;
use rooflens::export::{ExportError, printable};
use rooflens::job::JobError;
use rooflens::json::JsonError;
use rooflens::model::ConfigError;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::str::Utf8Error;

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The arguments do not go together.
    #[error("{0}")]
    Usage(String),
    /// What the arguments ask for cannot be had.
    #[error("{0}")]
    Refused(String),
    /// A file of another kind than expected, or a broken one.
    #[error("{name}: {error}")]
    Foreign { name: String, error: String },
    #[error("{name} cannot be read: {error}")]
    Unreadable { name: String, error: io::Error },
    #[error("{0} is a directory; expected a file.")]
    Directory(String),
    #[error("{0} is a directory without a config.json.")]
    NoConfig(String),
    #[error("{name} is larger than {} MiB, the most that is read.", limit >> 20)]
    TooLarge { name: String, limit: usize },
    #[error("{name} is no UTF-8 text: byte {at} is not valid.")]
    NotUtf8 { name: String, at: usize },
    #[error("There is no preset {}{}", rooflens::format::quoted(.id), hint(.meant.as_deref()))]
    NoPreset { id: String, meant: Option<String> },
    #[error("{name} is not JSON: {error}")]
    Json { name: String, error: JsonError },
    #[error("{name} is no config of a language model: {error}")]
    Config { name: String, error: ConfigError },
    #[error("The config of a job cannot be on standard input; give a path, preset:ID or an object")]
    Stdin,
    /// What an earlier job met already.
    #[error("{0}")]
    Again(String),
    #[error(transparent)]
    Job(#[from] JobError),
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error("The output cannot be written: {0}")]
    Output(io::Error),
}

fn hint(meant: Option<&str>) -> String {
    match meant {
        Some(meant) => rooflens::format::did_you_mean(Some(meant)),
        None => "; `rooflens presets` lists them.".to_owned(),
    }
}

impl Failure {
    /// Text that is none, from its first wrong byte.
    pub(crate) fn not_utf8(name: String, error: Utf8Error) -> Self {
        Self::NotUtf8 { name, at: error.valid_up_to() + 1 }
    }

    /// Says what went wrong and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            // Whoever read the output has enough of it.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Self::Usage(sentence) => usage(sentence),
            _ => say("error", &sentence(self.to_string())),
        }
        if let Self::Json { error, .. } = self
            && !error.line.trim().is_empty()
        {
            let _ = writeln!(io::stderr(), "\n{}", error.excerpt());
        }
        if matches!(self, Self::Refused(_)) { ExitCode::from(2) } else { ExitCode::FAILURE }
    }
}

/// Ends the program the way clap ends it for arguments that it refuses itself.
fn usage(sentence: &str) -> ! {
    let mut root = Cli::command();
    root.build();
    match root.find_subcommand_mut("estimate") {
        Some(estimate) => estimate.error(ErrorKind::MissingRequiredArgument, sentence).exit(),
        None => root.error(ErrorKind::MissingRequiredArgument, sentence).exit(),
    }
}

/// A message with a full stop, which some have already.
pub(crate) fn sentence(mut message: String) -> String {
    if !message.ends_with(['.', '?', '!']) {
        message.push('.');
    }
    message
}

/// A line beside the numbers: `warning: ...`.
pub(crate) fn say(kind: &str, sentence: &str) {
    // Without a place to say it there is nothing left to do.
    let _ = writeln!(io::stderr(), "{kind}: {}", printable(sentence));
}

/// Prints the output of a command.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::Output)
}

//! `rooflens bench kernels`: one kernel summary, or two against each other.

use crate::failure::{Failure, print, say};
use crate::input;
use clap::Args;
use rooflens::bench::kernels::{self, FileKind, FileName, Rules, Summary, TOP, TraceFile, text};
use rooflens::json::MAX_BYTES;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

const HELP: &str = "\
Files: CASE.rankR.kernels.json as `vllm bench forward --profile-dir` writes it, or a Chrome trace
of torch's profiler, .trace.json or .trace.json.gz, up to 200 MiB unpacked, which is summarised
first. Compare files of the same case and rank.

Rules, one a line: `component: pattern`. The first that matches a kernel's name counts; case does
not matter, * stands for any text, lines that begin with # are comments. --print-rules prints the
rules that are used unless there are others.

Exit codes:
  0  done
  1  a file could not be used
  2  the arguments could not be used";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Kernels {
    /// A kernel summary or a trace.
    #[arg(required_unless_present = "print_rules")]
    a: Option<PathBuf>,
    /// Another one, to show what changed from A to B.
    b: Option<PathBuf>,
    /// The rules that sort kernels into components.
    #[arg(long, value_name = "FILE", conflicts_with = "b")]
    rules: Option<PathBuf>,
    /// How many kernels to show: 20 of one file, all of two unless given.
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Print the default rules.
    #[arg(long, exclusive = true)]
    print_rules: bool,
}

/// Reads the files and prints what is asked of them.
pub(crate) fn run(args: &Kernels) -> Result<(), Failure> {
    match (&args.a, &args.b) {
        (Some(a), None) => one(a, args),
        (Some(a), Some(b)) => two(a, b, args.top),
        (None, _) => print(kernels::DEFAULT_RULES),
    }
}

fn one(path: &Path, args: &Kernels) -> Result<(), Failure> {
    let rules = match &args.rules {
        None => Rules::default(),
        Some(path) => Rules::parse(&whole(path)?).map_err(|error| refused(path, &error))?,
    };
    let summary = read(path)?;
    if let Some(note) = summary.origin.note() {
        say("note", note);
    }
    let table = text::summary(&summary, args.top.unwrap_or(TOP));
    print(&format!("{table}\n{}", text::grouping(&kernels::group(&summary, &rules))))
}

fn two(a: &Path, b: &Path, top: Option<usize>) -> Result<(), Failure> {
    let names = [a, b].map(|path| FileName::of(&path.to_string_lossy()));
    let (a, b) = (read(a)?, read(b)?);
    let [name_a, name_b] = &names;
    for caution in kernels::cautions((name_a, &a), (name_b, &b)) {
        say("warning", &caution);
    }
    print(&text::diff(&kernels::diff(&a, &b), top))
}

fn read(path: &Path) -> Result<Summary, Failure> {
    match FileName::of(&path.to_string_lossy()).kind {
        FileKind::Summary => Summary::read(&whole(path)?).map_err(|error| refused(path, &error)),
        FileKind::Trace => trace(path),
    }
}

/// A trace, piece by piece: it may be larger than what should be held.
fn trace(path: &Path) -> Result<Summary, Failure> {
    const PIECE: usize = 1 << 16;
    let mut file = File::open(path).map_err(|error| unreadable(path, error))?;
    let mut trace = TraceFile::new();
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece).map_err(|error| unreadable(path, error))? {
            0 => return trace.finish().map_err(|error| refused(path, &error)),
            length => trace.push(piece.get(..length).unwrap_or_default()).map_err(|error| refused(path, &error))?,
        }
    }
}

/// A text that is no trace.
fn whole(path: &Path) -> Result<String, Failure> {
    input::text(path, MAX_BYTES).map(|(_, text)| text)
}

fn unreadable(path: &Path, error: std::io::Error) -> Failure {
    Failure::Unreadable { name: path.display().to_string(), error }
}

fn refused(path: &Path, error: &impl ToString) -> Failure {
    Failure::Foreign { name: path.display().to_string(), error: error.to_string() }
}

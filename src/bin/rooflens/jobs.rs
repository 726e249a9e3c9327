//! `rooflens estimate --jobs`: a job a line in, an answer a line out.
//!
//! Answers are written when the input has no more lines at hand, so that a long file goes through in large blocks, and
//! a program that waits for each answer gets it.

use crate::failure::{Failure, sentence};
use crate::input::{self, Source};
use rooflens::job::{Answer, ConfigSource, Id, Job};
use rooflens::json::{self, Document, MAX_BYTES};
use rooflens::model::ModelSpec;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;

/// Answers every line of a file, or of standard input.
pub(crate) fn run(path: &Path) -> Result<(), Failure> {
    let name = path.display().to_string();
    let input: Box<dyn Read> = if name == "-" {
        Box::new(io::stdin().lock())
    } else {
        match File::open(path) {
            Ok(_) if path.is_dir() => return Err(Failure::Directory(name)),
            Ok(file) => Box::new(file),
            Err(error) => return Err(Failure::Unreadable { name, error }),
        }
    };
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let (mut models, mut line, mut answer) = (Models::default(), Vec::new(), Vec::new());
    while read_line(&mut input, &mut line).map_err(|error| Failure::Unreadable { name: name.clone(), error })? {
        if !line.trim_ascii().is_empty() {
            write_answer(&line, &mut models, &mut answer);
            output.write_all(&answer).map_err(Failure::Output)?;
        }
        if input.buffer().is_empty() {
            output.flush().map_err(Failure::Output)?;
        }
    }
    output.flush().map_err(Failure::Output)
}

/// Reads a line, or as much of it as shows that it is too long; false at the end.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = input.by_ref().take(MAX_BYTES as u64 + 1).read_until(b'\n', line)?;
    if line.len() > MAX_BYTES && !line.ends_with(b"\n") {
        input.skip_until(b'\n')?;
    }
    Ok(read > 0)
}

/// Puts the answer to a line, a line itself, into `out`.
fn write_answer(line: &[u8], models: &mut Models, out: &mut Vec<u8>) {
    out.clear();
    let mut id = None;
    let written = answer(line, models, &mut id)
        .map_err(|failure| failure.to_string())
        .and_then(|answer| serde_json::to_writer(&mut *out, &answer).map_err(|error| error.to_string()));
    if let Err(error) = written {
        let error = sentence(error);
        out.clear();
        // Strings always serialize, and a Vec takes all that is written.
        let _ = serde_json::to_writer(&mut *out, &ErrorLine { id, error });
    }
    out.push(b'\n');
}

#[derive(serde::Serialize)]
struct ErrorLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Id>,
    error: String,
}

fn answer(line: &[u8], models: &mut Models, id: &mut Option<Id>) -> Result<Answer, Failure> {
    let name = || "The line".to_owned();
    if line.len() > MAX_BYTES {
        return Err(Failure::TooLarge { name: name(), limit: MAX_BYTES });
    }
    let text = str::from_utf8(line).map_err(|error| Failure::not_utf8(name(), error))?;
    let root = json::parse(text).map_err(|error| Failure::Json { name: name(), error })?.root;
    *id = Id::of(&root);
    let job = Job::read(&root)?;
    let spec = models.get(job.config, job.companion)?;
    let answer = Answer::asked(spec, job.settings, job.batch, &job.question)?;
    Ok(Answer { id: job.id, ..answer })
}

/// The models of files that were read, by path and companion's path; failures too, as their sentences.
#[derive(Default)]
struct Models(HashMap<(String, Option<String>), Result<ModelSpec, String>>);

impl Models {
    /// Beyond this many the memory counts more than the time.
    const MOST: usize = 1024;

    fn get(&mut self, config: ConfigSource, companion: Option<ConfigSource>) -> Result<ModelSpec, Failure> {
        let key = match (&config, &companion) {
            (ConfigSource::Path(path), None) => (path.clone(), None),
            (ConfigSource::Path(path), Some(ConfigSource::Path(companion))) => (path.clone(), Some(companion.clone())),
            _ => return read(config, companion),
        };
        if self.0.len() >= Self::MOST && !self.0.contains_key(&key) {
            self.0.clear();
        }
        let known = self.0.entry(key).or_insert_with(|| read(config, companion).map_err(|failure| failure.to_string()));
        known.clone().map_err(Failure::Again)
    }
}

fn read(config: ConfigSource, companion: Option<ConfigSource>) -> Result<ModelSpec, Failure> {
    let companion = match companion {
        Some(ConfigSource::Path(path)) => Some(input::document(Path::new(&path))?.root),
        Some(ConfigSource::Inline(node)) => Some(node),
        None => None,
    };
    match config {
        ConfigSource::Path(path) if path == "-" => Err(Failure::Stdin),
        ConfigSource::Path(path) => Source::of(Path::new(&path)).load(companion.as_ref()),
        ConfigSource::Inline(root) => {
            input::model(&Document { root, repairs: Vec::new() }, companion.as_ref(), "The config")
        }
    }
}

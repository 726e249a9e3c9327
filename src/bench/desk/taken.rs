//! A file while it is read: whole, or, where it is a trace, added up piece by piece.

use crate::bench::kernels::{FileKind, FileName, Summary, TraceFile};
use crate::bench::results::MAX_BYTES;

/// A file on its way.
pub struct Taken {
    name: String,
    size: f64,
    read: f64,
    content: Content,
}

enum Content {
    Bytes(Vec<u8>),
    Trace(Box<TraceFile>),
    Failed(String),
}

/// A file that was read.
#[derive(Debug)]
pub(super) enum Brought {
    Text(String),
    Trace(Box<Summary>),
}

impl Taken {
    /// A file of a name and a size in bytes, of which nothing was read yet. Folders in the name are left out.
    #[must_use]
    pub fn new(path: &str, size: f64) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
        let content = match FileName::of(&name).kind {
            FileKind::Trace => Content::Trace(Box::new(TraceFile::new())),
            FileKind::Summary if size > MAX_BYTES as f64 => {
                Content::Failed(format!("it is larger than {} MiB, the most that is read", MAX_BYTES >> 20))
            }
            FileKind::Summary => Content::Bytes(Vec::new()),
        };
        Self { name, size, read: 0.0, content }
    }

    /// Takes the next bytes; whether more are of use.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        self.read += bytes.len() as f64;
        match &mut self.content {
            Content::Bytes(all) => all.extend_from_slice(bytes),
            Content::Trace(trace) => {
                if let Err(error) = trace.push(bytes) {
                    self.fail(&error.to_string());
                }
            }
            Content::Failed(_) => {}
        }
        !matches!(self.content, Content::Failed(_))
    }

    /// Gives it up.
    pub fn fail(&mut self, reason: &str) {
        self.content = Content::Failed(reason.to_owned());
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// How far it is, in words.
    pub(super) fn progress(&self) -> String {
        let part = if self.size > 0.0 { (self.read / self.size).min(1.0) } else { 1.0 };
        format!("Reading {}: {}.", self.name, crate::format::percent(part))
    }

    pub(super) fn finish(self) -> Result<Brought, String> {
        match self.content {
            Content::Failed(reason) => Err(reason),
            Content::Trace(trace) => {
                trace.finish().map(Box::new).map(Brought::Trace).map_err(|error| error.to_string())
            }
            Content::Bytes(bytes) => String::from_utf8(bytes).map(Brought::Text).map_err(|error| {
                format!("it is no UTF-8 text: byte {} is not valid", error.utf8_error().valid_up_to() + 1)
            }),
        }
    }
}

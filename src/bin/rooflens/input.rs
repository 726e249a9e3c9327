//! Reading models: files, directories, standard input and presets.

use crate::failure::Failure;
use rooflens::json::{self, Document, MAX_BYTES, Node};
use rooflens::model::presets::{self, Preset};
use rooflens::model::{ClassTable, ModelSpec, resolve};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Where a config is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// On standard input.
    Stdin,
    /// Among the presets, by its id.
    Preset(String),
    /// A file, or a directory with a config.json.
    Path(PathBuf),
}

impl Source {
    /// What a path stands for.
    pub(crate) fn of(path: &Path) -> Self {
        match path.to_str() {
            Some("-") => Self::Stdin,
            Some(text) => match text.strip_prefix("preset:") {
                Some(id) => Self::Preset(id.to_owned()),
                None => Self::Path(path.to_owned()),
            },
            None => Self::Path(path.to_owned()),
        }
    }

    /// What to call the model.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "standard input".to_owned(),
            Self::Preset(id) => preset(id).map_or_else(|_| id.clone(), |preset| preset.name.clone()),
            Self::Path(path) => path.display().to_string(),
        }
    }

    /// What the model is called on the hub, where that is known.
    pub(crate) fn hub_name(&self) -> Option<String> {
        match self {
            Self::Preset(id) => preset(id).ok().map(|preset| preset.source.clone()),
            _ => None,
        }
    }

    /// Reads and resolves the model. Without a companion, a directory's `hf_quant_config.json` is read.
    pub(crate) fn load(&self, companion: Option<&Node>) -> Result<ModelSpec, Failure> {
        let name = self.name();
        match self {
            Self::Stdin => model(&parsed(&limited(io::stdin().lock(), &name, MAX_BYTES)?, &name)?, companion, &name),
            Self::Preset(id) => model(&preset(id)?.config, companion, &name),
            Self::Path(path) if path.is_dir() => {
                let config = path.join("config.json");
                if !config.exists() {
                    return Err(Failure::NoConfig(name));
                }
                let beside = path.join("hf_quant_config.json");
                let beside = if companion.is_none() && beside.exists() { Some(document(&beside)?.root) } else { None };
                model(&document(&config)?, companion.or(beside.as_ref()), &name)
            }
            Self::Path(path) => model(&document(path)?, companion, &name),
        }
    }
}

/// Resolves a config that was read.
pub(crate) fn model(config: &Document, companion: Option<&Node>, name: &str) -> Result<ModelSpec, Failure> {
    let resolved = resolve(config, companion, ClassTable::builtin());
    resolved.map_err(|error| Failure::Config { name: name.to_owned(), error })
}

fn preset(id: &str) -> Result<&'static Preset, Failure> {
    presets::builtin().iter().find(|preset| preset.id == id).ok_or_else(|| {
        let close = |known: &str| strsim::jaro_winkler(known, &id.to_lowercase());
        let best =
            presets::builtin().iter().map(|preset| preset.id.as_str()).max_by(|a, b| close(a).total_cmp(&close(b)));
        let meant = best.filter(|known| close(known) > 0.85).map(|known| format!("preset:{known}"));
        Failure::NoPreset { id: id.to_owned(), meant }
    })
}

/// The name and the text of a file of at most `limit` bytes, or of standard input for `-`.
pub(crate) fn text(path: &Path, limit: usize) -> Result<(String, String), Failure> {
    let source = Source::of(path);
    let name = source.name();
    let text = match source {
        Source::Stdin => limited(io::stdin().lock(), &name, limit)?,
        _ => limited(open(path, limit)?, &name, limit)?,
    };
    Ok((name, text))
}

/// Reads a JSON file.
pub(crate) fn document(path: &Path) -> Result<Document, Failure> {
    let name = path.display().to_string();
    parsed(&limited(open(path, MAX_BYTES)?, &name, MAX_BYTES)?, &name)
}

/// Opens a file, but no directory, and nothing that is too large for certain.
fn open(path: &Path, limit: usize) -> Result<File, Failure> {
    let name = path.display().to_string();
    let opened = File::open(path).and_then(|file| file.metadata().map(|metadata| (file, metadata)));
    match opened {
        Err(error) => Err(Failure::Unreadable { name, error }),
        Ok((_, metadata)) if metadata.is_dir() => Err(Failure::Directory(name)),
        Ok((_, metadata)) if metadata.len() > limit as u64 => Err(Failure::TooLarge { name, limit }),
        Ok((file, _)) => Ok(file),
    }
}

/// The text of a reader that may turn out too large.
fn limited(reader: impl Read, name: &str, limit: usize) -> Result<String, Failure> {
    let name = || name.to_owned();
    let mut bytes = Vec::new();
    let read = reader.take(limit as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::Unreadable { name: name(), error })?;
    if bytes.len() > limit {
        return Err(Failure::TooLarge { name: name(), limit });
    }
    String::from_utf8(bytes).map_err(|error| Failure::not_utf8(name(), error.utf8_error()))
}

fn parsed(text: &str, name: &str) -> Result<Document, Failure> {
    json::parse(text).map_err(|error| Failure::Json { name: name.to_owned(), error })
}

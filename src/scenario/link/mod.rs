//! A comparison in the fragment of an address: `<version>.<codec>.<payload>`.
//!
//! Version and codec stand outside the payload, so that a page can tell a link that is too new for it from a broken
//! one. The payload is JSON ([`encode`], [`decode`]), packed by the codec `z` ([`codec`]) together with a checksum of
//! version, codec and JSON: a cut or altered link is refused, and never opens with other numbers. The link carries
//! everything, but presets and listed accelerators by id, with revisions of their data.

mod codec;
pub(in crate::scenario) mod decode;
pub(in crate::scenario) mod encode;
pub mod migrate;
pub mod revision;
#[cfg(not(target_arch = "wasm32"))]
mod zlib;

use super::state::Comparison;
use crate::format::quoted;
use crate::json::{Span, parse};
use crate::model::presets::Preset;

pub use codec::MAX_BYTES;
pub use migrate::VERSION;

/// The letter of the only codec.
const CODEC: &str = "z";

/// A link or file that was opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// What it holds.
    pub comparison: Comparison,
    /// Sentences on numbers that have changed since it was made.
    pub changed: Vec<String>,
}

/// JSON that is no comparison: where, what stands there, and what should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: found {found}, expected {expected}")]
pub struct Misfit {
    /// The place in words, such as `scenario 2, tp`.
    pub path: String,
    /// What stands there.
    pub found: String,
    /// What would have been right, to the end of the sentence.
    pub expected: String,
    /// Where it stands in the text.
    pub span: Span,
}

impl Misfit {
    fn new(path: &str, found: String, expected: &str, span: Span) -> Self {
        let end = if expected.ends_with(['.', '?']) { "" } else { "." };
        Self { path: path.to_owned(), found, expected: format!("{expected}{end}"), span }
    }
}

/// A link that was not opened or made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Something else.
    #[error("This is no link of rooflens: expected `{VERSION}.{CODEC}.` and a payload, found {}.", quoted(.0))]
    NotALink(String),
    /// Made by a newer version.
    #[error(
        "This link was made by a newer version ({0}); this page reads {VERSION}. Reload the page to get the newest."
    )]
    Newer(String),
    /// Packed in another way.
    #[error("This link is packed in a way that this page does not know ({}); it reads `{CODEC}`.", quoted(.0))]
    UnknownCodec(String),
    /// Cut or changed on its way.
    #[error("This link is cut or altered: {0}. Copy the whole link again.")]
    Altered(&'static str),
    /// Too large, packed or unpacked.
    #[error("This is too large for a link, which holds 1 MiB at most; use a file.")]
    TooLarge,
    /// Whole, but not what this version reads.
    #[error("This link cannot be opened: {0}")]
    Misfit(#[from] Misfit),
}

impl LinkError {
    /// The stream in a link is none of zlib's.
    pub const NOT_ZLIB: Self = Self::Altered("what it packs does not unpack");
}

/// A comparison on its way into a fragment: the JSON that is still to be packed.
///
/// Packing is left to the caller, since a browser brings zlib and a page need not; [`encode`] does it all.
#[derive(Debug)]
pub struct Letter(String);

impl Letter {
    /// Writes a comparison. `presets` are those that the page offers.
    ///
    /// # Errors
    /// [`LinkError::TooLarge`], which no real comparison is.
    pub fn write(comparison: &Comparison, presets: &[Preset]) -> Result<Self, LinkError> {
        let json = encode::write(comparison, presets).to_compact();
        if json.len() > MAX_BYTES { Err(LinkError::TooLarge) } else { Ok(Self(json)) }
    }

    /// What is to become a zlib stream.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The fragment, without `#`, of the zlib stream of [`Self::bytes`].
    #[must_use]
    pub fn fragment(&self, stream: &[u8]) -> String {
        let head = format!("{VERSION}.{CODEC}.");
        let payload = codec::seal(&head, &self.0, stream);
        head + &payload
    }
}

/// A fragment that was read up to the zlib stream in it.
#[derive(Debug)]
pub struct Received {
    version: usize,
    head: String,
    sealed: codec::Sealed,
}

impl Received {
    /// Reads a fragment, with or without `#`.
    ///
    /// # Errors
    /// See [`LinkError`].
    pub fn read(fragment: &str) -> Result<Self, LinkError> {
        let fragment = fragment.trim();
        let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
        let not_a_link = || LinkError::NotALink(fragment.to_owned());
        let (version, rest) = fragment.split_once('.').ok_or_else(not_a_link)?;
        if version.is_empty() || version.starts_with('0') || !version.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(not_a_link());
        }
        let newer = || LinkError::Newer(version.chars().take(10).collect());
        let number: usize = version.parse().map_err(|_| newer())?;
        if number > VERSION {
            return Err(newer());
        }
        let (codec, payload) = rest.split_once('.').ok_or_else(not_a_link)?;
        if codec != CODEC {
            return Err(LinkError::UnknownCodec(codec.to_owned()));
        }
        Ok(Self { version: number, head: format!("{version}.{codec}."), sealed: codec::read(payload)? })
    }

    /// The zlib stream; what it holds, at most [`MAX_BYTES`], is for [`Self::open`].
    #[must_use]
    pub fn stream(&self) -> &[u8] {
        &self.sealed.stream
    }

    /// The comparison. `presets` are those that the page offers: a link to any other is refused here, so the page reads
    /// them before it opens a link.
    ///
    /// # Errors
    /// See [`LinkError`].
    pub fn open(&self, unpacked: Vec<u8>, presets: &[Preset]) -> Result<Opened, LinkError> {
        let json = self.sealed.open(&self.head, unpacked)?;
        let root = parse(&json).map_err(|_| LinkError::Altered("its content cannot be read"))?.root;
        let newer = || LinkError::Newer(self.version.to_string());
        let root = migrate::to_present(root, self.version).ok_or_else(newer)?;
        Ok(decode::read(&root, presets, &[]).map_err(|misfit| *misfit)?)
    }
}

/// The fragment for a comparison, without `#`. `presets` are those that the page offers.
///
/// # Errors
/// [`LinkError::TooLarge`], which no real comparison is.
#[cfg(not(target_arch = "wasm32"))]
pub fn encode(comparison: &Comparison, presets: &[Preset]) -> Result<String, LinkError> {
    let letter = Letter::write(comparison, presets)?;
    Ok(letter.fragment(&zlib::deflate(letter.bytes())))
}

/// The comparison of a fragment, with or without `#`. `presets` are those that the page offers.
///
/// # Errors
/// See [`LinkError`].
#[cfg(not(target_arch = "wasm32"))]
pub fn decode(fragment: &str, presets: &[Preset]) -> Result<Opened, LinkError> {
    let received = Received::read(fragment)?;
    received.open(zlib::inflate(received.stream())?, presets)
}

#[cfg(test)]
mod tests;

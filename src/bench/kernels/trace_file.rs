//! A trace as it is in a file: packed with gzip or not, told apart by its first two bytes.

use super::gunzip::{Gunzip, MAGIC};
use super::summary::Summary;
use super::trace::{Trace, TraceError};

/// Reads a file of a trace piece by piece.
#[derive(Default)]
pub struct TraceFile {
    trace: Trace,
    form: Form,
    read: u64,
}

enum Form {
    /// Not known yet; the bytes so far, fewer than two.
    Unknown(Vec<u8>),
    Plain,
    Packed(Box<Gunzip>),
}

impl Default for Form {
    fn default() -> Self {
        Self::Unknown(Vec::new())
    }
}

impl TraceFile {
    /// A reader that has read nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next bytes of the file.
    ///
    /// # Errors
    /// As [`Trace::push`], and where the file does not unpack.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        self.read = self.read.saturating_add(bytes.len() as u64);
        let Form::Unknown(held) = &mut self.form else { return self.forward(bytes) };
        held.extend_from_slice(bytes);
        if held.len() < MAGIC.len() {
            return Ok(());
        }
        let held = std::mem::take(held);
        self.form = if held.starts_with(&MAGIC) { Form::Packed(Box::new(Gunzip::new())) } else { Form::Plain };
        self.forward(&held)
    }

    fn forward(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        let trace = &mut self.trace;
        match &mut self.form {
            Form::Packed(gunzip) => gunzip.push(bytes, &mut |text| trace.push(text)),
            _ => trace.push(bytes),
        }
    }

    /// How many bytes of the file have been read: against its size, how far reading is.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.read
    }

    /// How many bytes of text those were, unpacked.
    #[must_use]
    pub fn bytes_unpacked(&self) -> u64 {
        self.trace.bytes_read()
    }

    /// The summary, at the end of the file.
    ///
    /// # Errors
    /// As [`Trace::finish`], and where a packed file ends early.
    pub fn finish(mut self) -> Result<Summary, TraceError> {
        match &self.form {
            Form::Unknown(held) => self.trace.push(held)?,
            Form::Plain => {}
            Form::Packed(gunzip) => gunzip.finish()?,
        }
        self.trace.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::gunzip::tests::pack;
    use super::*;
    use proptest::prelude::*;

    const TRACE: &str = include_str!("../../../tests/bench/step.rank0.trace.json");

    fn read(bytes: &[u8], size: usize) -> Result<Summary, TraceError> {
        let mut file = TraceFile::new();
        for piece in bytes.chunks(size) {
            file.push(piece)?;
        }
        assert_eq!(file.bytes_read(), bytes.len() as u64);
        file.finish()
    }

    #[test]
    fn packed_or_not_it_is_the_same() {
        let packed = pack(TRACE.as_bytes(), 8);
        assert!(packed.len() < TRACE.len());
        assert_eq!(read(&packed, 1000), read(TRACE.as_bytes(), 1000));
        assert_eq!(read(TRACE.as_bytes(), 1).unwrap().kernels.len(), 4);
        assert_eq!(read(&packed[..packed.len() - 1], 1000), Err(TraceError::Packed("it ends early")));
        assert_eq!(read(b"", 1), Err(TraceError::Empty));
        assert_eq!(read(b"[", 1), Err(TraceError::Truncated(1)));
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let packed = pack(&vec![b' '; 1 << 20], 0);
        let mut file = TraceFile { trace: Trace::limited(3 << 20), ..TraceFile::default() };
        let refused = (0..=3).find_map(|_| file.push(&packed).err());
        assert_eq!(refused, Some(TraceError::TooLarge));
        assert_eq!(file.bytes_unpacked(), 3 << 20);
    }

    proptest! {
        #[test]
        fn pieces_of_a_packed_file_do_not_matter(size in 1..2000_usize, flags in 0_u8..16) {
            prop_assert_eq!(read(&pack(TRACE.as_bytes(), flags << 1), size), read(TRACE.as_bytes(), 100));
        }
    }
}

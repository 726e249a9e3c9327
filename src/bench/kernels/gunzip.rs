//! Unpacking gzip as it arrives: RFC 1952, one member or several.
//!
//! The inflated text goes out in pieces of at most a window of 32 KiB; nothing else is held.

use super::trace::TraceError;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_HAS_MORE_INPUT;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};

/// The two bytes that a gzip file begins with.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// How far back a deflate stream refers, so what must be kept of the output.
const WINDOW: usize = 32 << 10;

/// The longest header that is read: names and comments in it have no limit of their own.
const MAX_HEADER: usize = 256 << 10;

/// CRC-32 and length at the end of a member.
const TRAILER: usize = 8;

/// An unpacker that has read a part of its input.
pub(super) struct Gunzip {
    stage: Stage,
    /// Bytes of a header or a trailer that has not arrived whole.
    held: Vec<u8>,
    inflate: Box<DecompressorOxide>,
    window: Vec<u8>,
    /// Where in the window the next byte goes.
    at: usize,
    table: Vec<u32>,
    crc: u32,
    /// Of the member's output, modulo 2^32 as the trailer states it.
    length: u32,
    members: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Header,
    Body,
    Trailer,
}

impl Gunzip {
    pub(super) fn new() -> Self {
        Self {
            stage: Stage::Header,
            held: Vec::new(),
            inflate: Box::default(),
            window: vec![0; WINDOW],
            at: 0,
            table: table(),
            crc: !0,
            length: 0,
            members: 0,
        }
    }

    /// Unpacks the next bytes and hands on what they hold.
    pub(super) fn push(
        &mut self,
        mut input: &[u8],
        out: &mut dyn FnMut(&[u8]) -> Result<(), TraceError>,
    ) -> Result<(), TraceError> {
        while !input.is_empty() {
            input = match self.stage {
                Stage::Header => self.header(input)?,
                Stage::Body => self.body(input, out)?,
                Stage::Trailer => self.trailer(input)?,
            };
        }
        Ok(())
    }

    /// Whether the input ended where a member does.
    pub(super) fn finish(&self) -> Result<(), TraceError> {
        if self.stage == Stage::Header && self.held.is_empty() && self.members > 0 {
            return Ok(());
        }
        Err(TraceError::Packed("it ends early"))
    }

    fn header<'a>(&mut self, mut input: &'a [u8]) -> Result<&'a [u8], TraceError> {
        if self.members > 0 && self.held.is_empty() {
            // Tools fill up the last block of a tape, and others keep to it.
            let zeros = input.iter().take_while(|&&byte| byte == 0).count();
            input = input.get(zeros..).unwrap_or_default();
        }
        let before = self.held.len();
        self.held.extend_from_slice(input);
        let Some(length) = header_length(&self.held)? else {
            if self.held.len() > MAX_HEADER {
                return Err(TraceError::Packed("its header does not end"));
            }
            return Ok(&[]);
        };
        self.held.clear();
        self.stage = Stage::Body;
        self.inflate.init();
        (self.at, self.crc, self.length) = (0, !0, 0);
        Ok(input.get(length.saturating_sub(before)..).unwrap_or_default())
    }

    fn body<'a>(
        &mut self,
        mut input: &'a [u8],
        out: &mut dyn FnMut(&[u8]) -> Result<(), TraceError>,
    ) -> Result<&'a [u8], TraceError> {
        loop {
            let flags = TINFL_FLAG_HAS_MORE_INPUT;
            let (status, read, written) = decompress(&mut self.inflate, input, &mut self.window, self.at, flags);
            input = input.get(read..).unwrap_or_default();
            let piece = self.window.get(self.at..self.at + written).unwrap_or_default();
            self.crc = crc(&self.table, self.crc, piece);
            // A piece is no longer than the window.
            self.length = self.length.wrapping_add(u32::try_from(written).unwrap_or_default());
            out(piece)?;
            self.at = (self.at + written) % WINDOW;
            match status {
                TINFLStatus::HasMoreOutput => {}
                TINFLStatus::NeedsMoreInput => return Ok(&[]),
                TINFLStatus::Done => {
                    self.stage = Stage::Trailer;
                    return Ok(input);
                }
                _ => return Err(TraceError::Packed("its content is damaged")),
            }
        }
    }

    fn trailer<'a>(&mut self, input: &'a [u8]) -> Result<&'a [u8], TraceError> {
        let (part, rest) = input.split_at_checked(TRAILER.saturating_sub(self.held.len())).unwrap_or((input, &[]));
        self.held.extend_from_slice(part);
        if let Ok(stated) = <[u8; TRAILER]>::try_from(self.held.as_slice()) {
            if u64::from_le_bytes(stated) != u64::from(self.length) << 32 | u64::from(!self.crc) {
                return Err(TraceError::Packed("its checksum does not fit"));
            }
            self.held.clear();
            self.members += 1;
            self.stage = Stage::Header;
        }
        Ok(rest)
    }
}

/// The length of the header that some bytes begin with; none where it has not arrived whole.
fn header_length(bytes: &[u8]) -> Result<Option<usize>, TraceError> {
    let starts = bytes.iter().zip(MAGIC.iter().chain(&[8])).all(|(found, expected)| found == expected);
    if !starts {
        return Err(TraceError::Packed("it does not begin as gzip does"));
    }
    let Some(&flags) = bytes.get(3) else { return Ok(None) };
    let (extra, name, comment, checked) = (flags & 4 > 0, flags & 8 > 0, flags & 16 > 0, flags & 2 > 0);
    // Magic, method, flags, time (4), level, system.
    let mut length = 10;
    if extra {
        let Some(&[low, high]) = bytes.get(length..length + 2) else { return Ok(None) };
        length += 2 + usize::from(u16::from_le_bytes([low, high]));
    }
    for _ in 0..u8::from(name) + u8::from(comment) {
        let text = bytes.get(length..).unwrap_or_default();
        let Some(end) = text.iter().position(|&byte| byte == 0) else { return Ok(None) };
        length += end + 1;
    }
    length += if checked { 2 } else { 0 };
    Ok(Some(length).filter(|&length| length <= bytes.len()))
}

/// The sum of each byte alone, for [`crc`]: a trace is long, and a table makes it eight times as fast. It is quick to make
/// and would not compress.
fn table() -> Vec<u32> {
    let shifted = |sum: u32, _| sum >> 1 ^ (0xEDB8_8320 * (sum & 1));
    (0..256).map(|byte| (0..8).fold(byte, shifted)).collect()
}

/// Goes on with a CRC-32, before its last inversion.
fn crc(table: &[u32], sum: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(sum, |sum, &byte| {
        let [low, ..] = sum.to_le_bytes();
        sum >> 8 ^ table.get(usize::from(low ^ byte)).copied().unwrap_or_default()
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::crc32::crc32;
    use miniz_oxide::deflate::compress_to_vec;
    use proptest::prelude::*;

    /// A member with every optional part of a header.
    pub(crate) fn pack(text: &[u8], flags: u8) -> Vec<u8> {
        let mut packed = vec![0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 255];
        if flags & 4 > 0 {
            packed.extend([3, 0, 7, 7, 7]);
        }
        if flags & 8 > 0 {
            packed.extend(b"trace.json\0");
        }
        if flags & 16 > 0 {
            packed.extend(b"a comment\0");
        }
        if flags & 2 > 0 {
            packed.extend([1, 2]);
        }
        packed.extend(compress_to_vec(text, 6));
        packed.extend(crc32(text).to_le_bytes());
        packed.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        packed
    }

    fn unpack(pieces: &[&[u8]]) -> Result<Vec<u8>, TraceError> {
        let mut gunzip = Gunzip::new();
        let mut text = Vec::new();
        for piece in pieces {
            gunzip.push(piece, &mut |part| {
                text.extend_from_slice(part);
                Ok(())
            })?;
        }
        gunzip.finish().map(|()| text)
    }

    #[test]
    fn members_and_padding() {
        let packed = [pack(b"one ", 0), pack(b"", 30), pack(b"two", 8), vec![0; 100]].concat();
        assert_eq!(unpack(&[&packed]).unwrap(), b"one two");
        let single: Vec<&[u8]> = packed.chunks(1).collect();
        assert_eq!(unpack(&single).unwrap(), b"one two");
    }

    #[test]
    fn damage_and_early_ends_are_said() {
        let packed = pack(b"a text that is packed", 8);
        for end in 0..packed.len() {
            assert_eq!(unpack(&[&packed[..end]]), Err(TraceError::Packed("it ends early")), "{end}");
        }
        let mut wrong = packed.clone();
        *wrong.last_mut().unwrap() ^= 1;
        assert_eq!(unpack(&[&wrong]), Err(TraceError::Packed("its checksum does not fit")));
        assert_eq!(unpack(&[&packed, b"x"]), Err(TraceError::Packed("it does not begin as gzip does")));
        let endless = [&[0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0], vec![b'x'; MAX_HEADER].as_slice()].concat();
        assert_eq!(unpack(&[&endless]), Err(TraceError::Packed("its header does not end")));
    }

    proptest! {
        #[test]
        fn what_was_packed_is_unpacked_whatever_the_pieces(
            text in prop::collection::vec(0_u8..8, 0..3000), repeat in 1..40_usize, size in 1..50_000_usize, flags in 0_u8..32,
        ) {
            let text = text.repeat(repeat);
            let packed = pack(&text, flags & 0b1_1110);
            let pieces: Vec<&[u8]> = packed.chunks(size.min(packed.len().max(1))).collect();
            prop_assert_eq!(unpack(&pieces).unwrap(), text.clone());
            let pieces: Vec<&[u8]> = packed.chunks(size % 17 + 1).collect();
            prop_assert_eq!(unpack(&pieces).unwrap(), text);
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = unpack(&[&bytes]);
            let _ = unpack(&[&pack(b"", 0)[..10], &bytes]);
        }
    }
}

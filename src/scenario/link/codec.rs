//! A text in the letters that a fragment may hold: zlib, then base64url without padding.
//!
//! In front of the zlib stream stand the four bytes of a CRC-32 of whatever the caller seals and the text, the first
//! byte the most significant. zlib's own Adler-32 is weak on texts as short as these.

use super::LinkError;
use crate::crc32::crc32;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use base64::{DecodeError, Engine as _};
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

/// The largest text that is packed and unpacked.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// The most thorough level of zlib's own nine.
const LEVEL: u8 = 9;

/// Packs a text; `seal` is not in the result, but must be the same when it is unpacked.
pub(super) fn pack(seal: &str, text: &str) -> String {
    let mut bytes = sum(seal, text).to_be_bytes().to_vec();
    bytes.extend(compress_to_vec_zlib(text.as_bytes(), LEVEL));
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Unpacks what [`pack`] packed.
pub(super) fn unpack(seal: &str, payload: &str) -> Result<String, LinkError> {
    if payload.len() > 2 * MAX_BYTES {
        return Err(LinkError::TooLarge);
    }
    // Refuses other letters, padding, and bits that stand for nothing.
    let bytes = URL_SAFE_NO_PAD.decode(payload).map_err(|error| match error {
        DecodeError::InvalidByte(..) => LinkError::Altered("some of its letters do not belong"),
        _ => LinkError::Altered("its end does not fit"),
    })?;
    let (stated, stream) = bytes.split_first_chunk().ok_or(LinkError::Altered("nearly all of it is missing"))?;
    let text = inflate(stream)?;
    let text = String::from_utf8(text).map_err(|_| LinkError::Altered("its content is no text"))?;
    if sum(seal, &text) == u32::from_be_bytes(*stated) {
        Ok(text)
    } else {
        Err(LinkError::Altered("its checksum does not fit"))
    }
}

fn sum(seal: &str, text: &str) -> u32 {
    crc32(&[seal.as_bytes(), text.as_bytes()].concat())
}

/// A zlib stream without anything behind it, of at most [`MAX_BYTES`] when unpacked.
fn inflate(mut stream: &[u8]) -> Result<Vec<u8>, LinkError> {
    const FLAGS: u32 =
        inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let broken = LinkError::Altered("what it packs does not unpack");
    let mut unpacker = Box::<DecompressorOxide>::default();
    let mut out = vec![0; stream.len().saturating_mul(4).clamp(64, MAX_BYTES)];
    let mut length = 0_usize;
    loop {
        let (status, read, written) = decompress(&mut unpacker, stream, &mut out, length, FLAGS);
        stream = stream.get(read..).unwrap_or_default();
        length = length.saturating_add(written);
        match status {
            TINFLStatus::Done if stream.is_empty() => {
                out.truncate(length);
                return Ok(out);
            }
            TINFLStatus::HasMoreOutput if out.len() >= MAX_BYTES => return Err(LinkError::TooLarge),
            TINFLStatus::HasMoreOutput => out.resize(out.len().saturating_mul(2).min(MAX_BYTES), 0),
            _ => return Err(broken),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(bytes: &[u8]) -> LinkError {
        unpack("", &URL_SAFE_NO_PAD.encode(bytes)).unwrap_err()
    }

    #[test]
    fn bombs_trailing_bytes_and_nothing_are_refused() {
        let bomb = compress_to_vec_zlib(&vec![b' '; MAX_BYTES + 1], LEVEL);
        assert!(bomb.len() < 4096);
        assert_eq!(refused(&[&[0; 4], bomb.as_slice()].concat()), LinkError::TooLarge);
        assert_eq!(unpack("", &"A".repeat(3 * MAX_BYTES)), Err(LinkError::TooLarge));
        let fits = "x".repeat(MAX_BYTES);
        assert_eq!(unpack("s", &pack("s", &fits)), Ok(fits));
        let mut longer = URL_SAFE_NO_PAD.decode(pack("", "text")).unwrap();
        longer.push(0);
        assert_eq!(refused(&longer), LinkError::Altered("what it packs does not unpack"));
        assert_eq!(refused(&[1, 2, 3]), LinkError::Altered("nearly all of it is missing"));
        assert_eq!(refused(&[0; 4]), LinkError::Altered("what it packs does not unpack"));
        assert_eq!(unpack("", ""), Err(LinkError::Altered("nearly all of it is missing")));
    }

    #[test]
    fn the_seal_counts() {
        assert_eq!(unpack("1.z.", &pack("2.z.", "{}")), Err(LinkError::Altered("its checksum does not fit")));
    }

    proptest! {
        #[test]
        fn texts_round_trip(text in ".*") {
            prop_assert_eq!(unpack("s", &pack("s", &text)), Ok(text));
        }

        #[test]
        fn no_payload_panics(payload in "[A-Za-z0-9_-]{0,200}|\\PC*", bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(unpack("", &payload).is_err());
            let zlib = [&[0, 0, 0, 0, 0x78, 0x9c], bytes.as_slice()].concat();
            prop_assert!(unpack("", &URL_SAFE_NO_PAD.encode(zlib)).is_err());
        }
    }
}

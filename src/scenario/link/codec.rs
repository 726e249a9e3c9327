//! A text in the letters that a fragment may hold: zlib, then base64url without padding.
//!
//! In front of the zlib stream stand the four bytes of a CRC-32 of whatever the caller seals and the text, the first
//! byte the most significant. zlib's own Adler-32 is weak on texts as short as these.

use super::LinkError;
use crate::base64url::{Misread, decode, encode};
use crate::crc32::crc32;

/// The largest text that is packed and unpacked.
pub const MAX_BYTES: usize = 1 << 20;

/// What a payload holds.
#[derive(Debug)]
pub(super) struct Sealed {
    /// The checksum that it states.
    sum: [u8; 4],
    /// The text as a zlib stream.
    pub(super) stream: Vec<u8>,
}

/// The payload of a text and its zlib stream; `seal` is not in the result, but must be the same when it is opened.
pub(super) fn seal(seal: &str, text: &str, stream: &[u8]) -> String {
    encode(&[sum(seal, text).as_slice(), stream].concat())
}

/// Reads a payload up to its zlib stream.
pub(super) fn read(payload: &str) -> Result<Sealed, LinkError> {
    if payload.len() > 2 * MAX_BYTES {
        return Err(LinkError::TooLarge);
    }
    // Refuses other letters, padding, and bits that stand for nothing.
    let bytes = decode(payload).map_err(|misread| match misread {
        Misread::Letter => LinkError::Altered("some of its letters do not belong"),
        Misread::End => LinkError::Altered("its end does not fit"),
    })?;
    let (sum, stream) = bytes.split_first_chunk().ok_or(LinkError::Altered("nearly all of it is missing"))?;
    Ok(Sealed { sum: *sum, stream: stream.to_vec() })
}

impl Sealed {
    /// The text, once its stream is unpacked.
    pub(super) fn open(&self, seal: &str, unpacked: Vec<u8>) -> Result<String, LinkError> {
        let text = String::from_utf8(unpacked).map_err(|_| LinkError::Altered("its content is no text"))?;
        if sum(seal, &text) == self.sum { Ok(text) } else { Err(LinkError::Altered("its checksum does not fit")) }
    }
}

fn sum(seal: &str, text: &str) -> [u8; 4] {
    crc32(&[seal.as_bytes(), text.as_bytes()].concat()).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::zlib::{deflate, inflate};
    use super::*;
    use proptest::prelude::*;

    fn pack(seal: &str, text: &str) -> String {
        super::seal(seal, text, &deflate(text.as_bytes()))
    }

    fn unpack(seal: &str, payload: &str) -> Result<String, LinkError> {
        let sealed = read(payload)?;
        sealed.open(seal, inflate(&sealed.stream)?)
    }

    fn refused(bytes: &[u8]) -> LinkError {
        unpack("", &encode(bytes)).unwrap_err()
    }

    #[test]
    fn bombs_trailing_bytes_and_nothing_are_refused() {
        let bomb = deflate(&vec![b' '; MAX_BYTES + 1]);
        assert!(bomb.len() < 4096);
        assert_eq!(refused(&[&[0; 4], bomb.as_slice()].concat()), LinkError::TooLarge);
        assert_eq!(unpack("", &"A".repeat(3 * MAX_BYTES)), Err(LinkError::TooLarge));
        let fits = "x".repeat(MAX_BYTES);
        assert_eq!(unpack("s", &pack("s", &fits)), Ok(fits));
        let mut longer = decode(&pack("", "text")).unwrap();
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
            prop_assert!(unpack("", &encode(&zlib)).is_err());
        }
    }
}

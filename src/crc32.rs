//! CRC-32 as zlib, PNG and Python's `zlib.crc32` compute it: a short name for some bytes, and a guard against a slip.
//!
//! Reflected, polynomial 0x04C11DB7 (0xEDB88320 bit-reversed), all ones before and after; RFC 1952, section 8. Bit by
//! bit: what is summed here is short, and a table would weigh more than it saves.

/// The CRC-32 of some bytes.
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes
        .iter()
        .fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ (0xEDB8_8320 * (sum & 1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_and_nothing() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }
}

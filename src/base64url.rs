//! base64url without padding, RFC 4648 section 5: bytes in letters that an address may hold.
//!
//! Strict: each text is that of at most one sequence of bytes.

/// A text that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misread {
    /// It has other letters, or padding.
    Letter,
    /// It ends where no text ends, or with bits that stand for nothing.
    End,
}

/// The text of some bytes.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        count += 8;
        while count >= 6 {
            count -= 6;
            text.push(letter(bits >> count));
        }
    }
    if count > 0 {
        text.push(letter(bits << (6 - count)));
    }
    text
}

/// The bytes of a text.
///
/// # Errors
/// See [`Misread`].
pub fn decode(text: &str) -> Result<Vec<u8>, Misread> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.bytes() {
        bits = bits << 6 | u32::from(value(letter).ok_or(Misread::Letter)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(low(bits >> count));
        }
    }
    // A letter of its own is not even one byte.
    let rest = bits & ((1 << count) - 1);
    if count < 6 && rest == 0 { Ok(bytes) } else { Err(Misread::End) }
}

/// The letter of the six low bits.
fn letter(bits: u32) -> char {
    char::from(match low(bits) & 63 {
        value @ ..26 => b'A' + value,
        value @ ..52 => b'a' + value - 26,
        value @ ..62 => b'0' + value - 52,
        62 => b'-',
        _ => b'_',
    })
}

fn value(letter: u8) -> Option<u8> {
    Some(match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    })
}

fn low(bits: u32) -> u8 {
    let [low, ..] = bits.to_le_bytes();
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use proptest::prelude::*;

    #[test]
    fn texts_are_those_of_the_rfc_without_padding() {
        let texts = ["", "Zg", "Zm8", "Zm9v", "Zm9vYg", "Zm9vYmE", "Zm9vYmFy"];
        for (length, text) in texts.into_iter().enumerate() {
            let bytes = &b"foobar"[..length];
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text).as_deref(), Ok(bytes));
        }
        assert_eq!(encode(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn nothing_else_is_read() {
        for text in ["Zg==", "Z g", "Zm+v", "Zm/v", "Zmé"] {
            assert_eq!(decode(text), Err(Misread::Letter), "{text}");
        }
        for text in ["Z", "Zm9vY", "Zh", "Zm9"] {
            assert_eq!(decode(text), Err(Misread::End), "{text}");
        }
    }

    proptest! {
        #[test]
        fn it_is_what_others_make_of_it(bytes in prop::collection::vec(any::<u8>(), 0..100), text in "[A-Za-z0-9_-]{0,20}") {
            prop_assert_eq!(encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes));
            prop_assert_eq!(decode(&encode(&bytes)), Ok(bytes));
            prop_assert_eq!(decode(&text).ok(), URL_SAFE_NO_PAD.decode(&text).ok());
        }
    }
}

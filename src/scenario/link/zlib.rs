//! zlib where there is no browser to bring it.

use super::LinkError;
use super::codec::MAX_BYTES;
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

/// The most thorough level of zlib's own nine.
const LEVEL: u8 = 9;

/// The zlib stream of some bytes.
pub(super) fn deflate(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec_zlib(bytes, LEVEL)
}

/// What a zlib stream without anything behind it holds, at most [`MAX_BYTES`].
pub(super) fn inflate(mut stream: &[u8]) -> Result<Vec<u8>, LinkError> {
    const FLAGS: u32 =
        inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
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
            _ => return Err(LinkError::NOT_ZLIB),
        }
    }
}

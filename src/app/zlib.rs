//! zlib as the browser brings it: the page has no packer of its own.

use crate::scenario::link::{LinkError, MAX_BYTES};
use js_sys::{Array, Function, Reflect, Uint8Array};
use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, ReadableStreamDefaultReader, ReadableStreamReadResult, ReadableWritablePair};

/// The zlib stream of some bytes.
pub(super) async fn deflate(bytes: &[u8]) -> Result<Vec<u8>, LinkError> {
    through("CompressionStream", bytes).await
}

/// What a zlib stream without anything behind it holds, at most [`MAX_BYTES`].
pub(super) async fn inflate(stream: &[u8]) -> Result<Vec<u8>, LinkError> {
    through("DecompressionStream", stream).await
}

/// Sends bytes through a stream of the browser's, until more comes out than a link may hold.
async fn through(kind: &str, bytes: &[u8]) -> Result<Vec<u8>, LinkError> {
    let broken = |_| LinkError::NOT_ZLIB;
    let reader = reader(kind, bytes).map_err(broken)?;
    let mut out = Vec::new();
    loop {
        let read = JsFuture::from(reader.read()).await.map_err(broken)?;
        let read = read.unchecked_into::<ReadableStreamReadResult>();
        if read.get_done() != Some(false) {
            return Ok(out);
        }
        out.extend(Uint8Array::new(&read.get_value()).to_vec());
        if out.len() > MAX_BYTES {
            let _ = reader.cancel();
            return Err(LinkError::TooLarge);
        }
    }
}

fn reader(kind: &str, bytes: &[u8]) -> Result<ReadableStreamDefaultReader, JsValue> {
    let class: Function = Reflect::get(&window(), &kind.into())?.dyn_into()?;
    let pair = Reflect::construct(&class, &Array::of1(&"deflate".into()))?;
    let source = Blob::new_with_u8_array_sequence(&Array::of1(&Uint8Array::from(bytes)))?.stream();
    Ok(source.pipe_through(pair.unchecked_ref::<ReadableWritablePair>()).get_reader().unchecked_into())
}

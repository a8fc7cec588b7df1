//! Parses uploaded files off the main thread.

use goodput_app::worker::protocol::{FromReader, Hello};
use goodput_app::worker::reader::Reader;
use goodput_app::worker::scope;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, FileReaderSync, MessageEvent};

fn main() {
    scope::tell_before_dying(|message| FromReader::Panicked { message });
    let mut reader = Reader::default();
    scope::listen(move |event| {
        if let Some((message, file)) = parcel(&event) {
            let bytes = file.and_then(|file| bytes_of(&file));
            if let Some(answer) = reader.handle(&message, bytes.as_deref()) {
                scope::say(&answer);
            }
        }
    });
    scope::say(&FromReader::Hello(Hello::of("reader")));
}

/// The text of a message, and the file beside it.
fn parcel(event: &MessageEvent) -> Option<(String, Option<Blob>)> {
    let data = event.data();
    if let Some(text) = data.as_string() {
        return Some((text, None));
    }
    let parts: js_sys::Array = data.dyn_into().ok()?;
    Some((parts.get(0).as_string()?, parts.get(1).dyn_into().ok()))
}

/// All bytes of a file; `None` where the browser gives no access.
fn bytes_of(file: &Blob) -> Option<Vec<u8>> {
    let read = || -> Result<Vec<u8>, JsValue> {
        let buffer = FileReaderSync::new()?.read_as_array_buffer(file)?;
        Ok(js_sys::Uint8Array::new(&buffer).to_vec())
    };
    read().ok()
}

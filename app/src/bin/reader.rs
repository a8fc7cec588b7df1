//! Parses uploaded files off the main thread.

use goodput_app::worker::protocol::{FromReader, Hello};
use goodput_app::worker::reader::{Attached, Shelf};
use goodput_app::worker::scope;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, FileReaderSync, MessageEvent};

fn main() {
    scope::tell_before_dying(|message| FromReader::Panicked { message });
    let mut shelf = Shelf::default();
    scope::listen(move |event| {
        let Some((message, file)) = parcel(&event) else { return };
        let file = file.map(Handle);
        if let Some(answer) = shelf.handle(&message, file.as_ref().map(|f| f as &dyn Attached)) {
            scope::say(&answer);
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

/// The browser's own handle of a file.
struct Handle(Blob);

impl Attached for Handle {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a size is a whole number"
    )]
    fn size(&self) -> u64 {
        self.0.size() as u64
    }

    fn load(&self) -> Result<Vec<u8>, String> {
        let buffer = FileReaderSync::new()
            .and_then(|reader| reader.read_as_array_buffer(&self.0))
            .map_err(|error| in_words(&error))?;
        Ok(js_sys::Uint8Array::new(&buffer).to_vec())
    }
}

/// What the browser says where the file was moved, changed or is forbidden.
fn in_words(error: &JsValue) -> String {
    let said = js_sys::Reflect::get(error, &JsValue::from_str("message")).ok();
    let said = said.and_then(|message| message.as_string()).unwrap_or_else(|| format!("{error:?}"));
    format!("the browser does not give the file: {said}")
}

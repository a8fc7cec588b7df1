//! The worker's side: its global scope, and its last words.

use serde::Serialize;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}

/// Says something to the page.
pub fn say(message: &impl Serialize) {
    if let Ok(text) = serde_json::to_string(message) {
        // A message that cannot be posted has nowhere to go; the page notices the silence.
        let _lost = scope().post_message(&JsValue::from_str(&text));
    }
}

/// Calls `hear` with everything the page says, for as long as the worker lives.
pub fn listen(hear: impl FnMut(MessageEvent) + 'static) {
    let closure = Closure::<dyn FnMut(MessageEvent)>::new(hear);
    scope().set_onmessage(Some(closure.as_ref().unchecked_ref()));
    closure.forget();
}

/// Says what a panic said before the worker dies of it.
pub fn tell_before_dying<M: Serialize + 'static>(last_word: fn(String) -> M) {
    std::panic::set_hook(Box::new(move |panic| say(&last_word(panic.to_string()))));
}

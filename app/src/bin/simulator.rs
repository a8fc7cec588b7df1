//! Runs simulations off the main thread.
use wasm_bindgen::{JsCast, JsValue};
use web_sys::DedicatedWorkerGlobalScope;

fn main() {
    console_error_panic_hook::set_once();
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let hello = serde_json::json!({ "hello": { "worker": "simulator", "build": env!("CARGO_PKG_VERSION") } });
    if let Err(error) = scope.post_message(&JsValue::from_str(&hello.to_string())) {
        wasm_bindgen::throw_val(error);
    }
}

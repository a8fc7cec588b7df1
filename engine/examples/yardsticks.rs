//! The yardsticks of the simulator in WebAssembly, compiled as the page's workers are: `cargo xtask
//! bench` runs it in Node.

use goodput_engine::sim::yardstick::{Measured, Meter, YARDSTICKS};
use js_sys::{Array, Function, Reflect};
use serde::Serialize;
use wasm_bindgen::{JsCast, JsValue};

/// Memory in WebAssembly never shrinks, so what this takes would be added to what follows.
const MOST_REQUESTS: u32 = 1_000_000;

#[derive(Serialize)]
struct Output {
    rows: Vec<Measured>,
}

fn main() {
    let mut meter = Engine { performance: global("performance") };
    let repeats = argument().unwrap_or(3);
    let short = YARDSTICKS.iter().filter(|stick| stick.requests <= MOST_REQUESTS);
    let rows = short.map(|stick| stick.measure(repeats, &mut meter)).collect();
    let json = serde_json::to_string(&Output { rows }).unwrap_or_else(|error| error.to_string());
    call(&global("console"), "log", &[json.into()]);
}

/// The first argument after the name of the script, as a number.
fn argument() -> Option<u32> {
    let arguments = Reflect::get(&global("process"), &"argv".into()).ok()?;
    Array::from(&arguments).get(2).as_string()?.parse().ok()
}

fn global(name: &str) -> JsValue {
    Reflect::get(&js_sys::global(), &name.into()).unwrap_or(JsValue::UNDEFINED)
}

fn call(object: &JsValue, method: &str, arguments: &[JsValue]) -> JsValue {
    let method = Reflect::get(object, &method.into()).unwrap_or(JsValue::UNDEFINED);
    let arguments = arguments.iter().collect();
    let called = method.dyn_ref::<Function>().map(|method| method.apply(object, &arguments));
    called.and_then(Result::ok).unwrap_or(JsValue::UNDEFINED)
}

/// The engine that runs this.
struct Engine {
    performance: JsValue,
}

impl Meter for Engine {
    fn now_s(&self) -> f64 {
        call(&self.performance, "now", &[]).as_f64().unwrap_or(f64::NAN) / 1e3
    }

    fn begin_peak(&mut self) {}

    fn peak_bytes(&self) -> Option<u64> {
        let memory = wasm_bindgen::memory().unchecked_into::<js_sys::WebAssembly::Memory>();
        let bytes = Reflect::get(&memory.buffer(), &"byteLength".into()).ok()?.as_f64()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^32")]
        Some(bytes as u64)
    }
}

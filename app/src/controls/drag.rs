//! What dragging with the pointer and moving with the keys have in common.

use leptos::ev::{KeyboardEvent, PointerEvent};
use wasm_bindgen::JsCast;
use web_sys::Element;

use crate::view_model::handles::Push;

/// A pointer that took hold of something: where it was, and how large the picture below it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grasp {
    from: [f64; 2],
    /// Width and height of the element that what was taken lies in, CSS pixels.
    pub size: [f64; 2],
}

impl Grasp {
    /// Takes hold of the element that an event is about, until the pointer is released.
    pub fn of(ev: &PointerEvent) -> Option<Self> {
        let handle = ev.current_target()?.dyn_into::<Element>().ok()?;
        // Without it the pointer is lost when it leaves the handle; the drag just ends there.
        let _captured = handle.set_pointer_capture(ev.pointer_id());
        let around = handle.parent_element()?;
        let size = [around.client_width(), around.client_height()].map(f64::from);
        Some(Self { from: place_of(ev), size })
    }

    /// How far it is by now to the right and up, CSS pixels.
    pub fn moved(&self, ev: &PointerEvent) -> [f64; 2] {
        let [x, y] = place_of(ev);
        [x - self.from[0], self.from[1] - y]
    }
}

fn place_of(ev: &PointerEvent) -> [f64; 2] {
    [f64::from(ev.client_x()), f64::from(ev.client_y())]
}

/// How a key moves what has the focus: arrows by a step, or ten with Shift; pages by ten.
pub fn push_of(ev: &KeyboardEvent) -> Option<Push> {
    let steps = if ev.shift_key() { 10 } else { 1 };
    Some(match ev.key().as_str() {
        "ArrowRight" => Push::By(steps, 0),
        "ArrowLeft" => Push::By(-steps, 0),
        "ArrowUp" => Push::By(0, steps),
        "ArrowDown" => Push::By(0, -steps),
        "PageUp" => Push::By(0, 10),
        "PageDown" => Push::By(0, -10),
        "Home" => Push::End(false),
        "End" => Push::End(true),
        _ => return None,
    })
}

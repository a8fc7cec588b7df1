//! The browser: the only place that touches `window` and `document`.

use std::cell::RefCell;

use leptos::prelude::{AnimationFrameRequestHandle, request_animation_frame_with_handle};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, BlobPropertyBag, Document, Element, Event, HtmlAnchorElement, HtmlDialogElement,
    HtmlElement, HtmlTextAreaElement, KeyboardEvent, PerformanceNavigation, Url, Window,
};

/// The window. There always is one: workers do not use this module.
fn window() -> Option<Window> {
    web_sys::window()
}

fn document() -> Option<Document> {
    window()?.document()
}

/// What follows the address, with its `#`; empty without one.
pub fn fragment() -> String {
    window().and_then(|w| w.location().hash().ok()).unwrap_or_default()
}

/// The address of the page without its fragment.
pub fn address() -> String {
    let href = window().and_then(|w| w.location().href().ok()).unwrap_or_default();
    href.split('#').next().unwrap_or_default().to_owned()
}

/// Whether the page was loaded again in its tab: by a reload, or by going back to it.
pub fn is_revisit() -> bool {
    let performance = window().and_then(|w| w.performance());
    performance.is_some_and(|performance| {
        let kind = performance.navigation().type_();
        kind == PerformanceNavigation::TYPE_RELOAD
            || kind == PerformanceNavigation::TYPE_BACK_FORWARD
    })
}

/// Changes the fragment in the address bar, without a new entry in the history.
pub fn replace_fragment(fragment: &str) {
    let history = window().and_then(|w| w.history().ok());
    let target = if fragment.is_empty() { address() } else { fragment.to_owned() };
    if let Some(history) = history {
        // Browsers refuse when called too often; the next change tries again.
        let _refused = history.replace_state_with_url(&JsValue::NULL, "", Some(&target));
    }
}

/// Calls `hear` whenever another fragment is navigated to.
pub fn on_fragment_change(hear: impl Fn() + 'static) {
    listen_for_ever("hashchange", move |_: Event| hear());
}

/// Calls `hear` for every key pressed anywhere.
pub fn on_key(hear: impl Fn(KeyboardEvent) + 'static) {
    listen_for_ever("keydown", hear);
}

/// The page lives as long as its listeners.
fn listen_for_ever<E: wasm_bindgen::convert::FromWasmAbi + 'static>(
    event: &str,
    hear: impl Fn(E) + 'static,
) {
    let Some(window) = window() else { return };
    let closure = Closure::<dyn Fn(E)>::new(hear);
    if window.add_event_listener_with_callback(event, closure.as_ref().unchecked_ref()).is_ok() {
        closure.forget();
    }
}

/// Whether a media query matches.
pub fn matches(query: &str) -> bool {
    window().and_then(|w| w.match_media(query).ok().flatten()).is_some_and(|list| list.matches())
}

/// Calls `hear` with the new state whenever a media query starts or ceases to match.
pub fn on_media_change(query: &str, hear: impl Fn(bool) + 'static) {
    let Some(list) = window().and_then(|w| w.match_media(query).ok().flatten()) else { return };
    let of = list.clone();
    let closure = Closure::<dyn Fn(Event)>::new(move |_: Event| hear(of.matches()));
    if list.add_event_listener_with_callback("change", closure.as_ref().unchecked_ref()).is_ok() {
        closure.forget();
    }
}

/// Device pixels in a CSS pixel.
pub fn pixel_ratio() -> f64 {
    window().map_or(1.0, |w| w.device_pixel_ratio()).clamp(0.5, 4.0)
}

/// Sets or removes an attribute of the root element.
pub fn set_root_attribute(name: &str, value: Option<&str>) {
    let Some(root) = document().and_then(|d| d.document_element()) else { return };
    let _done = match value {
        Some(value) => root.set_attribute(name, value),
        None => root.remove_attribute(name),
    };
}

/// The title in the tab.
pub fn set_title(title: &str) {
    if let Some(document) = document() {
        document.set_title(title);
    }
}

/// Moves the view to an element and the focus into it, opening whatever is folded around it.
pub fn go_to(id: &str) {
    let Some(element) = element(id) else { return };
    unfold(&element);
    element.scroll_into_view();
    focus(id);
}

/// Opens the details and the groups around an element.
fn unfold(inside: &Element) {
    let mut around = inside.parent_element();
    while let Some(element) = around {
        if element.tag_name() == "DETAILS" {
            let _done = element.set_attribute("open", "");
        }
        let folded = element.query_selector(":scope > legend > [aria-expanded=false]");
        if let Some(fold) = folded.ok().flatten().and_then(|e| e.dyn_into::<HtmlElement>().ok()) {
            fold.click();
        }
        around = element.parent_element();
    }
}

/// Moves the focus to an element.
pub fn focus(id: &str) {
    if let Some(element) = element(id).and_then(|e| e.dyn_into::<HtmlElement>().ok()) {
        let _done = element.focus();
    }
}

/// Presses a button or opens a file picker.
pub fn click(id: &str) {
    if let Some(element) = element(id).and_then(|e| e.dyn_into::<HtmlElement>().ok()) {
        element.click();
    }
}

/// Opens a dialog over everything else; the browser keeps the focus inside.
pub fn show_dialog(id: &str) {
    if let Some(dialog) = element(id).and_then(|e| e.dyn_into::<HtmlDialogElement>().ok()) {
        let _already_open = dialog.show_modal();
    }
}

/// Closes a dialog; the browser gives the focus back.
pub fn close_dialog(id: &str) {
    if let Some(dialog) = element(id).and_then(|e| e.dyn_into::<HtmlDialogElement>().ok()) {
        dialog.close();
    }
}

fn element(id: &str) -> Option<Element> {
    document()?.get_element_by_id(id)
}

/// Copies text, by the clipboard or, where that is refused, by a selected text area.
pub async fn copy(text: String) -> bool {
    let Some(window) = window() else { return false };
    let clipboard = window.navigator().clipboard();
    if !clipboard.is_undefined() && JsFuture::from(clipboard.write_text(&text)).await.is_ok() {
        return true;
    }
    copy_by_selection(&text).unwrap_or(false)
}

fn copy_by_selection(text: &str) -> Option<bool> {
    let document = document()?;
    let area: HtmlTextAreaElement = document.create_element("textarea").ok()?.dyn_into().ok()?;
    area.set_value(text);
    area.set_class_name("vh");
    document.body()?.append_child(&area).ok()?;
    area.select();
    let html: &web_sys::HtmlDocument = document.unchecked_ref();
    let copied = html.exec_command("copy").unwrap_or(false);
    area.remove();
    Some(copied)
}

/// Saves text as a file.
pub fn download(name: &str, mime: &str, text: &str) {
    let _done = try_download(name, mime, text);
}

fn try_download(name: &str, mime: &str, text: &str) -> Result<(), JsValue> {
    let Some(document) = document() else { return Ok(()) };
    let options = BlobPropertyBag::new();
    options.set_type(mime);
    let parts = js_sys::Array::of1(&JsValue::from_str(text));
    let blob = Blob::new_with_str_sequence_and_options(&parts, &options)?;
    let url = Url::create_object_url_with_blob(&blob)?;
    let anchor: HtmlAnchorElement = document.create_element("a")?.unchecked_into();
    anchor.set_href(&url);
    anchor.set_download(name);
    anchor.click();
    // The download has its own hold on the blob once it has begun.
    gloo::timers::callback::Timeout::new(10_000, move || {
        let _done = Url::revoke_object_url(&url);
    })
    .forget();
    Ok(())
}

/// Reads a setting that this browser remembers.
pub fn remembered(key: &str) -> Option<String> {
    window()?.local_storage().ok()??.get_item(key).ok()?
}

/// Remembers a setting in this browser, where it lets us.
pub fn remember(key: &str, value: &str) {
    let storage = window().and_then(|w| w.local_storage().ok().flatten());
    if let Some(storage) = storage {
        let _refused = storage.set_item(key, value);
    }
}

/// Reads what this tab keeps over a reload.
pub fn kept(key: &str) -> Option<String> {
    window()?.session_storage().ok()??.get_item(key).ok()?
}

/// Keeps something in this tab over a reload, or forgets it; whether the browser let us.
pub fn keep(key: &str, value: Option<&str>) -> bool {
    let storage = window().and_then(|w| w.session_storage().ok().flatten());
    storage.is_some_and(|storage| match value {
        Some(value) => storage.set_item(key, value).is_ok(),
        None => storage.remove_item(key).is_ok(),
    })
}

/// Calls `hear` when the page is about to go: closed, reloaded, or left for another.
pub fn on_leaving(hear: impl Fn() + 'static) {
    listen_for_ever("pagehide", move |_: Event| hear());
}

/// Asks before the page goes, as long as `unsaved` says that something would be lost.
pub fn ask_before_leaving(unsaved: impl Fn() -> bool + 'static) {
    listen_for_ever("beforeunload", move |event: Event| {
        if unsaved() {
            event.prevent_default();
        }
    });
}

/// Does something once typing has paused: each call starts the wait again.
pub struct Debounce {
    wait_ms: u32,
    timer: RefCell<Option<gloo::timers::callback::Timeout>>,
}

impl Debounce {
    /// Waits so long.
    pub fn new(wait_ms: u32) -> Self {
        Self { wait_ms, timer: RefCell::new(None) }
    }

    /// Calls `then` unless called again before the wait is over.
    pub fn call(&self, then: impl FnOnce() + 'static) {
        let timer = gloo::timers::callback::Timeout::new(self.wait_ms, then);
        // Dropping the earlier timer cancels it.
        *self.timer.borrow_mut() = Some(timer);
    }
}

/// Does something when the browser makes its next frame: each call replaces the one before.
#[derive(Default)]
pub struct NextFrame(Option<AnimationFrameRequestHandle>);

impl NextFrame {
    /// Calls `then` in the next frame, unless called again or dropped before.
    pub fn call(&mut self, then: impl FnOnce() + 'static) {
        self.cancel();
        self.0 = request_animation_frame_with_handle(then).ok();
    }

    fn cancel(&mut self) {
        if let Some(frame) = self.0.take() {
            frame.cancel();
        }
    }
}

impl Drop for NextFrame {
    fn drop(&mut self) {
        self.cancel();
    }
}

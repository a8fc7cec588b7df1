//! A panel that opens: what it shows is worked out only while somebody looks.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// The panel, with its title and what it shows in a sentence; `body` is made when it is opened.
pub fn folded(
    testid: &'static str,
    title: &'static str,
    said: &'static str,
    body: fn() -> AnyView,
) -> AnyView {
    let opened = RwSignal::new(false);
    let toggled = move |ev: leptos::ev::Event| {
        let details = ev.target().and_then(|t| t.dyn_into::<web_sys::Element>().ok());
        opened.set(details.is_some_and(|details| details.has_attribute("open")));
    };
    view! {
        <details class="panel outcomes" data-testid=testid on:toggle=toggled>
            <summary>
                <h3>{title}</h3>
                <span class="cap">{said}</span>
            </summary>
            {move || opened.get().then(body)}
        </details>
    }
    .into_any()
}

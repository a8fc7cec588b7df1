//! The Goodput page: a workbench over the engine, compiled to WebAssembly.

mod charts;
mod format;
mod parse;

use leptos::prelude::*;

/// The whole page.
#[component]
pub fn App() -> impl IntoView {
    view! {
        <main data-state="done">
            <h1>"Goodput"</h1>
        </main>
    }
}

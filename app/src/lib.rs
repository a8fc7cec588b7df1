//! The Goodput page.
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

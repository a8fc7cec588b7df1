//! Below the headline numbers: what is expected of them, and whether they are so.

use leptos::prelude::*;

use crate::state::workbench;
use crate::view_model::expected;

/// A line for each expectation; nothing where nothing is expected.
#[component]
pub fn Expected() -> impl IntoView {
    let bench = workbench();
    let rows = Memo::new(move |_| {
        bench.screen.with(|screen| {
            screen.simulated().map_or_else(Vec::new, |shown| expected::rows(&shown.report))
        })
    });
    view! {
        <ul
            class="expected"
            class:stale=move || !bench.current.get()
            hidden=move || rows.with(Vec::is_empty)
            aria-label="What is expected"
            data-testid="expected"
        >
            {move || {
                let row = |row: expected::Row| {
                    let (class, word) = if row.met { ("up", "✓ met") } else { ("dn", "✕ not met") };
                    view! { <li data-met=row.met.to_string()><b class=class>{word}</b> " " {row.text}</li> }
                };
                rows.get().into_iter().map(row).collect_view()
            }}
        </ul>
    }
    .into_any()
}

//! Outcome patterns for the small graphics of the document; charts draw their own.

use leptos::prelude::*;

/// Definitions that fills refer to.
#[component]
pub fn Patterns() -> impl IntoView {
    view! {
        <svg width="0" height="0" class="defs" aria-hidden="true">
            <defs>
                <pattern id="p-late" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                    <path d="M0 0V6" class="pp" stroke-width="1.6"></path>
                </pattern>
                <pattern id="p-late-slow" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                    <path d="M0 0V6M0 0H6" class="pp" stroke-width="1.6"></path>
                </pattern>
                <pattern id="p-slow" width="5" height="5" patternUnits="userSpaceOnUse">
                    <path d="M0 1H5" class="pp" stroke-width="1.4"></path>
                </pattern>
                <pattern id="p-stalled" width="5" height="5" patternUnits="userSpaceOnUse">
                    <path d="M1 0V5" class="pp" stroke-width="1.4"></path>
                </pattern>
                <pattern id="p-error" width="6" height="6" patternUnits="userSpaceOnUse">
                    <path d="M1 1L5 5M5 1L1 5" class="pp" stroke-width="1"></path>
                </pattern>
                <pattern id="p-cancelled" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
                    <path d="M0 0V6" class="pp" stroke-width="2.6"></path>
                </pattern>
                <pattern id="p-rejected" width="8" height="8" patternUnits="userSpaceOnUse">
                    <path d="M0 0h2v2h-2zM4 4h2v2h-2z" class="pf"></path>
                </pattern>
                <pattern id="p-low-quality" width="5" height="5" patternUnits="userSpaceOnUse">
                    <circle cx="2.5" cy="2.5" r="1.1" class="pf"></circle>
                </pattern>
            </defs>
        </svg>
    }
    .into_any()
}

//! The moment that all time charts read out: its values in words; arrow keys move it.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use crate::state::workbench;

/// The values at the cursor.
#[component]
pub fn Moment(
    id: &'static str,
    /// The clock and the values at a moment.
    text: Callback<f64, Option<(String, String)>>,
    /// What else is said.
    #[prop(optional, into)]
    more: Option<Signal<Option<String>>>,
) -> impl IntoView {
    let bench = workbench();
    let ends = Memo::new(move |_| {
        bench.screen.with(|screen| {
            let report = &screen.simulated()?.report;
            Some((report.horizon_s, report.debt.peak_at_s))
        })
    });
    let end_s = move || ends.get().unwrap_or_default().0;
    // The peak of the debt, until somebody looks elsewhere.
    let now_s = move || bench.cursor_s.get().or(ends.get().map(|(_, peak_s)| peak_s));
    let at = move || now_s().unwrap_or_default().min(end_s());
    let text = Memo::new(move |_| text.run(at()));
    let press = move |ev: KeyboardEvent| {
        let steps = match ev.key().as_str() {
            "ArrowRight" => 1.0,
            "ArrowLeft" => -1.0,
            "PageUp" => 10.0,
            "PageDown" => -10.0,
            _ => return,
        };
        ev.prevent_default();
        let (end, now) = untrack(|| (end_s(), at()));
        bench.cursor_s.set(Some((now + steps * end / 100.0).clamp(0.0, end)));
    };
    view! {
        <p
            class="read"
            tabindex="0"
            role="slider"
            aria-label="Moment in the time charts"
            aria-valuemin="0"
            aria-valuemax=end_s
            aria-valuenow=at
            aria-valuetext=move || text.get().map(|(clock, values)| format!("{clock}: {values}"))
            data-testid=id
            title="Arrow keys move the moment"
            on:keydown=press
        >
            {move || text.get().map(|(clock, values)| view! { <b>{clock}</b><span>{values}</span> })}
            <span class="muted">{move || more.and_then(|more| more.get())}</span>
        </p>
    }
    .into_any()
}

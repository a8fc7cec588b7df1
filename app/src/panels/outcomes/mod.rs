//! Where the lost requests went, seen in several ways. Each is a panel that opens; what a report does
//! not hold is worked out only while its panel is open.

pub mod break_out;
mod capacity;
mod counterfactual;
pub mod heat_map;
mod life_cycle;
pub mod rules;

use leptos::prelude::*;

use crate::state::{Ending, Screen, workbench};

/// The panels.
#[component]
pub fn Outcomes() -> impl IntoView {
    let bench = workbench();
    let there = Memo::new(move |_| {
        bench.screen.with(|s| matches!(s, Screen::Simulated(_) | Screen::Arithmetic(_)))
    });
    view! {
        <section
            class="grid2 even"
            id="lost"
            tabindex="-1"
            aria-label="Where requests were lost"
            class:stale=move || !bench.current.get()
            hidden=move || !there.get()
        >
            <break_out::BreakOuts/>
            <counterfactual::Counterfactual/>
            <rules::Rules/>
            <life_cycle::LifeCycle/>
            <capacity::Capacity/>
        </section>
    }
    .into_any()
}

/// Why there is no answer to what a view asked.
pub fn in_words(ending: &Ending) -> String {
    match ending {
        Ending::Cancelled => "This was cancelled".to_owned(),
        Ending::Failed(why) | Ending::Crashed(why) => format!("This cannot be worked out: {why}"),
    }
}

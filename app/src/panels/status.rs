//! The status line: what is being computed, what was.

use std::collections::BTreeMap;

use leptos::prelude::*;

use crate::state::{Ending, Screen, Workbench, workbench};
use crate::view_model::problems;
use crate::view_model::status::{self, Planning, Standing};

/// One line, read out politely; Cancel while something runs.
#[component]
pub fn StatusLine() -> impl IntoView {
    let bench = workbench();
    let line = Memo::new(move |_| line_of(bench));
    let running = Memo::new(move |_| bench.phase.get() == "running");
    let too_many = Memo::new(move |_| bench.too_many().is_some());
    let standing = Memo::new(move |_| {
        let unread = bench.unread.with(|unread| !unread.is_empty());
        Standing::of(bench.phase.get(), unread, too_many.get())
    });
    view! {
        <p class="status" data-testid="status">
            <span role="status">
                <span
                    class=move || format!("tick {}", standing.get().class())
                    aria-hidden="true"
                >
                    {move || standing.get().mark()}
                </span>
                {move || line.get()}
            </span>
            {move || too_many.get().then(|| view! { <Anyway/> })}
            {move || {
                running
                    .get()
                    .then(|| {
                        view! {
                            <button class="link" data-testid="cancel" title="Esc" on:click=move |_| bench.cancel()>
                                "Cancel"
                            </button>
                        }
                    })
            }}
        </p>
    }
    .into_any()
}

/// Starts a simulation that is too large to start by itself.
#[component]
fn Anyway() -> impl IntoView {
    let bench = workbench();
    view! {
        <button class="link" data-testid="anyway" on:click=move |_| bench.simulate_anyway()>
            "Simulate it anyway"
        </button>
    }
    .into_any()
}

fn line_of(bench: Workbench) -> String {
    let unread = bench.unread.with(BTreeMap::len);
    let errors = bench.checked.with(|checked| checked.errors().count());
    if let Some(wrong) = problems::standing(unread, errors) {
        return wrong;
    }
    match bench.screen.get() {
        Screen::DoesNotFit(_) => {
            return "By memory arithmetic; nothing is simulated, as nothing would run".into();
        }
        Screen::Arithmetic(_) => return "By arithmetic from declared token rates".into(),
        Screen::Simulated(..) | Screen::Soon(_) => {}
    }
    if let Some(requests) = bench.too_many() {
        return format!(
            "{} requests are a lot for a tab: lower the rates, shorten the horizon or use the \
             command line; results are for the previous inputs",
            crate::format::fixed(requests, 0)
        );
    }
    let simulation = bench.simulation.get();
    let offered = simulation.last.as_ref().map(|last| last.value.offered);
    if let Some(running) = simulation.running {
        return status::simulating(running.share, offered);
    }
    if let Some(ending) = simulation.ending {
        return ended("The simulation", &ending);
    }
    let Some(last) = simulation.last else { return "Starting".into() };
    let plan = bench.plan.get();
    let planning = match (plan.running, plan.current(&last.doc)) {
        (Some(running), _) => Planning::Running(running.share),
        (None, Some(plan)) => Planning::Done(plan.windows()),
        (None, None) => Planning::Not,
    };
    let line = status::simulated(&last.value, planning);
    match plan.ending {
        Some(ending) => format!("{line}; {}", ended("the search for a fleet", &ending)),
        None => line,
    }
}

fn ended(what: &str, ending: &Ending) -> String {
    match ending {
        Ending::Cancelled => format!("{what} was cancelled; the last result stays"),
        Ending::Failed(why) => format!("{what} cannot be done: {why}"),
        Ending::Crashed(why) => format!("{what} stopped: {why}"),
    }
}

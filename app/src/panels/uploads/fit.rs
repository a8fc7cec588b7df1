//! The step time from benchmarks: what hinders a fit, the fit under way, and its result.

use leptos::prelude::*;

use super::fit_result::FitResult;
use crate::format;
use crate::state::Ending;
use crate::state::jobs::{Running, Slot};
use crate::state::uploads::{Desk, FitRequest, desk};
use crate::view_model::uploads_fit::still_to_tell;
use crate::worker::protocol::{Finding, Question};

/// The panel below the files; nothing without a benchmark among them.
#[component]
pub fn Fit() -> impl IntoView {
    let desk = desk();
    desk.bench.ask(desk.bench.views.usable, move || {
        let request = desk.ready.get()?.ok().filter(|request| request.points() > 0)?;
        Some(Question::Usable(request.pool, request.files.clone()))
    });
    let there = Memo::new(move |_| desk.ready.with(Option::is_some));
    let running = Memo::new(move |_| desk.fit.with(|slot| slot.running));
    let state = move || if running.get().is_some() { "running" } else { "done" };
    let ending = move || {
        desk.fit.with(|slot| match slot.ending.clone()? {
            Ending::Cancelled => Some("The fit was cancelled".to_owned()),
            Ending::Failed(why) => Some(format!("The fit cannot be done: {why}")),
            Ending::Crashed(why) => Some(format!("The fit stopped: {why}")),
        })
    };
    view! {
        <section class="fit" data-testid="fit" data-state=state aria-labelledby="fit-head" hidden=move || !there.get()>
            <h4 id="fit-head">"Step time from these benchmarks"</h4>
            <p class="cap">
                "Each point is simulated under its own conditions, and one factor on the step time makes what is simulated agree with what was measured"
            </p>
            <Start/>
            <p role="status" data-testid="fit-status">
                {move || running.get().map(|running| progress(&running))}
                {ending}
            </p>
            <FitResult/>
        </section>
    }
    .into_any()
}

fn progress(running: &Running) -> String {
    let share = running.share.map(|share| format!(", {}", format::percent(share)));
    format!("Simulating the benchmark's own conditions{}", share.unwrap_or_default())
}

/// Why there can be no fit yet.
fn hindrances(desk: Desk) -> Vec<String> {
    let mut hindrances = Vec::new();
    match desk.ready.get() {
        Some(Err(open)) => hindrances
            .extend(still_to_tell(&open).iter().map(|open| format!("To be told first of {open}"))),
        Some(Ok(request)) if request.points() == 0 => {
            hindrances.push("No point is left to fit to".to_owned());
        }
        Some(Ok(request)) => hindrances.extend(none_serves(desk, &request)),
        None => {}
    }
    if desk.bench.checked.with(|checked| checked.scenario.is_none()) {
        hindrances.push("The inputs of the scenario have problems: mend them first".to_owned());
    }
    hindrances
}

/// Why no point can serve, where the simulator has found that of these points and this pool.
fn none_serves(desk: Desk, request: &FitRequest) -> Option<String> {
    desk.bench.views.usable.with(|slot| {
        let viewed = &slot.last.as_ref()?.value;
        let of_these = match &viewed.question {
            Question::Usable(pool, files) => (*pool, files) == (request.pool, &request.files),
            _ => false,
        };
        match &viewed.finding {
            Finding::Usable(0, excluded) if of_these => {
                let mut reasons: Vec<&str> = excluded.iter().map(|p| p.reason.as_str()).collect();
                reasons.sort_unstable();
                reasons.dedup();
                Some(format!("No point can serve: {}", reasons.join("; ")))
            }
            _ => None,
        }
    })
}

/// The button, and why it does nothing yet.
#[component]
fn Start() -> impl IntoView {
    let desk = desk();
    let running = Memo::new(move |_| desk.fit.with(Slot::is_running));
    let hindrances = Memo::new(move |_| hindrances(desk));
    let blocked = move || hindrances.with(|hindrances| !hindrances.is_empty());
    let points = move || {
        let count = |request: &FitRequest| request.points() as u64;
        let ready = desk.ready.get().and_then(Result::ok);
        let count = ready.map_or(0, |request| count(&request));
        format!("{} ready", format::plural(count, "point", "points"))
    };
    let start = move |_| {
        if !hindrances.with_untracked(Vec::is_empty) {
            return;
        }
        desk.start_fit();
    };
    view! {
        <div class="row">
            <button
                type="button"
                class="primary"
                data-testid="start-fit"
                aria-disabled=move || blocked().then_some("true")
                aria-describedby="fit-hindrances"
                on:click=start
            >
                "Fit step time"
            </button>
            <div class="echo" id="fit-hindrances" data-testid="fit-hindrances">
                {move || {
                    if blocked() {
                        let lines = hindrances.get().into_iter().map(|line| view! { <li>{line}</li> });
                        view! { <ul class="lines">{lines.collect_view()}</ul> }.into_any()
                    } else {
                        points().into_any()
                    }
                }}
            </div>
            {move || {
                running
                    .get()
                    .then(|| {
                        view! {
                            <button type="button" class="link" data-testid="cancel-fit" on:click=move |_| desk.cancel_fit()>
                                "Cancel the fit"
                            </button>
                        }
                    })
            }}
        </div>
    }
    .into_any()
}

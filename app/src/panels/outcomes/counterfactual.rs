//! What alone would have saved how many.

use leptos::prelude::*;

use crate::format;
use crate::panels::figure::Previous;
use crate::state::{Slot, workbench};
use crate::view_model::counterfactual::{self, SavedRow};
use crate::worker::protocol::{Finding, Question};

const NONE_IS_COUNTED: &str = "Users of closed loops and sessions ask by what they were answered: \
    without a setting they would ask other requests, so none is counted";

/// The panel.
#[component]
pub fn Counterfactual() -> impl IntoView {
    let bench = workbench();
    let stale = Signal::derive(move || !bench.current.get());
    let view = move || {
        bench.screen.with(|screen| {
            let report = &screen.simulated()?.report;
            let names: Vec<&str> = report.classes.iter().map(|class| class.name.as_str()).collect();
            Some(counterfactual::saved(&report.accounting, &names))
        })
    };
    view! {
        <section class="panel outcomes" data-testid="counterfactual" aria-labelledby="saved-head">
            <h3 id="saved-head">"What alone would have saved them" <Previous stale/></h3>
            {move || {
                view()
                    .map(|saved| {
                        let rows = saved.rows.into_iter().map(row).collect_view();
                        view! {
                            <p class="cap">{saved.caption}</p>
                            <table class="saved">
                                <thead>
                                    <tr>
                                        <th scope="col">"Changed alone"</th>
                                        <th scope="col">"Requests"</th>
                                        <th scope="col">"Of the lost"</th>
                                    </tr>
                                </thead>
                                <tbody>{rows}</tbody>
                            </table>
                        }
                    })
            }}
            {lifted_settings}
            <p class="note">
                "Counted on the requests of this run: a limit changes no event. What binds, above, changes the fleet instead"
            </p>
        </section>
    }
    .into_any()
}

/// What only another run can tell: asked for, since it takes one run for each setting.
fn lifted_settings() -> AnyView {
    let bench = workbench();
    let asked = bench.views.lifted;
    let wanted = RwSignal::new(false);
    let can_lift = Memo::new(move |_| {
        bench.screen.with(|screen| {
            screen.simulated().is_some_and(|s| counterfactual::can_lift(&s.report.accounting))
        })
    });
    bench.ask(asked, move || (wanted.get() && can_lift.get()).then_some(Question::LiftSettings));
    let running = move || !bench.current.get() || asked.with(Slot::is_running);
    let found = move || {
        asked.with(|slot| match &slot.last.as_ref()?.value.finding {
            Finding::SettingsLifted(found) => Some(counterfactual::lifted(found)),
            _ => None,
        })
    };
    let lines = move || found().map(lifted_lines);
    let why_not = move || asked.with(|slot| slot.ending.as_ref().map(super::in_words));
    let body = move || {
        if !can_lift.get() {
            return ().into_any();
        }
        if !wanted.get() {
            return view! {
                <button type="button" class="link" on:click=move |_| wanted.set(true)>
                    "Lift each setting and simulate"
                </button>
            }
            .into_any();
        }
        view! {
            <div
                data-testid="lifted"
                data-state=move || if running() { "running" } else { "done" }
                aria-live="polite"
            >
                <h4>"Each setting lifted alone, simulated"</h4>
                {lines}
                <p class="note">{why_not}</p>
            </div>
        }
        .into_any()
    };
    body.into_any()
}

/// A line for each setting; there is none where users ask by what they were answered.
fn lifted_lines(lines: Vec<String>) -> AnyView {
    if lines.is_empty() {
        return view! { <p class="note">{NONE_IS_COUNTED}</p> }.into_any();
    }
    let lines = lines.into_iter().map(|line| view! { <li>{line}</li> }).collect_view();
    view! { <ul class="lines">{lines}</ul> }.into_any()
}

fn row(row: SavedRow) -> AnyView {
    let requests = format::count(row.requests);
    let what = if row.saved { format!("saves {requests}") } else { requests };
    let share = format::with_unit(&format::aligned(row.share, 1), "%");
    view! {
        <tr class:on=row.saved>
            <th scope="row">
                {row.name} <span class="why">{row.detail}</span>
            </th>
            <td data-value=row.requests>{what}</td>
            <td class="q">{share}</td>
        </tr>
    }
    .into_any()
}

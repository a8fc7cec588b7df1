//! A trace: what it looks like, and the two ways in which it becomes the workload.

use goodput_engine::scenario::TraceForm;
use leptos::prelude::*;

use crate::format;
use crate::state::uploads::{Used, desk};
use crate::worker::reader::FileId;

/// More requests than this are for the command line to replay: every edit would carry them.
const MOST_REPLAYED: u64 = 200_000;

/// What a trace looks like and what can be done with it.
#[component]
pub fn Trace(id: FileId, requests: u64, rows: Vec<(&'static str, String)>) -> impl IntoView {
    let rows = rows.into_iter().map(|(name, value)| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td>{value}</td>
            </tr>
        }
    });
    view! {
        <table class="facts" data-testid="trace-facts">
            <caption class="vh">"What the trace looks like"</caption>
            <tbody>{rows.collect_view()}</tbody>
        </table>
        <Use id requests/>
    }
    .into_any()
}

#[component]
fn Use(id: FileId, requests: u64) -> impl IntoView {
    let desk = desk();
    let class = desk.bench.class;
    let class = desk.bench.about(move |doc| {
        let class = doc.workload.classes.get(class.get());
        class.map(|class| class.name.clone()).unwrap_or_default()
    });
    let too_many = requests > MOST_REPLAYED;
    let replay = if too_many {
        format!(
            "{} requests are too many to replay in a tab; use goodput simulate, or the profile",
            format::count(requests)
        )
    } else {
        "Every request at its moment with its lengths. Exact, and too long for a link beyond some \
         hundred requests: share the scenario as a file"
            .to_owned()
    };
    let use_as = move |form| move |_| desk.use_trace(id, form);
    view! {
        <div class="uses" role="group" aria-label="Use as workload">
            <div>
                {(!too_many)
                    .then(|| {
                        view! {
                            <button
                                type="button"
                                data-testid="use-trace"
                                aria-describedby=format!("replay-{id}")
                                on:click=use_as(TraceForm::Replay)
                            >
                                "Use as workload, replayed"
                            </button>
                        }
                    })}
                <p class="echo" id=format!("replay-{id}")>{replay}</p>
            </div>
            <div>
                <button
                    type="button"
                    data-testid="use-profile"
                    aria-describedby=format!("profile-{id}")
                    on:click=use_as(TraceForm::Profile)
                >
                    "Use as workload, as a profile"
                </button>
                <p class="echo" id=format!("profile-{id}")>
                    "Its rates over time and tables of its lengths. Fits in a link; bursts shorter than its spans are smoothed out"
                </p>
            </div>
        </div>
        <p class="echo">
            "Either replaces arrivals and lengths of the class “" {move || class.get()}
            "” as one edit; limits stay as they are"
        </p>
        <UsedLine id/>
    }
    .into_any()
}

/// What came of it.
#[component]
fn UsedLine(id: FileId) -> impl IntoView {
    let desk = desk();
    let used = Memo::new(move |_| {
        desk.uploads.with(|uploads| uploads.file(id).and_then(|file| file.used.clone()))
    });
    view! {
        <div data-testid="used">
            {move || match used.get() {
                None => ().into_any(),
                Some(Used::Waiting(_)) => view! { <p class="cap">"Preparing …"</p> }.into_any(),
                Some(Used::Failed(why)) => view! { <p><strong>{why}</strong></p> }.into_any(),
                Some(Used::Done { form, class, remarks }) => {
                    let how = match form {
                        TraceForm::Replay => "Replayed as recorded",
                        TraceForm::Profile => "As a rate profile with tables of lengths",
                    };
                    let remarks = remarks.into_iter().map(|remark| view! { <li>{remark}</li> });
                    view! {
                        <p class="sum">
                            <strong>{how} " in the class “" {class} "”"</strong>
                            "; undo takes it back"
                        </p>
                        <ul class="lines">{remarks.collect_view()}</ul>
                    }
                        .into_any()
                }
            }}
        </div>
    }
    .into_any()
}

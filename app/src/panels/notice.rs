//! What concerns the whole page: a bad link, a worker that died; and what is wrong with the inputs.

use leptos::prelude::*;

use crate::browser;
use crate::controls::id_of;
use crate::state::workbench;

/// A banner that stays until it is dismissed.
#[component]
pub fn NoticeBar() -> impl IntoView {
    let bench = workbench();
    view! {
        <div role="alert" class="alert">
            {move || {
                bench
                    .notice
                    .get()
                    .map(|notice| {
                        view! {
                            <div class="notice" data-testid="notice">
                                <p>
                                    <strong>{notice.text}</strong>
                                    <span>{notice.hint}</span>
                                </p>
                                <button
                                    class="link"
                                    data-testid="dismiss"
                                    on:click=move |_| bench.notice.set(None)
                                >
                                    "Dismiss"
                                </button>
                            </div>
                        }
                    })
            }}
        </div>
    }
    .into_any()
}

/// Errors and warnings of the document, each with the way to its field.
#[component]
pub fn Problems() -> impl IntoView {
    let bench = workbench();
    let problems = Memo::new(move |_| bench.checked.with(|checked| checked.problems.clone()));
    view! {
        {move || {
            let problems = problems.get();
            (!problems.is_empty())
                .then(|| {
                    let rows = problems
                        .iter()
                        .map(|problem| {
                            let field = id_of(&problem.path);
                            let severity = format!("{:?}", problem.severity).to_lowercase();
                            view! {
                                <li class=severity.clone() data-path=problem.path.clone()>
                                    <span class="vh">{format!("{severity}: ")}</span>
                                    <strong>{problem.message.clone()}</strong>
                                    " – "
                                    {problem.hint.clone()}
                                    " "
                                    <button class="link" on:click=move |_| browser::go_to(&field)>
                                        "Go there"
                                    </button>
                                </li>
                            }
                        })
                        .collect_view();
                    view! { <ul class="problems" data-testid="problems" aria-label="Problems of the inputs">{rows}</ul> }
                })
        }}
    }
    .into_any()
}

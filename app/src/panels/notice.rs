//! What concerns the whole page: a bad link, a worker that died; and what is wrong with the inputs.

use goodput_engine::problem::Problem;
use leptos::prelude::*;

use crate::browser;
use crate::controls::id_of;
use crate::state::field::Field;
use crate::state::workbench;
use crate::view_model::words;

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
                                    <strong>{words::clause(&notice.text)}</strong>
                                    <span>{words::clause(&notice.hint)}</span>
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

/// What is wrong with the inputs, each with the way to its field: numbers that do not read, then
/// errors and warnings of the document.
#[component]
pub fn Problems() -> impl IntoView {
    let bench = workbench();
    let wrong = Memo::new(move |_| {
        let unread = bench.unread.with(|unread| unread.iter().map(unread_row).collect::<Vec<_>>());
        let problems = bench.checked.with(|checked| checked.problems.clone());
        unread.into_iter().chain(problems.iter().map(problem_row)).collect::<Vec<_>>()
    });
    view! {
        {move || {
            let rows = wrong.get();
            (!rows.is_empty())
                .then(|| {
                    let rows = rows.into_iter().map(|row| view! { <Wrong row/> }).collect_view();
                    view! { <ul class="problems" data-testid="problems" aria-label="Problems of the inputs">{rows}</ul> }
                })
        }}
    }
    .into_any()
}

/// A row of the list.
#[derive(Clone, PartialEq)]
struct WrongRow {
    path: String,
    severity: String,
    what: String,
    hint: String,
}

fn unread_row((field, why): (&Field, &String)) -> WrongRow {
    WrongRow {
        path: field.path(),
        severity: "error".to_owned(),
        what: format!("{}: {why}", field.kind().label),
        hint: "results are for the value before".to_owned(),
    }
}

fn problem_row(problem: &Problem) -> WrongRow {
    WrongRow {
        path: problem.path.clone(),
        severity: format!("{:?}", problem.severity).to_lowercase(),
        what: problem.message.clone(),
        hint: problem.hint.clone(),
    }
}

#[component]
fn Wrong(row: WrongRow) -> impl IntoView {
    let field = id_of(&row.path);
    view! {
        <li class=row.severity.clone() data-path=row.path>
            <span class="vh">{format!("{}: ", row.severity)}</span>
            <strong>{row.what}</strong>
            " – "
            {row.hint}
            " "
            <button class="link" on:click=move |_| browser::go_to(&field)>
                "Go there"
            </button>
        </li>
    }
    .into_any()
}

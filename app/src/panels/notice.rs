//! What concerns the whole page: a bad link, a worker that died; and what is wrong with the inputs.

use leptos::prelude::*;

use crate::browser::{self, NextFrame};
use crate::controls::id_of;
use crate::state::workbench;
use crate::view_model::problems::{self, WrongRow};
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
        let checked = bench.checked.get();
        bench.unread.with(|unread| problems::rows(unread, &checked.problems, &checked.doc))
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

#[component]
fn Wrong(row: WrongRow) -> impl IntoView {
    let field = id_of(&row.path);
    let (class, pool) = problems::owner(&row.path);
    let bench = workbench();
    // The editor of another class or pool is made in the frame after it is chosen.
    let next = StoredValue::new_local(NextFrame::default());
    let go = move |_| {
        let chosen = [(bench.class, class), (bench.pool, pool)];
        for (shown, wanted) in chosen {
            if let Some(wanted) = wanted.filter(|wanted| shown.get_untracked() != *wanted) {
                shown.set(wanted);
            }
        }
        let field = field.clone();
        next.update_value(|next| next.call(move || browser::go_to(&field)));
    };
    view! {
        <li class=row.severity.clone() data-path=row.path>
            <span class="vh">{format!("{}: ", row.severity)}</span>
            <strong>{row.what}</strong>
            " – "
            {row.hint}
            " "
            <button class="link" on:click=go>
                "Go there"
            </button>
        </li>
    }
    .into_any()
}

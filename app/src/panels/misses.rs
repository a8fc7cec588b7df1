//! Beside the waterfall: why requests were late or slow, and who missed which limit.

use leptos::prelude::*;

use super::outcomes::break_out::bar_piece;
use crate::format;
use crate::state::workbench;
use crate::view_model::misses::{self, CauseGroup, CauseRow, MissRow, Misses as Missed};
use crate::view_model::words;

/// Causes and marginal counts of the run on screen; nothing where nobody missed a limit.
#[component]
pub fn Misses() -> impl IntoView {
    let bench = workbench();
    let of_run = Memo::new(move |_| {
        bench.screen.with(|screen| {
            let report = &screen.simulated()?.report;
            let causes = misses::causes(&report.accounting.causes);
            misses::misses(report).map(|missed| (causes, missed))
        })
    });
    view! {
        <div class="missed" class:stale=move || !bench.current.get() data-testid="misses">
            {move || {
                of_run
                    .get()
                    .map(|(causes, missed)| {
                        let causes = causes.into_iter().map(cause_group).collect_view();
                        view! { {causes} {marginals(missed)} }
                    })
            }}
        </div>
    }
    .into_any()
}

fn cause_group(group: CauseGroup) -> AnyView {
    let look = group.look;
    let row = move |CauseRow { cause, requests, tenths }: CauseRow| {
        let share = tenths as f64 / 10.0;
        view! {
            <tr>
                <th scope="row">{words::clause(cause)}</th>
                <td class="barc">
                    <svg class="bar" aria-hidden="true">{bar_piece((Some(look), 0.0, share))}</svg>
                </td>
                <td data-value=requests>{format::count(requests)}</td>
                <td class="q">{format::with_unit(&format::aligned(share, 1), "%")}</td>
            </tr>
        }
        .into_any()
    };
    view! {
        <h4>{group.title}</h4>
        <p class="cap">{group.caption}</p>
        <table class="saved why" data-testid=format!("causes-{}", group.id)>
            <caption class="vh">{group.title}", by what took most of the time"</caption>
            <thead class="vh">
                <tr>
                    <th scope="col">"Most of the time"</th>
                    <td></td>
                    <th scope="col">"Requests"</th>
                    <th scope="col">"Share"</th>
                </tr>
            </thead>
            <tbody>{group.rows.into_iter().map(row).collect_view()}</tbody>
        </table>
    }
    .into_any()
}

fn marginals(missed: Missed) -> AnyView {
    let row = |MissRow { limit, missed, share, alone, with_others }: MissRow| {
        view! {
            <tr>
                <th scope="row">{limit}</th>
                <td data-value=missed>{format::count(missed)}</td>
                <td class="q">{format::percent(share)}</td>
                <td data-value=alone>{format::count(alone)}</td>
                <td data-value=with_others>{format::count(with_others)}</td>
            </tr>
        }
        .into_any()
    };
    let together = (!missed.together.is_empty()).then(|| {
        view! { <p class="note">"Missed together: " {missed.together.join("; ")}</p> }
    });
    view! {
        <h4><super::Defined id="marginal" word="Missed, limit by limit"/></h4>
        <p class="cap">{missed.caption}</p>
        <table class="saved" data-testid="marginals">
            <caption class="vh">"Requests that missed each limit"</caption>
            <thead>
                <tr>
                    <th scope="col">"Limit on"</th>
                    <th scope="col">"Missed"</th>
                    <th scope="col">"Of offered"</th>
                    <th scope="col">"Only this"</th>
                    <th scope="col">"With others"</th>
                </tr>
            </thead>
            <tbody>{missed.rows.into_iter().map(row).collect_view()}</tbody>
        </table>
        {together}
    }
    .into_any()
}

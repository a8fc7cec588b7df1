//! What alone would have saved how many.

use leptos::prelude::*;

use crate::format;
use crate::panels::figure::Previous;
use crate::state::workbench;
use crate::view_model::counterfactual::{self, SavedRow};

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
            <p class="note">
                "Counted on the requests of this run: a limit changes no event. What binds, above, changes the fleet instead"
            </p>
        </section>
    }
    .into_any()
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

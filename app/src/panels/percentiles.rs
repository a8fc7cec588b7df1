//! Percentiles of every latency in one table, and the percentile targets.

use leptos::prelude::*;

use super::figure::Previous;
use crate::state::workbench;
use crate::view_model::percentiles::{self, HEADS, PercentileRow, TargetRow};

/// The panel.
#[component]
pub fn LatencyPercentiles(simulated: Memo<bool>) -> impl IntoView {
    let bench = workbench();
    let stale = Signal::derive(move || !bench.current.get());
    let shown = Memo::new(move |_| {
        bench.screen.with(|screen| {
            let report = &screen.simulated()?.report;
            Some((percentiles::rows(report), percentiles::targets(report)))
        })
    });
    view! {
        <section
            class="panel outcomes"
            class:stale=stale
            data-testid="percentiles"
            aria-labelledby="percentiles-head"
            hidden=move || !simulated.get()
        >
            <h3 id="percentiles-head">"Percentiles of every latency" <Previous stale/></h3>
            <p class="cap">
                "Over offered requests what never came ranks last; over completed ones, as tools print it, whoever turns requests away looks better"
            </p>
            {move || {
                shown.get().map(|(rows, of_targets)| view! { {table(rows)} {targets(of_targets)} })
            }}
        </section>
    }
    .into_any()
}

fn table(rows: Vec<PercentileRow>) -> AnyView {
    let heads = HEADS.map(|head| view! { <th scope="col">{head}</th> });
    let row = |PercentileRow { term, name, again, over, exact, shown }: PercentileRow| {
        let cells = exact.into_iter().zip(shown).zip(HEADS).map(|((exact, shown), head)| {
            view! { <td data-value=exact data-l=head>{shown}</td> }
        });
        let head = if again {
            view! { <span class="vh">{name}</span> }.into_any()
        } else {
            view! { <super::Defined id=term word=name/> }.into_any()
        };
        view! {
            <tr class:again=again>
                <th scope="row">{head}</th>
                <td class="text">{over}</td>
                {cells.collect_view()}
            </tr>
        }
        .into_any()
    };
    view! {
        <table class="saved percentiles" data-testid="data-percentiles">
            <caption class="vh">"Percentiles of every latency"</caption>
            <thead>
                <tr>
                    <th scope="col">"Latency"</th>
                    <th scope="col" class="text">"Over"</th>
                    {heads.into_iter().collect_view()}
                </tr>
            </thead>
            <tbody>{rows.into_iter().map(row).collect_view()}</tbody>
        </table>
    }
    .into_any()
}

fn targets(targets: Vec<TargetRow>) -> AnyView {
    if targets.is_empty() {
        return ().into_any();
    }
    let row = |TargetRow { target, offered, completed, met, verdict }: TargetRow| {
        view! {
            <tr>
                <th scope="row">{target}</th>
                <td class:dn=!met>{offered}</td>
                <td>{completed}</td>
                <td class:dn=!met>{verdict}</td>
            </tr>
        }
        .into_any()
    };
    view! {
        <table class="saved" data-testid="percentile-targets">
            <caption class="vh">"Percentile targets"</caption>
            <thead>
                <tr>
                    <th scope="col">"Target"</th>
                    <th scope="col">"Over offered"</th>
                    <th scope="col">"Over completed"</th>
                    <th scope="col">"Result"</th>
                </tr>
            </thead>
            <tbody>{targets.into_iter().map(row).collect_view()}</tbody>
        </table>
    }
    .into_any()
}

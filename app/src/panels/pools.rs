//! Each pool of several, and how replicas came and went.

use leptos::prelude::*;

use super::figure::Previous;
use crate::controls::Shape;
use crate::state::{Shown, workbench};
use crate::view_model::pools::{self, HEADS, PoolLine};
use crate::view_model::words;

/// The panel; nothing where one pool is there all the time.
#[component]
pub fn Pools() -> impl IntoView {
    let bench = workbench();
    let lines = Memo::new(move |_| {
        let of_run = |shown: &Shown| pools::lines(&shown.report, shown.plan.as_deref());
        bench.screen.with(|screen| screen.simulated().map(of_run).unwrap_or_default())
    });
    let said = Memo::new(move |_| {
        let of_run = |shown: &Shown| pools::sentences(&shown.report);
        bench.screen.with(|screen| screen.simulated().map(of_run).unwrap_or_default())
    });
    let stale = Signal::derive(move || !bench.current.get());
    let heading = move || if lines.with(Vec::is_empty) { "Replicas" } else { "Pools" };
    view! {
        <section
            class="panel pools"
            data-testid="pools"
            aria-labelledby="pools-head"
            class:stale=stale
            hidden=move || lines.with(Vec::is_empty) && said.with(Vec::is_empty)
        >
            <h3 id="pools-head">{heading} <Previous stale/></h3>
            {move || {
                let lines = lines.get();
                (!lines.is_empty()).then(|| table(lines))
            }}
            {move || said.get().into_iter().map(|said| view! { <p class="cap">{said}</p> }).collect_view()}
        </section>
    }
    .into_any()
}

fn table(lines: Vec<PoolLine>) -> AnyView {
    let heads = HEADS.map(|head| view! { <th scope="col">{head}</th> });
    let rows = lines.into_iter().map(|line| {
        let (state, id) = (line.state, format!("pool-line-{}", line.name));
        let cells = line.cells.into_iter().zip(HEADS).enumerate().map(|(i, (cell, head))| {
            let shape = (i == 0).then(|| view! { <Shape state/> });
            let class = if i == 0 { format!("vstate {state}") } else { String::new() };
            view! { <td class=class data-l=head>{shape} {words::clause(&cell)}</td> }
        });
        view! {
            <tr class:on=line.decides data-testid=id>
                <th scope="row">
                    {line.name}
                    <span class="why">{line.what}</span>
                </th>
                {cells.collect_view()}
            </tr>
        }
    });
    view! {
        <table class="pooled">
            <caption class="vh">"Each pool: what is routed to it, and what became of it"</caption>
            <thead>
                <tr>
                    <th scope="col">"Pool"</th>
                    {heads.into_iter().collect_view()}
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
    }
    .into_any()
}

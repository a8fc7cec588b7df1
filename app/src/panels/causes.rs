//! Causes: cost books, what binds, fleet size.

use leptos::prelude::*;

use super::figure::Previous;
use crate::controls::{Swatch, fill_of};
use crate::state::{Workbench, workbench};
use crate::view_model::books::{self, BindRow, BookRow, Books, FleetSizeRow, MarginalRow};

/// The three panels.
#[component]
pub fn Causes() -> impl IntoView {
    let bench = workbench();
    let stale = move || !bench.current.get();
    let there = Memo::new(move |_| bench.screen.with(|s| s.simulated().is_some()));
    view! {
        <section
            class="grid3"
            id="causes"
            tabindex="-1"
            aria-label="Causes"
            class:stale=stale
            hidden=move || !there.get()
        >
            <CostBooks/>
            <WhatBinds/>
            <FleetSize/>
        </section>
    }
    .into_any()
}

#[component]
fn CostBooks() -> impl IntoView {
    let bench = workbench();
    let view = Memo::new(move |_| {
        bench.screen.with(|screen| screen.simulated()?.report.cost.as_ref().map(books::books))
    });
    let stale = Signal::derive(move || !bench.current.get());
    let outdated = is_outdated(bench);
    let marginal = Memo::new(move |_| {
        bench.screen.with(|screen| {
            screen.simulated()?.report.cost.as_ref()?;
            let rows = screen.plan().map(|(plan, _)| books::marginal(plan))?;
            (!rows.is_empty()).then_some(rows)
        })
    });
    view! {
        <section class="panel" data-testid="books" aria-labelledby="books-head">
            <h3 id="books-head"><super::Defined id="books" word="Cost books"/> <Previous stale/></h3>
            {move || match view.get() {
                Some(books) => view! { <BookTable books/> }.into_any(),
                None => {
                    view! { <p class="cap">"No price is set: give one per GPU-hour to see where the money goes"</p> }
                        .into_any()
                }
            }}
            <div class:stale=outdated>
                {move || marginal.get().map(|rows| view! { <Marginal rows/> })}
            </div>
        </section>
    }
    .into_any()
}

#[component]
fn BookTable(books: Books) -> impl IntoView {
    let bar = books.rows.iter().map(bar_piece).collect_view();
    let rows = books.rows.into_iter().map(|row| {
        view! {
            <tr>
                <th scope="row">
                    <Swatch look=row.look idle=row.idle/>
                    {row.name}
                </th>
                <td>{row.usd}</td>
                <td class="q">{row.share}</td>
            </tr>
        }
    });
    view! {
        <p class="cap">{books.caption}</p>
        <svg class="bar" aria-hidden="true">
            {bar}
        </svg>
        <table class="books">
            <caption class="vh">"Cost by what it bought"</caption>
            <tbody>{rows.collect_view()}</tbody>
            <tfoot>
                <tr>
                    <th scope="row">{books.total_name}</th>
                    <td>{books.total}</td>
                    <td class="q">"100.0\u{202f}%"</td>
                </tr>
            </tfoot>
        </table>
    }
    .into_any()
}

fn bar_piece(row: &BookRow) -> impl IntoView + use<> {
    let (start, width) = row.bar;
    let (fill, pattern) = fill_of(row.look, row.idle);
    // A hairline between pieces, as long as the piece has room for it.
    let width = if width > 1.0 { width - 0.35 } else { width.max(0.3) };
    // Percentages keep the patterns undistorted.
    let (x, width) = (format!("{start}%"), format!("{width}%"));
    view! {
        <rect x=x.clone() y="0" width=width.clone() height="18" class=fill></rect>
        {pattern
            .map(|fill| view! { <rect x=x y="0" width=width height="18" fill=fill></rect> })}
    }
}

#[component]
fn WhatBinds() -> impl IntoView {
    let bench = workbench();
    let view = Memo::new(move |_| {
        bench.screen.with(|screen| screen.plan().map(|(plan, _)| books::binds(plan)))
    });
    let outdated = is_outdated(bench);
    view! {
        <section class="panel" class:stale=outdated data-testid="binds" aria-labelledby="binds-head">
            <h3 id="binds-head"><super::Defined id="binding" word="What binds"/> <Previous stale=outdated/></h3>
            {move || match view.get() {
                Some((caption, rows)) => view! { <BindTable caption rows/> }.into_any(),
                None => view! { <Waiting bench/> }.into_any(),
            }}
        </section>
    }
    .into_any()
}

#[component]
fn BindTable(caption: String, rows: Vec<BindRow>) -> impl IntoView {
    let rows = rows.into_iter().map(|row| {
        let pill = row.binds.then(|| view! { <b class="pill">"binds"</b> });
        view! {
            <tr class:on=row.binds>
                <th scope="row">{row.name} " " {pill}</th>
                <td class="barc">
                    <Bar percent=row.bar/>
                </td>
                <td>{row.gain}</td>
            </tr>
        }
    });
    view! {
        <p class="cap">{caption}</p>
        <table class="binds">
            <thead>
                <tr>
                    <th scope="col">"Relaxed alone"</th>
                    <th scope="col" colspan="2" title="α: the largest multiple of this mix at which the contract holds">
                        "Gain in α"
                    </th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
    }
    .into_any()
}

/// A bar of a percentage of its cell.
#[component]
fn Bar(percent: f64) -> impl IntoView {
    view! {
        <svg class="hb" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
            <rect width=percent.max(1.0) height="10"></rect>
        </svg>
    }
    .into_any()
}

#[component]
fn FleetSize() -> impl IntoView {
    let bench = workbench();
    let view = Memo::new(move |_| {
        bench.screen.with(|screen| {
            let (plan, _) = screen.plan()?;
            let target = screen.simulated()?.report.attainment_target;
            let rows = books::fleet_sizes(plan);
            Some((plan.sentence.clone(), rows, target, plan.seeds.len()))
        })
    });
    let outdated = is_outdated(bench);
    view! {
        <section class="panel" class:stale=outdated data-testid="fleet-size" aria-labelledby="size-head">
            <h3 id="size-head"><super::Defined id="replicas" word="Fleet size"/> <Previous stale=outdated/></h3>
            {move || match view.get() {
                Some((caption, rows, target, seeds)) => {
                    view! {
                        <FleetTable caption rows target seeds/>
                    }
                        .into_any()
                }
                None => view! { <Waiting bench/> }.into_any(),
            }}
        </section>
    }
    .into_any()
}

#[component]
fn FleetTable(
    caption: String,
    rows: Vec<FleetSizeRow>,
    target: f64,
    seeds: usize,
) -> impl IntoView {
    let target_at = target * 100.0;
    let rows = rows.into_iter().map(move |row| {
        view! {
            <tr class:on=row.is_answer class:now=row.is_present>
                <th scope="row">
                    <b>{row.replicas}</b>
                    " "
                    {row.role}
                </th>
                <td class="attc">
                    <svg class="att" viewBox="0 0 100 18" preserveAspectRatio="none" aria-hidden="true">
                        <rect class="track" y="4" width="100" height="10"></rect>
                        <rect class="attb" y="4" width=row.bar height="10"></rect>
                        <rect class="attt" x=target_at - 0.6 width="1.4" height="18"></rect>
                    </svg>
                </td>
                <td>{row.good}</td>
                <td>{row.holds}</td>
                <td>{row.up_to}</td>
                <td>{row.month}</td>
            </tr>
        }
    });
    view! {
        <p class="cap">{caption}</p>
        <table class="nn">
            <thead>
                <tr>
                    <th scope="col">"Replicas"</th>
                    <th scope="col" colspan="2">
                        "Good, mean"
                    </th>
                    <th scope="col">"Holds"</th>
                    <th scope="col">"Up to"</th>
                    <th scope="col">"Month"</th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
        <p class="note">
            <svg class="tk" viewBox="0 0 2 10" aria-hidden="true">
                <rect width="2" height="10"></rect>
            </svg>
            {format!(
                "target {}; {}",
                crate::format::percent(target),
                match seeds {
                    1 => "one seed, as nothing is drawn".to_owned(),
                    n => format!(
                        "means over {n} seeds, so they differ a little from the numbers of one seed above",
                    ),
                },
            )}
        </p>
        <p class="note">
            "Up to: how far this mix may grow before the contract breaks, looked for in the seed that is shown and with the fleet as it is now; – for the others"
        </p>
    }
    .into_any()
}

/// What the last per cent of good requests costs.
#[component]
fn Marginal(rows: Vec<MarginalRow>) -> impl IntoView {
    let rows = rows.into_iter().map(|row| {
        view! {
            <tr class:on=row.reaches_answer>
                <th scope="row">{row.step}</th>
                <td>{row.adds}</td>
                <td>{row.month}</td>
                <td>{row.per_percent}</td>
                <td>{row.per_thousand}</td>
            </tr>
        }
    });
    view! {
        <table class="nn" data-testid="marginal">
            <caption><super::Defined id="marginal-cost" word="What one step larger costs"/></caption>
            <thead>
                <tr>
                    <th scope="col">"Replicas"</th>
                    <th scope="col">"Good"</th>
                    <th scope="col">"Month"</th>
                    <th scope="col">"Per 1 %"</th>
                    <th scope="col">"Per 1k good"</th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
    }
    .into_any()
}

/// Whether the plan on screen is for the inputs before: all of the screen is, or the plan alone,
/// which takes longer.
fn is_outdated(bench: Workbench) -> Signal<bool> {
    let earlier = Memo::new(move |_| {
        bench.screen.with(|screen| screen.plan().is_some_and(|(_, earlier)| earlier))
    });
    Signal::derive(move || earlier.get() || !bench.current.get())
}

/// What stands where a plan is not there yet.
#[component]
fn Waiting(bench: Workbench) -> impl IntoView {
    let text = move || {
        if bench.phase.get() == "running" {
            "Being worked out over many windows"
        } else {
            "Not worked out for these inputs"
        }
    };
    view! { <p class="cap">{text}</p> }.into_any()
}

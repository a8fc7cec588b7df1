//! Outcomes by one thing that a request is, as a table; by two crossed, as a heat map.

use goodput_engine::accounts::accounting::Dimension;
use leptos::prelude::*;

use super::heat_map::HeatMap;
use crate::browser;
use crate::charts::{Cell, Look};
use crate::controls::{Choice, Select, Swatch, fill_of};
use crate::format;
use crate::panels::figure::Previous;
use crate::state::workbench;
use crate::view_model::outcomes::{self, Lost, LostRow};
use crate::view_model::words;

/// The choice of no second dimension.
const NONE: &str = "";

/// The panel with both.
#[component]
pub fn BreakOuts() -> impl IntoView {
    let bench = workbench();
    let stale = Signal::derive(move || !bench.current.get());
    // Places in `Dimension::ALL`; beyond it for no second one.
    let by = RwSignal::new(place_of(Dimension::Prompt.name()));
    let and = RwSignal::new(usize::MAX);
    let pools = Memo::new(move |_| {
        let several = |shown: &crate::state::Shown| !shown.report.pools.is_empty();
        bench.screen.with(|screen| screen.simulated().is_some_and(several))
    });
    // What was broken out by pool is not any more when there is one.
    Effect::new(move |_| {
        let pool = place_of(Dimension::Pool.name());
        if !pools.get() {
            if by.get_untracked() == pool {
                by.set(place_of(Dimension::Prompt.name()));
            }
            if and.get_untracked() == pool {
                and.set(usize::MAX);
            }
        }
    });
    let lost = Callback::new(move |()| {
        let by = Dimension::ALL.get(by.get()).copied()?;
        bench.screen.with(|screen| {
            let report = &screen.simulated()?.report;
            let of_one = report.accounting.break_outs.iter().find(|out| out.by == [by])?;
            outcomes::lost(of_one, report.attainment_target)
        })
    });
    view! {
        <div class="panel outcomes" data-testid="break-out">
            <div class="phead">
                <h3>"Where requests were lost" <Previous stale/></h3>
                {csv("break-out", "", lost)}
            </div>
            <div class="row">
                {move || choose_by("break-out-by", by, pools.get())}
                {move || choose_and("break-out-and", and, pools.get())}
            </div>
            {lost_table("break-out", "", lost)}
            {move || {
                let and = Dimension::ALL.get(and.get()).copied();
                and.map(|and| view! { <HeatMap by and/> })
            }}
        </div>
    }
    .into_any()
}

/// What outcomes are broken out by, as a place in `Dimension::ALL`; by pool only where there are
/// several.
pub fn choose_by(id: &'static str, by: RwSignal<usize>, pools: bool) -> AnyView {
    view! {
        <Select
            id
            label="By"
            choices=choices(None, pools)
            value=Signal::derive(move || name(by.get()))
            on_choose=Callback::new(move |name: String| by.set(place_of(&name)))
            quiet=true
        />
    }
    .into_any()
}

/// What they are crossed with, if with anything; beyond `Dimension::ALL` with nothing.
pub fn choose_and(id: &'static str, and: RwSignal<usize>, pools: bool) -> AnyView {
    view! {
        <Select
            id
            label="crossed with"
            choices=choices(Some("nothing"), pools)
            value=Signal::derive(move || name(and.get()))
            on_choose=Callback::new(move |name: String| and.set(place_of(&name)))
            quiet=true
        />
    }
    .into_any()
}

/// The button for the numbers of a table of outcomes, `of` some run.
pub fn csv(id: &'static str, of: &'static str, lost: Callback<(), Option<Lost>>) -> AnyView {
    let download = move |_| {
        if let Some(lost) = untrack(|| lost.run(())) {
            browser::download(&format!("goodput-{id}.csv"), "text/csv", &lost.table.csv());
        }
    };
    view! {
        <button class="link" data-testid=format!("csv-{id}") on:click=download>
            "CSV"
            <span class="vh">" of where requests were lost" {of}</span>
        </button>
    }
    .into_any()
}

/// Outcomes broken out, `of` some run, with their finding.
pub fn lost_table(id: &'static str, of: &'static str, lost: Callback<(), Option<Lost>>) -> AnyView {
    view! { {move || lost.run(()).map(|lost| view! { <LostTable id of lost/> })} }.into_any()
}

fn name(place: usize) -> String {
    Dimension::ALL.get(place).map_or(NONE, |by| by.name()).to_owned()
}

fn choices(nothing: Option<&str>, pools: bool) -> Vec<Choice> {
    let all = Dimension::ALL.into_iter().filter(|by| pools || *by != Dimension::Pool);
    let all = all.map(|by| Choice::new(by.name(), outcomes::dimension(by)));
    nothing.map(|nothing| Choice::new(NONE, nothing)).into_iter().chain(all).collect()
}

/// Where a dimension stands among all; beyond them of no name.
pub fn place_of(name: &str) -> usize {
    Dimension::ALL.iter().position(|by| by.name() == name).unwrap_or(usize::MAX)
}

/// Rows beyond which a table scrolls.
const MANY_ROWS: usize = 24;

#[component]
fn LostTable(id: &'static str, of: &'static str, lost: Lost) -> impl IntoView {
    let Lost { caption, table, looks, rows } = lost;
    let known = table.columns.len() - looks.len();
    let heads = table.columns.iter().enumerate().map(|(i, column)| {
        let look = i.checked_sub(known).and_then(|i| looks.get(i)).copied();
        let swatch = look.map(|look| view! { <Swatch look=Some(look)/> });
        let head = words::clause(&column.head());
        let bar = (i == 0).then(|| view! { <th scope="col" class="barc">"Outcomes"</th> });
        view! { <th scope="col">{swatch} " " {head}</th>{bar} }
    });
    let body = table.rows.iter().zip(&rows).map(|(cells, row)| {
        let cells = cells.iter().enumerate().map(|(i, cell)| lost_cell(i, cell, row));
        view! { <tr>{cells.collect_view()}</tr> }
    });
    // Few rows are all there to see; of more, how many there are is said before they are scrolled.
    let long = (rows.len() > MANY_ROWS).then(|| {
        view! { <p class="note">{format!("{} rows: scroll for the rest", rows.len())}</p> }
    });
    view! {
        <p class="cap">{caption}</p>
        {long}
        <div class="scroll" class:whole=rows.len() <= MANY_ROWS tabindex="0" role="region" aria-label=format!("Table of where requests were lost{of}")>
            <table class="data lost" data-testid=format!("data-{id}")>
                <caption class="vh">"Where requests were lost"</caption>
                <thead>
                    <tr>{heads.collect_view()}</tr>
                </thead>
                <tbody>{body.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The first cell of a row is its head and has the bar beside it; zeros are faint.
fn lost_cell(i: usize, cell: &Cell, row: &LostRow) -> AnyView {
    if i == 0 {
        return view! {
            <th scope="row">{cell.shown()}</th>
            <td class="barc">
                <svg class="bar" aria-hidden="true">
                    {row.pieces.iter().map(|(look, start, width)| bar_piece((Some(*look), *start, *width))).collect_view()}
                </svg>
            </td>
        }
        .into_any();
    }
    let shown = match cell {
        Cell::Number(share) => format::aligned(*share, 1),
        other => other.shown(),
    };
    let short = matches!(cell, Cell::Number(_)) && !row.holds;
    let nobody = matches!(cell, Cell::Count(0));
    view! {
        <td class:dn=short class:muted=nobody data-value=cell.exact()>
            {shown}
        </td>
    }
    .into_any()
}

/// A piece of a bar: its look, and where it begins and how wide it is, per cent.
pub fn bar_piece((look, start, width): (Option<Look>, f64, f64)) -> AnyView {
    let (fill, pattern) = fill_of(look, false);
    let (x, width) = (format!("{start}%"), format!("{}%", width.max(0.3)));
    view! {
        <rect x=x.clone() y="0" width=width.clone() height="100%" class=fill></rect>
        {pattern
            .map(|fill| view! { <rect x=x y="0" width=width height="100%" fill=fill></rect> })}
    }
    .into_any()
}

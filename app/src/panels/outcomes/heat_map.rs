//! Outcomes by two things crossed: asked of the worker that has the requests.

use std::sync::Arc;

use goodput_engine::accounts::accounting::{BreakOut, Dimension};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use crate::charts::{Chart, HeatMapChart};
use crate::controls::{Choice, Select};
use crate::panels::figure::{Figure, Picture};
use crate::state::{Slot, workbench};
use crate::view_model::outcomes;
use crate::worker::protocol::{Finding, Question, Viewed};

/// The heat map of two dimensions.
#[component]
pub fn HeatMap(#[prop(into)] by: Signal<usize>, and: Dimension) -> impl IntoView {
    let bench = workbench();
    let crossed = bench.views.crossed;
    let down = move || Dimension::ALL.get(by.get()).copied().filter(|down| *down != and);
    bench.ask(crossed, move || Some(Question::Cross(vec![down()?, and])));
    let found = Callback::new(move |()| {
        let target = bench.screen.with(|s| s.simulated().map(|s| s.report.attainment_target))?;
        crossed.with(|slot| Some((out_of(slot)?.clone(), target)))
    });
    let is_asked = move || {
        crossed.with(|slot| {
            let both = down().map(|down| [down, and]);
            !slot.is_running() && out_of(slot).is_some_and(|o| both.is_some_and(|b| o.by == b))
        })
    };
    let stale = Signal::derive(move || !bench.current.get() || !is_asked());
    view! {
        <p class="cap" hidden=move || down().is_some()>"Choose two different things to cross"</p>
        <div hidden=move || down().is_none()>
            <CrossedMap id="heat-map" found stale/>
        </div>
    }
    .into_any()
}

/// The map of outcomes that `found` gives with the share that has to be good; nothing where they are
/// not crossed.
#[component]
pub fn CrossedMap(
    id: &'static str,
    found: Callback<(), Option<(BreakOut, f64)>>,
    #[prop(into)] stale: Signal<bool>,
) -> impl IntoView {
    let counts = RwSignal::new(false);
    // The cell read out; beyond the last until one is chosen.
    let at = RwSignal::new(usize::MAX);
    let picture = Memo::new(move |_| {
        let (out, target) = found.run(())?;
        let (chart, caption) = outcomes::heat_map(&out, target, counts.get())?;
        let cell = Some(at.get()).filter(|at| *at < chart.cells.len());
        let chart = Arc::new(Chart::HeatMap(HeatMapChart { at: cell, ..chart }));
        Some(Picture { chart, caption, readings: Vec::new() })
    });
    let pointed = Callback::new(move |(x, y, width): (f64, f64, f64)| {
        let cell = picture.with_untracked(|p| chart_of(p.as_ref())?.cell_at((x, y), width));
        if let Some(cell) = cell.filter(|cell| *cell != at.get_untracked()) {
            at.set(cell);
        }
    });
    view! {
        <div
            class="heat"
            data-testid=id
            data-state=move || if stale.get() { "running" } else { "done" }
            hidden=move || picture.with(Option::is_none)
        >
            <Figure id title="Two things crossed" picture stale pointed/>
            <CellReadout id picture at/>
            <Shows id counts/>
        </div>
    }
    .into_any()
}

/// Whether cells show shares or counts.
#[component]
fn Shows(id: &'static str, counts: RwSignal<bool>) -> impl IntoView {
    let value = Signal::derive(move || if counts.get() { "lost" } else { "good" }.to_owned());
    let choices =
        vec![Choice::new("good", "share that is good"), Choice::new("lost", "requests lost")];
    let on_choose = Callback::new(move |name: String| counts.set(name == "lost"));
    let id = format!("{id}-shows");
    view! { <Select id label="Cells show" choices value on_choose quiet=true/> }.into_any()
}

/// What one cell says; arrow keys move over the cells.
#[component]
fn CellReadout(
    id: &'static str,
    picture: Memo<Option<Picture>>,
    at: RwSignal<usize>,
) -> impl IntoView {
    let chosen = move || picture.with(|p| chosen_cell(chart_of(p.as_ref())?));
    let text = move || picture.with(|p| outcomes::heat_readout(chart_of(p.as_ref())?, chosen()?));
    let last =
        move || picture.with(|p| chart_of(p.as_ref()).map(|chart| chart.cells.len().max(1) - 1));
    let press = move |ev: KeyboardEvent| {
        let step = match ev.key().as_str() {
            "ArrowUp" => (-1, 0),
            "ArrowDown" => (1, 0),
            "ArrowLeft" => (0, -1),
            "ArrowRight" => (0, 1),
            _ => return,
        };
        ev.prevent_default();
        let to = picture.with_untracked(|p| {
            let chart = chart_of(p.as_ref())?;
            Some(outcomes::heat_step(chart, chosen_cell(chart)?, step))
        });
        if let Some(to) = to {
            at.set(to);
        }
    };
    view! {
        <p
            class="read"
            tabindex="0"
            role="slider"
            aria-label="Cell of the heat map"
            aria-valuemin="0"
            aria-valuemax=last
            aria-valuenow=chosen
            aria-valuetext=move || text().map(|(cell, values)| format!("{cell}: {values}"))
            data-testid=format!("{id}-readout")
            title="Arrow keys move over the cells"
            on:keydown=press
        >
            {move || text().map(|(cell, values)| view! { <b>{cell}</b><span>{values}</span> })}
        </p>
    }
    .into_any()
}

fn out_of(slot: &Slot<Viewed>) -> Option<&BreakOut> {
    match &slot.last.as_ref()?.value.finding {
        Finding::Crossed(out) => Some(out),
        _ => None,
    }
}

fn chart_of(picture: Option<&Picture>) -> Option<&HeatMapChart> {
    match &*picture?.chart {
        Chart::HeatMap(chart) => Some(chart),
        _ => None,
    }
}

/// The cell read out: the chosen one, or where most is lost.
fn chosen_cell(chart: &HeatMapChart) -> Option<usize> {
    let there = |at: &usize| chart.cells.get(*at).is_some_and(Option::is_some);
    let cells = chart.cells.iter().enumerate();
    let worst = cells.filter_map(|(i, cell)| Some((cell.as_ref()?.lost(), i))).max();
    chart.at.filter(there).or(worst.map(|(_, i)| i))
}

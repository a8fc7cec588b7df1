//! Outcomes by two things crossed: asked of the worker that has the run.

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

/// A chart and its caption.
type Map = Memo<Option<(HeatMapChart, String)>>;

/// The heat map of two dimensions.
#[component]
pub fn HeatMap(by: RwSignal<Dimension>, and: Dimension) -> impl IntoView {
    let bench = workbench();
    let crossed = bench.views.crossed;
    let twice = move || by.get() == and;
    bench.ask(crossed, move || (!twice()).then(|| Question::Cross(vec![by.get(), and])));
    let counts = RwSignal::new(false);
    let at = RwSignal::new(None::<usize>);
    let found = Memo::new(move |_| crossed.with(|slot| out_of(slot).cloned()));
    let target = Memo::new(move |_| {
        bench.screen.with(|s| s.simulated().map_or(1.0, |s| s.report.attainment_target))
    });
    let map: Map = Memo::new(move |_| {
        found.with(|out| outcomes::heat_map(out.as_ref()?, target.get(), counts.get()))
    });
    let picture = Memo::new(move |_| {
        let (chart, caption) = map.get()?;
        let chart = Arc::new(Chart::HeatMap(HeatMapChart { at: at.get(), ..chart }));
        Some(Picture { chart, caption, readings: Vec::new() })
    });
    let is_asked = move || found.with(|o| o.as_ref().is_some_and(|o| o.by == [by.get(), and]));
    let running = move || crossed.with(Slot::is_running);
    let stale = Signal::derive(move || !bench.current.get() || running() || !is_asked());
    let pointed = Callback::new(move |(x, y, width): (f64, f64, f64)| {
        let cell = map.with_untracked(|map| map.as_ref()?.0.cell_at((x, y), width));
        if cell.is_some() && cell != at.get_untracked() {
            at.set(cell);
        }
    });
    view! {
        <p class="cap" hidden=move || !twice()>"Choose two different things to cross"</p>
        <div
            class="heat"
            data-testid="heat-map"
            data-state=move || if stale.get() { "running" } else { "done" }
            hidden=move || twice() || picture.with(Option::is_none)
        >
            <Figure id="heat-map" title="Two things crossed" picture stale pointed/>
            <CellReadout map at/>
            <Shows counts/>
        </div>
    }
    .into_any()
}

/// Whether cells show shares or counts.
#[component]
fn Shows(counts: RwSignal<bool>) -> impl IntoView {
    let value = Signal::derive(move || if counts.get() { "lost" } else { "good" }.to_owned());
    let choices =
        vec![Choice::new("good", "share that is good"), Choice::new("lost", "requests lost")];
    let on_choose = Callback::new(move |name: String| counts.set(name == "lost"));
    view! { <Select id="heat-shows" label="Cells show" choices value on_choose quiet=true/> }
        .into_any()
}

/// What one cell says; arrow keys move over the cells.
#[component]
fn CellReadout(map: Map, at: RwSignal<Option<usize>>) -> impl IntoView {
    let chosen = Memo::new(move |_| map.with(|map| chosen_cell(&map.as_ref()?.0, at.get())));
    let press = move |ev: KeyboardEvent| {
        let step = match ev.key().as_str() {
            "ArrowUp" => (-1, 0),
            "ArrowDown" => (1, 0),
            "ArrowLeft" => (0, -1),
            "ArrowRight" => (0, 1),
            _ => return,
        };
        ev.prevent_default();
        let from = chosen.get_untracked();
        map.with_untracked(|map| {
            if let (Some((chart, _)), Some(from)) = (map.as_ref(), from) {
                at.set(Some(outcomes::heat_step(chart, from, step)));
            }
        });
    };
    let text =
        Memo::new(move |_| map.with(|map| outcomes::heat_readout(&map.as_ref()?.0, chosen.get()?)));
    let last = move || map.with(|map| map.as_ref().map_or(0, |(c, _)| c.cells.len().max(1) - 1));
    view! {
        <p
            class="read"
            tabindex="0"
            role="slider"
            aria-label="Cell of the heat map"
            aria-valuemin="0"
            aria-valuemax=last
            aria-valuenow=move || chosen.get()
            aria-valuetext=move || text.get().map(|(cell, values)| format!("{cell}: {values}"))
            data-testid="heat-readout"
            title="Arrow keys move over the cells"
            on:keydown=press
        >
            {move || text.get().map(|(cell, values)| view! { <b>{cell}</b><span>{values}</span> })}
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

/// The cell read out: the chosen one, or where most is lost.
fn chosen_cell(chart: &HeatMapChart, at: Option<usize>) -> Option<usize> {
    let there = |at: &usize| chart.cells.get(*at).is_some_and(Option::is_some);
    let cells = chart.cells.iter().enumerate();
    let worst = cells.filter_map(|(i, cell)| Some((cell.as_ref()?.lost(), i))).max();
    at.filter(there).or(worst.map(|(_, i)| i))
}

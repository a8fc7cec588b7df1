//! Capacity over lengths and batches: asked of the worker while its panel is open.

use std::sync::Arc;

use goodput_engine::estimate::Capacity as CapacityTable;
use leptos::prelude::*;

use crate::charts::Chart;
use crate::controls::{Choice, Select};
use crate::panels::figure::{Figure, Picture};
use crate::panels::folded::folded;
use crate::state::{Slot, Workbench, workbench};
use crate::view_model::arithmetic;
use crate::view_model::capacity::{self, AXES, UNITS};
use crate::worker::protocol::{Finding, Question, Viewed};

/// The panel; nothing is asked before it is opened.
#[component]
pub fn Capacity() -> impl IntoView {
    let said = "Tokens per second against output length, prompt length or batch size";
    folded("capacity", "Capacity is not a constant", said, over_one_thing)
}

fn over_one_thing() -> AnyView {
    let bench = workbench();
    let asked = bench.views.capacity;
    // Places in `AXES` and `UNITS`.
    let (axis_at, unit_at) = (RwSignal::new(0), RwSignal::new(0));
    let axis = move || AXES[axis_at.get() % AXES.len()].2;
    bench.ask(asked, move || Some(Question::Capacity(axis())));
    let picture = Memo::new(move |_| {
        let (chart, caption) = asked.with(|slot| {
            let unit = UNITS[unit_at.get() % UNITS.len()].1;
            table_of(slot).map(|table| capacity::chart(table, unit))
        })?;
        Some(Picture { chart: Arc::new(Chart::Capacity(chart)), caption, readings: Vec::new() })
    });
    let left_out = move || asked.with(|slot| table_of(slot).map(|table| table.left_out.join("; ")));
    let stale = Signal::derive(move || {
        let is_it = asked.with(|slot| table_of(slot).is_some_and(|t| t.over == axis()));
        !bench.current.get() || !is_it || asked.with(Slot::is_running)
    });
    let why_not = move || asked.with(|slot| slot.ending.as_ref().map(super::in_words));
    view! {
        <div class="row">
            <Select
                id="capacity-over"
                label="Against"
                choices=AXES.map(|(name, over, _)| Choice::new(name, over)).into()
                value=Signal::derive(move || AXES[axis_at.get() % AXES.len()].0.to_owned())
                on_choose=Callback::new(move |name: String| {
                    axis_at.set(AXES.iter().position(|(known, ..)| *known == name).unwrap_or(0));
                })
                quiet=true
            />
            <Select
                id="capacity-unit"
                label="in"
                choices=UNITS.map(|(name, unit)| Choice::new(name, unit.phrase())).into()
                value=Signal::derive(move || UNITS[unit_at.get() % UNITS.len()].0.to_owned())
                on_choose=Callback::new(move |name: String| {
                    unit_at.set(UNITS.iter().position(|(known, _)| *known == name).unwrap_or(0));
                })
                quiet=true
            />
        </div>
        <div
            data-testid="capacity-chart"
            data-state=move || if stale.get() { "running" } else { "done" }
            hidden=move || picture.with(Option::is_none)
        >
            <Figure id="capacity" title="Capacity of this fleet" picture stale/>
        </div>
        <p class="note">{why_not}</p>
        <p class="note">
            "By arithmetic from mean lengths, at the mix of this scenario and all else as it is; in time: within every limit for the mean request"
            {move || left_out().filter(|left_out| !left_out.is_empty()).map(|left_out| format!(". {left_out}"))}
            {move || proviso(bench)}
        </p>
    }
    .into_any()
}

fn table_of(slot: &Slot<Viewed>) -> Option<&CapacityTable> {
    match &slot.last.as_ref()?.value.finding {
        Finding::Capacity(table) => Some(table),
        _ => None,
    }
}

/// Where the arithmetic of the scenario on screen may not be trusted, and what it leaves out.
fn proviso(bench: Workbench) -> Option<String> {
    bench.screen.with(|screen| {
        let estimate = screen.simulated()?.estimate.as_ref()?;
        estimate.supply.as_ref().map(arithmetic::proviso)
    })
}

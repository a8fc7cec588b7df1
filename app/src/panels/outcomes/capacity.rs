//! Capacity over lengths and batches: asked of the worker while its panel is open.

use std::sync::Arc;

use goodput_engine::estimate::{Capacity as CapacityTable, CapacityAxis};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::charts::{CapacityUnit, Chart};
use crate::controls::{Choice, Select};
use crate::panels::figure::{Figure, Picture};
use crate::state::{Slot, workbench};
use crate::view_model::capacity::{self, AXES, UNITS};
use crate::worker::protocol::{Finding, Question, Viewed};

/// The panel; nothing is asked before it is opened.
#[component]
pub fn Capacity() -> impl IntoView {
    let opened = RwSignal::new(false);
    let toggled = move |ev: leptos::ev::Event| {
        let details = ev.target().and_then(|t| t.dyn_into::<web_sys::Element>().ok());
        opened.set(details.is_some_and(|details| details.has_attribute("open")));
    };
    view! {
        <details class="panel outcomes" data-testid="capacity" on:toggle=toggled>
            <summary>
                <h3>"Capacity is not a constant"</h3>
                <span class="cap">
                    "Tokens per second against output length, prompt length or batch size"
                </span>
            </summary>
            {move || opened.get().then(|| view! { <OverOneThing/> })}
        </details>
    }
    .into_any()
}

#[component]
fn OverOneThing() -> impl IntoView {
    let bench = workbench();
    let asked = bench.views.capacity;
    let axis = RwSignal::new(CapacityAxis::Output);
    let unit = RwSignal::new(CapacityUnit::Decode);
    bench.ask(asked, move || Some(Question::Capacity(axis.get())));
    let picture = Memo::new(move |_| {
        let (chart, caption) =
            asked.with(|slot| table_of(slot).map(|table| capacity::chart(table, unit.get())))?;
        Some(Picture { chart: Arc::new(Chart::Capacity(chart)), caption, readings: Vec::new() })
    });
    let left_out = Memo::new(move |_| {
        asked.with(|slot| table_of(slot).map(|table| table.left_out.join("; ")))
    });
    let stale = Signal::derive(move || {
        let is_it = asked.with(|slot| table_of(slot).is_some_and(|t| t.over == axis.get()));
        !bench.current.get() || !is_it || asked.with(Slot::is_running)
    });
    let why_not = move || asked.with(|slot| slot.ending.as_ref().map(super::in_words));
    view! {
        <div class="row">
            <Select
                id="capacity-over"
                label="Against"
                choices=AXES.map(|(name, over, _)| Choice::new(name, over)).into()
                value=Signal::derive(move || name_of(axis.get()).to_owned())
                on_choose=Callback::new(move |name: String| {
                    if let Some((_, _, chosen)) = AXES.iter().find(|(known, ..)| *known == name) {
                        axis.set(*chosen);
                    }
                })
                quiet=true
            />
            <Select
                id="capacity-unit"
                label="in"
                choices=UNITS.map(|(name, unit)| Choice::new(name, unit.phrase())).into()
                value=Signal::derive(move || unit_name(unit.get()).to_owned())
                on_choose=Callback::new(move |name: String| {
                    if let Some((_, chosen)) = UNITS.iter().find(|(known, _)| *known == name) {
                        unit.set(*chosen);
                    }
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
            "By arithmetic from mean lengths, at the mix of this scenario and all else as it is; in time: within every limit for the mean request. "
            {move || left_out.get()}
        </p>
    }
    .into_any()
}

fn name_of(axis: CapacityAxis) -> &'static str {
    AXES.iter().find(|(_, _, known)| *known == axis).map_or("", |(name, ..)| *name)
}

fn unit_name(unit: CapacityUnit) -> &'static str {
    UNITS.iter().find(|(_, known)| *known == unit).map_or("", |(name, _)| *name)
}

fn table_of(slot: &Slot<Viewed>) -> Option<&CapacityTable> {
    match &slot.last.as_ref()?.value.finding {
        Finding::Capacity(table) => Some(table),
        _ => None,
    }
}

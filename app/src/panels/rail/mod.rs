//! The inputs: workload, contract, fleet, price, run.

mod admission;
mod arrivals;
mod classes;
mod clients;
mod contract;
mod expectations;
mod fleet;
mod gpu_model;
mod grips;
mod lengths;
mod life;
mod output;
mod pools;
mod price;
mod realised;
mod route;
mod routing;
mod rows;
mod scheduler;
mod sharing;
mod spread;
mod step_time;
mod targets;
mod text;
mod what_if;
mod workload;

use goodput_engine::scenario::doc::{ClassDoc, PoolDoc};
use leptos::prelude::*;

use crate::controls::NumberField;
use crate::state::edit::{ClassEdit, Edit, PoolEdit};
use crate::state::field::Field;
use crate::state::workbench;
use crate::view_model::edits;

/// All inputs, beside what they change.
#[component]
pub fn Rail() -> impl IntoView {
    let bench = workbench();
    let edited = Memo::new(move |_| {
        let doc = bench.doc();
        bench.baseline.with(|b| b.as_ref().map(|b| edits::count(&b.doc, &doc)))
    });
    view! {
        <section class="rail" id="inputs" tabindex="-1" aria-labelledby="inputs-head">
            <div class="railin">
            <div class="rhead">
                <h2 id="inputs-head">"Scenario"</h2>
                {move || {
                    edited
                        .get()
                        .filter(|n| *n > 0)
                        .map(|n| view! { <span class="count" data-testid="edit-count">{edits::words(n)}</span> })
                }}
            </div>
            <p class="cap">"Change anything: the answer follows"</p>
            <what_if::WhatIfChoice/>
            <super::Problems/>
            <workload::Workload/>
            <contract::Contract/>
            <fleet::Fleet/>
            <price::Price/>
            <Run/>
            </div>
        </section>
    }
    .into_any()
}

/// A group of inputs: a fieldset whose legend opens and closes it on narrow screens.
#[component]
fn Group(
    #[prop(into)] id: String,
    title: &'static str,
    /// One line that says what is in it while it is closed.
    #[prop(into)]
    summary: Signal<String>,
    #[prop(default = false)] open: bool,
    children: Children,
) -> impl IntoView {
    let opened = RwSignal::new(open);
    let body_id = format!("{id}-body");
    let controls = body_id.clone();
    view! {
        <fieldset class="group" class:opened=opened data-testid=id>
            <legend>
                <span class="gname">{title}</span>
                <button
                    class="fold"
                    type="button"
                    aria-expanded=move || if opened.get() { "true" } else { "false" }
                    aria-controls=controls
                    on:click=move |_| opened.update(|open| *open = !*open)
                >
                    <span class="vh">{move || if opened.get() { "Close " } else { "Open " }}{title}</span>
                </button>
            </legend>
            <p class="fs">{move || summary.get()}</p>
            <div class="gbody" id=body_id>
                {children()}
            </div>
        </fieldset>
    }
    .into_any()
}

/// Something about a class.
fn about_class<T: Default + PartialEq + Send + Sync + 'static>(
    index: usize,
    read: fn(&ClassDoc) -> T,
) -> Memo<T> {
    workbench().about(move |doc| doc.workload.classes.get(index).map(read).unwrap_or_default())
}

/// Edits a class.
fn change(index: usize, edit: ClassEdit) {
    workbench().edit(&Edit::Class(index, edit));
}

/// Something about a pool.
fn about_pool<T: Default + PartialEq + Send + Sync + 'static>(
    index: usize,
    read: fn(&PoolDoc) -> T,
) -> Memo<T> {
    workbench().about(move |doc| doc.fleet.pools.get(index).map(read).unwrap_or_default())
}

/// Edits a pool.
fn change_pool(index: usize, edit: PoolEdit) {
    workbench().edit(&Edit::Pool(index, edit));
}

/// What is made of the pool that is being edited, made anew for another one.
fn of_chosen_pool(make: fn(usize) -> AnyView) -> AnyView {
    let bench = workbench();
    let count = bench.about(|doc| doc.fleet.pools.len());
    let there = Memo::new(move |_| Some(bench.pool.get()).filter(|index| *index < count.get()));
    view! { {move || there.get().map(make)} }.into_any()
}

/// Fields for numbers, two beside each other.
fn number_fields(fields: Vec<Field>) -> AnyView {
    let wide = fields.len() < 2;
    let fields = fields.into_iter().map(|field| view! { <NumberField field/> }).collect_view();
    view! { <div class:two=!wide>{fields}</div> }.into_any()
}

/// The fields of a list that changes with the document.
fn listed(fields: Memo<Vec<Field>>) -> AnyView {
    view! { {move || number_fields(fields.get())} }.into_any()
}

/// What is there while something is so. Not generic, as most of a view: the page would have it once
/// for each.
fn when(so: Memo<bool>, make: impl Fn() -> AnyView + Send + 'static) -> AnyView {
    let make: Box<dyn Fn() -> AnyView + Send> = Box::new(make);
    when_boxed(so, make)
}

fn when_boxed(so: Memo<bool>, make: Box<dyn Fn() -> AnyView + Send>) -> AnyView {
    view! { {move || so.get().then(&make)} }.into_any()
}

/// What few need, closed, with what it is now in a line.
fn folded(id: &'static str, title: &'static str, line: Memo<String>, body: AnyView) -> AnyView {
    view! {
        <details class="more" data-testid=id>
            <summary>{title}": "{move || line.get()}</summary>
            {body}
        </details>
    }
    .into_any()
}

#[component]
fn Run() -> impl IntoView {
    let bench = workbench();
    let summary = bench.about(|doc| {
        let horizon = crate::format::seconds(doc.workload.horizon_s);
        format!("Seed {}, horizon {horizon}", doc.workload.seed)
    });
    view! {
        <Group id="run" title="Run" summary>
            <div class="two">
                <NumberField field=Field::Horizon/>
                <NumberField field=Field::Warmup/>
                <NumberField field=Field::Seed/>
            </div>
            <expectations::Expectations/>
        </Group>
    }
    .into_any()
}

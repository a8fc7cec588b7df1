//! The way from what a benchmark says to what a plan may count on: asked of the worker while its
//! panel is open.

use std::sync::Arc;

use goodput_engine::accounts::report::MixRate;
use goodput_engine::bridge::{Bridge as Way, How, Step};
use goodput_engine::ingest::Contents;
use leptos::prelude::*;

use crate::controls::{Choice, Select};
use crate::format;
use crate::panels::folded::folded;
use crate::panels::outcomes::in_words;
use crate::state::Slot;
use crate::state::uploads::{Desk, desk};
use crate::view_model::uploads::point_name;
use crate::worker::protocol::{Finding, PointsOfFile, Question, Viewed};

/// The panel; nothing without a benchmark of which everything is told.
#[component]
pub fn Bridge() -> impl IntoView {
    let desk = desk();
    let there = Memo::new(move |_| points(desk).is_some_and(|points| !points.is_empty()));
    let said = "One condition after the other, from the benchmark's to those of this scenario";
    let panel = move || folded("bridge", "From the benchmark to the plan", said, way);
    view! { {move || there.get().then(panel)} }.into_any()
}

/// Each point alone, in a file of its own, by its name.
fn points(desk: Desk) -> Option<Vec<(String, PointsOfFile)>> {
    let request = desk.ready.get()?.ok()?;
    let several = request.files.len() > 1;
    let alone = |file: &PointsOfFile| {
        let points = file.file.parsed.as_ref().map(|p| p.points().to_vec()).unwrap_or_default();
        let of = file.clone();
        points.into_iter().map(move |point| {
            let mut alone = of.clone();
            let file = &alone.file.file;
            let name = point_name(&point);
            let name = if several { format!("{file}, {name}") } else { name };
            if let Some(parsed) = &mut alone.file.parsed {
                parsed.contents = Contents::Benchmark { points: vec![point], records: Vec::new() };
            }
            (name, alone)
        })
    };
    Some(request.files.iter().flat_map(alone).collect())
}

fn way() -> AnyView {
    let desk = desk();
    let asked = desk.bench.views.bridged;
    let chosen = RwSignal::new(0_usize);
    let all = Memo::new(move |_| points(desk).unwrap_or_default());
    let wanted = Memo::new(move |_| {
        all.with(|all| all.get(chosen.get()).or(all.first()).map(|(_, of)| Arc::new(of.clone())))
    });
    desk.bench.ask(asked, move || Some(Question::Bridge(Box::new((*wanted.get()?).clone()))));
    let done = move || {
        asked.with(|slot| {
            let of = slot.last.as_ref().map(|last| &last.value.question);
            let is_it = matches!(of, Some(Question::Bridge(of)) if wanted.with(|w| w.as_deref() == Some(of)));
            !slot.is_running() && (is_it || slot.has_failed()) && desk.bench.current.get()
        })
    };
    let state = move || if done() { "done" } else { "running" };
    let choice = move || {
        let names = all.with(|all| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
        let choices = names.iter().enumerate().map(|(i, name)| Choice::new(i.to_string(), name));
        (names.len() > 1).then(|| {
            view! {
                <Select
                    id="bridge-point"
                    label="From"
                    choices=choices.collect()
                    value=Signal::derive(move || chosen.get().to_string())
                    on_choose=Callback::new(move |i: String| chosen.set(i.parse().unwrap_or(0)))
                    quiet=true
                />
            }
        })
    };
    let why_not = move || asked.with(|slot| slot.ending.as_ref().map(in_words));
    view! {
        <div class="row">{choice}</div>
        <div data-testid="bridge-way" data-state=state class:stale=move || !done()>
            {move || asked.with(|slot| way_of(slot).map(table))}
            <p role="status">{why_not}</p>
        </div>
    }
    .into_any()
}

fn way_of(slot: &Slot<Viewed>) -> Option<&Way> {
    match &slot.last.as_ref()?.value.finding {
        Finding::Bridge(way) => Some(way),
        _ => None,
    }
}

fn table(way: &Way) -> AnyView {
    let of = format::plural(u64::from(way.replicas), "replica", "replicas");
    let rows = way.steps.iter().map(row).collect_view();
    let alike =
        (!way.alike.is_empty()).then(|| format!("The same in both: {}", way.alike.join(", ")));
    let supposed = way.assumptions.iter().map(|line| view! { <li>{line.clone()}</li> });
    view! {
        <p class="cap" data-testid="bridge-sentence">{way.sentence.clone()}</p>
        <div class="scroll" tabindex="0" role="region" aria-label="From the benchmark to the plan">
            <table class="data" data-testid="bridge-steps">
                <caption>{format!("Rates of {of}")}</caption>
                <thead>
                    <tr>
                        <th scope="col">"Condition"</th>
                        <th scope="col">"Benchmark"</th>
                        <th scope="col">"Production"</th>
                        <th scope="col">"req/s"</th>
                        <th scope="col">"input tok/s"</th>
                        <th scope="col">"output tok/s"</th>
                        <th scope="col">"Change of output"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        {alike.map(|alike| view! { <p class="note">{alike}</p> })}
        <details>
            <summary>"What had to be supposed of the benchmark"</summary>
            <ul class="lines">{supposed.collect_view()}</ul>
        </details>
    }
    .into_any()
}

fn row(step: &Step) -> AnyView {
    let cell = |of: fn(&MixRate) -> f64| {
        let value = step.rate.as_ref().map(of);
        let shown = value.map_or_else(|| "–".to_owned(), format::significant);
        view! { <td data-value=value.map(|value| value.to_string())>{shown}</td> }
    };
    let change = step.effect.map(|by| format!("{:+.0} %", 100.0 * by).replace('-', "−"));
    let production = match step.how {
        How::Measured | How::Reproduced => String::new(),
        How::Sustained | How::Delivered => step.production.clone(),
    };
    view! {
        <tr>
            <th scope="row">
                {step.condition.clone()}
                {step.note.clone().map(|note| view! { " " <span class="why">{note}</span> })}
            </th>
            <td class="words">{step.benchmark.clone()}</td>
            <td class="words">{production}</td>
            {cell(|rate| rate.rps)}
            {cell(|rate| rate.prefill_tps)}
            {cell(|rate| rate.decode_tps)}
            <td>{change}</td>
        </tr>
    }
    .into_any()
}

//! Where the time of answers goes: asked of the worker while its panel is open.

use goodput_engine::accounts::ClassLifeCycle;
use leptos::prelude::*;

use super::break_out::bar_piece;
use crate::controls::{Choice, Select, Swatch};
use crate::panels::folded::folded;
use crate::state::{Slot, workbench};
use crate::view_model::life_cycle::{self, Bar, Life, Row};
use crate::worker::protocol::{Finding, Question, Viewed};

/// The panel; nothing is asked before it is opened.
#[component]
pub fn LifeCycle() -> impl IntoView {
    let said = "Admission, queue, prefill and decode of median and slowest answers, to scale";
    folded("life-cycle", "Life of a request", said, of_class)
}

fn of_class() -> AnyView {
    let bench = workbench();
    let asked = bench.views.life_cycle;
    bench.ask(asked, || Some(Question::LifeCycle));
    let class = RwSignal::new(0_usize);
    let names = move || {
        let names = |classes: &[ClassLifeCycle]| {
            classes.iter().map(|class| class.name.clone()).collect::<Vec<_>>()
        };
        asked.with(|slot| classes_of(slot).map(names).unwrap_or_default())
    };
    let life = move || {
        asked.with(|slot| {
            let doc = &slot.last.as_ref()?.doc;
            let classes = classes_of(slot)?;
            let of_doc = classes.get(class.get()).or(classes.first())?;
            let doc = doc.workload.classes.iter().find(|class| class.name == of_doc.name)?;
            Some(life_cycle::life(of_doc, &doc.slo))
        })
    };
    let running = move || !bench.current.get() || asked.with(Slot::is_running);
    let why_not = move || asked.with(|slot| slot.ending.as_ref().map(super::in_words));
    let select = move || {
        let names = names();
        let choices = names.iter().enumerate().map(|(i, name)| Choice::new(i.to_string(), name));
        (names.len() > 1).then(|| {
            view! {
                <Select
                    id="life-class"
                    label="Of class"
                    choices=choices.collect()
                    value=Signal::derive(move || class.get().to_string())
                    on_choose=Callback::new(move |i: String| class.set(i.parse().unwrap_or(0)))
                    quiet=true
                />
            }
        })
    };
    view! {
        <div class="row">{select}</div>
        <div
            class="life"
            data-testid="life"
            data-state=move || if running() { "running" } else { "done" }
        >
            {move || life().map(shown)}
        </div>
        <p class="note">{why_not}</p>
        <p class="note">
            "Each stage is a mean over the requests within half a percentile, so that the stages sum to the whole; times are from due, of requests that complete"
        </p>
    }
    .into_any()
}

fn classes_of(slot: &Slot<Viewed>) -> Option<&[ClassLifeCycle]> {
    match &slot.last.as_ref()?.value.finding {
        Finding::LifeCycle(cycle) => Some(&cycle.classes),
        _ => None,
    }
}

fn shown(life: Life) -> AnyView {
    let heads = life.bars.iter().map(|bar| {
        view! {
            <th scope="col">{bar.name.clone()}</th>
            <th scope="col">"of it"</th>
        }
    });
    let heads = heads.collect_view();
    view! {
        <p class="cap">{life.finding}</p>
        {life.bars.into_iter().map(bar).collect_view()}
        <div class="scroll" tabindex="0" role="region" aria-label="Table of stages">
            <table class="data" data-testid="data-life">
                <caption class="vh">"Stages of a request"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Stage"</th>
                        {heads}
                    </tr>
                </thead>
                <tbody>{life.rows.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn bar(bar: Bar) -> AnyView {
    let limits = bar.limits.iter().map(|(_, at)| {
        let x = format!("{at}%");
        view! { <line class="target" x1=x.clone() x2=x y1="0" y2="18"></line> }
    });
    let limits = limits.collect_view();
    let names: Vec<&str> = bar.limits.iter().map(|(name, _)| name.as_str()).collect();
    let names = if names.is_empty() { String::new() } else { format!("; {}", names.join(", ")) };
    view! {
        <p class="sum">{bar.said} {names}</p>
        <svg class="bar" aria-hidden="true">
            {bar.pieces.iter().map(|piece| bar_piece(*piece)).collect_view()}
            {limits}
        </svg>
    }
    .into_any()
}

fn row(row: Row) -> AnyView {
    let cells = row.cells.into_iter().map(|(text, exact, share)| {
        view! {
            <td class="number" data-value=exact>{text}</td>
            <td class="number">{share}</td>
        }
    });
    view! {
        <tr>
            <th scope="row">
                <Swatch look=row.look/>
                " "
                {row.name}
            </th>
            {cells.collect_view()}
        </tr>
    }
    .into_any()
}

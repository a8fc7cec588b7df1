//! Length distributions: kind, numbers, shape, and what the simulation drew.

use goodput_engine::scenario::doc::LengthsDoc;
use leptos::prelude::*;

use crate::controls::{NumberField, Select};
use crate::format;
use crate::state::edit::{ClassEdit, Edit};
use crate::state::field::{ClassField, Field, LengthField, Side, lengths};
use crate::state::workbench;
use crate::view_model::lengths as shapes;
use crate::view_model::lengths::LengthsKind;
use crate::view_model::spread;

/// The lengths of one side of a class.
#[component]
pub fn LengthsEditor(index: usize, side: Side) -> impl IntoView {
    let bench = workbench();
    let kind = bench.about(move |doc| {
        doc.workload.classes.get(index).map(|class| LengthsKind::of(lengths(class, side)))
    });
    let two_fields = bench.about(move |doc| {
        let class = doc.workload.classes.get(index);
        class.is_some_and(|class| shapes::is_mean_and_p99(lengths(class, side)))
    });
    let described = bench.about(move |doc| {
        doc.workload.classes.get(index).map(|class| shapes::summary(lengths(class, side)))
    });
    let label = if side == Side::Input { "Input length" } else { "Output length" };
    let edited = Memo::new(move |_| {
        let doc = bench.doc();
        let now = doc.workload.classes.get(index).map(|class| lengths(class, side));
        bench.baseline.with(|b| {
            b.as_ref().is_some_and(|b| {
                b.doc.workload.classes.get(index).map(|class| lengths(class, side)) != now
            })
        })
    });
    let value = Signal::derive(move || kind.get().map_or("", LengthsKind::name).to_owned());
    let choose = Callback::new(move |name: String| change_kind(index, side, &name));
    let id = if side == Side::Input { "input" } else { "output" };
    view! {
        <div class="dist" class:edited=edited>
            {move || {
                let choices = kind.get().unwrap_or(LengthsKind::Fixed).choices();
                let id = format!("{id}-kind-{index}");
                view! { <Select id label choices value on_choose=choose quiet=true/> }
            }}
            <Histogram index side/>
            {move || match kind.get() {
                Some(LengthsKind::Quantiles) => view! { <Quantiles index side/> }.into_any(),
                Some(LengthsKind::Empirical) => view! { <Samples index side/> }.into_any(),
                Some(LengthsKind::Recorded) => {
                    view! { <p class="sum">"As recorded in the trace, request by request"</p> }.into_any()
                }
                Some(LengthsKind::Lognormal) if two_fields.get() => {
                    view! {
                        <div class="two">
                            <NumberField field=length(index, side, LengthField::Mean)/>
                            <NumberField field=length(index, side, LengthField::P99)/>
                        </div>
                        <SpreadLine index side/>
                    }
                        .into_any()
                }
                Some(LengthsKind::Fixed) | None => {
                    view! { <NumberField field=length(index, side, LengthField::Tokens)/> }.into_any()
                }
                Some(_) => view! { <p class="sum">{move || described.get()}</p> }.into_any(),
            }}
            <Realised index side/>
        </div>
    }
    .into_any()
}

/// How far apart mean and p99 are, and the edit that keeps the shape of the baseline.
#[component]
fn SpreadLine(index: usize, side: Side) -> impl IntoView {
    let bench = workbench();
    let shape = Memo::new(move |_| {
        let doc = bench.doc();
        let before = bench.baseline.with(|b| {
            let class = b.as_ref()?.doc.workload.classes.get(index)?;
            Some(lengths(class, side).clone())
        });
        spread::spread(lengths(doc.workload.classes.get(index)?, side), before.as_ref())
    });
    let as_before = Memo::new(move |_| shape.with(|s| s.as_ref().and_then(|s| s.p99_as_before)));
    let keep = move |p99: f64| {
        let field = length(index, side, LengthField::P99);
        bench.edit(&Edit::Number { field, value: Some(p99) });
        bench.seal();
    };
    view! {
        <p class="echo">
            {move || shape.with(|shape| shape.as_ref().map(|shape| shape.line.clone()))}
            {move || {
                as_before
                    .get()
                    .map(|p99| {
                        view! {
                            " "
                            <button type="button" class="link" on:click=move |_| keep(p99)>
                                {format!("Keep the shape: p99 {}", format::fixed(p99, 0))}
                            </button>
                        }
                    })
            }}
        </p>
    }
    .into_any()
}

fn length(index: usize, side: Side, field: LengthField) -> Field {
    Field::Class(index, ClassField::Length(side, field))
}

fn change_kind(index: usize, side: Side, name: &str) {
    let bench = workbench();
    let doc = bench.doc_untracked();
    let Some(class) = doc.workload.classes.get(index) else { return };
    if let Some(changed) = shapes::as_kind(lengths(class, side), name) {
        bench.edit(&Edit::Class(index, ClassEdit::Lengths(side, changed)));
    }
}

/// The shape on a log axis, and that of the baseline as an outline.
#[component]
fn Histogram(index: usize, side: Side) -> impl IntoView {
    let bench = workbench();
    let shape = Memo::new(move |_| {
        let doc = bench.doc();
        let now = doc.workload.classes.get(index).map(|class| lengths(class, side).clone());
        let before = bench.baseline.with(|b| {
            let class = b.as_ref()?.doc.workload.classes.get(index)?;
            Some(lengths(class, side).clone())
        });
        now.and_then(|now| shapes::picture(&now, before.as_ref().filter(|b| **b != now)))
    });
    view! {
        {move || {
            shape
                .get()
                .map(|shape| {
                    let bars = shape
                        .bars
                        .iter()
                        .map(|(x, y, width, height)| {
                            view! { <rect class="f-hist" x=*x y=*y width=*width height=*height></rect> }
                        })
                        .collect_view();
                    let ticks = shape
                        .ticks
                        .iter()
                        .map(|(x, text)| {
                            view! {
                                <line class="tick" x1=*x x2=*x y1="56" y2="59"></line>
                                <text x=*x y="70" text-anchor="middle">{text.clone()}</text>
                            }
                        })
                        .collect_view();
                    view! {
                        <svg class="hist" viewBox="0 0 268 74" role="img" aria-label=shape.label>
                            {bars}
                            <path class="l-ghost" d=shape.ghost></path>
                            <line class="axis0" x1="0" x2="268" y1="56" y2="56"></line>
                            {ticks}
                        </svg>
                    }
                })
        }}
    }
    .into_any()
}

#[component]
fn Quantiles(index: usize, side: Side) -> impl IntoView {
    let bench = workbench();
    let rows = bench.about(move |doc| {
        match doc.workload.classes.get(index).map(|class| lengths(class, side)) {
            Some(LengthsDoc::Quantiles { table }) => table.len(),
            _ => 0,
        }
    });
    view! {
        {move || (0..rows.get()).map(|row| view! { <QuantileRow index side row/> }).collect_view()}
    }
    .into_any()
}

#[component]
fn QuantileRow(index: usize, side: Side, row: usize) -> impl IntoView {
    let bench = workbench();
    let (number, later) = (row + 1, row > 0);
    view! {
        <div class="pair" class:first=!later role="group" aria-label=format!("Quantile {number}")>
            <NumberField field=length(index, side, LengthField::QuantileP(row)) bare=later/>
            <NumberField field=length(index, side, LengthField::QuantileTokens(row)) bare=later/>
            <button
                class="icon small"
                type="button"
                aria-label=format!("Add a quantile after quantile {number}")
                title="Add a quantile after"
                on:click=move |_| bench.edit(&Edit::Class(index, ClassEdit::AddQuantile(side, row)))
            >
                "+"
            </button>
            <button
                class="icon small"
                type="button"
                aria-label=format!("Remove quantile {number}")
                title="Remove"
                on:click=move |_| bench.edit(&Edit::Class(index, ClassEdit::RemoveQuantile(side, row)))
            >
                "−"
            </button>
        </div>
    }
    .into_any()
}

/// Observed lengths, pasted.
#[component]
fn Samples(index: usize, side: Side) -> impl IntoView {
    let bench = workbench();
    let text: RwSignal<Option<String>> = RwSignal::new(None);
    let said = RwSignal::new(String::new());
    let samples = bench.about(move |doc| {
        match doc.workload.classes.get(index).map(|class| lengths(class, side)) {
            Some(LengthsDoc::Empirical { samples }) => samples.clone(),
            _ => Vec::new(),
        }
    });
    let shown = move || text.get().unwrap_or_else(|| samples.with(|s| shapes::list(s)));
    let paste = move |typed: String| {
        match shapes::read_list(&typed) {
            Ok(samples) => {
                said.set(format!(
                    "= {}",
                    format::plural(samples.len() as u64, "length", "lengths")
                ));
                let lengths = LengthsDoc::Empirical { samples };
                bench.edit(&Edit::Class(index, ClassEdit::Lengths(side, lengths)));
            }
            Err(why) => said.set(why),
        }
        text.set(Some(typed));
    };
    let id = format!("samples-{}-{index}", if side == Side::Input { "input" } else { "output" });
    view! {
        <div class="field">
            <label for=id.clone()>"Observed lengths, pasted"</label>
            <textarea
                id=id.clone()
                data-testid=id
                rows="3"
                spellcheck="false"
                prop:value=shown
                on:input:target=move |ev| paste(ev.target().value())
                on:blur=move |_| bench.seal()
            ></textarea>
            <p class="echo">{move || said.get()}</p>
        </div>
    }
    .into_any()
}

/// What the simulation drew.
#[component]
fn Realised(index: usize, side: Side) -> impl IntoView {
    let bench = workbench();
    let row = Memo::new(move |_| {
        bench.screen.with(|screen| {
            let shown = screen.simulated()?;
            let place = shapes::place_in_report(&shown.doc, index)?;
            let class = shown.report.classes.get(place)?;
            let summary =
                if side == Side::Input { class.input_tokens } else { class.output_tokens };
            Some(shapes::realised(&summary))
        })
    });
    view! {
        {move || {
            row.get()
                .map(|row| {
                    let heads = ["mean", "p50", "p90", "p99", "over limit"];
                    let heads = heads.map(|head| view! { <th scope="col">{head}</th> });
                    let cells = row.map(|cell| view! { <td>{cell}</td> });
                    view! {
                        <table class="mini">
                            <caption>"Realised"</caption>
                            <thead>
                                <tr>{heads.into_iter().collect_view()}</tr>
                            </thead>
                            <tbody>
                                <tr>{cells.into_iter().collect_view()}</tr>
                            </tbody>
                        </table>
                    }
                })
        }}
    }
    .into_any()
}

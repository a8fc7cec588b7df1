//! What a benchmark does not say is asked for.

use goodput_engine::catalog;
use goodput_engine::ingest::{MissingFact, csv_points};
use leptos::prelude::*;

use crate::browser;
use crate::controls::{Choice, Select};
use crate::parse::{self, Quantity};
use crate::state::files::{Added, FileEntry};
use crate::state::workbench;
use crate::view_model::files as words;

/// Saves the table to fill in.
pub fn download_template() {
    browser::download("goodput-benchmark-template.csv", "text/csv", csv_points::TEMPLATE);
}

/// What a file does not say is asked for, never assumed.
#[component]
pub fn Missing(id: u64) -> impl IntoView {
    let bench = workbench();
    let missing = Memo::new(move |_| {
        bench.files.entries.with(|entries| {
            entries.iter().find(|e| e.id == id).map(FileEntry::missing_in_file).unwrap_or_default()
        })
    });
    view! {
        {move || {
            let asked = missing.get();
            (!asked.is_empty())
                .then(|| {
                    let questions = asked.into_iter().map(|fact| view! { <Question id fact/> });
                    view! {
                        <fieldset class="asked" data-testid="missing">
                            <legend>"The file does not say"</legend>
                            <div class="two">{questions.collect_view()}</div>
                        </fieldset>
                    }
                })
        }}
    }
    .into_any()
}

#[component]
fn Question(id: u64, fact: MissingFact) -> impl IntoView {
    let bench = workbench();
    let change = move |change: fn(&mut Added, Option<String>), text: String| {
        let text = (!text.trim().is_empty()).then(|| text.trim().to_owned());
        bench.files.update(id, |entry| change(&mut entry.added, text));
    };
    match fact {
        MissingFact::Gpu => {
            let known = catalog::gpus().iter().map(|g| Choice::new(g.id, g.spec.name.clone()));
            let choose = Callback::new(move |t| change(|added, text| added.gpu = text, t));
            view! { <Known id=format!("gpu-of-{id}") label="Which GPU?" choices=known.collect() choose/> }
                .into_any()
        }
        MissingFact::Model => {
            let known =
                catalog::models().iter().map(|m| Choice::new(m.id.clone(), m.shape.name.clone()));
            let choose = Callback::new(move |t| change(|added, text| added.model = text, t));
            view! { <Known id=format!("model-of-{id}") label="Which model?" choices=known.collect() choose/> }
                .into_any()
        }
        MissingFact::GpuCount => {
            let say =
                Callback::new(move |t| change(|added, text| added.gpu_count = whole(text), t));
            view! { <Said id=format!("gpus-of-{id}") label="How many GPUs?" say/> }.into_any()
        }
        MissingFact::TensorParallel => {
            let say = Callback::new(move |t| {
                change(|added, text| added.tensor_parallel = whole(text), t);
            });
            view! { <Said id=format!("tp-of-{id}") label="tensor_parallel?" say/> }.into_any()
        }
        MissingFact::EngineVersion => {
            let say = Callback::new(move |t| change(|added, text| added.engine_version = text, t));
            view! { <Said id=format!("engine-of-{id}") label="Which engine, which version?" say/> }
                .into_any()
        }
        MissingFact::Quality => {
            let say =
                Callback::new(move |t| change(|added, text| added.quality_rate = share(text), t));
            view! { <Said id=format!("quality-of-{id}") label="Answers that passed a check, %?" say/> }
                .into_any()
        }
        MissingFact::Load | MissingFact::InputTokens | MissingFact::OutputTokens => {
            view! { <p class="echo">{words::missing(fact)}</p> }.into_any()
        }
    }
}

fn whole(text: Option<String>) -> Option<u64> {
    let value = parse::whole(&text?, Quantity::Count).ok()?;
    words::to_u64(value)
}

fn share(text: Option<String>) -> Option<f64> {
    parse::number(&text?, Quantity::Share).ok().filter(|share| *share <= 1.0)
}

#[component]
fn Known(
    id: String,
    label: &'static str,
    choices: Vec<Choice>,
    choose: Callback<String>,
) -> impl IntoView {
    let mut all = vec![Choice::new("", "not stated")];
    all.extend(choices);
    let chosen = RwSignal::new(String::new());
    let on_choose = Callback::new(move |value: String| {
        chosen.set(value.clone());
        choose.run(value);
    });
    view! { <Select id label choices=all value=chosen on_choose/> }.into_any()
}

#[component]
fn Said(id: String, label: &'static str, say: Callback<String>) -> impl IntoView {
    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            <div class="num">
                <input
                    id=id.clone()
                    type="text"
                    autocomplete="off"
                    placeholder="not stated"
                    data-testid=id
                    on:input:target=move |ev| say.run(ev.target().value())
                />
            </div>
        </div>
    }
    .into_any()
}

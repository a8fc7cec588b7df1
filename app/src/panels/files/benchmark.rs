//! Benchmarks against the simulation of their own conditions, and the factor that follows.

use std::sync::Arc;

use goodput_engine::calibration::CalibrationReport;
use goodput_engine::catalog;
use goodput_engine::ingest::{MissingFact, csv_points};
use leptos::prelude::*;

use crate::browser;
use crate::charts::Chart;
use crate::controls::{Choice, Select};
use crate::panels::figure::{Figure, Picture};
use crate::parse::{self, Quantity};
use crate::state::edit::{Edit, PoolEdit};
use crate::state::files::Added;
use crate::state::{Ending, workbench};
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
            entries.iter().find(|e| e.id == id).map(|e| e.missing_in_file()).unwrap_or_default()
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

/// Points over the simulated curve, the fitted factor, and the edit that applies it.
#[component]
pub fn Benchmarks() -> impl IntoView {
    let bench = workbench();
    let calibration = bench.files.calibration;
    let report = Memo::new(move |_| {
        calibration.with(|slot| slot.last.as_ref().map(|last| last.value.clone()))
    });
    let running = Memo::new(move |_| calibration.with(|slot| slot.is_running()));
    let failed = move || {
        calibration.with(|slot| match &slot.ending {
            Some(Ending::Failed(why) | Ending::Crashed(why)) => Some(why.clone()),
            _ => None,
        })
    };
    view! {
        <div data-testid="calibration" data-state=move || if running.get() { "running" } else { "done" }>
            {move || failed().map(|why| view! { <p class="dn">"The fit cannot be done: " {why}</p> })}
            {move || running.get().then(|| view! { <p class="echo" role="status">"Simulating the benchmark's own conditions …"</p> })}
            {move || report.get().map(|report| view! { <Fit report/> })}
        </div>
    }
    .into_any()
}

#[component]
fn Fit(report: Arc<CalibrationReport>) -> impl IntoView {
    let bench = workbench();
    let stale = Signal::derive(move || bench.files.calibration.with(|slot| slot.is_running()));
    let pictures = words::charts(&report).map(|(chart, caption)| {
        let picture = Picture { chart: Arc::new(Chart::Benchmark(chart)), caption };
        Memo::new(move |_| Some(picture.clone()))
    });
    let [per_token, first_token] = pictures;
    let excluded = report.excluded.iter().map(|point| {
        view! { <li class="warning">{words::excluded(point)}</li> }
    });
    let assumptions =
        report.assumptions.iter().map(|text| view! { <li class="note">{text.clone()}</li> });
    let fitted = report.fitted.clone();
    let used = !report.points.is_empty();
    view! {
        {used
            .then(|| {
                view! {
                    <div class="grid2 even">
                        <Figure id="bench-tpot" title="Measured and simulated, per token" picture=per_token stale/>
                        <Figure id="bench-ttft" title="Measured and simulated, first token" picture=first_token stale/>
                    </div>
                }
            })}
        <p data-testid="fit">
            <strong>{words::fit_line(&report)}</strong>
        </p>
        {fitted
            .map(|fitted| {
                view! {
                    <div class="row">
                        <button
                            class="primary"
                            data-testid="apply-fit"
                            on:click=move |_| {
                                bench.edit(&Edit::Pool(PoolEdit::Fitted(Some(fitted.clone()))));
                            }
                        >
                            "Calibrate: apply this factor"
                        </button>
                        <span class="echo">"One undoable edit; the answer is then tagged measured"</span>
                    </div>
                }
            })}
        <ul class="problems" data-testid="fit-remarks">
            {excluded.collect_view()} {assumptions.collect_view()}
        </ul>
    }
    .into_any()
}

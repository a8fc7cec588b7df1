//! When requests are due: a rate, a profile over time, or a replayed trace.

use goodput_engine::scenario::doc::{ArrivalsDoc, NoiseDoc, RatePointDoc, ThinkTimeDoc};
use leptos::prelude::*;

use crate::controls::{Choice, NumberField, Select};
use crate::format;
use crate::state::edit::{ClassEdit, Edit};
use crate::state::field::{ClassField, Field};
use crate::state::workbench;
use crate::view_model::workload::{self, ArrivalsKind};

/// The arrivals of a class.
#[component]
pub fn Arrivals(index: usize) -> impl IntoView {
    let bench = workbench();
    let kind = bench.about(move |doc| {
        doc.workload.classes.get(index).map(|class| ArrivalsKind::of(&class.arrivals))
    });
    let value = Signal::derive(move || kind.get().map_or("", ArrivalsKind::name).to_owned());
    let choose = Callback::new(move |name: String| change_kind(index, &name));
    let echo = bench.about(move |doc| workload::expected_requests(doc, index));
    view! {
        <div class="block">
            {move || {
                let choices = kind.get().unwrap_or(ArrivalsKind::Poisson).choices();
                let id = format!("arrivals-kind-{index}");
                view! { <Select id label="Arrivals" choices value on_choose=choose quiet=true/> }
            }}
            {move || match kind.get() {
                Some(ArrivalsKind::Profile) => view! { <Profile index/> }.into_any(),
                Some(ArrivalsKind::Trace) => view! { <TraceLine index/> }.into_any(),
                Some(ArrivalsKind::ClosedLoop) => view! { <Users index/> }.into_any(),
                Some(ArrivalsKind::Poisson | ArrivalsKind::Constant) | None => {
                    view! { <NumberField field=Field::Class(index, ClassField::Rate)/> }.into_any()
                }
                Some(ArrivalsKind::Gamma) => {
                    view! {
                        <NumberField field=Field::Class(index, ClassField::Rate)/>
                        <Described index/>
                    }
                        .into_any()
                }
                Some(_) => view! { <Described index/> }.into_any(),
            }}
            <p class="echo">{move || echo.get()}</p>
        </div>
    }
    .into_any()
}

fn change_kind(index: usize, name: &str) {
    let bench = workbench();
    let doc = bench.doc_untracked();
    let Some(class) = doc.workload.classes.get(index) else { return };
    let rate_rps = workload::mean_rate(&class.arrivals, doc.workload.horizon_s);
    let arrivals = match name {
        "constant" => ArrivalsDoc::Constant { rate_rps },
        "profile" => ArrivalsDoc::Profile {
            points: ramp(rate_rps, doc.workload.horizon_s),
            noise: NoiseDoc::Poisson,
        },
        "closed_loop" => ArrivalsDoc::ClosedLoop {
            users: users_for(rate_rps),
            think_time: ThinkTimeDoc::Exponential { mean_s: 10.0 },
        },
        "trace" => {
            // Only a file has a trace.
            crate::browser::click("file-input");
            return;
        }
        _ => ArrivalsDoc::Poisson { rate_rps },
    };
    bench.edit(&Edit::Class(index, ClassEdit::Arrivals(arrivals)));
}

/// Users who ask about as often if they think for ten seconds and are served in one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
fn users_for(rate_rps: f64) -> u32 {
    (rate_rps * 11.0).round().max(1.0) as u32
}

/// A profile to begin with: up to twice the rate in the middle third.
fn ramp(rate_rps: f64, horizon_s: f64) -> Vec<RatePointDoc> {
    let point = |share: f64, factor: f64| RatePointDoc {
        t_s: (share * horizon_s).round(),
        rate_rps: rate_rps * factor,
    };
    vec![point(0.0, 1.0), point(0.3, 1.0), point(0.4, 2.0), point(0.6, 2.0), point(0.7, 1.0)]
}

/// What only the document can change, in words.
#[component]
fn Described(index: usize) -> impl IntoView {
    let text = workbench().about(move |doc| {
        doc.workload.classes.get(index).map(|class| workload::summary(&class.arrivals))
    });
    view! { <p class="sum">{move || text.get()}</p> }.into_any()
}

/// How many users there are, and how long they think.
#[component]
fn Users(index: usize) -> impl IntoView {
    let bench = workbench();
    let one_number = bench.about(move |doc| {
        let class = doc.workload.classes.get(index);
        !matches!(
            class.map(|class| &class.arrivals),
            Some(ArrivalsDoc::ClosedLoop { think_time: ThinkTimeDoc::Uniform { .. }, .. })
        )
    });
    let think = move || {
        one_number
            .get()
            .then(|| view! { <NumberField field=Field::Class(index, ClassField::ThinkTime)/> })
    };
    view! {
        <NumberField field=Field::Class(index, ClassField::Users)/>
        {think}
    }
    .into_any()
}

#[component]
fn TraceLine(index: usize) -> impl IntoView {
    let bench = workbench();
    let text = bench.about(move |doc| match doc.workload.classes.get(index).map(|c| &c.arrivals) {
        Some(ArrivalsDoc::Trace { due_s, .. }) => {
            let span = due_s.last().copied().unwrap_or_default();
            format!(
                "{} as recorded, over {}",
                format::plural(due_s.len() as u64, "request", "requests"),
                format::seconds(span)
            )
        }
        _ => String::new(),
    });
    view! { <p class="sum">{move || text.get()}</p> }.into_any()
}

/// The profile as a line and as a table of points.
#[component]
fn Profile(index: usize) -> impl IntoView {
    let bench = workbench();
    let points = bench.about(move |doc| workload::profile_points(doc, index));
    let spark = bench.about(move |doc| workload::profile_path(doc, index));
    let rows = Memo::new(move |_| points.with(Vec::len));
    let noise = bench.about(move |doc| {
        match doc.workload.classes.get(index).map(|class| &class.arrivals) {
            Some(ArrivalsDoc::Profile { noise: NoiseDoc::None, .. }) => "none".to_owned(),
            Some(ArrivalsDoc::Profile { noise: NoiseDoc::Gamma(_), .. }) => "gamma".to_owned(),
            _ => "poisson".to_owned(),
        }
    });
    let choose = Callback::new(move |name: String| {
        let noise = match name.as_str() {
            "none" => NoiseDoc::None,
            "poisson" => NoiseDoc::Poisson,
            _ => return,
        };
        bench.edit(&Edit::Class(index, ClassEdit::Noise(noise)));
    });
    let choices = move || {
        let mut choices =
            vec![Choice::new("poisson", "Poisson"), Choice::new("none", "evenly spaced")];
        if noise.with(|noise| noise == "gamma") {
            choices.push(Choice::new("gamma", "gamma gaps"));
        }
        choices
    };
    view! {
        <svg class="hist" viewBox="0 0 268 34" role="img" aria-label=move || spark.get().label>
            <path class="f-spark" d=move || spark.get().area></path>
            <path class="l-spark" d=move || spark.get().line></path>
        </svg>
        {move || (0..rows.get()).map(|row| view! { <ProfileRow index row/> }).collect_view()}
        {move || {
            let (id, choices) = (format!("noise-{index}"), choices());
            view! { <Select id label="Around it" choices value=noise on_choose=choose quiet=true/> }
        }}
    }
    .into_any()
}

#[component]
fn ProfileRow(index: usize, row: usize) -> impl IntoView {
    let bench = workbench();
    let (number, later) = (row + 1, row > 0);
    view! {
        <div class="pair" class:first=!later role="group" aria-label=format!("Point {number} of the profile")>
            <NumberField field=Field::Class(index, ClassField::PointTime(row)) bare=later/>
            <NumberField field=Field::Class(index, ClassField::PointRate(row)) bare=later/>
            <button
                class="icon small"
                type="button"
                aria-label=format!("Add a point after point {number}")
                title="Add a point after"
                on:click=move |_| bench.edit(&Edit::Class(index, ClassEdit::AddPoint(row)))
            >
                "+"
            </button>
            <button
                class="icon small"
                type="button"
                aria-label=format!("Remove point {number}")
                title="Remove"
                on:click=move |_| bench.edit(&Edit::Class(index, ClassEdit::RemovePoint(row)))
            >
                "−"
            </button>
        </div>
    }
    .into_any()
}

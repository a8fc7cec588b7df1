//! When requests are due: the kind, its numbers, and the rate it expects over the horizon.

use goodput_engine::scenario::doc::{ArrivalsDoc, RatePointDoc};
use leptos::prelude::*;

use super::grips::{Gripped, grips};
use super::rows::{RowEdits, rows};
use super::text::{Reading, Typing, problem_note};
use super::{change, number_fields};
use crate::controls::{Choice, Select};
use crate::format;
use crate::parse::Quantity;
use crate::state::edit::{ClassEdit, Edit, Typed};
use crate::state::field::{ClassField, Field, Text, of_arrivals};
use crate::state::workbench;
use crate::view_model::handles::{self, Frame, Target};
use crate::view_model::{arrivals, pasted, rate_picture};

/// Columns of the table of points.
const COLUMNS: [Quantity; 2] = [Quantity::Seconds, Quantity::Rate];

/// The arrivals of a class.
pub fn editor(index: usize) -> AnyView {
    let bench = workbench();
    let kind = about_arrivals(index, |arrivals| arrivals::kind_of(arrivals).to_owned());
    let numbers = about_arrivals(index, of_arrivals);
    let choose = Callback::new(move |kind: String| change_kind(index, &kind));
    let fields = move || {
        let field = |named| Field::Class(index, ClassField::Arrivals(named));
        number_fields(numbers.get().into_iter().map(field).collect())
    };
    let more = move || match kind.get().as_str() {
        "profile" => profile(index),
        "trace" => trace_line(index),
        _ => ().into_any(),
    };
    let sum = bench.about(move |doc| rate_picture::sum(doc, index));
    view! {
        <div class="block">
            <Select
                id=format!("arrivals-kind-{index}")
                label="Arrivals"
                choices=arrivals::choices()
                value=kind
                on_choose=choose
                quiet=true
            />
            {picture(index)}
            {more}
            {fields}
            {parts(index)}
            {problem_note(format!("workload.classes[{index}].arrivals.due_s"))}
            <p class="echo">{move || sum.get()}</p>
        </div>
    }
    .into_any()
}

/// Something about the arrivals of a class.
fn about_arrivals<T: Default + PartialEq + Send + Sync + 'static>(
    index: usize,
    read: fn(&ArrivalsDoc) -> T,
) -> Memo<T> {
    workbench().about(move |doc| {
        doc.workload.classes.get(index).map(|class| read(&class.arrivals)).unwrap_or_default()
    })
}

fn change_kind(index: usize, kind: &str) {
    let doc = workbench().doc_untracked();
    let Some(class) = doc.workload.classes.get(index) else { return };
    if kind == "trace" {
        // Only a file has a trace.
        crate::browser::click("file-input");
    } else if let Some(new) = arrivals::as_kind(&class.arrivals, kind, doc.workload.horizon_s) {
        change(index, ClassEdit::Arrivals(new));
    }
}

/// The expected rate over the horizon, with handles for what makes it.
fn picture(index: usize) -> AnyView {
    let bench = workbench();
    let kept = RwSignal::new(None::<Frame>);
    let preview = Memo::new(move |_| rate_picture::preview(&bench.doc(), index, kept.get()));
    let frame = Memo::new(move |_| preview.with(|preview| preview.as_ref()?.frame));
    let drawing = move || {
        preview.get().map(|preview| {
            let levels = preview.levels.into_iter().map(|y| {
                view! { <line class="l-ghost" x1="0" x2="268" y1=y y2=y></line> }
            });
            view! {
                <svg class="hist" viewBox="0 0 268 74" role="img" aria-label=preview.label>
                    <path class="f-spark" d=preview.area></path>
                    {levels.collect_view()}
                    <path class="l-spark" d=preview.line></path>
                    <line class="axis0" x1="0" x2="268" y1="56" y2="56"></line>
                    <text x="0" y="11">{preview.top}</text>
                    <text x="0" y="70">"0"</text>
                    <text x="268" y="70" text-anchor="end">{preview.end}</text>
                </svg>
            }
        })
    };
    let over = Gripped { index, target: Target::Arrivals, label: "Arrivals", frame, kept };
    view! { <div class="picture">{drawing} {grips(over)}</div> }.into_any()
}

/// What else is chosen of arrivals: its id, label and choices, what is chosen (empty where these
/// arrivals have none of it), and the edit.
struct Part {
    id: &'static str,
    label: &'static str,
    choices: &'static [(&'static str, &'static str)],
    now: fn(&ArrivalsDoc) -> &'static str,
    change: fn(&ArrivalsDoc, &str) -> Option<ClassEdit>,
}

const PARTS: [Part; 3] = [
    // What is around a rate that changes.
    Part {
        id: "noise",
        label: "Around it",
        choices: &[("poisson", "Poisson"), ("none", "evenly spaced"), ("gamma", "gamma gaps")],
        now: |arrivals| arrivals::noise_of(arrivals).map(arrivals::noise_name).unwrap_or_default(),
        change: |_, name| Some(ClassEdit::Noise(arrivals::noise_named(name))),
    },
    // By what the variation of gamma gaps is known.
    Part {
        id: "gaps-by",
        label: "Gaps by",
        choices: &[("cv", "CV (deviation / mean)"), ("burstiness", "burstiness (vLLM)")],
        now: |arrivals| arrivals::gaps_known_by(arrivals).unwrap_or_default(),
        change: |_, name| Some(ClassEdit::ByBurstiness(name == "burstiness")),
    },
    Part {
        id: "think-time",
        label: "Think time",
        choices: &arrivals::THINK_TIMES,
        now: arrivals::think_name,
        change: |arrivals, name| arrivals::with_think_time(arrivals, name).map(ClassEdit::Arrivals),
    },
];

fn parts(index: usize) -> AnyView {
    PARTS.iter().map(|part| choice(index, part)).collect_view().into_any()
}

fn choice(index: usize, part: &'static Part) -> AnyView {
    let now = part.now;
    let value = workbench().about(move |doc| {
        doc.workload.classes.get(index).map(|class| now(&class.arrivals)).unwrap_or_default()
    });
    let there = Memo::new(move |_| !value.get().is_empty());
    let choose = Callback::new(move |name: String| {
        let doc = workbench().doc_untracked();
        let class = doc.workload.classes.get(index);
        if let Some(edit) = class.and_then(|class| (part.change)(&class.arrivals, &name)) {
            change(index, edit);
        }
    });
    let select = move || {
        let choices = part.choices.iter().map(|(name, label)| Choice::new(*name, *label)).collect();
        let (id, value) =
            (format!("{}-{index}", part.id), Signal::derive(move || value.get().to_owned()));
        view! { <Select id label=part.label choices value on_choose=choose quiet=true/> }
    };
    view! { {move || there.get().then(select)} }.into_any()
}

fn trace_line(index: usize) -> AnyView {
    let text = about_arrivals(index, |arrivals| match arrivals {
        ArrivalsDoc::Trace { due_s, .. } => format!(
            "{} recorded over {}",
            format::plural(due_s.len() as u64, "request", "requests"),
            format::seconds(due_s.last().copied().unwrap_or_default())
        ),
        _ => String::new(),
    });
    view! { <p class="sum">{move || text.get()}</p> }.into_any()
}

/// The points of a profile: typed one by one, or pasted as a table.
fn profile(index: usize) -> AnyView {
    let count = about_arrivals(index, |arrivals| match arrivals {
        ArrivalsDoc::Profile { points, .. } => points.len(),
        _ => 0,
    });
    let edits = RowEdits {
        index,
        what: "point",
        fields: |at| {
            [ClassField::PointTime(at.row), ClassField::PointRate(at.row)]
                .map(|field| Field::Class(at.index, field))
        },
        add: |at| Edit::Class(at.index, ClassEdit::AddPoint(at.row)),
        remove: |at| Edit::Class(at.index, ClassEdit::RemovePoint(at.row)),
        place: None,
    };
    let typing = Typing {
        index,
        text: Text::Points,
        now: |class, _| match &class.arrivals {
            ArrivalsDoc::Profile { points, .. } => Some(Typed::Points(points.clone())),
            _ => None,
        },
        say: |typed| match typed {
            Typed::Points(points) => {
                pasted::table(points.iter().map(|point| (point.t_s, point.rate_rps)), COLUMNS)
            }
            _ => String::new(),
        },
        read: |text, _| read_points(text),
        label: "Seconds and req/s, one point a line",
        example: "0 10\n120 50",
        rows: 5,
    };
    let add = move |_| {
        let doc = workbench().doc_untracked();
        let Some(class) = doc.workload.classes.get(index) else { return };
        let after = handles::widest(&class.arrivals, doc.workload.horizon_s);
        change(index, ClassEdit::AddPoint(after));
    };
    let hint = "or double click; drag points or use the arrow keys, Delete removes one";
    view! {
        <p class="echo">
            <button type="button" class="link" data-testid="add-point" on:click=add>
                "Add a point"
            </button>
            " "
            {hint}
        </p>
        {rows(edits, count)}
        {typing.folded("Paste a table")}
    }
    .into_any()
}

fn read_points(text: &str) -> Reading {
    let rows = pasted::read_table(text, COLUMNS)?;
    let said = format::plural(rows.len() as u64, "point", "points");
    let point = |(t_s, rate_rps)| RatePointDoc { t_s, rate_rps };
    Ok((Typed::Points(rows.into_iter().map(point).collect()), format!("= {said}")))
}

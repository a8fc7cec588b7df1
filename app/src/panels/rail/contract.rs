//! What counts: limits, the share that must be good, quality and errors.

use goodput_engine::scenario::doc::QualityDoc;
use goodput_engine::slo::GapPercentile;
use leptos::prelude::*;

use super::Group;
use super::targets::targets;
use crate::controls::{Choice, NumberField, Select, TextField};
use crate::state::edit::{ClassEdit, Edit};
use crate::state::field::{ClassField, Field};
use crate::state::workbench;
use crate::view_model::workload;

/// The contract of the class being edited.
#[component]
pub fn Contract() -> impl IntoView {
    let bench = workbench();
    let class = bench.class;
    let count = bench.about(|doc| doc.workload.classes.len());
    let summary = Memo::new(move |_| {
        let doc = bench.doc();
        doc.workload.classes.get(class.get()).map(workload::contract_line).unwrap_or_default()
    });
    view! {
        <Group id="contract" title="Contract" summary>
            {move || {
                let index = class.get();
                (index < count.get())
                    .then(|| {
                        view! {
                            {(count.get() > 1).then(|| view! { <ForClass index/> })}
                            <Limits index/>
                            <Quality index/>
                        }
                    })
            }}
        </Group>
    }
    .into_any()
}

#[component]
fn ForClass(index: usize) -> impl IntoView {
    let name = workbench().about(move |doc| {
        doc.workload.classes.get(index).map(|class| class.name.clone()).unwrap_or_default()
    });
    view! { <p class="sum">"of class " <b>{move || name.get()}</b></p> }.into_any()
}

#[component]
fn Limits(index: usize) -> impl IntoView {
    let fields = move |fields: &[ClassField]| {
        let field = move |field| view! { <NumberField field=Field::Class(index, field)/> };
        fields.iter().copied().map(field).collect_view()
    };
    // A first visible token is another than the first where some are hidden.
    let shown = workbench().about(move |doc| {
        let class = doc.workload.classes.get(index);
        class.is_some_and(|class| class.hidden_tokens.is_some() || class.slo.ttfvt_ms.is_some())
    });
    view! {
        <div class="two">
            {fields(&[ClassField::Ttft, ClassField::Tpot, ClassField::LongestStall, ClassField::E2e])}
            {move || shown.get().then(|| fields(&[ClassField::Ttfvt]))}
        </div>
        <Gaps index/>
        <div class="two">{fields(&[ClassField::Target, ClassField::ErrorRate])}</div>
        {targets(index)}
    }
    .into_any()
}

/// The limit on a percentile of each request's own gaps.
#[component]
fn Gaps(index: usize) -> impl IntoView {
    let bench = workbench();
    let percentile = bench.about(move |doc| {
        let limit = doc.workload.classes.get(index).and_then(|class| class.slo.itl_percentile);
        limit.map(|limit| limit.percentile.to_string()).unwrap_or_default()
    });
    let percentiles = GapPercentile::ALL.iter().map(|percentile| percentile.number().to_string());
    let choice = |number: String| Choice::new(number.clone(), format!("p{number}"));
    let choices = std::iter::once(Choice::new("", "no limit")).chain(percentiles.map(choice));
    let choose = Callback::new(move |number: String| {
        bench.edit(&Edit::Class(index, ClassEdit::ItlPercentile(number.parse().ok())));
        bench.seal();
    });
    view! {
        <Select
            id=format!("itl-percentile-{index}")
            label="Own gaps (ITL)"
            choices=choices.collect()
            value=percentile
            on_choose=choose
            quiet=true
        />
        {move || {
            let limited = percentile.with(|percentile| !percentile.is_empty());
            limited.then(|| view! { <NumberField field=Field::Class(index, ClassField::Itl)/> })
        }}
    }
    .into_any()
}

#[component]
fn Quality(index: usize) -> impl IntoView {
    let bench = workbench();
    let state =
        bench.about(move |doc| match doc.workload.classes.get(index).map(|class| &class.quality) {
            Some(QualityDoc::Assumed { .. }) => "assumed",
            Some(QualityDoc::Verified { .. }) => "verified",
            _ => "not_checked",
        });
    let by =
        bench.about(move |doc| match doc.workload.classes.get(index).map(|class| &class.quality) {
            Some(QualityDoc::Assumed { by, .. }) => by.clone(),
            Some(QualityDoc::Verified { source, .. }) => source.clone(),
            _ => String::new(),
        });
    let choices = QUALITIES.map(|(name, label)| Choice::new(name, label)).to_vec();
    let choose = Callback::new(move |name: String| change_quality(index, &name));
    let say = Callback::new(move |text: String| {
        bench.edit(&Edit::Class(index, ClassEdit::QualityBy(text)));
    });
    let value = Signal::derive(move || state.get().to_owned());
    view! {
        <Select id=format!("quality-{index}") label="Quality of answers" choices value on_choose=choose quiet=true/>
        {move || {
            let (label, part) = match state.get() {
                "assumed" => ("Assumed by", "by"),
                "verified" => ("Evaluation and threshold", "source"),
                _ => {
                    return view! {
                        <p class="echo">"Without it the share is latency-only goodput: it says nothing about answers"</p>
                    }
                        .into_any();
                }
            };
            let path = format!("workload.classes[{index}].quality.{part}");
            view! {
                <NumberField field=Field::Class(index, ClassField::PassRate)/>
                <TextField id=format!("quality-by-{index}") label value=by path on_input=say/>
            }
                .into_any()
        }}
    }
    .into_any()
}

fn change_quality(index: usize, name: &str) {
    let bench = workbench();
    let doc = bench.doc_untracked();
    let before = doc.workload.classes.get(index).map(|class| &class.quality);
    bench.edit(&Edit::Class(index, ClassEdit::Quality(quality_named(before, name))));
}

/// What may be known of answers: name in the document, and what is read.
pub(super) const QUALITIES: [(&str, &str); 3] =
    [("not_checked", "nobody checked"), ("assumed", "assumed"), ("verified", "verified")];

/// The same rate in another state of knowledge, or one to begin with.
pub(super) fn quality_named(before: Option<&QualityDoc>, name: &str) -> QualityDoc {
    let (pass_rate, who) = match before {
        Some(QualityDoc::Assumed { pass_rate, by }) => (*pass_rate, by.clone()),
        Some(QualityDoc::Verified { pass_rate, source }) => (*pass_rate, source.clone()),
        _ => (0.97, String::new()),
    };
    match name {
        "assumed" => {
            let by = if who.is_empty() { "whoever edits this scenario".into() } else { who };
            QualityDoc::Assumed { pass_rate, by }
        }
        "verified" => QualityDoc::Verified { pass_rate, source: who },
        _ => QualityDoc::NotChecked,
    }
}

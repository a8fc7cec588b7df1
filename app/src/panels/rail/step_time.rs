//! Where the step time comes from, how far off it may be, and what was fitted.

use goodput_engine::scenario::doc::StepTimeSourceDoc;
use leptos::prelude::*;

use crate::controls::{Choice, NumberField, Select, TagMark};
use crate::format;
use crate::state::edit::{Edit, PoolEdit};
use crate::state::field::{Field, PoolField};
use crate::state::workbench;
use crate::view_model::words::Tag;

/// Source, band, fit and overheads.
#[component]
pub fn StepTime() -> impl IntoView {
    let bench = workbench();
    let source = bench.about(|doc| {
        doc.fleet.pools.first().map_or("catalog", |pool| name_of(&pool.step_time.source))
    });
    let choices = vec![
        Choice::new("catalog", "best known"),
        Choice::new("physics", "physics law"),
        Choice::new("datasheet", "datasheet"),
        Choice::new("declared", "declared rates (simplified)"),
    ];
    let choose = Callback::new(move |name: String| {
        let source = match name.as_str() {
            "physics" => StepTimeSourceDoc::Physics,
            "datasheet" => StepTimeSourceDoc::Datasheet,
            "declared" => StepTimeSourceDoc::Declared {
                declared_input_tps: None,
                declared_output_tps: Some(10_000.0),
            },
            _ => StepTimeSourceDoc::Catalog,
        };
        bench.edit(&Edit::Pool(PoolEdit::StepTime(source)));
    });
    let value = Signal::derive(move || source.get().to_owned());
    view! {
        <div class="block">
            <Select id="step-time" label="Step time" choices value on_choose=choose quiet=true/>
            <Origin/>
            <Fitted/>
            {move || {
                (source.get() == "declared")
                    .then(|| {
                        view! {
                            <div class="two">
                                <NumberField field=Field::Pool(PoolField::DeclaredInput)/>
                                <NumberField field=Field::Pool(PoolField::DeclaredOutput)/>
                            </div>
                            <p class="echo">"Bare rates give supply and debt, never a latency"</p>
                        }
                    })
            }}
            <div class="two">
                <NumberField field=Field::Pool(PoolField::StepOverhead)/>
                <NumberField field=Field::Pool(PoolField::ApiOverhead)/>
            </div>
        </div>
    }
    .into_any()
}

fn name_of(source: &StepTimeSourceDoc) -> &'static str {
    match source {
        StepTimeSourceDoc::Catalog | StepTimeSourceDoc::Coefficients { .. } => "catalog",
        StepTimeSourceDoc::Physics => "physics",
        StepTimeSourceDoc::Datasheet => "datasheet",
        StepTimeSourceDoc::Declared { .. } => "declared",
    }
}

#[component]
fn Origin() -> impl IntoView {
    let bench = workbench();
    let known = Memo::new(move |_| {
        bench.checked.with(|checked| {
            let step = checked.scenario.as_ref()?.pool.step_time()?;
            let provenance = &step.resolved.provenance;
            let band = provenance.band.map(|band| format!(" ±{}", format::percent(band.typical)));
            Some((provenance.origin, band.unwrap_or_default(), provenance.source.clone()))
        })
    });
    view! {
        {move || {
            known
                .get()
                .map(|(origin, band, source)| {
                    view! {
                        <p class="sum prov" title=source data-testid="origin">
                            <TagMark tag=Tag::origin(origin)/>
                            {band}
                        </p>
                    }
                })
        }}
    }
    .into_any()
}

#[component]
fn Fitted() -> impl IntoView {
    let bench = workbench();
    let fitted = bench.about(|doc| {
        let fitted = doc.fleet.pools.first()?.step_time.fitted.as_ref()?;
        Some(format!(
            "× {} fitted from {} of {}",
            format::rounded(fitted.step_time_scale, 3),
            format::plural(u64::from(fitted.points), "point", "points"),
            fitted.files.join(", ")
        ))
    });
    view! {
        {move || {
            fitted
                .get()
                .map(|text| {
                    view! {
                        <p class="sum prov" data-testid="fitted">
                            {text}
                            <button
                                class="link"
                                type="button"
                                on:click=move |_| bench.edit(&Edit::Pool(PoolEdit::Fitted(None)))
                            >
                                "Remove"
                            </button>
                        </p>
                    }
                })
        }}
    }
    .into_any()
}

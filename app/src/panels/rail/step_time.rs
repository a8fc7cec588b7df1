//! Where the step time comes from, how far off it may be, and what was fitted.

use goodput_engine::scenario::doc::StepTimeSourceDoc;
use leptos::prelude::*;

use super::{about_pool, change_pool};
use crate::controls::{Choice, NumberField, Select, TagMark};
use crate::format;
use crate::state::edit::PoolEdit;
use crate::state::field::{Field, PoolField};
use crate::state::workbench;
use crate::view_model::words::Tag;

/// Source, band, fit and overheads.
pub fn step_time(pool: usize) -> AnyView {
    let source = about_pool(pool, |pool| name_of(&pool.step_time.source));
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
        change_pool(pool, PoolEdit::StepTime(source));
    });
    let value = Signal::derive(move || source.get().to_owned());
    view! {
        <div class="block">
            <Select id="step-time" label="Step time" choices value on_choose=choose quiet=true/>
            {origin(pool)}
            {fitted(pool)}
            {move || {
                (source.get() == "declared")
                    .then(|| {
                        view! {
                            <div class="two">
                                <NumberField field=Field::Pool(pool, PoolField::DeclaredInput)/>
                                <NumberField field=Field::Pool(pool, PoolField::DeclaredOutput)/>
                            </div>
                            <p class="echo">"Bare rates give supply and debt, never a latency"</p>
                        }
                    })
            }}
            <div class="two">
                <NumberField field=Field::Pool(pool, PoolField::StepOverhead)/>
                <NumberField field=Field::Pool(pool, PoolField::ApiOverhead)/>
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

fn origin(pool: usize) -> AnyView {
    let bench = workbench();
    let known = Memo::new(move |_| {
        bench.checked.with(|checked| {
            let step = checked.scenario.as_ref()?.pools().nth(pool)?.step_time()?;
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

fn fitted(pool: usize) -> AnyView {
    let fitted = about_pool(pool, |pool| {
        let fitted = pool.step_time.fitted.as_ref()?;
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
                                on:click=move |_| change_pool(pool, PoolEdit::Fitted(None))
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

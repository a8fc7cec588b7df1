//! What serves: replicas, GPU and model, the engine's settings, step time.

use goodput_engine::fleet::KvPrecision;
use leptos::prelude::*;

use super::gpu_model::{Gpu, Model};
use super::step_time::StepTime;
use super::{Group, admission};
use crate::controls::{Choice, NumberField, Select, SwitchBox};
use crate::state::edit::{Edit, PoolEdit, Switch};
use crate::state::field::{Field, PoolField};
use crate::state::workbench;
use crate::view_model::fleet as words;

/// The pool.
#[component]
pub fn Fleet() -> impl IntoView {
    let bench = workbench();
    let summary = bench.about(words::fleet_line);
    let gpus = bench.about(words::gpus_line);
    let memory = Memo::new(move |_| {
        bench.estimate.with(|e| e.as_ref().map(|e| words::memory_line(&e.report)))
    });
    view! {
        <Group id="fleet" title="Fleet" summary>
            <div class="two">
                <NumberField field=Field::Pool(PoolField::Replicas)/>
                <NumberField field=Field::Pool(PoolField::TensorParallel)/>
            </div>
            <p class="echo">{move || gpus.get()}</p>
            <Gpu/>
            <Model/>
            <Precisions/>
            <p class="echo" data-testid="memory">{move || memory.get()}</p>
            <details class="more">
                <summary>"Engine settings"</summary>
                <Scheduler/>
            </details>
            {admission::editor()}
            <StepTime/>
        </Group>
    }
    .into_any()
}

#[component]
fn Precisions() -> impl IntoView {
    let bench = workbench();
    let weights = bench.about(|doc| {
        doc.fleet
            .pools
            .first()
            .map(|pool| words::weights_id(pool.weight_precision))
            .unwrap_or_default()
    });
    let kv = bench.about(|doc| {
        doc.fleet.pools.first().map(|pool| words::kv_id(pool.kv_precision)).unwrap_or_default()
    });
    let choose_weights = Callback::new(move |id: String| {
        if let Some(precision) = words::weights_of(&id) {
            bench.edit(&Edit::Pool(PoolEdit::Weights(precision)));
        }
    });
    let choose_kv = Callback::new(move |id: String| {
        let chosen = words::KV.iter().find(|p| words::kv_id(**p) == id);
        bench.edit(&Edit::Pool(PoolEdit::Kv(chosen.copied().unwrap_or(KvPrecision::default()))));
    });
    let kv_choices = words::KV.map(|p| Choice::new(words::kv_id(p), words::kv_id(p))).to_vec();
    view! {
        <div class="two">
            <Select id="weight-precision" label="Weights" choices=words::weight_choices() value=weights on_choose=choose_weights/>
            <Select id="kv-precision" label="KV cache" choices=kv_choices value=kv on_choose=choose_kv/>
        </div>
    }
    .into_any()
}

#[component]
fn Scheduler() -> impl IntoView {
    let bench = workbench();
    let fields = [
        PoolField::MaxNumSeqs,
        PoolField::MaxNumBatchedTokens,
        PoolField::MaxModelLen,
        PoolField::GpuMemoryUtilization,
        PoolField::NumGpuBlocks,
        PoolField::BlockSize,
    ];
    let fields = fields.map(|field| view! { <NumberField field=Field::Pool(field)/> });
    let switches = Switch::ALL.map(|switch| {
        let on =
            bench.about(move |doc| doc.fleet.pools.first().is_some_and(|pool| switch.get(pool)));
        let change = Callback::new(move |on: bool| {
            bench.edit(&Edit::Pool(PoolEdit::Switch(switch, on)));
        });
        view! { <SwitchBox id=switch.label() label=switch.label() on on_change=change/> }
    });
    view! {
        <div class="one">{fields.into_iter().collect_view()}</div>
        {switches.into_iter().collect_view()}
    }
    .into_any()
}

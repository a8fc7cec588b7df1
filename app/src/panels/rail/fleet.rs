//! What serves: pools of replicas, GPU and model, the engine's settings, step time.

use goodput_engine::fleet::KvPrecision;
use leptos::prelude::*;

use super::gpu_model::{gpu, model};
use super::step_time::step_time;
use super::{Group, about_pool, admission, change_pool, life, of_chosen_pool, pools};
use super::{routing, scheduler::scheduler, text::problem_note};
use crate::controls::{Choice, NumberField, Select};
use crate::state::edit::PoolEdit;
use crate::state::field::{Field, PoolField};
use crate::state::workbench;
use crate::view_model::fleet as words;

/// Pools, and the editor of the one that is chosen.
#[component]
pub fn Fleet() -> impl IntoView {
    let summary = workbench().about(words::fleet_line);
    view! {
        <Group id="fleet" title="Fleet" summary>
            {pools::table()}
            {of_chosen_pool(editor)}
            {routing::editor()}
            {admission::editor()}
        </Group>
    }
    .into_any()
}

fn editor(pool: usize) -> AnyView {
    let bench = workbench();
    let gpus = about_pool(pool, words::gpus_line);
    let memory = Memo::new(move |_| {
        bench.estimate.with(|e| e.as_ref().map(|e| words::memory_line(&e.report, pool)))
    });
    view! {
        <div id="pool-panel">
            {pools::name_field(pool)}
            <div class="two">
                <NumberField field=Field::Pool(pool, PoolField::Replicas)/>
                <NumberField field=Field::Pool(pool, PoolField::TensorParallel)/>
            </div>
            <p class="echo">{move || gpus.get()}</p>
            {gpu(pool)}
            {model(pool)}
            {precisions(pool)}
            <p class="echo" data-testid="memory">{move || memory.get()}</p>
            <details class="more">
                <summary>"Engine settings"</summary>
                {scheduler(pool)}
            </details>
            {life::editor(pool)}
            {step_time(pool)}
            {problem_note("fleet.pools".to_owned())}
        </div>
    }
    .into_any()
}

fn precisions(pool: usize) -> AnyView {
    let weights = about_pool(pool, |pool| words::weights_id(pool.weight_precision));
    let kv = about_pool(pool, |pool| words::kv_id(pool.kv_precision));
    let choose_weights = Callback::new(move |id: String| {
        if let Some(precision) = words::weights_of(&id) {
            change_pool(pool, PoolEdit::Weights(precision));
        }
    });
    let choose_kv = Callback::new(move |id: String| {
        let chosen = words::KV.iter().find(|p| words::kv_id(**p) == id);
        change_pool(pool, PoolEdit::Kv(chosen.copied().unwrap_or(KvPrecision::default())));
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

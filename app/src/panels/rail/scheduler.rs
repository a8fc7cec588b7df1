//! The engine's settings, under vLLM's names.

use goodput_engine::scenario::doc::PoolDoc;
use leptos::prelude::*;

use super::text::problem_note;
use super::{about_pool, change_pool, number_fields};
use crate::controls::{Choice, Select, SwitchBox};
use crate::state::edit::{PoolEdit, Switch};
use crate::state::field::{Field, PoolField};
use crate::state::workbench;
use crate::view_model::scheduler as words;

/// The editor of a pool's engine.
pub fn scheduler(pool: usize) -> AnyView {
    let fields = [
        PoolField::MaxNumSeqs,
        PoolField::MaxNumBatchedTokens,
        PoolField::MaxModelLen,
        PoolField::GpuMemoryUtilization,
        PoolField::NumGpuBlocks,
        PoolField::BlockSize,
    ];
    let fields = fields.map(|field| number_fields(vec![Field::Pool(pool, field)]));
    let switches = Switch::ALL.map(|switch| {
        let bench = workbench();
        let on =
            bench.about(move |doc| doc.fleet.pools.get(pool).is_some_and(|pool| switch.get(pool)));
        let change = Callback::new(move |on: bool| change_pool(pool, PoolEdit::Switch(switch, on)));
        view! { <SwitchBox id=switch.label() label=switch.label() on on_change=change/> }
    });
    view! {
        <div class="one">{fields.into_iter().collect_view()}</div>
        {policy(pool)}
        {explained(pool, PoolField::LongPrefillTokenThreshold, words::threshold_line)}
        {explained(pool, PoolField::StreamInterval, words::interval_line)}
        {switches.into_iter().collect_view()}
    }
    .into_any()
}

/// Whose turn it is.
fn policy(pool: usize) -> AnyView {
    let name = about_pool(pool, words::policy_name);
    let line = about_pool(pool, words::policy_line);
    let choose = Callback::new(move |chosen: String| {
        if let Some((policy, ..)) = words::POLICIES.into_iter().find(|(_, name, _)| *name == chosen)
        {
            change_pool(pool, PoolEdit::SchedulingPolicy(policy));
        }
    });
    let choices = words::POLICIES.map(|(_, name, _)| Choice::new(name, name)).to_vec();
    view! {
        <Select id="scheduling-policy" label="scheduling_policy" choices value=name on_choose=choose/>
        <p class="echo after" data-testid="scheduling-policy-line">{move || line.get()}</p>
        {problem_note(format!("fleet.pools[{pool}].scheduling_policy"))}
    }
    .into_any()
}

/// A number, and in a line what it does as it is.
fn explained(pool: usize, field: PoolField, line: fn(&PoolDoc) -> String) -> AnyView {
    let line = about_pool(pool, line);
    view! {
        <div class="one">{number_fields(vec![Field::Pool(pool, field)])}</div>
        <p class="echo after">{move || line.get()}</p>
    }
    .into_any()
}

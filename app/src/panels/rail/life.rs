//! How the replicas of a pool come and go: start, scaling, failures.

use goodput_engine::scenario::doc::{AutoscalerDoc, ScheduledReplicasDoc};
use leptos::prelude::*;

use super::rows::{RowEdits, rows};
use super::text::problem_note;
use super::{about_pool, change_pool, folded, listed, when};
use crate::controls::{Choice, Select, SwitchBox, id_of};
use crate::state::edit::{Edit, PoolEdit};
use crate::state::field::{Field, PoolField, of_life};
use crate::state::workbench;
use crate::view_model::life;

/// The editor, folded.
pub fn editor(pool: usize) -> AnyView {
    folded(
        "life",
        "Replica life",
        about_pool(pool, life::line),
        view! {
            {fields(pool, |name| !name.contains('.'))}
            <p class="echo after">
                "start_up_s is from the order until a replica takes requests: a machine, weights, warm-up. Measure yours"
            </p>
            {cold_start(pool)}
            {scaling(pool)}
            {failures(pool)}
        }
        .into_any(),
    )
}

/// The numbers with such names.
fn fields(pool: usize, such: fn(&str) -> bool) -> AnyView {
    let named = about_pool(pool, of_life);
    let some = Memo::new(move |_| {
        let named = named.get().into_iter().filter(|named| such(named.name));
        named.map(|named| Field::Pool(pool, PoolField::Life(named))).collect::<Vec<_>>()
    });
    listed(some)
}

fn cold_start(pool: usize) -> AnyView {
    let change = Callback::new(move |on| change_pool(pool, PoolEdit::ColdStart(on)));
    view! {
        <SwitchBox
            id=id_of(&format!("fleet.pools[{pool}].cold_start"))
            label="The first ones start with the run (cold_start)"
            on=about_pool(pool, |pool| pool.cold_start)
            on_change=change
        />
    }
    .into_any()
}

/// Who decides how many there are.
fn scaling(pool: usize) -> AnyView {
    let who = about_pool(pool, |pool| life::scaling_name(pool).to_owned());
    let choose = Callback::new(move |name: String| {
        let doc = workbench().doc_untracked();
        let Some(now) = doc.fleet.pools.get(pool) else { return };
        let (auto, timetable): (Option<AutoscalerDoc>, Vec<ScheduledReplicasDoc>) =
            match name.as_str() {
                "auto" => (Some(life::autoscaler_to_begin_with(now)), Vec::new()),
                "schedule" => (None, life::timetable_to_begin_with(now, doc.workload.horizon_s)),
                _ => (None, Vec::new()),
            };
        change_pool(pool, PoolEdit::Scaling(auto, timetable));
    });
    let more = move || match who.get().as_str() {
        "auto" => autoscaler(pool),
        "schedule" => timetable(pool),
        _ => ().into_any(),
    };
    view! {
        <Select
            id="scaling"
            label="Their number"
            choices=life::SCALINGS.map(|(name, label)| Choice::new(name, label)).to_vec()
            value=who
            on_choose=choose
            quiet=true
        />
        {more}
        {problem_note(format!("fleet.pools[{pool}].scheduled_replicas"))}
    }
    .into_any()
}

fn autoscaler(pool: usize) -> AnyView {
    let signal = about_pool(pool, |pool| life::signal_name(pool).to_owned());
    let choose = Callback::new(move |name: String| {
        let doc = workbench().doc_untracked();
        let auto = doc.fleet.pools.get(pool).and_then(|pool| life::with_signal(pool, &name));
        if auto.is_some() {
            change_pool(pool, PoolEdit::Scaling(auto, Vec::new()));
        }
    });
    view! {
        <div class="part" role="group" aria-label="Autoscaler">
            <Select
                id="signal"
                label="signal"
                choices=life::SIGNALS.map(|(_, name, label)| Choice::new(name, label)).to_vec()
                value=signal
                on_choose=choose
                quiet=true
            />
            {fields(pool, |name| name.starts_with("autoscaler."))}
            <p class="echo after">
                "Every interval so many are wanted that each has its target: all there is ÷ target, rounded up"
            </p>
        </div>
    }
    .into_any()
}

fn timetable(pool: usize) -> AnyView {
    let count = about_pool(pool, |pool| pool.scheduled_replicas.len());
    let edits = RowEdits {
        index: pool,
        what: "entry",
        fields: |at| {
            [PoolField::ScheduledAt(at.row), PoolField::ScheduledReplicas(at.row)]
                .map(|field| Field::Pool(at.index, field))
        },
        add: |at| Edit::Pool(at.index, PoolEdit::AddScheduled(at.row)),
        remove: |at| Edit::Pool(at.index, PoolEdit::RemoveScheduled(at.row)),
        place: None,
    };
    view! { <div class="part">{rows(edits, count)}</div> }.into_any()
}

/// By chance, and at given moments.
fn failures(pool: usize) -> AnyView {
    let count = about_pool(pool, |pool| pool.failures.crashes.len());
    let some = Memo::new(move |_| count.get() > 0);
    let change = Callback::new(move |on: bool| {
        let horizon_s = workbench().doc_untracked().workload.horizon_s;
        let crashes = if on { life::crashes_to_begin_with(horizon_s) } else { Vec::new() };
        change_pool(pool, PoolEdit::Crashes(crashes));
    });
    let edits = RowEdits {
        index: pool,
        what: "failure",
        fields: |at| {
            [PoolField::CrashAt(at.row), PoolField::CrashReplica(at.row)]
                .map(|field| Field::Pool(at.index, field))
        },
        add: |at| Edit::Pool(at.index, PoolEdit::AddCrash(at.row)),
        remove: |at| Edit::Pool(at.index, PoolEdit::RemoveCrash(at.row)),
        place: None,
    };
    view! {
        {fields(pool, |name| name.starts_with("failures."))}
        <SwitchBox
            id="crashes"
            label="Failures at given moments (crashes)"
            on=some
            on_change=change
        />
        {when(some, move || view! { <div class="part">{rows(edits, count)}</div> }.into_any())}
        {problem_note(format!("fleet.pools[{pool}].failures.crashes"))}
    }
    .into_any()
}

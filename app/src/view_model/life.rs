//! How replicas come and go and how requests find them: in a line, and as it begins when it is
//! switched on.

use goodput_engine::scenario::doc::{
    AutoscalerDoc, CrashDoc, FleetDoc, PoolDoc, RoutingDoc, ScheduledReplicasDoc, SignalDoc,
};

use crate::format;

/// Routing policies: name in the document, and what each does, with what others call it.
pub const ROUTINGS: [(RoutingDoc, &str, &str); 6] = [
    (
        RoutingDoc::LeastOutstanding,
        "least_outstanding",
        "To the replica with the fewest requests queued or running; of equal ones in turn",
    ),
    (RoutingDoc::RoundRobin, "round_robin", "To each replica in turn, however full it is"),
    (RoutingDoc::Random, "random", "To any replica, all alike"),
    (
        RoutingDoc::PowerOfTwo,
        "power_of_two",
        "To the less loaded of two that chance picks: little to know, nearly as good as the least",
    ),
    (
        RoutingDoc::LeastKv,
        "least_kv",
        "To the replica with the fewest KV blocks in use now, as a KV-cache scorer alone has it",
    ),
    (
        RoutingDoc::Affinity,
        "affinity",
        "Those of one session or shared prefix to one replica, unless it is much fuller than the \
         others: vllm-router's consistent_hash, production-stack's session",
    ),
];

/// The name of the policy of a fleet.
pub fn routing_name(fleet: &FleetDoc) -> &'static str {
    routing(fleet).1
}

/// What the policy of a fleet does.
pub fn routing_line(fleet: &FleetDoc) -> &'static str {
    routing(fleet).2
}

fn routing(fleet: &FleetDoc) -> (RoutingDoc, &'static str, &'static str) {
    let known = ROUTINGS.into_iter().find(|(policy, ..)| *policy == fleet.routing);
    known.unwrap_or(ROUTINGS[0])
}

/// Who decides how many replicas there are: name, and what is read.
pub const SCALINGS: [(&str, &str); 3] = [
    ("fixed", "nobody, as many as there are"),
    ("auto", "an autoscaler"),
    ("schedule", "a timetable"),
];

/// Who decides it for a pool.
pub fn scaling_name(pool: &PoolDoc) -> &'static str {
    match (&pool.autoscaler, pool.scheduled_replicas.is_empty()) {
        (Some(_), _) => "auto",
        (None, false) => "schedule",
        (None, true) => "fixed",
    }
}

/// What an autoscaler may look at: name in the document, and what is read.
pub const SIGNALS: [(SignalDoc, &str, &str); 4] = [
    (SignalDoc::Outstanding, "outstanding", "requests queued or running"),
    (SignalDoc::Waiting, "waiting", "requests in queues"),
    (SignalDoc::KvUsage, "kv_usage", "KV memory in use"),
    (SignalDoc::SeatUsage, "seat_usage", "seats in use (max_num_seqs)"),
];

/// The name of what the autoscaler of a pool looks at; empty where it has none.
pub fn signal_name(pool: &PoolDoc) -> &'static str {
    let known = |signal: SignalDoc| SIGNALS.into_iter().find(|(known, ..)| *known == signal);
    pool.autoscaler.and_then(|autoscaler| known(autoscaler.signal)).map_or("", |(_, name, _)| name)
}

/// An autoscaler to begin with: from one replica to twice those that there are.
pub fn autoscaler_to_begin_with(pool: &PoolDoc) -> AutoscalerDoc {
    AutoscalerDoc {
        signal: SignalDoc::Outstanding,
        target: target_to_begin_with(pool, SignalDoc::Outstanding),
        min_replicas: 1,
        max_replicas: pool.replicas.saturating_mul(2).max(2),
        interval_s: 15.0,
        delay_s: 0.0,
        scale_up_cooldown_s: 0.0,
        scale_down_cooldown_s: 300.0,
    }
}

/// The same autoscaler looking at something else, with a target of that.
pub fn with_signal(pool: &PoolDoc, name: &str) -> Option<AutoscalerDoc> {
    let (signal, ..) = SIGNALS.into_iter().find(|(_, known, _)| *known == name)?;
    let target = target_to_begin_with(pool, signal);
    Some(AutoscalerDoc { signal, target, ..pool.autoscaler? })
}

/// Half of the seats taken, a few who wait, memory with room for what comes while a replica starts.
fn target_to_begin_with(pool: &PoolDoc, signal: SignalDoc) -> f64 {
    match signal {
        SignalDoc::Outstanding => f64::from((pool.max_num_seqs / 2).max(1)),
        SignalDoc::Waiting => 5.0,
        SignalDoc::KvUsage => 0.7,
        SignalDoc::SeatUsage => 0.5,
    }
}

/// A timetable to begin with: twice as many replicas from the middle of the horizon on.
pub fn timetable_to_begin_with(pool: &PoolDoc, horizon_s: f64) -> Vec<ScheduledReplicasDoc> {
    let replicas = pool.replicas.saturating_mul(2).max(1);
    vec![ScheduledReplicasDoc { at_s: (horizon_s / 2.0).round(), replicas }]
}

/// A failure to begin with: of the first replica in the middle of the horizon.
pub fn crashes_to_begin_with(horizon_s: f64) -> Vec<CrashDoc> {
    vec![CrashDoc { at_s: (horizon_s / 2.0).round(), replica: 0 }]
}

/// How the replicas of a pool come and go, in a line: "cold start, autoscaled 1 to 16".
pub fn line(pool: &PoolDoc) -> String {
    let entries = pool.scheduled_replicas.len() as u64;
    let crashes = pool.failures.crashes.len() as u64;
    let parts = [
        (pool.start_up_s > 0.0).then(|| format!("start in {}", format::seconds(pool.start_up_s))),
        pool.cold_start.then(|| "cold at first".to_owned()),
        pool.autoscaler
            .map(|auto| format!("autoscaled {} to {}", auto.min_replicas, auto.max_replicas)),
        (entries > 0)
            .then(|| format!("timetable of {}", format::plural(entries, "entry", "entries"))),
        pool.failures.mean_time_between_h.map(|hours| {
            format!("fail every {} on average", format::with_unit(&format::significant(hours), "h"))
        }),
        (crashes > 0).then(|| format::plural(crashes, "failure", "failures")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "there all the time".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::edit::tests::small_doc;
    use crate::state::edit::{Edit, PoolEdit};
    use crate::state::field::{Field, PoolField, of_life};
    use goodput_engine::scenario;
    use goodput_engine::scenario::doc::ScenarioDoc;

    fn with(edit: impl Fn(&PoolDoc) -> Vec<PoolEdit>) -> ScenarioDoc {
        let mut doc = small_doc();
        for edit in edit(&doc.fleet.pools[0]) {
            Edit::Pool(0, edit).apply(&mut doc);
        }
        doc
    }

    #[test]
    fn what_is_switched_on_is_valid_and_takes_time_to_start() {
        for (edits, said) in [
            (
                vec![PoolEdit::Scaling(
                    Some(autoscaler_to_begin_with(&small_doc().fleet.pools[0])),
                    vec![],
                )],
                "start in 120 s, autoscaled 1 to 16",
            ),
            (
                vec![PoolEdit::Scaling(
                    None,
                    timetable_to_begin_with(&small_doc().fleet.pools[0], 600.0),
                )],
                "start in 120 s, timetable of 1 entry",
            ),
            (vec![PoolEdit::ColdStart(true)], "start in 120 s, cold at first"),
            (vec![PoolEdit::Crashes(crashes_to_begin_with(600.0))], "start in 120 s, 1 failure"),
            (vec![], "there all the time"),
        ] {
            let doc = with(|_| edits.clone());
            let checked = scenario::check(&doc).expect(said);
            assert_eq!(checked.warnings, []);
            assert_eq!(line(&doc.fleet.pools[0]).replace(format::THIN, " "), said);
        }
    }

    #[test]
    fn every_signal_has_a_target_that_is_valid() {
        for (signal, name, _) in SIGNALS {
            let mut doc =
                with(|pool| vec![PoolEdit::Scaling(Some(autoscaler_to_begin_with(pool)), vec![])]);
            let autoscaler = with_signal(&doc.fleet.pools[0], name).expect("an autoscaler");
            Edit::Pool(0, PoolEdit::Scaling(Some(autoscaler), vec![])).apply(&mut doc);
            assert_eq!(signal_name(&doc.fleet.pools[0]), name);
            assert_eq!(doc.fleet.pools[0].autoscaler.map(|auto| auto.signal), Some(signal));
            assert!(scenario::check(&doc).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_start_up_of_no_time_that_somebody_typed_stays() {
        let auto = |pool: &PoolDoc| PoolEdit::Scaling(Some(autoscaler_to_begin_with(pool)), vec![]);
        let mut doc = with(|pool| vec![auto(pool)]);
        doc.fleet.pools[0].start_up_s = 0.0;
        Edit::Pool(0, auto(&doc.fleet.pools[0].clone())).apply(&mut doc);
        assert_eq!(doc.fleet.pools[0].start_up_s.to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn every_number_of_a_life_is_read_where_it_is_written() {
        let mut doc = with(|pool| {
            let auto = Some(autoscaler_to_begin_with(pool));
            vec![
                PoolEdit::Scaling(auto, timetable_to_begin_with(pool, 600.0)),
                PoolEdit::AddScheduled(0),
                PoolEdit::Crashes(crashes_to_begin_with(600.0)),
                PoolEdit::AddCrash(0),
            ]
        });
        doc.fleet.pools[0].failures.mean_time_between_h = Some(24.0);
        let rows = (0..2).flat_map(|i| {
            [
                PoolField::ScheduledAt(i),
                PoolField::ScheduledReplicas(i),
                PoolField::CrashAt(i),
                PoolField::CrashReplica(i),
            ]
        });
        let named = of_life(&doc.fleet.pools[0]).into_iter().map(PoolField::Life);
        let fields: Vec<Field> = named.chain(rows).map(|field| Field::Pool(0, field)).collect();
        assert_eq!(fields.len(), 10 + 8);
        for field in &fields {
            let mut changed = doc.clone();
            field.set(&mut changed, Some(17.0));
            assert_eq!(field.get(&changed), Some(17.0), "{field:?}");
            for other in fields.iter().filter(|other| *other != field) {
                assert_eq!(other.get(&changed), other.get(&doc), "{field:?} → {other:?}");
            }
        }
    }
}

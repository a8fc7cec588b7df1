//! Checks of how the replicas of a pool come and go.

use super::findings::Findings;
use super::pool::MAX_REPLICAS;
use crate::counted::{plural, typed};
use crate::fleet::{Autoscaler, Crash, Failures, Life, Scaling, Signal};
use crate::scenario::doc::{AutoscalerDoc, FleetDoc, PoolDoc, SignalDoc};
use crate::units::{MAX_HORIZON_S, PICOS_PER_S, Picos};

/// The most entries of a timetable, and the most failures at given moments.
const MOST_ENTRIES: usize = 1_000;
/// An autoscaler looks no more often, seconds.
const SHORTEST_INTERVAL_S: f64 = 0.1;
/// The shortest mean time between failures, hours: six minutes.
const SHORTEST_MEAN_TIME_H: f64 = 0.1;
const S_PER_H: f64 = 3_600.0;

pub(super) fn check(doc: &PoolDoc, path: &str, findings: &mut Findings) -> Option<Life> {
    let mut span = |field: &str, what: &str, seconds: f64| {
        let in_range =
            findings.number(format!("{path}.{field}"), what, seconds, &(0.0..=MAX_HORIZON_S));
        in_range.then(|| Picos::from_secs(seconds))
    };
    let start_up =
        span("start_up_s", "the time a replica takes to start, seconds,", doc.start_up_s);
    let slow_start = span("slow_start_s", "the slow start, seconds,", doc.slow_start_s);
    let scaling = check_scaling(doc, path, findings);
    let failures = check_failures(doc, path, findings);
    warn_about_nothing(doc, path, findings);
    Some(Life {
        start_up: start_up?,
        cold_start: doc.cold_start,
        slow_start: slow_start?,
        scaling: scaling?,
        failures: failures?,
    })
}

/// Cold starts that take no time.
fn warn_about_nothing(doc: &PoolDoc, path: &str, findings: &mut Findings) {
    if doc.cold_start && doc.start_up_s <= 0.0 {
        findings.warning(
            format!("{path}.cold_start"),
            "replicas start when the run begins, in no time: the pool is warm all the same",
            "give `start_up_s`, or leave the cold start out",
        );
    }
}

/// Failures at given moments that never come: of a replica that is never there, or when the run is
/// over.
pub(super) fn warn_about_crashes(fleet: &FleetDoc, horizon_s: f64, findings: &mut Findings) {
    for (i, pool) in fleet.pools.iter().enumerate() {
        let scheduled = pool.scheduled_replicas.iter().map(|entry| entry.replicas);
        let scaled = pool.autoscaler.iter().map(|autoscaler| autoscaler.max_replicas);
        let most = scheduled.chain(scaled).fold(pool.replicas, u32::max);
        for (j, crash) in pool.failures.crashes.iter().enumerate().take(MOST_ENTRIES) {
            let path = format!("fleet.pools[{i}].failures.crashes[{j}]");
            if crash.replica >= most {
                findings.warning(
                    format!("{path}.replica"),
                    format!(
                        "replica {} never fails: the pool has {} at most, numbered from 0",
                        crash.replica,
                        plural(most.into(), "replica", "replicas")
                    ),
                    format!("give 0 to {}, or leave the failure out", most.saturating_sub(1)),
                );
            }
            if crash.at_s >= horizon_s {
                findings.warning(
                    format!("{path}.at_s"),
                    format!(
                        "this failure comes at {} s, when the horizon of {} s is over",
                        typed(crash.at_s),
                        typed(horizon_s)
                    ),
                    format!("give seconds below {}, or lengthen the horizon", typed(horizon_s)),
                );
            }
        }
    }
}

fn check_scaling(doc: &PoolDoc, path: &str, findings: &mut Findings) -> Option<Scaling> {
    match (&doc.autoscaler, doc.scheduled_replicas.is_empty()) {
        (None, true) => Some(Scaling::Fixed),
        (None, false) => check_schedule(doc, path, findings).map(Scaling::Schedule),
        (Some(autoscaler), true) => {
            let path = format!("{path}.autoscaler");
            check_autoscaler(autoscaler, doc.replicas, &path, findings).map(Scaling::Auto)
        }
        (Some(_), false) => {
            findings.error(
                format!("{path}.scheduled_replicas"),
                "both a timetable and an autoscaler decide how many replicas there are",
                "leave one of `scheduled_replicas` and `autoscaler` out",
            );
            None
        }
    }
}

fn check_schedule(doc: &PoolDoc, path: &str, findings: &mut Findings) -> Option<Vec<(Picos, u32)>> {
    let entries = &doc.scheduled_replicas;
    let path = format!("{path}.scheduled_replicas");
    let mut fine = is_short(entries.len(), &path, findings);
    for (i, entry) in entries.iter().enumerate().take(MOST_ENTRIES) {
        let at = format!("{path}[{i}]");
        let (at_path, what) = (format!("{at}.at_s"), "the moment of this entry, seconds,");
        fine &= findings.number(at_path, what, entry.at_s, &(0.0..=MAX_HORIZON_S));
        let range = 0..=u64::from(MAX_REPLICAS);
        let replicas = u64::from(entry.replicas);
        let (count_path, what) = (format!("{at}.replicas"), "the number of replicas");
        fine &= findings.count(count_path, what, replicas, &range);
        if i > 0 && entry.at_s <= entries[i - 1].at_s {
            findings.error(
                format!("{at}.at_s"),
                format!("this entry is not after the one before, at {:?} s", entries[i - 1].at_s),
                "list them in order of time, each moment once",
            );
            fine = false;
        }
    }
    let checked = entries.iter().map(|entry| (Picos::from_secs(entry.at_s), entry.replicas));
    fine.then(|| checked.collect())
}

fn is_short(entries: usize, path: &str, findings: &mut Findings) -> bool {
    if entries > MOST_ENTRIES {
        findings.error(
            path,
            format!("there are {entries} entries"),
            format!("give up to {MOST_ENTRIES}"),
        );
    }
    entries <= MOST_ENTRIES
}

fn check_autoscaler(
    doc: &AutoscalerDoc,
    replicas: u32,
    path: &str,
    findings: &mut Findings,
) -> Option<Autoscaler> {
    let (signal, most_target) = match doc.signal {
        SignalDoc::Outstanding => (Signal::Outstanding, 1e6),
        SignalDoc::Waiting => (Signal::Waiting, 1e6),
        SignalDoc::KvUsage => (Signal::KvUsage, 1.0),
        SignalDoc::SeatUsage => (Signal::SeatUsage, 1.0),
    };
    let spans = autoscaler_numbers(doc, most_target, path, findings);
    let mut count = |field: &str, what: &str, value: u32, range: (u32, u32)| {
        let range = u64::from(range.0)..=u64::from(range.1);
        findings.count(format!("{path}.{field}"), what, value.into(), &range)
    };
    let (min, max) = (doc.min_replicas, doc.max_replicas);
    let counts = [
        count("min_replicas", "the fewest replicas", min, (1, MAX_REPLICAS)),
        count("max_replicas", "the most replicas", max, (min.max(1), MAX_REPLICAS.max(min))),
    ];
    if counts == [true, true] && !(min..=max).contains(&replicas) {
        findings.error(
            format!("{path}.min_replicas"),
            format!("the pool begins with {replicas} replicas, outside {min} to {max}"),
            "let `replicas` lie from `min_replicas` to `max_replicas`",
        );
        return None;
    }
    (spans && counts == [true, true]).then(|| Autoscaler {
        signal,
        target: doc.target,
        interval: Picos::from_secs(doc.interval_s),
        delay: Picos::from_secs(doc.delay_s),
        up_cooldown: Picos::from_secs(doc.scale_up_cooldown_s),
        down_cooldown: Picos::from_secs(doc.scale_down_cooldown_s),
        min,
        max,
    })
}

/// Whether everything of an autoscaler but its counts is in range.
fn autoscaler_numbers(
    doc: &AutoscalerDoc,
    most_target: f64,
    path: &str,
    findings: &mut Findings,
) -> bool {
    let mut number = |field: &str, what: &str, value: f64, range: (f64, f64)| {
        findings.number(format!("{path}.{field}"), what, value, &(range.0..=range.1))
    };
    let fine = [
        number(
            "target",
            "what each replica should have of the signal",
            doc.target,
            (1e-6, most_target),
        ),
        number(
            "interval_s",
            "the time between two looks, seconds,",
            doc.interval_s,
            (SHORTEST_INTERVAL_S, MAX_HORIZON_S),
        ),
        number("delay_s", "the delay of a decision, seconds,", doc.delay_s, (0.0, MAX_HORIZON_S)),
        number(
            "scale_up_cooldown_s",
            "the time between decisions for more, seconds,",
            doc.scale_up_cooldown_s,
            (0.0, MAX_HORIZON_S),
        ),
        number(
            "scale_down_cooldown_s",
            "the time before a decision for fewer, seconds,",
            doc.scale_down_cooldown_s,
            (0.0, MAX_HORIZON_S),
        ),
    ];
    fine.iter().all(|fine| *fine)
}

fn check_failures(doc: &PoolDoc, path: &str, findings: &mut Findings) -> Option<Failures> {
    let doc = &doc.failures;
    let path = format!("{path}.failures");
    let mut fine = is_short(doc.crashes.len(), &format!("{path}.crashes"), findings);
    for (i, crash) in doc.crashes.iter().enumerate().take(MOST_ENTRIES) {
        let (at, what) =
            (format!("{path}.crashes[{i}].at_s"), "the moment of this failure, seconds,");
        fine &= findings.number(at, what, crash.at_s, &(0.0..=MAX_HORIZON_S));
    }
    if let Some(hours) = doc.mean_time_between_h {
        let range = SHORTEST_MEAN_TIME_H..=1e6;
        let at = format!("{path}.mean_time_between_h");
        fine &= findings.number(at, "the mean time between failures, hours,", hours, &range);
    }
    let crash = |crash: &crate::scenario::doc::CrashDoc| Crash {
        at: Picos::from_secs(crash.at_s),
        replica: crash.replica,
    };
    // Beyond all that time can count, it never comes.
    let most = i64::MAX as f64 / PICOS_PER_S as f64;
    let mean = doc.mean_time_between_h.map(|hours| Picos::from_secs((hours * S_PER_H).min(most)));
    let crashes = doc.crashes.iter().map(crash).collect();
    fine.then_some(Failures { mean_time_between: mean, crashes })
}

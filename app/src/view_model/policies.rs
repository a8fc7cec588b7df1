//! What clients do beside asking, and whom the fleet lets in: in a line, as it begins when it is
//! switched on, and what came of it.

use goodput_engine::accounts::report::SimReport;
use goodput_engine::scenario::doc::{
    AdmissionDoc, ClassDoc, PatienceDoc, RetriesDoc, RetryOnDoc, ScenarioDoc, SheddingDoc,
    TokenBucketDoc,
};

use super::{arrivals, sharing};
use crate::format;

/// What may be tried again, as the document names it.
pub const RETRY_ON: [(RetryOnDoc, &str, &str); 5] = [
    (RetryOnDoc::Rejected, "retry-rejected", "rejected"),
    (RetryOnDoc::Error, "retry-error", "error"),
    (RetryOnDoc::TimedOut, "retry-timed-out", "timed_out"),
    (RetryOnDoc::CancelledBeforeFirst, "retry-cancelled-before-first", "cancelled_before_first"),
    (RetryOnDoc::CancelledMidStream, "retry-cancelled-mid-stream", "cancelled_mid_stream"),
];

/// The retries of the OpenAI client for Python by default (`_constants.py` and
/// `_base_client.py`, version 1): two after the first attempt, half a second doubling up to
/// 8 s, less up to a quarter.
pub fn retries_to_begin_with() -> RetriesDoc {
    RetriesDoc { backoff_base_s: 0.5, backoff_max_s: 8.0, jitter: 0.25, ..RetriesDoc::new(3) }
}

/// The same retries with one way to go wrong in or out.
pub fn with_retry_on(retries: &RetriesDoc, what: RetryOnDoc, on: bool) -> RetriesDoc {
    let kept = |other: RetryOnDoc| if other == what { on } else { retries.on.contains(&other) };
    let on = RETRY_ON.map(|(on, ..)| on).into_iter().filter(|other| kept(*other)).collect();
    RetriesDoc { on, ..retries.clone() }
}

/// A patience of that kind, about `s`.
pub fn patience(kind: &str, s: f64) -> Option<PatienceDoc> {
    match kind {
        "fixed" => Some(PatienceDoc::Fixed { s }),
        "lognormal" => Some(PatienceDoc::Lognormal { median_s: s, p90_s: s * 2.0 }),
        _ => None,
    }
}

/// A bucket that lets the mean rate of all classes through, with two seconds of it at once.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
pub fn bucket_to_begin_with(doc: &ScenarioDoc) -> TokenBucketDoc {
    let offered = doc.workload.classes.iter().filter(|class| class.enabled);
    let rates = offered.map(|class| {
        let turns = class.session.as_ref().and_then(sharing::mean_turns).unwrap_or(1.0);
        turns * arrivals::mean_rate(&class.arrivals, doc.workload.horizon_s)
    });
    let rate_rps = arrivals::tidy(rates.sum::<f64>()).max(0.001);
    TokenBucketDoc { rate_rps, burst: (rate_rps * 2.0).ceil() as u32 }
}

/// Shedding of what is less urgent than 0 once as many wait as may run.
pub fn shedding_to_begin_with(doc: &ScenarioDoc) -> SheddingDoc {
    let seats = doc.fleet.pools.iter().map(|pool| pool.replicas.saturating_mul(pool.max_num_seqs));
    SheddingDoc { max_waiting: seats.fold(0, u32::saturating_add), above_priority: 0 }
}

/// The clients of a class in a line: "60 s of patience, 3 attempts".
pub fn clients_line(class: &ClassDoc) -> String {
    let wait = |patience: PatienceDoc| match patience {
        PatienceDoc::Fixed { s } => format::seconds(s),
        PatienceDoc::Lognormal { median_s, .. } => format!("about {}", format::seconds(median_s)),
    };
    let parts = [
        class.patience.map(|patience| format!("{} of patience", wait(patience))),
        class.stall_patience.map(|patience| format!("{} of a stall", wait(patience))),
        class.timeout_s.map(|s| format!("time-out {}", format::seconds(s))),
        class
            .retries
            .as_ref()
            .map(|retries| format::plural(u64::from(retries.max_attempts), "attempt", "attempts")),
        (class.priority != 0).then(|| format!("priority {}", class.priority)),
    ];
    line(parts, "wait for ever, ask once")
}

/// Whom the fleet lets in, in a line: "queue up to 5 s".
pub fn admission_line(admission: &AdmissionDoc) -> String {
    let parts = [
        admission.max_waiting.map(|most| format!("up to {} waiting", format::count(most.into()))),
        admission.max_queue_age_s.map(|s| format!("queue up to {}", format::seconds(s))),
        admission.token_bucket.map(|bucket| format!("up to {}", format::rps(bucket.rate_rps))),
        admission
            .shedding
            .map(|shedding| format!("shed above priority {}", shedding.above_priority)),
    ];
    line(parts, "everybody")
}

fn line<const N: usize>(parts: [Option<String>; N], none: &str) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { none.to_owned() } else { parts.join(", ") }
}

/// What came of retries and of closed loops; `None` where there are none.
pub fn came_of(report: &SimReport) -> Option<String> {
    let tried = (report.attempts.retried > 0).then(|| {
        format!(
            "{} attempts for them ({} per request), {} tried again",
            format::count(report.attempts.sent),
            format::aligned(report.attempts.per_request, 2),
            format::count(report.attempts.retried),
        )
    });
    let loops = report.classes.iter().filter_map(|class| {
        let users = class.closed_loop.as_ref()?;
        Some(format!(
            "{} of {} users of {} in flight on average, asking {}",
            format::significant(users.mean_in_flight),
            format::count(users.users.into()),
            class.name,
            format::rps(users.rate_rps),
        ))
    });
    let said: Vec<String> = tried.into_iter().chain(loops).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::field::{ClassField, Field, of_admission, of_clients, of_routing};
    use goodput_engine::accounts::answer;
    use goodput_engine::scenario;
    use goodput_engine::scenario::doc::{ArrivalsDoc, RoutingDoc, ThinkTimeDoc};

    /// A document with everything that may be switched on, as it begins.
    fn all_on() -> ScenarioDoc {
        let preset = scenario::presets::preset("chat-peak").expect("a preset");
        let mut doc = preset.doc.clone();
        let class = &mut doc.workload.classes[0];
        class.patience = patience("lognormal", 60.0);
        class.stall_patience = patience("fixed", 10.0);
        class.retries = Some(retries_to_begin_with());
        class.shared_prefix = Some(sharing::prefix_to_begin_with(class));
        class.session = Some(sharing::session_to_begin_with());
        doc.fleet.routing = RoutingDoc::Affinity;
        doc.fleet.admission = AdmissionDoc {
            token_bucket: Some(bucket_to_begin_with(&doc)),
            shedding: Some(shedding_to_begin_with(&doc)),
            ..AdmissionDoc::default()
        };
        doc
    }

    #[test]
    fn what_is_switched_on_begins_with_what_is_valid() {
        let doc = all_on();
        assert!(scenario::check(&doc).is_ok(), "{:?}", scenario::check(&doc));
        let line = clients_line(&doc.workload.classes[0]);
        let line = line.replace(format::THIN, " ");
        assert_eq!(line, "about 60 s of patience, 10 s of a stall, 3 attempts");
    }

    #[test]
    fn every_number_of_clients_and_admission_is_read_where_it_is_written() {
        let doc = all_on();
        let clients = of_clients(&doc.workload.classes[0]).into_iter();
        let clients = clients.map(|named| Field::Class(0, ClassField::Clients(named)));
        let limits = of_admission(&doc.fleet.admission).into_iter().map(Field::Admission);
        let router = of_routing(&doc.fleet).into_iter().map(Field::Routing);
        let fields: Vec<Field> = clients.chain(limits).chain(router).collect();
        assert_eq!(fields.len(), 10 + 3 + 1 + 7 + 1);
        for field in &fields {
            let mut changed = doc.clone();
            field.set(&mut changed, Some(7.0));
            assert_eq!(field.get(&changed), Some(7.0), "{field:?}");
            for other in fields.iter().filter(|other| *other != field) {
                assert_eq!(other.get(&changed), other.get(&doc), "{field:?} → {other:?}");
            }
        }
        let priority = fields.iter().find(|field| field.path().ends_with(".priority"));
        let priority = priority.expect("a priority");
        let mut urgent = doc.clone();
        priority.set(&mut urgent, priority.kind().read("-2").expect("a number"));
        assert_eq!(urgent.workload.classes[0].priority, -2);
    }

    #[test]
    fn what_is_tried_again_is_chosen_one_by_one() {
        let retries = retries_to_begin_with();
        let more = with_retry_on(&retries, RetryOnDoc::CancelledMidStream, true);
        assert_eq!(more.on.len(), 4);
        assert_eq!(with_retry_on(&more, RetryOnDoc::CancelledMidStream, false), retries);
        let mut none = retries;
        for (what, ..) in RETRY_ON {
            none = with_retry_on(&none, what, false);
        }
        assert!(none.on.is_empty());
    }

    #[test]
    fn what_came_of_users_and_retries_is_what_the_report_says() {
        let mut doc = all_on();
        doc.workload.horizon_s = 60.0;
        doc.workload.classes[0].session = None;
        doc.workload.classes[0].arrivals = ArrivalsDoc::ClosedLoop {
            users: 40,
            think_time: ThinkTimeDoc::Exponential { mean_s: 5.0 },
        };
        doc.fleet.admission.token_bucket = Some(TokenBucketDoc { rate_rps: 1.0, burst: 1 });
        let scenario = scenario::check(&doc).expect("valid").scenario;
        let simulated = answer(&scenario).expect("can be simulated");
        let said = came_of(&simulated.report).expect("retries and users");
        assert!(said.contains(" per request), ") && said.contains("of 40 users"), "{said}");
    }
}

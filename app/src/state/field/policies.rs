//! Numbers of what clients do beside asking and of what their prompts share, of whom the fleet lets
//! in and of its router, under their names in the document.

use goodput_engine::scenario::doc::{
    AdmissionDoc, ClassDoc, FleetDoc, LengthsDoc, PatienceDoc, RoutingDoc, SessionDoc,
};

use super::numbers::{Named, Number, find, plain, rate, seconds, think_numbers};
use super::{FieldKind, Slot};
use crate::parse::Quantity;

/// The numbers of the clients of a class: of what they have only.
pub fn of_clients(class: &ClassDoc) -> Vec<Named> {
    clients(&mut copy(class)).into_iter().map(|(named, _)| named).collect()
}

/// Reads one; `None` where these clients have no such number.
pub(super) fn get_of_clients(class: &ClassDoc, wanted: Named) -> Option<f64> {
    find(clients(&mut copy(class)), wanted)?.get()
}

/// The place of one.
pub(super) fn place_in_clients(class: &mut ClassDoc, wanted: Named) -> Option<Slot<'_>> {
    find(clients(class), wanted)
}

/// The numbers of whom the fleet lets in: of the limits that there are and of those that may be.
pub fn of_admission(admission: &AdmissionDoc) -> Vec<Named> {
    limits(&mut { *admission }).into_iter().map(|(named, _)| named).collect()
}

/// Reads one; `None` where the document has no such limit.
pub(super) fn get_of_admission(admission: &AdmissionDoc, wanted: Named) -> Option<f64> {
    find(limits(&mut { *admission }), wanted)?.get()
}

/// The place of one.
pub(super) fn place_in_admission(admission: &mut AdmissionDoc, wanted: Named) -> Option<Slot<'_>> {
    find(limits(admission), wanted)
}

/// The numbers of the router: of the policy that it has.
pub fn of_routing(fleet: &FleetDoc) -> Vec<Named> {
    bound(fleet.routing).into_iter().collect()
}

/// Reads one; `None` where the policy has no such number.
pub(super) fn get_of_routing(fleet: &FleetDoc, wanted: Named) -> Option<f64> {
    bound(fleet.routing).filter(|named| *named == wanted).map(|_| fleet.affinity_most_over_mean)
}

/// The place of one.
pub(super) fn place_in_routing(fleet: &mut FleetDoc, wanted: Named) -> Option<Slot<'_>> {
    let there = bound(fleet.routing).filter(|named| *named == wanted);
    there.map(|_| Slot::Real(&mut fleet.affinity_most_over_mean))
}

fn bound(routing: RoutingDoc) -> Option<Named> {
    let named = plain("affinity_most_over_mean", "affinity_most_over_mean", "× the mean");
    (routing == RoutingDoc::Affinity).then_some(named)
}

/// What is read of a class; arrivals and lengths may be long, and none of it is in them.
fn copy(class: &ClassDoc) -> ClassDoc {
    ClassDoc {
        patience: class.patience,
        stall_patience: class.stall_patience,
        timeout_s: class.timeout_s,
        retries: class.retries.clone(),
        priority: class.priority,
        shared_prefix: class.shared_prefix.clone(),
        session: class.session.as_ref().map(|session| SessionDoc {
            turns: LengthsDoc::Fixed { tokens: 1 },
            think_time: session.think_time,
            new_tokens: None,
        }),
        ..super::class::nothing()
    }
}

fn clients(class: &mut ClassDoc) -> Vec<Number<'_>> {
    let ClassDoc {
        patience,
        stall_patience,
        timeout_s,
        retries,
        priority,
        shared_prefix,
        session,
        ..
    } = class;
    let [first, stall] = [
        ["patience.s", "patience.median_s", "patience.p90_s"],
        ["stall_patience.s", "stall_patience.median_s", "stall_patience.p90_s"],
    ];
    let mut numbers = of_patience(patience, first);
    numbers.extend(of_patience(stall_patience, stall));
    let timeout = seconds("timeout_s", "timeout_s").or_empty("nothing is cut off");
    numbers.push((timeout, Slot::MaybeReal(timeout_s)));
    if let Some(retries) = retries {
        let jitter = Named::real("retries.jitter", "jitter", "%", Quantity::Share);
        let real = |named, value| (named, Slot::Real(value));
        numbers.extend([
            (
                count("retries.max_attempts", "max_attempts", ""),
                Slot::Whole(&mut retries.max_attempts),
            ),
            real(seconds("retries.backoff_base_s", "backoff_base_s"), &mut retries.backoff_base_s),
            real(
                plain("retries.backoff_factor", "backoff_factor", "×"),
                &mut retries.backoff_factor,
            ),
            real(seconds("retries.backoff_max_s", "backoff_max_s"), &mut retries.backoff_max_s),
            real(jitter, &mut retries.jitter),
        ]);
    }
    numbers.push((priority_of("priority", "priority"), Slot::Signed(priority)));
    if let Some(prefix) = shared_prefix {
        let length = Named::real("shared_prefix.tokens", "tokens", "tokens", Quantity::Tokens);
        numbers.extend([
            (length.whole(), Slot::Whole(&mut prefix.tokens)),
            (count("shared_prefix.count", "count", "prefixes"), Slot::Whole(&mut prefix.count)),
            (
                plain("shared_prefix.zipf_exponent", "zipf_exponent", "0: all alike"),
                Slot::Real(&mut prefix.zipf_exponent),
            ),
        ]);
    }
    if let Some(session) = session {
        numbers.extend(think_numbers(&mut session.think_time, SESSION_THINK_TIME));
    }
    numbers
}

const SESSION_THINK_TIME: [&str; 4] = [
    "session.think_time.s",
    "session.think_time.min_s",
    "session.think_time.max_s",
    "session.think_time.mean_s",
];

fn of_patience<'a>(
    patience: &'a mut Option<PatienceDoc>,
    names: [&'static str; 3],
) -> Vec<Number<'a>> {
    let [s, median, p90] = names;
    match patience {
        None => Vec::new(),
        Some(PatienceDoc::Fixed { s: value }) => vec![(seconds(s, "Patience"), Slot::Real(value))],
        Some(PatienceDoc::Lognormal { median_s, p90_s }) => vec![
            (seconds(median, "Patience, median"), Slot::Real(median_s)),
            (seconds(p90, "Patience, p90"), Slot::Real(p90_s)),
        ],
    }
}

fn limits(admission: &mut AdmissionDoc) -> Vec<Number<'_>> {
    let AdmissionDoc { max_waiting, max_queue_age_s, token_bucket, shedding, retry_after_s } =
        admission;
    let (most, oldest, after) = (
        count("max_waiting", "max_waiting", "requests").or_empty("as many as come"),
        seconds("max_queue_age_s", "max_queue_age_s").or_empty("as long as it takes"),
        seconds("retry_after_s", "retry_after_s").or_empty("nothing is said"),
    );
    let mut numbers = vec![
        (most, Slot::MaybeWhole(max_waiting)),
        (oldest, Slot::MaybeReal(max_queue_age_s)),
        (after, Slot::MaybeReal(retry_after_s)),
    ];
    if let Some(bucket) = token_bucket {
        numbers.extend([
            (rate("token_bucket.rate_rps", "rate_rps"), Slot::Real(&mut bucket.rate_rps)),
            (count("token_bucket.burst", "burst", "requests"), Slot::Whole(&mut bucket.burst)),
        ]);
    }
    if let Some(shedding) = shedding {
        let (most, above) = (
            count("shedding.max_waiting", "max_waiting", "requests"),
            priority_of("shedding.above_priority", "above_priority"),
        );
        numbers.extend([
            (most, Slot::Whole(&mut shedding.max_waiting)),
            (above, Slot::Signed(&mut shedding.above_priority)),
        ]);
    }
    numbers
}

const fn count(name: &'static str, label: &'static str, unit: &'static str) -> Named {
    Named { name, kind: FieldKind::whole(label, unit, Quantity::Count) }
}

const fn priority_of(name: &'static str, label: &'static str) -> Named {
    Named { name, kind: FieldKind::whole(label, "low is urgent", Quantity::Priority) }
}

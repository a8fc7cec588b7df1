//! Who was not served to the end, and what the door let in.

use super::report::{MixRate, WithoutReplicas};
use super::tally::Row;
use super::words::{percent, plural, span_ms, three_digits};
use crate::fleet::Admission;
use crate::slo::Fate;
use crate::units::Picos;

/// Requests that were not served to the end, by how they left. What they count as is another matter:
/// a limit that had passed counts as missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unserved {
    /// All requests.
    pub offered: u64,
    /// At the door, or after too long in a queue.
    pub turned_away: u64,
    /// They fit no replica.
    pub too_long: u64,
    /// A time-out ended them.
    pub timed_out: u64,
    /// Their users left before the first token.
    pub gave_up: u64,
    /// Their users left in mid-stream.
    pub left: u64,
    /// The run ended first.
    pub never: u64,
}

impl Unserved {
    /// Of the requests of the window.
    pub fn of(window: &[Row]) -> Self {
        let mut all = Self { offered: window.len() as u64, ..Self::default() };
        for row in window {
            let count = match row.stamps.fate {
                Fate::Rejected => &mut all.turned_away,
                Fate::TooLong => &mut all.too_long,
                Fate::TimedOut => &mut all.timed_out,
                Fate::Cancelled if row.stamps.first_token.is_none() => &mut all.gave_up,
                Fate::Cancelled => &mut all.left,
                Fate::Unfinished => &mut all.never,
                Fate::Completed | Fate::Failed => continue,
            };
            *count += 1;
        }
        all
    }

    /// Whether there is any.
    pub fn is_any(&self) -> bool {
        self.counts().iter().any(|(count, _)| *count > 0)
    }

    /// A share of all requests.
    pub fn share(&self, count: u64) -> f64 {
        count as f64 / self.offered.max(1) as f64
    }

    /// Who they are, the most frequent first; `None` where everybody is served to the end.
    pub fn clause(&self) -> Option<String> {
        let mut counts = self.counts().to_vec();
        counts.retain(|(count, _)| *count > 0);
        counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let clauses = counts.iter().enumerate().map(|(i, (count, what))| {
            let of = if i == 0 { " of requests" } else { "" };
            format!("{}{of} {what}", percent(self.share(*count)))
        });
        let clauses: Vec<String> = clauses.collect();
        (!clauses.is_empty()).then(|| clauses.join(", "))
    }

    fn counts(&self) -> [(u64, &'static str); 6] {
        [
            (self.never, "are never served"),
            (self.turned_away, "are turned away"),
            (self.too_long, "fit no replica"),
            (self.timed_out, "time out"),
            (self.gave_up, "give up waiting"),
            (self.left, "leave in mid-stream"),
        ]
    }
}

/// What an overload is where no replica takes requests.
pub fn no_replica(
    without: &WithoutReplicas,
    (pool, horizon_s): (Option<&str>, f64),
    need: &MixRate,
    unserved: &Unserved,
) -> String {
    let WithoutReplicas { total_s, longest_from_s: from, longest_to_s: to } = *without;
    let span = |seconds: f64| span_ms(1e3 * seconds);
    let when = match (from <= 0.0, to >= horizon_s) {
        (true, true) => format!("in all the {} of the horizon", span(horizon_s)),
        (true, false) => format!("before {}", span(to)),
        (false, true) => format!("from {} on", span(from)),
        (false, false) => format!("from {} to {}", span(from), span(to)),
    };
    let in_all = if total_s > 1.001 * (to - from) {
        format!(", and for {} in all", span(total_s))
    } else {
        String::new()
    };
    let of_pool = pool.map_or_else(String::new, |pool| format!(" of pool {pool}"));
    let asked = if need.rps > 0.0 {
        format!(", while {} req/s are asked", three_digits(need.rps))
    } else {
        String::new()
    };
    let never = if unserved.never > 0 {
        let requests = plural(unserved.never, "request is", "requests are");
        format!("; {requests} never served")
    } else {
        String::new()
    };
    format!("No replica{of_pool} takes requests {when}{in_all}{asked}{never}")
}

/// Admitted demand below this share of what is sustained leaves replicas without load: both are
/// counted, and chance moves the one by a tenth.
const KEEPS_IDLE: f64 = 0.8;

/// What the door let in of the requests of some time.
#[derive(Debug, Clone, PartialEq)]
pub struct Door {
    /// Share of the requests; `None` of none.
    let_in: Option<f64>,
    /// Its limits by name.
    limits: String,
}

impl Door {
    /// Of requests due in a span, seconds, or in the whole window.
    pub fn of(admission: &Admission, window: &[Row], span: Option<(f64, f64)>) -> Self {
        let (from, to) = span.map_or((Picos::ZERO, Picos(i64::MAX)), |(from, to)| {
            (Picos::from_secs(from), Picos::from_secs(to))
        });
        let due = window.iter().filter(|row| (from..to).contains(&row.request.due));
        let (mut offered, mut let_in) = (0_u64, 0_u64);
        for row in due {
            offered += 1;
            let was_let_in = row.stamps.queued.is_some() || row.stamps.fate != Fate::Rejected;
            let_in += u64::from(was_let_in);
        }
        let limits = [
            (admission.token_bucket.is_some(), "token_bucket"),
            (admission.shedding.is_some(), "shedding"),
            (admission.max_waiting.is_some(), "max_waiting"),
        ];
        let limits = limits.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name);
        Self {
            let_in: (offered > 0).then(|| let_in as f64 / offered as f64),
            limits: limits.collect::<Vec<_>>().join(", "),
        }
    }

    /// That the door binds and not the replicas, if it lets in less than they sustain.
    pub fn binds(&self, need: &MixRate, have: &MixRate) -> Option<String> {
        let let_in_rps = self.let_in? * need.rps;
        (!self.limits.is_empty() && let_in_rps < KEEPS_IDLE * have.rps).then(|| {
            format!(
                "the door ({}) lets in {} req/s, {} of what the replicas sustain: it binds, not they",
                self.limits,
                three_digits(let_in_rps),
                percent(let_in_rps / have.rps)
            )
        })
    }
}

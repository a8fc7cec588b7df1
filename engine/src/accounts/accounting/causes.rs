//! The main part of every late first token, slow stream and stall.
//!
//! A first token is late by what came before it: overhead and earlier attempts, replicas that had
//! been ordered and were still starting or that nobody had ordered, the queue, its own prefill. A
//! stream is slow by what it would take alone, by the others decoding beside it, by the prompts
//! computed beside it, and by preemptions. Each request is counted under its largest part; of equal
//! ones, the first.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Case;
use crate::accounts::provision::overlap;
use crate::accounts::tally::Row;
use crate::slo::{MissedLimits, Outcome};
use crate::step_time::CompiledLaw;
use crate::units::Picos;

/// What took most of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Tokeniser and server, before any queue.
    Server,
    /// Earlier attempts and the wait before trying again.
    Retry,
    /// Waiting for a replica that had been ordered to start.
    StartUp,
    /// Waiting where no replica took requests and none had been ordered.
    NoReplica,
    /// Waiting in a replica's queue.
    Queue,
    /// Computing its own prompt, beside what else was in those steps.
    Prefill,
    /// Generating what it hides, between the first token and the first that is shown.
    Hidden,
    /// What it takes alone on an idle replica: no load to take away would mend it.
    Alone,
    /// Other sequences decoding in the same steps.
    Batch,
    /// Prompts computed in the same steps.
    PrefillInterference,
    /// Losing its KV blocks, waiting for others and being computed again.
    Preemption,
    /// One long step: others decoding or prompts beside it, which a gap does not tell apart.
    LongStep,
    /// The file does not say.
    NotInFile,
}

impl Cause {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Server => "server, before any queue",
            Self::Retry => "earlier attempts",
            Self::StartUp => "replicas starting",
            Self::NoReplica => "no replica that takes requests",
            Self::Queue => "queue",
            Self::Prefill => "prefill",
            Self::Hidden => "tokens that are not shown",
            Self::Alone => "slow even alone",
            Self::Batch => "others decoding beside it",
            Self::PrefillInterference => "prompts beside it",
            Self::Preemption => "preemption",
            Self::LongStep => "a long step",
            Self::NotInFile => "not in file",
        }
    }
}

/// The main parts of one request's lateness; `None` where it was not late in that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MainParts {
    /// Of a late first token.
    pub first_token: Option<Cause>,
    /// Of tokens that came too slowly.
    pub tokens: Option<Cause>,
    /// Of the longest stall.
    pub stall: Option<Cause>,
}

/// Requests by the main part of their lateness. A request that was late in several ways is in
/// several tables; those that left without a whole answer are in none: their outcome says why.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Causes {
    /// Outcomes `late_first_token` and `late_and_slow`.
    pub late_first_token: BTreeMap<Cause, u64>,
    /// Requests that missed TPOT, whatever else they missed.
    pub slow_tokens: BTreeMap<Cause, u64>,
    /// Requests that missed a limit on their gaps, whatever else they missed.
    pub stall: BTreeMap<Cause, u64>,
    /// What the causes leave out, in words.
    pub not_known: Vec<String>,
}

impl Causes {
    /// Counts the parts of `cases`.
    pub fn of(cases: &[Case], not_known: &[&str]) -> Self {
        let mut causes = Self {
            not_known: not_known.iter().map(|&why| why.to_owned()).collect(),
            ..Self::default()
        };
        let late = |case: &&Case| {
            use Outcome::{LateAndSlow, LateCompletion, LateFirstToken, SlowTokens, Stalled};
            let late = [LateFirstToken, LateAndSlow, Stalled, SlowTokens, LateCompletion];
            late.contains(&case.outcome)
        };
        for MainParts { first_token, tokens, stall } in
            cases.iter().filter(late).map(|case| case.parts)
        {
            for (table, cause) in [
                (&mut causes.late_first_token, first_token),
                (&mut causes.slow_tokens, tokens),
                (&mut causes.stall, stall),
            ] {
                if let Some(cause) = cause {
                    *table.entry(cause).or_default() += 1;
                }
            }
        }
        causes
    }
}

/// Finds the main parts of simulated requests.
#[derive(Debug, Clone, Copy)]
pub struct Causer<'a> {
    /// Step time of a replica.
    pub law: &'a CompiledLaw,
    /// From due to queued for whoever is let in at once.
    pub api_overhead: Picos,
    /// When some replica of its pool was starting: spans that do not touch, in order.
    pub starting: &'a [(Picos, Picos)],
}

impl Causer<'_> {
    /// The main parts of a request that missed `missed`.
    pub fn simulated(&self, row: &Row, missed: MissedLimits) -> MainParts {
        let stalled_by_preemption = row.stamps.stream.stalled_by_preemption;
        MainParts {
            first_token: (missed.ttft || missed.ttfvt)
                .then(|| self.before_first_token(row, missed.ttfvt)),
            tokens: missed.tpot.then(|| self.between_tokens(row)),
            stall: (missed.stall || missed.itl).then_some(if stalled_by_preemption {
                Cause::Preemption
            } else {
                Cause::LongStep
            }),
        }
    }

    /// What came before the first token, or with `shown` before the first one that is shown.
    fn before_first_token(&self, row: &Row, shown: bool) -> Cause {
        let (due, stamps) = (row.request.due, row.stamps);
        // What has not come yet ends, as far as is known, when the run does.
        let end = stamps.ended.unwrap_or(due);
        let first = stamps.first_token.unwrap_or(end);
        let scheduled = stamps.scheduled.unwrap_or(first);
        let queued = stamps.queued.unwrap_or(scheduled);
        let server = self.api_overhead.min(queued - due);
        let held = stamps.held.min(queued - due - server);
        let held_while_starting = overlap(self.starting, queued - held, queued);
        let while_starting = overlap(self.starting, queued, scheduled);
        let hides = shown && row.request.hidden_tokens > 0;
        let visible = stamps.first_visible.unwrap_or(end);
        let hidden = if hides { visible - first } else { Picos::ZERO };
        largest([
            (Cause::Server, server),
            (Cause::Retry, queued - due - server - held),
            (Cause::StartUp, held_while_starting + while_starting),
            (Cause::NoReplica, held - held_while_starting),
            (Cause::Queue, scheduled - queued - while_starting),
            (Cause::Prefill, first - scheduled),
            (Cause::Hidden, hidden),
        ])
    }

    fn between_tokens(&self, row: &Row) -> Cause {
        let stamps = row.stamps;
        let (Some(first), Some(ended)) = (stamps.first_token, stamps.ended) else {
            return Cause::Alone;
        };
        let (preempted, beside) = (stamps.stream.preempted, stamps.stream.beside_prefill);
        let alone = self.alone(row);
        let rest = (ended - first - preempted - beside - alone).max(Picos::ZERO);
        largest([
            (Cause::Alone, alone),
            (Cause::Batch, rest),
            (Cause::PrefillInterference, beside),
            (Cause::Preemption, preempted),
        ])
    }

    /// Time from first token to last of a request that has a replica to itself: each step decodes
    /// one sequence and reads what was cached before it.
    fn alone(&self, row: &Row) -> Picos {
        let steps = i64::from(row.stamps.generated.saturating_sub(1));
        let cached = steps * i64::from(row.request.input_tokens) + steps * (steps - 1) / 2;
        let each = self.law.composition(0, 0, 1).0;
        let reads = self.law.per_kv_token().0.saturating_mul(cached);
        Picos(each.saturating_mul(steps).saturating_add(reads))
    }
}

/// The cause of the largest part; of equal ones, the first.
fn largest<const N: usize>(parts: [(Cause, Picos); N]) -> Cause {
    let mut best = parts[0];
    for part in parts {
        if part.1 > best.1 {
            best = part;
        }
    }
    best.0
}

//! The one outcome of a request: first how it left, then which limits it missed, then the answer.

use super::{Contract, Fate, Limit, Measures, Outcome, RequestStamps};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// The limits of its contract that a request missed; one request may have missed several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a set of six members, each named")]
pub struct MissedLimits {
    /// First token after its limit, or never.
    pub ttft: bool,
    /// First visible token after its limit, or never.
    pub ttfvt: bool,
    /// Average time per token above its limit.
    pub tpot: bool,
    /// A gap above its limit.
    pub stall: bool,
    /// More gaps above their limit than its percentile allows.
    pub itl: bool,
    /// Completion after its limit, or never.
    pub e2e: bool,
}

impl MissedLimits {
    /// Whether any limit was missed.
    pub fn any(self) -> bool {
        self.limits().next().is_some()
    }

    /// Whether this limit was missed.
    pub fn contains(self, limit: Limit) -> bool {
        match limit {
            Limit::Ttft => self.ttft,
            Limit::Ttfvt => self.ttfvt,
            Limit::Tpot => self.tpot,
            Limit::Stall => self.stall,
            Limit::Itl => self.itl,
            Limit::E2e => self.e2e,
        }
    }

    /// The limits of this set.
    pub fn limits(self) -> impl Iterator<Item = Limit> {
        Limit::ALL.into_iter().filter(move |limit| self.contains(*limit))
    }

    /// The one limit of this set; `None` if there are none or several.
    pub fn only(self) -> Option<Limit> {
        let mut limits = self.limits();
        let first = limits.next();
        first.filter(|_| limits.next().is_none())
    }

    /// The latency outcome of this set; `None` of the empty one. A late visible token counts as a
    /// late first one, and a percentile of gaps as a stall.
    fn outcome(self) -> Option<Outcome> {
        let late_first = self.ttft || self.ttfvt;
        let stalled = self.stall || self.itl;
        match self {
            _ if late_first && (stalled || self.tpot || self.e2e) => Some(Outcome::LateAndSlow),
            _ if late_first => Some(Outcome::LateFirstToken),
            _ if stalled => Some(Outcome::Stalled),
            Self { tpot: true, .. } => Some(Outcome::SlowTokens),
            Self { e2e: true, .. } => Some(Outcome::LateCompletion),
            _ => None,
        }
    }
}

/// Average time per output token after the first, (c − f)/(n − 1), kept as a fraction so that a
/// limit is compared without rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tpot {
    /// From the first token to the last, c − f.
    pub span: Picos,
    /// Tokens after the first, n − 1; at least 1.
    pub gaps: u32,
}

impl Tpot {
    /// Whether the average is above `limit`.
    pub fn exceeds(self, limit: Picos) -> bool {
        i128::from(self.span.0) > i128::from(limit.0) * i128::from(self.gaps)
    }

    /// The smallest limit that it does not exceed: its average rounded up to a picosecond.
    pub fn least_limit(self) -> Picos {
        let gaps = i64::from(self.gaps).max(1);
        Picos(self.span.0 / gaps + i64::from(self.span.0 % gaps > 0))
    }

    /// The average, milliseconds.
    pub fn as_millis(self) -> f64 {
        self.span.as_millis() / f64::from(self.gaps)
    }
}

/// From due to first token, f − a; `None` without a first token.
pub fn ttft(request: &OfferedRequest, stamps: &RequestStamps) -> Option<Picos> {
    stamps.first_token.map(|first| first - request.due)
}

/// From due to the first token that is shown; `None` without one. A request that hides no token
/// shows its first.
pub fn ttfvt(request: &OfferedRequest, stamps: &RequestStamps) -> Option<Picos> {
    let shown = if request.hidden_tokens == 0 { stamps.first_token } else { stamps.first_visible };
    shown.map(|shown| shown - request.due)
}

/// Average time per output token after the first of a completed request; `None` for one token,
/// and for a request that did not complete.
pub fn tpot(stamps: &RequestStamps) -> Option<Tpot> {
    let completed = stamps.fate == Fate::Completed;
    let span = stamps.ended? - stamps.first_token?;
    let gaps = stamps.generated.checked_sub(1)?;
    (completed && gaps > 0).then_some(Tpot { span, gaps })
}

/// From due to completion, c − a; `None` unless it completed.
pub fn e2e(request: &OfferedRequest, stamps: &RequestStamps) -> Option<Picos> {
    let completed = stamps.fate == Fate::Completed;
    stamps.ended.filter(|_| completed).map(|ended| ended - request.due)
}

/// From due to first scheduled, s − a; `None` if it never was.
pub fn queue_wait(request: &OfferedRequest, stamps: &RequestStamps) -> Option<Picos> {
    stamps.scheduled.map(|scheduled| scheduled - request.due)
}

/// Which limits of `contract` the request missed, whatever else happened to it.
///
/// What never came misses its limit: a rejected request misses TTFT and E2E. Of a request that the
/// end of the run cut off, a limit counts as missed when it had already passed.
pub fn missed_limits(
    contract: &Contract,
    request: &OfferedRequest,
    stamps: &RequestStamps,
) -> MissedLimits {
    Measures::of(request, stamps).missed(contract)
}

/// What became of an offered request: exactly one outcome, in the order of the waterfall.
pub fn classify(contract: &Contract, request: &OfferedRequest, stamps: &RequestStamps) -> Outcome {
    let missed = missed_limits(contract, request, stamps);
    outcome_of(stamps.fate, stamps.first_token.is_some(), request.acceptable, missed)
}

/// The outcome of a request that left by `fate`, with or without a first token and with an
/// acceptable answer or not, and that missed the limits in `missed`: the rule of the waterfall,
/// for simulated and measured requests alike.
pub fn outcome_of(
    fate: Fate,
    had_first_token: bool,
    acceptable: bool,
    missed: MissedLimits,
) -> Outcome {
    match fate {
        Fate::Rejected => Outcome::Rejected,
        Fate::TooLong => Outcome::TooLong,
        Fate::Failed => Outcome::Error,
        Fate::TimedOut => Outcome::TimedOut,
        Fate::Cancelled if had_first_token => Outcome::CancelledMidStream,
        Fate::Cancelled => Outcome::CancelledBeforeFirst,
        Fate::Unfinished => missed.outcome().unwrap_or(Outcome::Unfinished),
        Fate::Completed if acceptable => missed.outcome().unwrap_or(Outcome::Good),
        Fate::Completed => missed.outcome().unwrap_or(Outcome::LowQuality),
    }
}

#[cfg(test)]
mod tests;

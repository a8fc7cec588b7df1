//! The one outcome of a request: first how it left, then which limits it missed, then the answer.

use super::{Contract, Fate, Limit, Measures, Outcome, RequestStamps};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// The limits of its contract that a request missed; one request may have missed several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a set of four members, each named")]
pub struct MissedLimits {
    /// First token after its limit, or never.
    pub ttft: bool,
    /// Average time per token above its limit.
    pub tpot: bool,
    /// A gap above its limit.
    pub stall: bool,
    /// Completion after its limit, or never.
    pub e2e: bool,
}

impl MissedLimits {
    /// Whether any limit was missed.
    pub fn any(self) -> bool {
        self.ttft || self.tpot || self.stall || self.e2e
    }

    /// Whether this limit was missed.
    pub fn contains(self, limit: Limit) -> bool {
        match limit {
            Limit::Ttft => self.ttft,
            Limit::Tpot => self.tpot,
            Limit::Stall => self.stall,
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

    /// The latency outcome of this set; `None` of the empty one.
    fn outcome(self) -> Option<Outcome> {
        match self {
            Self { ttft: true, tpot: false, stall: false, e2e: false } => {
                Some(Outcome::LateFirstToken)
            }
            Self { ttft: true, .. } => Some(Outcome::LateAndSlow),
            Self { stall: true, .. } => Some(Outcome::Stalled),
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
mod tests {
    use super::*;

    const fn ms(millis: i64) -> Picos {
        Picos(millis * 1_000_000_000)
    }

    /// TTFT 500 ms, TPOT 50 ms, stall 200 ms, E2E 5 s.
    fn contract() -> Contract {
        Contract {
            ttft: Some(ms(500)),
            tpot: Some(ms(50)),
            longest_stall: Some(ms(200)),
            e2e: Some(ms(5_000)),
            attainment_target: 0.95,
            percentile_targets: Vec::new(),
        }
    }

    /// Due at 1 s, 11 tokens.
    fn request() -> OfferedRequest {
        OfferedRequest {
            class: 0,
            pool: 0,
            due: ms(1_000),
            input_tokens: 100,
            output_tokens: 11,
            patience: None,
            fails: false,
            acceptable: true,
        }
    }

    /// First token after `ttft` ms, then `span` ms to the end; the longest gap is `stall` ms.
    fn stamps(ttft: i64, span: i64, stall: i64) -> RequestStamps {
        RequestStamps {
            fate: Fate::Completed,
            queued: Some(ms(1_000)),
            scheduled: Some(ms(1_000)),
            first_token: Some(ms(1_000 + ttft)),
            ended: Some(ms(1_000 + ttft + span)),
            generated: 11,
            longest_stall: ms(stall),
            ..RequestStamps::UNSEEN
        }
    }

    /// Neither a first token nor anything after it.
    fn nothing(fate: Fate, ended: Option<i64>) -> RequestStamps {
        RequestStamps {
            fate,
            scheduled: None,
            first_token: None,
            ended: ended.map(ms),
            generated: 0,
            longest_stall: Picos::ZERO,
            ..stamps(0, 0, 0)
        }
    }

    #[test]
    fn every_outcome_has_its_case() {
        let broken = |fate| RequestStamps { fate, ..stamps(100, 100, 10) };
        let cases = [
            (nothing(Fate::Rejected, None), Outcome::Rejected),
            (nothing(Fate::TooLong, None), Outcome::TooLong),
            (broken(Fate::Failed), Outcome::Error),
            (broken(Fate::TimedOut), Outcome::TimedOut),
            (nothing(Fate::Cancelled, Some(9_000)), Outcome::CancelledBeforeFirst),
            (broken(Fate::Cancelled), Outcome::CancelledMidStream),
            (stamps(501, 500, 50), Outcome::LateFirstToken),
            (stamps(501, 501, 50), Outcome::LateAndSlow),
            (stamps(100, 501, 201), Outcome::Stalled),
            (stamps(100, 501, 60), Outcome::SlowTokens),
            (nothing(Fate::Unfinished, Some(1_200)), Outcome::Unfinished),
            (stamps(500, 500, 200), Outcome::Good),
        ];
        for (stamps, outcome) in &cases {
            assert_eq!(classify(&contract(), &request(), stamps), *outcome, "{stamps:?}");
        }
        // Only completion late: no limit on the pace, or it would be missed first.
        let only_e2e = Contract { tpot: None, longest_stall: None, ..contract() };
        let late = classify(&only_e2e, &request(), &stamps(100, 4_901, 600));
        assert_eq!(late, Outcome::LateCompletion);
        let bad = OfferedRequest { acceptable: false, ..request() };
        assert_eq!(classify(&contract(), &bad, &stamps(100, 100, 10)), Outcome::LowQuality);
        let seen: Vec<_> =
            cases.iter().map(|case| case.1).chain([late, Outcome::LowQuality]).collect();
        assert!(Outcome::ALL.iter().all(|outcome| seen.contains(outcome)));
    }

    #[test]
    fn limits_are_inclusive_to_the_picosecond() {
        let just_in = stamps(500, 500, 200);
        assert!(!missed_limits(&contract(), &request(), &just_in).any());
        let later = |span: Picos| Picos(span.0 + 1);
        let late_first = RequestStamps { first_token: just_in.first_token.map(later), ..just_in };
        assert_eq!(classify(&contract(), &request(), &late_first), Outcome::LateFirstToken);
        let slow = RequestStamps { ended: just_in.ended.map(later), ..just_in };
        assert_eq!(classify(&contract(), &request(), &slow), Outcome::SlowTokens);
        let stalled = RequestStamps { longest_stall: later(just_in.longest_stall), ..just_in };
        assert_eq!(classify(&contract(), &request(), &stalled), Outcome::Stalled);
    }

    #[test]
    fn one_token_passes_any_tpot_limit() {
        let strict = Contract { tpot: Some(Picos::ZERO), ..contract() };
        let one = RequestStamps { generated: 1, ..stamps(100, 0, 0) };
        assert_eq!(tpot(&one), None);
        assert_eq!(classify(&strict, &request(), &one), Outcome::Good);
        let two = RequestStamps { generated: 2, ..stamps(100, 1, 0) };
        assert_eq!(classify(&strict, &request(), &two), Outcome::SlowTokens);
    }

    /// All sixteen sets against the rule as the definitions state it, in other words.
    #[test]
    fn the_set_of_missed_limits_decides_the_latency_outcome() {
        for bits in 0..16_u32 {
            let [ttft, tpot, stall, e2e] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
            let missed = MissedLimits { ttft, tpot, stall, e2e };
            let expected = if bits == 0 {
                None
            } else if bits == 1 {
                Some(Outcome::LateFirstToken)
            } else if ttft {
                Some(Outcome::LateAndSlow)
            } else if stall {
                Some(Outcome::Stalled)
            } else if tpot {
                Some(Outcome::SlowTokens)
            } else {
                Some(Outcome::LateCompletion)
            };
            assert_eq!(missed.outcome(), expected, "{missed:?}");
            assert_eq!(missed.any(), expected.is_some());
        }
    }

    #[test]
    fn each_limit_is_missed_alone() {
        // E2E of 5 s is generous, so that every set without it can be reached.
        for bits in 0..8_u32 {
            let [ttft, tpot, stall] = [1, 2, 4].map(|bit| bits & bit != 0);
            let stamps = stamps(
                if ttft { 501 } else { 500 },
                if tpot { 501 } else { 500 },
                if stall { 201 } else { 200 },
            );
            let missed = missed_limits(&contract(), &request(), &stamps);
            assert_eq!(missed, MissedLimits { ttft, tpot, stall, e2e: false });
        }
        let no_limits = Contract { attainment_target: 0.95, ..Contract::default() };
        let missed = missed_limits(&no_limits, &request(), &stamps(9_999, 99_999, 9_999));
        assert!(!missed.any());
    }

    #[test]
    fn what_never_came_missed_its_limit() {
        for fate in [Fate::Rejected, Fate::TooLong, Fate::Cancelled] {
            let missed = missed_limits(&contract(), &request(), &nothing(fate, None));
            assert_eq!(missed, MissedLimits { ttft: true, e2e: true, ..MissedLimits::default() });
        }
        // Its first token had come in time before the server failed it.
        let failed = RequestStamps { fate: Fate::Failed, ..stamps(100, 100, 10) };
        let missed = missed_limits(&contract(), &request(), &failed);
        assert_eq!(missed, MissedLimits { e2e: true, ..MissedLimits::default() });
        assert_eq!(e2e(&request(), &failed), None);
    }

    #[test]
    fn a_request_cut_off_misses_only_what_had_already_passed() {
        let cut = |at| nothing(Fate::Unfinished, Some(at));
        for (stamps, outcome) in [
            (cut(1_500), Outcome::Unfinished),
            (cut(1_501), Outcome::LateFirstToken),
            (cut(6_001), Outcome::LateAndSlow),
            // Streaming: 10 gaps may take 500 ms; after 500 ms it may just about be in time.
            (
                RequestStamps { fate: Fate::Unfinished, generated: 3, ..stamps(100, 500, 50) },
                Outcome::Unfinished,
            ),
            (
                RequestStamps { fate: Fate::Unfinished, generated: 3, ..stamps(100, 501, 50) },
                Outcome::SlowTokens,
            ),
            (
                RequestStamps { fate: Fate::Unfinished, generated: 3, ..stamps(100, 90, 201) },
                Outcome::Stalled,
            ),
        ] {
            assert_eq!(classify(&contract(), &request(), &stamps), outcome, "{stamps:?}");
        }
        // Whether its answer would have been acceptable is not known.
        let bad = OfferedRequest { acceptable: false, ..request() };
        assert_eq!(classify(&contract(), &bad, &cut(1_200)), Outcome::Unfinished);
    }

    #[test]
    fn tpot_is_compared_without_rounding_and_without_overflow() {
        let third = Tpot { span: Picos(10), gaps: 3 };
        assert!(third.exceeds(Picos(3)) && !third.exceeds(Picos(4)));
        let huge = Tpot { span: Picos(i64::MAX), gaps: u32::MAX };
        assert!(!huge.exceeds(Picos(i64::MAX)));
        assert!((tpot(&stamps(100, 500, 50)).unwrap().as_millis() - 50.0).abs() < 1e-12);
    }
}

//! Every outcome and every set of missed limits, by hand.

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
        ttfvt: None,
        itl: None,
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
        hidden_tokens: 0,
        patience: None,
        fails: false,
        acceptable: true,
        lineage: crate::workload::Lineage::NONE,
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
    let seen: Vec<_> = cases.iter().map(|case| case.1).chain([late, Outcome::LowQuality]).collect();
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

/// All sixty-four sets against the rule as the definitions state it, in other words.
#[test]
fn the_set_of_missed_limits_decides_the_latency_outcome() {
    for bits in 0..64_u32 {
        let [ttft, ttfvt, tpot, stall, e2e, itl] = [1, 2, 4, 8, 16, 32].map(|bit| bits & bit != 0);
        let missed = MissedLimits { ttft, ttfvt, tpot, stall, itl, e2e };
        let expected = if bits == 0 {
            None
        } else if bits <= 3 {
            Some(Outcome::LateFirstToken)
        } else if ttft || ttfvt {
            Some(Outcome::LateAndSlow)
        } else if stall || itl {
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
        assert_eq!(missed, MissedLimits { ttft, tpot, stall, ..MissedLimits::default() });
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

/// Ten gaps, of which one may be above a limit on the 90th percentile and none on the 95th.
#[test]
fn a_percentile_of_the_own_gaps_counts_as_a_stall() {
    use crate::slo::{GapPercentile, ItlLimit};
    let of = |percentile| Contract {
        itl: Some(ItlLimit { percentile, at: ms(60) }),
        ..Contract::default()
    };
    let with = |gaps_above| RequestStamps { gaps_above, ..stamps(100, 500, 70) };
    for (percentile, gaps_above, outcome) in [
        (GapPercentile::P90, 1, Outcome::Good),
        (GapPercentile::P90, 2, Outcome::Stalled),
        (GapPercentile::P95, 0, Outcome::Good),
        (GapPercentile::P95, 1, Outcome::Stalled),
    ] {
        let seen = classify(&of(percentile), &request(), &with(gaps_above));
        assert_eq!(seen, outcome, "{percentile:?} with {gaps_above}");
    }
    // Cut off after 2 of 10 gaps, both above: 8 more may follow, but two are one too many.
    let cut = RequestStamps { fate: Fate::Unfinished, generated: 3, ..with(2) };
    assert_eq!(classify(&of(GapPercentile::P90), &request(), &cut), Outcome::Stalled);
    assert_eq!(classify(&of(GapPercentile::P75), &request(), &cut), Outcome::Unfinished);
    // Broken off after them, they are all there is.
    let failed = RequestStamps { fate: Fate::Failed, ..cut };
    assert!(missed_limits(&of(GapPercentile::P75), &request(), &failed).itl);
    let one_token = RequestStamps { generated: 1, ..stamps(100, 0, 0) };
    assert_eq!(classify(&of(GapPercentile::P95), &request(), &one_token), Outcome::Good);
}

/// The first token came in time, the first that is shown did not: nobody saw one in time.
#[test]
fn a_late_visible_token_counts_as_a_late_first_one() {
    let limit = Contract { ttft: Some(ms(500)), ttfvt: Some(ms(900)), ..Contract::default() };
    let hides = |hidden_tokens| OfferedRequest { hidden_tokens, ..request() };
    let shown =
        |at: i64| RequestStamps { first_visible: Some(ms(1_000 + at)), ..stamps(100, 1_000, 100) };
    let nothing_shown = RequestStamps { first_visible: None, ..shown(0) };
    for (request, stamps, outcome) in [
        (hides(8), shown(900), Outcome::Good),
        (hides(9), shown(901), Outcome::LateFirstToken),
        (hides(0), nothing_shown, Outcome::Good),
        // All of its budget went into what is not shown.
        (hides(11), nothing_shown, Outcome::LateFirstToken),
    ] {
        assert_eq!(classify(&limit, &request, &stamps), outcome, "{request:?}");
    }
    let cut = |hidden, at: i64| {
        let stamps =
            RequestStamps { fate: Fate::Unfinished, ended: Some(ms(1_000 + at)), ..nothing_shown };
        classify(&limit, &hides(hidden), &stamps)
    };
    assert_eq!(cut(5, 900), Outcome::Unfinished);
    assert_eq!(cut(5, 901), Outcome::LateFirstToken);
    assert_eq!(cut(11, 200), Outcome::LateFirstToken, "it can show nothing any more");
}

#[test]
fn tpot_is_compared_without_rounding_and_without_overflow() {
    let third = Tpot { span: Picos(10), gaps: 3 };
    assert!(third.exceeds(Picos(3)) && !third.exceeds(Picos(4)));
    let huge = Tpot { span: Picos(i64::MAX), gaps: u32::MAX };
    assert!(!huge.exceeds(Picos(i64::MAX)));
    assert!((tpot(&stamps(100, 500, 50)).unwrap().as_millis() - 50.0).abs() < 1e-12);
}

//! Hand-written requests, one of every kind, and what the accounting says of them: the exact list.

#[path = "accounting/written.rs"]
mod written;

use std::collections::BTreeMap;

use goodput_engine::accounts::accounting::{Cause, Dimension, break_out};
use goodput_engine::slo::{
    Contract, Fate, Limit, Outcome, PercentileTarget, RequestStamps, StreamTime,
};
use goodput_engine::units::Picos;
use goodput_engine::workload::OfferedRequest;

use written::{Written, asked, contract, labels, ms, one_of_each, served, unserved, written};

/// Two more seconds of E2E only: TPOT of 21 tokens in 1 s allows it where TTFT is 500 ms at most,
/// so that E2E alone needs a contract without the others.
fn e2e_only() -> (Contract, RequestStamps) {
    let contract = Contract { e2e: Some(ms(1_000)), ..contract() };
    (contract, served(10, 100, 950, 60))
}

#[test]
fn each_kind_of_request_has_its_outcome() {
    let (list, written) = (one_of_each(), written());
    for (row, (_, _, outcome)) in written.rows().iter().zip(&list) {
        assert_eq!(row.outcome, *outcome, "{:?}", row.stamps);
    }
    let (contract, late) = e2e_only();
    let case = Written::of(&[(asked(), late)]).cases(&contract)[0];
    assert_eq!(case.outcome, Outcome::LateCompletion);
    let seen: Vec<_> = list.iter().map(|(.., outcome)| *outcome).collect();
    let others = Outcome::ALL.iter().filter(|outcome| !seen.contains(outcome));
    assert_eq!(others.collect::<Vec<_>>(), [&Outcome::LateCompletion]);
}

#[test]
fn marginals_stand_beside_the_joint_sets_and_both_are_counted() {
    let marginals = written().accounting(&contract()).marginals;
    let counts: Vec<_> =
        marginals.limits.iter().map(|l| (l.limit, l.missed, l.alone, l.not_judged)).collect();
    // Never a first token: rejected, too long, cancelled before it. Late: two. Of the unfinished
    // one the limit has not passed.
    assert_eq!(
        counts,
        [
            (Limit::Ttft, 5, 1, 0),
            (Limit::Ttfvt, 0, 0, 0),
            (Limit::Tpot, 2, 1, 0),
            (Limit::Stall, 1, 1, 0),
            (Limit::Itl, 0, 0, 0),
            (Limit::E2e, 6, 3, 0)
        ]
    );
    let sets: Vec<(Vec<Limit>, u64)> =
        marginals.sets.into_iter().map(|set| (set.limits, set.requests)).collect();
    assert_eq!(
        sets,
        [
            (vec![], 5),
            (vec![Limit::Ttft], 1),
            (vec![Limit::Ttft, Limit::Tpot], 1),
            (vec![Limit::Ttft, Limit::E2e], 3),
            (vec![Limit::Tpot], 1),
            (vec![Limit::Stall], 1),
            (vec![Limit::E2e], 3),
        ]
    );
    assert_eq!(sets.iter().map(|set| set.1).sum::<u64>(), one_of_each().len() as u64);
}

#[test]
fn every_lost_request_is_in_exactly_one_place_of_the_counterfactual() {
    let relaxing = written().accounting(&contract()).relaxing;
    assert_eq!(relaxing.lost, 12);
    let saved: Vec<_> = relaxing.limits.iter().map(|l| (l.limit, l.now_ms, l.saved)).collect();
    assert_eq!(
        saved,
        [
            (Limit::Ttft, Some(500.0), 1),
            (Limit::Ttfvt, None, 0),
            (Limit::Tpot, Some(50.0), 1),
            (Limit::Stall, Some(400.0), 1),
            (Limit::Itl, None, 0),
            (Limit::E2e, Some(2_000.0), 0)
        ]
    );
    assert_eq!((relaxing.quality, relaxing.errors, relaxing.several), (1, 1, 1));
    let simulate: Vec<_> = relaxing.to_simulate.iter().map(|s| (s.outcome, s.requests)).collect();
    let left = [
        Outcome::Rejected,
        Outcome::TooLong,
        Outcome::TimedOut,
        Outcome::CancelledBeforeFirst,
        Outcome::CancelledMidStream,
        Outcome::Unfinished,
    ];
    assert_eq!(simulate, left.map(|outcome| (outcome, 1)));
    let placed = 3 + 1 + 1 + 1 + left.len() as u64;
    assert_eq!(placed, relaxing.lost);
}

/// Ten requests whose first token alone is late, by 100 ms to 1 s: the limit that saves half, 90 %
/// and all of them, checked by judging the requests again under it.
#[test]
fn the_limit_said_to_save_a_share_saves_exactly_so_many() {
    let list: Vec<_> = (1..=10).map(|i| (asked(), served(10, 500 + 100 * i, 400, 30))).collect();
    let written = Written::of(&list);
    let ttft = &written.accounting(&contract()).relaxing.limits[0];
    let to_save: Vec<_> = ttft.to_save.iter().map(|s| (s.requests, s.limit_ms)).collect();
    assert_eq!(to_save, [(5, 1_000.0), (9, 1_400.0), (10, 1_500.0)]);
    for save in &ttft.to_save {
        let lifted = Contract { ttft: Some(Picos::from_millis(save.limit_ms)), ..contract() };
        let good = written.cases(&lifted).iter().filter(|case| case.is_good()).count() as u64;
        assert_eq!(good, save.requests);
        let tighter = Contract { ttft: Some(Picos(lifted.ttft.expect("set").0 - 1)), ..lifted };
        let good = written.cases(&tighter).iter().filter(|case| case.is_good()).count() as u64;
        assert_eq!(good, save.requests - 1, "no smaller limit does");
    }
}

#[test]
fn late_and_slow_requests_are_counted_under_their_main_part() {
    let with = |stream: StreamTime| RequestStamps { stream, ..served(10, 100, 1_500, 500) };
    let preempted = StreamTime { preempted: ms(800), ..StreamTime::default() };
    let beside = StreamTime { beside_prefill: ms(900), ..StreamTime::default() };
    let stalled = StreamTime { stalled_by_preemption: true, ..preempted };
    let list = [
        (asked(), served(600, 700, 400, 30)),
        (asked(), served(10, 700, 400, 30)),
        (asked(), RequestStamps { queued: Some(ms(1_600)), ..served(610, 700, 400, 30) }),
        (asked(), with(preempted)),
        (asked(), with(beside)),
        (asked(), with(StreamTime::default())),
        (asked(), with(stalled)),
    ];
    let causes = Written::of(&list).accounting(&contract()).causes;
    let first = [(Cause::Retry, 1), (Cause::Queue, 1), (Cause::Prefill, 1)];
    assert_eq!(causes.late_first_token, BTreeMap::from(first));
    let slow = [(Cause::Batch, 1), (Cause::PrefillInterference, 1), (Cause::Preemption, 2)];
    assert_eq!(causes.slow_tokens, BTreeMap::from(slow));
    assert_eq!(causes.stall, BTreeMap::from([(Cause::Preemption, 1), (Cause::LongStep, 3)]));
    // A limit below what one sequence takes alone: no load to take away would mend it.
    let strict = Contract { tpot: Some(ms(9)), ..contract() };
    let alone = Written::of(&[(asked(), served(10, 100, 210, 30))]).accounting(&strict).causes;
    assert_eq!(alone.slow_tokens, BTreeMap::from([(Cause::Alone, 1)]));
}

/// Two streams of 21 tokens in 1 s: one even, one that pauses for 900 ms and then bunches.
#[test]
fn equal_tpot_says_nothing_about_a_pause() {
    let contract = Contract { e2e: None, ..contract() };
    let long = |stall| RequestStamps { generated: 101, ..served(10, 100, 4_000, stall) };
    let asked = OfferedRequest { output_tokens: 101, ..asked() };
    let cases = Written::of(&[(asked, long(40)), (asked, long(3_000))]).cases(&contract);
    assert_eq!(cases[0].measures.tpot, cases[1].measures.tpot);
    assert_eq!(cases[0].outcome, Outcome::Good);
    assert_eq!(cases[1].outcome, Outcome::Stalled);
}

#[test]
fn other_tools_read_the_same_requests_their_way() {
    // 480 answered, 400 of them in time, and 3 failed: 82.8 % of what was offered, 83.3 % of what
    // was answered.
    let mut list = vec![(asked(), served(10, 100, 400, 30)); 400];
    list.extend(vec![(asked(), served(600, 700, 400, 30)); 80]);
    let failed = RequestStamps { fate: Fate::Failed, ..served(10, 100, 400, 30) };
    list.extend(vec![(asked(), failed); 3]);
    let accounting = Written::of(&list).accounting(&contract());
    let offered = accounting.denominators.offered;
    assert_eq!((offered.good, offered.of), (400, 483));
    assert!((offered.share.expect("some") - 0.828).abs() < 5e-4);
    assert_eq!(accounting.denominators.admitted.of, 483);
    assert_eq!(accounting.denominators.completed.of, 480);
    let readings: BTreeMap<&str, (u64, u64)> = accounting
        .readings
        .iter()
        .map(|reading| (reading.rule.as_str(), (reading.share.good, reading.share.of)))
        .collect();
    let expected = [
        ("goodput", (400, 483)),
        ("vllm", (400, 480)),
        ("sglang", (480, 480)),
        ("guidellm", (480, 483)),
        ("inference-perf", (400, 480)),
        ("aiperf", (400, 483)),
        ("blis", (400, 483)),
    ];
    assert_eq!(readings, BTreeMap::from(expected));
    let native = &accounting.readings[4];
    assert!((native.share.share.expect("some") - 0.833).abs() < 5e-4);
    assert_eq!(native.good_rps, Some(40.0), "over the run of 10 s");
    assert_eq!(accounting.readings[0].good_rps, Some(50.0), "ours over the window of 8 s");
    for reading in &accounting.readings {
        assert!(!reading.formula.is_empty() && !reading.source.is_empty(), "{}", reading.rule);
    }
}

#[test]
fn a_stall_or_a_bad_answer_is_good_by_every_rule_that_does_not_look() {
    let bad = OfferedRequest { acceptable: false, ..asked() };
    let list = [(asked(), served(10, 100, 900, 401)), (bad, served(10, 100, 400, 30))];
    let accounting = Written::of(&list).accounting(&contract());
    let good: Vec<u64> = accounting.readings.iter().map(|reading| reading.share.good).collect();
    assert_eq!(good, [0, 2, 2, 2, 2, 2, 2]);
}

#[test]
fn rejecting_three_in_ten_turns_p95_red_over_offered_requests_only() {
    let target = PercentileTarget { of: Limit::Ttft, share: 0.95, limit: ms(500) };
    let contract = Contract { percentile_targets: vec![target], ..contract() };
    let mut list = vec![(asked(), served(10, 100, 400, 30)); 70];
    list.extend(vec![(asked(), unserved(Fate::Rejected, 1_000)); 30]);
    let accounting = Written::of(&list).accounting(&contract);
    let [result] = accounting.percentile_targets.as_slice() else { panic!("one target") };
    assert_eq!((result.met, result.over_offered_ms), (false, None), "p95 never came");
    assert_eq!((result.met_over_completed, result.over_completed_ms), (true, Some(100.0)));
    let ttft = &accounting.percentiles[0];
    assert_eq!((ttft.over_offered.population, ttft.over_offered.p95), (100, None));
    assert_eq!((ttft.over_completed.population, ttft.over_completed.p95), (70, Some(100.0)));
}

#[test]
fn every_break_out_holds_every_request_and_says_what_is_missing() {
    let mut list = one_of_each();
    list[12].0.input_tokens = 2_000;
    let list: Vec<_> = list.iter().map(|(asked, stamps, _)| (*asked, *stamps)).collect();
    let written = Written::of(&list);
    let accounting = written.accounting(&contract());
    // Of one pool there is nothing to tell apart.
    assert_eq!(accounting.break_outs.len(), Dimension::ALL.len() - 1);
    for out in &accounting.break_outs {
        let offered: u64 = out.cells.iter().map(|cell| cell.offered).sum();
        let outcomes: u64 = out.cells.iter().flat_map(|cell| cell.outcomes.values()).sum();
        assert_eq!((offered, outcomes), (15, 15), "{:?}", out.by);
        assert_eq!(out.cells.iter().map(|cell| cell.good).sum::<u64>(), 3);
    }
    let find = |by| accounting.break_outs.iter().find(|out| out.by == [by]).expect("all are there");
    let keys = |by| -> Vec<&str> {
        find(by).cells.iter().map(|cell| cell.key[0].label.as_str()).collect()
    };
    assert_eq!(keys(Dimension::Class), ["chat"]);
    assert_eq!(keys(Dimension::Tenant), ["not available"]);
    assert!(!find(Dimension::Tenant).available);
    assert_eq!(keys(Dimension::Prompt), ["65–128", "1025–2048"]);
    assert_eq!(keys(Dimension::Output), ["1", "17–32"]);
    assert_eq!(keys(Dimension::Replica), ["0", "not available"]);
    assert_eq!(keys(Dimension::CacheHit), ["no hit", "not available"]);
    assert_eq!(keys(Dimension::Window), ["1–2 s"]);
    let crossed =
        break_out(&written.cases(&contract()), &[Dimension::Prompt, Dimension::Output], &labels());
    let cells: Vec<_> = crossed
        .cells
        .iter()
        .map(|cell| (cell.key[0].label.as_str(), cell.key[1].label.as_str(), cell.offered))
        .collect();
    assert_eq!(cells, [("65–128", "1", 1), ("65–128", "17–32", 13), ("1025–2048", "17–32", 1)]);
}

#[test]
fn prompts_are_told_apart_by_how_much_of_them_was_found_cached() {
    // Of prompts of a hundred tokens: nothing, half, and a token more.
    let found =
        |cached_tokens| (asked(), RequestStamps { cached_tokens, ..served(10, 100, 400, 30) });
    let half = asked().input_tokens / 2;
    let list = [found(0), found(1), found(half), found(half + 1), found(half + 1)];
    let accounting = Written::of(&list).accounting(&contract());
    let by = [Dimension::CacheHit];
    let out = accounting.break_outs.iter().find(|out| out.by == by).expect("all are there");
    let cells: Vec<_> =
        out.cells.iter().map(|cell| (cell.key[0].label.as_str(), cell.offered)).collect();
    assert_eq!(cells, [("no hit", 1), ("up to half", 2), ("most", 2)]);
}

/// The same limits, the same number of requests: two colocated servers lose theirs to the pace of
/// tokens, a disaggregated one to the first token. The limit that would save most differs.
#[test]
fn equal_goodput_may_be_bound_by_different_limits() {
    let contract = Contract { ttft: Some(ms(1_000)), tpot: Some(ms(50)), ..Contract::default() };
    let goodput = |good: usize, lost: RequestStamps| {
        let mut list = vec![(asked(), served(10, 100, 400, 30)); good];
        list.extend(vec![(asked(), lost); 100 - good]);
        let accounting = Written::of(&list).accounting(&contract);
        let most = accounting.relaxing.limits.iter().max_by_key(|limit| limit.saved);
        (accounting.denominators.offered.good, most.expect("four").limit)
    };
    let (slow, late) = (served(10, 100, 1_500, 80), served(1_200, 1_400, 400, 30));
    assert_eq!(goodput(26, slow), (26, Limit::Tpot));
    assert_eq!(goodput(30, slow), (30, Limit::Tpot));
    assert_eq!(goodput(70, late), (70, Limit::Ttft));
    assert_eq!(goodput(73, late), (73, Limit::Ttft));
}

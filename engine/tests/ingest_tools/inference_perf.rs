//! inference-perf: stages, summaries, request lists, and the Prometheus report beside them.

use goodput_engine::ingest::{Definition, Load, RecordOutcome, TokenKind, Weighting, read};
use goodput_engine::problem::Severity;

use super::{findings, grave, near, parsed, points, stated};

const STAGE_2025: &[u8] = include_bytes!("../fixtures/ingest/inference_perf_2025_stage.json");
const LIMITED: &[u8] = include_bytes!("../fixtures/ingest/inference_perf_2025_stage_limited.json");
const STAGE_2026: &[u8] = include_bytes!("../fixtures/ingest/inference_perf_2026_stage.json");
const SUMMARY: &[u8] = include_bytes!("../fixtures/ingest/inference_perf_2026_summary.json");
const CONCURRENCY: &[u8] =
    include_bytes!("../fixtures/ingest/inference_perf_2026_concurrency.json");
const SERVER: &[u8] = include_bytes!("../fixtures/ingest/inference_perf_prometheus.json");
const REQUESTS: &[u8] = include_bytes!("../fixtures/ingest/inference_perf_requests.json");

#[test]
fn a_stage_of_2025_is_in_seconds_and_its_tpot_is_per_event() {
    let parsed = parsed(STAGE_2025);
    assert_eq!(parsed.format.id(), "inference_perf");
    let point = &parsed.points()[0];
    assert_eq!((point.load, point.sent_rps), (Load::RequestRate { rps: 20.0 }, Some(20.02)));
    assert!(near(stated(point.ttft.as_ref()).mean_ms.expect("mean"), 55.0, 1e-9));
    let tpot = stated(point.tpot.as_ref());
    assert_eq!(tpot.definition, Definition::PerStreamEvent);
    assert_eq!(stated(point.itl.as_ref()).weighting, Weighting::PerEvent);
    let ntpot = stated(point.ntpot.as_ref());
    assert_eq!(ntpot.definition, Definition::IncludesFirstToken);
    assert!(near(ntpot.mean_ms.expect("mean"), (55.0 + 80.0 * 12.0) / 81.0, 1e-9));
    assert_eq!(ntpot.percentiles.len(), 11);
    // The client was early by less than a millisecond: no wait, and said.
    assert_eq!(stated(point.client_queue.as_ref()).min_ms, None);
    assert!(parsed.notes.remarks.iter().any(|remark| remark.contains("sent early")));
    let identity = findings(STAGE_2025).into_iter().find(|f| f.code == "e2e_identity");
    let identity = identity.expect("TPOT contradicts E2E");
    assert_eq!(identity.severity, Severity::Warning);
    assert!(near(identity.numbers[1].value, 12.0, 1e-9), "what it should have been");
    assert_eq!(grave(STAGE_2025), ["e2e_identity"]);
}

#[test]
fn a_client_that_falls_behind_is_seen_in_rate_and_delay() {
    let found = findings(LIMITED);
    let of = |code: &str| found.iter().find(|f| f.code == code).unwrap_or_else(|| panic!("{code}"));
    let limited = of("client_limited");
    assert!(near(limited.numbers[1].value / limited.numbers[0].value, 0.75, 1e-9));
    let wait = of("client_wait");
    assert!(near(wait.numbers[3].value, 9_000.0 * 1.9, 1e-9), "{wait:?}");
    assert!(near(wait.numbers[4].value, (9_000.0 + 2_400.0) * 1.9, 1e-9));
    // 85/s × 2.4 s wait for a first token.
    assert!(near(of("admission_dominated").numbers[2].value, 204.0, 1e-9));
}

#[test]
fn a_stage_of_2026_has_counts_by_outcome_and_goodput_over_successes() {
    let parsed = parsed(STAGE_2026);
    let point = &parsed.points()[0];
    assert_eq!(
        (point.num_prompts, point.completed, point.failed),
        (Some(2400), Some(2388), Some(12))
    );
    assert_eq!(stated(point.tpot.as_ref()).definition, Definition::ExcludesFirstToken);
    assert_eq!(stated(point.itl.as_ref()).definition, Definition::GapBetweenTokens);
    assert_eq!(point.engine.prefix_hit_share, Some(0.125));
    assert_eq!((point.goodput_rps, point.tps(TokenKind::Total)), (Some(7.0), Some(641.0 * 7.96)));
    let found = findings(STAGE_2026);
    let share = |name: &str| {
        let finding = found.iter().find(|f| f.code == "goodput_denominator").expect("found");
        finding.numbers.iter().find(|figure| figure.name == name).expect("stated").value
    };
    assert!(share("share of offered") < share("share of completed"));
    assert!(found.iter().any(|f| f.code == "warm_prefix" && f.severity == Severity::Note));
}

#[test]
fn a_summary_has_no_load_and_a_concurrency_stage_is_a_closed_loop() {
    let summary = parsed(SUMMARY);
    assert_eq!(summary.points()[0].load, Load::Unstated);
    assert!(summary.notes.remarks.iter().any(|remark| remark.contains("over all stages")));
    assert_eq!(points(CONCURRENCY)[0].load, Load::Concurrency { requests: 64 });
    assert_eq!(grave(CONCURRENCY), Vec::<String>::new());
}

#[test]
fn rates_that_are_no_rate_are_told() {
    let with = |rate: &str| {
        let text = String::from_utf8_lossy(STAGE_2026);
        parsed(
            text.replace("\"requested_rate\": 8.0", &format!("\"requested_rate\": {rate}"))
                .as_bytes(),
        )
    };
    let poisson = with(r#"{"distribution": "poisson", "mean": 8.0}"#);
    assert_eq!(poisson.points()[0].load, Load::RequestRate { rps: 8.0 });
    assert!(poisson.notes.remarks.iter().any(|remark| remark.contains("its mean was taken")));
    for (rate, why) in [("-1.0", "is negative"), ("\"fast\"", "is not a number")] {
        let parsed = with(rate);
        assert_eq!(parsed.points()[0].load, Load::Unstated);
        assert!(parsed.notes.remarks.iter().any(|remark| remark.contains(why)), "{rate}");
    }
}

#[test]
fn the_server_side_is_a_format_of_its_own_with_its_own_clock() {
    let parsed = parsed(SERVER);
    assert_eq!(parsed.format.id(), "inference_perf_prometheus");
    let point = &parsed.points()[0];
    assert_eq!(stated(point.ttft.as_ref()).definition, Definition::ArrivalToFirstToken);
    assert_eq!(point.tpot, None, "the histogram times engine steps, not tokens");
    assert!(near(point.input.expect("input").mean_tokens, 300.0, 1e-9), "not the stated 9,000");
    assert!(parsed.notes.remarks.iter().any(|remark| remark.contains("not merged")));
    assert!(findings(SERVER).iter().any(|f| f.code == "server_clock"));
    assert_eq!(grave(SERVER), ["gauges_unfilled"]);
}

#[test]
fn requests_are_records_and_one_point_over_all_of_them() {
    let parsed = parsed(REQUESTS);
    assert_eq!(parsed.format.id(), "inference_perf_requests");
    let failed = |r: &&goodput_engine::ingest::RequestRecord| r.outcome == RecordOutcome::Error;
    assert_eq!((parsed.requests(), parsed.records().iter().filter(failed).count()), (6, 1));
    let first = parsed.records()[0];
    assert!(near(first.ttft_s.expect("streamed"), 0.1, 1e-6));
    assert!(near(first.tpot_s().expect("ten tokens"), 0.02, 1e-6));
    assert_eq!(first.gaps.expect("events").count, 9);
    assert_eq!(parsed.records()[4].ttft_s, None);
    let point = &parsed.points()[0];
    assert_eq!((point.num_prompts, point.completed, point.failed), (Some(6), Some(5), Some(1)));
    assert!(near(stated(point.ttft.as_ref()).mean_ms.expect("mean"), 100.0, 1e-6));
    assert!(near(point.duration_s.expect("a span"), 2.5 + 0.28, 1e-6));
    assert!(parsed.notes.remarks.iter().any(|remark| remark.contains("stages are not told apart")));
}

#[test]
fn a_list_without_times_is_refused() {
    let refusal = read("x", br#"[{"start_time": null, "end_time": 2, "info": {}}]"#);
    assert!(refusal.expect_err("no times").message.contains("start_time"));
}

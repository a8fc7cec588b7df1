//! llmperf: what its summary and its list of requests say, and what its ITL really is.

use goodput_engine::ingest::{Definition, LengthSource, Load, TokenKind};
use goodput_engine::review::report_under;
use goodput_engine::slo::parse_limits;

use super::{grave, near, parsed, stated};

const SUMMARY: &[u8] = include_bytes!("../fixtures/ingest/llmperf_summary.json");
const REQUESTS: &[u8] = include_bytes!("../fixtures/ingest/llmperf_requests.json");

#[test]
fn a_summary_is_a_closed_loop_over_the_answered() {
    let parsed = parsed(SUMMARY);
    assert_eq!(parsed.format.id(), "llmperf_summary");
    let point = &parsed.points()[0];
    assert_eq!(point.load, Load::Concurrency { requests: 4 });
    assert_eq!(point.context.model.as_deref(), Some("example-8b"));
    assert_eq!((point.num_prompts, point.completed, point.failed), (Some(20), Some(15), Some(5)));
    assert!(
        near(point.duration_s.expect("15 a run"), 17.983_612_5, 1e-6),
        "per minute, not second"
    );
    let output = point.output.expect("counted");
    assert_eq!(output.source, LengthSource::Measured);
    assert!(near(output.mean_tokens, 1_941.0 / 15.0, 1e-9));
    let tokens = point.tps(TokenKind::Output).expect("stated") * 17.983_612_5;
    assert!(near(tokens, 1_941.0, 1e-5), "the rate counts answered requests alone");
    let ttft = stated(point.ttft.as_ref());
    assert!(near(ttft.mean_ms.expect("a mean"), 394.0, 1e-9));
    assert_eq!(ttft.percentiles.len(), 6);
    assert_eq!(point.itl, None, "what it calls ITL is none");
    assert_eq!(stated(point.ntpot.as_ref()).definition, Definition::IncludesFirstToken);
}

/// The law of the definition: E2E ÷ n is above (E2E − TTFT) ÷ (n − 1) wherever TTFT is above TPOT.
#[test]
fn tpot_comes_from_the_requests_and_not_from_the_files_itl() {
    let parsed = parsed(REQUESTS);
    assert_eq!(parsed.format.id(), "llmperf_requests");
    let point = &parsed.points()[0];
    let itl = stated(point.ntpot.as_ref()).mean_ms.expect("reported");
    let tpot = stated(point.tpot.as_ref()).mean_ms.expect("computed");
    assert!(near(itl, 27.539_834, 1e-6) && near(tpot, 24.7, 1e-6), "{itl} {tpot}");
    assert_eq!(point.load, Load::Unstated);
    assert_eq!(point.duration_s, None, "no request says when it began");
    let remarks = parsed.notes.remarks.join("\n");
    assert!(remarks.contains("NTPOT") && remarks.contains("no start times"), "{remarks}");
}

/// However loose the limits, what failed is not good.
#[test]
fn goodput_never_exceeds_the_share_that_succeeded() {
    for limits in ["ttft=1000s,tpot=1000s", "ttft=350ms"] {
        let contract = parse_limits(limits).expect("limits");
        let file = goodput_engine::ingest::read_file("requests.json", REQUESTS);
        let report = report_under(&[file], &contract, &[]);
        let judged = &report.files[0].goodput[0];
        let late = if limits.starts_with("ttft=350") { 10 } else { 0 };
        assert_eq!((judged.offered, judged.good), (20, 15 - late), "{limits}");
    }
}

#[test]
fn statistics_that_leave_a_quarter_out_are_found() {
    for bytes in [SUMMARY, REQUESTS] {
        let grave = grave(bytes);
        assert!(grave.iter().any(|code| code == "failures_left_out"), "{grave:?}");
        let known = ["failures_left_out", "too_short"];
        assert!(grave.iter().all(|code| known.contains(&code.as_str())), "{grave:?}");
    }
}

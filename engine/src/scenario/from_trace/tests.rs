//! A trace becomes the workload it recorded, or one with the same rates and lengths.

use proptest::prelude::*;

use super::*;
use crate::math;
use crate::scenario::doc::ScenarioDoc;
use crate::scenario::{check, link};
use crate::workload::{Lengths, RateProfile};

/// A burst every ten minutes on a quiet day, long answers now and then.
fn bursty(requests: u32) -> RequestTrace {
    let mut trace = RequestTrace::default();
    let mut due_s = 0.0;
    for i in 0..requests {
        let burst = (due_s / 60.0) % 10.0 < 1.0;
        due_s += if burst { 0.03 } else { 0.7 + f64::from(i * 37 % 11) * 0.05 };
        trace.due_s.push(due_s);
        trace.input_tokens.push(200 + (i * 7_919) % 3_900);
        trace.output_tokens.push(math_tokens(i));
    }
    let first = trace.due_s.first().copied().unwrap_or(0.0);
    for due in &mut trace.due_s {
        *due -= first;
    }
    trace
}

/// Lognormal in shape: median 20, a long tail.
fn math_tokens(i: u32) -> u32 {
    let p = (f64::from(i * 619 % 997) + 0.5) / 997.0;
    let tokens = 20.0 * math::exp(1.1 * math::normal_quantile(p));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small lengths")]
    let whole = tokens.round() as u32;
    whole.max(1)
}

fn document(workload: &TraceWorkload) -> ScenarioDoc {
    let mut doc = crate::scenario::doc::parse(
        r#"{"version":1,"name":"From a trace","workload":{"classes":[{"name":"code",
        "arrivals":{"kind":"poisson","rate_rps":1.0},
        "input_tokens":{"kind":"fixed","tokens":1},"output_tokens":{"kind":"fixed","tokens":1},
        "slo":{"ttft_ms":2000.0,"tpot_ms":50.0}}]},
        "fleet":{"pools":[{"gpu":"h100-sxm","model":"llama-3.1-8b","replicas":8,
        "price_per_gpu_hour":2.5}]}}"#,
    )
    .unwrap();
    doc.workload.horizon_s = workload.horizon_s;
    let class = &mut doc.workload.classes[0];
    class.arrivals = workload.arrivals.clone();
    class.input_tokens = workload.input_tokens.clone();
    class.output_tokens = workload.output_tokens.clone();
    doc
}

#[test]
fn a_replay_offers_every_request_of_the_trace_as_recorded() {
    let trace = bursty(3_000);
    let workload = TraceWorkload::of(&trace, TraceForm::Replay).unwrap();
    let scenario = check(&document(&workload)).unwrap().scenario;
    let offered = scenario.offered().unwrap();
    assert_eq!(offered.len(), trace.len());
    for (i, request) in offered.iter().enumerate() {
        assert!((request.due.as_secs() - trace.due_s[i]).abs() < 1e-9);
        assert_eq!(request.input_tokens, trace.input_tokens[i]);
        assert_eq!(request.output_tokens, trace.output_tokens[i]);
    }
    assert_eq!(workload.remarks, Vec::<String>::new());
}

#[test]
fn a_profile_has_the_rates_and_lengths_of_the_trace_and_fits_in_a_short_link() {
    let trace = bursty(9_000);
    let workload = TraceWorkload::of(&trace, TraceForm::Profile).unwrap();
    let doc = document(&workload);
    let link = link::encode(&doc).unwrap();
    assert!(link.fragment.len() < link::LONG_LINK_CHARS, "{}", link.fragment.len());
    let ArrivalsDoc::Profile { points, .. } = &workload.arrivals else { panic!("a profile") };
    let points: Vec<_> = points.iter().map(|point| (point.t_s, point.rate_rps)).collect();
    let profile = RateProfile::new(&points).unwrap();
    let span_s = f64::from(workload.span_s.unwrap());
    for edge in [1.0, 7.0, 20.0].map(|spans| spans * span_s).into_iter().chain([workload.horizon_s])
    {
        let counted = trace.due_s.iter().filter(|due| **due < edge).count() as f64;
        let expected = profile.count_at(edge);
        assert!(
            (expected - counted).abs() <= 1e-3 * counted + 1e-9,
            "{edge}: {expected} {counted}"
        );
    }
    for (doc, recorded) in [
        (&workload.input_tokens, &trace.input_tokens),
        (&workload.output_tokens, &trace.output_tokens),
    ] {
        let LengthsDoc::Quantiles { table } = doc else { panic!("a table") };
        let rows: Vec<_> = table.iter().map(|row| (row.p, row.tokens)).collect();
        let Ok(Lengths::Quantiles(table)) = Lengths::quantiles(&rows) else { panic!("{rows:?}") };
        let drawn = (0..10_000).map(|i| table.at((f64::from(i) + 0.5) / 1e4)).sum::<f64>() / 1e4;
        let mean = recorded.iter().copied().map(f64::from).sum::<f64>() / recorded.len() as f64;
        assert!((drawn / mean - 1.0).abs() < 0.02, "{drawn} {mean}");
    }
}

#[test]
fn what_a_profile_loses_is_said() {
    let mut trace = bursty(500);
    trace.output_tokens[3] = 0;
    let workload = TraceWorkload::of(&trace, TraceForm::Profile).unwrap();
    let all = workload.remarks.join("; ");
    assert!(all.contains("outputs of no tokens count as one token each: 1 of them"), "{all}");
    assert!(all.contains("smoothed") && all.contains("apart"), "{all}");
    let replay = TraceWorkload::of(&trace, TraceForm::Replay).unwrap();
    assert_eq!(replay.remarks.len(), 1, "{:?}", replay.remarks);
    assert!(check(&document(&replay)).is_ok());
}

#[test]
fn no_requests_are_no_workload_and_one_is() {
    for form in [TraceForm::Replay, TraceForm::Profile] {
        assert_eq!(TraceWorkload::of(&RequestTrace::default(), form), None);
        let one = RequestTrace {
            due_s: vec![0.0],
            input_tokens: vec![5],
            output_tokens: vec![7],
            started_at: None,
        };
        let workload = TraceWorkload::of(&one, form).unwrap();
        assert!(check(&document(&workload)).is_ok(), "{workload:?}");
    }
}

proptest! {
    /// Whatever the trace: both forms are valid documents that offer about as many requests.
    #[test]
    fn any_trace_becomes_a_valid_document(
        gaps in prop::collection::vec(prop_oneof![Just(0.0), 0.0..3.0_f64, 0.0..40_000.0_f64], 1..60),
        lengths in prop::collection::vec((0_u32..200_000, 0_u32..4_000), 60),
    ) {
        let mut due_s: Vec<f64> = gaps.iter().scan(0.0, |at, gap| { *at += gap; Some(*at) }).collect();
        let first = due_s[0];
        for due in &mut due_s {
            *due -= first;
        }
        let n = due_s.len();
        let trace = RequestTrace {
            due_s,
            input_tokens: lengths.iter().take(n).map(|l| l.0).collect(),
            output_tokens: lengths.iter().take(n).map(|l| l.1).collect(),
            started_at: None,
        };
        for form in [TraceForm::Replay, TraceForm::Profile] {
            let workload = TraceWorkload::of(&trace, form).unwrap();
            prop_assert!(check(&document(&workload)).is_ok());
            if let ArrivalsDoc::Profile { points, .. } = &workload.arrivals {
                prop_assert!(points.len() <= MAX_PROFILE_POINTS);
                let points: Vec<_> = points.iter().map(|p| (p.t_s, p.rate_rps)).collect();
                let expected = RateProfile::new(&points).unwrap().count_at(workload.horizon_s);
                prop_assert!((expected - n as f64).abs() < 0.01 * n as f64, "{} of {}", expected, n);
            }
        }
    }
}

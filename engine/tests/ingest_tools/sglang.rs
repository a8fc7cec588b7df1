//! SGLang `bench_serving`, 2024 to 2026: JSON lines, bare infinities, per-request details.

use goodput_engine::ingest::{
    Definition, LengthSource, Load, MissingFact, RecordOutcome, TokenKind, Weighting, read,
};

use super::{findings, grave, near, parsed, points, stated};

const OF_2024: &[u8] = include_bytes!("../fixtures/ingest/sglang_2024.jsonl");
const OF_2025: &[u8] = include_bytes!("../fixtures/ingest/sglang_2025_sweep.jsonl");
const DETAILS: &[u8] = include_bytes!("../fixtures/ingest/sglang_2026_details.jsonl");
const DISAGGREGATED: &[u8] = include_bytes!("../fixtures/ingest/sglang_2026_disaggregated.jsonl");

#[test]
fn lines_of_2024_are_points_and_a_bare_infinity_is_a_burst() {
    let parsed = parsed(OF_2024);
    assert_eq!(parsed.format.id(), "sglang_bench_serving");
    let loads: Vec<Load> = parsed.points().iter().map(|point| point.load).collect();
    let rate = |rps| Load::RequestRate { rps };
    assert_eq!(loads, [rate(2.0), rate(6.0), Load::Unbounded]);
    let point = &parsed.points()[0];
    // 600 prompts were asked to be of up to 600 and 300 tokens, and were half as long.
    let (input, output) = (point.input.expect("input"), point.output.expect("output"));
    assert_eq!((input.mean_tokens, output.mean_tokens), (300.0, 150.0));
    assert_eq!(output.source, LengthSource::Measured);
    assert_eq!(point.retokenized_output_tokens, Some(149.875));
    let ttft = stated(point.ttft.as_ref());
    assert_eq!((ttft.mean_ms, ttft.percentile(0.5)), (None, Some(70.0)));
    assert_eq!(stated(point.e2e.as_ref()).mean_ms, Some(70.0 + 149.0 * 11.0));
    assert_eq!((point.completed_rps, point.failed), (None, None), "neither is written");
    assert_eq!(point.tps(TokenKind::Output), Some(600.0 * 150.0 / 303.0));
    assert!(point.missing.contains(&MissingFact::EngineVersion));
}

#[test]
fn a_sweep_of_2025_keeps_its_achieved_concurrency_apart_from_its_limit() {
    let all = points(OF_2025);
    for (point, cap) in all.iter().zip([4, 16, 64]) {
        assert_eq!(point.load, Load::Concurrency { requests: cap });
        assert_eq!(point.label.as_deref(), Some(format!("c{cap}").as_str()));
        assert!(near(point.mean_in_flight.expect("written"), cap as f64 / 1.02, 1e-9));
        let itl = stated(point.itl.as_ref());
        assert_eq!(itl.definition, Definition::GapBetweenEvents, "an OpenAI endpoint");
    }
    assert_eq!(grave(OF_2025), Vec::<String>::new());
}

#[test]
fn the_server_says_version_and_tp_and_each_request_has_a_record() {
    let parsed = parsed(DETAILS);
    let point = &parsed.points()[0];
    assert_eq!(point.context.engine_version.as_deref(), Some("SGLang 0.5.3"));
    assert_eq!(point.context.model.as_deref(), Some("example/chat-32b"));
    assert_eq!((point.context.tensor_parallel, point.context.gpu_count), (Some(4), None));
    assert_eq!(point.context.settings["quantization"], "fp8");
    let itl = stated(point.itl.as_ref());
    let per_token = (Definition::GapBetweenTokens, Weighting::PerToken);
    assert_eq!((itl.definition, itl.weighting), per_token, "the engine's own endpoint");
    assert_eq!(itl.max_ms, Some(180.0));
    let outcomes: Vec<RecordOutcome> = parsed.records().iter().map(|r| r.outcome).collect();
    let (ok, error) = (RecordOutcome::Ok, RecordOutcome::Error);
    assert_eq!(outcomes, [ok, ok, error, ok, ok]);
    assert!(near(parsed.records()[1].e2e_s.expect("summed"), 0.152, 1e-9));
    assert!(near(parsed.records()[1].tpot_s().expect("six tokens"), 0.02, 1e-9));
}

#[test]
fn prefill_and_decode_on_servers_of_their_own_have_no_one_tp() {
    let parsed = parsed(DISAGGREGATED);
    let point = &parsed.points()[0];
    assert_eq!(point.context.tensor_parallel, None);
    assert_eq!(point.context.engine_version.as_deref(), Some("SGLang 0.5.6"));
    assert_eq!((point.load, point.client_cap), (Load::Unstated, Some(256)));
    let said = |words: &str| parsed.notes.remarks.iter().any(|remark| remark.contains(words));
    assert!(said("servers of their own") && said("times of a trace"), "{:?}", parsed.notes);
}

#[test]
fn counts_of_tokens_that_disagree_are_found() {
    let text = String::from_utf8_lossy(DETAILS);
    let found = |retokenized: &str| {
        let text = text.replace(
            "\"total_output_tokens_retokenized\": 24",
            &format!("\"total_output_tokens_retokenized\": {retokenized}"),
        );
        findings(text.as_bytes()).into_iter().find(|f| f.code == "retokenized_counts")
    };
    assert_eq!(found("24"), None);
    let finding = found("18").expect("a quarter is missing");
    assert_eq!((finding.numbers[0].value, finding.numbers[1].value), (6.0, 4.5));
    assert!(found("0").expect("no text at all").message.contains("no text"));
}

#[test]
fn an_in_flight_that_rate_and_latency_do_not_make_is_found() {
    let text = String::from_utf8_lossy(OF_2025).replace("\"concurrency\": ", "\"concurrency\": 1");
    let found = findings(text.as_bytes());
    let off: Vec<_> = found.iter().filter(|f| f.code == "in_flight_identity").collect();
    assert_eq!(off.len(), 3, "{found:?}");
}

#[test]
fn another_tool_with_some_of_the_keys_is_not_taken_for_it() {
    for text in [
        r#"{"dataset_name": "random", "request_throughput": 1, "duration": 1}"#,
        r#"{"dataset_name": "random", "mean_e2e_latency_ms": 1, "duration": 1, "completed": 1}"#,
    ] {
        match read("x", text.as_bytes()) {
            // Flat objects are rows by the names of their keys, and under nobody's definitions.
            Ok(parsed) => assert_eq!(parsed.format.id(), "benchmark_csv"),
            Err(refusal) => {
                assert!(refusal.looked_for.iter().any(|line| line.contains("SGLang")));
            }
        }
    }
}

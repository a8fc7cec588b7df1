//! Traces of other tools as workloads: their clocks, their failures, their prefixes.

use goodput_engine::ingest::{Contents, Parsed, RequestTrace, read};
use goodput_engine::scenario::doc::ArrivalsDoc;
use goodput_engine::scenario::{TraceForm, TraceWorkload};

use super::parsed;

fn trace(parsed: &Parsed) -> &RequestTrace {
    let Contents::Trace(trace) = &parsed.contents else { panic!("a trace") };
    trace
}

/// Format, fixture, due times, prompts and answers.
type Case<'a> = (&'a str, &'a [u8], &'a [f64], &'a [u32], &'a [u32]);

const CASES: [Case; 7] = [
    (
        "burstgpt_trace",
        include_bytes!("../fixtures/ingest/burstgpt_1.csv"),
        &[0.0, 13.0, 35.0],
        &[310, 77, 900],
        &[42, 8, 255],
    ),
    (
        "burstgpt_trace",
        include_bytes!("../fixtures/ingest/burstgpt_3.csv"),
        &[0.0, 1.75],
        &[40, 2210],
        &[61, 199],
    ),
    (
        "vidur_trace",
        include_bytes!("../fixtures/ingest/vidur_trace.csv"),
        &[0.0, 0.625, 2.875],
        &[640, 96, 2048],
        &[12, 300, 1],
    ),
    (
        "splitwise_sim_trace",
        include_bytes!("../fixtures/ingest/splitwise_sim_trace.csv"),
        &[0.0, 0.5],
        &[512, 1024],
        &[20, 6],
    ),
    (
        "mooncake_trace",
        include_bytes!("../fixtures/ingest/mooncake_trace.jsonl"),
        &[0.0, 1.0, 2.0, 3.0, 4.5],
        &[1100, 1400, 300, 520, 1700],
        &[40, 75, 9, 31, 12],
    ),
    (
        "bailian_trace",
        include_bytes!("../fixtures/ingest/bailian_trace.jsonl"),
        &[0.0, 0.75, 20.5],
        &[30, 16, 90],
        &[50, 4, 61],
    ),
    (
        "trace_table",
        include_bytes!("../fixtures/ingest/trace_template.csv"),
        &[0.0, 0.5],
        &[200, 410],
        &[30, 8],
    ),
];

#[test]
fn every_trace_is_requests_by_seconds() {
    for (format, bytes, due_s, input, output) in CASES {
        let parsed = parsed(bytes);
        assert_eq!(parsed.format.id(), format);
        let trace = trace(&parsed);
        assert_eq!((trace.due_s.as_slice(), &*trace.input_tokens), (due_s, input), "{format}");
        assert_eq!(trace.output_tokens, output, "{format}");
        let excluded: u64 = parsed.notes.excluded.iter().map(|excluded| excluded.rows).sum();
        assert_eq!(parsed.notes.rows_read, parsed.notes.rows_used + excluded, "{format}");
    }
}

/// The workload asks for as many requests as the trace has, whatever its clock.
#[test]
fn a_workload_made_of_a_trace_keeps_its_requests() {
    for (format, bytes, due_s, ..) in CASES {
        let parsed = parsed(bytes);
        let replay = TraceWorkload::of(trace(&parsed), TraceForm::Replay).expect("requests");
        assert!(replay.horizon_s > due_s[due_s.len() - 1], "{format}");
        let ArrivalsDoc::Trace { due_s: moments, .. } = replay.arrivals else { panic!("a replay") };
        assert_eq!(moments, due_s, "{format}");
    }
}

fn remarks(bytes: &[u8]) -> String {
    parsed(bytes).notes.remarks.join("\n")
}

#[test]
fn what_failed_is_left_out_with_its_reason() {
    let notes = parsed(CASES[0].1).notes;
    assert_eq!((notes.rows_read, notes.rows_used), (4, 3));
    assert!(notes.excluded[0].reason.contains("request that failed"), "{:?}", notes.excluded);
    assert!(notes.remarks[0].contains("Model, Total tokens, Log Type"), "{:?}", notes.remarks);
}

/// 13 blocks, 7 of them different.
#[test]
fn blocks_that_came_before_bound_what_a_prefix_cache_finds() {
    let mooncake = remarks(CASES[4].1);
    assert!(mooncake.contains("46.2 % of the 13 prompt blocks"), "{mooncake}");
    assert!(mooncake.contains("steps of 3 s") && mooncake.contains("milliseconds"), "{mooncake}");
    let bailian = remarks(CASES[5].1);
    assert!(bailian.contains("22.2 % of the 9 prompt blocks"), "{bailian}");
    assert!(bailian.contains("1 requests are later turns"), "{bailian}");
    assert!(bailian.contains("as seconds"), "{bailian}");
}

#[test]
fn a_line_without_a_moment_is_left_out_and_a_file_without_any_refused() {
    let line = r#"{"timestamp": 5, "input_length": 8, "output_length": 2}"#;
    let delayed = r#"{"session_id": "s", "delay": 500, "input_length": 8, "output_length": 2}"#;
    let notes = parsed(format!("{line}\n{delayed}\n").as_bytes()).notes;
    assert_eq!((notes.rows_read, notes.rows_used, notes.excluded[0].rows), (2, 1, 1));
    let nothing = line.replace('5', "\"late\"");
    let refusal = read("x", nothing.as_bytes()).expect_err("no request");
    assert!(refusal.message.contains("none of the 1 rows"), "{refusal}");
}

#[test]
fn models_of_workloads_are_refused_for_what_they_are() {
    for (text, words) in [
        ("0,0,0,,0,0\n600,1.5,1.2,Gamma,0.69,0.96\n", "rates of a ServeGen client"),
        (r#"{"0": {"input_tokens": "{}", "output_tokens": "{}"}}"#, "lengths of a ServeGen"),
        ("num_prefill_tokens,num_decode_tokens,pd_ratio\n5,6,0.8\n", "without arrived_at"),
        (r#"{"engine_kwargs": {}, "kv_cache": {}, "dataset_hash": "x"}"#, "LLMServingSim"),
    ] {
        let refusal = read("x", text.as_bytes()).expect_err("no trace");
        assert!(refusal.message.contains(words), "{refusal}");
    }
}

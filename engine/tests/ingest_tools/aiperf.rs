//! AIPerf of every schema generation, and genai-perf before it: summaries, tables, records.

use goodput_engine::ingest::{Definition, Load, RecordOutcome, TokenKind, Weighting, read_file};
use goodput_engine::review::report_under;
use goodput_engine::slo::parse_limits;

use super::{findings, grave, near, parsed, stated};

const FLAT: &[u8] = include_bytes!("../fixtures/ingest/aiperf_2025_flat.json");
const SCHEMA_1_5: &[u8] = include_bytes!("../fixtures/ingest/aiperf_2026_schema_1_5.json");
const RECORDS: &[u8] = include_bytes!("../fixtures/ingest/aiperf_0_1_records.json");
const PRERELEASE: &[u8] = include_bytes!("../fixtures/ingest/aiperf_prerelease.json");
const GENAI_PERF: &[u8] = include_bytes!("../fixtures/ingest/genai_perf.json");
const GENAI_PERF_CSV: &[u8] = include_bytes!("../fixtures/ingest/genai_perf.csv");
const CSV: &[u8] = include_bytes!("../fixtures/ingest/aiperf_2026.csv");
const REQUESTS: &[u8] = include_bytes!("../fixtures/ingest/aiperf_2026_requests.jsonl");

#[test]
fn the_flat_summary_names_tpot_inter_token_latency() {
    let parsed = parsed(FLAT);
    assert_eq!(parsed.format.id(), "aiperf");
    let point = &parsed.points()[0];
    assert_eq!(point.load, Load::Concurrency { requests: 8 });
    assert_eq!((point.completed, point.failed, point.goodput_rps), (Some(800), None, None));
    let tpot = stated(point.tpot.as_ref());
    assert_eq!((tpot.definition, tpot.mean_ms), (Definition::ExcludesFirstToken, Some(12.0)));
    let itl = stated(point.itl.as_ref());
    assert_eq!(
        (itl.definition, itl.weighting),
        (Definition::GapBetweenEvents, Weighting::PerEvent)
    );
    assert!(near(point.output.expect("with reasoning").mean_tokens, 151.0, 1e-9));
    assert_eq!(point.context.model.as_deref(), Some("example/chat-8b"));
    assert_eq!(point.context.gpu.as_deref(), Some("NVIDIA L40S"));
    assert_eq!(point.context.gpu_count, None, "two are in the host; how many serve is asked");
    assert_eq!(grave(FLAT), Vec::<String>::new());
}

#[test]
fn schema_1_5_has_the_load_of_its_sweep_and_cancelled_requests_apart() {
    let parsed = parsed(SCHEMA_1_5);
    assert_eq!(parsed.tool_version.as_deref(), Some("0.14.0"));
    let point = &parsed.points()[0];
    assert_eq!(point.load, Load::Concurrency { requests: 40 }, "not the 1 of the configuration");
    assert_eq!((point.completed, point.failed, point.cancelled), (Some(900), Some(7), Some(5)));
    assert_eq!(point.num_prompts, Some(912));
    assert_eq!(stated(point.e2e.as_ref()).mean_ms, Some(2100.0), "its unit is seconds");
    assert_eq!(point.mean_in_flight, Some(38.2));
    assert!(parsed.notes.remarks.iter().any(|remark| remark.contains("cancelled before its end")));
    assert!(findings(SCHEMA_1_5).iter().all(|f| f.code != "counts"), "912 are 900 + 7 + 5");
}

#[test]
fn records_by_tag_and_by_name_are_the_same_metrics() {
    let parsed_tags = parsed(RECORDS);
    let point = &parsed_tags.points()[0];
    assert_eq!(point.load, Load::Concurrency { requests: 100 });
    assert_eq!((point.failed, point.cancelled), (Some(0), Some(12)));
    assert_eq!(stated(point.ttft.as_ref()).percentile(0.99), Some(900.0 * 1.7));
    assert_eq!((point.input.expect("isl").mean_tokens, point.duration_s), (550.0, Some(6.2)));
    let by_name = parsed(PRERELEASE);
    let point = &by_name.points()[0];
    assert_eq!((point.completed, point.load), (Some(10), Load::Unstated));
    assert_eq!(stated(point.e2e.as_ref()).mean_ms, Some(431.0));
}

#[test]
fn genai_perf_is_told_apart_and_its_minus_one_is_no_goodput() {
    let json = parsed(GENAI_PERF);
    assert_eq!(json.format.id(), "genai_perf");
    let point = &json.points()[0];
    assert_eq!((point.load, point.goodput_rps), (Load::Concurrency { requests: 8 }, None));
    assert!(json.notes.remarks.iter().any(|remark| remark.contains("is -1")));
    let csv = parsed(GENAI_PERF_CSV);
    assert_eq!(csv.format.id(), "aiperf_csv");
    let point = &csv.points()[0];
    assert_eq!(point.completed, Some(1200), "thousands marks in quotes");
    assert_eq!(stated(point.e2e.as_ref()).max_ms, Some(3100.5));
    assert_eq!((point.completed_rps, point.tps(TokenKind::Output)), (Some(3.9), Some(588.9)));
}

#[test]
fn the_csv_of_2026_has_blank_cells_and_another_table_below() {
    let parsed = parsed(CSV);
    let point = &parsed.points()[0];
    assert_eq!((point.completed, point.duration_s), (Some(400), Some(75.0)));
    assert_eq!(point.mean_in_flight, Some(15.4));
    assert_eq!(stated(point.ttft.as_ref()).percentile(0.99), Some(3800.0));
    assert_eq!(point.engine.prefix_hit_share, Some(0.8));
    assert_eq!(grave(CSV), ["warm_prefix"]);
    for words in ["does not say the load", "what the prompts share", "GPU tables"] {
        assert!(parsed.notes.remarks.iter().any(|remark| remark.contains(words)), "{words}");
    }
}

#[test]
fn requests_of_the_profiling_phase_are_records() {
    let parsed = parsed(REQUESTS);
    assert_eq!(parsed.format.id(), "aiperf_requests");
    let outcomes: Vec<RecordOutcome> = parsed.records().iter().map(|r| r.outcome).collect();
    let (ok, error) = (RecordOutcome::Ok, RecordOutcome::Error);
    assert_eq!(outcomes, [ok, ok, ok, ok, error, RecordOutcome::Cancelled]);
    assert_eq!((parsed.notes.rows_read, parsed.notes.rows_used), (7, 6));
    assert!(parsed.notes.excluded[0].reason.contains("warmup"));
    let record = parsed.records()[1];
    assert!(near(record.tpot_s().expect("tokens"), 0.01, 1e-9));
    assert!(near(record.start_s.expect("written"), 0.25, 1e-6));
    assert_eq!(record.gaps.expect("gaps").count, 21);
    let point = &parsed.points()[0];
    assert_eq!((point.completed, point.failed, point.cancelled), (Some(4), Some(1), Some(1)));
    assert!(near(stated(point.tpot.as_ref()).mean_ms.expect("mean"), 10.0, 1e-9));
}

#[test]
fn the_first_token_after_the_reasoning_is_judged_where_the_file_tells_it() {
    let text = String::from_utf8(REQUESTS.to_vec()).expect("UTF-8");
    // Reasoning for a tenth of a second; of the file as it is, nobody can say.
    let told = text.replace(
        "\"request_latency\"",
        "\"time_to_first_output_token\": {\"value\": 161.5, \"unit\": \"ms\"}, \"request_latency\"",
    );
    let seconds = |text: &str| {
        let parsed = parsed(text.as_bytes());
        parsed.records().iter().filter_map(|record| record.ttfvt_s).collect::<Vec<f64>>()
    };
    assert_eq!(seconds(&text), Vec::<f64>::new());
    let first_visible = seconds(&told);
    assert!(!first_visible.is_empty());
    assert!(first_visible.iter().all(|s| near(*s, 0.1615, 1e-9)), "{first_visible:?}");
    let good = |text: &str, limits: &str| {
        let file = read_file("requests.jsonl", text.as_bytes());
        let contract = parse_limits(limits).expect("limits");
        report_under(&[file], &contract, &[]).files[0].goodput[0].good
    };
    let answered = first_visible.len() as u64;
    assert_eq!(good(&told, "ttfvt=162ms"), answered);
    assert_eq!(good(&told, "ttfvt=161ms"), 0);
    assert_eq!(good(&text, "ttfvt=1ms"), answered, "what the file does not say misses no limit");
}

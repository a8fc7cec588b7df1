//! Benchmarks of engines and stacks: InferenceX, vLLM offline, inference-benchmarker, trtllm-bench,
//! llama-bench, Ollama, `MLPerf` and LLMServingSim.

use goodput_engine::ingest::{
    BenchmarkPoint, Definition, LengthSource, Load, MissingFact, RecordOutcome, TokenKind,
    Weighting, read,
};

use super::{findings, grave, near, parsed, points, stated};

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("../fixtures/ingest/", $name)).as_slice()
    };
}

fn only(format: &str, bytes: &[u8]) -> BenchmarkPoint {
    let parsed = parsed(bytes);
    assert_eq!(parsed.format.id(), format);
    let [point] = parsed.points() else { panic!("one point: {}", parsed.points().len()) };
    point.clone()
}

fn remarks(bytes: &[u8]) -> String {
    parsed(bytes).notes.remarks.join("\n")
}

#[test]
fn inferencex_raw_is_a_run_of_vllms_client() {
    let point = only("vllm_bench_serve", fixture!("inferencex_raw.json"));
    assert_eq!(point.load, Load::Concurrency { requests: 8 });
    assert_eq!((point.goodput_rps, point.failed), (None, Some(0)));
    assert_eq!(stated(point.ttft.as_ref()).percentile(0.999), Some(230.0));
    assert_eq!(grave(fixture!("inferencex_raw.json")), Vec::<String>::new());
}

/// Eight GPUs (TP 4 in two pipeline stages) made 50 output tokens/s each; TPOT and interactivity of
/// the file say the same: 20 ms is 50 tokens/s.
#[test]
fn inferencex_rows_are_in_seconds_and_per_gpu() {
    let point = only("inferencex", fixture!("inferencex_agg_2026.json"));
    assert_eq!(point.load, Load::Concurrency { requests: 16 });
    assert_eq!((point.context.gpu_count, point.context.tensor_parallel), (Some(8), Some(4)));
    for (kind, tps) in
        [(TokenKind::Input, 800.0), (TokenKind::Output, 400.0), (TokenKind::Total, 1200.0)]
    {
        assert_eq!(point.tps(kind), Some(tps), "{kind:?}");
    }
    assert_eq!(stated(point.ttft.as_ref()).percentile(0.999), Some(550.0));
    let tpot = stated(point.tpot.as_ref());
    assert_eq!((tpot.mean_ms, tpot.std_ms), (Some(20.0), Some(1.0)));
    assert_eq!(tpot.definition, Definition::ExcludesFirstToken);
    assert_eq!(stated(point.itl.as_ref()).weighting, Weighting::PerEvent);
    assert_eq!(point.output.expect("asked").source, LengthSource::Declared);
    assert_eq!(point.context.settings["spec_decoding"], "mtp");
    let found = findings(fixture!("inferencex_agg_2026.json"));
    assert!(found.iter().any(|f| f.code == "itl_bundles"), "2.5 tokens an event");
}

#[test]
fn stages_with_gpus_of_their_own_have_denominators_of_their_own() {
    let points = points(fixture!("inferencex_agg_disagg.json"));
    let [sound, odd] = points.as_slice() else { panic!("two rows") };
    assert_eq!(sound.context.gpu_count, Some(12));
    assert_eq!(sound.tps(TokenKind::Input), Some(8000.0));
    assert_eq!(sound.tps(TokenKind::Output), Some(1000.0));
    assert_eq!(sound.tps(TokenKind::Total), Some(9000.0));
    assert_eq!(odd.token_rates, [], "7,200 + 8,000 are not 9,000");
    assert!(remarks(fixture!("inferencex_agg_disagg.json")).contains("do not add up"));
}

#[test]
fn offline_runs_of_vllm_have_no_latency_and_no_server() {
    let point = only("vllm_bench_throughput", fixture!("vllm_throughput.json"));
    assert_eq!((point.load, point.completed), (Load::Unbounded, Some(64)));
    assert_eq!((point.tps(TokenKind::Total), point.tps(TokenKind::Output)), (Some(1920.0), None));
    assert!(point.ttft.is_none() && point.e2e.is_none() && point.input.is_none());
    let added: Vec<&str> = point.context.settings.keys().map(String::as_str).collect();
    assert_eq!(added, ["input", "quantized"], "what a user added is kept, not interpreted");

    let point = only("vllm_bench_latency", fixture!("vllm_latency.json"));
    let e2e = stated(point.e2e.as_ref());
    assert_eq!((e2e.mean_ms, e2e.percentile(0.99)), (Some(12_500.0), Some(12_598.0)));
    assert_eq!(point.load, Load::Unstated, "the batch size is in the file's name at most");
    assert!(remarks(fixture!("vllm_latency.json")).contains("3 of them listed"));
}

#[test]
fn inference_benchmarker_says_what_was_asked_in_the_runs_config() {
    let parsed = parsed(fixture!("inference_benchmarker.json"));
    assert_eq!(parsed.format.id(), "inference_benchmarker");
    assert_eq!((parsed.notes.rows_read, parsed.notes.rows_used), (3, 2));
    assert_eq!(parsed.notes.counted, "runs");
    assert!(parsed.notes.excluded[0].reason.contains("warm-up"));
    let [closed, open] = parsed.points() else { panic!("two runs") };
    assert_eq!(closed.load, Load::Concurrency { requests: 128 });
    assert_eq!((closed.completed, closed.failed), (Some(600), Some(20)));
    assert_eq!(open.load, Load::RequestRate { rps: 5.0 });
    assert_eq!((open.completed_rps, open.duration_s), (Some(4.92), Some(61.0)));
    assert!(near(open.input.expect("sent").mean_tokens, 200.0, 1e-12));
    assert!(near(open.output.expect("got").mean_tokens, 100.0, 1e-12));
    let (ttft, tpot) = (stated(open.ttft.as_ref()), stated(open.tpot.as_ref()));
    assert_eq!(tpot.definition, Definition::ExcludesFirstToken);
    assert!(open.itl.is_none(), "its inter-token latency is a TPOT");
    let whole = ttft.mean_ms.expect("mean") + 99.0 * tpot.mean_ms.expect("mean");
    assert!(near(whole, stated(open.e2e.as_ref()).mean_ms.expect("mean"), 1e-12));
    assert_eq!(open.context.model.as_deref(), Some("example/Example-8B"));
    assert!(!open.missing.contains(&MissingFact::Model));
}

#[test]
fn trtllm_bench_hands_requests_to_the_engine_itself() {
    let point = only("trtllm_bench", fixture!("trtllm_bench.json"));
    assert_eq!(point.load, Load::Unstated, "an issue rate of 10^17/s is none, a limit is not said");
    assert_eq!(point.mean_in_flight, Some(31.5));
    assert_eq!((point.context.gpu_count, point.context.tensor_parallel), (Some(2), Some(2)));
    assert_eq!(point.context.engine_version.as_deref(), Some("TensorRT-LLM 1.2.0"));
    assert_eq!(point.tps(TokenKind::Output), Some(2020.0));
    let e2e = stated(point.e2e.as_ref());
    assert_eq!((e2e.min_ms, e2e.max_ms, e2e.mean_ms), (Some(1400.0), Some(1850.0), Some(1575.0)));
    let sum = stated(point.ttft.as_ref()).mean_ms.expect("mean") + 100.0 * 15.0;
    assert_eq!(Some(sum), e2e.mean_ms);
    // Little's law, as the tool itself has it.
    let in_flight = point.completed_rps.expect("rate") * e2e.mean_ms.expect("mean") / 1e3;
    assert_eq!(Some(in_flight), point.mean_in_flight);
    assert_eq!(grave(fixture!("trtllm_bench.json")), Vec::<String>::new());
}

#[test]
fn llama_bench_tests_are_prefill_or_decode_of_batch_one() {
    let points = points(fixture!("llama_bench.jsonl"));
    let [prefill, decode] = points.as_slice() else { panic!("two tests") };
    assert_eq!((prefill.label.as_deref(), prefill.row), (Some("pp512"), Some(1)));
    assert_eq!(prefill.tps(TokenKind::Input), Some(4000.0));
    assert!(prefill.tpot.is_none() && prefill.ttft.is_none());
    assert_eq!(decode.label.as_deref(), Some("tg128 @ d4096"));
    assert_eq!(decode.load, Load::Concurrency { requests: 1 });
    let tpot = stated(decode.tpot.as_ref());
    assert_eq!((tpot.mean_ms, tpot.std_ms), (Some(12.5), Some(0.05)));
    assert_eq!(decode.tps(TokenKind::Output), Some(1e3 / 12.5));
    assert!(near(decode.input.expect("the depth").mean_tokens, 4096.0, 0.0));
    assert_eq!(decode.context.engine_version.as_deref(), Some("llama.cpp b7001"));
    assert!(remarks(fixture!("llama_bench.jsonl")).contains("2 lines before the first JSON"));

    let both = only("llama_bench", fixture!("llama_bench.csv"));
    assert_eq!(both.label.as_deref(), Some("pp256+tg64"));
    assert_eq!((both.tps(TokenKind::Total), both.tpot), (Some(80.0), None));
    let wrapped = br#"{"mode": "tg", "bench_raw": {"n_prompt": 0, "n_gen": 2, "avg_ns": 4000000}}"#;
    assert_eq!(stated(only("llama_bench", wrapped).tpot.as_ref()).mean_ms, Some(2.0));
}

#[test]
fn ollama_times_by_its_own_clock_and_loads_inside_it() {
    let parsed = parsed(fixture!("ollama.jsonl"));
    assert_eq!(parsed.format.id(), "ollama");
    let [first, cached] = parsed.records() else { panic!("two answers") };
    assert_eq!((first.e2e_s, first.output_tokens), (Some(4.5), Some(50)));
    assert_eq!((cached.input_tokens, cached.outcome), (None, RecordOutcome::Ok));
    let point = &parsed.points()[0];
    let tpot = stated(point.tpot.as_ref());
    assert!(near(tpot.mean_ms.expect("mean"), 40.0, 1e-12), "50 and 30 ms");
    assert_eq!(tpot.definition, Definition::Unstated);
    assert_eq!(stated(point.e2e.as_ref()).definition, Definition::ArrivalToLastToken);
    let remarks = parsed.notes.remarks.join("\n");
    assert!(remarks.contains("1 answers waited over 1 s for the model"), "{remarks}");
    assert!(remarks.contains("streamed answer"), "{remarks}");
    let running = br#"{"created_at": "x", "done": false, "note": "no \"eval_duration\""}"#;
    assert!(read("x", running).is_err());
}

#[test]
fn mlperf_latencies_count_from_the_scheduled_moment() {
    let point = only("mlperf_summary", fixture!("mlperf_server.txt"));
    assert_eq!(point.load, Load::RequestRate { rps: 10.0 });
    assert_eq!((point.sent_rps, point.completed_rps), (Some(10.0), Some(9.5)));
    assert_eq!(point.tps(TokenKind::Output), Some(2850.0));
    let ttft = stated(point.ttft.as_ref());
    assert_eq!((ttft.mean_ms, ttft.percentile(0.999)), (Some(200.0), Some(890.0)));
    assert_eq!(ttft.definition, Definition::DueToFirstToken);
    let e2e = stated(point.e2e.as_ref());
    assert_eq!((e2e.mean_ms, e2e.percentile(0.99)), (Some(9200.0), Some(25_000.0)));
    assert_eq!(stated(point.tpot.as_ref()).max_ms, Some(90.0));
    assert!(remarks(fixture!("mlperf_server.txt")).contains("does not call this run valid"));
}

#[test]
fn an_offline_run_of_mlperf_states_no_latency_of_a_request() {
    let point = only("mlperf_summary", fixture!("mlperf_offline.txt"));
    assert_eq!((point.load, point.completed_rps), (Load::Unbounded, Some(40.5)));
    assert!(point.ttft.is_none() && point.e2e.is_none());
    assert_eq!(stated(point.tpot.as_ref()).mean_ms, Some(60.0));
    let accuracy = String::from_utf8_lossy(fixture!("mlperf_offline.txt"))
        .replace("PerformanceOnly", "AccuracyOnly");
    let refusal = read("x", accuracy.as_bytes()).expect_err("no speed");
    assert!(refusal.message.contains("accuracy"), "{refusal}");
}

#[test]
fn simulated_requests_of_llmservingsim_are_told_from_measured_ones() {
    let parsed = parsed(fixture!("llmservingsim_output.csv"));
    assert_eq!(parsed.format.id(), "llmservingsim");
    let [first, second] = parsed.records() else { panic!("two requests") };
    assert_eq!((first.start_s, second.start_s), (Some(0.0), Some(1.0)), "by arrival");
    assert_eq!((first.ttft_s, first.e2e_s), (Some(0.025), Some(0.065)));
    assert!(near(first.tpot_s().expect("3 tokens"), 0.02, 1e-9), "as its own TPOT column");
    assert_eq!(second.queue_wait_s, Some(0.005));
    assert_eq!(second.gaps.expect("a list").count, 3);
    let ttft = stated(parsed.points()[0].ttft.as_ref()).clone();
    assert_eq!(ttft.definition, Definition::ArrivalToFirstToken);
    assert!(parsed.notes.remarks[0].contains("nothing was measured"), "{:?}", parsed.notes);
}

#[test]
fn a_sweep_of_llmperf_summaries_in_one_object_is_a_point_each() {
    let points = points(fixture!("llmperf_sweep.json"));
    let loads: Vec<Load> = points.iter().map(|point| point.load).collect();
    assert_eq!(loads, [1, 4].map(|requests| Load::Concurrency { requests }));
    assert_eq!(points[1].completed_rps, Some(0.8));
}

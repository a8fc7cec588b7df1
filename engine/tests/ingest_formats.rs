//! Every format against fixtures of our own, one per generation of the tool: what is read, what is
//! missing.

use goodput_engine::ingest::{
    BenchmarkPoint, Contents, Definition, Latency, LengthSource, Load, MissingFact, Parsed,
    RecordOutcome, RefusalKind, RequestTrace, TokenKind, Weighting, csv_points, read, read_file,
};

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("fixtures/ingest/", $name)).as_slice()
    };
}

fn parsed(bytes: &[u8]) -> Parsed {
    read("fixture", bytes).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn points(bytes: &[u8]) -> Vec<BenchmarkPoint> {
    parsed(bytes).points().to_vec()
}

fn trace(bytes: &[u8]) -> (RequestTrace, Vec<String>) {
    let parsed = parsed(bytes);
    match parsed.contents {
        Contents::Trace(trace) => (trace, parsed.notes.remarks),
        Contents::Benchmark { .. } | Contents::Lengths(_) => panic!("not a trace"),
    }
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs().max(1.0)
}

#[test]
fn an_azure_trace_becomes_a_workload() {
    let (trace, remarks) = trace(fixture!("azure_trace.csv"));
    let expected = [0.0, 0.799_999_3, 1.876_543_4, 5.376_543_3];
    for (found, expected) in trace.due_s.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found}");
    }
    assert_eq!(trace.input_tokens, [812, 90, 4100, 1300]);
    assert_eq!(trace.output_tokens, [14, 220, 7, 55]);
    assert_eq!(trace.started_at.as_deref(), Some("2024-02-28 23:59:58.1234567"));
    assert_eq!(remarks, Vec::<String>::new());
}

#[test]
fn a_trace_is_sorted_and_its_columns_found_by_name() {
    let text = "GeneratedTokens,NumImages,TIMESTAMP,ContextTokens\n\
                5,1,2024-05-10 00:00:09.5,70\n0,0,2024-05-10 00:00:08.25,60\n";
    let (trace, remarks) = trace(text.as_bytes());
    assert_eq!(trace.due_s, [0.0, 1.25]);
    assert_eq!(trace.input_tokens, [60, 70]);
    assert_eq!(trace.output_tokens, [0, 5]);
    assert_eq!(trace.started_at.as_deref(), Some("2024-05-10 00:00:08.25"));
    for word in ["NumImages", "sorted by time", "1 request has no generated token"] {
        assert!(remarks.iter().any(|remark| remark.contains(word)), "{word}: {remarks:?}");
    }
}

#[test]
fn a_closed_loop_run_of_2025_is_a_concurrency_with_what_it_does_not_say() {
    let all = points(fixture!("vllm_2025_closed_loop.json"));
    let [point] = all.as_slice() else { panic!("one run") };
    assert_eq!(point.load, Load::Concurrency { requests: 16 });
    assert_eq!((point.client_cap, point.burstiness), (Some(16), Some(1.0)));
    assert_eq!((point.completed, point.failed), (Some(6400), Some(0)));
    assert_eq!(point.context.model.as_deref(), Some("example/chat-8b"));
    let input = point.input.unwrap();
    assert_eq!((input.mean_tokens, input.source), (500.0, LengthSource::Measured));
    let ttft = point.ttft.as_ref().unwrap();
    assert_eq!(
        (ttft.definition, ttft.weighting),
        (Definition::SendToFirstToken, Weighting::PerRequest)
    );
    assert_eq!((ttft.mean_ms, ttft.std_ms), (Some(61.0), Some(21.5)));
    let stated: Vec<(f64, f64)> = ttft.percentiles.iter().map(|p| (p.share, p.ms)).collect();
    assert_eq!(stated.len(), 3);
    assert_eq!((stated[0], stated[1]), ((0.5, 55.2), (0.99, 142.7)));
    assert!(close(stated[2].0, 0.999) && close(stated[2].1, 171.3));
    let itl = point.itl.as_ref().unwrap();
    assert_eq!(
        (itl.definition, itl.weighting),
        (Definition::GapBetweenEvents, Weighting::PerEvent)
    );
    assert_eq!(point.e2e, None);
    let ratio = point.tps(TokenKind::Total).unwrap() / point.tps(TokenKind::Output).unwrap();
    assert!(close(ratio, 3.5) && point.tps(TokenKind::Input).is_none());
    assert_eq!(
        point.missing,
        [
            MissingFact::Gpu,
            MissingFact::GpuCount,
            MissingFact::TensorParallel,
            MissingFact::EngineVersion,
            MissingFact::Quality
        ]
    );
}

#[test]
fn a_detailed_run_of_2026_has_a_record_per_request() {
    let parsed = parsed(fixture!("vllm_2026_detailed_clean.json"));
    assert_eq!((parsed.format.id(), parsed.requests()), ("vllm_bench_serve", 120));
    assert_eq!((parsed.notes.rows_read, parsed.notes.rows_used), (120, 120));
    let point = &parsed.points()[0];
    assert_eq!(point.context.gpu.as_deref(), Some("H100"));
    assert_eq!((point.context.gpu_count, point.context.tensor_parallel), (Some(1), Some(1)));
    assert_eq!(point.context.engine_version.as_deref(), Some("vLLM 0.25.1"));
    assert_eq!(point.missing, [MissingFact::Quality]);

    // The records reproduce the aggregates the tool computed from the same requests.
    let records = parsed.records();
    let mean = |of: &dyn Fn(usize) -> f64| (0..120).map(of).sum::<f64>() / 120.0 * 1e3;
    for (latency, found) in [
        (Latency::Ttft, mean(&|i| records[i].ttft_s.unwrap())),
        (Latency::Tpot, mean(&|i| records[i].tpot_s().unwrap())),
        (Latency::E2e, mean(&|i| records[i].e2e_s.unwrap())),
    ] {
        let stated = point.latency(latency).unwrap().mean_ms.unwrap();
        assert!((found / stated - 1.0).abs() < 1e-6, "{latency:?}: {found} and {stated}");
    }
    assert_eq!(records[0].start_s, Some(0.0));
    assert!(records.windows(2).all(|pair| pair[0].start_s < pair[1].start_s));
    assert!(records.iter().all(|record| record.outcome == RecordOutcome::Ok));
    assert!(records.iter().all(|r| r.gaps.unwrap().count + 1 == r.output_tokens.unwrap()));
}

#[test]
fn empty_successes_and_failures_of_2024_have_no_latency() {
    let parsed = parsed(fixture!("vllm_2024_detailed_empty_successes.json"));
    let outcomes: Vec<RecordOutcome> = parsed.records().iter().map(|r| r.outcome).collect();
    let count = |wanted| outcomes.iter().filter(|&&outcome| outcome == wanted).count();
    assert_eq!(count(RecordOutcome::Ok), 6);
    assert_eq!(count(RecordOutcome::EmptySuccess), 3);
    assert_eq!(count(RecordOutcome::Error), 1);
    for record in parsed.records() {
        let answered = record.outcome == RecordOutcome::Ok;
        assert_eq!(record.ttft_s.is_some(), answered);
        assert_eq!(record.e2e_s.is_some(), answered);
        assert_eq!(record.gaps.is_some(), answered);
    }
    let point = &parsed.points()[0];
    assert_eq!(point.load, Load::RequestRate { rps: 2.0 });
    assert_eq!((point.failed, point.goodput_rps), (Some(1), Some(0.75)));
    assert_eq!(point.burstiness, None);
    let remark = "1 request has a TTFT and no token: its TTFT was left out (line 1)";
    assert_eq!(parsed.notes.remarks, [remark]);
}

#[test]
fn appended_results_are_one_point_a_line() {
    let all = points(fixture!("vllm_2025_appended.json"));
    let loads: Vec<(Option<u64>, Load)> = all.iter().map(|p| (p.row, p.load)).collect();
    assert_eq!(
        loads,
        [(Some(1), Load::RequestRate { rps: 2.0 }), (Some(2), Load::RequestRate { rps: 4.0 })]
    );
    // `--metadata` values are text; the goodput key carries a stray colon.
    assert_eq!(all[1].context.gpu.as_deref(), Some("A100"));
    assert_eq!(all[1].context.tensor_parallel, Some(2));
    assert_eq!(all[1].context.gpu_count, None, "TP is not the number of GPUs");
    assert_eq!(all[1].failed, Some(1));
    assert!(close(all[0].goodput_rps.unwrap(), 480.0 / 253.0));
}

#[test]
fn a_sweep_summary_keeps_its_replicates_apart() {
    let all = points(fixture!("vllm_sweep_summary.json"));
    let replicates: Vec<Option<u64>> = all.iter().map(|point| point.replicate).collect();
    assert_eq!(replicates, [Some(0), Some(1), Some(2)]);
}

#[test]
fn a_ramp_is_not_an_unbounded_rate() {
    let all = points(fixture!("vllm_2026_ramp.json"));
    assert_eq!(all[0].load, Load::Ramp { from_rps: 1.0, to_rps: 9.0 });
}

#[test]
fn zeros_of_a_failed_run_are_missing_not_zero() {
    let all = points(fixture!("vllm_2026_all_failed.json"));
    assert_eq!((all[0].completed, all[0].failed), (Some(0), Some(25)));
    assert!(Latency::ALL.iter().all(|&latency| all[0].latency(latency).is_none()));
    assert_eq!((all[0].input, all[0].output), (None, None));
}

#[test]
fn what_is_not_finite_is_left_out_and_told() {
    let parsed = parsed(fixture!("vllm_not_finite.json"));
    let point = &parsed.points()[0];
    assert_eq!(point.load, Load::Concurrency { requests: 4 });
    assert_eq!(point.label.as_deref(), Some("NaN is a label"));
    let itl = point.itl.as_ref().unwrap();
    assert_eq!((itl.mean_ms, itl.percentile(0.5)), (None, Some(13.2)));
    assert_eq!(itl.percentile(0.99), None);
    assert_eq!(
        parsed.notes.remarks,
        [
            "mean_itl_ms is not finite and was left out (line 1)",
            "p99_itl_ms is not finite and was left out (line 1)"
        ]
    );
}

#[test]
fn lists_of_different_length_are_not_used_and_told() {
    let text = r#"{"model_id": "m", "duration": 1, "completed": 2, "request_throughput": 2,
        "output_throughput": 4, "output_lens": [1, 2], "ttfts": [0.1], "itls": [[], [0.1]]}"#;
    let parsed = parsed(text.as_bytes());
    assert_eq!((parsed.points().len(), parsed.requests()), (1, 0));
    assert_eq!(parsed.notes.excluded[0].rows, 2);
    assert!(parsed.notes.remarks[0].contains("output_lens 2, ttfts 1, itls 2"));
}

#[test]
fn the_template_explains_itself_and_is_read_when_filled() {
    let unfilled = read("template", csv_points::TEMPLATE.as_bytes()).expect_err("no rows");
    assert_eq!(unfilled.kind, RefusalKind::Empty);
    let parsed = parsed(fixture!("points_template_clean.csv"));
    assert_eq!(parsed.format.id(), "benchmark_csv");
    assert!(parsed.notes.remarks.iter().all(|remark| !remark.contains("not used")));
    let first = &parsed.points()[0];
    assert_eq!(first.load, Load::RequestRate { rps: 2.0 });
    assert_eq!((first.sent_rps, first.quality_rate), (Some(1.996), Some(0.97)));
    assert_eq!(first.missing, []);
    assert_eq!(first.latency(Latency::E2e).unwrap().percentile(0.99), Some(1557.01));
    assert_eq!(first.row, Some(15));
}

#[test]
fn every_column_of_the_template_is_read() {
    // Twice as many as columns: each cell changes exactly its own value.
    let header: Vec<&str> =
        csv_points::TEMPLATE.trim_end().lines().last().unwrap().split(',').collect();
    let row: Vec<String> = (0..header.len())
        .map(|column| match header[column] {
            "quality_rate" => "0.5".to_owned(),
            _ => (column + 1).to_string(),
        })
        .collect();
    let base = points(format!("{}\n{}\n", header.join(","), row.join(",")).as_bytes());
    for column in 0..header.len() {
        let mut other = row.clone();
        other[column] = if header[column] == "quality_rate" { "0.6" } else { "77" }.to_owned();
        let changed = points(format!("{}\n{}\n", header.join(","), other.join(",")).as_bytes());
        assert_ne!(changed, base, "{}", header[column]);
    }
}

#[test]
fn a_hand_made_table_is_read_by_its_names() {
    let parsed = parsed(fixture!("points_hand_made.csv"));
    let [first, second] = parsed.points() else { panic!("two rows") };
    assert_eq!(first.context.gpu.as_deref(), Some("MI300X, 192 GB"));
    assert_eq!(first.load, Load::Concurrency { requests: 32 });
    assert!(close(first.ttft.as_ref().unwrap().percentile(0.99).unwrap(), 310.0));
    assert!(close(second.ttft.as_ref().unwrap().mean_ms.unwrap(), 150.0));
    assert!(close(first.output.unwrap().mean_tokens, 100.0));
    assert_eq!((first.row, second.row), (Some(2), Some(3)));
    assert_eq!(second.failed, Some(3));
    let unused = "columns not used: column 10 (unnamed), num-scheduler-step, notes";
    assert_eq!(parsed.notes.remarks, [unused]);
}

#[test]
fn a_tab_separated_table_is_read_whatever_its_name() {
    let text = "max_concurrency\tttft_p50_ms\toutput_tps\n8\t45\t1200\n";
    assert_eq!(points(text.as_bytes())[0].load, Load::Concurrency { requests: 8 });
}

#[test]
fn two_columns_that_contradict_each_other_are_both_left_out() {
    let text = "request_rate,qps,max_concurrency,ttft_p50_ms\n4,4,64,30\n4,40,64,31\n,8,64,32\n";
    let parsed = parsed(text.as_bytes());
    let loads: Vec<Load> = parsed.points().iter().map(|point| point.load).collect();
    assert_eq!(
        loads,
        [Load::RequestRate { rps: 4.0 }, Load::Unstated, Load::RequestRate { rps: 8.0 }]
    );
    assert_eq!(parsed.notes.remarks, ["request_rate and qps differ: neither was taken (line 3)"]);
}

#[test]
fn a_result_whose_keys_stand_far_down_is_still_found() {
    let padding = format!("{{\"errors\": [\"{}\"], ", "x".repeat(200_000));
    let text = String::from_utf8_lossy(fixture!("vllm_2025_closed_loop.json"));
    let text = text.replacen('{', &padding, 1);
    assert_eq!(points(text.as_bytes()).len(), 1);
}

#[test]
fn what_was_read_survives_the_way_to_the_page() {
    for bytes in [
        fixture!("azure_trace.csv"),
        fixture!("vllm_2026_detailed_clean.json"),
        fixture!("vllm_2024_detailed_empty_successes.json"),
        fixture!("points_template_clean.csv"),
    ] {
        let parsed = parsed(bytes);
        let sent = serde_json::to_string(&parsed).unwrap();
        let back: Parsed = serde_json::from_str(&sent).unwrap();
        assert!(back == parsed, "not the same after one crossing");
    }
}

/// A scrape of a running server says how long its requests were: lengths of a class that draw what
/// the histogram counted, and are checked as any others.
#[test]
fn the_page_of_a_running_server_gives_lengths_for_a_class() {
    use goodput_engine::review::report;
    use goodput_engine::scenario::{doc::LengthsDoc, lengths_of};
    let page = include_str!("fixtures/ingest/vllm_metrics.txt");
    let review = report(&[read_file("metrics.txt", page.as_bytes())]);
    let file = &review.files[0];
    assert_eq!((file.format.as_deref(), &file.refused), (Some("vllm_metrics"), &None));
    assert!(review.findings.is_empty(), "lengths have nothing to review: {:?}", review.findings);
    let lengths = file.lengths.as_ref().expect("lengths");
    assert_eq!(lengths.requests, 400);
    for (doc, mean, of_sum, below, share) in [
        (&lengths.input_tokens, lengths.mean_input_tokens, 480.0, 1_000.0, 0.95),
        (&lengths.output_tokens, lengths.mean_output_tokens, 200.0, 200.0, 0.75),
    ] {
        assert_eq!(mean, Some(of_sum));
        let law = lengths_of(doc).expect("a sound law");
        assert!((law.share_at(below) - share).abs() < 1e-6, "{doc:?}");
        // Within a bucket lengths are spread evenly, so the mean may be off by a part of one.
        let drawn = (0..4_000).map(|i| f64::from(law.quantile((f64::from(i) + 0.5) / 4e3)));
        let drawn = drawn.sum::<f64>() / 4e3;
        assert!((drawn / of_sum - 1.0).abs() < 0.25, "{drawn} against {of_sum}");
        assert!(matches!(doc, LengthsDoc::Quantiles { .. }));
    }
    let prompts = page.lines().filter(|line| !line.contains("generation"));
    let prompts_alone = prompts.collect::<Vec<_>>().join("\n");
    let refused = read_file("half.txt", prompts_alone.as_bytes()).refused.expect("half a page");
    assert!(refused.message.contains("request_generation_tokens"), "{}", refused.message);
}

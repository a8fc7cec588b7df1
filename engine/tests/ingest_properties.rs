//! Whatever the bytes, reading ends with a value or a refusal, and what does not matter in a file
//! changes nothing.

use goodput_engine::ingest::{BenchmarkPoint, Contents, Parsed, RefusalKind, read};
use goodput_engine::review::{ReviewReport, report};
use proptest::prelude::*;

const TABLE: &[u8] = include_bytes!("fixtures/ingest/points_template_clean.csv");

const FILES: &[&[u8]] = &[
    include_bytes!("fixtures/ingest/azure_trace.csv"),
    include_bytes!("fixtures/ingest/aiperf_2025_flat.json"),
    include_bytes!("fixtures/ingest/aiperf_2026_schema_1_5.json"),
    include_bytes!("fixtures/ingest/aiperf_0_1_records.json"),
    include_bytes!("fixtures/ingest/aiperf_prerelease.json"),
    include_bytes!("fixtures/ingest/genai_perf.json"),
    include_bytes!("fixtures/ingest/llmperf_summary.json"),
    include_bytes!("fixtures/ingest/llmperf_requests.json"),
    include_bytes!("fixtures/ingest/genai_perf.csv"),
    include_bytes!("fixtures/ingest/aiperf_2026.csv"),
    include_bytes!("fixtures/ingest/aiperf_2026_requests.jsonl"),
    include_bytes!("fixtures/ingest/guidellm_0_2.json"),
    include_bytes!("fixtures/ingest/guidellm_0_2.yaml"),
    include_bytes!("fixtures/ingest/guidellm_0_3.csv"),
    include_bytes!("fixtures/ingest/guidellm_0_5.json"),
    include_bytes!("fixtures/ingest/guidellm_0_5.csv"),
    include_bytes!("fixtures/ingest/guidellm_0_8.json"),
    include_bytes!("fixtures/ingest/llm_d_0_2.yaml"),
    include_bytes!("fixtures/ingest/console_vllm_2026.txt"),
    include_bytes!("fixtures/ingest/console_sglang_2025.txt"),
    include_bytes!("fixtures/ingest/vllm_metrics.txt"),
    include_bytes!("fixtures/ingest/inference_perf_2025_stage.json"),
    include_bytes!("fixtures/ingest/inference_perf_2026_stage.json"),
    include_bytes!("fixtures/ingest/inference_perf_2026_summary.json"),
    include_bytes!("fixtures/ingest/inference_perf_prometheus.json"),
    include_bytes!("fixtures/ingest/inference_perf_requests.json"),
    include_bytes!("fixtures/ingest/points_hand_made.csv"),
    TABLE,
    include_bytes!("fixtures/ingest/sglang_2024.jsonl"),
    include_bytes!("fixtures/ingest/sglang_2025_sweep.jsonl"),
    include_bytes!("fixtures/ingest/sglang_2026_details.jsonl"),
    include_bytes!("fixtures/ingest/sglang_2026_disaggregated.jsonl"),
    include_bytes!("fixtures/ingest/vllm_2024_detailed_empty_successes.json"),
    include_bytes!("fixtures/ingest/vllm_2025_appended.json"),
    include_bytes!("fixtures/ingest/vllm_2025_closed_loop.json"),
    include_bytes!("fixtures/ingest/vllm_not_finite.json"),
    include_bytes!("fixtures/ingest/vllm_sweep_summary.json"),
    include_bytes!("fixtures/ingest/engine_requests.jsonl"),
    include_bytes!("fixtures/ingest/request_table.csv"),
    include_bytes!("fixtures/ingest/burstgpt_1.csv"),
    include_bytes!("fixtures/ingest/burstgpt_3.csv"),
    include_bytes!("fixtures/ingest/vidur_trace.csv"),
    include_bytes!("fixtures/ingest/splitwise_sim_trace.csv"),
    include_bytes!("fixtures/ingest/trace_template.csv"),
    include_bytes!("fixtures/ingest/mooncake_trace.jsonl"),
    include_bytes!("fixtures/ingest/bailian_trace.jsonl"),
    include_bytes!("fixtures/ingest/inferencex_raw.json"),
    include_bytes!("fixtures/ingest/inferencex_agg_2026.json"),
    include_bytes!("fixtures/ingest/inferencex_agg_disagg.json"),
    include_bytes!("fixtures/ingest/vllm_throughput.json"),
    include_bytes!("fixtures/ingest/vllm_latency.json"),
    include_bytes!("fixtures/ingest/inference_benchmarker.json"),
    include_bytes!("fixtures/ingest/trtllm_bench.json"),
    include_bytes!("fixtures/ingest/llama_bench.jsonl"),
    include_bytes!("fixtures/ingest/llama_bench.csv"),
    include_bytes!("fixtures/ingest/ollama.jsonl"),
    include_bytes!("fixtures/ingest/mlperf_server.txt"),
    include_bytes!("fixtures/ingest/mlperf_offline.txt"),
    include_bytes!("fixtures/ingest/llmservingsim_output.csv"),
    include_bytes!("fixtures/ingest/llmperf_sweep.json"),
    include_bytes!("fixtures/ingest/points_transposed.csv"),
    include_bytes!("fixtures/ingest/points_flat.json"),
    include_bytes!("fixtures/ingest/points_semicolons.csv"),
];

/// Reads and reviews; whatever comes out crosses to the page and back, so nothing in it is NaN or
/// infinite.
fn survives(bytes: &[u8]) {
    let file = goodput_engine::ingest::read_file("any", bytes);
    assert!(file.parsed.is_some() != file.refused.is_some());
    if let Some(refused) = &file.refused {
        assert!(!refused.message.is_empty() && !refused.hint.is_empty());
    }
    let sent = serde_json::to_string(&report(&[file])).expect("serialises");
    let _: ReviewReport = serde_json::from_str(&sent).expect("no null where a number belongs");
}

fn points(text: &str) -> Vec<BenchmarkPoint> {
    read("any", text.as_bytes()).map(|parsed| parsed.points().to_vec()).unwrap_or_default()
}

/// Numbers a file should never hold, and some it may.
fn odd_number() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("NaN".to_owned()),
        Just("Infinity".to_owned()),
        Just("-Infinity".to_owned()),
        Just("null".to_owned()),
        Just("1e308".to_owned()),
        Just("-1e308".to_owned()),
        Just("1e-308".to_owned()),
        Just("1e999".to_owned()),
        Just("-1".to_owned()),
        Just("0".to_owned()),
        Just("18446744073709551616".to_owned()),
        Just("\"12\"".to_owned()),
        Just("\"x\"".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just("true".to_owned()),
        any::<f64>().prop_map(|value| value.to_string()),
    ]
}

/// Text of the marks tables are made of.
fn marks() -> impl Strategy<Value = String> {
    let marks: Vec<char> = "0123456789-+.eE,,,;\t\"#: \r\n\n\nxé".chars().collect();
    prop::collection::vec(prop::sample::select(marks), 0..200)
        .prop_map(|marks| marks.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        survives(&bytes);
        survives(&[&[0x1f, 0x8b, 8, 0], bytes.as_slice()].concat());
    }

    #[test]
    fn any_text_under_a_known_header_is_read_or_refused(rows in marks()) {
        for header in [
            "TIMESTAMP,ContextTokens,GeneratedTokens",
            "Timestamp,Request tokens,Response tokens",
            "arrived_at,num_prefill_tokens,num_decode_tokens",
            "concurrency,ttft_p50_ms,output_tps",
            "request_rate\tttft_p50_ms\tcompleted",
        ] {
            survives(format!("{header}\n{rows}").as_bytes());
        }
    }

    #[test]
    fn a_file_cut_anywhere_is_read_in_part_or_refused(file in 0..FILES.len(), part in any::<prop::sample::Index>()) {
        let bytes = FILES[file];
        let end = part.index(bytes.len());
        survives(&bytes[..end]);
        if bytes[0] == b'{' && !bytes.contains(&b'\n') {
            let refusal = read("cut", &bytes[..end]).expect_err("half an object");
            let kinds = [RefusalKind::Truncated, RefusalKind::Empty];
            prop_assert!(kinds.contains(&refusal.kind), "{refusal}");
        }
    }

    #[test]
    fn a_damaged_byte_is_read_or_refused(file in 0..FILES.len(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = FILES[file].to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        survives(&bytes);
    }

    /// In every format: NaN, 1e308, a text, a list or a nest of them where a number was, and every
    /// key of an object twice.
    #[test]
    fn an_odd_value_anywhere_is_read_or_refused(
        file in 0..FILES.len(),
        at in any::<prop::sample::Index>(),
        odd in odd_number(),
        nested in any::<bool>(),
    ) {
        let Ok(text) = std::str::from_utf8(FILES[file]) else { return Ok(()) };
        let starts: Vec<usize> = text
            .match_indices(|mark: char| mark.is_ascii_digit())
            .map(|(start, _)| start)
            .filter(|start| !text[..*start].ends_with(|mark: char| mark.is_ascii_digit() || mark == '.'))
            .collect();
        prop_assume!(!starts.is_empty());
        let start = starts[at.index(starts.len())];
        let number = |mark: char| mark.is_ascii_digit() || mark == '.';
        let rest = text[start..].trim_start_matches(number);
        let odd = if nested { "[".repeat(5_000) + &"]".repeat(5_000) } else { odd };
        survives(format!("{}{odd}{rest}", &text[..start]).as_bytes());
        let body = text.trim();
        if let Some(body) = body.strip_prefix('{').and_then(|body| body.strip_suffix('}')) {
            survives(format!("{{{body}, {body}}}").as_bytes());
        }
    }

    #[test]
    fn odd_values_under_known_keys_are_read_or_refused(
        values in prop::collection::vec(odd_number(), 24),
        list in prop::collection::vec(odd_number(), 0..4),
    ) {
        const KEYS: [&str; 24] = [
            "duration", "completed", "request_throughput", "output_throughput", "model_id",
            "num_prompts", "request_rate", "max_concurrency", "burstiness", "failed",
            "total_input_tokens", "total_output_tokens", "total_token_throughput",
            "request_goodput", "mean_ttft_ms", "p99_ttft_ms", "mean_tpot_ms", "median_itl_ms",
            "mean_e2el_ms", "std_ttft_ms", "run_number", "gpu_count", "ramp_up_strategy", "label",
        ];
        let scalars: Vec<String> =
            KEYS.iter().zip(&values).map(|(key, value)| format!("\"{key}\": {value}")).collect();
        let list = list.join(", ");
        let lists: Vec<String> = ["input_lens", "output_lens", "ttfts", "start_times", "latencies"]
            .iter()
            .map(|key| format!("\"{key}\": [{list}]"))
            .collect();
        survives(format!("{{{}}}", scalars.join(", ")).as_bytes());
        survives(format!("{{{}, {}}}", scalars.join(", "), lists.join(", ")).as_bytes());
        // The same keys twice: the last wins, nothing breaks.
        survives(format!("{{{0}, {0}}}", scalars.join(", ")).as_bytes());
    }

    #[test]
    fn the_order_of_columns_does_not_matter(order in Just((0..37_usize).collect::<Vec<_>>()).prop_shuffle()) {
        let text = std::str::from_utf8(TABLE).expect("a table");
        let rows: Vec<Vec<&str>> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split(',').collect())
            .collect();
        prop_assert_eq!(rows[0].len(), order.len());
        let table = |order: &[usize]| -> String {
            rows.iter()
                .map(|row| order.iter().map(|&at| row[at]).collect::<Vec<_>>().join(","))
                .collect::<Vec<_>>()
                .join("\n")
        };
        let straight: Vec<usize> = (0..order.len()).collect();
        let expected = points(&table(&straight));
        prop_assert_eq!(expected.len(), 3);
        prop_assert_eq!(points(&table(&order)), expected);
    }

    #[test]
    fn renamed_columns_and_other_units_give_the_same_points(rate in 1_u32..500, ttft_ms in 1_u32..90_000, tps in 1_u32..9_999) {
        let one = points(&format!(
            "request_rate_rps,ttft_p99_ms,output_tps\n{rate},{ttft_ms},{tps}\n"
        ));
        let other = points(&format!(
            "Output token throughput (tok/s),QPS,P99 TTFT (us)\n{tps},{rate},{ttft_ms}000\n"
        ));
        let ms = |points: &[BenchmarkPoint]| {
            points[0].ttft.as_ref().and_then(|ttft| ttft.percentile(0.99)).expect("stated")
        };
        prop_assert!((ms(&one) / ms(&other) - 1.0).abs() < 1e-12);
        prop_assert_eq!(one[0].load, other[0].load);
        prop_assert_eq!(&one[0].token_rates, &other[0].token_rates);
    }

    #[test]
    fn a_trace_keeps_every_request_and_its_order(gaps in prop::collection::vec(0_u32..100_000_000, 1..60)) {
        let mut ticks = 0_u64;
        let mut lines = vec!["TIMESTAMP,ContextTokens,GeneratedTokens".to_owned()];
        let mut expected = Vec::new();
        for (index, gap) in gaps.iter().enumerate() {
            ticks += u64::from(*gap);
            let (seconds, rest) = (ticks / 10_000_000, ticks % 10_000_000);
            let (minute, second) = (seconds / 60, seconds % 60);
            lines.push(format!("2023-11-16 18:{minute:02}:{second:02}.{rest:07},{index},{gap}"));
            expected.push((ticks - u64::from(gaps[0])) as f64 / 1e7);
        }
        let parsed = read("trace", lines.join("\r\n").as_bytes()).expect("a trace");
        let Contents::Trace(trace) = parsed.contents else { panic!("a trace") };
        prop_assert_eq!(trace.len(), gaps.len());
        prop_assert_eq!(trace.output_tokens, gaps);
        for (found, expected) in trace.due_s.iter().zip(expected) {
            prop_assert!((found - expected).abs() < 1e-9);
        }
    }
}

#[test]
fn deep_nesting_and_long_lines_end_in_a_value_or_a_refusal() {
    let head = "{\"model_id\": \"m\", \"duration\": 1, \"completed\": 1, \
                \"request_throughput\": 1, \"output_throughput\": 1, ";
    let deep = 100_000;
    let (open, close) = ("[".repeat(deep), "]".repeat(deep));
    let nested = format!("{head}\"generated_texts\": {open}{close}}}");
    assert_eq!(points(&nested).len(), 1, "what is not needed is passed over at any depth");
    for text in [
        format!("{head}\"itls\": {open}{close}}}"),
        open.clone(),
        "{\"a\":".repeat(deep),
        format!("{open}{close}"),
    ] {
        assert!(read("deep", text.as_bytes()).is_err());
    }
    let long = "x".repeat(10_000_000);
    let labelled: Parsed = read("long", format!("{head}\"label\": \"{long}\"}}").as_bytes())
        .expect("a result with a long label");
    assert_eq!(labelled.points().len(), 1);
    survives(format!("concurrency,ttft_p50_ms,output_tps\n8,{long},1\n").as_bytes());
    survives(format!("{long}\n{long}").as_bytes());
    survives(format!("TIMESTAMP,ContextTokens,GeneratedTokens\n\"{long}").as_bytes());
}

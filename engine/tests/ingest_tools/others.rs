//! The llm-d report and the console block.

use goodput_engine::ingest::{Definition, LengthSource, Load, MissingFact, TokenKind, read};

use super::{findings, grave, near, parsed, stated};

const LLM_D: &[u8] = include_bytes!("../fixtures/ingest/llm_d_0_2.yaml");
const VLLM_BLOCK: &[u8] = include_bytes!("../fixtures/ingest/console_vllm_2026.txt");
const SGLANG_BLOCK: &[u8] = include_bytes!("../fixtures/ingest/console_sglang_2025.txt");

#[test]
fn the_llm_d_report_says_stack_and_units() {
    let parsed = parsed(LLM_D);
    assert_eq!(parsed.format.id(), "llm_d_report");
    let point = &parsed.points()[0];
    assert_eq!(point.load, Load::RequestRate { rps: 10.0 }, "an infinite concurrency is no limit");
    assert_eq!(point.context.engine_version.as_deref(), Some("vllm 0.19.0"));
    assert_eq!((point.context.gpu_count, point.context.tensor_parallel), (Some(8), Some(4)));
    assert_eq!((point.num_prompts, point.completed, point.failed), (Some(603), Some(600), Some(3)));
    assert_eq!(point.duration_s, Some(60.0));
    let ttft = stated(point.ttft.as_ref());
    assert_eq!((ttft.mean_ms, ttft.percentile(0.999)), (Some(60.0), Some(200.0)));
    assert_eq!(stated(point.tpot.as_ref()).mean_ms, Some(12.0), "its own unit is ms");
    assert_eq!(stated(point.ntpot.as_ref()).definition, Definition::IncludesFirstToken);
    assert_eq!(point.input.expect("measured").source, LengthSource::Measured);
    assert_eq!(point.tps(TokenKind::Total), Some(6130.0));
    assert_eq!(point.missing, [MissingFact::Quality]);
}

#[test]
fn a_console_block_is_the_run_its_json_would_be() {
    let parsed = parsed(VLLM_BLOCK);
    assert_eq!(parsed.format.id(), "serving_console");
    let point = &parsed.points()[0];
    assert_eq!((point.load, point.client_cap), (Load::RequestRate { rps: 3.0 }, Some(64)));
    assert_eq!((point.completed, point.failed), (Some(600), Some(0)));
    assert!(near(point.output.expect("totals").mean_tokens, 101.0, 1e-9));
    assert_eq!(stated(point.ttft.as_ref()).percentile(0.99), Some(180.0));
    let e2e = stated(point.e2e.as_ref());
    assert_eq!((e2e.mean_ms, e2e.percentile(0.999)), (Some(1170.0), Some(1900.0)));
    assert_eq!(grave(VLLM_BLOCK), Vec::<String>::new());
    assert!(parsed.notes.remarks.iter().any(|remark| remark.contains("1 other lines")));
}

#[test]
fn two_blocks_of_two_tools_are_two_runs() {
    let text = [VLLM_BLOCK, b"\n", SGLANG_BLOCK].concat();
    let parsed = parsed(&text);
    let [_, sglang] = parsed.points() else { panic!("two blocks") };
    assert_eq!(sglang.load, Load::Unbounded);
    assert_eq!(sglang.mean_in_flight, Some(1418.05));
    assert!(near(sglang.retokenized_output_tokens.expect("written"), 81.37, 1e-3));
    assert_eq!(stated(sglang.e2e.as_ref()).mean_ms, Some(157_800.85));
    assert!(findings(&text).iter().any(|f| f.code == "admission_dominated"));
}

#[test]
fn the_public_block_with_20_tokens_an_event_is_found() {
    // vllm-project/vllm, issue 29657, pasted as it stands there: gpt-oss-120B with EAGLE-3.
    let text = "============ Serving Benchmark Result ============\n\
                Request throughput (req/s): 10.61\nOutput token throughput (tok/s): 10865\n\
                Mean TTFT (ms): 938\nMean TPOT (ms): 43.62\nMean ITL (ms): 903\n====\n";
    let found = findings(text.as_bytes());
    let bundles = found.iter().find(|f| f.code == "itl_bundles").expect("batches");
    assert!(near(bundles.numbers[2].value, 20.7, 0.005));
}

#[test]
fn files_beside_results_are_refused_for_what_they_are() {
    for (text, words) in [
        (r#"{"timestamp_ns": 1, "gpu_uuid": "x", "telemetry_data": {}}"#, "GPU telemetry"),
        (r#"{"experiments": [], "service_kind": "openai"}"#, "tokenised"),
        (r#"{"global": {"errors": []}, "reports": {}}"#, "validation"),
        (r#"{"metadata": {"aggregation_type": "confidence"}, "metrics": {}}"#, "trials"),
    ] {
        let refusal = read("x", text.as_bytes()).expect_err("no result");
        assert!(refusal.message.contains(words), "{refusal}");
    }
}

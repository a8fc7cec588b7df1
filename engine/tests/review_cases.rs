//! Public reports of misread benchmarks, their figures typed as rows: the review says what the
//! people who found it out said.

use goodput_engine::ingest::read_file;
use goodput_engine::problem::Severity;
use goodput_engine::review::{Finding, review};

fn findings(text: &str) -> Vec<Finding> {
    review(&[read_file("table.csv", text.as_bytes())])
}

fn one(text: &str, code: &str) -> Finding {
    let mut found: Vec<Finding> =
        findings(text).into_iter().filter(|finding| finding.code == code).collect();
    assert_eq!(found.len(), 1, "{code}");
    found.remove(0)
}

/// Codes of what is more than a note.
fn grave(text: &str) -> Vec<String> {
    let found = findings(text).into_iter().filter(|finding| finding.severity > Severity::Note);
    found.map(|finding| finding.code).collect()
}

fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected} ± {tolerance}");
}

#[test]
fn tokens_per_event_are_found_without_a_tpot() {
    // sgl-project/sglang, pull request 12064: 292.29 output tokens/s at concurrency 1, median ITL 8.72 ms.
    let text = "max_concurrency,output_throughput,median_itl_ms\n1,292.29,8.72\n";
    let finding = one(text, "itl_bundles");
    assert_near(finding.numbers[1].value, 3.42, 0.005);
    assert_near(finding.numbers[2].value, 2.55, 0.1);
}

#[test]
fn an_engine_that_streams_in_batches_is_not_comparable_by_itl() {
    // vllm-project/vllm, issue 29657, gpt-oss-120B with EAGLE-3: 1024/1024 at concurrency 512.
    let text = "max_concurrency,isl,osl,request_throughput,output_throughput,mean_ttft_ms,\
                mean_tpot_ms,mean_itl_ms\n512,1024,1024,10.61,10865,938,43.62,903\n";
    let finding = one(text, "itl_bundles");
    assert_near(finding.numbers[2].value, 20.7, 0.05);
    let little = one(text, "littles_law");
    assert_eq!(little.severity, Severity::Note, "6 % are a ramp and a tail");
    assert_near(little.numbers[0].value / 10.61, 45.6, 0.05);
    assert_eq!(grave(text), ["itl_bundles"]);
}

#[test]
fn a_ttft_that_was_not_measured_is_told_from_e2e_and_tpot() {
    // sgl-project/sglang, issue 9585: a prefill-decode run with TTFT 0 and ITL 0.
    let text = "max_concurrency,request_throughput,isl,osl,mean_ttft_ms,mean_itl_ms,mean_tpot_ms,\
                mean_e2el_ms\n16,3.27,250000,1000,0,0,4.765,4760\n";
    let finding = one(text, "ttft_zero");
    assert_eq!(finding.severity, Severity::Error);
    assert!(finding.message.contains("TPOT 4.77 ms is E2E 4.76 s over the output tokens"));
    assert_near(one(text, "prefill_rate").numbers[0].value, 817_500.0, 1.0);
}

#[test]
fn a_warm_prefix_shows_as_an_impossible_prefill_rate() {
    // LMBenchmark, issue 35: about 60 ms for a prompt of 21,000 tokens.
    let text = "isl,request_throughput,mean_ttft_ms\n21000,0.5,60\n";
    assert_near(one(text, "prefill_rate").numbers[0].value, 350_000.0, 1e-6);
}

#[test]
fn a_collapse_is_called_one_though_littles_law_holds() {
    // vllm-project/vllm, issue 9722: 777 tokens in, about 7 out, 100 requests at each concurrency.
    let text = "max_concurrency,completed,duration_s,request_throughput,mean_input_tokens,\
                total_output_tokens,mean_ttft_ms,p50_ttft_ms,p99_ttft_ms,mean_tpot_ms,p50_tpot_ms,\
                p99_tpot_ms,mean_itl_ms,p50_itl_ms,p99_itl_ms\n\
                10,100,15.90,6.29,777,746,1073.16,1022.13,1522.29,72.74,73.60,79.29,64.81,63.35,87.79\n\
                30,100,82.97,1.21,777,603,18854.01,19212.50,23907.83,875.24,582.24,4836.03,841.87,44.59,8133.98\n";
    let finding = one(text, "throughput_collapse");
    assert_eq!(finding.row, Some(3));
    assert_near(1.0 - finding.numbers[0].value / finding.numbers[1].value, 0.81, 0.005);
    assert!(finding.advice.contains("near 10"));
    assert_eq!(grave(text), ["admission_dominated", "throughput_collapse"]);
}

/// kubernetes-sigs/inference-perf, demos/kubecon-na-2025 at 7de5ef2 (Apache-2.0), one H100, 128
/// sequences; TPOT as that version wrote it, per stream event.
const STAGES: &str = "\
request_rate_rps,sent_rps,num_prompts,completed_rps,input_tps,output_tps,ttft_mean_ms,ttft_p50_ms,ttft_p90_ms,ttft_p99_ms,tpot_mean_ms,e2e_mean_s,e2e_p99_s,osl,max_concurrency
1.0,1.03,60,1.02,208,64,31.1,31.0,35.4,39.7,3.47,0.480,0.489,62.75,440
31.4,31.42,1884,31.16,6359,1943,29.8,29.3,35.6,43.6,4.00,0.547,0.631,62.36,440
61.79,61.79,3707,61.24,12499,3821,34.9,33.5,44.5,57.0,4.99,0.680,0.852,62.39,440
92.19,92.22,5531,91.36,18646,5694,50.5,44.5,64.4,181.8,7.52,1.021,1.381,62.32,440
122.59,106.49,7355,101.23,20661,6317,2616.5,3035.6,3175.7,3204.4,9.51,3.844,4.440,62.40,440
152.98,105.58,9178,101.46,20708,6324,2937.1,3034.5,3270.8,3304.7,9.48,4.161,4.536,62.33,440
183.38,106.55,11002,103.08,21038,6431,2943.2,2886.5,3314.1,3347.4,9.29,4.143,4.549,62.39,440
";

#[test]
fn a_tpot_per_event_is_recomputed_and_a_limited_client_named() {
    let found = findings(STAGES);
    let of = |code: &str| -> Vec<&Finding> { found.iter().filter(|f| f.code == code).collect() };
    let true_tpot = [7.23, 8.42, 10.50, 15.83, 19.99, 19.96, 19.54];
    let identities = of("e2e_identity");
    assert_eq!(identities.len(), 7);
    for (finding, expected) in identities.iter().zip(true_tpot) {
        assert_near(finding.numbers[1].value / expected, 1.0, 0.01);
        assert_eq!(finding.severity, Severity::Warning);
    }
    let limited: Vec<Option<u64>> = of("client_limited").iter().map(|f| f.row).collect();
    assert_eq!(limited, [Some(6), Some(7), Some(8)], "stages 4, 5 and 6");
    assert_eq!(of("littles_law"), Vec::<&Finding>::new(), "427 of 440 in flight");
}

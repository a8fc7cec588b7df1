//! What to measure next: the loads, the options of each tool, and what each cannot be asked for.

use goodput_engine::rerun::{LoadToMeasure, Rerun, rerun};
use goodput_engine::scenario::{Scenario, check, doc, presets};

fn scenario(class: &str, rest: &str) -> Scenario {
    let text = format!(
        r#"{{"version": 1, "workload": {{"horizon_s": 200, "classes": [{{"name": "chat", {class}}}{rest}]}},
            "fleet": {{"pools": [{{"gpu": "H100-SXM", "model": "Llama-3.1-8B", "replicas": 2,
                                   "max_num_seqs": 64}}]}}}}"#
    );
    check(&doc::parse(&text).expect("JSON")).expect("valid").scenario
}

const FIXED: &str = r#""arrivals": {"kind": "constant", "rate_rps": 8},
    "input_tokens": {"kind": "fixed", "tokens": 1000},
    "output_tokens": {"kind": "fixed", "tokens": 200}, "slo": {"ttft_ms": 900, "tpot_ms": 40}"#;

const SPREAD: &str = r#""arrivals": {"kind": "gamma", "rate_rps": 8, "burstiness": 0.25},
    "input_tokens": {"kind": "uniform", "min": 500, "max": 1500},
    "output_tokens": {"kind": "fixed", "tokens": 200},
    "shared_prefix": {"tokens": 300, "count": 4}, "slo": {"ttft_ms": 900}"#;

fn commands<'a>(report: &'a Rerun, tool: &str) -> &'a [String] {
    let found = report.tools.iter().find(|found| found.name == tool);
    &found.expect("the tool").commands
}

fn cannot(report: &Rerun, tool: &str) -> String {
    let found = report.tools.iter().find(|found| found.name == tool);
    found.expect("the tool").cannot.join("\n")
}

#[test]
fn loads_are_one_the_present_batch_all_seats_and_the_present_rate_of_one_replica() {
    let report = rerun(&scenario(FIXED, "")).expect("something is asked");
    let [one, batch, seats, rate] = report.loads.as_slice() else { panic!("{:?}", report.loads) };
    assert_eq!(*one, LoadToMeasure::Concurrency { requests: 1, num_prompts: 100 });
    let LoadToMeasure::Concurrency { requests, .. } = batch else { panic!("{batch:?}") };
    assert!((2..64).contains(requests), "{batch:?}");
    assert_eq!(*seats, LoadToMeasure::Concurrency { requests: 64, num_prompts: 640 });
    // 8 requests/s over two replicas, for 300 s.
    assert_eq!(*rate, LoadToMeasure::Rate { rps: 4.0, burstiness: None, num_prompts: 1200 });
}

#[test]
fn equal_requests_are_asked_for_exactly() {
    let report = rerun(&scenario(FIXED, "")).expect("something is asked");
    let expected = [
        ("vllm bench serve", "--random-input-len 1000 --random-output-len 200"),
        ("vllm bench serve", "--random-range-ratio 0 "),
        ("vllm bench serve", "--request-rate 4 --burstiness inf --num-prompts 1200"),
        ("vllm bench serve", "--goodput ttft:900 tpot:40"),
        ("guidellm", "prompt_tokens=1000,output_tokens=200\""),
        ("guidellm", "--profile constant --rate 4 --max-seconds 300"),
        ("aiperf", "--isl 1000 --isl-stddev 0"),
        ("aiperf", "--request-rate 4 --arrival-pattern constant --request-count 1200"),
        ("aiperf", "--goodput \"time_to_first_token:900 inter_token_latency:40\""),
        ("inference-perf", "    mean: 1000\n    std_dev: 0\n"),
        ("inference-perf", "  type: constant\n  stages:\n    - rate: 4\n      duration: 300\n"),
        ("inference-perf", "    - concurrency_level: 64\n      num_requests: 640\n"),
    ];
    for (tool, part) in expected {
        let commands = commands(&report, tool);
        assert!(commands.iter().any(|line| line.contains(part)), "{tool}: {part}: {commands:#?}");
    }
    for tool in &report.tools {
        assert!(tool.cannot.is_empty(), "{}: {:?}", tool.name, tool.cannot);
        assert!(tool.commands.iter().all(|line| line.contains("meta-llama/")), "{tool:?}");
    }
}

#[test]
fn a_prefix_is_asked_for_beside_the_rest_of_the_prompt() {
    let report = rerun(&scenario(SPREAD, "")).expect("something is asked");
    let vllm = &commands(&report, "vllm bench serve")[0];
    // 1,000 tokens in the mean, 300 of them shared; ± 500 is a deviation of 289, so r = 0.71.
    let mean = report.mix.input_tokens.mean;
    assert!((mean - 1000.0).abs() < 15.0);
    assert!(vllm.contains(&format!("--random-input-len {:.0} ", mean - 300.0)), "{vllm}");
    assert!(vllm.contains("--random-prefix-len 300"), "{vllm}");
    assert!(vllm.contains("--random-range-ratio 0.7"), "{vllm}");
    let last = |tool: &str| commands(&report, tool).last().expect("an open load").clone();
    assert!(last("vllm bench serve").contains("--burstiness 0.25"));
    assert!(last("aiperf").contains("--arrival-pattern gamma --arrival-smoothness 0.25"));
    assert!(last("aiperf").contains("--prefix-prompt-length 300 --prefix-prompt-pool-size 4"));
    assert!(last("guidellm").contains("prefix_tokens=300,prefix_count=4"));
    assert!(cannot(&report, "inference-perf").contains("shared prefixes"));
    assert!(cannot(&report, "vllm bench serve").contains("several shared prefixes"));
    assert!(!cannot(&report, "guidellm").contains("prefix"));
    for tool in ["guidellm", "inference-perf"] {
        assert!(cannot(&report, tool).contains("gaps"), "{tool} has no gamma gaps");
    }
}

#[test]
fn limits_that_no_tool_counts_by_are_said_to_be_left_out() {
    let stall = FIXED.replace(r#""ttft_ms": 900"#, r#""longest_stall_ms": 300"#);
    let target = FIXED.replace(
        r#""ttft_ms": 900"#,
        r#""percentile_targets": [{"of": "ttft", "percentile": 95, "limit_ms": 800}]"#,
    );
    let other = FIXED.replace(r#""ttft_ms": 900"#, r#""ttft_ms": 300"#);
    let other = format!(r#", {{"name": "other", {other}}}"#);
    for (class, rest) in [(stall.as_str(), ""), (target.as_str(), ""), (FIXED, other.as_str())] {
        let report = rerun(&scenario(class, rest)).expect("something is asked");
        for tool in &report.tools {
            let said = cannot(&report, &tool.name);
            assert!(said.contains("limits"), "{}: {said}", tool.name);
        }
    }
}

#[test]
fn every_preset_says_what_to_measure_and_what_it_leaves_out() {
    for preset in presets::presets() {
        let scenario = check(&preset.doc).expect("valid").scenario;
        match rerun(&scenario) {
            Ok(report) => {
                assert!(report.loads.len() >= 2, "{:?}", report.loads);
                let several = scenario.classes.len() > 1;
                for tool in &report.tools {
                    assert!(!tool.commands.is_empty());
                    let says = tool.cannot.iter().any(|cannot| cannot.starts_with("classes"));
                    assert_eq!(says, several, "{:?}", tool.cannot);
                }
            }
            Err(problem) => {
                assert!(scenario.has_several_pools(), "{problem}");
                assert!(!problem.hint.is_empty());
            }
        }
    }
}

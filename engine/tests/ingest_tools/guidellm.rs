//! GuideLLM 0.2 to 0.8: JSON, YAML, and tables with one and three header rows.

use goodput_engine::ingest::{Definition, Load, TokenKind, Weighting, read};

use super::{findings, grave, near, parsed, points, stated};

const OF_0_2: &[u8] = include_bytes!("../fixtures/ingest/guidellm_0_2.json");
const OF_0_2_YAML: &[u8] = include_bytes!("../fixtures/ingest/guidellm_0_2.yaml");
const OF_0_3_CSV: &[u8] = include_bytes!("../fixtures/ingest/guidellm_0_3.csv");
const OF_0_5: &[u8] = include_bytes!("../fixtures/ingest/guidellm_0_5.json");
const OF_0_5_CSV: &[u8] = include_bytes!("../fixtures/ingest/guidellm_0_5.csv");
const OF_0_8: &[u8] = include_bytes!("../fixtures/ingest/guidellm_0_8.json");

#[test]
fn a_sweep_of_0_2_is_synchronous_then_a_burst_then_rates() {
    let parsed = parsed(OF_0_2);
    assert_eq!(parsed.format.id(), "guidellm");
    let loads: Vec<Load> = parsed.points().iter().map(|point| point.load).collect();
    let one = Load::Concurrency { requests: 1 };
    assert_eq!(loads, [one, Load::Unbounded, Load::RequestRate { rps: 10.0 }]);
    let point = &parsed.points()[0];
    assert_eq!((point.completed, point.failed, point.cancelled), (Some(46), Some(0), Some(1)));
    // E2E is in seconds beside milliseconds.
    assert_eq!(stated(point.e2e.as_ref()).mean_ms, Some(17.0 + 127.0 * 5.0));
    let tpot = stated(point.tpot.as_ref());
    assert_eq!((tpot.definition, tpot.mean_ms), (Definition::ExcludesFirstToken, Some(5.0)));
    assert_eq!(tpot.weighting, Weighting::PerToken);
    assert_eq!(point.ntpot, None, "n where n − 1 is meant");
    for share in [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999] {
        assert!(tpot.percentile(share).is_some(), "{share}");
    }
    assert_eq!(tpot.percentiles.len(), 11);
    assert_eq!(tpot.percentile(0.999), Some(9.5));
    let output = point.tps(TokenKind::Output).expect("tokens over duration");
    assert!(near(output, 46.0 * 128.0 / 30.0, 1e-9), "not a mean of instantaneous rates");
    assert_eq!(stated(parsed.points()[2].client_queue.as_ref()).mean_ms, Some(2.0));
    assert!(parsed.notes.remarks.iter().any(|remark| remark.contains("taken as TPOT")));
    let found = findings(OF_0_2);
    let burst: Vec<_> = found.iter().filter(|f| f.code == "start_burst").collect();
    assert_eq!((burst.len(), burst[0].row), (1, Some(2)));
    assert!(found.iter().all(|f| f.row != Some(1) || f.code != "counts"), "46 + 1 of 47");
}

#[test]
fn yaml_gives_what_json_gives() {
    let (json, yaml) = (points(OF_0_2), points(OF_0_2_YAML));
    assert_eq!(yaml.len(), 2);
    assert_eq!(yaml[0], json[0]);
    assert_eq!((yaml[1].load, &yaml[1].ttft), (json[2].load, &json[2].ttft));
}

#[test]
fn from_0_4_time_per_output_token_holds_the_first_token() {
    let parsed = parsed(OF_0_8);
    assert_eq!(parsed.tool_version.as_deref(), Some("0.8.0"));
    let point = &parsed.points()[0];
    assert_eq!((point.load, point.client_cap), (Load::RequestRate { rps: 2.0 }, Some(10_240)));
    let ntpot = stated(point.ntpot.as_ref());
    assert_eq!(ntpot.definition, Definition::IncludesFirstToken);
    assert!(near(ntpot.mean_ms.expect("mean"), (12.0 + 7.0 * 1.5) / 8.0, 1e-9));
    assert_eq!(stated(point.tpot.as_ref()).mean_ms, Some(1.5));
    assert_eq!(parsed.points()[1].burstiness, Some(1.0));
    assert_eq!(grave(OF_0_8), Vec::<String>::new());
}

#[test]
fn requests_listed_and_requests_measured_are_told_apart() {
    let parsed = parsed(OF_0_5);
    assert_eq!((parsed.requests(), parsed.points()[0].completed), (30, Some(25)));
    let remark = "30 successful requests are listed and 25 are in the statistics";
    assert!(parsed.notes.remarks.iter().any(|text| text.starts_with(remark)), "{:?}", parsed.notes);
    let record = parsed.records()[3];
    assert!(near(record.tpot_s().expect("tokens"), 0.008, 1e-9));
    assert!(near(record.start_s.expect("written"), 1.8, 1e-6));
    assert_eq!(parsed.points()[0].load, Load::Concurrency { requests: 4 });
}

#[test]
fn a_csv_has_one_header_row_or_three() {
    let old = parsed(OF_0_3_CSV);
    assert_eq!(old.format.id(), "guidellm_csv");
    let point = &old.points()[0];
    assert_eq!((point.load, point.duration_s), (Load::RequestRate { rps: 1.5 }, Some(30.0)));
    assert_eq!((point.completed, point.cancelled), (Some(45), Some(1)));
    let ttft = stated(point.ttft.as_ref());
    assert_eq!((ttft.mean_ms, ttft.min_ms, ttft.max_ms), (Some(17.0), Some(8.5), Some(34.0)));
    assert_eq!(
        (ttft.percentile(0.5), ttft.percentile(0.99)),
        (Some(17.0 * 0.97), Some(17.0 * 1.7))
    );
    assert_eq!(point.ntpot, None);
    let new = points(OF_0_5_CSV);
    assert_eq!((new[0].load, new[0].num_prompts), (Load::Concurrency { requests: 1 }, Some(47)));
    assert_eq!(stated(new[0].e2e.as_ref()).mean_ms, Some(652.0));
    assert_eq!(stated(new[0].ntpot.as_ref()).definition, Definition::IncludesFirstToken);
    assert!(near(new[0].output.expect("tokens").mean_tokens, 128.0, 1e-9));
}

#[test]
fn a_report_before_0_2_is_refused_with_its_reason() {
    let text = r#"{"benchmarks": [{"type_": "generative_benchmark", "results": []}]}"#;
    let refusal = read("x", text.as_bytes()).expect_err("no metrics");
    assert!(refusal.hint.contains("before GuideLLM 0.2"));
}

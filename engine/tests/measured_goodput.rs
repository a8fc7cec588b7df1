//! Records of benchmark files judged by a contract: the exact counts, from the files themselves.

use std::collections::BTreeMap;
use std::path::Path;

use goodput_engine::accounts::accounting::{Cause, Dimension};
use goodput_engine::ingest::read_file;
use goodput_engine::review::{MeasuredGoodput, ReviewReport, report_under};
use goodput_engine::slo::{Contract, Limit, Outcome, parse_limits};

fn limits(text: &str) -> Contract {
    parse_limits(text).expect("limits")
}

fn judge(name: &str, bytes: &[u8], text: &str) -> ReviewReport {
    let by = vec![Dimension::Prompt, Dimension::Output];
    report_under(&[read_file(name, bytes)], &limits(text), &[by])
}

fn only(report: &ReviewReport) -> &MeasuredGoodput {
    let [file] = report.files.as_slice() else { panic!("one file") };
    assert_eq!(file.refused, None);
    let [judged] = file.goodput.as_slice() else { panic!("one point: {:?}", report.findings) };
    judged
}

const LOG: &[u8] = include_bytes!("fixtures/ingest/engine_requests.jsonl");
const TABLE: &[u8] = include_bytes!("fixtures/ingest/request_table.csv");

#[test]
fn an_engine_log_and_a_table_of_requests_give_the_same_outcomes() {
    for (name, bytes) in [("log.jsonl", LOG), ("table.csv", TABLE)] {
        let report = judge(name, bytes, "ttft=1s,tpot=50ms");
        let judged = only(&report);
        let outcomes: BTreeMap<Outcome, u64> =
            judged.outcomes.iter().filter(|(_, n)| **n > 0).map(|(o, n)| (*o, *n)).collect();
        // Exactly at both limits, one token, and 49 ms are good; 1 µs more is late.
        let expected = [
            (Outcome::Error, 1),
            (Outcome::LateFirstToken, 3),
            (Outcome::LateAndSlow, 1),
            (Outcome::SlowTokens, 1),
            (Outcome::Good, 5),
        ];
        assert_eq!(outcomes, BTreeMap::from(expected), "{name}");
        assert_eq!((judged.offered, judged.good), (11, 5));
        let causes = &judged.accounting.causes;
        let first = [(Cause::Queue, 3), (Cause::Prefill, 1)];
        assert_eq!(causes.late_first_token, BTreeMap::from(first), "{name}");
        assert_eq!(causes.slow_tokens, BTreeMap::from([(Cause::NotInFile, 2)]));
    }
}

#[test]
fn a_missing_column_reads_not_in_file_and_every_break_out_sums_to_offered() {
    let report = judge("table.csv", TABLE, "ttft=1s,tpot=50ms");
    let judged = only(&report);
    let outs = judged.accounting.break_outs.iter().chain(&judged.accounting.crossed);
    for out in outs {
        assert_eq!(out.cells.iter().map(|cell| cell.offered).sum::<u64>(), 11, "{:?}", out.by);
        assert_eq!(out.cells.iter().map(|cell| cell.good).sum::<u64>(), 5);
        let [by] = out.by.as_slice() else { continue };
        let missing = [
            Dimension::Class,
            Dimension::Tenant,
            Dimension::Model,
            Dimension::CacheHit,
            Dimension::Replica,
        ];
        assert_eq!(!out.available, missing.contains(by), "{by:?}");
        if !out.available {
            assert_eq!(out.cells[0].key[0].label, "not in file");
        }
    }
    assert_eq!(judged.accounting.crossed.len(), 1);
}

#[test]
fn a_table_that_says_what_was_cached_is_broken_out_by_it() {
    let table = "arrival_s,input_tokens,output_tokens,ttft_ms,e2e_ms,cached_tokens\n\
                 0,100,5,50,100,0\n1,100,5,20,70,96\n2,100,5,30,80,48\n3,100,5,40,90,\n";
    let report = judge("table.csv", table.as_bytes(), "ttft=1s");
    let judged = only(&report);
    let by = [Dimension::CacheHit];
    let out = judged.accounting.break_outs.iter().find(|out| out.by == by).expect("all are there");
    assert!(out.available);
    let labels: Vec<_> = out.cells.iter().map(|cell| cell.key[0].label.as_str()).collect();
    assert_eq!(labels, ["no hit", "up to half", "most", "not in file"]);
}

#[test]
fn a_limit_that_the_file_cannot_tell_is_said_and_not_passed_silently() {
    let report = judge("table.csv", TABLE, "ttft=1s,stall=400ms");
    let judged = only(&report);
    let stall = judged.accounting.marginals.limits.iter().find(|l| l.limit == Limit::Stall);
    // Neither the one-token answer nor the failure has a stall to be judged.
    assert_eq!(stall.expect("all limits").not_judged, 9);
    let said = report.findings.iter().find(|f| f.code == "limit_and_data_differ").expect("said");
    assert!(said.message.contains("longest stall") && said.message.contains("9 of 11"), "{said:?}");
    let silent = judge("table.csv", TABLE, "ttft=1s,tpot=50ms");
    assert!(silent.findings.iter().all(|f| f.code != "limit_and_data_differ"));
}

/// Two streams of 11 tokens in 4 s, one of them with a pause of 3 s; and two that carry five
/// tokens in an event.
#[test]
fn streams_are_seen_by_event_and_by_token() {
    let even = ["0.4"; 10].join(",");
    let paused = format!("3.0,{}", ["0.111111111111"; 9].join(","));
    let file = |itls: [&str; 2], output_tokens: u32| {
        format!(
            r#"{{"model_id":"m","num_prompts":2,"duration":10,"completed":2,"request_throughput":0.2,
            "output_throughput":2.2,"input_lens":[10,10],"output_lens":[{output_tokens},{output_tokens}],
            "ttfts":[0.5,0.5],"itls":[[{}],[{}]],"errors":["",""]}}"#,
            itls[0], itls[1]
        )
    };
    let report = judge("a.json", file([&even, &paused], 11).as_bytes(), "tpot=450ms,stall=1s");
    let judged = only(&report);
    assert_eq!((judged.outcomes[&Outcome::Good], judged.outcomes[&Outcome::Stalled]), (1, 1));
    let streams = &judged.accounting.streams;
    assert_eq!((streams.streams, streams.bundled), (2, 0));
    assert!((streams.event_gap_ms.expect("ITL") - 400.0).abs() < 1e-6);
    assert!((streams.token_gap_ms.expect("TPOT") - 400.0).abs() < 1e-6);
    // The median gap of both is short; one gap of ten is above 1 s, which p90 allows and p95 not.
    for (slo, good) in [("itl_p50=500ms", 2), ("itl_p90=1s", 2), ("itl_p95=1s", 1)] {
        let report = judge("a.json", file([&even, &paused], 11).as_bytes(), slo);
        assert_eq!(only(&report).good, good, "{slo}");
        assert_eq!(only(&report).outcomes[&Outcome::Stalled], 2 - good);
    }
    // The tool whose goodput knows no stall calls both good.
    let vllm = judged.accounting.readings.iter().find(|r| r.rule == "vllm").expect("a rule");
    assert_eq!(vllm.share.good, 2);
    // Ten events of five tokens: the gap is the same, the time per token a fifth.
    let report = judge("b.json", file([&even, &even], 51).as_bytes(), "tpot=100ms,stall=200ms");
    let streams = &only(&report).accounting.streams;
    assert!((streams.tokens_per_event.expect("known") - 5.0).abs() < 1e-9);
    assert!((streams.token_gap_ms.expect("known") - 80.0).abs() < 1e-6);
    assert_eq!(streams.bundled, 2);
    let said = report.findings.iter().find(|f| f.code == "limit_and_data_differ").expect("said");
    assert!(said.message.contains("5.0 tokens"), "{said:?}");
    // A limit on a percentile of the gaps is on events as well; one on the time per token is not.
    for (slo, differs) in [("itl_p95=200ms", true), ("tpot=100ms", false)] {
        let report = judge("b.json", file([&even, &even], 51).as_bytes(), slo);
        let said = report.findings.iter().any(|f| f.message.contains("5.0 tokens"));
        assert_eq!(said, differs, "{slo}: {:?}", report.findings);
    }
    let report = judge("a.json", file([&even, &even], 11).as_bytes(), "itl_p95=200ms");
    assert!(!report.findings.iter().any(|f| f.message.contains("an event carries")));
}

/// What a tool calls a success without a token is an error here, and good by the tool's own rule.
#[test]
fn empty_successes_are_errors_and_other_tools_call_them_good() {
    let bytes = include_bytes!("fixtures/ingest/vllm_2024_detailed_empty_successes.json");
    let report = judge("run.json", bytes, "ttft=600s,tpot=10s");
    let judged = only(&report);
    let empty = judged.offered - judged.outcomes[&Outcome::Good];
    assert!(empty > 0 && judged.outcomes[&Outcome::Error] == empty);
    let reading = |rule: &str| {
        judged.accounting.readings.iter().find(|r| r.rule == rule).expect("a rule").share
    };
    assert!(reading("vllm").good > judged.good);
    assert_eq!(reading("goodput").good, judged.good);
}

fn shared(path: &str) -> Option<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.parent()?;
    let file = root.join("shared").join(path);
    let bytes = std::fs::read(&file).ok();
    if bytes.is_none() {
        println!("skipped: {} is not there", file.display());
    }
    bytes
}

/// E1 and D2/D3: the RTX 4090 run of LLMServingSim (MIT), published per-request stamps, counted by
/// hand at seven pairs of limits.
#[test]
fn the_goodput_of_the_rtx_4090_log_at_seven_contracts() {
    for path in [
        "samples/engine-logs/llmservingsim_rtx4090/requests.jsonl",
        "calibration/runs/llmservingsim_vllm_RTX4090_Llama-3.1-8B.csv",
    ] {
        let Some(bytes) = shared(path) else { continue };
        for (slo, good) in [
            ("ttft=1s,tpot=50ms", 21),
            ("ttft=1s,tpot=100ms", 26),
            ("ttft=2s,tpot=50ms", 36),
            ("ttft=2s,tpot=60ms", 40),
            ("ttft=10s,tpot=50ms", 36),
            ("ttft=60s,tpot=60ms", 147),
            ("ttft=0.5s,tpot=30ms", 0),
            ("ttft=1s", 26),
            ("tpot=50ms", 287),
        ] {
            let report = judge(path, &bytes, slo);
            let judged = only(&report);
            assert_eq!((judged.offered, judged.good), (300, good), "{path} {slo}");
        }
        let report = judge(path, &bytes, "ttft=1s,tpot=50ms");
        let product = 300.0 * (26.0 / 300.0) * (287.0 / 300.0);
        assert!((product - 24.9_f64).abs() < 0.1, "the product of shares is not the joint share");
        let relaxing = &only(&report).accounting.relaxing;
        // Without the TTFT limit the 287 within TPOT would be good, without TPOT the 26.
        let saved = |limit| relaxing.limits.iter().find(|l| l.limit == limit).expect("all").saved;
        assert_eq!((saved(Limit::Ttft), saved(Limit::Tpot)), (266, 5));
        assert_eq!(relaxing.several, 8);
    }
    if let Some(bytes) = shared("calibration/runs/llmservingsim_vllm_RTXPRO6000_Llama-3.1-8B.csv") {
        assert_eq!(only(&judge("pro", &bytes, "ttft=1s,tpot=50ms")).good, 128);
    }
}

/// A table that says how requests ended is taken at its word: a failure with fast timings is none of
/// the good ones, and each class, tenant and model is broken out.
#[test]
fn a_table_that_says_how_requests_ended_and_of_which_class_they_are_is_heard() {
    let rows = "due_s,input_tokens,output_tokens,ttft_ms,e2e_ms,Status,error,class,tenant,model\n\
                0.0,10,2,100,200,ok,,chat,acme,small\n\
                0.1,10,2,100,200,500,,chat,acme,small\n\
                0.2,10,2,100,200,completed,connection reset,batch,acme,large\n\
                0.3,10,2,100,200,Timed Out,none,batch,,large\n\
                0.4,10,2,100,,canceled,,batch,acme,large\n\
                0.5,10,0,,,success,,chat,beta,small\n\
                0.6,10,2,100,200,,,chat,beta,small\n\
                0.7,10,2,,,,,chat,beta,small\n\
                0.8,10,2,100,200,late_first_token,,,,\n";
    let report = judge("rows.csv", rows.as_bytes(), "ttft=1s");
    let judged = only(&report);
    let outcomes: BTreeMap<Outcome, u64> =
        judged.outcomes.iter().filter(|(_, n)| **n > 0).map(|(o, n)| (*o, *n)).collect();
    // A late answer of a simulation is an answer; by this contract it is in time.
    let expected = [(Outcome::Error, 5), (Outcome::CancelledMidStream, 1), (Outcome::Good, 3)];
    assert_eq!(outcomes, BTreeMap::from(expected));
    let cells = |by: Dimension| -> Vec<(String, u64, u64)> {
        let out = judged.accounting.break_outs.iter().find(|out| out.by == [by]).expect("always");
        assert!(out.available);
        out.cells.iter().map(|cell| (cell.key[0].label.clone(), cell.offered, cell.good)).collect()
    };
    let cell = |label: &str, offered, good| (label.to_owned(), offered, good);
    assert_eq!(
        cells(Dimension::Class),
        [cell("chat", 5, 2), cell("batch", 3, 0), cell("not in file", 1, 1)]
    );
    assert_eq!(
        cells(Dimension::Tenant),
        [cell("acme", 4, 1), cell("beta", 3, 1), cell("not in file", 2, 1)]
    );
    assert_eq!(
        cells(Dimension::Model),
        [cell("small", 5, 2), cell("large", 3, 0), cell("not in file", 1, 1)]
    );
}

#[test]
fn a_status_that_nobody_knows_is_refused_with_those_that_are() {
    let rows = "arrival_s,input_tokens,output_tokens,ttft_ms,e2e_ms,outcome\n\
                0.0,10,2,100,200,ok\n0.1,10,2,100,200,sideways\n";
    let report = judge("rows.csv", rows.as_bytes(), "ttft=1s");
    let refused = report.files[0].refused.as_ref().expect("it is refused").to_string();
    assert!(refused.contains("line 3: outcome is \"sideways\""), "{refused}");
    assert!(refused.contains("error, failed, timed_out or rejected"), "{refused}");
}

/// A column of ids is no column of classes.
#[test]
fn too_many_classes_are_not_told_apart_and_it_is_said() {
    let mut rows = "arrival_s,input_tokens,output_tokens,ttft_ms,e2e_ms,class\n".to_owned();
    rows.extend((0..150).map(|i| format!("{i},10,2,100,200,user-{i}\n")));
    let read = read_file("rows.csv", rows.as_bytes());
    let parsed = read.parsed.as_ref().expect("a table");
    let remarks = &parsed.notes.remarks;
    assert!(remarks.iter().any(|remark| remark.contains("not told apart")), "{remarks:?}");
    assert!(remarks.iter().any(|remark| remark.contains("no column says how")), "{remarks:?}");
    assert!(parsed.records().iter().all(|record| record.class.is_none()));
    assert!(parsed.points()[0].record_classes.is_empty());
}

//! Counting a run again under other limits is simulating the scenario that has them: limits change
//! no event.

use goodput_engine::accounts::{Recount, Simulated, answer, recount};
use goodput_engine::scenario::{Scenario, check};
use goodput_engine::slo::Outcome;
use serde_json::{Value, json};

/// Chat beside batch on one H100 that is overloaded for a while, with patience and errors, under
/// these contracts.
fn scenario(chat: &Value, batch: &Value) -> Scenario {
    let class = |name: &str, rate_rps: f64, output: f64, slo: &Value| {
        json!({
            "name": name,
            "arrivals": { "kind": "poisson", "rate_rps": rate_rps },
            "input_tokens": { "kind": "lognormal", "mean": 512.0, "p99": 2400.0 },
            "output_tokens": { "kind": "lognormal", "mean": output, "p99": 5.0 * output },
            "error_rate": 0.02,
            "patience": { "kind": "lognormal", "median_s": 8.0, "p90_s": 20.0 },
            "quality": { "state": "assumed", "pass_rate": 0.97, "by": "this test" },
            "slo": slo,
        })
    };
    let doc = json!({
        "version": 1,
        "workload": {
            "horizon_s": 90.0, "warmup_s": 10.0,
            "classes": [class("chat", 46.0, 128.0, chat), class("batch", 9.0, 512.0, batch)],
        },
        "fleet": { "pools": [{ "gpu": "H100-SXM", "model": "Llama-3.1-8B", "replicas": 1 }] },
    });
    check(&serde_json::from_value(doc).expect("a document")).expect("a valid scenario").scenario
}

/// The run of `simulated`, counted under the contracts of `scenario`.
fn counted(simulated: &Scenario, scenario: &Scenario, run: &Simulated) -> Recount {
    recount(simulated, &scenario.contracts, (&run.requests, &run.run.stamps)).expect("countable")
}

#[test]
fn counting_again_is_simulating_again() {
    let gaps = |percentile: f64| json!({ "percentile": percentile, "ms": 30.0 });
    let chat = json!({ "ttft_ms": 800.0, "tpot_ms": 30.0, "itl_percentile": gaps(95.0) });
    let batch = json!({ "e2e_ms": 30_000.0, "attainment_target": 0.5 });
    let simulated_with = scenario(&chat, &batch);
    let run = answer(&simulated_with).expect("an answer");
    let mut counted_as = Vec::new();
    for (chat, batch) in [
        (chat.clone(), batch.clone()),
        (json!({ "ttft_ms": 80.0, "tpot_ms": 30.0 }), batch.clone()),
        (json!({ "ttft_ms": 8_000.0, "itl_percentile": gaps(50.0) }), batch.clone()),
        (json!({ "ttft_ms": 8_000.0, "itl_percentile": gaps(99.0) }), batch.clone()),
        (json!({ "ttft_ms": 8_000.0, "ttfvt_ms": 90.0 }), batch.clone()),
        (json!({ "ttft_ms": 8_000.0, "tpot_ms": 12.0 }), batch.clone()),
        (
            json!({ "ttft_ms": 2_000.0, "longest_stall_ms": 90.0 }),
            json!({ "ttft_ms": 9_000.0, "longest_stall_ms": 150.0, "attainment_target": 0.1 }),
        ),
        (
            json!({ "ttft_ms": 60_000.0, "attainment_target": 0.2 }),
            json!({
                "ttft_ms": 60_000.0, "attainment_target": 0.2,
                "percentile_targets": [{ "of": "ttft", "percentile": 50.0, "limit_ms": 1.0 }],
            }),
        ),
        (
            json!({ "ttft_ms": 60_000.0, "attainment_target": 0.2 }),
            json!({ "ttft_ms": 60_000.0, "attainment_target": 0.2 }),
        ),
    ] {
        let other = scenario(&chat, &batch);
        let simulated = answer(&other).expect("an answer").report;
        let again = counted(&simulated_with, &other, &run);
        assert_eq!(again.outcomes, simulated.outcomes, "{chat} {batch}");
        assert_eq!(again.offered, simulated.offered);
        assert_eq!(again.good, simulated.goodput.good);
        assert_eq!(again.attainment.to_bits(), simulated.attainment.to_bits());
        assert_eq!(again.good_rps.to_bits(), simulated.goodput.good_rps.to_bits());
        assert_eq!(again.contract_holds, simulated.contract_holds, "{chat} {batch}");
        assert_eq!(again.within, simulated.within);
        counted_as.push((again.outcomes, again.contract_holds));
    }
    let holds: Vec<bool> = counted_as.iter().map(|(_, holds)| *holds).collect();
    assert!(holds[8] && !holds[7], "one percentile target decides: {holds:?}");
    let before = counted_as.len();
    counted_as.dedup();
    assert_eq!(counted_as.len(), before, "every contract judges otherwise: {counted_as:?}");
}

/// The run counted gaps above 30 ms, so how many are above 31 ms takes a simulation; another
/// percentile of them does not.
#[test]
fn what_was_not_counted_is_refused() {
    let gaps = |percentile: f64, ms: f64| {
        let itl = json!({ "percentile": percentile, "ms": ms });
        scenario(&json!({ "itl_percentile": itl }), &json!({ "e2e_ms": 9e3 }))
    };
    let simulated_with = gaps(95.0, 30.0);
    let run = answer(&simulated_with).expect("an answer");
    let rows = (run.requests.as_slice(), run.run.stamps.as_slice());
    let refused = recount(&simulated_with, &gaps(95.0, 31.0).contracts, rows).expect_err("no");
    assert_eq!(refused.path, "workload.classes[0].slo.itl_percentile.ms");
    let medians = recount(&simulated_with, &gaps(50.0, 30.0).contracts, rows).expect("the same");
    let p95 = recount(&simulated_with, &simulated_with.contracts, rows).expect("the same");
    assert!(medians.good > p95.good, "{} against {}", medians.good, p95.good);
}

#[test]
fn within_is_the_part_of_the_histogram_below_the_limit() {
    let slo = |at: f64| json!({ "ttft_ms": at, "tpot_ms": at / 40.0, "longest_stall_ms": at / 4.0, "e2e_ms": 5.0 * at });
    let simulated_with = scenario(&slo(500.0), &slo(500.0));
    let run = answer(&simulated_with).expect("an answer");
    let mut before = [0; 4];
    for at in [200.0, 1_000.0, 5_000.0, 20_000.0] {
        let within = counted(&simulated_with, &scenario(&slo(at), &slo(at)), &run).within;
        let counts =
            [within.ttft, within.tpot, within.stall, within.e2e].map(|n| n.expect("a limit"));
        assert!(counts.iter().zip(before).all(|(now, before)| *now >= before), "{at}: {counts:?}");
        before = counts;
    }
    let report = &run.report;
    for (histogram, within, at) in [
        (&report.ttft_histogram, report.within.ttft, 500.0),
        (&report.tpot_histogram, report.within.tpot, 12.5),
        (&report.longest_stall_histogram, report.within.stall, 125.0),
        (&report.e2e_histogram, report.within.e2e, 2_500.0),
    ] {
        let bins = || histogram.counts.iter().zip(histogram.edges_ms.windows(2));
        let below: u64 = bins().filter(|(_, e)| e[1] <= at).map(|(n, _)| n).sum();
        let touched: u64 = bins().filter(|(_, e)| e[0] <= at).map(|(n, _)| n).sum();
        let within = within.expect("a limit");
        assert!((below..=touched).contains(&within), "{within} of {below} to {touched} at {at}");
        assert!(histogram.counts.iter().sum::<u64>() > 0);
    }
    assert!(report.outcomes[&Outcome::CancelledBeforeFirst] > 0, "what never came is not within");
    let missing = scenario(&json!({ "ttft_ms": 500.0 }), &json!({ "e2e_ms": 500.0 }));
    let within = counted(&simulated_with, &missing, &run).within;
    assert_eq!((within.ttft, within.e2e), (None, None), "not every class has it");
}

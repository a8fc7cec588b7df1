//! Runs replayed request by request: what the simulator itself made is replayed exactly, a hidden
//! law is found again, and real runs are explained within the bounds that are stated here.

#[path = "replay/measured.rs"]
mod measured;

use goodput_engine::accounts::replica_spec;
use goodput_engine::calibration::replay::{RunReport, replay};
use goodput_engine::ingest::{RecordOutcome, RequestRecord};
use goodput_engine::scenario::doc::{PoolDoc, StepTimeSourceDoc};
use goodput_engine::scenario::{GpuRef, ModelRef, Pool, check, presets};
use goodput_engine::sim::{FleetSpec, RunLimits, simulate};
use goodput_engine::slo::{self, parse_limits};
use goodput_engine::step_time::StepCoefficients;
use goodput_engine::units::Picos;
use goodput_engine::workload::{Lineage, OfferedRequest};

/// One replica of an 8B model on a GPU of the catalogue, as its engine was set up.
fn pool(gpu: &str, set_up: impl FnOnce(&mut PoolDoc)) -> Pool {
    let mut pool = PoolDoc::new(GpuRef::id(gpu), ModelRef::id("Llama-3.1-8B"), 1);
    set_up(&mut pool);
    let mut doc = presets::presets()[0].doc.clone();
    doc.fleet.pools = vec![pool];
    check(&doc).expect("a scenario").scenario.pool
}

/// A fleet of that pool which lets everybody in.
fn fleet_of(pool: &Pool) -> FleetSpec {
    FleetSpec::open(replica_spec(pool).expect("it fits"), pool.replicas)
}

/// Some 240 requests of every length that come faster than one replica serves them.
fn requests() -> Vec<OfferedRequest> {
    let request = |index: u32| OfferedRequest {
        class: 0,
        pool: 0,
        due: Picos::from_secs(f64::from(index) * 0.07 + f64::from(index % 7) * 0.01),
        input_tokens: 40 + (index * 613) % 2_900,
        output_tokens: 1 + (index * 389) % 700,
        hidden_tokens: 0,
        patience: None,
        fails: false,
        acceptable: true,
        lineage: Lineage::NONE,
    };
    (0..240).map(request).collect()
}

/// The log that a pool would have written of [`requests`].
fn log_of(pool: &Pool) -> Vec<RequestRecord> {
    let fleet = fleet_of(pool);
    let requests = requests();
    let run = simulate(&requests, &fleet, RunLimits::to_the_end(Picos::from_secs(20.0)));
    let record = |(request, stamps): (&OfferedRequest, &slo::RequestStamps)| RequestRecord {
        point: 0,
        start_s: Some(request.due.as_secs()),
        input_tokens: Some(request.input_tokens),
        output_tokens: Some(request.output_tokens),
        ttft_s: slo::ttft(request, stamps).map(Picos::as_secs),
        ttfvt_s: None,
        e2e_s: slo::e2e(request, stamps).map(Picos::as_secs),
        client_queue_s: None,
        queue_wait_s: slo::queue_wait(request, stamps).map(Picos::as_secs),
        gaps: None,
        cached_tokens: None,
        outcome: RecordOutcome::Ok,
        quality: None,
        class: None,
    };
    requests.iter().zip(&run.stamps).map(record).collect()
}

fn law(factor: [f64; 4]) -> StepTimeSourceDoc {
    StepTimeSourceDoc::Coefficients {
        coefficients: StepCoefficients {
            c0_s: 1.5e-3,
            cw_s: 7e-3 * factor[0],
            cw_experts_s: 0.0,
            expert_share: 0.0,
            c1_s_per_token: 4e-5 * factor[1],
            c2_s_per_pair: 2e-9,
            c3_s_per_decode_seq: 5e-6 * factor[2],
            c4_s_per_kv_token: 6e-8 * factor[3],
            p: 2.0,
        },
        by: "this test".to_owned(),
        fitted: None,
    }
}

fn served_by(factor: [f64; 4]) -> Pool {
    pool("RTX-PRO-6000-SE", |pool| {
        pool.step_time.source = law(factor);
        pool.num_gpu_blocks = Some(4_000);
        pool.max_num_seqs = 64;
    })
}

/// The largest relative error among percentiles and totals.
fn worst(run: &RunReport) -> (String, f64) {
    let latencies = run.measures.iter().flat_map(|latency| {
        let named = |statistic: &str, error: Option<f64>| {
            (format!("{} {statistic}", latency.measure), error)
        };
        [
            named("p50", latency.p50.error),
            named("p90", latency.p90.error),
            named("p99", latency.p99.error),
        ]
    });
    let totals = [("makespan".to_owned(), run.makespan_s.error)];
    let known = latencies.chain(totals).map(|(name, error)| (name, error.expect("finite").abs()));
    known.max_by(|a, b| a.1.total_cmp(&b.1)).expect("some")
}

#[test]
fn what_a_pool_made_itself_is_replayed_to_the_last_request() {
    let pool = served_by([1.0; 4]);
    let contract = parse_limits("ttft=2s,tpot=40ms").expect("limits");
    let report = replay(&log_of(&pool), &pool, Some(&contract), false).expect("replayed");
    let [run] = report.runs.as_slice() else { panic!("one run") };
    assert_eq!((run.simulated, run.compared), (240, 240));
    let (what, error) = worst(run);
    assert!(error < 1e-9 && run.per_request_error < 1e-9, "{what}: {error}");
    let good = run.good.expect("limits");
    assert_eq!((good.differ, good.predicted), (0, good.measured));
    assert!(good.measured > 10 && good.measured < 230, "{good:?}: a contract that divides");
    let peak = run.waiting_peak.expect("when each was scheduled is in the log");
    assert_eq!(peak.predicted, peak.measured);
}

#[test]
fn a_hidden_law_is_found_from_half_of_the_requests() {
    let hidden = served_by([1.4, 0.8, 2.0, 1.3]);
    let known = served_by([1.0; 4]);
    let log = log_of(&hidden);
    let plain = replay(&log, &known, None, false).expect("replayed");
    let fitted = replay(&log, &known, None, true).expect("fitted");
    let fit = fitted.fit.expect("a fit");
    assert_eq!((fit.requests, fitted.runs[0].compared), (120, 120));
    assert!(fit.error_after < fit.error_before);
    assert!(worst(&plain.runs[0]).1 > 0.1, "the hidden law is another one");
    let (what, error) = worst(&fitted.runs[0]);
    assert!(error < 0.02, "{what}: {error} on requests that were not fitted");
}

#[test]
fn every_request_is_replayed_or_left_out_for_a_reason() {
    let pool = served_by([1.0; 4]);
    let mut log = log_of(&pool);
    log[3].outcome = RecordOutcome::Error;
    log[5].ttft_s = None;
    log[8].start_s = None;
    log[9].input_tokens = Some(64_001);
    log[11].e2e_s = Some(1e-6);
    let report = replay(&log, &pool, None, false).expect("replayed");
    let [run] = report.runs.as_slice() else { panic!("one run") };
    let left_out: u64 = run.excluded.iter().map(|excluded| excluded.rows).sum();
    assert_eq!((run.simulated, left_out, run.excluded.len()), (235, 5, 5));
    for record in &mut log {
        record.start_s = None;
    }
    let problem = replay(&log, &pool, None, false).expect_err("nothing to replay");
    assert!(problem.message.contains("the moment it was sent is not in the file"), "{problem}");
}

#[test]
fn runs_of_one_file_are_replayed_apart() {
    let pool = served_by([1.0; 4]);
    let mut log = log_of(&pool);
    let second = log.clone().into_iter().map(|record| RequestRecord { point: 1, ..record });
    log.extend(second);
    let report = replay(&log, &pool, None, false).expect("replayed");
    let rows: Vec<(u32, u64)> = report.runs.iter().map(|run| (run.row, run.simulated)).collect();
    assert_eq!(rows, [(1, 240), (2, 240)]);
    assert!(report.runs.iter().all(|run| worst(run).1 < 1e-9));
}

//! Two measured runs of vLLM 0.19 with Llama-3.1-8B, 300 requests each, replayed: an RTX 4090 whose
//! KV memory is the bottleneck, and an RTX PRO 6000 whose seats are. Skipped, and said so, where the
//! data is not beside the repository.
//!
//! Data: LLMServingSim (MIT). The law is fitted to every other request of the run and read on those
//! in between (in-run consistency): what is tested is that scheduler, memory, preemption and a law
//! of this form explain the run.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use goodput_engine::calibration::replay::{ReplayReport, RequestReplay, RunReport, Times, replay};
use goodput_engine::ingest::{RequestRecord, read};
use goodput_engine::scenario::Pool;
use goodput_engine::scenario::doc::StepTimeSourceDoc;
use goodput_engine::sim::{RunLimits, SimRun, simulate};
use goodput_engine::slo::Fate;
use goodput_engine::units::Picos;
use goodput_engine::workload::{Lineage, OfferedRequest};

use super::{fleet_of, pool, worst};

const RTX_4090: &str = "llmservingsim_vllm_RTX4090_Llama-3.1-8B.csv";
const RTX_PRO_6000: &str = "llmservingsim_vllm_RTXPRO6000_Llama-3.1-8B.csv";

fn shared(run: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.parent()?;
    let file = root.join("shared/calibration/runs").join(run);
    if !file.exists() {
        println!("skipped: {} is not there", file.display());
        return None;
    }
    Some(file)
}

fn records(run: &str) -> Option<Vec<RequestRecord>> {
    let bytes = std::fs::read(shared(run)?).expect("it can be read");
    Some(read(run, &bytes).expect("a table of requests").records().to_vec())
}

/// The RTX 4090 of the run: its engine's own block count, settings at their defaults.
fn rtx_4090(num_gpu_blocks: u64) -> Pool {
    pool("RTX-4090", |pool| pool.num_gpu_blocks = Some(num_gpu_blocks))
}

/// The RTX PRO 6000: its block count is not known and never binds.
fn rtx_pro_6000() -> Pool {
    pool("RTX-PRO-6000-SE", |pool| {
        pool.num_gpu_blocks = Some(25_000);
        pool.max_num_seqs = 128;
    })
}

fn fitted(run: &str, pool: &Pool) -> Option<ReplayReport> {
    let report = replay(&records(run)?, pool, None, true).expect("replayed");
    println!("{run}: worst {:?}", worst(&report.runs[0]));
    Some(report)
}

/// The fit of the RTX 4090, which several tests look at.
fn of_the_4090() -> Option<&'static ReplayReport> {
    static FIT: OnceLock<Option<ReplayReport>> = OnceLock::new();
    FIT.get_or_init(|| fitted(RTX_4090, &rtx_4090(2_588))).as_ref()
}

/// The pool with the law that a fit found.
fn with_fit(report: &ReplayReport, num_gpu_blocks: u64) -> Pool {
    let fit = report.fit.clone().expect("a fit");
    pool("RTX-4090", |pool| {
        pool.num_gpu_blocks = Some(num_gpu_blocks);
        pool.step_time.source = StepTimeSourceDoc::Coefficients {
            coefficients: fit.coefficients,
            by: "the fit".to_owned(),
            fitted: None,
        };
    })
}

fn near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{what}: {found}, measured {expected}");
}

#[test]
fn half_of_the_requests_explain_the_other_half_within_two_per_cent() {
    for (run, pool, makespan_s, waiting) in
        [(RTX_4090, rtx_4090(2_588), 183.57, 228.0), (RTX_PRO_6000, rtx_pro_6000(), 65.93, 104.0)]
    {
        let Some(report) = fitted(run, &pool) else { return };
        let [found] = report.runs.as_slice() else { panic!("one run") };
        assert_eq!((found.simulated, found.compared, found.excluded.len()), (300, 150, 0));
        assert_bounds(found);
        near("makespan as published", found.makespan_s.measured.expect("finite"), makespan_s, 1e-3);
        let peak = found.waiting_peak.expect("when each was scheduled");
        assert_eq!(peak.measured, Some(waiting));
        near("most never scheduled", peak.predicted.expect("finite"), waiting, 0.01);
    }
}

fn assert_bounds(run: &RunReport) {
    let within = |what: &str, error: Option<f64>| {
        let error = error.expect("finite");
        assert!(error.abs() <= 0.02, "{what}: {error}");
    };
    let [ttft, tpot, e2e] = run.measures.as_slice() else { panic!("three latencies") };
    within("TTFT p50", ttft.p50.error);
    within("TTFT p90", ttft.p90.error);
    within("TTFT p99", ttft.p99.error);
    within("TPOT p50", tpot.p50.error);
    within("TPOT p99", tpot.p99.error);
    within("E2E p99", e2e.p99.error);
    within("makespan", run.makespan_s.error);
}

/// Good requests at TTFT and TPOT limits, in seconds and milliseconds, of all 300.
const GRID: [(f64, f64, u64); 7] = [
    (1.0, 50.0, 21),
    (1.0, 100.0, 26),
    (2.0, 50.0, 36),
    (2.0, 60.0, 40),
    (10.0, 50.0, 36),
    (60.0, 60.0, 147),
    (0.5, 30.0, 0),
];

#[test]
fn good_requests_are_the_measured_ones_but_for_those_at_a_limit() {
    let Some(report) = of_the_4090() else { return };
    let rows = &report.runs[0].requests;
    for (ttft_s, tpot_ms, measured) in GRID {
        let values =
            |times: Times| [times.ttft_s / ttft_s, 1e3 * times.tpot_s().unwrap_or(0.0) / tpot_ms];
        let good = |times| values(times).iter().all(|share| *share <= 1.0);
        assert_eq!(rows.iter().filter(|row| good(row.measured)).count() as u64, measured);
        let predicted = |row: &&RequestReplay| row.predicted.is_some_and(good);
        let found = rows.iter().filter(predicted).count() as u64;
        let at_a_limit = |row: &&RequestReplay| {
            values(row.measured).iter().any(|share| (share - 1.0).abs() <= 0.01)
        };
        let allowed = rows.iter().filter(at_a_limit).count() as u64;
        println!(
            "({ttft_s} s, {tpot_ms} ms): {found} predicted, {measured} measured, {allowed} at a limit"
        );
        assert!(found.abs_diff(measured) <= allowed, "({ttft_s} s, {tpot_ms} ms)");
    }
}

fn requests(records: &[RequestRecord]) -> Vec<OfferedRequest> {
    let request = |record: &RequestRecord| OfferedRequest {
        class: 0,
        pool: 0,
        due: Picos::from_secs(record.start_s.expect("arrival")),
        input_tokens: record.input_tokens.expect("prompt"),
        output_tokens: record.output_tokens.expect("output"),
        hidden_tokens: 0,
        patience: None,
        fails: false,
        acceptable: true,
        lineage: Lineage::NONE,
    };
    records.iter().map(request).collect()
}

fn run_of(records: &[RequestRecord], pool: &Pool) -> SimRun {
    let limits = RunLimits::to_the_end(Picos::from_secs(184.0));
    simulate(&requests(records), &fleet_of(pool), limits)
}

#[test]
fn kv_memory_and_queue_follow_the_engines_own_series() {
    let series = "llmservingsim_vllm_RTX4090_Llama-3.1-8B_timeseries.csv";
    let (Some(path), Some(records)) = (shared(series), records(RTX_4090)) else { return };
    let report = of_the_4090().expect("the run is there");
    let run = run_of(&records, &with_fit(report, 2_588));
    assert!(run.stamps.iter().all(|stamps| stamps.fate == Fate::Completed));
    let mut table = csv::Reader::from_path(path).expect("a table");
    let (mut squares, mut ticks, mut most_waiting) = (0.0, 0.0, 0.0_f64);
    for row in table.records() {
        let row = row.expect("a row");
        let cell = |at: usize| row[at].parse::<f64>().expect("a number");
        let (t_s, waiting, kv_percent) = (cell(0), cell(4), cell(5));
        let sample = run.samples.iter().rfind(|sample| sample.at.as_secs() <= t_s);
        let held = sample.expect("one at 0").kv_used_tokens as f64 / (2_587.0 * 16.0);
        squares += (100.0 * held - kv_percent) * (100.0 * held - kv_percent);
        ticks += 1.0;
        most_waiting = most_waiting.max(waiting);
    }
    let rmse = f64::sqrt(squares / ticks);
    println!("KV occupancy: RMSE {rmse:.2} points over {ticks} ticks");
    assert!(rmse <= 4.0, "{rmse} points");
    let waiting = run.samples.iter().map(|sample| sample.waiting).max().expect("samples");
    near("most waiting, preempted ones included", waiting as f64, most_waiting, 0.01);
}

#[test]
fn a_third_more_blocks_would_have_ended_the_run_an_eighth_earlier() {
    let Some(records) = records(RTX_4090) else { return };
    let report = of_the_4090().expect("the run is there");
    let ended = |blocks: u64| run_of(&records, &with_fit(report, blocks)).ended.as_secs();
    let drop = 1.0 - ended(3_400) / ended(2_588);
    println!("3,400 blocks for 2,588: the makespan drops by {:.1} %", 100.0 * drop);
    assert!((0.12..=0.14).contains(&drop), "{drop}");
}

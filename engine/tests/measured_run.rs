//! A measured run replayed: 300 requests on an RTX 4090 whose KV memory is the bottleneck, per
//! request and second by second. Skipped, and says so, where the data is not beside the repository.
//!
//! Data: LLMServingSim (MIT), vLLM 0.19 with Llama-3.1-8B. The step law is the plain linear one that
//! was fitted to every other request of this very run, so that what is tested is the simulator
//! (scheduler, memory, preemption), not the law.

use std::path::Path;

use goodput_engine::ingest::{RequestRecord, read};
use goodput_engine::sim::{FleetSpec, ReplicaSpec, RunLimits, SimRun, simulate};
use goodput_engine::slo::Fate;
use goodput_engine::step_time::{CompiledLaw, StepLaw, TokenTerm};
use goodput_engine::units::Picos;
use goodput_engine::workload::{Lineage, OfferedRequest};

const RUN: &str = "calibration/runs/llmservingsim_vllm_RTX4090_Llama-3.1-8B.csv";

fn records() -> Option<Vec<RequestRecord>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.parent()?;
    let file = root.join("shared").join(RUN);
    let Ok(bytes) = std::fs::read(&file) else {
        println!("skipped: {} is not there", file.display());
        return None;
    };
    Some(read(RUN, &bytes).expect("a table of requests").records().to_vec())
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

fn replay(requests: &[OfferedRequest]) -> SimRun {
    // Per prompt token 86 µs, per decode 0.8 µs: of the tokens of a step, decodes get theirs back.
    let law = StepLaw {
        token_terms: vec![
            TokenTerm::Constant { seconds: 18.1e-3 },
            TokenTerm::PerToken { seconds: 86e-6 },
        ],
        s_per_pair: 2.1e-9,
        s_per_decode_seq: 0.8e-6 - 86e-6,
        s_per_kv_token: 1.71e-7,
    };
    let replica = ReplicaSpec {
        law: CompiledLaw::new(&law, 2_304, 1.0, 0.0),
        usable_blocks: 2_587,
        block_size: 16,
        window_blocks_per_seq: 0,
        max_num_seqs: 256,
        max_num_batched_tokens: 2_048,
        long_prefill_token_threshold: 0,
        stream_interval: 1,
        scheduling_policy: goodput_engine::sim::SchedulingPolicy::Fcfs,
        max_model_len: 32_768,
        chunked_prefill: true,
        prefix_caching: true,
        reserve_full_isl: true,
        async_scheduling: true,
        api_overhead: Picos::ZERO,
    };
    let fleet = FleetSpec::open(replica, 1);
    simulate(requests, &fleet, RunLimits::to_the_end(Picos::from_secs(30.0)))
}

fn percentile(mut values: Vec<f64>, p: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    goodput_engine::stats::nearest_rank(&values, p).expect("values")
}

fn near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{what}: {found}, measured {expected}");
}

/// C11: makespan, waiting, running, never scheduled and preempted of the measured RTX 4090 run.
#[test]
fn a_run_bound_by_kv_memory_is_replayed_within_ten_percent() {
    let Some(records) = records() else { return };
    let requests = requests(&records);
    let run = replay(&requests);
    assert!(run.stamps.iter().all(|stamps| stamps.fate == Fate::Completed));
    near("makespan", run.ended.as_secs(), 183.6, 0.10);
    let waiting = run.samples.iter().map(|sample| sample.waiting).max().expect("samples");
    near("most waiting", waiting as f64, 234.0, 0.05);
    let running = run.samples.iter().map(|sample| sample.running).max().expect("samples");
    assert!(running <= 55, "{running} of 256 seats: memory is the limit");
    let full = run.samples.iter().filter(|s| (10.0..160.0).contains(&s.at.as_secs()));
    let least = full.map(|sample| sample.kv_used_tokens).min().expect("samples");
    assert!(least as f64 > 0.85 * 41_392.0, "KV memory stays full: {least}");
    for (t, never_scheduled) in [(10.0, 71), (30.0, 228), (60.0, 183), (120.0, 82)] {
        let at = Picos::from_secs(t);
        let waits = |(request, stamps): &(&OfferedRequest, &goodput_engine::slo::RequestStamps)| {
            request.due <= at && stamps.scheduled.is_none_or(|scheduled| scheduled > at)
        };
        let count = requests.iter().zip(&run.stamps).filter(waits).count();
        assert!(
            count.abs_diff(never_scheduled) <= 10,
            "{t} s: {count}, measured {never_scheduled}"
        );
    }
    let (t11, mut started, mut preempted) = (Picos::from_secs(11.0), 0, 0);
    for stamps in &run.stamps {
        started += u64::from(stamps.scheduled.is_some_and(|scheduled| scheduled <= t11));
        preempted += u64::from(stamps.preemptions > 0);
    }
    assert!((35..=47).contains(&started), "{started} started by 11 s, measured 41");
    assert!(preempted >= 9, "{preempted}");
}

/// C11 and D2: TTFT p50 60.1 and p99 137.4 s, TPOT p50 30.8 and p99 56.0 ms, 21 of 300 good.
#[test]
fn its_latencies_are_replayed_percentile_by_percentile() {
    let Some(records) = records() else { return };
    let requests = requests(&records);
    let run = replay(&requests);
    let ttft =
        |i: usize| (run.stamps[i].first_token.expect("answered") - requests[i].due).as_secs();
    let tpot = |i: usize| {
        goodput_engine::slo::tpot(&run.stamps[i]).map(goodput_engine::slo::Tpot::as_millis)
    };
    let all = || 0..requests.len();
    near("TTFT p50", percentile(all().map(ttft).collect(), 0.5), 60.1, 0.03);
    near("TTFT p99", percentile(all().map(ttft).collect(), 0.99), 137.4, 0.03);
    near("TPOT p50", percentile(all().filter_map(tpot).collect(), 0.5), 30.8, 0.05);
    near("TPOT p99", percentile(all().filter_map(tpot).collect(), 0.99), 56.0, 0.05);
    let good = |i: &usize| ttft(*i) <= 1.0 && tpot(*i).is_none_or(|tpot| tpot <= 50.0);
    let good = all().filter(good).count();
    assert!(good.abs_diff(21) <= 4, "{good} good, measured 21");
}

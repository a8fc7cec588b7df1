//! `goodput bench`: how fast the simulator is on this machine, beside its stepwise reference.

use std::time::Instant;

use goodput_engine::rng::{Key, Stream, keyed};
use goodput_engine::sim::{FleetSpec, ReplicaSpec, RunLimits, simulate, simulate_stepwise};
use goodput_engine::step_time::{CompiledLaw, StepCoefficients};
use goodput_engine::units::Picos;
use goodput_engine::workload::{Lineage, OfferedRequest};
use rand_distr::{Distribution, Exp, LogNormal};
use serde::Serialize;

use super::args::BenchArgs;
use super::output::{Answer, Failure};

/// Spread of lengths: the standard deviation of their logarithm.
const SIGMA: f64 = 0.8;

/// One workload on one fleet, so many times in a row.
struct Case {
    name: &'static str,
    requests: u32,
    rate_rps: f64,
    mean_tokens: (f64, f64),
    replicas: u32,
    usable_blocks: u64,
    runs: u32,
}

const ONE_REPLICA: Case = Case {
    name: "1 replica, 12 req/s",
    requests: 100_000,
    rate_rps: 12.0,
    mean_tokens: (512.0, 256.0),
    replicas: 1,
    usable_blocks: 40_000,
    runs: 1,
};

const CASES: [Case; 8] = [
    ONE_REPLICA,
    Case { name: "1 replica, 3 req/s", rate_rps: 3.0, ..ONE_REPLICA },
    Case { name: "1 replica, 25 req/s", rate_rps: 25.0, ..ONE_REPLICA },
    Case {
        name: "8 replicas, 96 req/s",
        requests: 1_000_000,
        rate_rps: 96.0,
        replicas: 8,
        ..ONE_REPLICA
    },
    Case {
        name: "128 replicas, 1536 req/s",
        requests: 1_000_000,
        rate_rps: 1536.0,
        replicas: 128,
        ..ONE_REPLICA
    },
    Case {
        name: "overload with preemption, 2,588 blocks, 30 req/s",
        rate_rps: 30.0,
        usable_blocks: 2587,
        ..ONE_REPLICA
    },
    Case { name: "outputs of 4,096", rate_rps: 0.7, mean_tokens: (512.0, 4096.0), ..ONE_REPLICA },
    Case { name: "1,000 runs of 1,000 requests", requests: 1000, runs: 1000, ..ONE_REPLICA },
];

#[derive(Debug, Serialize)]
struct Output {
    /// Checks are on, so the numbers say little.
    debug_build: bool,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    requests: u64,
    /// Of the fastest of several runs; making the workload and counting percentiles are not in it.
    seconds: f64,
    requests_per_s: f64,
    steps: u64,
    preemptions: u64,
    /// How many times as long the stepwise reference takes for the same run.
    ratio_to_reference: f64,
}

pub fn run(args: &BenchArgs) -> Result<Answer, Failure> {
    let asked = |case: &&Case| args.only.as_ref().is_none_or(|text| case.name.contains(text));
    let rows: Vec<Row> =
        CASES.iter().filter(asked).map(|case| measure(case, args.repeats)).collect();
    if rows.is_empty() {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        let known = names.join("; ");
        return Err(Failure::Usage(format!("no workload of that name; there are: {known}")));
    }
    let line = |row: &Row| {
        let steps_per_s = row.steps as f64 / row.seconds;
        format!(
            "{:<50} {:>10} {:>10.4} {:>12.0} {:>12.0} {:>9.1}\n",
            row.name,
            row.requests,
            row.seconds,
            row.requests_per_s,
            steps_per_s,
            row.ratio_to_reference
        )
    };
    let mut text = format!(
        "{:<50} {:>10} {:>10} {:>12} {:>12} {:>9}\n",
        "workload", "requests", "seconds", "req/s", "steps/s", "× faster"
    );
    text.extend(rows.iter().map(line));
    text += "\n× faster: than the stepwise reference on the same run\n";
    let debug_build = cfg!(debug_assertions);
    if debug_build {
        text += "This is a debug build: build with --release for numbers that mean something.\n";
    }
    Answer::new(&Output { debug_build, rows }, text)
}

fn measure(case: &Case, repeats: u32) -> Row {
    let requests = workload(case);
    let fleet = FleetSpec::open(replica(case.usable_blocks), case.replicas);
    let horizon = requests.last().map_or(Picos::ZERO, |last| last.due);
    let limits = RunLimits { max_steps: u64::MAX, ..RunLimits::to_the_end(horizon) };
    let mut fastest = f64::INFINITY;
    let (mut steps, mut preemptions) = (0, 0);
    for _ in 0..repeats.max(1) {
        let start = Instant::now();
        for _ in 0..case.runs {
            let run = simulate(&requests, &fleet, limits);
            steps = run.steps * u64::from(case.runs);
            preemptions = run.samples.last().map_or(0, |last| last.preemptions);
        }
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    // The reference is slow enough to be measured in one run.
    let start = Instant::now();
    simulate_stepwise(&requests, &fleet, limits);
    let reference = start.elapsed().as_secs_f64() * f64::from(case.runs);
    let count = u64::from(case.requests) * u64::from(case.runs);
    Row {
        name: case.name,
        requests: count,
        seconds: fastest,
        requests_per_s: count as f64 / fastest,
        steps,
        preemptions,
        ratio_to_reference: reference / fastest,
    }
}

/// About an 8B model on an H100: 256 seats, 2,048 tokens a step.
fn replica(usable_blocks: u64) -> ReplicaSpec {
    let coefficients = StepCoefficients {
        c0_s: 5e-4,
        cw_s: 5e-3,
        cw_experts_s: 0.0,
        expert_share: 0.0,
        c1_s_per_token: 4e-5,
        p: 2.0,
        c2_s_per_pair: 2e-9,
        c3_s_per_decode_seq: 2e-5,
        c4_s_per_kv_token: 2.6e-8,
    };
    ReplicaSpec {
        law: CompiledLaw::new(&coefficients.law(), 2048, 1.0, 0.0),
        usable_blocks,
        block_size: 16,
        window_blocks_per_seq: 0,
        max_num_seqs: 256,
        max_num_batched_tokens: 2048,
        max_model_len: 32_768,
        chunked_prefill: true,
        prefix_caching: true,
        reserve_full_isl: true,
        async_scheduling: true,
        api_overhead: Picos::ZERO,
    }
}

/// Poisson arrivals and lognormal lengths.
fn workload(case: &Case) -> Vec<OfferedRequest> {
    let key = |stream, request: u32| Key {
        seed: 1,
        stream,
        class: 0,
        request: u64::from(request),
        attempt: 0,
    };
    let gap = Exp::new(case.rate_rps).expect("a positive rate");
    let lengths = |mean: f64| {
        LogNormal::new(goodput_engine::math::ln(mean) - SIGMA * SIGMA / 2.0, SIGMA)
            .expect("a positive spread")
    };
    let (inputs, outputs) = (lengths(case.mean_tokens.0), lengths(case.mean_tokens.1));
    let tokens = |distribution: &LogNormal<f64>, key| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let tokens = distribution.sample(&mut keyed(key)).round().clamp(1.0, 16_000.0) as u32;
        tokens
    };
    let mut due_s = 0.0;
    (0..case.requests)
        .map(|i| {
            due_s += gap.sample(&mut keyed(key(Stream::Arrivals, i)));
            OfferedRequest {
                class: 0,
                pool: 0,
                due: Picos::from_secs(due_s),
                input_tokens: tokens(&inputs, key(Stream::InputTokens, i)),
                output_tokens: tokens(&outputs, key(Stream::OutputTokens, i)),
                hidden_tokens: 0,
                patience: None,
                fails: false,
                acceptable: true,
                lineage: Lineage::NONE,
            }
        })
        .collect()
}

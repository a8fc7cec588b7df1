//! The workloads by which the simulator's speed is measured, natively and in a browser's engine.
//!
//! The library has no clock: who measures brings one ([`Meter`]).

use rand_distr::{Distribution, Exp, LogNormal};
use serde::{Deserialize, Serialize};

use super::{FleetSim, FleetSpec, Progress, ReplicaSpec, RunLimits, SimRun, simulate_stepwise};
use crate::math;
use crate::rng::{Key, Stream, keyed};
use crate::slo::{self, Tpot};
use crate::stats::nearest_rank;
use crate::step_time::{CompiledLaw, StepCoefficients};
use crate::units::Picos;
use crate::workload::{Lineage, OfferedRequest};

/// Spread of lengths: the standard deviation of their logarithm.
const SIGMA: f64 = 0.8;

/// One workload on one fleet, so many times in a row.
#[derive(Debug, Clone, Copy)]
pub struct Yardstick {
    /// What it is.
    pub name: &'static str,
    /// Requests of one run.
    pub requests: u32,
    rate_rps: f64,
    /// Of prompts and outputs.
    mean_tokens: (f64, f64),
    replicas: u32,
    usable_blocks: u64,
    /// Runs in a row, each with its set-up.
    pub runs: u32,
    /// The stepwise reference would take minutes.
    skips_reference: bool,
}

const ONE_REPLICA: Yardstick = Yardstick {
    name: "1 replica, 12 req/s",
    requests: 100_000,
    rate_rps: 12.0,
    mean_tokens: (512.0, 256.0),
    replicas: 1,
    usable_blocks: 40_000,
    runs: 1,
    skips_reference: false,
};

const EIGHT_REPLICAS: Yardstick = Yardstick {
    name: "8 replicas, 96 req/s",
    requests: 1_000_000,
    rate_rps: 96.0,
    replicas: 8,
    ..ONE_REPLICA
};

/// All of them. The one whose memory counts comes first: allocators keep what others had.
pub const YARDSTICKS: [Yardstick; 9] = [
    EIGHT_REPLICAS,
    ONE_REPLICA,
    Yardstick { name: "1 replica, 3 req/s", rate_rps: 3.0, ..ONE_REPLICA },
    Yardstick { name: "1 replica, 25 req/s", rate_rps: 25.0, ..ONE_REPLICA },
    Yardstick {
        name: "overload with preemption, 2,588 blocks, 30 req/s",
        rate_rps: 30.0,
        usable_blocks: 2587,
        ..ONE_REPLICA
    },
    Yardstick {
        name: "outputs of 4,096",
        rate_rps: 0.7,
        mean_tokens: (512.0, 4096.0),
        ..ONE_REPLICA
    },
    Yardstick { name: "1,000 runs of 1,000 requests", requests: 1000, runs: 1000, ..ONE_REPLICA },
    Yardstick {
        name: "128 replicas, 1536 req/s",
        rate_rps: 1536.0,
        replicas: 128,
        ..EIGHT_REPLICAS
    },
    Yardstick {
        name: "8 replicas, 96 req/s, 10 M requests",
        requests: 10_000_000,
        skips_reference: true,
        ..EIGHT_REPLICAS
    },
];

/// What a run takes, by somebody who can tell.
pub trait Meter {
    /// Seconds since any moment.
    fn now_s(&self) -> f64;
    /// From here on a peak of memory counts.
    fn begin_peak(&mut self);
    /// Most bytes that the whole program has held since then, if that is known.
    fn peak_bytes(&self) -> Option<u64>;
}

/// What one yardstick took. Seconds are of the fastest of several repeats, of all its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The yardstick.
    pub name: String,
    /// Requests of all its runs.
    pub requests: u64,
    /// Simulating them.
    pub seconds: f64,
    /// Requests simulated per second.
    pub requests_per_s: f64,
    /// Making the requests of one run.
    pub generation_s: f64,
    /// Percentiles of TTFT and TPOT over all requests of one run.
    pub percentiles_s: f64,
    /// Engine steps of all runs.
    pub steps: u64,
    /// Moments at which a replica was looked at: what `seconds` is proportional to.
    pub boundaries: u64,
    /// Preemptions of one run.
    pub preemptions: u64,
    /// Most bytes that the whole program held while it simulated, its requests included.
    pub peak_bytes: Option<u64>,
    /// How many times as long the stepwise reference took for the same run.
    pub ratio_to_reference: Option<f64>,
    /// p50, p90 and p99 of TTFT, ms: what the run says, the same on every platform.
    pub ttft_ms: [f64; 3],
}

impl Yardstick {
    /// Measures it: the fastest of `repeats`, and the reference once, which is slow enough.
    pub fn measure(&self, repeats: u32, meter: &mut impl Meter) -> Measured {
        let start = meter.now_s();
        let requests = self.workload();
        let generation_s = meter.now_s() - start;
        let fleet = FleetSpec::open(replica(self.usable_blocks), self.replicas);
        let horizon = requests.last().map_or(Picos::ZERO, |last| last.due);
        let limits = RunLimits { max_steps: u64::MAX, ..RunLimits::to_the_end(horizon) };
        let limits = RunLimits { max_attempts: usize::MAX, ..limits };
        let mut seconds = f64::INFINITY;
        let mut last = None;
        meter.begin_peak();
        for _ in 0..repeats.max(1) {
            last = None; // no two runs at once in memory
            let start = meter.now_s();
            for _ in 0..self.runs {
                last = Some(counted(&requests, &fleet, limits));
            }
            seconds = seconds.min(meter.now_s() - start);
        }
        let peak_bytes = meter.peak_bytes();
        let (run, boundaries) = last.unwrap_or_else(|| counted(&requests, &fleet, limits));
        let start = meter.now_s();
        let ttft_ms = percentiles(&requests, &run);
        let percentiles_s = meter.now_s() - start;
        let (steps, runs) = (run.steps, u64::from(self.runs));
        let preemptions = run.samples.last().map_or(0, |last| last.preemptions);
        drop(run);
        let ratio_to_reference = (!self.skips_reference).then(|| {
            let start = meter.now_s();
            simulate_stepwise(&requests, &fleet, limits);
            (meter.now_s() - start) * f64::from(self.runs) / seconds
        });
        let count = u64::from(self.requests) * runs;
        Measured {
            name: self.name.to_owned(),
            requests: count,
            seconds,
            requests_per_s: count as f64 / seconds,
            generation_s,
            percentiles_s,
            steps: steps * runs,
            boundaries: boundaries * runs,
            preemptions,
            peak_bytes,
            ratio_to_reference,
            ttft_ms,
        }
    }

    /// Poisson arrivals and lognormal lengths.
    fn workload(&self) -> Vec<OfferedRequest> {
        let key = |stream, request: u32| Key {
            seed: 1,
            stream,
            class: 0,
            request: u64::from(request),
            attempt: 0,
        };
        let gap = Exp::new(self.rate_rps).expect("a positive rate");
        let lengths = |mean: f64| {
            LogNormal::new(math::ln(mean) - SIGMA * SIGMA / 2.0, SIGMA).expect("a positive spread")
        };
        let (inputs, outputs) = (lengths(self.mean_tokens.0), lengths(self.mean_tokens.1));
        let tokens = |distribution: &LogNormal<f64>, key| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            let tokens = distribution.sample(&mut keyed(key)).round().clamp(1.0, 16_000.0) as u32;
            tokens
        };
        let mut due_s = 0.0;
        (0..self.requests)
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
}

/// A run, and at how many moments a replica was looked at.
fn counted(requests: &[OfferedRequest], fleet: &FleetSpec, limits: RunLimits) -> (SimRun, u64) {
    let mut sim = FleetSim::new(requests, fleet, limits);
    while let Progress::Running { .. } = sim.advance(u64::MAX) {}
    let boundaries = sim.boundaries();
    (sim.finish(), boundaries)
}

/// p50, p90 and p99 of TTFT, ms; those of TPOT are counted too, for their time.
fn percentiles(requests: &[OfferedRequest], run: &SimRun) -> [f64; 3] {
    let rows = || requests.iter().zip(&run.stamps);
    let ttft = rows().map(|(request, stamps)| slo::ttft(request, stamps));
    let mut ttft: Vec<f64> =
        ttft.map(|ttft| ttft.map_or(f64::INFINITY, Picos::as_millis)).collect();
    let tpot = rows().map(|(_, stamps)| slo::tpot(stamps).map_or(f64::INFINITY, Tpot::as_millis));
    let mut tpot: Vec<f64> = tpot.collect();
    tpot.sort_unstable_by(f64::total_cmp);
    ttft.sort_unstable_by(f64::total_cmp);
    let at = |sorted: &[f64]| [0.5, 0.9, 0.99].map(|p| nearest_rank(sorted, p).unwrap_or_default());
    std::hint::black_box(at(&tpot));
    at(&ttft)
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
        long_prefill_token_threshold: 0,
        stream_interval: 1,
        scheduling_policy: crate::sim::SchedulingPolicy::Fcfs,
        max_model_len: 32_768,
        chunked_prefill: true,
        prefix_caching: true,
        reserve_full_isl: true,
        async_scheduling: true,
        api_overhead: Picos::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting(std::cell::Cell<f64>);

    impl Meter for Counting {
        fn now_s(&self) -> f64 {
            self.0.set(self.0.get() + 1.0);
            self.0.get()
        }
        fn begin_peak(&mut self) {}
        fn peak_bytes(&self) -> Option<u64> {
            None
        }
    }

    #[test]
    fn what_is_measured_is_the_run_that_the_reference_makes() {
        let short = Yardstick { requests: 300, runs: 2, ..ONE_REPLICA };
        let measured = short.measure(2, &mut Counting(0.0.into()));
        assert_eq!((measured.requests, measured.seconds), (600, 1.0));
        assert_eq!(measured.ratio_to_reference, Some(2.0), "one run of it, for both of ours");
        let requests = short.workload();
        let fleet = FleetSpec::open(replica(short.usable_blocks), 1);
        let limits = RunLimits::to_the_end(requests.last().expect("300").due);
        let reference = simulate_stepwise(&requests, &fleet, limits);
        assert_eq!(measured.steps, 2 * reference.steps);
        assert_eq!(
            measured.ttft_ms.map(f64::to_bits),
            percentiles(&requests, &reference).map(f64::to_bits)
        );
        assert!(measured.boundaries < measured.steps, "it leaps");
    }
}

//! Fleets and workloads of the laws.

use goodput_engine::rng::{Key, Stream, keyed};
use goodput_engine::sim::{FleetSpec, ReplicaSpec, RunLimits, SimRun, simulate};
use goodput_engine::step_time::{CompiledLaw, StepCoefficients};
use goodput_engine::units::Picos;
use goodput_engine::workload::{Lineage, OfferedRequest};
use rand_distr::{Distribution, Exp};

/// A step law with the given parts and nothing else.
pub fn law(base_s: f64, per_token_s: f64, per_kv_token_s: f64) -> CompiledLaw {
    let coefficients = StepCoefficients {
        c0_s: base_s,
        cw_s: 0.0,
        cw_experts_s: 0.0,
        expert_share: 0.0,
        c1_s_per_token: per_token_s,
        p: 1.0,
        c2_s_per_pair: 0.0,
        c3_s_per_decode_seq: 0.0,
        c4_s_per_kv_token: per_kv_token_s,
    };
    CompiledLaw::new(&coefficients.law(), 4096, 1.0, 0.0)
}

/// Whether what requests are charged is the time of all steps of so many replicas, but for what is
/// never shared out: less than a picosecond per token of one step.
pub fn charges_every_step(run: &SimRun, replica: &ReplicaSpec, replicas: u32) -> bool {
    let charged: i64 = run.stamps.iter().map(|stamps| stamps.busy.0).sum();
    let most = i64::from(replicas) * i64::from(replica.max_num_batched_tokens);
    (0..most).contains(&(run.busy.0 - charged))
}

/// A roomy replica: 10,000 blocks of 16, 64 seats, 2,048 tokens a step, no lag.
pub fn replica(law: CompiledLaw) -> ReplicaSpec {
    ReplicaSpec {
        law,
        usable_blocks: 10_000,
        block_size: 16,
        window_blocks_per_seq: 0,
        max_num_seqs: 64,
        max_num_batched_tokens: 2048,
        long_prefill_token_threshold: 0,
        stream_interval: 1,
        scheduling_policy: goodput_engine::sim::SchedulingPolicy::Fcfs,
        max_model_len: 100_000,
        chunked_prefill: true,
        prefix_caching: true,
        reserve_full_isl: true,
        async_scheduling: false,
        api_overhead: Picos::ZERO,
    }
}

/// A request that is due at `due_s`, patient, and served well.
pub fn request(due_s: f64, input_tokens: u32, output_tokens: u32) -> OfferedRequest {
    OfferedRequest {
        class: 0,
        pool: 0,
        due: Picos::from_secs(due_s),
        input_tokens,
        output_tokens,
        hidden_tokens: 0,
        patience: None,
        fails: false,
        acceptable: true,
        lineage: Lineage::NONE,
    }
}

/// `n` Poisson arrivals at `rate_rps` whose lengths come from `lengths(i)`.
pub fn poisson(
    n: u64,
    rate_rps: f64,
    seed: u64,
    lengths: impl Fn(u64) -> (u32, u32),
) -> Vec<OfferedRequest> {
    let gap = Exp::new(rate_rps).expect("a positive rate");
    let key = |request| Key { seed, stream: Stream::Arrivals, class: 0, request, attempt: 0 };
    let mut due_s = 0.0;
    (0..n)
        .map(|i| {
            due_s += gap.sample(&mut keyed(key(i)));
            let (input, output) = lengths(i);
            request(due_s, input, output)
        })
        .collect()
}

/// An exponential length in tokens, rounded up, of the `i`-th request.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a length is small")]
pub fn exponential_tokens(mean: f64, seed: u64, i: u64) -> u32 {
    let key = Key { seed, stream: Stream::OutputTokens, class: 0, request: i, attempt: 0 };
    // Rounding up adds half a token on average.
    let tokens = Exp::new(1.0 / (mean - 0.5)).expect("a positive mean").sample(&mut keyed(key));
    (tokens.ceil() as u32).max(1)
}

/// Runs to the end; the horizon is the last arrival.
pub fn run(requests: &[OfferedRequest], replica: ReplicaSpec, replicas: u32) -> SimRun {
    let horizon = requests.last().map_or(Picos(1), |last| last.due.max(Picos(1)));
    simulate(requests, &FleetSpec::open(replica, replicas), RunLimits::to_the_end(horizon))
}

//! What one replica sustains of a mix: its rate while its queue never empties.
//!
//! Above this rate work accumulates without bound; below it the queue empties now and then. The
//! requests are all there at once, the first quarter is left to the ramp, and the clock stops when
//! the last one leaves the queue, so that neither ramp nor drain counts.

use super::ReplicaSpec;
use super::job::Job;
use super::replica::{Held, Leaping, Refusals, ReplicaEngine, ReplicaLoad};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// Generations of the batch that a measurement covers.
const GENERATIONS: usize = 8;
/// Requests it has at least, so that lengths average out.
const FEWEST: usize = 2000;
/// Steps after which it stops waiting for the queue to empty.
const MOST_STEPS: u64 = 20_000_000;

/// A saturated replica.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// Requests per second.
    pub rps: f64,
    /// Prompt tokens of those requests per second; tokens computed again do not count.
    pub prefill_tps: f64,
    /// Output tokens per second.
    pub decode_tps: f64,
    /// Mean sequences in the batch.
    pub mean_batch: f64,
    /// Share of the time that goes to prefill, by the marginal terms of the step law.
    pub prefill_time_share: f64,
    /// What kept the queue waiting.
    pub refusals: Refusals,
}

/// Measures a replica of `spec` on the mix of `requests`. `None` when no request fits it.
pub fn saturate(requests: &[OfferedRequest], spec: &ReplicaSpec) -> Option<Saturation> {
    let fits = |r: &&OfferedRequest| !spec.can_never_fit(r.input_tokens, r.output_tokens);
    let mix: Vec<&OfferedRequest> = requests.iter().filter(fits).collect();
    if mix.is_empty() {
        return None;
    }
    let mean = |tokens: fn(&OfferedRequest) -> u32| {
        mix.iter().map(|r| f64::from(tokens(r))).sum::<f64>() / mix.len() as f64
    };
    let (mean_input, mean_output) = (mean(|r| r.input_tokens), mean(|r| r.output_tokens));
    let kv_tokens = spec.usable_blocks as f64 * f64::from(spec.block_size);
    let by_memory = kv_tokens / (mean_input + mean_output / 2.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "floats saturate")]
    let batch = by_memory.min(f64::from(spec.max_num_seqs)) as usize;
    let count = FEWEST.max(GENERATIONS * batch);
    let nth = |i: usize| golden_walk(i, mix.len());
    let mut jobs: Vec<_> = (0..count)
        .map(|i| Job::new(&OfferedRequest { due: Picos::ZERO, patience: None, ..*mix[nth(i)] }))
        .collect();
    let [from, to] = measure::<Leaping>(&mut jobs, spec, MOST_STEPS);
    // A picosecond at least: steps may be longer than time as it is counted here.
    let seconds = (to.at - from.at).max(Picos(1)).as_secs();
    let decode_tps = (to.load.decode_tokens - from.load.decode_tokens) as f64 / seconds;
    let rps = decode_tps / mean_output;
    Some(Saturation {
        rps,
        prefill_tps: rps * mean_input,
        decode_tps,
        mean_batch: (to.held.running_s() - from.held.running_s()) / seconds,
        prefill_time_share: (to.load.prefill_busy - from.load.prefill_busy).as_secs() / seconds,
        refusals: to.refusals.since(from.refusals),
    })
}

/// The `i`-th stop of an even walk over `n` places that no period of theirs can resonate with:
/// multiples of the golden ratio, modulo one. A list may change its mix over time, so its
/// beginning alone would not do.
fn golden_walk(i: usize, n: usize) -> usize {
    let fraction = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let place = (u128::from(fraction) * n as u128) >> 64;
    usize::try_from(place).expect("below n")
}

/// A replica at a step boundary.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Mark {
    at: Picos,
    load: ReplicaLoad,
    refusals: Refusals,
    held: Held,
}

impl Mark {
    fn of<'a, R: ReplicaEngine<'a>>(replica: &R, at: Picos) -> Self {
        let (load, refusals, held) = (*replica.load(), *replica.refusals(), *replica.held());
        Self { at, load, refusals, held }
    }
}

/// The replica at the end of the ramp, and when the last request left the queue.
pub fn measure<'a, R: ReplicaEngine<'a>>(
    jobs: &mut [Job<R::State>],
    spec: &'a ReplicaSpec,
    most_steps: u64,
) -> [Mark; 2] {
    let mut replica = R::new(spec, Picos::NEVER);
    for id in 0..u32::try_from(jobs.len()).expect("a few thousand requests") {
        replica.push(id, Picos::ZERO, jobs);
    }
    let ramp = jobs.len() as u64 / 4;
    let mut from = None;
    let mut to = Mark::default();
    while let Some(now) = replica.end() {
        let limit = if from.is_none() { most_steps / 4 } else { most_steps };
        // The last step that may begin, begins at a boundary of its own.
        let left = limit.saturating_sub(replica.steps_planned() + 1).max(1);
        replica.boundary(now, left, jobs);
        to = Mark::of(&replica, now);
        let decided = to.load.completed + to.load.failed;
        if from.is_none() && (decided >= ramp || to.load.steps >= most_steps / 4) {
            from = Some(to);
        }
        if (to.load.waiting == 0 && from.is_some()) || to.load.steps >= most_steps {
            break;
        }
    }
    [from.unwrap_or_default(), to]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step_time::{CompiledLaw, StepCoefficients};

    #[test]
    fn prompts_longer_than_the_measurement_still_give_a_rate() {
        let coefficients = StepCoefficients {
            c0_s: 0.01,
            cw_s: 0.0,
            cw_experts_s: 0.0,
            expert_share: 0.0,
            c1_s_per_token: 0.0,
            p: 1.0,
            c2_s_per_pair: 0.0,
            c3_s_per_decode_seq: 0.0,
            c4_s_per_kv_token: 0.0,
        };
        let spec = ReplicaSpec {
            law: CompiledLaw::new(&coefficients.law(), 1, 1.0, 0.0),
            usable_blocks: 1_000,
            block_size: 16,
            window_blocks_per_seq: 0,
            max_num_seqs: 1,
            max_num_batched_tokens: 1,
            max_model_len: 1_000,
            chunked_prefill: true,
            prefix_caching: true,
            reserve_full_isl: true,
            async_scheduling: false,
            api_overhead: Picos::ZERO,
        };
        let request = OfferedRequest {
            class: 0,
            due: Picos::ZERO,
            input_tokens: 40,
            output_tokens: 10,
            patience: None,
            fails: false,
            acceptable: true,
        };
        // 49 steps a request; a quarter of the requests would take more steps than there are.
        let mut jobs: Vec<_> = (0..2_000).map(|_| Job::new(&request)).collect();
        let [from, to] = measure::<Leaping>(&mut jobs, &spec, 2_000);
        let tokens = to.load.decode_tokens - from.load.decode_tokens;
        let rps = tokens as f64 / 10.0 / (to.at - from.at).as_secs();
        assert!((rps * 0.49 - 1.0).abs() < 0.1, "{rps}");
    }
}

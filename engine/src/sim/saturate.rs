//! What one replica sustains of a mix: its rate while its queue never empties.
//!
//! Above this rate work accumulates without bound; below it the queue empties now and then. The
//! queue is filled up again before it empties and the ramp is left out, so that neither ramp nor
//! drain counts.
//!
//! What comes by in so short a time is not the mix: of lengths with a heavy tail a few requests
//! make up much of the work. So requests are drawn in blocks, each an even sample of the mix in the
//! order of what they hold in KV memory; the time a request takes is worked out for the mix itself,
//! from the time per prompt token and the time per output token; and the measurement goes on until
//! its standard error (batch means: Law & Kelton, Simulation Modeling and Analysis, ch. 9) is small
//! or its budget is spent.

mod mix;

use mix::Mix;

use super::ReplicaSpec;
use super::job::Job;
use super::replica::{Leaping, Refusals, ReplicaEngine, ReplicaLoad};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// Generations of the batch that a measurement covers at least.
const GENERATIONS: usize = 8;
/// Requests it has at least, so that lengths average out.
const FEWEST: usize = 2000;
/// Requests it has at most, as a multiple of the fewest.
const MOST_TIMES: usize = 16;
/// Coefficient of variation of what requests hold in KV memory up to which the fewest do. Beyond
/// it the rare request that fills the memory decides, and a few thousand may hold none.
const USUAL_CV: f64 = 2.0;
/// Relative standard error at which it stops.
const GOOD_ENOUGH: f64 = 0.01;
/// What it may compute in any case.
const BUDGET: Budget = Budget { steps: 20_000_000, sequence_steps: 128_000_000 };
/// Sequences in steps after which it stops waiting for a smaller error: a tenth of a second, since
/// the answer to every edit waits for it.
const PATIENCE_SEQUENCE_STEPS: u64 = 8_000_000;
/// Stretches whose spread gives the error; when there are twice as many, pairs are joined.
const STRETCHES: usize = 16;

/// A bound on computing.
#[derive(Debug, Clone, Copy)]
struct Budget {
    steps: u64,
    sequence_steps: u64,
}

impl Budget {
    fn is_spent(self, load: &ReplicaLoad) -> bool {
        load.steps >= self.steps || load.sequence_steps >= self.sequence_steps
    }
}

/// A saturated replica.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// Requests per second.
    pub rps: f64,
    /// Standard error of `rps`, of one that is 1; infinite where too little was seen to tell.
    pub relative_error: f64,
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

/// Measures a replica of `spec` on the mix of `requests`. `None` when no request fits it, or when it
/// comes to stand still: unchunked, a prompt longer than the token budget is never begun.
pub fn saturate(requests: &[OfferedRequest], spec: &ReplicaSpec) -> Option<Saturation> {
    saturated_by::<Leaping>(requests, spec, FEWEST)
}

/// The same by either engine, over `fewest` requests at least.
pub fn saturated_by<'a, R: ReplicaEngine<'a>>(
    requests: &[OfferedRequest],
    spec: &'a ReplicaSpec,
    fewest: usize,
) -> Option<Saturation> {
    let mix = Mix::of(requests, spec)?;
    let kv_tokens = spec.usable_blocks as f64 * f64::from(spec.block_size);
    let by_memory = kv_tokens / (mix.input + mix.output / 2.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "floats saturate")]
    let batch = by_memory.min(f64::from(spec.max_num_seqs)) as usize;
    let fewest = fewest.max(GENERATIONS * batch);
    let times = mix.residency_cv / USUAL_CV;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "floats saturate")]
    let wanted = (fewest as f64 * (times * times).clamp(1.0, MOST_TIMES as f64)) as usize;
    Saturated::<R>::new(&mix, spec, batch.max(1)).measure((fewest, wanted), BUDGET)
}

/// What was done in a stretch of time.
#[derive(Debug, Clone, Copy, Default)]
struct Done {
    seconds: f64,
    prefill_s: f64,
    prefill_tokens: f64,
    decode_tokens: f64,
    running_s: f64,
}

impl Done {
    fn plus(self, other: Self) -> Self {
        Self {
            seconds: self.seconds + other.seconds,
            prefill_s: self.prefill_s + other.prefill_s,
            prefill_tokens: self.prefill_tokens + other.prefill_tokens,
            decode_tokens: self.decode_tokens + other.decode_tokens,
            running_s: self.running_s + other.running_s,
        }
    }

    /// Replica-seconds per prompt token and per output token.
    fn per_token(&self) -> (f64, f64) {
        let rest = self.seconds - self.prefill_s;
        (self.prefill_s / self.prefill_tokens.max(1.0), rest / self.decode_tokens.max(1.0))
    }
}

/// A replica whose queue never empties.
struct Saturated<'a, 'm, R: ReplicaEngine<'a>> {
    mix: &'m Mix<'m>,
    /// Sequences that are likely to share a step.
    batch: usize,
    /// Those that were drawn; the first `queued` of them have been in the queue.
    jobs: Vec<Job<R::State>>,
    queued: usize,
    /// Requests drawn at once.
    block: usize,
    replica: R,
    /// Stretches after the ramp, all of as many requests.
    stretches: Vec<Done>,
    /// Requests of a stretch.
    length: usize,
}

impl<'a, 'm, R: ReplicaEngine<'a>> Saturated<'a, 'm, R> {
    fn new(mix: &'m Mix<'m>, spec: &'a ReplicaSpec, batch: usize) -> Self {
        let replica = R::new(spec, Picos::NEVER);
        Self {
            mix,
            batch,
            jobs: Vec::new(),
            queued: 0,
            block: 1,
            replica,
            stretches: Vec::new(),
            length: 1,
        }
    }

    fn measure(mut self, (fewest, wanted): (usize, usize), budget: Budget) -> Option<Saturation> {
        self.length = (fewest * 3 / 4 / STRETCHES).max(1);
        self.block = self.length * STRETCHES;
        let mut now = Picos::ZERO;
        // The ramp: most of the budget is for what is measured.
        let quarter = Budget { steps: budget.steps / 4, sequence_steps: budget.sequence_steps / 4 };
        self.run(&mut now, fewest / 4, quarter)?;
        let at_start = *self.replica.refusals();
        while !self.is_enough((fewest, wanted), budget) {
            let done = self.run(&mut now, self.length, budget)?;
            self.stretches.push(done);
            if self.stretches.len() >= 2 * STRETCHES {
                let sum = |pair: &[Done]| pair.iter().fold(Done::default(), |a, b| a.plus(*b));
                self.stretches = self.stretches.chunks(2).map(sum).collect();
                self.length *= 2;
            }
        }
        Some(self.saturation(self.replica.refusals().since(at_start)))
    }

    /// Whether as many requests were seen as must be, and as many as are wanted with a small error
    /// or all that it may take; or the budget is spent.
    fn is_enough(&self, (fewest, wanted): (usize, usize), budget: Budget) -> bool {
        let load = self.replica.load();
        if budget.is_spent(load) {
            return !self.stretches.is_empty();
        }
        let seen = load.completed + load.failed;
        let is_sure = || self.relative_error() <= GOOD_ENOUGH;
        let has_seen = |requests: usize| seen >= requests as u64;
        has_seen(fewest)
            && (load.sequence_steps >= PATIENCE_SEQUENCE_STEPS
                || has_seen(wanted) && (has_seen(MOST_TIMES * fewest) || is_sure()))
    }

    /// Serves until `requests` more are decided, or the budget is spent. `None` if it stands still.
    fn run(&mut self, now: &mut Picos, requests: usize, budget: Budget) -> Option<Done> {
        let (before, held) = (*self.replica.load(), *self.replica.held());
        let decided = |load: &ReplicaLoad| load.completed + load.failed;
        let goal = decided(&before) + requests as u64;
        let start = *now;
        loop {
            self.fill_up(*now);
            *now = self.replica.end()?;
            let left = budget.steps.saturating_sub(self.replica.steps_planned()).max(1);
            self.replica.boundary(*now, left, &mut self.jobs);
            let load = self.replica.load();
            if decided(load) >= goal || budget.is_spent(load) {
                break;
            }
        }
        let load = self.replica.load();
        let prefill = load.prefill_tokens - before.prefill_tokens;
        let again = load.recomputed_tokens - before.recomputed_tokens;
        Some(Done {
            // A picosecond at least: steps may be longer than time as it is counted here.
            seconds: (*now - start).max(Picos(1)).as_secs(),
            prefill_s: (load.prefill_busy - before.prefill_busy).as_secs(),
            prefill_tokens: prefill as f64 - again as f64,
            decode_tokens: (load.decode_tokens - before.decode_tokens) as f64,
            running_s: self.replica.held().running_s() - held.running_s(),
        })
    }

    /// Keeps as many waiting as can run.
    fn fill_up(&mut self, now: Picos) {
        if self.replica.load().waiting as usize >= self.batch {
            return;
        }
        for _ in 0..=self.batch {
            if self.queued == self.jobs.len() {
                self.jobs.append(&mut self.mix.block(self.queued, self.block));
            }
            let id = u32::try_from(self.queued).expect("a few million requests");
            self.queued += 1;
            self.replica.push(id, now, &mut self.jobs);
        }
    }

    fn total(&self) -> Done {
        self.stretches.iter().fold(Done::default(), |sum, stretch| sum.plus(*stretch))
    }

    /// Standard error of the time per request over that time, from the spread of the stretches
    /// around what the tokens in each would take at the mean times per token.
    fn relative_error(&self) -> f64 {
        let n = self.stretches.len() as f64;
        if n < 2.0 {
            return f64::INFINITY;
        }
        let total = self.total();
        let (prefill_s, decode_s) = total.per_token();
        let shares = (
            self.mix.input / total.prefill_tokens.max(1.0),
            self.mix.output / total.decode_tokens.max(1.0),
        );
        let squares: f64 = self
            .stretches
            .iter()
            .map(|stretch| {
                let prefill = stretch.prefill_s - prefill_s * stretch.prefill_tokens;
                let rest = stretch.seconds - stretch.prefill_s - decode_s * stretch.decode_tokens;
                let off = shares.0 * prefill + shares.1 * rest;
                off * off
            })
            .sum();
        (squares * n / (n - 1.0)).sqrt() / self.seconds_per_request(&total)
    }

    fn seconds_per_request(&self, total: &Done) -> f64 {
        let (prefill_s, decode_s) = total.per_token();
        self.mix.input * prefill_s + self.mix.output * decode_s
    }

    fn saturation(&self, refusals: Refusals) -> Saturation {
        let total = self.total();
        let rps = 1.0 / self.seconds_per_request(&total);
        let (prefill_s, _) = total.per_token();
        Saturation {
            rps,
            relative_error: self.relative_error(),
            prefill_tps: rps * self.mix.input,
            decode_tps: rps * self.mix.output,
            mean_batch: total.running_s / total.seconds,
            prefill_time_share: rps * self.mix.input * prefill_s,
            refusals,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step_time::{CompiledLaw, StepCoefficients};

    fn spec() -> ReplicaSpec {
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
        ReplicaSpec {
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
        }
    }

    const REQUEST: OfferedRequest = OfferedRequest {
        class: 0,
        pool: 0,
        due: Picos::ZERO,
        input_tokens: 40,
        output_tokens: 10,
        patience: None,
        fails: false,
        acceptable: true,
    };

    #[test]
    fn prompts_longer_than_the_measurement_still_give_a_rate() {
        let spec = spec();
        // 49 steps a request; a quarter of the requests would take more steps than there are.
        let mix = Mix::of(&[REQUEST], &spec).expect("it fits");
        let found = Saturated::<Leaping>::new(&mix, &spec, 1)
            .measure((2_000, 2_000), Budget { steps: 2_000, sequence_steps: 2_000 })
            .expect("steps");
        assert!((found.rps * 0.49 - 1.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn a_prompt_that_no_step_may_hold_gives_no_rate() {
        let spec = ReplicaSpec { chunked_prefill: false, ..spec() };
        assert_eq!(saturate(&[REQUEST], &spec), None);
        let held = ReplicaSpec { max_num_batched_tokens: 40, ..spec };
        assert!(saturate(&[REQUEST], &held).is_some());
    }
}

//! One replica in the mean: what its steps look like while requests arrive at a steady rate.
//!
//! Let `x` requests join the batch per step. A request of `input` and `output` tokens decodes in
//! `output − 1` steps (the step that ends its prefill gives the first token), so a step carries
//!
//! - `x · (input − cached)` prefill tokens and `x · (input² − cached²) / 2` attention pairs,
//! - `D = x · (output − 1)` decodes that read `x · Σ (input + j)` KV tokens, j from 0 to output − 2,
//!
//! and the rate is `x / t` for the step time `t` of that batch. Prefill comes in prompts, not in
//! fractions of one, so a share `q = 1 − e^−x` of the steps carries all of it (Poisson), more of
//! them where the token budget cuts prompts up; `t` is the mean over steps with and without.
//! Batches are seen by the requests in them: to a request the others are `D`, itself comes on top
//! (arrivals see time averages), until the batch is full.
//!
//! The largest `x` follows from seats, KV memory and token budget without any iteration, and gives
//! the sustainable rate. Sequences are whole: the next one waits until its whole prompt fits, so
//! that half a prompt's memory lies free on average, and where one fits at all one runs. A replica
//! that holds one at a time never mixes prompts and decodes, and has no step to lag behind.
//!
//! What is left out: the spread of batch sizes and of prompt lengths within a
//! class, queueing, and preemptions. Compare `accounts`, which measures all of them.

use crate::accounts::report::SaturatedBy;
use crate::math;

/// Halvings of an interval: enough for the last bit that matters.
const BISECTIONS: u32 = 50;

/// Moments of the lengths of a mix of requests, tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LengthMoments {
    /// E\[input\].
    pub input: f64,
    /// E\[input²\].
    pub input_squared: f64,
    /// E\[output\], at least 1.
    pub output: f64,
    /// E\[output²\].
    pub output_squared: f64,
    /// E\[input · output\].
    pub input_output: f64,
    /// E\[cached\]: prompt tokens that are found in the prefix cache.
    pub cached: f64,
    /// E\[cached²\].
    pub cached_squared: f64,
}

impl LengthMoments {
    /// Every request alike.
    pub fn fixed(input: f64, output: f64) -> Self {
        Self {
            input,
            input_squared: input * input,
            output,
            output_squared: output * output,
            input_output: input * output,
            ..Self::default()
        }
    }

    /// `self` with `share` of every moment added.
    #[must_use]
    pub fn plus(self, share: f64, other: &Self) -> Self {
        Self {
            input: self.input + share * other.input,
            input_squared: self.input_squared + share * other.input_squared,
            output: self.output + share * other.output,
            output_squared: self.output_squared + share * other.output_squared,
            input_output: self.input_output + share * other.input_output,
            cached: self.cached + share * other.cached,
            cached_squared: self.cached_squared + share * other.cached_squared,
        }
    }

    /// Live KV tokens × steps of one request, output × (input + output / 2): what doubling an
    /// output does to memory.
    pub fn kv_token_steps(&self) -> f64 {
        self.input_output + self.output_squared / 2.0
    }

    /// E\[input − cached\]: prompt tokens that are computed; at least one is.
    pub fn computed(&self) -> f64 {
        (self.input - self.cached).max(1.0)
    }

    fn decode_steps(&self) -> f64 {
        (self.output - 1.0).max(0.0)
    }

    /// Σ (input + j) over the decode steps j = 0 … output − 2: each reads what was cached before it.
    fn kv_reads(&self) -> f64 {
        self.input_output - self.input + 0.5 * (self.output_squared - 3.0 * self.output + 2.0)
    }
}

/// A prompt, and how much of it is found in the prefix cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prompt {
    /// All its tokens.
    pub tokens: f64,
    /// Those that are found.
    pub cached: f64,
}

impl From<f64> for Prompt {
    fn from(tokens: f64) -> Self {
        Self { tokens, cached: 0.0 }
    }
}

impl From<&LengthMoments> for Prompt {
    fn from(lengths: &LengthMoments) -> Self {
        Self { tokens: lengths.input, cached: lengths.cached }
    }
}

/// What a replica has room for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplicaLimits {
    /// `max_num_seqs`.
    pub seats: f64,
    /// Tokens its KV blocks hold.
    pub kv_tokens: f64,
    /// `max_num_batched_tokens`.
    pub token_budget: f64,
    /// Tokens per KV block.
    pub block_size: f64,
    /// KV tokens' worth of blocks that a running sequence holds beside those of its length.
    pub window_tokens_per_seq: f64,
    /// Prompts are split over steps.
    pub chunked_prefill: bool,
    /// Seats and blocks come free one step late, and an arrival waits one step more.
    pub async_scheduling: bool,
    /// From due to queued, seconds.
    pub api_overhead_s: f64,
}

/// A batch in the mean; real numbers, unlike one real step's.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeanShape {
    /// Prompt tokens computed in the step.
    pub prefill_tokens: f64,
    /// Attention pairs of those tokens.
    pub prefill_pairs: f64,
    /// Sequences decoding.
    pub decode_seqs: f64,
    /// KV tokens they read.
    pub kv_tokens: f64,
}

/// Where one replica operates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operating {
    /// Requests per second.
    pub rate_rps: f64,
    /// Requests that join the batch per step.
    pub joins_per_step: f64,
    /// Sequences decoding, averaged over time.
    pub decode_seqs: f64,
    /// Mean step as a request in it sees it, seconds: its time per output token.
    pub step_s: f64,
    /// A step that carries prefill, seconds: the gap that a stream sees beside a prompt.
    pub mixed_step_s: f64,
    /// Prompt tokens in a step that carries prefill.
    pub prefill_tokens: f64,
    /// KV tokens held, averaged over time.
    pub kv_held_tokens: f64,
    /// KV tokens that one decode reads.
    pub kv_per_decode: f64,
    /// Share of the time that prefill adds to the steps.
    pub prefill_time_share: f64,
    /// Rest of the running step that an arrival waits for, seconds.
    residual_s: f64,
}

/// One replica serving one mix. `law` gives seconds for a batch.
#[derive(Debug, Clone)]
pub struct MeanField<F> {
    law: F,
    lengths: LengthMoments,
    limits: ReplicaLimits,
}

impl<F: Fn(MeanShape) -> f64> MeanField<F> {
    /// A replica whose step time is `law`, with `limits`, under a mix of `lengths`.
    pub fn new(law: F, lengths: LengthMoments, limits: ReplicaLimits) -> Self {
        Self { law, lengths, limits }
    }

    /// The fastest steady state, and what stops it from being faster.
    pub fn saturated(&self) -> (Operating, SaturatedBy) {
        let (joins, by) = self.most_joins();
        (self.at_joins(joins), by)
    }

    /// The steady state at `rate_rps`, or `None` where there is none: the rate is above the
    /// sustainable one.
    pub fn at_rate(&self, rate_rps: f64) -> Option<Operating> {
        let (most, _) = self.most_joins();
        if rate_rps > self.at_joins(most).rate_rps {
            return None;
        }
        let (mut low, mut high) = (0.0, most);
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            if self.at_joins(middle).rate_rps < rate_rps { low = middle } else { high = middle }
        }
        Some(self.at_joins(high))
    }

    /// The fastest steady state for which `holds`, if it holds at any rate. It is taken to hold at
    /// every lower rate.
    pub fn fastest_where(&self, holds: impl Fn(&Operating) -> bool) -> Option<Operating> {
        let (mut low, mut high) = (0.0, self.most_joins().0);
        if holds(&self.at_joins(high)) {
            return Some(self.at_joins(high));
        }
        if !holds(&self.at_joins(low)) {
            return None;
        }
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            if holds(&self.at_joins(middle)) { low = middle } else { high = middle }
        }
        Some(self.at_joins(low))
    }

    /// First-token time of a prompt that arrives at this operating point, without
    /// queueing: the rest of the running step, the step of scheduling lag, then its own prefill
    /// beside the decodes. Seconds.
    pub fn ttft_s(&self, prompt: impl Into<Prompt>, at: &Operating) -> f64 {
        let busy = 1.0 - math::exp(-(at.decode_seqs + at.joins_per_step));
        let lag = if self.limits.async_scheduling { at.step_s } else { 0.0 };
        self.limits.api_overhead_s
            + busy * (at.residual_s + lag)
            + self.prefill_s(prompt.into(), at.decode_seqs, at.kv_per_decode)
    }

    /// First-token time of a prompt on an idle replica, seconds.
    pub fn zero_load_ttft_s(&self, prompt: impl Into<Prompt>) -> f64 {
        self.limits.api_overhead_s + self.prefill_s(prompt.into(), 0.0, 0.0)
    }

    /// Time per output token of a request that is alone, seconds.
    pub fn zero_load_tpot_s(&self) -> f64 {
        self.at_joins(0.0).step_s
    }

    /// Joins per step at which seats, KV memory or token budget are used up, whichever is first.
    fn most_joins(&self) -> (f64, SaturatedBy) {
        let (lengths, limits) = (&self.lengths, &self.limits);
        let per_step_tokens = lengths.computed() + lengths.decode_steps();
        let mut budget = limits.token_budget / per_step_tokens.max(1.0);
        if !limits.chunked_prefill && lengths.decode_steps() > 0.0 {
            // A whole prompt must find room beside the decodes.
            let room = (limits.token_budget - lengths.computed()).max(1.0);
            budget = budget.min(room / lengths.decode_steps());
        }
        let packed = (limits.kv_tokens - lengths.input / 2.0) / self.kv_held();
        let by_memory = packed.max(1.0 / self.seat_steps());
        [
            (limits.seats / self.seat_steps(), SaturatedBy::Seats),
            (by_memory, SaturatedBy::KvMemory),
            (budget, SaturatedBy::TokenBudget),
        ]
        .into_iter()
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap_or((budget, SaturatedBy::TokenBudget))
    }

    fn lag_steps(&self) -> f64 {
        if self.limits.async_scheduling && !self.is_one_at_a_time() { 1.0 } else { 0.0 }
    }

    /// Sequences of this mix that the KV blocks hold when each is at its longest.
    pub fn sequences_in_memory(&self) -> f64 {
        let longest = self.lengths.input + self.lengths.output;
        self.limits.kv_tokens / (longest + self.limits.window_tokens_per_seq).max(1.0)
    }

    /// No two requests share a step.
    fn is_one_at_a_time(&self) -> bool {
        self.limits.seats < 2.0 || self.sequences_in_memory() < 1.5
    }

    fn prefill_steps(&self) -> f64 {
        (self.lengths.computed() / self.limits.token_budget).max(1.0)
    }

    /// Steps for which a request holds a seat.
    fn seat_steps(&self) -> f64 {
        self.prefill_steps() + self.lengths.decode_steps() + self.lag_steps()
    }

    /// KV tokens' worth of blocks × steps that a request holds; a last block is half full.
    fn kv_held(&self) -> f64 {
        let lengths = &self.lengths;
        let half_block = (self.limits.block_size - 1.0) / 2.0;
        let end = lengths.input + lengths.output - 1.0 + half_block;
        lengths.input_output
            + (lengths.output_squared - lengths.output) / 2.0
            + half_block * lengths.output
            + self.lag_steps() * end
            + (self.prefill_steps() - 1.0) * (lengths.input / 2.0 + half_block)
            + self.limits.window_tokens_per_seq * self.seat_steps()
    }

    fn at_joins(&self, joins: f64) -> Operating {
        let lengths = &self.lengths;
        let decode_steps = lengths.decode_steps();
        let others = joins * decode_steps;
        let (decode_seqs, kv_per_decode) = if decode_steps > 0.0 {
            let full = self.most_joins().0 * decode_steps;
            ((others + 1.0).min(full.max(1.0)), lengths.kv_reads() / decode_steps)
        } else {
            (0.0, 0.0)
        };
        let decode = MeanShape {
            decode_seqs,
            kv_tokens: decode_seqs * kv_per_decode,
            ..MeanShape::default()
        };
        let room = (self.limits.token_budget - decode_seqs).max(1.0);
        let alone = self.is_one_at_a_time();
        let carrying = match (decode_steps > 0.0, alone) {
            (false, _) => 1.0,
            (true, true) => joins.min(1.0),
            (true, false) => 1.0 - math::exp(-joins),
        };
        let computed = lengths.computed();
        let prefill_tokens = if joins > 0.0 { joins * computed / carrying } else { computed };
        let prefill_tokens = prefill_tokens.min(room);
        let share = (joins * computed / prefill_tokens).min(1.0);
        let pairs_of_one = (lengths.input_squared - lengths.cached_squared).max(0.0) / 2.0;
        let pairs = prefill_tokens * pairs_of_one / computed;
        let beside = if alone { MeanShape::default() } else { decode };
        let mixed_step_s = (self.law)(MeanShape { prefill_tokens, prefill_pairs: pairs, ..beside });
        let decode_step_s = if decode_seqs > 0.0 { (self.law)(decode) } else { mixed_step_s };
        let step_s = share * mixed_step_s + (1.0 - share) * decode_step_s;
        let second_moment =
            share * mixed_step_s * mixed_step_s + (1.0 - share) * decode_step_s * decode_step_s;
        Operating {
            rate_rps: joins / step_s,
            joins_per_step: joins,
            decode_seqs: others,
            step_s,
            mixed_step_s,
            prefill_tokens,
            kv_held_tokens: joins * self.kv_held(),
            prefill_time_share: if decode_seqs > 0.0 {
                (share * (mixed_step_s - decode_step_s) / step_s).max(0.0)
            } else {
                1.0
            },
            residual_s: second_moment / (2.0 * step_s),
            kv_per_decode,
        }
    }

    /// A prompt beside `decode_seqs` decodes, what is not cached of it: full chunks, then the rest. The law
    /// is linear in attention pairs, so all of them may stand in the last step.
    fn prefill_s(&self, prompt: Prompt, decode_seqs: f64, kv_per_decode: f64) -> f64 {
        let Prompt { tokens, cached } = prompt;
        let input = (tokens - cached).max(1.0);
        let room = (self.limits.token_budget - decode_seqs).max(1.0);
        let full_chunks =
            if self.limits.chunked_prefill { ((input / room).ceil() - 1.0).max(0.0) } else { 0.0 };
        let step = |prefill_tokens: f64, prefill_pairs: f64| {
            (self.law)(MeanShape {
                prefill_tokens,
                prefill_pairs,
                decode_seqs,
                kv_tokens: decode_seqs * kv_per_decode,
            })
        };
        let pairs = (tokens * tokens - cached * cached) / 2.0;
        let mut seconds = step(input - full_chunks * room, pairs);
        if full_chunks > 0.0 {
            seconds += full_chunks * step(room, 0.0);
        }
        seconds
    }
}

#[cfg(test)]
mod tests;

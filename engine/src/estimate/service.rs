//! How one replica of a pool turns a mix into a rate.

use super::mean_field::{LengthMoments, MeanField, MeanShape, ReplicaLimits};
use super::report::Distrust;
use crate::accounts::report::{SaturatedBy, TokenKind};
use crate::accounts::words::three_digits;
use crate::scenario::{Pool, Service};
use crate::step_time::{BatchShape, CompiledLaw, DeclaredThroughput};

/// Fewer sequences than this in memory, or seats, are no batch to take a mean of: found by holding
/// estimates against saturated replicas over random scenarios (`tests/estimate_range.rs`).
const FEW_SEQUENCES: f64 = 4.0;
const FEW_SEATS: f64 = 9.0;
/// Answers shorter than this that are all alike end in the same steps, so that the batch empties
/// and fills as a whole.
const SHORT_OUTPUT: f64 = 16.0;
/// Squared coefficient of variation below which they are alike.
const ALIKE: f64 = 0.05;

/// How far a limit is lifted to see whether it is what binds.
const RELAXED: f64 = 1.25;
/// The least it must then gain, of one that is 1: a fifth of what was given.
const WORTH_IT: f64 = 1.05;

/// One replica of a pool.
#[derive(Debug, Clone)]
pub enum ReplicaModel<'a> {
    /// By its step law.
    Steps(&'a CompiledLaw, ReplicaLimits),
    /// By declared token rates.
    Declared(&'a DeclaredThroughput),
}

impl<'a> ReplicaModel<'a> {
    /// The model of one replica of `pool`.
    pub fn of(pool: &'a Pool) -> Self {
        let step_time = match &pool.service {
            Service::Steps(step_time) => step_time,
            Service::Declared(rates) => return Self::Declared(rates),
        };
        let scheduler = &pool.scheduler;
        let block_size = f64::from(scheduler.block_size);
        let limits = ReplicaLimits {
            seats: f64::from(scheduler.max_num_seqs),
            kv_tokens: pool.usable_blocks() as f64 * block_size,
            token_budget: f64::from(scheduler.max_num_batched_tokens),
            block_size,
            window_tokens_per_seq: f64::from(pool.window_blocks_per_seq()) * block_size,
            chunked_prefill: scheduler.chunked_prefill,
            async_scheduling: scheduler.async_scheduling,
            api_overhead_s: pool.api_overhead.as_secs(),
        };
        Self::Steps(&step_time.law, limits)
    }

    /// Requests per second of one replica while it never starves, and what it runs out of.
    pub fn sustainable(&self, lengths: &LengthMoments) -> (f64, SaturatedBy) {
        match self {
            Self::Steps(law, limits) => {
                let (operating, by) = mean_field(law, limits, lengths).saturated();
                (operating.rate_rps, by)
            }
            Self::Declared(rates) => {
                (1.0 / rates.work_s(lengths.input, lengths.output), SaturatedBy::DeclaredRate)
            }
        }
    }

    /// What more of would raise the sustainable rate: the limit that is reached first, as long as
    /// lifting it does; where it hardly does, computing, of prompts or of outputs.
    pub fn binds(&self, lengths: &LengthMoments) -> &'static str {
        let Self::Steps(law, limits) = self else { return "declared_rate" };
        let (full, by) = mean_field(law, limits, lengths).saturated();
        let (name, relaxed) = match by {
            SaturatedBy::Seats => {
                ("seats", ReplicaLimits { seats: limits.seats * RELAXED, ..*limits })
            }
            SaturatedBy::KvMemory => {
                ("kv_memory", ReplicaLimits { kv_tokens: limits.kv_tokens * RELAXED, ..*limits })
            }
            SaturatedBy::TokenBudget | SaturatedBy::DeclaredRate => {
                let token_budget = limits.token_budget * RELAXED;
                ("token_budget", ReplicaLimits { token_budget, ..*limits })
            }
        };
        let (more, _) = mean_field(law, &relaxed, lengths).saturated();
        if more.rate_rps >= full.rate_rps * WORTH_IT {
            name
        } else if full.prefill_time_share > 0.5 {
            "prefill_compute"
        } else {
            "decode_compute"
        }
    }

    /// The kind of token that takes most of a saturated replica's time.
    pub fn takes_most_time(&self, lengths: &LengthMoments) -> TokenKind {
        if lengths.output <= 0.0 {
            return TokenKind::Decode; // of nobody
        }
        let prefill_share = match self {
            Self::Steps(law, limits) => {
                mean_field(law, limits, lengths).saturated().0.prefill_time_share
            }
            Self::Declared(rates) => {
                rates.work_s(lengths.input, 0.0) / rates.work_s(lengths.input, lengths.output)
            }
        };
        if prefill_share > 0.5 { TokenKind::Prefill } else { TokenKind::Decode }
    }

    /// Why the mean of a batch says little about one, if so: it is of so few sequences that how
    /// they happen to fit together decides.
    pub fn distrust(&self, lengths: &LengthMoments) -> Vec<Distrust> {
        let Self::Steps(law, limits) = self else { return Vec::new() };
        let fit = mean_field(law, limits, lengths).sequences_in_memory();
        let mut reasons = Vec::new();
        if lengths.input > 0.0 && fit < FEW_SEQUENCES {
            reasons.push(Distrust {
                reason: "few_sequences".to_owned(),
                message: format!(
                    "KV memory holds about {} sequences of this mix, and below {FEW_SEQUENCES} it \
                     decides how they happen to fit together: simulate",
                    three_digits(fit)
                ),
            });
        }
        if limits.seats < FEW_SEATS {
            reasons.push(Distrust {
                reason: "few_seats".to_owned(),
                message: format!(
                    "max_num_seqs is {}, and with fewer than {FEW_SEATS} seats it decides whether \
                     answers happen to end in the same step: simulate",
                    limits.seats
                ),
            });
        }
        let variation = lengths.output_squared / (lengths.output * lengths.output) - 1.0;
        if lengths.output > 1.0 && lengths.output < SHORT_OUTPUT && variation < ALIKE {
            reasons.push(Distrust {
                reason: "lockstep".to_owned(),
                message: format!(
                    "all answers have about {} tokens, so that they begin and end in the same \
                     steps, and a mean over steps says little: simulate",
                    three_digits(lengths.output)
                ),
            });
        }
        reasons
    }

    /// The mean field of one replica under a mix; `None` where only rates are declared.
    pub fn steps(
        &self,
        lengths: &LengthMoments,
    ) -> Option<MeanField<impl Fn(MeanShape) -> f64 + 'a>> {
        match self {
            Self::Steps(law, limits) => Some(mean_field(law, limits, lengths)),
            Self::Declared(_) => None,
        }
    }
}

fn mean_field<'a>(
    law: &'a CompiledLaw,
    limits: &ReplicaLimits,
    lengths: &LengthMoments,
) -> MeanField<impl Fn(MeanShape) -> f64 + use<'a>> {
    MeanField::new(move |shape| seconds(law, &shape), *lengths, *limits)
}

/// The compiled law between whole tokens: linear in T, exact in everything else.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "tokens of one step")]
fn seconds(law: &CompiledLaw, shape: &MeanShape) -> f64 {
    let tokens = (shape.prefill_tokens + shape.decode_seqs).max(1.0);
    let below = tokens.floor();
    let at = law.shared_s(below as u64);
    let shared = at + (tokens - below) * (law.shared_s(below as u64 + 1) - at);
    let parts = law.parts(BatchShape::default());
    shared
        + 2.0 * parts.s_per_half_pair * shape.prefill_pairs
        + parts.s_per_decode_seq * shape.decode_seqs
        + parts.s_per_kv_token * shape.kv_tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step_time::StepCoefficients;

    #[test]
    fn whole_shapes_take_what_a_step_takes() {
        let coefficients = StepCoefficients {
            c0_s: 1e-3,
            cw_s: 5e-3,
            cw_experts_s: 2e-3,
            expert_share: 0.1,
            c1_s_per_token: 2e-5,
            c2_s_per_pair: 7e-10,
            c3_s_per_decode_seq: 3e-6,
            c4_s_per_kv_token: 4e-8,
            p: 2.0,
        };
        let law = CompiledLaw::new(&coefficients.law(), 512, 1.0, 1e-4);
        for (prefill, decodes, kv) in [(0, 1, 100), (500, 0, 0), (600, 37, 40_000)] {
            let mut shape =
                BatchShape { decode_seqs: decodes, kv_tokens: kv, ..Default::default() };
            shape.add_prefill(64, prefill);
            let mean = MeanShape {
                prefill_tokens: prefill as f64,
                prefill_pairs: shape.prefill_half_pairs as f64 / 2.0,
                decode_seqs: decodes as f64,
                kv_tokens: kv as f64,
            };
            let (step, interpolated) = (law.step(shape).as_secs(), seconds(&law, &mean));
            assert!((step - interpolated).abs() < 1e-12 + 1e-9 * step, "{step} {interpolated}");
        }
    }
}

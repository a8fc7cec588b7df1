//! Sharing the time of steps out to what caused it, to the picosecond.

use crate::slo::RequestStamps;
use crate::step_time::{BatchShape, CompiledLaw};
use crate::units::Picos;

/// The books of one replica: what one decode sequence has been charged over all steps so far,
/// KV reads aside.
///
/// Attention pairs, decode sequences and KV reads are charged to their causes; the rest of a step
/// alike to its tokens. What does not divide is carried to the next step, so that the accounts of
/// all requests sum to the time in steps but for less than a picosecond per token of one step, and
/// `k` equal steps are charged at once exactly as one by one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Books {
    decode: Picos,
    carry: i64,
    beside_prefill: Picos,
    last: Last,
}

/// Of the last charge.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    per_token: Picos,
    beside_prefill: Picos,
}

impl Books {
    /// One decode sequence's share of all steps so far, without its KV reads.
    pub fn decode(&self) -> Picos {
        self.decode
    }

    /// By which all steps so far were longer for the prompts computed beside decodes.
    pub fn beside_prefill(&self) -> Picos {
        self.beside_prefill
    }

    /// What each token is charged of the last step that began, which was charged alone.
    pub fn last_per_token(&self) -> Picos {
        self.last.per_token
    }

    /// By which the last step that began is longer for the prompts computed in it.
    pub fn last_beside_prefill(&self) -> Picos {
        self.last.beside_prefill
    }

    /// A step of `shape` begins, which takes `composition` before any cached token is read, and
    /// whose prefills are charged `pairs` for their attention pairs. Returns what each of its
    /// tokens is charged.
    #[inline]
    pub fn step(
        &mut self,
        law: &CompiledLaw,
        shape: BatchShape,
        composition: Picos,
        pairs: Picos,
    ) -> Picos {
        let per_token = self.steps(1, composition - pairs, law, shape.tokens(), shape.decode_seqs);
        if shape.prefill_tokens > 0 {
            let longer = composition - law.decode_composition(shape.decode_seqs);
            self.beside_prefill += longer;
            self.last.beside_prefill = longer;
        }
        per_token
    }

    /// `steps` steps begin, of `tokens` tokens and `decodes` decode sequences each; `time` is of
    /// one of them, without attention pairs and KV reads. Returns what each token is charged.
    #[inline]
    pub fn steps(
        &mut self,
        steps: i64,
        time: Picos,
        law: &CompiledLaw,
        tokens: u64,
        decodes: u64,
    ) -> Picos {
        let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let of_sequences = law.per_decode_seq().times(whole(decodes));
        let Picos(sum) = Picos(self.carry) + (time - of_sequences).times(steps);
        let tokens = whole(tokens).max(1);
        let per_token = sum.div_euclid(tokens);
        self.carry = sum.rem_euclid(tokens);
        let per_token = Picos(per_token);
        self.decode += per_token + law.per_decode_seq().times(steps);
        self.last = Last { per_token, beside_prefill: Picos::ZERO };
        per_token
    }
}

/// A step that began, and that something ended before it was done: it is charged as far as it came.
#[derive(Debug, Clone, Copy)]
pub struct CutStep {
    passed: Picos,
    whole: Picos,
}

impl CutStep {
    /// A step that would have lasted from `start` to `end`, cut off at `now`.
    pub fn new(start: Picos, end: Picos, now: Picos) -> Self {
        Self { passed: now - start, whole: end - start }
    }

    /// The part of a charge for the whole step that is not owed, so that what is owed is no more
    /// than its time, to the picosecond.
    pub fn not_owed(&self, charge: Picos) -> Picos {
        if self.whole <= Picos::ZERO {
            return Picos::ZERO;
        }
        let owed = i128::from(charge.0) * i128::from(self.passed.0);
        let owed = owed.div_euclid(i128::from(self.whole.0));
        Picos(charge.0 - i64::try_from(owed).unwrap_or(charge.0))
    }

    /// The time that it did not last.
    pub fn not_passed(&self) -> Picos {
        self.whole - self.passed
    }

    /// Takes back of a request what it was charged too much for `chunk` prompt tokens, `again` of
    /// them computed again. Returns how much that is.
    pub fn refund_prefill(
        &self,
        stamps: &mut RequestStamps,
        charge: Picos,
        (again, chunk): (u32, u32),
    ) -> Picos {
        let refund = self.not_owed(charge);
        stamps.busy -= refund;
        stamps.recomputed -= part(charge, again, chunk) - part(charge - refund, again, chunk);
        refund
    }

    /// Takes back of a request what it was charged too much for one decode, of `kv` cached tokens.
    pub fn refund_decode(
        &self,
        stamps: &mut RequestStamps,
        (books, law): (&Books, &CompiledLaw),
        kv: u32,
    ) {
        let charge = books.last_per_token() + law.per_decode_seq() + law.reads(kv.into());
        stamps.busy -= self.not_owed(charge);
        stamps.stream.beside_prefill -= self.not_owed(books.last_beside_prefill());
    }
}

/// What a prefill of `chunk` tokens is charged.
pub fn prefill_cost(per_token: Picos, chunk: u32, pairs: Picos) -> Picos {
    per_token.times(chunk.into()) + pairs
}

/// The `part` of `whole` tokens in a cost, rounded down.
pub fn part(cost: Picos, part: u32, whole: u32) -> Picos {
    if part == 0 {
        return Picos::ZERO;
    }
    if let Some(product) = cost.0.checked_mul(i64::from(part)) {
        return Picos(product / i64::from(whole)); // no wider division than needed: it is slow
    }
    let share = i128::from(cost.0) * i128::from(part) / i128::from(whole);
    Picos(i64::try_from(share).unwrap_or(i64::MAX))
}

/// What reading the cache costs a sequence over `steps` decode steps from `kv` cached tokens on.
pub fn kv_reads(law: &CompiledLaw, kv: u32, steps: u64) -> Picos {
    let twice_the_mean = 2 * u64::from(kv) + steps.saturating_sub(1);
    law.reads(steps.saturating_mul(twice_the_mean) / 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::step_time::StepCoefficients;

    fn law(per_sequence_s: f64) -> CompiledLaw {
        let coefficients = StepCoefficients {
            c0_s: 1e-3,
            cw_s: 5e-3,
            cw_experts_s: 0.0,
            expert_share: 0.0,
            c1_s_per_token: 2e-5,
            p: 2.0,
            c2_s_per_pair: 7e-10,
            c3_s_per_decode_seq: per_sequence_s,
            c4_s_per_kv_token: 4e-8,
        };
        CompiledLaw::new(&coefficients.law(), 512, 1.0, 0.0)
    }

    fn composition(law: &CompiledLaw, shape: BatchShape) -> Picos {
        law.composition(shape.prefill_tokens, shape.prefill_half_pairs, shape.decode_seqs)
    }

    #[test]
    fn of_a_step_that_is_cut_off_is_owed_what_had_passed() {
        let cut = CutStep::new(Picos(100), Picos(200), Picos(125));
        assert_eq!(cut.not_passed(), Picos(75));
        assert_eq!(cut.not_owed(Picos(40)), Picos(30));
        assert_eq!(cut.not_owed(Picos(3)), Picos(3), "not a picosecond more than a quarter");
        let at_once = CutStep::new(Picos(100), Picos(200), Picos(100));
        assert_eq!(at_once.not_owed(Picos(40)), Picos(40));
        let mut stamps = RequestStamps { busy: Picos(1_040), ..RequestStamps::UNSEEN };
        stamps.recomputed = Picos(20);
        assert_eq!(cut.refund_prefill(&mut stamps, Picos(40), (8, 16)), Picos(30));
        assert_eq!((stamps.busy, stamps.recomputed), (Picos(1_010), Picos(5)));
    }

    proptest! {
        #[test]
        fn many_steps_at_once_are_charged_as_one_by_one(
            n in 1_u64..300, before in 1_u64..300, k in 1_i64..1000,
        ) {
            let law = law(3.3e-6);
            let time = |n| law.composition(0, 0, n);
            let mut at_once = Books::default();
            at_once.steps(7, time(before), &law, before, before);
            let mut one_by_one = at_once;
            at_once.steps(k, time(n), &law, n, n);
            for _ in 0..k {
                let shape = BatchShape { decode_seqs: n, ..Default::default() };
                one_by_one.step(&law, shape, time(n), Picos::ZERO);
            }
            prop_assert_eq!(at_once.decode(), one_by_one.decode());
            prop_assert_eq!(at_once.carry, one_by_one.carry);
        }

        #[test]
        fn what_is_charged_sums_to_the_steps(shapes in prop::collection::vec((0_u64..200, 0_u64..200), 1..50)) {
            let law = law(3.3e-6);
            let (mut books, mut prefill, mut decode, mut time) = (Books::default(), 0, 0, 0);
            for (chunk, decodes) in shapes {
                let mut shape = BatchShape { decode_seqs: decodes, ..Default::default() };
                shape.add_prefill(100, chunk);
                let pairs = law.pairs(shape.prefill_half_pairs);
                let before = books.decode();
                if shape.tokens() > 0 {
                    let per_token = books.step(&law, shape, composition(&law, shape), pairs);
                    prefill += per_token.0 * i64::try_from(chunk).expect("small") + pairs.0;
                    decode += (books.decode() - before).0 * i64::try_from(decodes).expect("small");
                    time += law.step(shape).0;
                }
            }
            prop_assert_eq!(prefill + decode + books.carry, time);
        }
    }
}

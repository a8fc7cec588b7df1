//! When decode sequences need their next KV block.

use super::block_size::BlockSize;
use super::leap::Leap;
use crate::units::Picos;

/// Decode sequences by the step, modulo the block size, in which they need a block.
///
/// A sequence with `kv` cached tokens needs one in the step that adds the next if `kv` is a
/// multiple of the block size; every step adds one. So each needs one every `block_size` steps,
/// always at the same phase.
#[derive(Debug)]
pub struct Phases {
    /// Sequences by phase, two rounds of them one behind the other: so the phases of as many steps as
    /// a block has tokens are a slice, wherever they begin.
    counts: Vec<u32>,
    block_size: BlockSize,
    /// Tokens of a block.
    size: i64,
    /// The phase of the next step to be planned.
    now: usize,
    sequences: u64,
}

impl Phases {
    /// No sequences.
    pub fn new(block_size: BlockSize) -> Self {
        Self {
            counts: vec![0; 2 * block_size.tokens() as usize],
            block_size,
            size: i64::from(block_size.tokens()),
            now: 0,
            sequences: 0,
        }
    }

    /// A sequence with `kv` cached tokens decodes from the next step on.
    pub fn add(&mut self, kv: u32) {
        let (phase, round) = (self.phase(kv), self.round());
        self.counts[phase] += 1;
        self.counts[phase + round] += 1;
        self.sequences += 1;
    }

    /// A sequence that has `kv` cached tokens now decodes no more.
    pub fn remove(&mut self, kv: u32) {
        let (phase, round) = (self.phase(kv), self.round());
        self.counts[phase] -= 1;
        self.counts[phase + round] -= 1;
        self.sequences -= 1;
    }

    /// `steps` steps are done.
    pub fn advance(&mut self, steps: i64) {
        self.now = self.after(steps);
    }

    /// Blocks needed in the next step.
    pub fn next(&self) -> u64 {
        u64::from(self.counts[self.now])
    }

    /// Blocks needed in steps `from..=to`, the next step being the first.
    pub fn needed(&self, from: i64, to: i64) -> u64 {
        let (cycles, rest) = self.cycles(to - from + 1);
        self.sequences * cycles + self.sum(self.after(from - 1), rest)
    }

    /// Steps that `free` blocks suffice for after the next one, whose blocks are taken.
    pub fn steps_within(&self, free: u64, most: i64) -> i64 {
        if self.sequences.saturating_mul(most.cast_unsigned()) <= free {
            return most; // each sequence needs at most one a step
        }
        let (cycles, rest) = self.cycles(most);
        if self.sequences.saturating_mul(cycles + u64::from(rest > 0)) <= free {
            return most; // each sequence needs at most one a cycle
        }
        let full = free / self.sequences;
        let mut left = free % self.sequences;
        let mut steps = full * self.size.cast_unsigned();
        for count in self.from(self.after(1)) {
            let Some(rest) = left.checked_sub(u64::from(*count)) else { break };
            left = rest;
            steps += 1;
        }
        i64::try_from(steps).map_or(most, |steps| steps.min(most))
    }

    /// Steps after the next one that need no block.
    pub fn steps_without_need(&self) -> i64 {
        self.steps_within(0, i64::MAX)
    }

    /// Blocks taken in the steps of `leap` from its second to its `last`, the next step being its
    /// first, and Σ of them × the time from when they are taken to `stop`.
    pub fn taken(&self, leap: &Leap, last: i64, stop: Picos) -> (u64, i128) {
        let mut left = (stop - leap.time(1)).0;
        let all_at_once = left.checked_mul(self.sequences.cast_signed());
        if last <= self.size && all_at_once.is_some() {
            // Each step is the only one of its phase, and the sum needs no wider number, as in
            // nearly all leaps.
            let (mut blocks, mut sum, mut duration) = (0, 0, leap.first);
            let first = self.after(1);
            for count in &self.counts[first..first + index(last - 1)] {
                blocks += count;
                sum += i64::from(*count) * left;
                duration += leap.growth;
                left = left.wrapping_sub(duration); // after the last it is not used
            }
            return (blocks.into(), sum.into());
        }
        let (mut blocks, mut sum) = (0, 0);
        for (begun, count) in (1..last).zip(self.from(self.after(1))) {
            if *count > 0 {
                let times = (last - 1 - begun) / self.size + 1;
                blocks += u64::from(*count) * times.cast_unsigned();
                sum += i128::from(*count) * time_left(leap, stop, begun, self.size, times);
            }
        }
        (blocks, sum)
    }

    fn phase(&self, kv: u32) -> usize {
        let size = self.round();
        let phase = self.now + size - self.block_size.beyond_full(kv) as usize;
        if phase < size { phase } else { phase - size }
    }

    fn after(&self, steps: i64) -> usize {
        let (_, rest) = self.cycles(steps);
        let phase = self.now + rest;
        if phase < self.round() { phase } else { phase - self.round() }
    }

    /// Phases there are.
    fn round(&self) -> usize {
        self.counts.len() / 2
    }

    /// The counts of all phases, from one on.
    fn from(&self, phase: usize) -> &[u32] {
        &self.counts[phase..phase + self.round()]
    }

    /// Whole cycles in `steps` steps, and the steps beyond.
    fn cycles(&self, steps: i64) -> (u64, usize) {
        // Most leaps are short, and a division is slow.
        let cycles = if steps < self.size { 0 } else { steps / self.size };
        (cycles.cast_unsigned(), index(steps - cycles * self.size))
    }

    fn sum(&self, first: usize, steps: usize) -> u64 {
        self.counts[first..first + steps].iter().map(|count| u64::from(*count)).sum()
    }
}

/// Steps within a round.
fn index(steps: i64) -> usize {
    usize::try_from(steps).expect("no more than a block has tokens")
}

/// Σ (`stop` − T(j)) over `count` values of j: `first`, and then every `stride`-th.
fn time_left(leap: &Leap, stop: Picos, first: i64, stride: i64, count: i64) -> i128 {
    let below = count * (count - 1) / 2; // 0 + 1 + … + (count − 1); a leap has at most 2³¹ steps
    // A third of their product is a third of one of them: wide numbers are slow to divide.
    let squares = if below % 3 == 0 {
        i128::from(below / 3) * i128::from(2 * count - 1)
    } else {
        i128::from(below) * i128::from((2 * count - 1) / 3)
    };
    let [first, stride, count, below] = [first, stride, count, below].map(i128::from);
    let sum_j = count * first + stride * below;
    let sum_jj = count * first * first + 2 * first * stride * below + stride * stride * squares;
    let steps = sum_j * i128::from(leap.first) + (sum_jj - sum_j) / 2 * i128::from(leap.growth);
    count * i128::from((stop - leap.start).0) - steps
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn phases(block_size: u32, cached: &[u32], done: i64) -> Phases {
        let mut phases = Phases::new(BlockSize::new(block_size));
        phases.advance(done);
        for &kv in cached {
            phases.add(kv);
        }
        phases
    }

    /// Blocks that the sequences need in the `step`-th step from now.
    fn plainly(block_size: u32, cached: &[u32], step: i64) -> u64 {
        let before = u32::try_from(step - 1).expect("small");
        cached.iter().filter(|kv| (*kv + before).is_multiple_of(block_size)).count() as u64
    }

    proptest! {
        #[test]
        fn needs_are_those_of_each_sequence(
            block_size in 1_u32..20, cached in prop::collection::vec(1_u32..100, 1..30),
            done in 0_i64..50, from in 1_i64..40, steps in 1_i64..60, free in 0_u64..80,
        ) {
            let mut phases = phases(block_size, &cached, done);
            let need = |step| plainly(block_size, &cached, step);
            prop_assert_eq!(phases.next(), need(1));
            let plain: u64 = (from..from + steps).map(need).sum();
            prop_assert_eq!(phases.needed(from, from + steps - 1), plain);

            let within = phases.steps_within(free, steps);
            prop_assert!((2..2 + within).map(need).sum::<u64>() <= free);
            prop_assert!(within == steps || (2..=2 + within).map(need).sum::<u64>() > free);
            prop_assert!((2..2 + phases.steps_without_need()).map(need).sum::<u64>() == 0);

            phases.advance(from);
            prop_assert_eq!(phases.next(), need(from + 1));
            let later: Vec<u32> = cached.iter().map(|kv| kv + u32::try_from(from).expect("small")).collect();
            for kv in later {
                phases.remove(kv);
            }
            prop_assert!(phases.counts.iter().all(|count| *count == 0));
        }

        #[test]
        fn held_time_is_that_of_a_loop(
            block_size in 1_u32..20, cached in prop::collection::vec(1_u32..100, 1..30),
            first in 0_i64..1 << 30, growth in 0_i64..1 << 20, steps in 1_i64..100, early in 0_i64..1000,
        ) {
            let phases = phases(block_size, &cached, 3);
            let leap = Leap::of(Picos(17), first, growth, steps);
            let stop = leap.end() - Picos(early.min(leap.duration(leap.steps).0));
            let plain: i128 = (2..=leap.steps)
                .map(|step| {
                    let span = i128::from((stop - leap.time(step - 1)).0);
                    i128::from(plainly(block_size, &cached, step)) * span
                })
                .sum();
            let blocks = (2..=leap.steps).map(|step| plainly(block_size, &cached, step)).sum::<u64>();
            prop_assert_eq!(phases.taken(&leap, leap.steps, stop), (blocks, plain));
        }
    }
}

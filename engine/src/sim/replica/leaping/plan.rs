//! What begins at a boundary: a batch, and for how many steps it stays as it is.

use super::job::JobState;
use super::{Leap, Leaping};
use crate::sim::job::Place;
use crate::sim::jobs::Jobs;
use crate::sim::replica::books::{part, prefill_cost};
use crate::step_time::BatchShape;
use crate::units::Picos;

/// What the scheduler found, beside the batch it made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Scheduled {
    /// Somebody lost blocks, so nobody was admitted.
    pub preempted: bool,
    /// Somebody waits whom the scheduler does not see yet.
    pub unseen: bool,
}

impl Leaping<'_> {
    /// Decides what begins at `now` with what is known at `visible`.
    pub(super) fn plan(
        &mut self,
        now: Picos,
        visible: Picos,
        most_steps: i64,
        jobs: &mut Jobs<JobState>,
    ) {
        let mut scheduled = self.schedule(now, visible, jobs);
        if self.is_idle() {
            // Nothing runs, so nothing is ahead of the scheduler: it sees the present.
            self.release_finishing();
        }
        while self.is_idle() {
            let nobody_runs = self.running == 0;
            scheduled = self.schedule(now, now, jobs);
            if nobody_runs && self.is_idle() {
                return;
            }
        }
        let sequences = u64::from(self.decodes) + self.chunks.len() as u64;
        let leap = if self.chunks.is_empty() {
            let most = self.steps_alike(scheduled, jobs).min(most_steps);
            self.leap_of_decodes(now, most)
        } else {
            self.mixed_step(now, jobs)
        };
        self.load.steps += 1;
        self.load.sequence_steps += sequences;
        self.leap = Some(leap);
    }

    /// Nobody has a part in the step that begins.
    fn is_idle(&self) -> bool {
        self.decodes == 0 && self.chunks.is_empty()
    }

    /// Steps that begin with the same batch, as far as can be seen from here; arrivals and
    /// departures may cut them.
    fn steps_alike(&mut self, scheduled: Scheduled, jobs: &Jobs<JobState>) -> i64 {
        if scheduled.preempted || scheduled.unseen || !self.resumed.is_empty() {
            return 1;
        }
        if !self.finishing.left.is_empty() {
            return 1; // how many blocks come free after this step is seen then
        }
        let mut most = self.steps_to_next_finish(jobs);
        if let Some(blocked) = self.blocked {
            if self.finishing.seats > 0 {
                return 1; // seats and blocks come free after this step
            }
            if blocked.depends_on_cache {
                most = most.min(1 + self.phases.steps_without_need());
            }
        }
        let free = self.blocks.free() + self.finishing.blocks;
        1 + self.phases.steps_within(free, most - 1)
    }

    fn steps_to_next_finish(&mut self, jobs: &Jobs<JobState>) -> i64 {
        // One for each who decodes, and nobody is about to leave: then none is stale.
        let none_is_stale =
            self.leaving_decodes == 0 && self.finishes.len() == self.decodes as usize;
        if none_is_stale && let Some((step, _)) = self.finishes.first() {
            return step - self.done;
        }
        while let Some((step, id)) = self.finishes.first() {
            let job = &jobs[id];
            if job.place == Place::Running && job.is_decoding() && job.finish_step() == step {
                return step - self.done;
            }
            self.finishes.pop();
        }
        1 // of nobody
    }

    /// A run of decode steps.
    fn leap_of_decodes(&self, now: Picos, most: i64) -> Leap {
        let law = &self.spec.law;
        let n = u64::from(self.decodes);
        let composition = law.decode_composition(n);
        Leap::of(now, (composition + law.reads(self.decode_kv)).0, law.reads(n).0, most)
    }

    /// One step with prompt tokens in it, its time shared out to what caused it.
    fn mixed_step(&mut self, now: Picos, jobs: &mut Jobs<JobState>) -> Leap {
        let law = &self.spec.law;
        let mut shape = BatchShape {
            decode_seqs: u64::from(self.decodes),
            kv_tokens: self.decode_kv,
            ..BatchShape::default()
        };
        let mut all_pairs = Picos::ZERO;
        for chunk in &mut self.chunks {
            let (context, tokens) = (jobs[chunk.id].state.kv.into(), chunk.tokens.into());
            shape.add_prefill(context, tokens);
            chunk.pairs = law.pairs(BatchShape::half_pairs(context, tokens));
            all_pairs += chunk.pairs;
        }
        let composition =
            law.composition(shape.prefill_tokens, shape.prefill_half_pairs, shape.decode_seqs);
        let per_token = self.books.step(law, shape, composition, all_pairs);
        for chunk in &self.chunks {
            let job = &mut jobs[chunk.id];
            let cost = prefill_cost(per_token, chunk.tokens, chunk.pairs);
            let again = job.state.high_water.saturating_sub(job.state.kv).min(chunk.tokens);
            job.stamps.busy += cost;
            job.stamps.recomputed += part(cost, again, chunk.tokens);
            self.load.prefill_busy += cost;
            self.load.recomputed_tokens += u64::from(again);
        }
        Leap::step(now, composition + law.reads(self.decode_kv))
    }
}

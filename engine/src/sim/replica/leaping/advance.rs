//! What steps did that are over: time and tokens pass, prompts grow, requests join the decodes,
//! finish and leave.

use super::job::{JobState, LeapJob, NOT_DECODING};
use super::{Chunk, Leap, Leaping, Reason};
use crate::sim::job::Place;
use crate::sim::jobs::Jobs;
use crate::sim::replica::books::kv_reads;
use crate::slo::Fate;
use crate::units::Picos;

impl Leaping<'_> {
    /// The first `steps` steps of `leap` are over. Of the step that follows them in the leap, if
    /// any, the blocks are taken and it is counted, as for the first when it was planned.
    #[inline]
    pub(super) fn pass(&mut self, leap: &Leap, steps: i64, jobs: &mut Jobs<JobState>) {
        self.show(leap, steps, jobs);
        let begun = if steps < leap.steps { steps + 1 } else { steps };
        let length = leap.length(steps);
        let (counted, blocks) = self.hold(leap, steps, leap.start + length);
        // Whoever had finished when the leap began is out after its first step.
        self.release_finishing();
        if begun > 1 {
            let uncounted =
                if counted < begun { self.phases.needed(counted + 1, begun) } else { 0 };
            self.blocks.take(blocks + uncounted);
            let more = (begun - 1).cast_unsigned();
            self.load.steps += more;
            self.load.sequence_steps += more * u64::from(self.decodes);
            self.refuse(more);
        }
        self.load.busy += length;
        if self.chunks.is_empty() {
            self.charge_decodes(steps);
        }
        if self.streams_in_events() {
            self.moments.push(self.done, *leap);
        } else {
            self.gaps.push(self.done, leap.duration(steps));
            self.above.pass(leap, steps);
        }
        self.done += steps;
        self.phases.advance(steps);
        let steps = steps.cast_unsigned();
        self.decode_kv += steps * u64::from(self.decodes);
        let tokens = steps * u64::from(self.decodes - self.leaving_decodes);
        self.load.decode_tokens += tokens;
        self.load.backlog_decode_tokens -= tokens;
    }

    /// Shares out the time of so many steps of decodes alone, when they are over: at once what one by
    /// one would be the same. A step with prompts in it is shared out when it begins.
    #[inline]
    pub(super) fn charge_decodes(&mut self, steps: i64) {
        let (law, n) = (&self.spec.law, u64::from(self.decodes));
        self.books.steps(steps, law.decode_composition(n), law, n, n);
    }

    /// Passes the steps of the leap that are over at `now`.
    pub(super) fn split(&mut self, now: Picos, jobs: &mut Jobs<JobState>) {
        let Some(leap) = self.leap else { return };
        let over = leap.in_progress(now) - 1;
        if over > 0 {
            self.pass(&leap, over, jobs);
            self.leap = Some(leap.rest(over));
        }
    }

    /// Whoever hides tokens and shows the first in the first `steps` steps of `leap` does so when
    /// its step ends.
    fn show(&mut self, leap: &Leap, steps: i64, jobs: &mut Jobs<JobState>) {
        while let Some((step, id)) = self.shows.pop_due(self.done + steps) {
            if let Some(job) = jobs.get_mut(id)
                && (job.place == Place::Running && job.is_decoding() && job.hides_some())
                && job.show_step() == step
            {
                job.stamps.first_visible = Some(leap.time(step - self.done));
            }
        }
    }

    /// The refused head was refused `times` more.
    pub(super) fn refuse(&mut self, times: u64) {
        if let Some(blocked) = self.blocked {
            *match blocked.reason {
                Reason::Seats => &mut self.refusals.seats,
                Reason::KvMemory => &mut self.refusals.kv_memory,
                Reason::TokenBudget => &mut self.refusals.token_budget,
            } += times;
        }
    }

    /// What the replica held through the first `steps` steps of `leap` up to `stop`, as far as it
    /// lies before the horizon. Returns the last step that was looked at, and the blocks that are
    /// taken from the second to that one.
    #[inline]
    pub(super) fn hold(&mut self, leap: &Leap, mut steps: i64, mut stop: Picos) -> (i64, u64) {
        if stop > self.horizon {
            if leap.start >= self.horizon {
                return (1, 0);
            }
            steps = leap.first_not_before(self.horizon).min(steps);
            stop = self.horizon;
        }
        let held = self.held_blocks();
        self.held.add(held, self.running.into(), stop - leap.start);
        if steps == 1 {
            return (1, 0);
        }
        let (blocks, block_time) = self.phases.taken(leap, steps, stop);
        let without_finished =
            i128::from(self.finishing.blocks) * i128::from((stop - leap.time(1)).0);
        self.held.block_picos += block_time - without_finished;
        (steps, blocks)
    }

    /// What the last step did beside passing, now that it is over.
    pub(super) fn complete(&mut self, now: Picos, jobs: &mut Jobs<JobState>) {
        for chunk in 0..self.chunks.len() {
            self.compute(self.chunks[chunk], now, jobs);
        }
        self.chunks.clear();
        self.end_stalls(now, jobs);
        while let Some((step, id)) = self.finishes.pop_due(self.done) {
            if let Some(job) = jobs.get_mut(id)
                && (job.place == Place::Running && job.is_decoding() && job.finish_step() == step)
            {
                self.finish(id, job, now);
            }
        }
        self.news.sort();
        self.order_finished();
        self.forget_moments(jobs);
        if !self.leaving.is_empty() {
            self.drop_leaving(jobs);
        }
        if self.running == 0 {
            self.admitted.clear();
            self.finishes.clear();
            self.shows.clear();
            self.gaps.forget();
            self.moments.forget_before(i64::MAX);
        }
    }

    /// Some tokens of a prompt are computed; with the last of them a token leaves.
    fn compute(&mut self, chunk: Chunk, now: Picos, jobs: &mut Jobs<JobState>) {
        let Chunk { id, tokens, .. } = chunk;
        let job = &mut jobs[id];
        self.load.prefill_tokens += u64::from(tokens);
        job.state.kv += tokens;
        if job.place == Place::Gone {
            return; // it left meanwhile: its work is done all the same
        }
        self.load.backlog_prefill_tokens -= u64::from(tokens);
        if job.state.kv < job.state.target {
            if !self.partials.contains(&id) {
                self.partials.push(id);
            }
            return;
        }
        self.partials.retain(|partial| *partial != id);
        if job.stamps.generated == 0 {
            job.stamps.first_token = Some(now);
            self.news.first_tokens.push(id);
        } else {
            // Only who lost its blocks computes its prompt again.
            self.end_preemption(job, now);
        }
        job.stamps.generated += 1;
        self.begin_event(job, now);
        if job.shows_first() {
            job.stamps.first_visible = Some(now);
        }
        job.state.last_token = now;
        self.load.decode_tokens += 1;
        self.load.backlog_decode_tokens -= 1;
        self.begin_decoding(job);
        if job.decode_left() == 0 {
            self.finish(id, job, now);
            return;
        }
        self.expect(id, job);
    }

    /// A request with all of `target` in its cache decodes from the next step on.
    #[inline]
    pub(super) fn begin_decoding(&mut self, job: &mut LeapJob) {
        job.state.since = self.done;
        job.state.above_mark = self.above.steps(job.class);
        job.state.decode_mark = self.books.decode();
        job.state.beside_prefill_mark = self.books.beside_prefill();
        let kv = job.state.target;
        self.phases.add(kv);
        self.decodes += 1;
        self.decode_kv += u64::from(kv);
    }

    /// What will happen to a decoding request, and when.
    pub(super) fn expect(&mut self, id: u32, job: &LeapJob) {
        self.finishes.push(job.finish_step(), id);
        if job.hides_some() && job.shown_with() > job.stamps.generated {
            self.shows.push(job.show_step(), id);
        }
    }

    fn finish(&mut self, id: u32, job: &mut LeapJob, now: Picos) {
        self.update(job);
        let kv = self.stop_decoding(job);
        if job.fails {
            job.end(Fate::Failed, now);
            self.load.failed += 1;
        } else {
            job.end(Fate::Completed, now);
            self.load.completed += 1;
        }
        self.load.outstanding -= 1;
        self.running -= 1;
        self.finishing.seats += 1;
        if self.shared.is_none() {
            self.finishing.blocks += self.blocks_of(kv);
        } else {
            let left = self.left_by(id, job, kv);
            self.finishing.left.push(left);
        }
        self.news.served.push(id);
    }

    /// Brings the row of a running request up to the last boundary.
    pub(super) fn update(&self, job: &mut LeapJob) {
        if job.is_decoding() {
            job.stamps.generated = job.decode_generated(self.done);
            if self.streams_in_events() {
                self.add_events(job);
                return;
            }
            job.stamps.add_gap(self.gaps.since(job.state.since), false);
            self.above.settle(job);
        }
    }

    /// A decoding request stops decoding at `now`, and may go on later.
    pub(super) fn pause(&mut self, job: &mut LeapJob, now: Picos) {
        if job.decoded(self.done) > 0 {
            job.state.last_token = now;
        }
        self.update(job);
        self.stop_decoding(job);
    }

    /// A decoding request stops decoding, and its account is closed. Returns the tokens in its
    /// cache.
    #[inline]
    pub(super) fn stop_decoding(&mut self, job: &mut LeapJob) -> u32 {
        let kv = job.decode_kv(self.done);
        self.settle_decode(job, self.done);
        self.phases.remove(kv);
        self.decodes -= 1;
        self.decode_kv -= u64::from(kv);
        job.state.since = NOT_DECODING;
        job.state.kv = kv;
        kv
    }

    /// Closes the account of a run of decode steps, the last of which ends when `done` are done.
    #[inline]
    pub(super) fn settle_decode(&self, job: &mut LeapJob, done: i64) {
        let steps = (done - job.state.since).cast_unsigned();
        job.stamps.busy += self.books.decode() - job.state.decode_mark;
        job.stamps.busy += kv_reads(&self.spec.law, job.state.target, steps);
        let beside_prefill = self.books.beside_prefill() - job.state.beside_prefill_mark;
        job.stamps.stream.beside_prefill += beside_prefill;
    }

    /// Requests that left the system while they ran leave the batch.
    fn drop_leaving(&mut self, jobs: &mut Jobs<JobState>) {
        let mut leaving = std::mem::take(&mut self.leaving);
        if self.shared.is_some() {
            self.order_by_admission(&mut leaving, |id| *id);
        }
        for id in leaving.drain(..) {
            let job = &mut jobs[id];
            let kv = if job.is_decoding() { self.stop_decoding(job) } else { job.state.kv };
            self.running -= 1;
            self.partials.retain(|partial| *partial != id);
            let left = self.left_by(id, job, kv);
            self.give_back(left);
        }
        self.leaving = leaving;
        self.leaving_decodes = 0;
    }
}

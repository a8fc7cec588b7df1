//! The step in progress ends before it is done: its replica fails, or the run is over.

use super::job::JobState;
use super::{Leap, Leaping};
use crate::sim::job::Place;
use crate::sim::jobs::Jobs;
use crate::sim::replica::books::{CutStep, prefill_cost};
use crate::units::Picos;

impl Leaping<'_> {
    /// Everything stops at `now`, in the first step of the leap if there is one, and gaps are open.
    pub(super) fn stop(&mut self, now: Picos, jobs: &mut Jobs<JobState>) {
        let waiting = self.queue.preempted();
        for id in waiting.chain(self.admitted.iter().copied()) {
            let Some(job) = jobs.get_mut(id).filter(|job| job.place != Place::Gone) else {
                continue; // its row is closed but for what is charged below
            };
            self.update(job);
            if job.stamps.generated > 0 {
                self.end_open_gap(job, now);
            }
        }
        if let Some(leap) = self.leap.take() {
            self.cut_off(&leap, now, jobs);
        }
    }

    /// The first step of `leap` is cut off at `now`: it held and it costs what it did until then,
    /// and it computed nothing.
    fn cut_off(&mut self, leap: &Leap, now: Picos, jobs: &mut Jobs<JobState>) {
        let cut = CutStep::new(leap.start, leap.time(1), now);
        self.hold(leap, 1, now);
        self.load.busy += leap.duration(1);
        self.load.busy -= cut.not_passed();
        if self.chunks.is_empty() {
            self.charge_decodes(1);
        }
        for id in std::mem::take(&mut self.admitted) {
            if let Some(job) = jobs.get_mut(id).filter(|job| job.is_decoding()) {
                let kv = job.decode_kv(self.done);
                self.settle_decode(job, self.done + 1);
                cut.refund_decode(&mut job.stamps, (&self.books, &self.spec.law), kv);
            }
        }
        for chunk in std::mem::take(&mut self.chunks) {
            let job = &mut jobs[chunk.id];
            let charge = prefill_cost(self.books.last_per_token(), chunk.tokens, chunk.pairs);
            let again = job.state.high_water.saturating_sub(job.state.kv).min(chunk.tokens);
            let refund = cut.refund_prefill(&mut job.stamps, charge, (again, chunk.tokens));
            self.load.prefill_busy -= refund;
            self.load.recomputed_tokens -= u64::from(again);
        }
    }
}

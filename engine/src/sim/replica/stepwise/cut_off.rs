//! The step in progress ends before it is done: its replica fails, or the run is over.

use super::{JobState, Step, Stepwise, pairs};
use crate::sim::jobs::Jobs;
use crate::sim::replica::books::{CutStep, prefill_cost};
use crate::units::Picos;

impl Stepwise<'_> {
    /// `step` is cut off at `now`: it held and it costs what it did until then, and it computed
    /// nothing.
    pub(super) fn cut_off(&mut self, step: &Step, now: Picos, jobs: &mut Jobs<JobState>) {
        let cut = CutStep::new(step.start, step.end, now);
        self.hold(step.start, now);
        self.load.busy -= cut.not_passed();
        for work in &step.batch {
            let job = &mut jobs[work.id];
            let kv = job.state.kv;
            if work.chunk == 0 {
                job.state.kv += 1;
                self.settle_decode(job);
                cut.refund_decode(&mut job.stamps, (&self.books, &self.spec.law), kv);
                continue;
            }
            let pairs = pairs(&self.spec.law, job, work.chunk);
            let charge = prefill_cost(self.books.last_per_token(), work.chunk, pairs);
            let again = job.state.high_water.saturating_sub(kv).min(work.chunk);
            let refund = cut.refund_prefill(&mut job.stamps, charge, (again, work.chunk));
            self.load.prefill_busy -= refund;
            self.load.recomputed_tokens -= u64::from(again);
        }
    }
}

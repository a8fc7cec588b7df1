//! What a finished step did: tokens leave, prompts grow, requests finish.

use super::{JobState, Step, Stepwise};
use crate::sim::job::Place;
use crate::sim::jobs::Jobs;
use crate::slo::Fate;
use crate::units::Picos;

impl Stepwise<'_> {
    /// Applies `step`, which ended at `now`.
    pub(super) fn complete(&mut self, step: &Step, now: Picos, jobs: &mut Jobs<JobState>) {
        let mut finished = false;
        for work in &step.batch {
            let job = &mut jobs[work.id];
            self.load.prefill_tokens += u64::from(work.chunk);
            if job.place == Place::Gone {
                // It left meanwhile: its work is done and charged all the same.
                if work.chunk == 0 {
                    job.state.kv += 1;
                    self.settle_decode(job);
                }
                continue;
            }
            let was_decoding = job.is_decoding();
            job.state.kv += work.chunk.max(1);
            self.load.backlog_prefill_tokens -= u64::from(work.chunk);
            if !job.is_decoding() {
                continue;
            }
            if job.stamps.generated == 0 {
                self.news.first_tokens.push(work.id);
            }
            job.emit(now);
            self.load.decode_tokens += 1;
            self.load.backlog_decode_tokens -= 1;
            if !was_decoding {
                self.begin_decode(job);
            }
            if job.decode_left() == 0 {
                self.finish(work.id, now, jobs);
                finished = true;
            }
        }
        self.news.sort();
        if finished {
            self.running.retain(|id| jobs[*id].place == Place::Running);
        }
    }

    fn finish(&mut self, id: u32, now: Picos, jobs: &mut Jobs<JobState>) {
        let job = &mut jobs[id];
        self.settle_decode(job);
        if !job.fails {
            self.carry_on(job);
        }
        if job.fails {
            job.end(Fate::Failed, now);
            self.load.failed += 1;
        } else {
            job.end(Fate::Completed, now);
            self.load.completed += 1;
        }
        self.load.outstanding -= 1;
        self.finishing.push(std::mem::take(&mut job.state.holdings));
        self.news.served.push(id);
    }
}

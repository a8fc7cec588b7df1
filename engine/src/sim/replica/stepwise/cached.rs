//! What of a request the prefix cache knows: how its blocks are called, which of them it finds, and
//! what it leaves behind.
//!
//! As vLLM V1 (`v1/core/kv_cache_manager.py`): hits are whole blocks from the first on, and never the
//! last token, so that there is something to sample from; a block can be found from the step on in
//! which it is to be computed. What only its own attempt could find is called something where that
//! attempt is preempted: nobody else asks for it.

use super::blocks::{BlockId, Content, Line};
use super::{JobState, StepJob, Stepwise};
use crate::sim::jobs::Jobs;

impl Stepwise<'_> {
    /// What the block of that index of an attempt contains once it is full.
    fn content(&self, id: u32, job: &StepJob, index: u32) -> Content {
        let end = (index + 1).saturating_mul(self.spec.block_size);
        let line = match job.lineage.as_ref() {
            Some(lineage) if end <= lineage.prefix_tokens => {
                lineage.prefix.map_or(Line::Own(id), |prefix| Line::Prefix(prefix.get()))
            }
            Some(lineage) if end <= lineage.history_tokens => {
                lineage.session.map_or(Line::Own(id), |session| Line::Session(session.get()))
            }
            _ => Line::Own(id),
        };
        Content { line, index }
    }

    /// Its blocks that are cached, from the first on.
    pub(super) fn hits(&self, id: u32, job: &StepJob) -> Vec<BlockId> {
        let expects_some = job.lineage.is_some() || job.stamps.preemptions > 0;
        if !self.spec.prefix_caching || !expects_some {
            return Vec::new();
        }
        let most = (job.state.target - 1) / self.spec.block_size;
        (0..most).map_while(|index| self.pool.find(self.content(id, job, index))).collect()
    }

    /// Its first `tokens` tokens are computed, or will be when the step ends: what others may share
    /// of its full blocks can be found from now on, and what is its `own` too if it comes back.
    pub(super) fn cache(&mut self, id: u32, tokens: u32, own: bool, jobs: &Jobs<JobState>) {
        let job = &jobs[id];
        if !self.spec.prefix_caching || (job.lineage.is_none() && !own) {
            return;
        }
        let full = (tokens / self.spec.block_size) as usize;
        for (index, block) in (0..).zip(&job.state.holdings.blocks[..full]) {
            let content = self.content(id, job, index);
            if own || !matches!(content.line, Line::Own(_)) {
                self.pool.fill(*block, content);
            }
        }
    }

    /// It was served to the end: what it leaves to the next turn of its session can be found.
    pub(super) fn carry_on(&mut self, job: &StepJob) {
        let Some(lineage) = job.lineage.as_ref().filter(|_| self.spec.prefix_caching) else {
            return;
        };
        let Some(session) = lineage.session else { return };
        let carried = job.carried_tokens().min(job.state.kv) / self.spec.block_size;
        let shared = lineage.prefix_tokens / self.spec.block_size;
        for index in shared..carried {
            let content = Content { line: Line::Session(session.get()), index };
            self.pool.fill(job.state.holdings.blocks[index as usize], content);
        }
    }
}

//! What of a request the prefix cache knows: how its blocks are called, which of them it finds, and
//! what it leaves behind.
//!
//! As vLLM V1 (`v1/core/kv_cache_manager.py`): hits are whole blocks from the first on, and never the
//! last token, so that there is something to sample from; a block can be found from the step on in
//! which it is to be computed. What only its own attempt could find is called something where that
//! attempt is preempted: nobody else asks for it.
//!
//! Two requests that compute the same prefix side by side have a block each of the same content. vLLM
//! knows both; here it is known by the first, and by the other once the first is lost and as long as
//! somebody computes it.

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
    /// of its full blocks can be found from now on.
    pub(super) fn cache(&mut self, id: u32, tokens: u32, jobs: &mut Jobs<JobState>) {
        let job = &mut jobs[id];
        let Some(lineage) = job.lineage.as_ref().filter(|_| self.spec.prefix_caching) else {
            return;
        };
        let full = tokens / self.spec.block_size;
        let of_prefix = full.min(lineage.prefix_tokens / self.spec.block_size);
        let known = job.state.known;
        if of_prefix > known && self.pool.find(self.content(id, job, known)).is_none() {
            job.state.known = of_prefix;
            self.fill(id, &jobs[id], known..of_prefix);
        }
        self.fill(id, &jobs[id], of_prefix..full);
    }

    /// It is preempted with `tokens` tokens in its cache: it looks for all of them when it comes
    /// back.
    pub(super) fn keep(&mut self, id: u32, tokens: u32, job: &StepJob) {
        if self.spec.prefix_caching {
            let full = tokens / self.spec.block_size;
            for index in self.blocks_of_prefix(job)..full {
                let block = job.state.holdings.blocks[index as usize];
                self.pool.fill(block, self.content(id, job, index));
            }
        }
    }

    /// It joins the batch with its first `hits` blocks: what is still cached beyond is of no use any
    /// more, as it computes that again.
    pub(super) fn forget_beyond(&mut self, id: u32, job: &StepJob, hits: u32) {
        let mut index = hits.max(self.blocks_of_prefix(job));
        while index > hits && self.pool.lose(self.content(id, job, index)) {
            index += 1;
        }
    }

    fn blocks_of_prefix(&self, job: &StepJob) -> u32 {
        let lineage = job.lineage.as_ref();
        lineage.map_or(0, |lineage| lineage.prefix_tokens / self.spec.block_size)
    }

    /// These of its blocks can be found, but for those that it alone would look for.
    fn fill(&mut self, id: u32, job: &StepJob, blocks: std::ops::Range<u32>) {
        for index in blocks {
            let content = self.content(id, job, index);
            if !matches!(content.line, Line::Own(_)) {
                self.pool.fill(job.state.holdings.blocks[index as usize], content);
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

//! Scheduling by priority, where blocks do not suffice and arrivals overtake each other.
//!
//! As vLLM V1 (0.19): the least urgent of all who run loses its blocks, those that got their tokens of
//! this step included. Whoever finds no block but its own ends the step for all behind it, who wait
//! for the next one: a stall of one step. Where blocks suffice nothing of this happens, and nobody
//! looks at anybody.

use super::job::JobState;
use super::{Blocked, Chunk, Leaping, Rank, Reason};
use crate::sim::SchedulingPolicy;
use crate::sim::job::Place;
use crate::sim::jobs::Jobs;
use crate::units::Picos;

/// Tokens that a request gets in the step that begins.
#[derive(Debug, Clone, Copy)]
struct Share {
    id: u32,
    tokens: u32,
    decodes: bool,
}

impl Leaping<'_> {
    /// Gives running requests their tokens and blocks one by one, in order of admission. Somebody
    /// loses theirs.
    pub(super) fn schedule_by_rank(&mut self, now: Picos, jobs: &mut Jobs<JobState>) -> bool {
        self.admitted.retain(|id| jobs[*id].place == Place::Running);
        let mut running = std::mem::take(&mut self.admitted);
        let mut shares: Vec<Share> = Vec::with_capacity(running.len());
        let mut budget = self.spec.max_num_batched_tokens;
        'running: while shares.len() < running.len() && budget > 0 {
            let next = shares.len();
            let (share, needed) = self.share_of(running[next], budget, jobs);
            while self.blocks.free() < needed {
                let place = self.least_urgent(&running, jobs);
                let got = shares.get(place).map_or(0, |share| share.tokens);
                self.preempt(running.remove(place), got, now, jobs);
                if place < shares.len() {
                    shares.remove(place);
                    budget += got;
                } else if place == shares.len() {
                    break 'running; // it was itself
                }
            }
            self.blocks.take(needed);
            shares.push(share);
            budget -= share.tokens;
        }
        for id in &running[shares.len()..] {
            self.stall(*id, now, jobs);
        }
        self.partials.retain(|id| jobs[*id].place == Place::Running);
        let prompts = shares.iter().filter(|share| !share.decodes);
        let chunk =
            |share: &Share| Chunk { id: share.id, tokens: share.tokens, pairs: Picos::ZERO };
        self.chunks.extend(prompts.map(chunk));
        self.compute_prefixes(jobs);
        self.admitted = running;
        true
    }

    /// What a running request gets of a step with so much left of its budget, and the blocks that
    /// takes.
    fn share_of(&self, id: u32, budget: u32, jobs: &Jobs<JobState>) -> (Share, u64) {
        let job = &jobs[id];
        let decodes = job.is_decoding();
        let (kv, tokens) = if decodes {
            (job.decode_kv(self.done), 1)
        } else {
            (job.state.kv, self.spec.of_one_step(job.prefill_left()).min(budget))
        };
        let needed = self.blocks_for(kv + tokens) - self.blocks_for(kv);
        (Share { id, tokens, decodes }, needed)
    }

    /// The place of the least urgent of these.
    fn least_urgent(&self, running: &[u32], jobs: &Jobs<JobState>) -> usize {
        let rank = |place: &usize| {
            let id = running[*place];
            Rank::of(&self.spec.scheduling_policy, id, &jobs[id])
        };
        (0..running.len()).max_by_key(rank).unwrap_or(0)
    }

    /// A running request has no part in the step that begins.
    fn stall(&mut self, id: u32, now: Picos, jobs: &mut Jobs<JobState>) {
        let job = &mut jobs[id];
        if job.is_decoding() {
            self.pause(job, now);
            job.state.target = job.state.kv;
            self.resumed.retain(|resumed| *resumed != id);
            self.stalled.push(id);
        }
    }

    /// Who had no part in the last step decodes on.
    pub(super) fn resume(&mut self, jobs: &mut Jobs<JobState>) {
        if self.stalled.is_empty() {
            return;
        }
        for id in std::mem::take(&mut self.stalled) {
            if let Some(job) = jobs.get_mut(id).filter(|job| job.place == Place::Running) {
                self.begin_decoding(job);
                self.expect(id, job);
                self.resumed.push(id);
            }
        }
    }

    /// The step is over in which they decoded again: the gap before their token began before it.
    pub(super) fn end_stalls(&mut self, now: Picos, jobs: &mut Jobs<JobState>) {
        if self.resumed.is_empty() {
            return;
        }
        for id in std::mem::take(&mut self.resumed) {
            if let Some(job) = jobs.get_mut(id)
                && (job.is_decoding() && job.place == Place::Running)
            {
                if self.streams_in_events() {
                    continue; // its events are counted when it stops decoding
                }
                let gap = now - job.state.last_token;
                job.stamps.add_gap(gap, false);
                self.above.gap(job, gap);
                job.state.above_mark = self.above.steps(job.class);
            }
        }
    }

    /// Whether somebody who comes may be admitted before a refused head.
    pub(super) fn may_be_passed(&self, blocked: Blocked) -> bool {
        let by_rank = matches!(self.spec.scheduling_policy, SchedulingPolicy::Priority(_));
        by_rank && !matches!(blocked.reason, Reason::Seats)
    }

    /// Whether a request that comes goes before a refused head, and may be admitted where that is
    /// not.
    pub(super) fn is_before(&self, id: u32, blocked: Blocked, jobs: &Jobs<JobState>) -> bool {
        let rank = |id: u32| Rank::of(&self.spec.scheduling_policy, id, &jobs[id]);
        self.may_be_passed(blocked) && rank(id) < rank(blocked.head)
    }
}

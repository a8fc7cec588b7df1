//! Which blocks a request finds cached when it joins the batch, and which it leaves behind, and to
//! whom, when it goes.

use super::Leaping;
use super::free_queue::Ticket;
use super::job::LeapJob;
use super::shared::Shared;
use crate::sim::job::Place;

/// Cached blocks of a request that waits, from its first on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hits {
    /// Those of its shared prefix.
    prefix: u32,
    /// Those beyond: of its session, or its own.
    beyond: u32,
    /// Those that others hold.
    pub held: u32,
}

impl Hits {
    /// All of them.
    pub fn blocks(self) -> u32 {
        self.prefix + self.beyond
    }

    /// Whether the next block that anybody takes may be one of them.
    pub fn may_be_taken(self) -> bool {
        self.blocks() > self.held
    }
}

/// What a request leaves when it goes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Left {
    id: u32,
    /// All its blocks.
    blocks: u64,
    /// Blocks of its shared prefix, and which that is.
    prefix: (u32, u32),
    /// Blocks beyond its shared prefix that somebody may look for.
    kept: u32,
    /// Blocks between those two: of its shared prefix too, but others are known for it.
    copies: u32,
    /// The session that may.
    session: Option<u32>,
}

impl Leaping<'_> {
    /// What `job` would find cached now. The last token is always computed, so that there is
    /// something to sample from.
    pub(super) fn hits(&self, job: &LeapJob) -> Hits {
        let most = self.block_size.full(job.state.target - 1);
        let (Some(lineage), Some(shared)) = (&job.lineage, &self.shared) else {
            return Hits {
                beyond: self.blocks.kept(job.state.ticket).min(most),
                ..Hits::default()
            };
        };
        let of_prefix = self.block_size.full(lineage.prefix_tokens);
        let prefix = lineage.prefix.map_or(0, std::num::NonZero::get);
        let (found, held) = shared.found(&self.blocks, prefix);
        let (found, held) = (found.min(of_prefix), held.min(of_prefix));
        let beyond = match lineage.session {
            Some(session) if job.stamps.preemptions == 0 => {
                let of_session = self.block_size.full(lineage.history_tokens);
                let left = self.blocks.kept(shared.left_by(session.get()));
                left.min(of_session.saturating_sub(of_prefix))
            }
            _ => self.blocks.kept(job.state.ticket).min(most - of_prefix),
        };
        // What it computed of the prefix itself may be lost though what came after is not.
        Hits { prefix: found, beyond: if found == of_prefix { beyond } else { 0 }, held }
    }

    /// Takes what a request found out of the free blocks.
    pub(super) fn take_hits(&mut self, job: &mut LeapJob, hits: Hits) {
        let (Some(lineage), Some(shared)) = (&job.lineage, &mut self.shared) else {
            return self.blocks.take_back(job.state.ticket, hits.beyond);
        };
        if let Some(prefix) = lineage.prefix {
            shared.hold(&mut self.blocks, prefix.get(), hits.prefix);
            job.state.prefix_blocks = hits.prefix;
        }
        let ticket = match lineage.session {
            Some(session) if job.stamps.preemptions == 0 => {
                let ticket = shared.left_by(session.get());
                shared.resume(session.get());
                ticket
            }
            _ => job.state.ticket,
        };
        self.blocks.take_back(ticket, hits.beyond);
    }

    /// The first `kv` tokens of a running request are computed, or will be when the step ends:
    /// others may find what they share of them.
    pub(super) fn compute_prefix(&mut self, job: &mut LeapJob, kv: u32) {
        let (Some(lineage), Some(shared)) = (&job.lineage, &mut self.shared) else { return };
        let Some(prefix) = lineage.prefix else { return };
        let blocks = self.block_size.full(kv.min(lineage.prefix_tokens));
        let others_are_ahead =
            |shared: &Shared| shared.found(&self.blocks, prefix.get()).0 > job.state.prefix_blocks;
        if blocks > job.state.prefix_blocks && !others_are_ahead(shared) {
            shared.grow(prefix.get(), job.state.prefix_blocks, blocks);
            job.state.prefix_blocks = blocks;
        }
    }

    /// What a request with `kv` tokens in its cache leaves that goes for good: what a session had
    /// before, and if it was served to the end, what the next turn goes on from.
    pub(super) fn left_by(&self, id: u32, job: &LeapJob, kv: u32) -> Left {
        let blocks = self.blocks_of(kv);
        let (Some(lineage), Some(_)) = (&job.lineage, &self.shared) else {
            return Left { id, blocks, ..Left::default() };
        };
        let served = job.place == Place::Gone && job.decode_left() == 0 && !job.fails;
        let carried = if served { job.carried_tokens() } else { 0 };
        let known = self.block_size.full(kv.min(carried.max(lineage.history_tokens)));
        let of_prefix = job.state.prefix_blocks;
        let prefix = lineage.prefix.map_or(0, std::num::NonZero::get);
        let session = lineage.session.map(std::num::NonZero::get);
        let beyond = self.block_size.full(lineage.prefix_tokens);
        let kept = session.map_or(0, |_| known.saturating_sub(beyond));
        let copies = if kept > 0 { beyond - of_prefix } else { 0 };
        Left { id, blocks, prefix: (prefix, of_prefix), kept, copies, session }
    }

    /// What a request with `kv` tokens in its cache, and blocks for some more that it `got` in
    /// vain, leaves that will come back: all full blocks.
    pub(super) fn left_by_preemption(&self, id: u32, job: &LeapJob, (kv, got): (u32, u32)) -> Left {
        let blocks = self.blocks_of(kv + got);
        let full = if self.spec.prefix_caching { self.block_size.full(kv) } else { 0 };
        let lineage = job.lineage.as_ref().filter(|_| self.shared.is_some());
        let beyond = lineage.map_or(0, |lineage| self.block_size.full(lineage.prefix_tokens));
        let kept = full.saturating_sub(beyond);
        let copies = if kept > 0 { beyond - job.state.prefix_blocks } else { 0 };
        Left { blocks, kept, copies, session: None, ..self.left_by(id, job, kv) }
    }

    /// Gives back what a request has left, last block first. Returns where what it kept is.
    pub(super) fn give_back(&mut self, left: Left) -> Ticket {
        let Left { blocks, prefix: (prefix, of_prefix), kept, copies, session, .. } = left;
        let empty = blocks - u64::from(of_prefix) - u64::from(kept) - u64::from(copies);
        let ticket = if kept > 0 {
            self.blocks.give_back_content(empty, kept)
        } else {
            self.blocks.give_back(empty);
            Ticket::default()
        };
        self.blocks.give_back(copies.into());
        let Some(shared) = &mut self.shared else { return ticket };
        if let Some(session) = session {
            shared.leave(session, ticket);
        }
        if prefix > 0 {
            shared.let_go(&mut self.blocks, prefix, of_prefix);
        }
        ticket
    }

    /// A request leaves the queue for good: what it kept of its session others may look for.
    pub(super) fn abandon(&mut self, job: &LeapJob) {
        let (Some(lineage), Some(shared)) = (&job.lineage, &mut self.shared) else { return };
        if let Some(session) = lineage.session.filter(|_| job.stamps.preemptions > 0) {
            shared.leave(session.get(), job.state.ticket);
        }
    }

    /// Frees what finished at an earlier boundary.
    pub(super) fn release_finishing(&mut self) {
        // Whether anybody finished is anybody's guess, so that it is not asked.
        self.blocks.give_back(std::mem::take(&mut self.finishing.blocks));
        self.finishing.seats = 0;
        if !self.finishing.left.is_empty() {
            for left in std::mem::take(&mut self.finishing.left) {
                self.give_back(left);
            }
        }
    }

    /// Puts what finished at this boundary into the order in which blocks are freed.
    pub(super) fn order_finished(&mut self) {
        if self.finishing.left.len() < 2 {
            return;
        }
        let mut left = std::mem::take(&mut self.finishing.left);
        self.order_by_admission(&mut left, |left| left.id);
        self.finishing.left = left;
    }

    /// Puts requests that just stopped running into the order in which they were admitted.
    pub(super) fn order_by_admission<T: Copy>(&self, gone: &mut [T], id: impl Fn(&T) -> u32) {
        if gone.len() < 2 {
            return;
        }
        let places: std::collections::BTreeMap<u32, usize> =
            self.admitted.iter().enumerate().map(|(place, id)| (*id, place)).collect();
        gone.sort_by_key(|gone| places.get(&id(gone)).copied());
    }
}

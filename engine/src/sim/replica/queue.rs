//! The queue of one replica: whose turn it is next.
//!
//! As vLLM V1 (`v1/core/sched/request_queue.py`): first come, first served, with preempted requests
//! before all others; or by priority, and among equals by arrival, preempted or not.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::sim::SchedulingPolicy;
use crate::sim::job::{Job, Place};
use crate::sim::jobs::Jobs;
use crate::units::Picos;

/// Whose turn is before whose: a lower number is more urgent, then who came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    priority: i32,
    queued: Option<Picos>,
    id: u32,
}

impl Rank {
    /// The rank of a request that has been queued.
    pub fn of<S>(policy: &SchedulingPolicy, id: u32, job: &Job<S>) -> Self {
        Self { priority: policy.priority_of(job.class), queued: job.stamps.queued, id }
    }
}

/// Requests that wait. Who left the system meanwhile is skipped at the head.
#[derive(Debug)]
pub struct Queue<'a> {
    policy: &'a SchedulingPolicy,
    /// Never scheduled, in order of arrival; by priority, those that no scheduler has seen yet.
    waiting: VecDeque<u32>,
    /// First come, first served: the preempted, the next to return on top.
    preempted: Vec<u32>,
    /// By priority: all that a scheduler has seen, preempted or not.
    seen: BinaryHeap<Reverse<Rank>>,
}

/// What a scheduler finds at the head of the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// The next request.
    Seen(u32),
    /// Nobody it sees, but somebody has come.
    Unseen,
    /// Nobody.
    Nobody,
}

impl<'a> Queue<'a> {
    /// Nobody waits yet.
    pub fn new(policy: &'a SchedulingPolicy) -> Self {
        let (waiting, preempted, seen) = (VecDeque::new(), Vec::new(), BinaryHeap::new());
        Self { policy, waiting, preempted, seen }
    }

    /// A new request.
    pub fn push_back(&mut self, id: u32) {
        self.waiting.push_back(id);
    }

    /// A preempted request.
    pub fn push_front<S>(&mut self, id: u32, job: &Job<S>) {
        match self.policy {
            SchedulingPolicy::Fcfs => self.preempted.push(id),
            SchedulingPolicy::Priority(_) => {
                self.seen.push(Reverse(Rank::of(self.policy, id, job)));
            }
        }
    }

    /// Whom a scheduler finds at the head that knows what had arrived by `visible`.
    pub fn head<S>(&mut self, visible: Picos, jobs: &Jobs<S>) -> Head {
        let waits = |id: u32| jobs[id].place == Place::Waiting;
        while let Some(&id) = self.preempted.last() {
            if waits(id) {
                return Head::Seen(id);
            }
            self.preempted.pop();
        }
        while let Some(&id) = self.waiting.front() {
            let is_seen = jobs[id].stamps.queued <= Some(visible);
            match self.policy {
                _ if !waits(id) => {}
                SchedulingPolicy::Fcfs if is_seen => return Head::Seen(id),
                SchedulingPolicy::Priority(_) if is_seen => {
                    self.seen.push(Reverse(Rank::of(self.policy, id, &jobs[id])));
                }
                SchedulingPolicy::Fcfs => return Head::Unseen,
                SchedulingPolicy::Priority(_) => break,
            }
            self.waiting.pop_front();
        }
        match self.policy {
            SchedulingPolicy::Fcfs => Head::Nobody,
            SchedulingPolicy::Priority(_) => self.head_by_rank(jobs),
        }
    }

    fn head_by_rank<S>(&mut self, jobs: &Jobs<S>) -> Head {
        while let Some(Reverse(first)) = self.seen.peek() {
            if jobs[first.id].place == Place::Waiting {
                return Head::Seen(first.id);
            }
            self.seen.pop();
        }
        if self.has_unseen(jobs) { Head::Unseen } else { Head::Nobody }
    }

    /// Whether somebody waits whom the scheduler that last looked at the head did not see.
    pub fn has_unseen<S>(&self, jobs: &Jobs<S>) -> bool {
        self.waiting.iter().any(|id| jobs[*id].place == Place::Waiting)
    }

    /// Removes the request at the head.
    pub fn pop(&mut self) {
        if self.seen.pop().is_none() && self.preempted.pop().is_none() {
            self.waiting.pop_front();
        }
    }

    /// Requests that wait for their blocks again, and maybe others; some may have left the system.
    pub fn preempted(&self) -> impl Iterator<Item = u32> {
        self.preempted.iter().copied().chain(self.seen.iter().map(|Reverse(rank)| rank.id))
    }

    /// Requests that wait.
    pub fn waiting<S>(&self, jobs: &Jobs<S>) -> impl Iterator<Item = u32> {
        let waits = |id: &u32| jobs[*id].place == Place::Waiting;
        self.preempted().chain(self.waiting.iter().copied()).filter(waits)
    }

    /// Age since due of the oldest waiting request.
    pub fn oldest_age<S>(&self, now: Picos, jobs: &Jobs<S>) -> Picos {
        let is_waiting = |id: &u32| jobs[*id].place == Place::Waiting;
        let first_come = matches!(self.policy, SchedulingPolicy::Fcfs);
        let of_queued = if first_come { 1 } else { usize::MAX };
        let queued = self.waiting.iter().copied().filter(is_waiting).take(of_queued);
        let oldest = self.preempted().filter(is_waiting).chain(queued);
        oldest.map(|id| now - jobs[id].due).max().unwrap_or(Picos::ZERO)
    }
}

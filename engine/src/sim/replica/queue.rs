//! The queue of one replica.

use std::collections::VecDeque;

use crate::sim::job::Place;
use crate::sim::jobs::Jobs;
use crate::units::Picos;

/// Requests that wait: preempted ones before all that were never scheduled. Who left the system
/// meanwhile is skipped at the head.
#[derive(Debug, Default)]
pub struct Queue {
    /// Never scheduled, first come first served.
    waiting: VecDeque<u32>,
    /// Preempted, the next to return on top.
    preempted: Vec<u32>,
}

impl Queue {
    /// A new request, behind all others.
    pub fn push_back(&mut self, id: u32) {
        self.waiting.push_back(id);
    }

    /// A preempted request, before all others.
    pub fn push_front(&mut self, id: u32) {
        self.preempted.push(id);
    }

    /// The request at the head, if a scheduler that knows what had arrived by `visible` sees it.
    pub fn head<S>(&mut self, visible: Picos, jobs: &Jobs<S>) -> Option<u32> {
        let id = self.first(jobs)?;
        (jobs[id].stamps.queued <= Some(visible)).then_some(id)
    }

    /// The request at the head, seen or not.
    pub fn first<S>(&mut self, jobs: &Jobs<S>) -> Option<u32> {
        let waits = |id: &u32| jobs[*id].place == Place::Waiting;
        while self.preempted.pop_if(|id| !waits(id)).is_some() {}
        if let Some(&id) = self.preempted.last() {
            return Some(id);
        }
        while self.waiting.pop_front_if(|id| !waits(id)).is_some() {}
        self.waiting.front().copied()
    }

    /// Removes the request at the head.
    pub fn pop(&mut self) {
        if self.preempted.pop().is_none() {
            self.waiting.pop_front();
        }
    }

    /// Requests that wait for their blocks again; some may have left the system.
    pub fn preempted(&self) -> impl Iterator<Item = u32> {
        self.preempted.iter().copied()
    }

    /// Requests that wait.
    pub fn waiting<S>(&self, jobs: &Jobs<S>) -> impl Iterator<Item = u32> {
        let waits = |id: &u32| jobs[*id].place == Place::Waiting;
        self.preempted.iter().chain(&self.waiting).copied().filter(waits)
    }

    /// Age since due of the oldest waiting request.
    pub fn oldest_age<S>(&self, now: Picos, jobs: &Jobs<S>) -> Picos {
        let is_waiting = |id: &&u32| jobs[**id].place == Place::Waiting;
        let queued = self.waiting.iter().find(is_waiting);
        let oldest = self.preempted.iter().filter(is_waiting).chain(queued);
        oldest.map(|id| now - jobs[*id].due).max().unwrap_or(Picos::ZERO)
    }
}

//! Clocks that end a request which is not served in time: its user's patience before the first
//! token and between two, a time-out, and the longest wait the fleet allows in a queue.
//!
//! A clock that has run out may mean nothing any more, or not yet: then nothing happens, not even
//! time.

use std::cmp::Reverse;

use super::FleetSim;
use crate::sim::event::{Event, EventKind};
use crate::sim::job::Place;
use crate::sim::replica::ReplicaEngine;
use crate::slo::Fate;
use crate::units::{Picos, Span};

/// What an event is worth when its moment has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// It happens.
    Now,
    /// What it was to prevent has happened.
    Never,
    /// Tokens have come since: the clock runs again.
    At(Picos),
}

impl<'a, R: ReplicaEngine<'a>> FleetSim<'a, R> {
    /// Starts the clocks of a request that has just been queued.
    pub(super) fn start_clocks(&mut self, id: u32) {
        let sent = self.clients.attempt(id).sent;
        let patience = self.clients.request(id).patience.map(Span::picos);
        if let Some(age) = self.spec.admission.max_queue_age {
            self.ring(id, EventKind::QueueAge, self.now + age);
        }
        if let Some(patience) = patience {
            self.ring(id, EventKind::GiveUp, sent + patience);
        }
        if let Some(timeout) = self.clients.timeout(id) {
            self.ring(id, EventKind::TimeOut, sent + timeout);
        }
    }

    /// Starts the clocks of requests whose first token has just left `replica`.
    pub(super) fn start_stall_clocks(&mut self, replica: u32) {
        if !self.clients.anybody_minds_stalls() {
            return;
        }
        for i in 0..self.replicas[replica as usize].news().first_tokens.len() {
            let id = self.replicas[replica as usize].news().first_tokens[i];
            if let Some(patience) = self.clients.stall_patience(id) {
                self.ring(id, EventKind::Stall, self.now + patience);
            }
        }
    }

    /// What `event` means now that its moment has come.
    pub(super) fn due(&self, event: Event) -> Due {
        let of_a_client = !matches!(event.kind, EventKind::Arrival | EventKind::Boundary)
            && !event.kind.is_of_the_fleet();
        if !of_a_client {
            return Due::Now;
        }
        let job = &self.jobs[event.index];
        let in_time = match event.kind {
            EventKind::QueueAge => job.stamps.scheduled.is_some(),
            EventKind::GiveUp => job.stamps.first_token.is_some(),
            _ => false,
        };
        if in_time || job.place == Place::Gone {
            return Due::Never;
        }
        if event.kind == EventKind::Stall {
            let patience = self.clients.stall_patience(event.index).unwrap_or(Picos::NEVER);
            let replica = &self.replicas[job.stamps.replica as usize];
            let runs_out = replica.last_event(event.at, job) + patience;
            if runs_out > event.at {
                return Due::At(runs_out);
            }
        }
        Due::Now
    }

    /// Takes an event off the list that does not happen, or not yet.
    pub(super) fn put_off(&mut self, event: Event, due: Due) {
        self.events.pop();
        if let Due::At(at) = due {
            self.events.push(Reverse(Event { at, ..event }));
        }
    }

    fn ring(&mut self, id: u32, kind: EventKind, at: Picos) {
        self.events.push(Reverse(Event { at: at.max(self.now), kind, index: id }));
    }
}

/// How a request leaves when its clock has run out.
pub(super) fn fate(clock: EventKind) -> Fate {
    match clock {
        EventKind::QueueAge => Fate::Rejected,
        EventKind::TimeOut => Fate::TimedOut,
        _ => Fate::Cancelled,
    }
}

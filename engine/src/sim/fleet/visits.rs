//! An attempt comes to the fleet and leaves it: past the door, to a replica, and away.

use super::FleetSim;
use super::admission::Knock;
use super::router::Caller;
use crate::sim::job::Place;
use crate::sim::replica::ReplicaEngine;
use crate::slo::Fate;
use crate::units::Picos;

impl<'a, R: ReplicaEngine<'a>> FleetSim<'a, R> {
    /// An attempt reaches the router.
    pub(super) fn arrive(&mut self, id: u32) {
        self.counts.arrived(self.clients.attempt(id).number);
        let pool = self.clients.request(id).pool;
        let job = &self.jobs[id];
        if self.spec.pools[pool as usize].replica.can_never_fit(job.input, job.output) {
            self.turn_away(id, Fate::TooLong);
            return;
        }
        if !self.door.is_wide_open() {
            let knock = Knock { priority: self.clients.priority(id), at: self.now };
            if !self.door.admits(knock, self.peaks.waiting()) {
                self.turn_away(id, Fate::Rejected);
                return;
            }
        }
        self.route(id, pool);
        self.start_clocks(id);
    }

    /// An attempt finds a replica of its pool, or is held until one takes requests.
    pub(super) fn route(&mut self, id: u32, pool: u32) {
        let Self { pools, replicas, roster, spec, clients, .. } = self;
        let (now, spec) = (self.now, &spec.pools[pool as usize]);
        // Arrivals come before the steps that end at the same moment, so what they do is not seen.
        let seen = now - Picos(1);
        let kv_tokens = |replica: u32| replicas[replica as usize].kv_used_tokens(seen);
        let spares =
            |replica: u32, outstanding: u32| outstanding >= roster.seats_of(replica, spec, now);
        let some_are_spared = roster.is_lively(pool) && spec.life.slow_start > Picos::ZERO;
        let spares = some_are_spared.then_some(&spares as &dyn Fn(u32, u32) -> bool);
        let caller = Caller::new(clients, id);
        match pools.choose(pool, &caller, &kv_tokens, spares) {
            Some(replica) => {
                self.jobs[id].stamps.replica = replica;
                self.drive(replica, |engine, now, jobs| engine.push(id, now, jobs));
            }
            None => self.hold(id, pool),
        }
    }

    /// An attempt that no replica has seen ends.
    pub(super) fn turn_away(&mut self, id: u32, fate: Fate) {
        self.jobs[id].end(fate, self.now);
        self.ended(id);
        self.jobs.close(id);
    }

    /// An attempt leaves its replica unserved.
    pub(super) fn leave(&mut self, id: u32, fate: Fate) {
        let job = &self.jobs[id];
        let is_in_a_batch = job.place == Place::Running;
        if job.place == Place::Held {
            let pool = self.clients.request(id).pool;
            self.jobs[id].stamps.held = self.held_for(id, pool, self.now);
            self.unhold(id, pool);
            self.jobs[id].end(fate, self.now);
        } else {
            let replica = job.stamps.replica;
            self.drive(replica, |engine, now, jobs| engine.leave(id, fate, now, jobs));
            self.let_go_if_drained(replica);
        }
        self.ended(id);
        if !is_in_a_batch {
            self.jobs.close(id); // otherwise its engine has yet to finish the step it is in
        }
    }
}

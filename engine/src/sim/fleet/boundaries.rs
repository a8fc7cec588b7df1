//! Boundaries: most of what happens in a run.

use std::cmp::Reverse;

use super::FleetSim;
use crate::sim::replica::ReplicaEngine;
use crate::units::Picos;

impl<'a, R: ReplicaEngine<'a>> FleetSim<'a, R> {
    /// Takes the boundaries before anything else happens, without asking each time what that is:
    /// most of what happens are boundaries between one arrival and the next.
    pub(super) fn pass_boundaries(&mut self, pause: u64) {
        let quiet_until = self.quiet_until();
        let others = self.events.len();
        while let Some((at, replica)) = self.ends.first()
            && at < quiet_until
            && self.boundaries < pause
            && self.steps_planned < self.limits.max_steps
            && self.events.len() == others
        {
            if at > self.now && self.peaks.has_grown() {
                self.look_for_peaks();
            }
            (self.now, self.last_work) = (at, at);
            self.boundary(replica);
        }
    }

    /// Before this moment nothing happens but boundaries, and those of before do not change that
    /// unless they put something on the list.
    fn quiet_until(&self) -> Picos {
        if self.clients.attempts() > self.limits.max_attempts {
            return Picos::ZERO;
        }
        let arrival = self.arrivals.next().map_or(Picos::NEVER, |arrival| arrival.at);
        let other = self.events.peek().map_or(Picos::NEVER, |Reverse(other)| other.at);
        arrival.min(other).min(self.limits.until).min(self.sampler.next())
    }

    /// A replica finishes what it planned, and starts what comes next.
    pub(super) fn boundary(&mut self, replica: u32) {
        self.boundaries += 1;
        let most_steps = self.step_allowance();
        self.drive(replica, |engine, now, jobs| engine.boundary(now, most_steps, jobs));
        if !self.replicas[replica as usize].news().is_empty() {
            self.start_stall_clocks(replica);
            for i in 0..self.replicas[replica as usize].news().served.len() {
                let id = self.replicas[replica as usize].news().served[i];
                self.ended(id);
                self.jobs.close(id);
            }
        }
        self.let_go_if_drained(replica);
    }
}

//! What happened, counted: samples of the fleet over time, and the run as a whole.

use super::FleetSim;
use crate::sim::replica::ReplicaEngine;
use crate::sim::{Sample, SimRun, Usage};
use crate::units::Picos;

/// Requests that reached the router, and those that left without a replica's doing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Requests that reached the router.
    pub offered: u64,
    /// Requests that were turned away or left.
    pub lost: u64,
}

impl<'a, R: ReplicaEngine<'a>> FleetSim<'a, R> {
    /// What the run gave so far.
    pub fn finish(mut self) -> SimRun {
        let ended = self.last_moment();
        self.sample_until(ended);
        self.sampler.record(self.snapshot(ended));
        for replica in &mut self.replicas {
            replica.settle(ended, &mut self.jobs);
        }
        let mut run = SimRun {
            stamps: Vec::new(),
            samples: self.sampler.into_samples(),
            ended,
            steps: 0,
            busy: Picos::ZERO,
            recomputed_tokens: 0,
            usage: Usage::default(),
            cut_off: self.cut_off,
        };
        for replica in &self.replicas {
            let (load, held) = (replica.load(), replica.held());
            run.steps += load.steps;
            run.busy += load.busy;
            run.recomputed_tokens += load.recomputed_tokens;
            run.usage.kv_token_s += held.block_s() * f64::from(self.spec.replica.block_size);
            run.usage.running_s += held.running_s();
        }
        run.stamps = self.jobs.into_iter().map(|job| job.stamps_at(ended)).collect();
        run
    }

    /// The last step boundary or event of the run: of a run that was cut off, the last not after
    /// its limit.
    fn last_moment(&self) -> Picos {
        if self.cut_off.is_none() {
            return self.now;
        }
        let until = self.limits.until;
        let inner = self.replicas.iter().filter_map(|replica| replica.last_boundary(until));
        inner.fold(self.now, Picos::max).min(until)
    }

    /// Requests that have left the system.
    pub(super) fn decided(&self) -> u64 {
        let served = |replica: &R| replica.load().completed + replica.load().failed;
        self.counts.lost + self.replicas.iter().map(served).sum::<u64>()
    }

    /// Records the fleet as it was at every sampling moment before `at`.
    pub(super) fn sample_until(&mut self, at: Picos) {
        while self.sampler.next() < at {
            let moment = self.sampler.next();
            let sample = self.snapshot(moment);
            self.sampler.record(sample);
        }
    }

    fn snapshot(&self, at: Picos) -> Sample {
        let Counts { offered, lost } = self.counts;
        let mut sample = Sample { at, offered, lost, ..Sample::default() };
        for replica in &self.replicas {
            replica.add_to(&mut sample, &self.jobs);
        }
        sample
    }
}

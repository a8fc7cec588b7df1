//! Attempts that a router holds because no replica of their pool takes requests.

use std::collections::VecDeque;

use crate::sim::Sample;
use crate::sim::job::Place;
use crate::sim::jobs::Jobs;
use crate::sim::replica::ReplicaLoad;
use crate::units::Picos;

/// What is held for one pool.
#[derive(Debug, Clone, Default)]
pub struct Held {
    /// First come, first served; some may have left.
    pub ids: VecDeque<u32>,
    /// What they owe, as that of a replica is counted.
    pub load: ReplicaLoad,
}

impl Held {
    /// Everybody who was ever held and not released; nobody is held now.
    pub fn take(&mut self) -> VecDeque<u32> {
        std::mem::take(&mut self.ids)
    }

    /// Adds what is held to `sample`.
    pub fn add_to<S>(&self, sample: &mut Sample, jobs: &Jobs<S>) {
        sample.waiting += u64::from(self.load.waiting);
        sample.backlog_prefill_tokens += self.load.backlog_prefill_tokens;
        sample.backlog_decode_tokens += self.load.backlog_decode_tokens;
        sample.waiting_prefill_tokens += self.load.waiting_prefill_tokens;
        sample.waiting_decode_tokens += self.load.waiting_decode_tokens;
        sample.oldest_age = sample.oldest_age.max(self.oldest_age(sample.at, jobs));
    }

    fn oldest_age<S>(&self, at: Picos, jobs: &Jobs<S>) -> Picos {
        let held = self.ids.iter().filter(|id| jobs[**id].place == Place::Held);
        held.map(|id| at - jobs[*id].due).max().unwrap_or(Picos::ZERO)
    }
}

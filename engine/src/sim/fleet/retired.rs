//! What replicas of a pool did that are not there any more.

use crate::sim::replica::{Held, ReplicaLoad};
use crate::sim::{PoolRun, ReplicaStates, Sample};
use crate::units::Picos;

/// Sums over the engines that were replaced.
#[derive(Debug, Clone, Copy, Default)]
pub struct Retired {
    /// Requests served to the end.
    pub completed: u64,
    /// Prompt tokens computed.
    pub prefill_tokens: u64,
    /// Output tokens streamed.
    pub decode_tokens: u64,
    /// Requests that lost their blocks.
    pub preemptions: u64,
    /// Tokens computed a second time.
    pub recomputed_tokens: u64,
    /// Steps begun.
    pub steps: u64,
    /// Time of those steps.
    pub busy: Picos,
    /// Longest age since due with which a request left a queue that it had waited in.
    pub oldest_age: Picos,
    /// Blocks and seats held over time.
    pub held: Held,
}

impl Retired {
    /// Adds what was done to `sample`.
    pub fn add_to(&self, sample: &mut Sample) {
        sample.completed += self.completed;
        sample.prefill_tokens += self.prefill_tokens;
        sample.decode_tokens += self.decode_tokens;
        sample.preemptions += self.preemptions;
    }

    /// What another engine did, until it was replaced.
    pub fn add(&mut self, load: &ReplicaLoad, held: &Held) {
        self.completed += load.completed;
        self.prefill_tokens += load.prefill_tokens;
        self.decode_tokens += load.decode_tokens;
        self.preemptions += load.preemptions;
        self.recomputed_tokens += load.recomputed_tokens;
        self.steps += load.steps;
        self.busy += load.busy;
        self.oldest_age = self.oldest_age.max(load.oldest_age);
        self.held.block_picos += held.block_picos;
        self.held.running_picos += held.running_picos;
    }
}

impl From<&ReplicaLoad> for Retired {
    fn from(load: &ReplicaLoad) -> Self {
        let mut did = Self::default();
        did.add(load, &Held::default());
        did
    }
}

impl PoolRun {
    /// What an engine did and held, with blocks of so many tokens.
    pub fn add(&mut self, did: &Retired, held: &Held, block_size: u32) {
        self.busy += did.busy;
        self.recomputed_tokens += did.recomputed_tokens;
        self.peaks.oldest_age = self.peaks.oldest_age.max(did.oldest_age);
        self.usage.kv_token_s += held.block_s() * f64::from(block_size);
        self.usage.running_s += held.running_s();
    }
}

impl ReplicaStates {
    /// Those of another pool.
    pub fn add(&mut self, other: Self) {
        self.starting += other.starting;
        self.ready += other.ready;
        self.draining += other.draining;
        self.crashed += other.crashed;
    }
}

//! Workloads that were drawn, so that every fleet serves the same list.

use std::collections::BTreeMap;

use super::search::Block;
use crate::scenario::Scenario;
use crate::workload::OfferedRequest;

/// Requests that are kept, over all seeds.
const MOST_REQUESTS_KEPT: usize = 400_000;

/// The scenario's own workload by seed offset: every fleet serves the same list. Where all would
/// take too much memory, those of earlier blocks of windows are forgotten first, then the last ones
/// of this block: the next fleet begins with its first.
#[derive(Debug, Default)]
pub struct Workloads {
    known: BTreeMap<u64, Vec<OfferedRequest>>,
    requests: usize,
}

impl Workloads {
    /// That of a seed, drawn if it is not known; `None` where it cannot be.
    pub fn of(&mut self, scenario: &Scenario, seed_offset: u64) -> Option<&Vec<OfferedRequest>> {
        if !self.known.contains_key(&seed_offset) {
            let drawn = scenario.offered().ok()?;
            while self.requests + drawn.len() > MOST_REQUESTS_KEPT
                && let Some((_, forgotten)) = self.forget_beside(seed_offset)
            {
                self.requests -= forgotten.len();
            }
            self.requests += drawn.len();
            self.known.insert(seed_offset, drawn);
        }
        self.known.get(&seed_offset)
    }

    fn forget_beside(&mut self, seed_offset: u64) -> Option<(u64, Vec<OfferedRequest>)> {
        let first = *self.known.first_key_value()?.0;
        if Block::of_offset(first) == Block::of_offset(seed_offset) {
            self.known.pop_last()
        } else {
            self.known.pop_first()
        }
    }
}

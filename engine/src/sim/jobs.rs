//! All attempts of a run: those in the fleet as jobs, all others as rows.
//!
//! A fleet serves a few hundred requests at a time, of a million: their jobs are few enough to stay
//! near the processor.

use std::ops::{Index, IndexMut};

use super::job::Job;
use super::rows::Rows;
use crate::slo::RequestStamps;
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// Attempts by their numbers. Whoever is not in the fleet is [`Job::nobody`], and only the stamps
/// are known.
#[derive(Debug)]
pub struct Jobs<S> {
    rows: Rows,
    /// Jobs by slot; the first is nobody's.
    slots: Vec<Job<S>>,
    /// Whose each slot is or was.
    owners: Vec<u32>,
    free: Vec<u32>,
}

impl<S: Default> Jobs<S> {
    /// `count` attempts that are still to come.
    pub fn to_come(count: usize) -> Self {
        Self {
            rows: Rows::unseen(count),
            slots: vec![Job::nobody()],
            owners: vec![u32::MAX],
            free: Vec::new(),
        }
    }

    /// The attempt `id` comes to the fleet.
    #[inline]
    pub fn enter(&mut self, id: u32, request: &OfferedRequest) {
        let slot = self.free.pop().unwrap_or_else(|| self.add_slot());
        self.slots[slot as usize] = Job::new(request);
        self.owners[slot as usize] = id;
        self.rows.enter(id, slot);
    }

    fn add_slot(&mut self) -> u32 {
        self.slots.push(Job::nobody());
        self.owners.push(u32::MAX);
        u32::try_from(self.slots.len() - 1).expect("no more than attempts")
    }

    /// One more attempt comes to the fleet. Returns its number.
    pub fn push(&mut self, request: &OfferedRequest) -> u32 {
        let id = self.rows.push_unseen();
        self.enter(id, request);
        id
    }
}

impl<S> Jobs<S> {
    /// Attempts, those to come included.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// An attempt has left the fleet, and its engine will not look at it again.
    #[inline]
    pub fn close(&mut self, id: u32) {
        if let Some(slot) = self.rows.slot(id) {
            self.rows.set(id, &self.slots[slot as usize].stamps);
            self.free.push(slot);
        }
    }

    /// What has happened to an attempt so far.
    pub fn stamps(&self, id: u32) -> RequestStamps {
        match self.rows.slot(id) {
            Some(slot) => self.slots[slot as usize].stamps,
            None => self.rows.get(id),
        }
    }

    /// What happened to all of them until `at`, when the run ends. Their engines have been settled.
    pub fn rows_at(mut self, at: Picos) -> Rows {
        for (slot, id) in (0..).zip(&self.owners).skip(1) {
            if self.rows.slot(*id) == Some(slot) {
                self.rows.set(*id, &self.slots[slot as usize].stamps_at(at));
            }
        }
        self.rows
    }

    /// An attempt that may have left the fleet.
    #[inline]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Job<S>> {
        self.rows.slot(id).map(|slot| &mut self.slots[slot as usize])
    }

    /// The slot of an attempt; nobody's where it has none.
    #[inline]
    fn slot(&self, id: u32) -> usize {
        self.rows.slot(id).unwrap_or(0) as usize
    }
}

impl<S> Index<u32> for Jobs<S> {
    type Output = Job<S>;
    #[inline]
    fn index(&self, id: u32) -> &Job<S> {
        &self.slots[self.slot(id)]
    }
}

impl<S> IndexMut<u32> for Jobs<S> {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Job<S> {
        let slot = self.slot(id);
        debug_assert!(slot > 0, "nothing happens to who is not in the fleet");
        &mut self.slots[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::job::Place;
    use crate::slo::Fate;
    use crate::workload::Lineage;

    #[test]
    fn who_has_left_makes_room_and_leaves_a_row() {
        let request = OfferedRequest {
            class: 0,
            pool: 0,
            due: Picos::ZERO,
            input_tokens: 10,
            output_tokens: 5,
            hidden_tokens: 0,
            patience: None,
            fails: false,
            acceptable: true,
            lineage: Lineage::NONE,
        };
        let mut jobs = Jobs::<()>::to_come(2);
        jobs.enter(0, &request);
        jobs[0].stamps.replica = 7;
        jobs[0].end(Fate::Completed, Picos(3));
        jobs.close(0);
        assert_eq!(jobs[0].place, Place::Gone);
        jobs.enter(1, &request);
        assert_eq!((jobs.slots.len(), jobs[1].input), (2, 10), "in the slot of the first");
        jobs[1].place = Place::Waiting;
        assert_eq!(jobs.push(&request), 2);
        assert_eq!(jobs.stamps(0).ended, Some(Picos(3)));
        let rows = jobs.rows_at(Picos(9));
        assert_eq!((rows.get(0).replica, rows.get(0).ended), (7, Some(Picos(3))));
        assert_eq!(rows.get(1).ended, Some(Picos(9)), "the run ended first");
        assert_eq!(rows.get(2), RequestStamps::UNSEEN, "it came to nobody");
    }
}

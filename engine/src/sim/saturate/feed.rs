//! What a saturated replica is fed: even samples of a mix, or turns of sessions one after the other.

use std::collections::{BTreeMap, VecDeque};

use super::mix::Mix;
use super::turns::Turns;
use crate::sim::job::Job;
use crate::sim::jobs::Jobs;

/// Requests without end.
pub struct Feed<'m, S> {
    /// What they are of.
    pub mix: &'m Mix<'m>,
    turns: Option<Turns>,
    /// Those that were drawn.
    jobs: Jobs<S>,
    /// Of samples: the first so many of them have been in the queue.
    queued: usize,
    /// Requests drawn at once.
    block: usize,
    /// Sessions of which a turn is queued or running, and the turns that wait for its end.
    busy: BTreeMap<u32, VecDeque<u32>>,
    /// Turns that have waited long enough.
    ready: VecDeque<u32>,
    /// All that are near wait for others, until one of those is served.
    starved: bool,
}

/// The most turns that are drawn to find one whose session is not busy.
const MOST_BUSY: usize = 1_000;

impl<'m, S: Default> Feed<'m, S> {
    /// Samples of `mix`, or its `turns`.
    pub fn new(mix: &'m Mix<'m>, turns: Option<Turns>) -> Self {
        Self {
            mix,
            turns,
            jobs: Jobs::to_come(0),
            queued: 0,
            block: 1,
            busy: BTreeMap::new(),
            ready: VecDeque::new(),
            starved: false,
        }
    }

    /// Draws samples of so many requests, each of them even.
    pub fn draw_at_once(&mut self, requests: usize) {
        self.block = requests;
    }

    /// Requests after which sessions are of all ages.
    pub fn ramp(&self) -> usize {
        self.turns.as_ref().map_or(0, Turns::per_lap)
    }

    /// All that were drawn.
    pub fn jobs(&mut self) -> &mut Jobs<S> {
        &mut self.jobs
    }

    /// The next one to be queued; `None` where all that are near wait for others.
    pub fn next(&mut self) -> Option<u32> {
        let Some(turns) = &mut self.turns else {
            if self.queued == self.jobs.len() {
                for request in self.mix.block(self.queued, self.block) {
                    self.jobs.push(&request);
                }
            }
            self.queued += 1;
            return Some(number(self.queued - 1));
        };
        if let Some(id) = self.ready.pop_front() {
            return Some(id);
        }
        if self.starved {
            return None;
        }
        for _ in 0..MOST_BUSY {
            let id = self.jobs.push(&turns.next()?);
            let Some(session) = session(&self.jobs[id]) else { return Some(id) };
            let Some(later) = self.busy.get_mut(&session) else {
                self.busy.insert(session, VecDeque::new());
                return Some(id);
            };
            later.push_back(id);
        }
        self.starved = true;
        None
    }

    /// These have been served: the next turns of their sessions may come.
    pub fn served(&mut self, ids: &[u32]) {
        self.starved &= ids.is_empty();
        for id in ids {
            let session = session(&self.jobs[*id]);
            self.jobs.close(*id);
            let Some(session) = session.filter(|_| self.turns.is_some()) else { continue };
            match self.busy.get_mut(&session).and_then(VecDeque::pop_front) {
                Some(next) => self.ready.push_back(next),
                None => {
                    self.busy.remove(&session);
                }
            }
        }
    }
}

/// The session of a request, by its number.
fn session<S>(job: &Job<S>) -> Option<u32> {
    job.lineage.as_ref().and_then(|lineage| lineage.session).map(std::num::NonZero::get)
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("a few million requests")
}

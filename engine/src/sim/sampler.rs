//! The fleet at evenly spaced moments and when the run ends.

use super::Sample;
use crate::units::Picos;

/// Moments in a horizon to begin with.
const MOMENTS: i64 = 240;
/// More than this many, and every second one is dropped: memory is bounded however long a fleet
/// takes to drain.
const MOST: usize = 960;

/// Collects samples.
#[derive(Debug)]
pub struct Sampler {
    interval: i64,
    next: Picos,
    samples: Vec<Sample>,
}

impl Sampler {
    /// A sampler of `[0, horizon]` and as long after it as the run takes.
    pub fn new(horizon: Picos) -> Self {
        let interval = (horizon.0 / MOMENTS).max(1);
        Self { interval, next: Picos::ZERO, samples: Vec::new() }
    }

    /// The next sampling moment.
    pub fn next(&self) -> Picos {
        self.next
    }

    /// Keeps the sample of that moment.
    pub fn record(&mut self, sample: Sample) {
        self.samples.push(sample);
        if self.samples.len() > MOST {
            let mut even = false;
            self.samples.retain(|_| {
                even = !even;
                even
            });
            self.interval *= 2;
        }
        let taken = i64::try_from(self.samples.len()).expect("bounded by MOST");
        self.next = Picos(self.interval * taken);
    }

    /// The samples.
    pub fn into_samples(self) -> Vec<Sample> {
        self.samples
    }
}

//! The fleet at evenly spaced moments and when the run ends, and time-weighted use of memory and seats.

use super::replica::Replica;
use super::{Sample, Usage};
use crate::units::Picos;

/// Moments in a horizon to begin with.
const MOMENTS: i64 = 240;
/// More than this many, and every second one is dropped: memory is bounded however long a fleet
/// takes to drain.
const MOST: usize = 960;

/// Collects samples.
#[derive(Debug)]
pub struct Sampler {
    horizon: Picos,
    interval: i64,
    samples: Vec<Sample>,
    usage: Usage,
}

impl Sampler {
    /// A sampler of `[0, horizon]` and as long after it as the run takes.
    pub fn new(horizon: Picos) -> Self {
        let interval = (horizon.0 / MOMENTS).max(1);
        Self { horizon, interval, samples: Vec::new(), usage: Usage::default() }
    }

    /// The next sampling moment.
    pub fn next(&self) -> Picos {
        Picos(self.interval * i64::try_from(self.samples.len()).expect("bounded by MOST"))
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
    }

    /// A replica holds what it holds now through the step from `start` to `end`; what lies beyond
    /// the horizon does not count.
    pub fn hold(&mut self, start: Picos, end: Picos, replica: &Replica) {
        let seconds = (end.min(self.horizon) - start.min(self.horizon)).as_secs();
        self.usage.kv_token_s += seconds * replica.kv_used_tokens() as f64;
        self.usage.running_s += seconds * replica.running() as f64;
    }

    /// Use so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The samples.
    pub fn into_samples(self) -> Vec<Sample> {
        self.samples
    }
}

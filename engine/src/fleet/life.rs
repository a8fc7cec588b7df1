//! How the replicas of a pool come and go: starting, failing, draining, and who decides how many
//! there are.

use crate::units::Picos;

/// The life of the replicas of a pool. The default is a fleet that is ready at once and for ever.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Life {
    /// From being ordered to taking requests: a machine is found, weights are loaded, the engine
    /// warms up.
    pub start_up: Picos,
    /// The first replicas are ordered when the run begins, not before.
    pub cold_start: bool,
    /// For so long after it is ready the router gives a replica only a rising share of its seats,
    /// as long as others have room.
    pub slow_start: Picos,
    /// How many there are.
    pub scaling: Scaling,
    /// How they fail.
    pub failures: Failures,
}

/// Who decides how many replicas a pool has.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Scaling {
    /// Nobody: there are as many as there were.
    #[default]
    Fixed,
    /// A timetable: from each moment on so many are wanted; in ascending order.
    Schedule(Vec<(Picos, u32)>),
    /// An autoscaler.
    Auto(Autoscaler),
}

/// An autoscaler: at every interval so many replicas are wanted that each would have its target of
/// the signal, total ÷ target, rounded up, as the Kubernetes Horizontal Pod Autoscaler does with an
/// average value.
#[derive(Debug, Clone, PartialEq)]
pub struct Autoscaler {
    /// What it looks at.
    pub signal: Signal,
    /// What each replica should have of it, above 0.
    pub target: f64,
    /// Between two looks.
    pub interval: Picos,
    /// From a decision to the order: scraping, averaging, scheduling.
    pub delay: Picos,
    /// After a decision for more, none for more until then.
    pub up_cooldown: Picos,
    /// After any decision, none for fewer until then.
    pub down_cooldown: Picos,
    /// Never fewer, at least one.
    pub min: u32,
    /// Never more.
    pub max: u32,
}

/// What an autoscaler looks at, summed over the replicas that take requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Requests queued or running, those that wait for a replica included.
    Outstanding,
    /// Requests in queues, those that wait for a replica included.
    Waiting,
    /// Share of the KV blocks in use, 0 to 1 of each.
    KvUsage,
    /// Share of `max_num_seqs` in use, 0 to 1 of each.
    SeatUsage,
}

/// How replicas fail: all that is on one is lost, and it is replaced at once by one that starts up.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Failures {
    /// Mean time that a replica takes requests before it fails, exponentially distributed; never
    /// by chance where absent.
    pub mean_time_between: Option<Picos>,
    /// Failures at given moments.
    pub crashes: Vec<Crash>,
}

/// One failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crash {
    /// When.
    pub at: Picos,
    /// Number of the replica in its pool, from 0. Nothing happens to one that is not there.
    pub replica: u32,
}

impl Life {
    /// Whether every replica takes requests from the beginning to the end.
    pub fn is_constant(&self) -> bool {
        !self.cold_start
            && self.scaling == Scaling::Fixed
            && self.failures.mean_time_between.is_none()
            && self.failures.crashes.is_empty()
    }

    /// The most replicas that are wanted at any moment of a pool that begins with so many.
    pub fn most_replicas(&self, begins_with: u32) -> u32 {
        match &self.scaling {
            Scaling::Fixed => begins_with,
            Scaling::Auto(autoscaler) => autoscaler.max.max(begins_with),
            Scaling::Schedule(entries) => {
                entries.iter().map(|(_, replicas)| *replicas).fold(begins_with, u32::max)
            }
        }
    }
}

impl Autoscaler {
    /// How many replicas are wanted when all together have `total` of the signal.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
    pub fn wanted(&self, total: f64) -> u32 {
        ((total / self.target).ceil() as u32).clamp(self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_wanted_as_bring_each_to_its_target() {
        let autoscaler = Autoscaler {
            signal: Signal::Outstanding,
            target: 10.0,
            interval: Picos(1),
            delay: Picos::ZERO,
            up_cooldown: Picos::ZERO,
            down_cooldown: Picos::ZERO,
            min: 2,
            max: 5,
        };
        let wanted = [0.0, 20.0, 20.1, 39.9, 1e12, f64::NAN].map(|total| autoscaler.wanted(total));
        assert_eq!(wanted, [2, 2, 3, 4, 5, 2]);
    }

    #[test]
    fn a_life_has_its_most_replicas_and_is_constant_unless_something_happens() {
        let schedule = |entries| Life { scaling: Scaling::Schedule(entries), ..Life::default() };
        let later = schedule(vec![(Picos(5), 9), (Picos(7), 1)]);
        assert_eq!((later.most_replicas(3), later.is_constant()), (9, false));
        // How long a start takes matters only where something starts.
        let slow = Life { start_up: Picos(9), slow_start: Picos(9), ..Life::default() };
        assert_eq!((slow.most_replicas(3), slow.is_constant()), (3, true));
    }
}

//! What the classes ask for, in the mean and over time.

use super::cached;
use super::lengths::{ClassLengths, class_lengths};
use super::mean_field::LengthMoments;
use super::sessions::SessionTurns;
use crate::accounts::report::MixRate;
use crate::scenario::{Pool, Scenario};
use crate::units::Picos;
use crate::workload::{Arrivals, TrafficClass};

/// Requests of a class and what they are like.
#[derive(Debug, Clone)]
pub struct ClassDemand<'a> {
    /// The class.
    pub class: &'a TrafficClass,
    /// Its lengths.
    pub lengths: ClassLengths,
    /// Rate of a closed loop, once it is known, requests per second.
    pub closed_loop_rps: Option<f64>,
    /// Requests that an arrival makes in the mean: turns of its session before the horizon.
    pub turns: f64,
}

/// Demand of all classes in one interval of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalDemand {
    /// Offered rates.
    pub offered: MixRate,
    /// Lengths of the requests that fit, weighted by rate.
    pub served: LengthMoments,
    /// Rate of the requests that fit, requests per second.
    pub served_rps: f64,
}

/// Demand of every class of `scenario`.
pub fn classes(scenario: &Scenario) -> Vec<ClassDemand<'_>> {
    let longest = longest(&scenario.pool);
    let of_class = |class| {
        let turns = SessionTurns::of(class, scenario);
        let lengths = match &turns {
            Some(turns) => turns.lengths(class, longest),
            None => class_lengths(class, recorded(class, scenario.horizon), longest),
        };
        let turns = turns.map_or(1.0, |turns| turns.per_session());
        ClassDemand { class, lengths, closed_loop_rps: None, turns }
    };
    let mut classes: Vec<ClassDemand> = scenario.classes.iter().map(of_class).collect();
    cached::find(scenario, &mut classes);
    classes
}

/// Prompt plus output that a replica takes at most: `max_model_len`, or what its KV blocks hold
/// and the last token, which is never read back.
fn longest(pool: &Pool) -> u32 {
    let blocks = pool.usable_blocks().saturating_sub(u64::from(pool.window_blocks_per_seq()));
    let held = blocks.saturating_mul(u64::from(pool.scheduler.block_size)).saturating_add(1);
    u32::try_from(held).unwrap_or(u32::MAX).min(pool.scheduler.max_model_len)
}

/// Requests of a trace that are due before the horizon; of a loop, all.
pub(super) fn recorded(class: &TrafficClass, horizon: Picos) -> usize {
    match &class.arrivals {
        Arrivals::Trace(replay) if !replay.is_looped() => replay.recorded_before(horizon),
        _ => usize::MAX,
    }
}

/// Demand of `classes` in `[from, to)`, per second.
pub fn between(classes: &[ClassDemand], from: Picos, to: Picos) -> IntervalDemand {
    let seconds = (to - from).as_secs();
    let (mut offered, mut sum, mut served_rps) =
        (MixRate::default(), LengthMoments::default(), 0.0);
    for ClassDemand { class, lengths, closed_loop_rps, turns } in classes {
        let rate = closed_loop_rps.unwrap_or(turns * class.expected(from, to) / seconds);
        offered.rps += rate;
        offered.prefill_tps += rate * lengths.offered.input;
        offered.decode_tps += rate * lengths.offered.output;
        served_rps += rate * lengths.served_share;
        sum = sum.plus(rate * lengths.served_share, &lengths.served);
    }
    let served = if served_rps > 0.0 {
        LengthMoments::default().plus(1.0 / served_rps, &sum)
    } else {
        LengthMoments::default()
    };
    IntervalDemand { offered, served, served_rps }
}

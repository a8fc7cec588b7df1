//! What the present fleet delivers of its mix at its contract.

use super::{ALPHA_STEPS, LARGEST_ALPHA_STEPS, Needed, PoolPlanner, decided, words};
use crate::accounts::report::MixRate;
use crate::planner::variant::Variant;

/// What a fleet delivers of a mix at its contract.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delivered {
    /// The largest multiple of the mix at which the contract holds, times [`ALPHA_STEPS`].
    pub alpha_steps: u32,
    /// That multiple of the demand at its peak, as rates that can last; `None` where no multiple
    /// holds, and beside closed loops.
    pub rate: Option<MixRate>,
}

impl Delivered {
    /// That multiple; `None` where none holds.
    pub fn alpha(&self) -> Option<f64> {
        (self.alpha_steps > 0).then(|| f64::from(self.alpha_steps) / f64::from(ALPHA_STEPS))
    }

    /// Whether it is the largest that is tried, so that there may be more.
    pub fn is_least(&self) -> bool {
        self.alpha_steps >= LARGEST_ALPHA_STEPS
    }
}

impl PoolPlanner {
    /// What the present fleet delivers at its contract, `None` where that is undecided.
    pub(super) fn delivered(&self) -> Result<Option<Delivered>, Needed> {
        let present = Variant::size(self.scenario.pool.replicas, 0);
        // Demand and supply are those of a simulation of it.
        self.runs.summary(present)?;
        let guess = self.guess_alpha_steps();
        let Some(base) = decided(self.search().largest_alpha(present, (0, guess)))? else {
            return Ok(None);
        };
        let alpha = f64::from(base) / f64::from(ALPHA_STEPS);
        // So many times the users do not ask so many times as often.
        let in_proportion = base > 0 && !self.scenario.has_closed_loop();
        let supply = self.runs.supply(present.replicas).filter(|_| in_proportion);
        let replicas = f64::from(present.replicas);
        let rate =
            supply.map(|(peak, of_one)| at_most(&peak.times(alpha), &of_one.times(replicas)));
        Ok(Some(Delivered { alpha_steps: base, rate }))
    }

    /// The same after as many simulations as that takes.
    ///
    /// # Errors
    /// What no count can mend delivers nothing: that, in a sentence.
    pub fn find_delivered(mut self) -> Result<Option<Delivered>, String> {
        if let Some(beyond_count) = &self.beyond_count {
            return Err(words::first_sentence(&self.scenario, beyond_count, None));
        }
        loop {
            match self.delivered() {
                Ok(found) => return Ok(found),
                Err(needed) => self.runs.run(&self.scenario, needed),
            }
        }
    }
}

/// As much of `wanted` as `sustainable` allows of every kind.
fn at_most(wanted: &MixRate, sustainable: &MixRate) -> MixRate {
    let room = |get: fn(&MixRate) -> f64| {
        let wanted = get(wanted);
        if wanted > 0.0 { get(sustainable) / wanted } else { f64::INFINITY }
    };
    let room = room(|r| r.rps).min(room(|r| r.prefill_tps)).min(room(|r| r.decode_tps));
    if room >= 1.0 {
        return *wanted;
    }
    // No more by a rounding either.
    MixRate {
        rps: (room * wanted.rps).min(sustainable.rps),
        prefill_tps: (room * wanted.prefill_tps).min(sustainable.prefill_tps),
        decode_tps: (room * wanted.decode_tps).min(sustainable.decode_tps),
    }
}

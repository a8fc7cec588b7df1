//! The searches: smallest fleet, largest multiple of the mix. Each asks for runs by `?` and is
//! started again from the beginning when one has been done; what is known is looked up.

use super::runs::{Runs, Stop};
use super::variant::{ALPHA_STEPS, Constraint, Variant};

/// The largest multiple of a mix that is tried.
pub const LARGEST_ALPHA_STEPS: u32 = 4 * ALPHA_STEPS;
/// Fleets beyond the first that holds in one seed which are tried when other seeds refuse it.
const MOST_CORRECTIONS: u32 = 32;

/// Looks things up among runs.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// Runs done so far.
    pub runs: &'a Runs,
    /// Seeds that confirm an answer.
    pub seeds: u64,
    /// The largest fleet that is tried.
    pub most_replicas: u32,
}

impl Search<'_> {
    /// The smallest N such that N and N + 1 hold in every seed; `Err(Ok(tried))` when no fleet up
    /// to `tried` does.
    pub fn smallest_fleet(&self, guess: u32) -> Result<Result<u32, u32>, Stop> {
        let holds = |replicas| self.runs.holds(Variant::size(replicas, 0));
        let first = smallest((1, self.most_replicas), guess, holds)?;
        let Some(first) = first else { return Ok(Err(self.most_replicas)) };
        let last = first.saturating_add(MOST_CORRECTIONS).min(self.most_replicas);
        for replicas in first..=last {
            if self.holds_always(replicas)? && self.holds_always(replicas.saturating_add(1))? {
                return Ok(Ok(replicas));
            }
        }
        Ok(Err(last))
    }

    /// The largest multiple, in steps, at which `replicas` hold; `known` if none above that does.
    pub fn largest_alpha(
        &self,
        replicas: u32,
        relaxed: Option<Constraint>,
        (known, guess): (u32, u32),
    ) -> Result<u32, Stop> {
        let fails = |alpha_steps| {
            let variant = Variant { replicas, alpha_steps, relaxed, seed_offset: 0 };
            self.runs.holds(variant).map(|holds| !holds)
        };
        let first_failing = smallest((known + 1, LARGEST_ALPHA_STEPS), guess, fails)?;
        Ok(first_failing.map_or(LARGEST_ALPHA_STEPS, |steps| steps - 1))
    }

    fn holds_always(&self, replicas: u32) -> Result<bool, Stop> {
        for seed_offset in 0..self.seeds {
            if !self.runs.holds(Variant::size(replicas, seed_offset))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The smallest number from `least` to `most` for which `holds`, if it holds for every larger one:
/// steps that double away from `guess`, then bisection.
fn smallest(
    (least, most): (u32, u32),
    guess: u32,
    mut holds: impl FnMut(u32) -> Result<bool, Stop>,
) -> Result<Option<u32>, Stop> {
    let (mut fails, mut works) = (None, None);
    let mut at = guess.min(most).max(least);
    let mut step = 1;
    while at <= most {
        if holds(at)? {
            works = Some(at);
            if fails.is_some() || at == least {
                break;
            }
            at = at.saturating_sub(step).max(least);
        } else {
            fails = Some(at);
            if works.is_some() || at == most {
                break;
            }
            at = at.saturating_add(step).min(most);
        }
        step *= 2;
    }
    let Some(mut works) = works else { return Ok(None) };
    let mut fails = fails.unwrap_or(least - 1);
    while works - fails > 1 {
        let middle = fails + (works - fails) / 2;
        if holds(middle)? { works = middle } else { fails = middle }
    }
    Ok(Some(works))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_holds_is_found_from_any_guess_in_few_tries() {
        for first in [1, 2, 7, 64, 199, 200] {
            for guess in [1, 5, 64, 200] {
                let mut tries = 0;
                let found = smallest((1, 200), guess, |n| {
                    tries += 1;
                    Ok(n >= first)
                });
                assert_eq!(found, Ok(Some(first)), "{first} from {guess}");
                assert!(tries <= 18, "{tries}");
            }
        }
        assert_eq!(smallest((1, 200), 3, |_| Ok(false)), Ok(None));
        assert_eq!(smallest((7, 200), 1, |_| Ok(true)), Ok(Some(7)));
        assert_eq!(smallest((201, 200), 1, |_| Ok(true)), Ok(None), "nothing is left to try");
    }

    #[test]
    fn a_good_guess_takes_two_tries() {
        let mut tries = 0;
        let found = smallest((1, 10_000), 41, |n| {
            tries += 1;
            Ok(n >= 41)
        });
        assert_eq!((found, tries), (Ok(Some(41)), 2));
    }
}

//! The searches: smallest fleet, largest multiple of the mix. Each asks for runs by `?` and is
//! started again from the beginning when one has been done; what is known is looked up.
//!
//! A size is chosen by few windows and confirmed by others. What is chosen because it did well in
//! some windows did better there than it does (and its smaller neighbour worse): how often it holds
//! is read off windows that had no part in the choice.

use super::odds::{Odds, Standing, looks, most_windows};
use super::runs::{Needed, Runs, Stop};
use super::variant::{ALPHA_STEPS, Variant};

/// The largest multiple of a mix that is tried.
pub const LARGEST_ALPHA_STEPS: u32 = 4 * ALPHA_STEPS;
/// Windows by which a size is chosen before others confirm it, at most.
const CHOOSING_WINDOWS: u32 = 20;
/// Windows in which the next larger fleet is seen not to do worse, at most.
const NEXT_WINDOWS: u32 = 20;
/// Times an answer is corrected and confirmed anew, at most.
const MOST_ROUNDS: u32 = 8;
/// Windows whose runs go to their end, for the numbers of a fleet's row.
pub const MEASURED_WINDOWS: u32 = 5;
/// Among so many fleets the windows that computing allows are shared.
const FLEETS_LOOKED_AT: u64 = 5;
/// Fewer windows are no reason to say how often a fleet holds, unless computing ends.
const FEWEST_WINDOWS: u32 = 5;

/// Windows, each a seed of its own, that no other block has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// The first window bisects.
    First,
    /// They choose a size.
    Choosing,
    /// They confirm it, and had no part in its choice.
    Confirming(u32),
}

/// Offsets of the seeds of a block: far more than it may have windows.
const SEEDS_OF_A_BLOCK: u64 = 1_000;

impl Block {
    /// What is added to the scenario's seed in its windows.
    pub fn seed_offset(self, window: u32) -> u64 {
        u64::from(window)
            + match self {
                Self::First => 0,
                Self::Choosing => 1,
                Self::Confirming(round) => SEEDS_OF_A_BLOCK * (1 + u64::from(round)),
            }
    }

    /// The one that has a seed.
    pub fn of_offset(seed_offset: u64) -> Self {
        match (seed_offset, seed_offset / SEEDS_OF_A_BLOCK) {
            (0, _) => Self::First,
            (_, 0) => Self::Choosing,
            (_, block) => Self::Confirming(u32::try_from(block - 1).unwrap_or(u32::MAX)),
        }
    }
}

/// What a search for a size ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sized {
    /// Replicas.
    pub replicas: u32,
    /// The windows that say how often it and its neighbours hold.
    pub block: Block,
    /// Those had no part in its choice.
    pub is_confirmed: bool,
}

/// Looks things up among runs.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// Runs done so far.
    pub runs: &'a Runs,
    /// The share of windows in which a fleet has to hold.
    pub confidence: f64,
    /// Whether another seed gives another window.
    pub is_drawn: bool,
    /// The largest fleet that is tried.
    pub most_replicas: u32,
    /// When so much work is done, no fleet is looked at in more windows than it takes at least.
    pub share_of_work: u64,
    /// Windows in which whoever asks wants a fleet simulated at most.
    pub windows_asked_for: u32,
}

impl Search<'_> {
    /// The smallest N that holds in the share of windows asked for, by the windows that choose;
    /// `Err(tried)` when no fleet up to `tried` does.
    pub fn chosen(&self, guess: u32) -> Result<Result<Sized, u32>, Stop> {
        let one_window = |replicas| {
            let variant = Variant::size(replicas, 0);
            self.runs.holds(Needed { variant, to_the_end: false })
        };
        let sizes = (1, self.most_replicas);
        let first = smallest(sizes, guess, one_window)?.unwrap_or(self.most_replicas);
        let block = Block::Choosing;
        let most = self.most_windows(block);
        let holds = |n| Ok(self.standing(Variant::size(n, 0), block, most)?.holds);
        let found = smallest(sizes, first, holds)?;
        let sized = |replicas| Sized { replicas, block, is_confirmed: false };
        Ok(found.map(sized).ok_or(self.most_replicas))
    }

    /// The smallest N such that N and N + 1 hold in the share of windows asked for and N − 1 does
    /// not, from the one that was chosen on; each candidate is judged by windows that had no part
    /// in its choice. `Err(tried)` when there is none up to `tried`.
    pub fn confirmed(&self, chosen: Sized) -> Result<Result<Sized, u32>, Stop> {
        let mut replicas = chosen.replicas;
        let mut fails = 0;
        for round in 0..MOST_ROUNDS {
            let block = Block::Confirming(round);
            let most = self.most_windows(block);
            let holds = |n: u32, most| Ok(self.standing(Variant::size(n, 0), block, most)?.holds);
            let next = replicas.saturating_add(1);
            if !holds(replicas, most)? || !holds(next, NEXT_WINDOWS)? {
                if replicas >= self.most_replicas {
                    return Ok(Err(self.most_replicas));
                }
                fails = replicas;
                replicas += 1;
            } else if replicas > fails + 1 && holds(replicas - 1, most)? {
                replicas -= 1;
            } else {
                return Ok(Ok(Sized { replicas, block, is_confirmed: true }));
            }
        }
        let block = Block::Confirming(MOST_ROUNDS - 1);
        Ok(Ok(Sized { replicas, block, is_confirmed: false }))
    }

    /// How often a fleet holds in the windows of a block: as many of them, up to `most`, as it
    /// takes to settle that, and as computing allows. `fleet` is that in the first seed.
    pub fn standing(&self, fleet: Variant, block: Block, most: u32) -> Result<Standing, Stop> {
        let mut odds = Odds::default();
        if !self.is_drawn {
            odds.add(self.runs.holds(window_of(fleet, Block::First, 0))?);
            return Ok(odds.for_certain());
        }
        let most = most.min(self.most_windows(block));
        for look in looks(self.confidence, most) {
            while odds.runs < look {
                let needed = window_of(fleet, block, odds.runs);
                match self.runs.holds(needed) {
                    Ok(holds) => odds.add(holds),
                    Err(Stop::Undecided) if odds.runs >= FEWEST_WINDOWS => {
                        return Ok(odds.against(self.confidence));
                    }
                    Err(Stop::Needed(_))
                        if odds.runs >= FEWEST_WINDOWS && self.is_share_spent() =>
                    {
                        return Ok(odds.against(self.confidence));
                    }
                    Err(stop) => return Err(stop),
                }
            }
            let standing = odds.against(self.confidence);
            if standing.is_settled {
                return Ok(standing);
            }
        }
        Ok(odds.against(self.confidence))
    }

    /// How often a fleet holds in the up to `most` windows that settle it, and in as many more as
    /// make it `fewest` where computing allows.
    pub fn odds(
        &self,
        fleet: Variant,
        block: Block,
        (fewest, most): (u32, u32),
    ) -> Result<Standing, Stop> {
        let settled = self.standing(fleet, block, most)?;
        if !self.is_drawn {
            return Ok(settled);
        }
        let mut odds = settled.odds;
        while odds.runs < fewest.min(self.most_windows(block)) {
            match self.runs.holds(window_of(fleet, block, odds.runs)) {
                Ok(holds) => odds.add(holds),
                Err(Stop::Needed(needed)) if !self.is_share_spent() => {
                    return Err(Stop::Needed(needed));
                }
                Err(_) => break,
            }
        }
        Ok(Standing { odds, ..settled })
    }

    /// The windows whose runs go to their end.
    pub fn measured(&self, block: Block) -> impl Iterator<Item = u64> {
        let (block, windows) =
            if self.is_drawn { (block, MEASURED_WINDOWS) } else { (Block::First, 1) };
        (0..windows).map(move |window| block.seed_offset(window))
    }

    /// As many windows of one fleet as a block has and computing allows.
    pub fn most_windows(&self, block: Block) -> u32 {
        let affordable = self.runs.share_in_runs() / FLEETS_LOOKED_AT;
        let affordable = u32::try_from(affordable).unwrap_or(u32::MAX);
        let most = match block {
            Block::First => 1,
            Block::Choosing => CHOOSING_WINDOWS,
            Block::Confirming(_) => most_windows(self.confidence),
        };
        affordable.max(FEWEST_WINDOWS).min(most).min(self.windows_asked_for)
    }

    /// The largest multiple, in steps, at which a fleet holds in the first seed; `known` if none
    /// above that does.
    pub fn largest_alpha(&self, fleet: Variant, (known, guess): (u32, u32)) -> Result<u32, Stop> {
        let fails = |alpha_steps| {
            let variant = Variant { alpha_steps, ..fleet };
            self.runs.holds(Needed { variant, to_the_end: false }).map(|holds| !holds)
        };
        let first_failing = smallest((known + 1, LARGEST_ALPHA_STEPS), guess, fails)?;
        Ok(first_failing.map_or(LARGEST_ALPHA_STEPS, |steps| steps - 1))
    }

    /// The largest multiple, in steps, at which a fleet holds in the share of windows asked for, and
    /// how often it does there; none where none does.
    pub fn largest_alpha_in_windows(
        &self,
        fleet: Variant,
        guess: u32,
    ) -> Result<(u32, Option<Standing>), Stop> {
        let block = Block::Choosing;
        let standing = |alpha_steps| {
            let variant = Variant { alpha_steps, ..fleet };
            self.standing(variant, block, self.most_windows(block))
        };
        let fails = |alpha_steps| standing(alpha_steps).map(|standing| !standing.holds);
        let first = smallest((1, LARGEST_ALPHA_STEPS), guess.saturating_add(1), fails)?;
        let steps = first.map_or(LARGEST_ALPHA_STEPS, |steps| steps - 1);
        let at = if steps > 0 { Some(standing(steps)?) } else { None };
        Ok((steps, at))
    }

    fn is_share_spent(&self) -> bool {
        self.runs.spent().0 >= self.share_of_work
    }
}

/// The run of a fleet through a window; those whose numbers stand in its row go to their end.
fn window_of(fleet: Variant, block: Block, window: u32) -> Needed {
    let variant = Variant { seed_offset: block.seed_offset(window), ..fleet };
    let to_the_end = matches!(block, Block::Confirming(_))
        && window < MEASURED_WINDOWS
        && variant == Variant::size(variant.replicas, variant.seed_offset);
    Needed { variant, to_the_end }
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

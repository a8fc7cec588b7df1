//! Outcomes broken out by what a request is, alone or two crossed (a heat map). Every break-out
//! holds every request: one that does not say counts under what is missing, so that all sum alike.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Case;
use crate::slo::Outcome;
use crate::units::Picos;

/// By what outcomes are broken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Traffic class.
    Class,
    /// Tenant of the class.
    Tenant,
    /// Model that serves it.
    Model,
    /// Prompt length, in powers of two.
    Prompt,
    /// Output length, in powers of two.
    Output,
    /// How much of its prompt was found in the prefix cache: nothing, up to half of it, or most.
    CacheHit,
    /// Pool that its class's route leads it to.
    Pool,
    /// Replica that took it.
    Replica,
    /// When it was due.
    Window,
}

impl Dimension {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Class,
        Self::Tenant,
        Self::Model,
        Self::Prompt,
        Self::Output,
        Self::CacheHit,
        Self::Pool,
        Self::Replica,
        Self::Window,
    ];

    /// Its name in reports and on the command line, as serde writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Tenant => "tenant",
            Self::Model => "model",
            Self::Prompt => "prompt",
            Self::Output => "output",
            Self::CacheHit => "cache_hit",
            Self::Pool => "pool",
            Self::Replica => "replica",
            Self::Window => "window",
        }
    }
}

/// The words for buckets, and what is known about the run as a whole.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Labels {
    /// Classes, in the order of their index.
    pub classes: Vec<ClassLabel>,
    /// Pools of the fleet, in the order of their index; none if nobody says.
    pub pools: Vec<PoolLabel>,
    /// Replicas of the fleet; zero if nobody says.
    pub replicas: u32,
    /// Requests are due in `[0, horizon)`.
    pub horizon: Picos,
    /// Windows of the horizon.
    pub windows: u32,
    /// What stands for a value that nobody wrote down.
    pub missing: &'static str,
}

/// What a pool says about the requests it serves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PoolLabel {
    /// Its name.
    pub name: String,
    /// What serves there.
    pub model: String,
}

/// What a class says about its requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClassLabel {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub tenant: Option<String>,
    /// What serves it.
    pub model: Option<String>,
}

/// Outcomes by one dimension, or by two crossed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BreakOut {
    /// By what.
    pub by: Vec<Dimension>,
    /// Whether anybody says which it is: otherwise all requests are in the cell of what is missing.
    pub available: bool,
    /// Cells with at least one request, in the order of their keys.
    pub cells: Vec<Cell>,
}

/// The requests of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// One bucket of each dimension.
    pub key: Vec<Bucket>,
    /// Requests.
    pub offered: u64,
    /// Good ones.
    pub good: u64,
    /// good ÷ offered.
    pub attainment: f64,
    /// Outcomes that occurred; they sum to `offered`.
    pub outcomes: BTreeMap<Outcome, u64>,
}

/// A bucket of a dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// As it is read.
    pub label: String,
    /// Its smallest value, for those that are ranges: tokens, seconds or replicas.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<f64>,
    /// Its largest value; of a window, its end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<f64>,
}

/// Nothing of the prompt, up to half of it, or most: of a prompt of unknown length something is
/// up to half.
fn cache_hit(cached: u32, case: &Case) -> u32 {
    let most = case.input_tokens.is_some_and(|input| u64::from(cached) * 2 > u64::from(input));
    if most { 2 } else { u32::from(cached > 0) }
}

/// Ranks after every bucket that exists.
const MISSING: u32 = u32::MAX;

/// The most buckets that replicas are grouped into.
const MOST_REPLICA_GROUPS: u32 = 64;

/// Breaks `cases` out by one dimension or more.
pub fn break_out(cases: &[Case], by: &[Dimension], labels: &Labels) -> BreakOut {
    let mut cells: BTreeMap<Vec<u32>, [u64; Outcome::ALL.len()]> = BTreeMap::new();
    let mut key = Vec::with_capacity(by.len());
    for case in cases {
        key.clear();
        key.extend(by.iter().map(|dimension| labels.rank(*dimension, case)));
        if let Some(counts) = cells.get_mut(key.as_slice()) {
            counts[case.outcome as usize] += 1;
        } else {
            let mut counts = [0; Outcome::ALL.len()];
            counts[case.outcome as usize] = 1;
            cells.insert(key.clone(), counts);
        }
    }
    let known = |at: usize| cells.keys().any(|key| key[at] != MISSING);
    BreakOut {
        by: by.to_vec(),
        available: cells.is_empty() || (0..by.len()).all(known),
        cells: cells
            .iter()
            .map(|(key, counts)| {
                let buckets = by.iter().zip(key).map(|(dim, rank)| labels.bucket(*dim, *rank));
                cell(buckets.collect(), counts)
            })
            .collect(),
    }
}

fn cell(key: Vec<Bucket>, counts: &[u64; Outcome::ALL.len()]) -> Cell {
    let outcomes: BTreeMap<Outcome, u64> = Outcome::ALL
        .into_iter()
        .zip(counts)
        .filter(|(_, count)| **count > 0)
        .map(|(outcome, count)| (outcome, *count))
        .collect();
    let offered: u64 = counts.iter().sum();
    let good = outcomes.get(&Outcome::Good).copied().unwrap_or(0);
    Cell { key, offered, good, attainment: good as f64 / offered.max(1) as f64, outcomes }
}

impl Labels {
    /// The rank of a case in a dimension: equal ranks share a bucket.
    fn rank(&self, dimension: Dimension, case: &Case) -> u32 {
        let class = || self.classes.get(case.class? as usize);
        let rank = match dimension {
            Dimension::Class => class().and_then(|class| {
                self.first(|other| !class.name.is_empty() && other.name == class.name)
            }),
            Dimension::Tenant => class().and_then(|class| {
                self.first(|other| class.tenant.is_some() && other.tenant == class.tenant)
            }),
            Dimension::Model if self.pools.is_empty() => class().and_then(|class| {
                self.first(|other| class.model.is_some() && other.model == class.model)
            }),
            Dimension::Model => case.pool.and_then(|pool| self.first_pool_like(pool)),
            Dimension::Pool => case.pool,
            Dimension::Prompt => case.input_tokens.map(octave),
            Dimension::Output => case.output_tokens.map(octave),
            Dimension::CacheHit => case.cached_tokens.map(|tokens| cache_hit(tokens, case)),
            Dimension::Replica => case.replica.map(|replica| replica / self.replicas_per_group()),
            Dimension::Window => case.due.map(|due| self.window(due)),
        };
        rank.unwrap_or(MISSING)
    }

    fn bucket(&self, dimension: Dimension, rank: u32) -> Bucket {
        if rank == MISSING {
            return Bucket { label: self.missing.to_owned(), from: None, to: None };
        }
        let class = self.classes.get(rank as usize);
        let named =
            |name: Option<String>| Bucket { label: name.unwrap_or_default(), from: None, to: None };
        match dimension {
            Dimension::Class => named(class.map(|class| class.name.clone())),
            Dimension::Tenant => named(class.and_then(|class| class.tenant.clone())),
            Dimension::Model => named(match self.pools.get(rank as usize) {
                Some(pool) => Some(pool.model.clone()),
                None => class.and_then(|class| class.model.clone()),
            }),
            Dimension::Pool => named(self.pools.get(rank as usize).map(|pool| pool.name.clone())),
            Dimension::Prompt | Dimension::Output => {
                let (from, to) = octave_range(rank);
                range(from, to, &format!("{from}–{to}"))
            }
            Dimension::CacheHit => {
                let label = ["no hit", "up to half", "most"][rank.min(2) as usize];
                named(Some(label.to_owned()))
            }
            Dimension::Replica => {
                let per_group = self.replicas_per_group();
                let from = rank * per_group;
                let last = self.replicas.max(1) - 1;
                let to = (from + per_group - 1).min(last.max(from));
                range(from.into(), to.into(), &format!("{from}–{to}"))
            }
            Dimension::Window => {
                let width = self.horizon.as_secs() / f64::from(self.windows.max(1));
                let (from, to) = (f64::from(rank) * width, f64::from(rank + 1) * width);
                Bucket { label: format!("{from:.0}–{to:.0} s"), from: Some(from), to: Some(to) }
            }
        }
    }

    /// Index of the first class that is `like` this one.
    fn first(&self, like: impl Fn(&ClassLabel) -> bool) -> Option<u32> {
        self.classes.iter().position(like).and_then(|index| u32::try_from(index).ok())
    }

    /// Index of the first pool that serves the model of this one.
    fn first_pool_like(&self, pool: u32) -> Option<u32> {
        let model = &self.pools.get(pool as usize)?.model;
        let first = self.pools.iter().position(|other| other.model == *model)?;
        u32::try_from(first).ok()
    }

    fn replicas_per_group(&self) -> u32 {
        self.replicas.div_ceil(MOST_REPLICA_GROUPS).max(1)
    }

    fn window(&self, due: Picos) -> u32 {
        let windows = self.windows.max(1);
        let at = i128::from(due.0.max(0)) * i128::from(windows) / i128::from(self.horizon.0.max(1));
        u32::try_from(at).unwrap_or(windows).min(windows - 1)
    }
}

/// 0 has a bucket of its own, then 1, 2, 3–4, 5–8, and so on: bucket k ends at 2^(k−1).
fn octave(tokens: u32) -> u32 {
    match tokens {
        0 => 0,
        tokens => 33 - (tokens - 1).leading_zeros(),
    }
}

fn octave_range(rank: u32) -> (u64, u64) {
    match rank {
        0 => (0, 0),
        1 => (1, 1),
        rank => ((1 << (rank - 2)) + 1, 1 << (rank - 1)),
    }
}

/// A range of whole numbers; of one number, that number.
fn range(from: u64, to: u64, label: &str) -> Bucket {
    Bucket {
        label: if from == to { from.to_string() } else { label.to_owned() },
        from: Some(from as f64),
        to: Some(to as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_in_the_range_of_its_octave() {
        for (tokens, label) in [
            (0, (0, 0)),
            (1, (1, 1)),
            (2, (2, 2)),
            (3, (3, 4)),
            (4, (3, 4)),
            (5, (5, 8)),
            (128, (65, 128)),
            (129, (129, 256)),
            (u32::MAX, ((1 << 31) + 1, 1 << 32)),
        ] {
            assert_eq!(octave_range(octave(tokens)), label, "{tokens}");
        }
    }

    #[test]
    fn names_are_what_serde_writes() {
        for dimension in Dimension::ALL {
            let json = serde_json::to_string(&dimension).expect("a unit variant");
            assert_eq!(json, format!("\"{}\"", dimension.name()));
        }
    }
}

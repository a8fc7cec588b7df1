//! A fleet of several pools, part by part: what is routed to each pool is a workload of its own, and
//! what is said of a fleet of one pool is said of each. Then how the parts add up.

use std::borrow::Cow;

use super::over_time::over_time;
use super::provision::Provisioned;
use super::report::{MixRate, Supply};
use super::supply::{Saturations, required, required_peak, supply};
use super::{closed_loop, peak_windows};
use crate::scenario::Scenario;
use crate::sim::{FleetSpec, SimRun, WorkRate};
use crate::slo::RequestStamps;
use crate::workload::{OfferedRequest, demand};

/// What is asked of one pool.
#[derive(Debug)]
pub struct Part<'a> {
    /// That pool and the part of every class that is routed to it, classes at their own indices.
    pub scenario: Cow<'a, Scenario>,
    /// What a saturated replica does of it; `None` where nothing is asked, or nothing that fits.
    pub saturations: Option<Saturations>,
}

impl<'a> Part<'a> {
    /// The parts of a scenario with what their replicas do of `mix`, unless that is known.
    pub fn all(
        scenario: &'a Scenario,
        fleet: &FleetSpec,
        mix: &[OfferedRequest],
        known: Option<Vec<Option<Saturations>>>,
    ) -> Vec<Self> {
        let parts = scenario.parts().into_iter();
        if let Some(known) = known {
            return parts
                .zip(known)
                .map(|(scenario, saturations)| Self { scenario, saturations })
                .collect();
        }
        let parts = (0..).zip(parts).zip(&fleet.pools);
        parts
            .map(|((pool, scenario), spec)| {
                let of_pool;
                let asked = if fleet.pools.len() == 1 {
                    mix
                } else {
                    of_pool = routed(mix, pool);
                    &of_pool
                };
                let Scenario { classes, warmup, horizon, .. } = scenario.as_ref();
                let replicas = (&spec.replica, scenario.pool.most_replicas());
                let saturations = Saturations::of(classes, asked, (*warmup, *horizon), replicas);
                Self { scenario, saturations }
            })
            .collect()
    }

    /// How fast it works its tokens off. Where no saturated replica shows it, no token is any work.
    pub fn work_rate(&self) -> WorkRate {
        let replicas = self.scenario.pool.most_replicas();
        self.saturations.map_or(WorkRate::NONE, |s| WorkRate::new(&s.mean, replicas))
    }
}

/// The requests of `all` that are routed to `pool`.
pub fn routed(all: &[OfferedRequest], pool: u32) -> Vec<OfferedRequest> {
    all.iter().filter(|request| request.pool == pool).copied().collect()
}

/// What one pool was asked in a run, and what it did.
#[derive(Debug)]
pub struct Served<'a> {
    /// The pool and what is asked of it.
    pub part: &'a Part<'a>,
    /// Requests that were routed to it.
    pub requests: Cow<'a, [OfferedRequest]>,
    /// What happened to them.
    pub stamps: Cow<'a, [RequestStamps]>,
    /// `None` where nothing was asked, or nothing that fits.
    pub supply: Option<PartSupply>,
}

impl<'a> Served<'a> {
    /// All parts of a run in which `requests` were asked.
    pub fn all(
        parts: &'a [Part<'a>],
        fleet: &FleetSpec,
        requests: &'a [OfferedRequest],
        run: &'a SimRun,
    ) -> Vec<Self> {
        let split = |pool: u32| {
            if parts.len() == 1 {
                return (Cow::Borrowed(requests), Cow::Borrowed(run.stamps.as_slice()));
            }
            let rows = requests.iter().zip(&run.stamps).filter(|(r, _)| r.pool == pool);
            let (requests, stamps): (Vec<_>, Vec<_>) = rows.map(|(r, s)| (*r, *s)).unzip();
            (requests.into(), stamps.into())
        };
        let parts = (0..).zip(parts).zip(fleet.pools.iter().zip(&run.pools));
        parts
            .map(|((pool, part), (spec, did))| {
                let (requests, stamps) = split(pool);
                // What closed loops and sessions ask is known only now.
                let Scenario { classes, warmup, horizon, .. } = part.scenario.as_ref();
                let replicas = (&spec.replica, part.scenario.pool.most_replicas());
                let again = || Saturations::of(classes, &requests, (*warmup, *horizon), replicas);
                let measured = run.requests.as_ref().and_then(|_| again());
                let saturations = measured.or(part.saturations);
                let there = Provisioned::new(spec, did);
                let of = |s| PartSupply::of(&part.scenario, &s, (&requests, &stamps), &there);
                let supply = saturations.map(of);
                Self { part, requests, stamps, supply }
            })
            .collect()
    }

    /// The part with the least to spare: first by what lasts, then by the peak.
    pub fn worst(all: &[Self]) -> Option<(&Self, &PartSupply)> {
        let known = all.iter().filter_map(|served| Some((served, served.supply.as_ref()?)));
        known.reduce(|worst, next| {
            let ((mean, peak), (most_mean, most_peak)) = (next.1.load(), worst.1.load());
            // Below 1 nothing lasts, and the peak decides.
            let (mean, most_mean) = (mean.max(1.0), most_mean.max(1.0));
            let is_worse = mean > most_mean || (mean >= most_mean && peak > most_peak);
            if is_worse { next } else { worst }
        })
    }
}

/// Supply of one pool and the demand on it that does not yield to waiting.
#[derive(Debug, Clone, PartialEq)]
pub struct PartSupply {
    /// Demand and supply.
    pub supply: Supply,
    /// Demand that does not yield to waiting, mean and peak.
    pub unyielding: (MixRate, MixRate),
}

impl PartSupply {
    /// The supply of a part of which so much is sustained, from the requests that went there.
    fn of(
        scenario: &Scenario,
        saturations: &Saturations,
        (requests, stamps): (&[OfferedRequest], &[RequestStamps]),
        provisioned: &Provisioned,
    ) -> Self {
        let Scenario { classes, warmup, horizon, pool, .. } = scenario;
        let demand = demand(classes, requests, *horizon, peak_windows(*horizon));
        let rows = (requests, stamps);
        let most = pool.most_replicas();
        let mut supply = supply(rows, &demand, (saturations, most), (*warmup, *horizon));
        let open = closed_loop::unyielding(scenario, requests);
        let unyielding = match &open {
            None => (supply.required, supply.required_peak),
            Some(open) => (required(open, *horizon), required_peak(open, &supply, *warmup)),
        };
        let comes_anyhow = open.as_ref().unwrap_or(&demand);
        supply.over_time = over_time(&supply, comes_anyhow, (provisioned, most), *horizon);
        Self { supply, unyielding }
    }

    /// Demand that does not yield and what is sustained of it, where most is asked of each replica
    /// that takes requests: at the peak, or where fewer take requests.
    pub fn tightest(&self) -> (MixRate, MixRate) {
        tightest(&self.supply, self.unyielding.1)
    }

    /// Required over sustainable, mean and at the peak, of what does not yield.
    fn load(&self) -> (f64, f64) {
        let of =
            |need: MixRate, have: MixRate| if need.rps > 0.0 { need.rps / have.rps } else { 0.0 };
        let (need, have) = self.tightest();
        let Supply { sustainable, over_time, .. } = &self.supply;
        let sustainable = over_time.as_ref().map_or(*sustainable, |there| there.sustainable);
        (of(self.unyielding.0, sustainable), of(need, have))
    }
}

/// Demand and what is sustained of it where most is asked of each replica that takes requests; `peak`
/// is the demand at its peak that does not yield to waiting.
pub fn tightest(supply: &Supply, peak: MixRate) -> (MixRate, MixRate) {
    match &supply.over_time {
        None => (peak, supply.sustainable_at_peak),
        Some(over_time) => (over_time.tightest_required, over_time.tightest_sustainable),
    }
}

/// The supply of a fleet: how much of the whole mix it sustains, which the pool with the least to
/// spare decides, since shares of a route are fixed. `requests` are those of all pools.
pub fn together(
    parts: &[&PartSupply],
    requests: &[OfferedRequest],
    scenario: &Scenario,
) -> Option<Supply> {
    let [first, rest @ ..] = parts else { return None };
    if rest.is_empty() {
        return Some(first.supply.clone());
    }
    let Scenario { classes, horizon, .. } = scenario;
    let all = demand(classes, requests, *horizon, peak_windows(*horizon));
    let required = required(&all, *horizon);
    let sum = |rate: fn(&Supply) -> MixRate| {
        parts.iter().fold(MixRate::default(), |sum, part| sum.plus(&rate(&part.supply)))
    };
    let windows = (0..first.supply.demand.len()).map(|window| {
        parts.iter().fold(MixRate::default(), |sum, part| sum.plus(&part.supply.demand[window]))
    });
    let windows: Vec<MixRate> = windows.collect();
    let over = |need: MixRate, have: MixRate| need.rps / have.rps.max(f64::MIN_POSITIVE);
    let mean_load = |p: &&PartSupply| over(p.supply.required, p.supply.sustainable);
    let peak_load = |p: &&PartSupply| over(p.supply.required_peak, p.supply.sustainable_at_peak);
    let busiest = parts.iter().max_by(|a, b| peak_load(a).total_cmp(&peak_load(b)))?;
    let mean_load = parts.iter().map(mean_load).fold(f64::MIN_POSITIVE, f64::max);
    let peak_load = peak_load(busiest).max(f64::MIN_POSITIVE);
    let at = &busiest.supply;
    let sustainable = required.times(1.0 / mean_load);
    let window = (at.peak_from_s / at.peak_window_s).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 59")]
    let required_peak = windows.get(window as usize).copied().unwrap_or_default();
    Some(Supply {
        required,
        demand: windows,
        required_peak,
        sustainable,
        sustainable_once_queued_rps: once_queued(parts, required.rps)
            .filter(|queued| *queued < sustainable.rps),
        sustainable_at_peak: required_peak.times(1.0 / peak_load),
        completed: sum(|supply| supply.completed),
        over_time: parts
            .iter()
            .filter_map(|part| part.supply.over_time.as_ref())
            .reduce(|tightest, next| if next.load() > tightest.load() { next } else { tightest })
            .cloned(),
        ..at.clone()
    })
}

/// What is sustained of a mix of so many requests per second when there are queues, as of the pool
/// that then has the least to spare; `None` where queues cost no pool anything.
fn once_queued(parts: &[&PartSupply], required_rps: f64) -> Option<f64> {
    let supplies = || parts.iter().map(|part| &part.supply).filter(|s| s.required.rps > 0.0);
    supplies().find_map(|supply| supply.sustainable_once_queued_rps)?;
    let over = |supply: &Supply| {
        supply.sustainable_once_queued_rps.unwrap_or(supply.sustainable.rps) / supply.required.rps
    };
    supplies().map(over).reduce(f64::min).map(|least| least * required_rps)
}

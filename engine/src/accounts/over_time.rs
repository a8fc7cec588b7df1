//! Supply over time: what the replicas that took requests sustain, window by window, where they come
//! and go.

use super::provision::Provisioned;
use super::report::{MixRate, Supply, SupplyOverTime, WithoutReplicas};
use super::supply::windows;
use crate::units::Picos;
use crate::workload::Demand;

/// What the replicas of a pool sustain over time of the `demand` that does not yield to waiting;
/// `supply` is what `most` of them do. `None` where all of them take requests all the time.
pub fn over_time(
    supply: &Supply,
    demand: &Demand,
    (provisioned, most): (&Provisioned, u32),
    horizon: Picos,
) -> Option<SupplyOverTime> {
    let mean_replicas = provisioned.mean_taking(Picos::ZERO, horizon);
    // An autoscaler that never needs its most has as many as it has, all the time.
    if provisioned.is_constant(horizon) && mean_replicas >= f64::from(most) {
        return None;
    }
    let required = windows(demand);
    let bins = || demand.bins.iter();
    let replicas: Vec<f64> = bins().map(|bin| provisioned.mean_taking(bin.from, bin.to)).collect();
    let work = |rate: &MixRate| supply.replicas_for(rate, most);
    // Of windows equal but for rounding, the first.
    let mut tightest = (0, -1.0);
    for (index, (rate, there)) in required.iter().zip(&replicas).enumerate() {
        let load = match work(rate) {
            needed if needed > 0.0 => needed / there,
            _ => 0.0,
        };
        if load > tightest.1 * (1.0 + 1e-9) {
            tightest = (index, load);
        }
    }
    let (index, load) = tightest;
    let tightest_required = required.get(index).copied().unwrap_or_default();
    let tightest_replicas = replicas.get(index).copied().unwrap_or_default();
    let tightest_sustainable = if load > 0.0 {
        tightest_required.times(1.0 / load)
    } else {
        supply.sustainable.times(tightest_replicas / f64::from(most))
    };
    Some(SupplyOverTime {
        most_replicas: most,
        mean_replicas,
        sustainable: supply.sustainable.times(mean_replicas / f64::from(most)),
        tightest_from_s: demand.bins.get(index).map_or(0.0, |bin| bin.from.as_secs()),
        tightest_replicas,
        tightest_required,
        tightest_sustainable,
        without: without(&provisioned.nobody_takes(horizon)),
        replicas,
    })
}

fn without(spans: &[(Picos, Picos)]) -> Option<WithoutReplicas> {
    let span = |(from, to): &(Picos, Picos)| *to - *from;
    let longest = spans.iter().rev().max_by_key(|of| span(of))?;
    Some(WithoutReplicas {
        total_s: spans.iter().map(|of| span(of).as_secs()).sum(),
        longest_from_s: longest.0.as_secs(),
        longest_to_s: longest.1.as_secs(),
    })
}

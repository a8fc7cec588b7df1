//! The tightest limits that a run could have promised: the smallest at which as many requests of a
//! class are good as its target asks for. Limits change no event, so this is exact.

use crate::accounts::Row;
use crate::scenario::Scenario;
use crate::slo::{Contract, Limit, Measures, Outcome, classify};
use crate::units::Picos;

/// Those of one class in one run, each with the other limits as they are; `None` where no limit
/// does, as too few are good for other reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tightest {
    /// On the first token.
    pub ttft: Option<Picos>,
    /// On the average time per token.
    pub tpot: Option<Picos>,
}

/// Of every class, from the rows of the measurement window.
pub fn tightest(scenario: &Scenario, window: &[Row]) -> Vec<Tightest> {
    let of_class = |(class, contract): (u32, &Contract)| Tightest {
        ttft: least(window, class, (contract, Limit::Ttft)),
        tpot: least(window, class, (contract, Limit::Tpot)),
    };
    (0..).zip(&scenario.contracts).map(of_class).collect()
}

fn least(window: &[Row], class: u32, (contract, limit): (&Contract, Limit)) -> Option<Picos> {
    let without = match limit {
        Limit::Ttft => Contract { ttft: None, ..contract.clone() },
        _ => Contract { tpot: None, ..contract.clone() },
    };
    let of_class: Vec<&Row> = window.iter().filter(|row| row.request.class == class).collect();
    let good = of_class
        .iter()
        .filter(|row| classify(&without, row.request, row.stamps) == Outcome::Good)
        .map(|row| {
            // One token has no time per token: it passes any limit.
            let measures = Measures::of(row.request, row.stamps);
            measures.least_limit(limit).unwrap_or(Picos::ZERO)
        });
    let mut good: Vec<Picos> = good.collect();
    good.sort_unstable();
    let offered = of_class.len() as f64;
    // As the contract compares: good ÷ offered with the target.
    let enough = (1..=good.len()).find(|n| *n as f64 / offered >= contract.attainment_target)?;
    good.get(enough - 1).copied()
}

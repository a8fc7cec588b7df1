//! Percentiles over all offered requests and over those that were answered: the second flatters
//! whoever turns the slow part away, which is why targets are on the first.

use serde::{Deserialize, Serialize};

use super::Case;
use crate::accounts::latency;
use crate::accounts::report::Percentiles;
use crate::slo::{Contract, Fate, Limit};
use crate::units::Picos;

/// One quantity over both populations, milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BothPopulations {
    /// Which quantity.
    pub of: Limit,
    /// Over offered requests: what never came ranks last.
    pub over_offered: Percentiles,
    /// Over requests that were answered to the end.
    pub over_completed: Percentiles,
    /// Requests in neither, because nobody wrote the quantity down.
    pub not_known: u64,
}

/// The quantities that requests can be ranked by.
pub fn both_populations(cases: &[Case]) -> Vec<BothPopulations> {
    let of = |limit: Limit| {
        let millis = |case: &Case| case.ranked.millis(limit);
        let completed = |case: &&Case| case.fate == Fate::Completed;
        BothPopulations {
            of: limit,
            over_offered: latency::percentiles(cases.iter().filter_map(millis).collect()),
            over_completed: latency::percentiles(
                cases.iter().filter(completed).filter_map(millis).collect(),
            ),
            not_known: cases.iter().filter(|case| !case.ranked.knows(limit)).count() as u64,
        }
    };
    Limit::RANKED.map(of).into()
}

/// A percentile target and how it came out, over offered requests and over answered ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetResult {
    /// Class it belongs to, by its index.
    pub class: u32,
    /// Of what.
    pub of: Limit,
    /// Which percentile, e.g. 95.
    pub percentile: f64,
    /// Its limit, milliseconds.
    pub limit_ms: f64,
    /// Whether it is met: over offered requests.
    pub met: bool,
    /// The percentile over offered requests, milliseconds; `null` where it never came.
    pub over_offered_ms: Option<f64>,
    /// The same over requests that were answered to the end: what tools print.
    pub over_completed_ms: Option<f64>,
    /// Whether that would be within the limit.
    pub met_over_completed: bool,
}

/// Every percentile target of every class.
pub fn targets(cases: &[Case], contracts: &[Contract]) -> Vec<TargetResult> {
    let mut results = Vec::new();
    for (class, contract) in (0_u32..).zip(contracts) {
        let of_class = || cases.iter().filter(|case| case.class == Some(class));
        let completed = || of_class().filter(|case| case.fate == Fate::Completed);
        for target in &contract.percentile_targets {
            let met = |ranked| target.is_met(target.rank(ranked));
            let all: Vec<_> = of_class().map(|case| case.ranked).collect();
            let answered: Vec<_> = completed().map(|case| case.ranked).collect();
            let value = |ranked: &[crate::slo::Measures]| {
                let values = ranked.iter().filter_map(|seen| seen.millis(target.of));
                latency::percentile(values.collect(), target.share)
            };
            results.push(TargetResult {
                class,
                of: target.of,
                // 0.29 × 100 is 28.999…: as it was typed.
                percentile: (target.share * 1e8).round() / 1e6,
                limit_ms: Picos::as_millis(target.limit),
                over_offered_ms: value(&all),
                over_completed_ms: value(&answered),
                met: met(all),
                met_over_completed: met(answered),
            });
        }
    }
    results
}

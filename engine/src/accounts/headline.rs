//! The headline numbers of a report by their names, and what is expected of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::report::SimReport;
use crate::scenario::{Expectation, HEADLINES};

/// Which way a number gets better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// It is what is asked, or what follows from that.
    Neither,
}

/// A headline number.
#[derive(Debug)]
pub(crate) struct Metric {
    /// Its name, as in the report, with its unit.
    pub name: &'static str,
    /// Which way is better.
    pub better: Better,
    /// Its value; none where there is none to give.
    pub of: fn(&SimReport) -> Option<f64>,
}

const fn more(name: &'static str, of: fn(&SimReport) -> Option<f64>) -> Metric {
    Metric { name, better: Better::Higher, of }
}

const fn less(name: &'static str, of: fn(&SimReport) -> Option<f64>) -> Metric {
    Metric { name, better: Better::Lower, of }
}

const fn either(name: &'static str, of: fn(&SimReport) -> Option<f64>) -> Metric {
    Metric { name, better: Better::Neither, of }
}

/// All of them, as [`HEADLINES`] names them.
pub(crate) const METRICS: [Metric; HEADLINES.len()] = [
    more("attainment", |r| Some(r.attainment)),
    more("good_rps", |r| Some(r.goodput.good_rps)),
    more("good_per_gpu_hour", |r| r.goodput.good_per_gpu_hour),
    more("output_tps", |r| Some(r.goodput.output_tps)),
    more("input_tps", |r| Some(r.goodput.input_tps)),
    less("ttft_ms.p50", |r| r.ttft_ms.p50),
    less("ttft_ms.p95", |r| r.ttft_ms.p95),
    less("ttft_ms.p99", |r| r.ttft_ms.p99),
    less("tpot_ms.p50", |r| r.tpot_ms.p50),
    less("tpot_ms.p95", |r| r.tpot_ms.p95),
    less("tpot_ms.p99", |r| r.tpot_ms.p99),
    less("longest_stall_ms.p99", |r| r.longest_stall_ms.p99),
    less("e2e_ms.p95", |r| r.e2e_ms.p95),
    either("required_peak.rps", |r| Some(r.supply.required_peak.rps)),
    more("sustainable.rps", |r| Some(r.supply.sustainable.rps)),
    less("debt.peak_waiting", |r| Some(r.debt.peak_waiting as f64)),
    less("debt.peak_work_s", |r| Some(r.debt.peak_work_s)),
    less("debt.drain_s", |r| r.debt.drain_s),
    less("attempts.per_request", |r| Some(r.attempts.per_request)),
    less("kv.peak_share", |r| Some(r.kv.peak_share)),
    less("kv.preemptions", |r| Some(r.kv.preemptions as f64)),
    less("cost.per_good_request", |r| r.cost.as_ref()?.per_good_request),
    less("cost.per_month", |r| Some(r.cost.as_ref()?.per_month)),
];

/// The headline numbers of one report by their names; `null` where there is none to give.
pub fn headline(report: &SimReport) -> BTreeMap<&'static str, Option<f64>> {
    METRICS.iter().map(|metric| (metric.name, (metric.of)(report))).collect()
}

/// What became of an expectation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpectationResult {
    /// The headline number.
    pub of: String,
    /// The most that it may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// The least that it may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// What it is; `null` where there is none to give: a latency that never comes, a cost without a
    /// price or of nothing good.
    pub value: Option<f64>,
    /// Whether it is as expected; never where there is no number.
    pub met: bool,
}

/// Holds a report against what is expected of it.
pub(super) fn judge(expectations: &[Expectation], report: &SimReport) -> Vec<ExpectationResult> {
    let judged = |expected: &Expectation| {
        let metric = METRICS.iter().find(|metric| metric.name == expected.of);
        let value = metric.and_then(|metric| (metric.of)(report));
        let within = |x: f64| {
            expected.at_most.is_none_or(|most| x <= most)
                && expected.at_least.is_none_or(|least| x >= least)
        };
        ExpectationResult {
            of: expected.of.clone(),
            at_most: expected.at_most,
            at_least: expected.at_least,
            value,
            met: value.is_some_and(within),
        }
    };
    expectations.iter().map(judged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_names_the_numbers_that_there_are() {
        assert_eq!(METRICS.map(|metric| metric.name), HEADLINES);
    }
}

//! The headline numbers of two reports beside each other.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Comparison;
use crate::accounts::Simulated;
use crate::accounts::report::SimReport;
use crate::accounts::words::{span_ms, thousands, three_digits};
use crate::stats;

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

/// One number of both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResultChange {
    /// Its name, as in the report, with its unit.
    pub name: &'static str,
    /// Which way is better.
    pub better: Better,
    /// In the first, with its own seed; `null` where there is none to give.
    pub a: Option<f64>,
    /// In the second.
    pub b: Option<f64>,
    /// b − a.
    pub delta: Option<f64>,
    /// Whether b is the worse.
    pub worsens: bool,
    /// The difference over all seeds, where there are several and each has both numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_seeds: Option<Band>,
}

/// Differences over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Band {
    /// Mean difference.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
}

struct Metric {
    name: &'static str,
    better: Better,
    of: fn(&SimReport) -> Option<f64>,
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

const METRICS: [Metric; 23] = [
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

/// Every number of both, of the first seed, and over all seeds where there are several.
pub fn results(a: &[Simulated], b: &[Simulated]) -> Vec<ResultChange> {
    METRICS.iter().filter_map(|metric| change(metric, a, b)).collect()
}

fn change(metric: &Metric, a: &[Simulated], b: &[Simulated]) -> Option<ResultChange> {
    let of = |simulated: &Simulated| (metric.of)(&simulated.report);
    let difference = |(a, b): (&Simulated, &Simulated)| Some(of(b)? - of(a)?);
    let (of_a, of_b) = (of(a.first()?), of(b.first()?));
    let delta = of_b.zip(of_a).map(|(b, a)| b - a);
    let differences: Option<Vec<f64>> = a.iter().zip(b).map(difference).collect();
    let worse = |delta: f64| match metric.better {
        Better::Higher => delta < 0.0,
        Better::Lower => delta > 0.0,
        Better::Neither => false,
    };
    // What never comes is worse than anything that does.
    let never = of_a.is_some() && of_b.is_none() && metric.better != Better::Neither;
    Some(ResultChange {
        name: metric.name,
        better: metric.better,
        a: of_a,
        b: of_b,
        delta,
        worsens: delta.map_or(never, worse),
        over_seeds: differences.filter(|all| all.len() > 1).and_then(|all| Band::of(&all)),
    })
}

impl Band {
    fn of(differences: &[f64]) -> Option<Self> {
        let (mean, standard_error) = stats::mean_with_error(differences)?;
        Some(Self { mean, standard_error })
    }
}

/// What a reader wants to know first: attainment, first tokens, debt and money.
pub fn sentence(comparison: &Comparison) -> String {
    let [name_a, name_b] = names(comparison);
    if let [first, ..] = comparison.unanswered.as_slice() {
        let name = if first.side == "a" { name_a } else { name_b };
        return format!("{name} cannot be simulated: {}", first.why);
    }
    if comparison.results.iter().all(|change| change.a == change.b) {
        return "every number is the same".to_owned();
    }
    let clauses: Vec<String> = [
        ("attainment", "attainment", points as fn(f64) -> String),
        ("ttft_ms.p95", "TTFT p95", span_ms),
        ("tpot_ms.p95", "TPOT p95", span_ms),
        ("debt.peak_work_s", "peak debt", seconds),
        ("cost.per_month", "cost a month", usd),
    ]
    .into_iter()
    .filter_map(|(name, label, words)| clause(comparison, name, label, words))
    .collect();
    format!("from {name_a} to {name_b}: {}", clauses.join("; "))
}

/// What to call the two: by name, unless they have none or the same.
fn names(comparison: &Comparison) -> [&str; 2] {
    let [a, b] = &comparison.names;
    if a.is_empty() || b.is_empty() || a == b { ["the first", "the second"] } else { [a, b] }
}

fn clause(
    comparison: &Comparison,
    name: &str,
    label: &str,
    words: fn(f64) -> String,
) -> Option<String> {
    let change = comparison.results.iter().find(|change| change.name == name)?;
    Some(match (change.a, change.b, change.delta) {
        (Some(a), Some(b), Some(delta)) if a.total_cmp(&b).is_ne() => {
            let sign = if delta > 0.0 { "+" } else { "−" };
            format!("{label} {} to {} ({sign}{})", words(a), words(b), words(delta.abs()))
        }
        (Some(a), Some(_), _) => format!("{label} {} as before", words(a)),
        (Some(a), None, _) => format!("{label} {} to never", words(a)),
        (None, Some(b), _) => format!("{label} from never to {}", words(b)),
        (None, None, _) => return None,
    })
}

fn points(share: f64) -> String {
    format!("{} %", three_digits(100.0 * share))
}

fn seconds(s: f64) -> String {
    span_ms(1e3 * s)
}

fn usd(value: f64) -> String {
    format!("${}", thousands(value))
}

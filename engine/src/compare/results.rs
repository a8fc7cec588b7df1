//! The headline numbers of two reports beside each other.

use serde::Serialize;

use super::Comparison;
use crate::accounts::Simulated;
use crate::accounts::headline::{Better, METRICS, Metric};
use crate::accounts::words::{span_ms, thousands, three_digits};
use crate::stats;

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

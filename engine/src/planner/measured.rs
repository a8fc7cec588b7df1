//! A size from benchmark points alone: the load that one measured replica last took within the
//! contract, and how many of it the wanted rate takes.
//!
//! Nothing is simulated. What one replica takes is what its benchmark shows, at its lengths and its
//! limits; a throughput that broke the contract counts for nothing.

use serde::{Deserialize, Serialize};

use crate::accounts::words::{plural, span_ms, three_digits};
use crate::ingest::{BenchmarkPoint, Latency, Load};
use crate::slo::{Contract, Limit};

/// A size from measured points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredSize {
    /// ⌈wanted ÷ last passing⌉.
    pub replicas: u32,
    /// The wanted rate, requests per second.
    pub wanted_rps: f64,
    /// The largest measured rate that passes, below every one that fails, requests per second.
    pub last_passing_rps: f64,
    /// The smallest measured rate that fails; `null` where none does, so that the replica may take
    /// more than was tried.
    pub first_failing_rps: Option<f64>,
    /// What the largest measured throughput alone would give: no answer, as it looks at no limit.
    pub by_throughput_alone: u32,
    /// In a sentence.
    pub sentence: String,
}

/// One thing that a percentile must stay within.
struct Clause {
    of: Limit,
    share: f64,
    limit_ms: f64,
}

/// The size for `wanted_rps` under a contract, by the points of one benchmark of one replica.
///
/// # Errors
/// No point states its rate, one does not state a percentile that the contract limits, or none
/// passes: why.
pub fn measured_size(
    points: &[&BenchmarkPoint],
    contract: &Contract,
    wanted_rps: f64,
) -> Result<MeasuredSize, String> {
    let clauses = clauses(contract)?;
    let mut stages: Vec<(f64, bool)> = Vec::new();
    for point in points {
        if let Some(rps) = rate(point) {
            stages.push((rps, passes(point, &clauses)?));
        }
    }
    stages.sort_by(|a, b| a.0.total_cmp(&b.0));
    if stages.is_empty() {
        return Err("no point states the rate at which it was measured".to_owned());
    }
    let failing = stages.iter().find(|(_, passes)| !passes).map(|(rps, _)| *rps);
    let before = stages.iter().take_while(|(_, passes)| *passes).last();
    let Some((passing, _)) = before else {
        return Err(format!(
            "the smallest measured rate, {} req/s, breaks the contract already",
            three_digits(stages[0].0)
        ));
    };
    let most = stages.last().map_or(*passing, |(rps, _)| *rps);
    let size = |each: f64| whole((wanted_rps / each - 1e-9).ceil()).max(1);
    let (replicas, by_throughput_alone) = (size(*passing), size(most));
    let fails = failing.map_or_else(
        || ", the most that was tried".to_owned(),
        |rps| format!("; at {} it does not", three_digits(rps)),
    );
    let limits: Vec<String> = clauses.iter().map(Clause::words).collect();
    Ok(MeasuredSize {
        replicas,
        wanted_rps,
        last_passing_rps: *passing,
        first_failing_rps: failing,
        by_throughput_alone,
        sentence: format!(
            "{} for {} req/s: one was measured to keep {} up to {} req/s{fails}",
            plural(u64::from(replicas), "replica", "replicas"),
            three_digits(wanted_rps),
            limits.join(" and "),
            three_digits(*passing)
        ),
    })
}

impl Clause {
    fn words(&self) -> String {
        let percentile = three_digits(100.0 * self.share);
        format!("{} p{percentile} ≤ {}", self.of.name(), span_ms(self.limit_ms))
    }
}

/// What percentiles the contract limits. A share of good requests is a percentile where one quantity
/// is limited; joint shares cannot be read off percentiles.
fn clauses(contract: &Contract) -> Result<Vec<Clause>, String> {
    let targets = contract.percentile_targets.iter();
    let mut clauses: Vec<Clause> = targets
        .map(|target| Clause {
            of: target.of,
            share: target.share,
            limit_ms: target.limit.as_millis(),
        })
        .collect();
    let limited = [Limit::Ttft, Limit::Tpot, Limit::E2e];
    let plain: Vec<(Limit, f64)> =
        limited.into_iter().filter_map(|of| Some((of, contract.limit(of)?.as_millis()))).collect();
    match plain[..] {
        [] => {}
        [(of, limit_ms)] => {
            clauses.push(Clause { of, share: contract.attainment_target, limit_ms });
        }
        _ => {
            return Err(
                "the contract limits several quantities of each request at once, and percentiles \
                 do not say how many kept all of them: give it percentile targets, or review the \
                 requests themselves"
                    .to_owned(),
            );
        }
    }
    if clauses.is_empty() { Err("the contract limits no latency".to_owned()) } else { Ok(clauses) }
}

/// Whether a point keeps every limit. Percentiles of files are of answered requests: those that
/// were not answered count as beyond every limit.
fn passes(point: &BenchmarkPoint, clauses: &[Clause]) -> Result<bool, String> {
    let answered = point.completed.unwrap_or(0);
    let lost = point.failed.unwrap_or(0) + point.cancelled.unwrap_or(0);
    let answered_share =
        if lost == 0 { 1.0 } else { answered as f64 / (answered + lost).max(1) as f64 };
    for clause in clauses {
        if answered_share < clause.share {
            return Ok(false);
        }
        let latency = match clause.of {
            Limit::Ttft => Latency::Ttft,
            Limit::Tpot => Latency::Tpot,
            Limit::E2e => Latency::E2e,
            other => return Err(format!("benchmarks state no percentiles of {}", other.name())),
        };
        // The p99 of all is a higher percentile of the answered.
        let share = clause.share / answered_share;
        let stated = point.latency(latency).and_then(|stats| {
            let at_least = stats.percentiles.iter().filter(|p| p.share >= share - 1e-9);
            at_least.min_by(|a, b| a.share.total_cmp(&b.share)).map(|p| p.ms)
        });
        let Some(ms) = stated else {
            return Err(format!(
                "a point states no p{} of {}",
                three_digits(100.0 * share),
                clause.of.name()
            ));
        };
        if ms > clause.limit_ms {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The rate that was served.
fn rate(point: &BenchmarkPoint) -> Option<f64> {
    let asked = match point.load {
        Load::RequestRate { rps } => Some(rps),
        _ => None,
    };
    point.completed_rps.or(point.sent_rps).or(asked).filter(|rps| *rps > 0.0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
fn whole(x: f64) -> u32 {
    x as u32
}

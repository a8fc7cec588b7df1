//! Checks of what counts: the limits and targets of a class.

use super::findings::Findings;
use super::workload::SHORTEST_S;
use crate::counted::typed;
use crate::problem::Problem;
use crate::scenario::doc::{ItlPercentileDoc, PercentileTargetDoc, SloDoc};
use crate::slo::{Contract, GapPercentile, ItlLimit, Limit, PercentileTarget};
use crate::units::{MAX_HORIZON_S, Picos};

/// The most percentile targets of one class.
const MOST_PERCENTILE_TARGETS: usize = 20;

/// The contract that a document describes; problems have paths below `slo`.
pub fn contract_of(doc: &SloDoc) -> Result<Contract, Vec<Problem>> {
    let mut findings = Findings::default();
    let contract = check(doc, "slo", &mut findings);
    if findings.any_error() { Err(findings.into_problems()) } else { Ok(contract) }
}

pub(super) fn check(doc: &SloDoc, path: &str, findings: &mut Findings) -> Contract {
    let mut limit = |field: &str, limit_ms: Option<f64>| {
        let limit_ms = limit_ms?;
        let longest_ms = MAX_HORIZON_S * 1e3;
        if (SHORTEST_S * 1e3..=longest_ms).contains(&limit_ms) {
            return Some(Picos::from_millis(limit_ms));
        }
        findings.error(
            format!("{path}.{field}"),
            stated(limit_ms),
            "give one above 0 and up to 30 days, or leave the limit out",
        );
        None
    };
    let contract = Contract {
        ttft: limit("ttft_ms", doc.ttft_ms),
        ttfvt: limit("ttfvt_ms", doc.ttfvt_ms),
        tpot: limit("tpot_ms", doc.tpot_ms),
        longest_stall: limit("longest_stall_ms", doc.longest_stall_ms),
        e2e: limit("e2e_ms", doc.e2e_ms),
        itl: doc.itl_percentile.and_then(|doc| check_itl(doc, path, findings)),
        attainment_target: doc.attainment_target,
        percentile_targets: check_percentiles(&doc.percentile_targets, path, findings),
    };
    if !(doc.attainment_target > 0.0 && doc.attainment_target <= 1.0) {
        findings.error(
            format!("{path}.attainment_target"),
            format!("the share that must be good is {}", typed(doc.attainment_target)),
            "give a share above 0 and up to 1 (100 %), e.g. 0.95 (95 %)",
        );
    }
    contract
}

fn check_itl(doc: ItlPercentileDoc, path: &str, findings: &mut Findings) -> Option<ItlLimit> {
    let path = format!("{path}.itl_percentile");
    let percentile = GapPercentile::of(doc.percentile);
    if percentile.is_none() {
        findings.error(
            format!("{path}.percentile"),
            format!("the percentile of a request's own gaps is {}", typed(doc.percentile)),
            "give 50, 75, 90, 95, 99 or 99.9",
        );
    }
    let within = (SHORTEST_S * 1e3..=MAX_HORIZON_S * 1e3).contains(&doc.ms);
    if !within {
        findings.error(
            format!("{path}.ms"),
            stated(doc.ms),
            "give one above 0 and up to 30 days, or leave the limit out",
        );
    }
    percentile
        .filter(|_| within)
        .map(|percentile| ItlLimit { percentile, at: Picos::from_millis(doc.ms) })
}

fn check_percentiles(
    targets: &[PercentileTargetDoc],
    path: &str,
    findings: &mut Findings,
) -> Vec<PercentileTarget> {
    let path = format!("{path}.percentile_targets");
    if targets.len() > MOST_PERCENTILE_TARGETS {
        findings.error(
            path,
            format!("there are {} percentile targets", targets.len()),
            format!("give at most {MOST_PERCENTILE_TARGETS}"),
        );
        return Vec::new();
    }
    let longest_ms = MAX_HORIZON_S * 1e3;
    let mut checked = Vec::new();
    for (index, &PercentileTargetDoc { of, percentile, limit_ms }) in targets.iter().enumerate() {
        let a_percentile = percentile > 0.0 && percentile <= 100.0;
        if !a_percentile {
            findings.error(
                format!("{path}[{index}].percentile"),
                format!("the percentile is {percentile}", percentile = typed(percentile)),
                "give a number above 0 and up to 100, e.g. 95",
            );
        }
        if a_percentile && percentile <= 1.0 {
            let meant = typed(100.0 * percentile);
            findings.warning(
                format!("{path}[{index}].percentile"),
                format!(
                    "a target on p{} is met by almost any fleet: nearly all may be later",
                    typed(percentile)
                ),
                format!("percentiles are per cent: give {meant} if p{meant} is meant"),
            );
        }
        let a_limit = (SHORTEST_S * 1e3..=longest_ms).contains(&limit_ms);
        if !a_limit {
            findings.error(
                format!("{path}[{index}].limit_ms"),
                stated(limit_ms),
                "give one above 0 and up to 30 days",
            );
        }
        if of == Limit::Itl {
            findings.error(
                format!("{path}[{index}].of"),
                "requests are not ranked by a percentile of their own gaps: only the gaps above a \
                 limit are counted",
                "give `itl_percentile` as a limit of each request, or a target on `stall` or `tpot`",
            );
        } else if a_percentile && a_limit {
            let limit = Picos::from_millis(limit_ms);
            checked.push(PercentileTarget { of, share: percentile / 100.0, limit });
        }
    }
    checked
}

/// A limit in both units: a document has milliseconds, and many a form seconds.
fn stated(limit_ms: f64) -> String {
    format!("the limit is {} ms, which is {} s", typed(limit_ms), typed(limit_ms / 1e3))
}

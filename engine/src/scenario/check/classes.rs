//! What may mislead in a class, though it can be computed.

use super::findings::Findings;
use super::workload::Workload;
use crate::counted::thousands;
use crate::scenario::Pool;
use crate::scenario::doc::SloDoc;
use crate::units::Picos;
use crate::workload::{Arrivals, Hidden, Lengths, TrafficClass};

/// A class that can be computed and may mislead.
pub(super) fn warn_about_class(
    class: &TrafficClass,
    slo: &SloDoc,
    path: &str,
    horizon: Picos,
    findings: &mut Findings,
) {
    if let Arrivals::Trace(replay) = &class.arrivals {
        let late = replay.recorded() - replay.recorded_before(horizon);
        if late > 0 {
            findings.warning(
                format!("{path}.arrivals.due_s"),
                format!("{late} of {} requests are due after the horizon", replay.recorded()),
                "lengthen the horizon to offer them too",
            );
        }
    }
    super::sharing::warn_about_prefix(class, path, findings);
    let quality = class.pass_rate(share_cut(class)).unwrap_or(1.0);
    let best = (1.0 - class.lasting_error_rate()) * quality;
    if best < slo.attainment_target {
        findings.warning(
            format!("{path}.slo.attainment_target"),
            format!(
                "errors and quality leave at most {:.1} % of requests good, below the target of \
                 {:.1} %: no fleet meets it",
                best * 100.0,
                slo.attainment_target * 100.0
            ),
            "lower the target, or the error rate, or raise the pass rate",
        );
    }
    let limits = [slo.ttft_ms, slo.ttfvt_ms, slo.tpot_ms, slo.longest_stall_ms, slo.e2e_ms];
    if limits.iter().all(Option::is_none)
        && slo.itl_percentile.is_none()
        && slo.percentile_targets.is_empty()
    {
        findings.warning(
            format!("{path}.slo"),
            "this class has no latency limit, so every completed answer is in time",
            "give at least one of `ttft_ms`, `ttfvt_ms`, `tpot_ms`, `longest_stall_ms`, \
             `itl_percentile`, `e2e_ms`, `percentile_targets`",
        );
    }
}

/// Share of answers that the output budget cuts. Of tokens that are hidden beside the answer, which
/// cut more, the share that says the least against the class.
fn share_cut(class: &TrafficClass) -> f64 {
    let (Some(budget), Some(_)) = (class.max_output_tokens, class.truncated_pass_rate) else {
        return 0.0;
    };
    let whole = class.pass_rate(0.0).unwrap_or(1.0);
    let adds = matches!(class.hidden, Hidden::Added(_));
    if adds && class.pass_rate(1.0).unwrap_or(1.0) > whole {
        return 1.0;
    }
    // Lengths are rounded to whole tokens.
    1.0 - class.output.share_at(f64::from(budget) + 0.5)
}

/// Requests that are refused at the door whatever the fleet.
pub(super) fn warn_about_lengths(
    workload: &Workload,
    pool: &Pool,
    beside: &[Pool],
    findings: &mut Findings,
) {
    for class in &workload.classes {
        let served = class.route.legs().iter();
        let pools = served.filter_map(|leg| match leg.pool.checked_sub(1) {
            None => Some(pool),
            Some(other) => beside.get(other as usize),
        });
        let longest = pools.map(|pool| pool.scheduler.max_model_len).max();
        let Some(max_model_len) = longest else { continue };
        let (Lengths::Fixed(input), Lengths::Fixed(output)) = (&class.input, &class.output) else {
            continue;
        };
        let output = class.max_output_tokens.map_or(*output, |budget| budget.min(*output));
        let total = u64::from(*input) + u64::from(output);
        if total > u64::from(max_model_len) {
            findings.warning(
                format!("workload.classes[{}]", class.position),
                format!(
                    "every request has {} tokens, more than max_model_len {}: all are refused as \
                     too long",
                    thousands(total as f64),
                    thousands(f64::from(max_model_len))
                ),
                "shorten prompt or output, or raise max_model_len",
            );
        }
    }
}

//! Checks of a law that was fitted to measurements, and what a pool makes of it.

use super::findings::Findings;
use super::step_time::{NO_ERROR, band};
use crate::scenario::doc::FittedLawDoc;
use crate::step_time::{ResolvedStepTime, StepCoefficients};

/// The largest error that a fit may leave.
const RESIDUALS: std::ops::RangeInclusive<f64> = 0.0..=10.0;
/// No step computes or reads more than so many tokens.
const MOST_TOKENS: u64 = 1 << 30;

/// What can be said without knowing GPU and model.
pub(super) fn check_numbers(fitted: &FittedLawDoc, path: &str, findings: &mut Findings) {
    let at = |field: &str| format!("{path}.{field}");
    let (residual, points) = (fitted.residual, fitted.points.into());
    findings.number(at("residual"), "the error left by the fit", residual, &RESIDUALS);
    let many = 1..=u64::from(u32::MAX);
    findings.count(at("points"), "the number of points of the fit", points, &many);
    for (place, name) in fitted.assumed.iter().enumerate() {
        if !StepCoefficients::NAMES.contains(&name.as_str()) {
            findings.error(
                at(&format!("assumed[{place}]")),
                format!("the law has no coefficient {name:?}"),
                format!("one of {}", StepCoefficients::NAMES.join(", ")),
            );
        }
    }
    let range = &fitted.range;
    for (field, tokens) in [
        ("max_prefill_tokens", range.max_prefill_tokens),
        ("max_prefill_context", range.max_prefill_context),
        ("max_decode_seqs", range.max_decode_seqs),
        ("max_kv_per_seq", range.max_kv_per_seq),
        ("max_mixed_prefill_tokens", range.max_mixed_prefill_tokens),
        ("max_mixed_decode_seqs", range.max_mixed_decode_seqs),
        ("max_mixed_kv_per_seq", range.max_mixed_kv_per_seq),
    ] {
        let field = at(&format!("range.{field}"));
        findings.count(field, "the end of the range measured", tokens, &(0..=MOST_TOKENS));
    }
    if range.min_kv_per_seq > range.max_kv_per_seq {
        findings.error(
            at("range.min_kv_per_seq"),
            format!(
                "the fewest cached tokens of a decode, {}, are more than the most, {}",
                range.min_kv_per_seq, range.max_kv_per_seq
            ),
            "no more than max_kv_per_seq",
        );
    }
}

/// The law as a pool uses it: measured, with the error and the range of its fit.
pub(super) fn resolved(law: &StepCoefficients, fitted: &FittedLawDoc) -> ResolvedStepTime {
    let FittedLawDoc { files, points, residual, assumed, range, .. } = fitted;
    let band = band(*points, *residual);
    let basis = if band.is_none() {
        NO_ERROR.to_owned()
    } else {
        format!(
            "median absolute error of {points} points, each predicted by a fit to the others, \
             widened to 95 % as if errors were normal"
        )
    };
    let source = format!("a step law fitted to {points} points of {}", files.join(", "));
    let mut resolved =
        ResolvedStepTime::measured(law.clone(), source, band, Some(basis), Some(*range));
    if !assumed.is_empty() {
        resolved.notes.push(format!(
            "Assumed, since the points do not determine them: {}.",
            assumed.join(", ")
        ));
    }
    resolved
}

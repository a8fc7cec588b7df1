//! Checks of where the step time comes from, and the law that follows.

use super::findings::Findings;
use crate::catalog;
use crate::problem::Problem;
use crate::scenario::doc::{FittedScaleDoc, StepTimeDoc, StepTimeSourceDoc};
use crate::scenario::{Scheduler, Service, StepTime};
use crate::step_time::{DeclaredThroughput, ErrorBand, Origin, ResolvedStepTime, Served};

/// Factors on a step time that a fit may find. Beyond, the points belong to something else.
const FITTED_SCALES: std::ops::RangeInclusive<f64> = 0.01..=100.0;

/// The longest overhead per step, milliseconds.
const MAX_OVERHEAD_MS: f64 = 10_000.0;

/// Half the width of a 95 % band ÷ the median absolute error, for normal errors: 1.960 / 0.6745.
const BAND_PER_MEDIAN_ERROR: f64 = 2.906;

/// The band of a fit that leaves a median absolute error; a single point leaves none to judge by.
pub(super) fn band(points: u32, residual: f64) -> Option<ErrorBand> {
    let spread = BAND_PER_MEDIAN_ERROR * residual;
    (points >= 2).then(|| ErrorBand::symmetric(residual, spread))
}

/// Why a fit to one point has no band.
pub(super) const NO_ERROR: &str = "a single point leaves no error to judge by";

/// What can be said without knowing GPU and model.
pub(super) fn check_numbers(doc: &StepTimeDoc, path: &str, findings: &mut Findings) {
    let overhead_path = format!("{path}.step_overhead_ms");
    let range = 0.0..=MAX_OVERHEAD_MS;
    findings.number(overhead_path, "the time added to every step", doc.step_overhead_ms, &range);
    match &doc.source {
        StepTimeSourceDoc::Coefficients { coefficients, by, fitted } => {
            findings.all(&format!("{path}.source.coefficients"), coefficients.check());
            if let Some(fitted) = fitted {
                super::fitted_law::check_numbers(
                    fitted,
                    &format!("{path}.source.fitted"),
                    findings,
                );
            }
            if by.trim().is_empty() {
                findings.error(
                    format!("{path}.source.by"),
                    "coefficients stand there, but not who says so",
                    "name the person, the fit or the publication",
                );
            }
        }
        StepTimeSourceDoc::Declared { declared_input_tps, declared_output_tps } => {
            let declared = throughput(*declared_input_tps, *declared_output_tps);
            findings.all(&format!("{path}.source"), declared.check());
            if doc.fitted.is_some() || doc.step_overhead_ms != 0.0 {
                findings.error(
                    format!("{path}.source"),
                    "bare token rates have no steps that a fit or an overhead could apply to",
                    "remove `fitted` and `step_overhead_ms`, or choose another source",
                );
            }
        }
        StepTimeSourceDoc::Catalog | StepTimeSourceDoc::Physics | StepTimeSourceDoc::Datasheet => {}
    }
    if let Some(fitted) = &doc.fitted {
        let path = format!("{path}.fitted");
        let scale = fitted.step_time_scale;
        findings.number(
            format!("{path}.step_time_scale"),
            "the fitted factor",
            scale,
            &FITTED_SCALES,
        );
        let residual = fitted.residual;
        findings.number(
            format!("{path}.residual"),
            "the error left by the fit",
            residual,
            &(0.0..=10.0),
        );
        findings.count(
            format!("{path}.points"),
            "the number of points of the fit",
            fitted.points.into(),
            &(1..=u64::from(u32::MAX)),
        );
    }
}

/// How fast a replica works; the numbers have passed [`check_numbers`].
pub(super) fn service(
    doc: &StepTimeDoc,
    served: &Served<'_>,
    scheduler: &Scheduler,
    path: &str,
    findings: &mut Findings,
) -> Option<Service> {
    let resolved = match &doc.source {
        StepTimeSourceDoc::Declared { declared_input_tps, declared_output_tps } => {
            return Some(Service::Declared(throughput(*declared_input_tps, *declared_output_tps)));
        }
        StepTimeSourceDoc::Coefficients { coefficients, by, fitted } => Ok(match fitted {
            Some(fitted) => super::fitted_law::resolved(coefficients, fitted),
            None => ResolvedStepTime::declared(coefficients.clone(), by.trim()),
        }),
        StepTimeSourceDoc::Catalog => catalog::resolve(served),
        StepTimeSourceDoc::Physics => exactly(served, Origin::Physics),
        StepTimeSourceDoc::Datasheet => exactly(served, Origin::Datasheet),
    };
    let mut resolved = findings.take(path, resolved.map_err(|problem| vec![problem]))?;
    if let Some(fitted) = &doc.fitted {
        measured(&mut resolved, fitted);
    }
    let scale = doc.fitted.as_ref().map_or(1.0, |fitted| fitted.step_time_scale);
    let step_overhead_s = doc.step_overhead_ms / 1e3;
    let law = resolved.compile(scheduler.max_num_batched_tokens.into(), scale, step_overhead_s);
    Some(Service::Steps(Box::new(StepTime { law, resolved, scale, step_overhead_s })))
}

/// The source that is named, never another in its stead.
fn exactly(served: &Served<'_>, origin: Origin) -> Result<ResolvedStepTime, Problem> {
    let resolved = catalog::resolve_from(served, origin)?;
    if resolved.provenance.origin == origin {
        return Ok(resolved);
    }
    let reason = resolved.passed_over.into_iter().find(|passed| passed.origin == origin);
    Err(Problem::error(
        "step_time.source",
        format!(
            "there is no {} step time of {} on {}: {}",
            origin.label(),
            served.model.name,
            served.gpu.name,
            reason.map_or_else(String::new, |passed| passed.reason)
        ),
        "choose `catalog`, which takes the best source there is, or `datasheet`",
    ))
}

/// A fit makes the step time measured, with the error that the fit left.
fn measured(resolved: &mut ResolvedStepTime, fitted: &FittedScaleDoc) {
    let points = fitted.points;
    let base = resolved.provenance.origin.label();
    let provenance = &mut resolved.provenance;
    provenance.origin = Origin::Measured;
    provenance.source = format!(
        "{points} points of {}, on the {base} law of: {}",
        fitted.files.join(", "),
        provenance.source
    );
    // One factor goes through one point exactly: that says nothing about its error.
    provenance.band = band(points, fitted.residual);
    provenance.band_basis = Some(if provenance.band.is_none() {
        NO_ERROR.to_owned()
    } else {
        format!(
            "median absolute error of the {points} points after the fit, widened to 95 % as if \
             errors were normal"
        )
    });
}

fn throughput(input_tps: Option<f64>, output_tps: Option<f64>) -> DeclaredThroughput {
    DeclaredThroughput { declared_input_tps: input_tps, declared_output_tps: output_tps }
}

//! Every rule of the check by an example that breaks it alone, and laws over any document.

use proptest::prelude::*;

use super::*;
use crate::problem::Severity;
use crate::scenario::doc::*;
use crate::scenario::{GpuRef, ModelRef, arbitrary};
use crate::step_time::Origin;
use crate::units::Picos;

mod contract;
mod fitted_law;
mod fleet;
mod lengths;
mod life;
mod scheduler;
mod sharing;
mod workload;

/// A valid document with one thing changed.
fn with(change: impl FnOnce(&mut ScenarioDoc)) -> ScenarioDoc {
    let mut doc = arbitrary::small();
    change(&mut doc);
    doc
}

fn class(change: impl FnOnce(&mut ClassDoc)) -> ScenarioDoc {
    with(|doc| change(&mut doc.workload.classes[0]))
}

fn pool(change: impl FnOnce(&mut PoolDoc)) -> ScenarioDoc {
    with(|doc| change(&mut doc.fleet.pools[0]))
}

fn errors(doc: &ScenarioDoc) -> Vec<Problem> {
    let problems = check(doc).expect_err("this document is invalid");
    problems.into_iter().filter(|problem| problem.severity == Severity::Error).collect()
}

fn warnings(doc: &ScenarioDoc) -> Vec<Problem> {
    check(doc).expect("this document is valid").warnings
}

/// Each document has exactly one error, at that path, that says that.
fn each_breaks_one_rule(cases: Vec<(ScenarioDoc, &str, &str)>) {
    for (doc, path, says) in cases {
        let errors = errors(&doc);
        assert_eq!(errors.len(), 1, "{path}: {errors:#?}");
        assert_eq!(errors[0].path, path, "{}", errors[0]);
        assert!(errors[0].to_string().contains(says), "{} does not say {says}", errors[0]);
        assert!(!errors[0].hint.is_empty() && !errors[0].message.ends_with('.'));
    }
}

#[test]
fn the_small_document_is_a_scenario() {
    let Checked { scenario, warnings } = check(&arbitrary::small()).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(scenario.horizon, Picos::from_secs(600.0));
    assert_eq!((scenario.classes.len(), scenario.contracts.len()), (1, 1));
    assert_eq!(scenario.contracts[0].ttft, Some(Picos::from_secs(1.0)));
    assert_eq!(scenario.pool.gpus(), 2);
    assert_eq!(scenario.pool.scheduler.max_model_len, 131_072);
    assert!(scenario.pool.memory.does_not_fit.is_none());
    assert!(scenario.pool.usable_blocks() > 10_000);
    let origin = scenario.pool.step_time().unwrap().resolved.provenance.origin;
    assert_eq!(origin, Origin::Library);
    let offered = scenario.offered().unwrap().len();
    assert!((2_700..3_300).contains(&offered), "{offered}");
}

#[test]
fn everything_wrong_is_said_at_once() {
    let mut doc = class(|c| {
        c.arrivals = ArrivalsDoc::Poisson { rate_rps: 0.0 };
        c.error_rate = 2.0;
        c.slo.ttft_ms = Some(-1.0);
    });
    doc.workload.horizon_s = -5.0;
    let pool = &mut doc.fleet.pools[0];
    pool.gpu = GpuRef::id("abacus");
    pool.model = ModelRef::id("parrot");
    pool.replicas = 0;
    pool.block_size = 3;
    pool.step_time.step_overhead_ms = -1.0;
    let paths: Vec<_> = errors(&doc).into_iter().map(|problem| problem.path).collect();
    assert_eq!(
        paths,
        [
            "workload.horizon_s",
            "workload.classes[0].slo.ttft_ms",
            "workload.classes[0].arrivals.rate_rps",
            "workload.classes[0].error_rate",
            "fleet.pools[0].replicas",
            "fleet.pools[0].gpu",
            "fleet.pools[0].model",
            "fleet.pools[0].block_size",
            "fleet.pools[0].step_time.step_overhead_ms",
        ]
    );
}

#[test]
fn what_may_mislead_is_a_warning() {
    for (doc, path, says) in [
        (class(|c| c.slo = SloDoc::default()), "workload.classes[0].slo", "no latency limit"),
        (
            class(|c| c.error_rate = 0.06),
            "workload.classes[0].slo.attainment_target",
            "at most 94.0 % of requests good",
        ),
        (
            class(|c| {
                c.arrivals = ArrivalsDoc::trace(vec![0.0, 599.0, 600.0]);
            }),
            "workload.classes[0].arrivals.due_s",
            "1 of 3 requests are due after the horizon",
        ),
        (
            class(|c| c.arrivals = ArrivalsDoc::Poisson { rate_rps: 1e-4 }),
            "workload.horizon_s",
            "there may be none",
        ),
        (
            pool(|p| p.max_model_len = Some(767)),
            "workload.classes[0]",
            "768 tokens, more than max_model_len 767",
        ),
        (
            pool(|p| p.num_gpu_blocks = Some(2_588)),
            "fleet.pools[0].max_model_len",
            "refuses to start",
        ),
    ] {
        let warnings = warnings(&doc);
        assert_eq!(warnings.len(), 1, "{warnings:#?}");
        assert_eq!((warnings[0].path.as_str(), warnings[0].severity), (path, Severity::Warning));
        assert!(warnings[0].message.contains(says), "{}", warnings[0]);
    }
}

proptest! {
    #[test]
    fn no_document_makes_it_panic_and_refusal_has_a_reason(doc in arbitrary::document()) {
        match check(&doc) {
            Ok(Checked { warnings, .. }) => {
                prop_assert!(warnings.iter().all(|problem| problem.severity != Severity::Error));
            }
            Err(problems) => {
                prop_assert!(problems.iter().any(|problem| problem.severity == Severity::Error));
                prop_assert!(problems.iter().all(|problem| !problem.path.is_empty()));
            }
        }
    }
}

//! Rules of limits and targets.

use super::*;
use crate::slo::{GapPercentile, ItlLimit, Limit};

#[test]
fn limit_rules() {
    let slo = |change: fn(&mut SloDoc)| class(|c| change(&mut c.slo));
    let path = |field: &str| format!("workload.classes[0].slo.{field}");
    let gaps = |percentile, ms| Some(ItlPercentileDoc { percentile, ms });
    assert_eq!(check(&slo(|s| s.ttfvt_ms = Some(2e4))).expect("valid").warnings, []);
    for (doc, field, says) in [
        (slo(|s| s.ttfvt_ms = Some(0.0)), "ttfvt_ms", "above 0"),
        (
            class(|c| c.slo.itl_percentile = gaps(96.0, 50.0)),
            "itl_percentile.percentile",
            "50, 75, 90, 95, 99 or 99.9",
        ),
        (class(|c| c.slo.itl_percentile = gaps(95.0, -1.0)), "itl_percentile.ms", "above 0"),
        (
            slo(|s| {
                let target =
                    PercentileTargetDoc { of: Limit::Itl, percentile: 95.0, limit_ms: 9.0 };
                s.percentile_targets = vec![target];
            }),
            "percentile_targets[0].of",
            "`itl_percentile`",
        ),
    ] {
        each_breaks_one_rule(vec![(doc, &path(field), says)]);
    }
    let held = class(|c| c.slo.itl_percentile = gaps(99.9, 50.0));
    let contract = &check(&held).expect("valid").scenario.contracts[0];
    let at = Picos::from_millis(50.0);
    assert_eq!(contract.itl, Some(ItlLimit { percentile: GapPercentile::P999, at }));
}

/// A class with one of the finer limits alone has a limit.
#[test]
fn the_finer_limits_are_limits() {
    let bare = |slo: SloDoc| class(|c| c.slo = slo);
    let gaps = Some(ItlPercentileDoc { percentile: 95.0, ms: 50.0 });
    for slo in [
        SloDoc { itl_percentile: gaps, ..SloDoc::default() },
        SloDoc { ttfvt_ms: Some(1e3), ..SloDoc::default() },
    ] {
        assert_eq!(warnings(&bare(slo)), []);
    }
    assert_eq!(warnings(&bare(SloDoc::default()))[0].path, "workload.classes[0].slo");
}

#[test]
fn a_share_in_place_of_a_percentile_is_asked_about() {
    let target = |percentile| {
        let target = PercentileTargetDoc { of: Limit::Ttft, percentile, limit_ms: 1e3 };
        warnings(&class(|c| c.slo.percentile_targets = vec![target]))
    };
    assert_eq!(target(95.0), []);
    let [asked] = &target(0.95)[..] else { panic!("one warning") };
    assert_eq!(asked.path, "workload.classes[0].slo.percentile_targets[0].percentile");
    assert!(asked.hint.contains("give 95 if p95 is meant"), "{asked}");
}

#[test]
fn the_confidence_of_a_plan_has_a_range_and_a_default() {
    let sure = |confidence| with(|doc| doc.targets.confidence = confidence);
    let known = |doc: &ScenarioDoc| check(doc).expect("valid").scenario.confidence;
    assert!((known(&arbitrary::small()) - 0.95).abs() < f64::EPSILON);
    assert!((known(&sure(0.99)) - 0.99).abs() < f64::EPSILON);
    for confidence in [0.0, 0.49, 0.995, 1.0, 95.0, f64::NAN] {
        each_breaks_one_rule(vec![(sure(confidence), "targets.confidence", "0.5 to 0.99")]);
    }
}

#[test]
fn an_expectation_is_of_a_number_that_there_is_and_has_a_bound_that_can_be_met() {
    let expects = |of: &str, at_most, at_least| {
        let expected = ExpectationDoc { of: of.to_owned(), at_most, at_least };
        with(|doc| doc.targets.expectations = vec![expected])
    };
    let fine = expects("ttft_ms.p99", Some(1_000.0), None);
    let checked = check(&fine).expect("valid").scenario;
    assert_eq!(checked.expectations[0].at_most, Some(1_000.0));
    let at = |part: &str| format!("targets.expectations[0]{part}");
    for (doc, path, said) in [
        (expects("ttft_p99", Some(1.0), None), at(".of"), "ttft_ms.p99"),
        (expects("ttft_ms.p99", None, None), at(""), "at_most"),
        (expects("ttft_ms.p99", Some(f64::NAN), None), at(".at_most"), "number"),
        (expects("ttft_ms.p99", None, Some(f64::INFINITY)), at(".at_least"), "number"),
        (expects("ttft_ms.p99", Some(1.0), Some(2.0)), at(""), "not below"),
    ] {
        each_breaks_one_rule(vec![(doc, path.as_str(), said)]);
    }
}

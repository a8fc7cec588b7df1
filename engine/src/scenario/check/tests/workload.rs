//! Rules of the workload.

use super::super::MAX_CLASSES;
use super::*;
use crate::workload::{Arrivals, Lengths};

#[test]
fn workload_rules() {
    let rate = |rate_rps| class(|c| c.arrivals = ArrivalsDoc::Poisson { rate_rps });
    let at = |t_s, rate_rps| RatePointDoc { t_s, rate_rps };
    let profile =
        |points| class(|c| c.arrivals = ArrivalsDoc::Profile { points, noise: NoiseDoc::Poisson });
    each_breaks_one_rule(vec![
        (with(|d| d.version = 2), "version", "version 2"),
        (with(|d| d.workload.horizon_s = 0.0), "workload.horizon_s", "above 0"),
        (with(|d| d.workload.horizon_s = f64::NAN), "workload.horizon_s", "NaN"),
        (with(|d| d.workload.horizon_s = 2_592_001.0), "workload.horizon_s", "30 days"),
        (with(|d| d.workload.warmup_s = 600.0), "workload.warmup_s", "nothing to count"),
        (with(|d| d.workload.warmup_s = -1.0), "workload.warmup_s", "0 or more"),
        (with(|d| d.workload.classes.clear()), "workload.classes", "0 traffic classes"),
        (class(|c| c.name = " ".into()), "workload.classes[0].name", "no name"),
        (class(|c| c.name = "x".repeat(201)), "workload.classes[0].name", "201 characters"),
        (rate(0.0), "workload.classes[0].arrivals.rate_rps", "above 0"),
        (rate(-3.0), "workload.classes[0].arrivals.rate_rps", "-3"),
        (rate(f64::INFINITY), "workload.classes[0].arrivals.rate_rps", "inf"),
        (rate(1e5), "workload.horizon_s", "60000000 requests"),
        (
            profile(vec![at(0.0, 0.0), at(600.0, 0.0), at(600.0, 1.0)]),
            "workload.horizon_s",
            "no request",
        ),
        (profile(vec![]), "workload.classes[0].arrivals.points", "no points"),
        (
            profile(vec![at(9.0, 1.0), at(8.0, 1.0)]),
            "workload.classes[0].arrivals.points[1].t_s",
            "order of time",
        ),
        (
            class(|c| c.arrivals = ArrivalsDoc::Trace { due_s: vec![2.0, 1.0] }),
            "workload.classes[0].arrivals.due_s[1]",
            "sort",
        ),
        (class(|c| c.error_rate = 1.5), "workload.classes[0].error_rate", "1.5"),
        (class(|c| c.max_output_tokens = Some(0)), "workload.classes[0].max_output_tokens", "0"),
        (
            class(|c| c.patience = Some(PatienceDoc::Fixed { s: 0.0 })),
            "workload.classes[0].patience.s",
            "leave patience out",
        ),
        (class(|c| c.slo.tpot_ms = Some(0.0)), "workload.classes[0].slo.tpot_ms", "above 0"),
        (class(|c| c.slo.e2e_ms = Some(f64::NAN)), "workload.classes[0].slo.e2e_ms", "NaN"),
        (
            class(|c| c.slo.attainment_target = 0.0),
            "workload.classes[0].slo.attainment_target",
            "0.95",
        ),
        (
            class(|c| c.quality = QualityDoc::Assumed { pass_rate: 1.1, by: "me".into() }),
            "workload.classes[0].quality.pass_rate",
            "1.1",
        ),
        (
            class(|c| c.quality = QualityDoc::Verified { pass_rate: 0.9, source: " ".into() }),
            "workload.classes[0].quality.source",
            "evaluation",
        ),
    ]);
}

#[test]
fn length_rules() {
    let input = |lengths| class(|c| c.input_tokens = lengths);
    let row = |p, tokens| QuantileDoc { p, tokens };
    let recorded = |lengths: usize| {
        class(|c| {
            c.arrivals = ArrivalsDoc::Trace { due_s: vec![0.0, 1.0, 2.0] };
            c.input_tokens = LengthsDoc::Recorded { tokens: vec![5; lengths] };
        })
    };
    each_breaks_one_rule(vec![
        (input(LengthsDoc::Fixed { tokens: 0 }), "workload.classes[0].input_tokens.tokens", "0"),
        (
            input(LengthsDoc::Lognormal { mean: 100.0, p99: 99.0 }),
            "workload.classes[0].input_tokens.p99",
            "not above the mean",
        ),
        (
            input(LengthsDoc::Lognormal { mean: 100.0, p99: 2_000.0 }),
            "workload.classes[0].input_tokens.p99",
            "up to 1496",
        ),
        (
            input(LengthsDoc::Quantiles { table: vec![row(0.5, 10.0), row(0.9, 9.0)] }),
            "workload.classes[0].input_tokens.table[1].tokens",
            "none below",
        ),
        (
            input(LengthsDoc::Empirical { samples: vec![] }),
            "workload.classes[0].input_tokens.samples",
            "no lengths",
        ),
        (
            input(LengthsDoc::Recorded { tokens: vec![1] }),
            "workload.classes[0].input_tokens",
            "replayed trace",
        ),
        (
            recorded(2),
            "workload.classes[0].input_tokens.tokens",
            "2 recorded lengths for 3 requests",
        ),
    ]);
    let checked = check(&recorded(3)).unwrap().scenario;
    assert_eq!(checked.classes[0].input, Lengths::Recorded(vec![5; 3]));
    assert!(matches!(checked.classes[0].arrivals, Arrivals::Trace(_)));
}

#[test]
fn classes_need_names_of_their_own() {
    let twice = with(|doc| {
        let again = doc.workload.classes[0].clone();
        doc.workload.classes.push(again);
    });
    each_breaks_one_rule(vec![(twice, "workload.classes[1].name", "called `chat`")]);
    let many = with(|doc| {
        let class = doc.workload.classes[0].clone();
        doc.workload.classes =
            (0..=MAX_CLASSES).map(|i| ClassDoc { name: i.to_string(), ..class.clone() }).collect();
    });
    each_breaks_one_rule(vec![(many, "workload.classes", "101 traffic classes")]);
}

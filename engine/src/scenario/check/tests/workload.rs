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
            class(|c| c.arrivals = ArrivalsDoc::trace(vec![2.0, 1.0])),
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
fn arrival_rules() {
    let arrivals = |arrivals| class(|c| c.arrivals = arrivals);
    let gamma = |cv, burstiness: Option<f64>| {
        let burstiness = burstiness.map(Burstiness);
        arrivals(ArrivalsDoc::Gamma { rate_rps: 5.0, cv, burstiness })
    };
    let noisy = |cv: f64| {
        let noise = NoiseDoc::Gamma(GammaNoiseDoc { cv: Some(cv), burstiness: None });
        let (min_rps, max_rps, period_s, phase) = (1.0, 8.0, 900.0, 0.0);
        arrivals(ArrivalsDoc::Sinusoid { min_rps, max_rps, period_s, phase, noise })
    };
    let trace = |time_factor, rate_factor, loop_every_s| {
        let due_s = vec![0.0, 1.0, 2.0];
        arrivals(ArrivalsDoc::Trace { due_s, time_factor, rate_factor, loop_every_s })
    };
    let field = |name: &str| format!("workload.classes[0].arrivals.{name}");
    let cases = [
        (gamma(None, None), "cv", "give `cv` or `burstiness`"),
        (gamma(Some(3.0), Some(1.0 / 9.0)), "burstiness", "described twice"),
        (gamma(Some(-1.0), None), "cv", "-1"),
        (gamma(None, Some(0.0)), "burstiness", "evenly spaced"),
        (gamma(None, Some(f64::NAN)), "burstiness", "NaN"),
        (noisy(1e3), "noise.gamma.cv", "1000"),
        (trace(0.0, 1.0, None), "time_factor", "stretched by 0"),
        (trace(1.0, -1.0, None), "rate_factor", "-1"),
        (trace(1.0, 1.0, Some(1.5)), "loop_every_s", "at least the 2 s"),
        (
            arrivals(ArrivalsDoc::Bursts {
                quiet_rps: 1.0,
                burst_rps: 1.0,
                mean_quiet_s: 9.0,
                mean_burst_s: 9.0,
            }),
            "burst_rps",
            "not above the quiet",
        ),
    ];
    let paths: Vec<String> = cases.iter().map(|(_, name, _)| field(name)).collect();
    let rows = cases.into_iter().zip(&paths);
    each_breaks_one_rule(rows.map(|((doc, _, says), path)| (doc, path.as_str(), says)).collect());
    for fine in [gamma(Some(0.0), None), gamma(None, Some(f64::INFINITY)), noisy(3.0)] {
        assert!(check(&fine).is_ok());
    }
    let even = check(&gamma(None, Some(f64::INFINITY))).unwrap().scenario;
    assert!(matches!(even.classes[0].arrivals, Arrivals::Even(_)), "infinite is evenly spaced");
    let looped = check(&trace(0.5, 2.0, Some(4.0))).unwrap().scenario;
    assert_eq!(looped.offered().unwrap().len(), 1_800, "300 laps of 2 s, three requests, twice");
}

#[test]
fn arrivals_are_written_as_people_would_write_them() {
    for json in [
        r#"{"kind":"gamma","rate_rps":5.0,"burstiness":"inf"}"#,
        r#"{"kind":"gamma","rate_rps":5.0,"cv":3.0}"#,
        r#"{"kind":"sinusoid","min_rps":1.0,"max_rps":8.0,"period_s":900.0,"noise":{"gamma":{"burstiness":0.25}}}"#,
        r#"{"kind":"sinusoid","min_rps":1.0,"max_rps":8.0,"period_s":900.0,"noise":"none"}"#,
        r#"{"kind":"spike","base_rps":1.0,"peak_rps":8.0,"start_s":60.0,"duration_s":30.0}"#,
        r#"{"kind":"ramp","from_rps":1.0,"to_rps":8.0,"duration_s":30.0}"#,
        r#"{"kind":"day","mean_rps":1.0,"peak_over_mean":2.0,"peak_hour":14.0}"#,
        r#"{"kind":"week","mean_rps":1.0,"peak_over_mean":2.0,"peak_hour":14.0,"weekend_factor":0.4}"#,
        r#"{"kind":"bursts","quiet_rps":1.0,"burst_rps":9.0,"mean_quiet_s":60.0,"mean_burst_s":5.0}"#,
        r#"{"kind":"trace","due_s":[0.0,1.0]}"#,
        r#"{"kind":"trace","due_s":[0.0],"time_factor":0.5,"rate_factor":2.0,"loop_every_s":9.0}"#,
    ] {
        let arrivals: ArrivalsDoc = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&arrivals).unwrap(), json);
        assert!(check(&class(|c| c.arrivals = arrivals)).is_ok(), "{json}");
    }
    for json in [
        r#"{"kind":"gamma","rate_rps":5.0,"burstiness":"infinite"}"#,
        r#"{"kind":"gamma","rate_rps":5.0,"shape":1}"#,
        r#"{"kind":"day","mean_rps":1.0,"peak_over_mean":2.0,"peak_hour":14.0,"noise":{"gamma":{"k":1}}}"#,
    ] {
        assert!(serde_json::from_str::<ArrivalsDoc>(json).is_err(), "{json}");
    }
}

#[test]
fn length_rules() {
    let input = |lengths| class(|c| c.input_tokens = lengths);
    let row = |p, tokens| QuantileDoc { p, tokens };
    let recorded = |lengths: usize| {
        class(|c| {
            c.arrivals = ArrivalsDoc::trace(vec![0.0, 1.0, 2.0]);
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

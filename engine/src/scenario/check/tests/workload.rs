//! Rules of the workload.

use super::super::MAX_CLASSES;
use super::*;
use crate::workload::Arrivals;

/// Too many requests are the horizon's fault or the rate's: it is said at both.
#[test]
fn too_many_requests_are_reported_where_either_was_typed() {
    let at = |t_s, rate_rps| RatePointDoc { t_s, rate_rps };
    let points = vec![at(0.0, 1.0), at(300.0, 1e6), at(600.0, 2.0)];
    for (arrivals, field) in [
        (ArrivalsDoc::Poisson { rate_rps: 1e5 }, "rate_rps"),
        (ArrivalsDoc::Profile { points, noise: NoiseDoc::Poisson }, "points[1].rate_rps"),
    ] {
        let errors = errors(&class(|c| c.arrivals = arrivals));
        let paths: Vec<&str> = errors.iter().map(|error| error.path.as_str()).collect();
        let rate = format!("workload.classes[0].arrivals.{field}");
        assert_eq!(paths, ["workload.horizon_s", rate.as_str()], "{errors:#?}");
        assert!(errors.iter().all(|error| error.hint.contains("5,000,000")), "{errors:#?}");
    }
}

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
    in_the_class(vec![
        (gamma(None, None), "arrivals.cv", "give `cv` or `burstiness`"),
        (gamma(Some(3.0), Some(1.0 / 9.0)), "arrivals.burstiness", "described twice"),
        (gamma(Some(-1.0), None), "arrivals.cv", "-1"),
        (gamma(None, Some(0.0)), "arrivals.burstiness", "evenly spaced"),
        (gamma(None, Some(f64::NAN)), "arrivals.burstiness", "NaN"),
        (noisy(1e3), "arrivals.noise.gamma.cv", "1,000"),
        (trace(0.0, 1.0, None), "arrivals.time_factor", "stretched by 0"),
        (trace(1.0, -1.0, None), "arrivals.rate_factor", "-1"),
        (trace(1.0, 1.0, Some(1.5)), "arrivals.loop_every_s", "at least the 2 s"),
        (
            arrivals(ArrivalsDoc::Bursts {
                quiet_rps: 1.0,
                burst_rps: 1.0,
                mean_quiet_s: 9.0,
                mean_burst_s: 9.0,
            }),
            "arrivals.burst_rps",
            "not above the quiet",
        ),
    ]);
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
fn client_rules() {
    let stalls = |doc| class(|c: &mut ClassDoc| c.stall_patience = Some(doc));
    let retries = |change: fn(&mut RetriesDoc)| {
        class(|c| {
            let mut doc = RetriesDoc::new(3);
            change(&mut doc);
            c.retries = Some(doc);
        })
    };
    let crowd =
        |users, think_time| class(|c| c.arrivals = ArrivalsDoc::ClosedLoop { users, think_time });
    each_breaks_one_rule(vec![
        (
            stalls(PatienceDoc::Lognormal { median_s: 2.0, p90_s: 1.0 }),
            "workload.classes[0].stall_patience.p90_s",
            "above the median",
        ),
        (class(|c| c.timeout_s = Some(0.0)), "workload.classes[0].timeout_s", "above 0"),
        (class(|c| c.timeout_s = Some(f64::NAN)), "workload.classes[0].timeout_s", "NaN"),
        (retries(|r| r.max_attempts = 1), "workload.classes[0].retries.max_attempts", "2 to 100"),
        (retries(|r| r.on.clear()), "workload.classes[0].retries.on", "nothing"),
        (
            retries(|r| r.backoff_factor = 0.5),
            "workload.classes[0].retries.backoff_factor",
            "1 to 10",
        ),
        (retries(|r| r.jitter = 2.0), "workload.classes[0].retries.jitter", "0 to 1"),
        (
            retries(|r| r.on = vec![RetryOnDoc::Error, RetryOnDoc::Error]),
            "workload.classes[0].retries.on",
            "twice",
        ),
        (
            crowd(0, ThinkTimeDoc::Fixed { s: 1.0 }),
            "workload.classes[0].arrivals.users",
            "1 to 1000000",
        ),
        (
            crowd(9, ThinkTimeDoc::Uniform { min_s: 2.0, max_s: 1.0 }),
            "workload.classes[0].arrivals.think_time.max_s",
            "below the shortest",
        ),
        (
            crowd(9, ThinkTimeDoc::Exponential { mean_s: -1.0 }),
            "workload.classes[0].arrivals.think_time.mean_s",
            "-1",
        ),
    ]);
    let checked = check(&crowd(9, ThinkTimeDoc::Fixed { s: 0.0 })).unwrap();
    assert_eq!(checked.warnings, []);
    assert_eq!(checked.scenario.offered().unwrap(), [], "when they ask, the fleet decides");
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

/// Rows of a table whose paths are those of the first class.
fn in_the_class(cases: Vec<(ScenarioDoc, &str, &str)>) {
    let paths: Vec<String> =
        cases.iter().map(|(_, field, _)| format!("workload.classes[0].{field}")).collect();
    let rows = cases.into_iter().zip(&paths);
    each_breaks_one_rule(rows.map(|((doc, _, says), path)| (doc, path.as_str(), says)).collect());
}

#[test]
fn pairing_rules() {
    let samples = |tokens: &[u32]| LengthsDoc::Empirical { samples: tokens.to_vec() };
    let pair = |input, output, pairing| {
        class(|c| (c.input_tokens, c.output_tokens, c.pairing) = (input, output, pairing))
    };
    let correlated = |rank_correlation| PairingDoc::Correlated { rank_correlation };
    let law = || LengthsDoc::lognormal(512.0, 2_048.0);
    let replayed = class(|c| {
        c.arrivals = ArrivalsDoc::trace(vec![0.0]);
        c.input_tokens = LengthsDoc::recorded(vec![7]);
        c.pairing = correlated(0.5);
    });
    in_the_class(vec![
        (pair(law(), law(), correlated(1.5)), "pairing.rank_correlation", "1.5"),
        (pair(law(), LengthsDoc::Fixed { tokens: 9 }, correlated(0.5)), "pairing", "no ranks"),
        (pair(law(), samples(&[1]), PairingDoc::Together), "pairing", "only samples"),
        (pair(samples(&[1, 2]), samples(&[1]), PairingDoc::Together), "pairing", "2 prompts for 1"),
        (replayed, "pairing", "belong to their requests"),
    ]);
    assert!(check(&pair(samples(&[1, 2]), samples(&[3, 4]), PairingDoc::Together)).is_ok());
}

#[test]
fn stopping_rules() {
    let truncated = |budget, rate, quality| {
        class(|c| {
            c.max_output_tokens = budget;
            c.truncated_pass_rate = Some(rate);
            c.quality = quality;
        })
    };
    let assumed = || QualityDoc::Assumed { pass_rate: 0.98, by: "me".into() };
    let hidden = |hidden| class(|c| c.hidden_tokens = Some(hidden));
    let none = Box::new(LengthsDoc::Fixed { tokens: 0 });
    let stretched = class(|c| {
        c.arrivals = ArrivalsDoc::trace(vec![0.0]);
        c.input_tokens = LengthsDoc::Recorded { tokens: vec![7], factor: 0.0 };
    });
    in_the_class(vec![
        (hidden(HiddenTokensDoc::Share { share: 1.5 }), "hidden_tokens.share", "1.5"),
        (hidden(HiddenTokensDoc::Added { tokens: none }), "hidden_tokens.tokens.tokens", "0"),
        (truncated(Some(9), 1.5, assumed()), "truncated_pass_rate", "1.5"),
        (truncated(None, 0.5, assumed()), "truncated_pass_rate", "this class has none"),
        (truncated(Some(9), 0.5, QualityDoc::NotChecked), "truncated_pass_rate", "not checked"),
        (class(|c| c.tenant = "x".repeat(201)), "tenant", "201 characters"),
        (stretched, "input_tokens.factor", "multiplied by 0"),
    ]);
    assert!(check(&truncated(Some(100), 0.5, assumed())).is_ok());
}

#[test]
fn a_class_that_is_not_enabled_is_checked_and_offers_nothing() {
    let two = |enabled: [bool; 2]| {
        with(|doc| {
            let mut second = doc.workload.classes[0].clone();
            second.name = "second".into();
            doc.workload.classes.push(second);
            for (class, enabled) in doc.workload.classes.iter_mut().zip(enabled) {
                class.enabled = enabled;
            }
        })
    };
    let both = check(&two([true, true])).unwrap().scenario;
    let one = check(&two([false, true])).unwrap().scenario;
    assert_eq!((both.classes.len(), one.classes.len(), one.contracts.len()), (2, 1, 1));
    let of_second = both.offered().unwrap().into_iter().filter(|request| request.class == 1);
    let alone = one
        .offered()
        .unwrap()
        .into_iter()
        .map(|r| crate::workload::OfferedRequest { class: 1, ..r });
    assert!(of_second.eq(alone), "the requests of the second stay as they were");
    each_breaks_one_rule(vec![(
        two([false, false]),
        "workload.classes",
        "no traffic class is enabled",
    )]);
    let mut wrong = two([false, true]);
    wrong.workload.classes[0].error_rate = 2.0;
    each_breaks_one_rule(vec![(wrong, "workload.classes[0].error_rate", "2")]);
}

/// 40 of 100 samples are cut, of which half pass: 0.6 · 0.97 + 0.4 · 0.5 = 0.782 at best.
#[test]
fn answers_that_the_budget_cuts_cap_what_can_be_good() {
    let capped = |truncated: Option<f64>, budget: u32| {
        let doc = class(|c| {
            let samples = (0..100).map(|i| if i < 60 { 90 } else { 200 }).collect();
            c.output_tokens = LengthsDoc::Empirical { samples };
            c.max_output_tokens = Some(budget);
            c.truncated_pass_rate = truncated;
            c.quality = QualityDoc::Assumed { pass_rate: 0.97, by: "a test".to_owned() };
        });
        warnings(&doc)
    };
    let cut = capped(Some(0.5), 100);
    assert_eq!(cut.len(), 1, "{cut:?}");
    assert!(cut[0].message.contains("at most 78.2 % of requests good"), "{}", cut[0]);
    assert_eq!(cut[0].path, "workload.classes[0].slo.attainment_target");
    for (truncated, budget) in [(None, 100), (Some(0.5), 200), (Some(0.97), 100)] {
        assert_eq!(capped(truncated, budget), [], "{truncated:?} {budget}");
    }
}

#[test]
fn a_percentile_target_is_a_latency_limit() {
    let targets = |c: &mut ClassDoc| {
        c.slo = SloDoc::default();
        let target =
            PercentileTargetDoc { of: crate::slo::Limit::Ttft, percentile: 95.0, limit_ms: 1000.0 };
        c.slo.percentile_targets = vec![target];
    };
    assert_eq!(warnings(&class(targets)), []);
}

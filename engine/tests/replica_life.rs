//! Replicas that start, fail, drain and are scaled: what it does to requests and what it costs.

mod common;

use common::{fixed, scenario};
use goodput_engine::accounts::accounting::Cause;
use goodput_engine::accounts::report::SimReport;
use goodput_engine::accounts::{Simulated, answer};
use goodput_engine::scenario::Scenario;
use goodput_engine::slo::Fate;
use goodput_engine::units::Picos;
use serde_json::{Value, json};

/// Prompts that take a third of a second each, one at a time: a replica sustains 3 requests/s. They
/// come evenly spaced, 2 a second and from 100 s on 4.
fn step_of_load(pool: impl FnOnce(&mut Value)) -> Scenario {
    scenario(|document| {
        fixed(1_000, 1, 2.0)(document);
        document["workload"]["horizon_s"] = json!(400.0);
        let class = &mut document["workload"]["classes"][0];
        class["arrivals"] = json!({
            "kind": "profile",
            "points": [
                { "t_s": 0.0, "rate_rps": 2.0 }, { "t_s": 100.0, "rate_rps": 2.0 },
                { "t_s": 100.0, "rate_rps": 4.0 }, { "t_s": 400.0, "rate_rps": 4.0 },
            ],
            "noise": "none",
        });
        let of = &mut document["fleet"]["pools"][0];
        of["max_num_seqs"] = json!(1);
        of["async_scheduling"] = json!(false);
        of["price_per_gpu_hour"] = json!(3.6);
        of["step_time"] = json!({ "source": {
            "kind": "coefficients",
            "by": "a test",
            "coefficients": {
                "c0_s": 1.0 / 3.0, "cw_s": 0.0, "cw_experts_s": 0.0, "expert_share": 0.0,
                "c1_s_per_token": 0.0, "c2_s_per_pair": 0.0, "c3_s_per_decode_seq": 0.0,
                "c4_s_per_kv_token": 0.0, "p": 1.0,
            },
        }});
        pool(of);
    })
}

fn simulated(pool: impl FnOnce(&mut Value)) -> Simulated {
    answer(&step_of_load(pool)).expect("an answer")
}

fn report(pool: impl FnOnce(&mut Value)) -> SimReport {
    simulated(pool).report
}

/// An autoscaler that sees the load at once: a decision after `delay_s`, a replica after
/// `start_up_s` more.
fn autoscaled(delay_s: f64, start_up_s: f64) -> impl FnOnce(&mut Value) {
    move |pool| {
        pool["start_up_s"] = json!(start_up_s);
        pool["autoscaler"] = json!({
            "signal": "outstanding", "target": 1.5, "interval_s": 1.0, "delay_s": delay_s,
            "min_replicas": 1, "max_replicas": 2,
        });
    }
}

fn line(report: &SimReport, name: &str) -> f64 {
    let cost = report.cost.as_ref().expect("a price");
    cost.lines.iter().find(|line| line.line == name).map_or(0.0, |line| line.usd)
}

/// llm-d-autoscaling issues 1071 and 1433: while capacity lags, debt grows by what is asked above
/// what is there, so that it is (λ − μ) × (time to decide + time to start).
#[test]
fn peak_debt_after_a_step_is_the_excess_times_the_lag() {
    for (delay_s, start_up_s, debt) in [(60.0, 50.0, 110.0), (30.0, 22.0, 52.0), (0.0, 55.0, 55.0)]
    {
        let report = report(autoscaled(delay_s, start_up_s));
        let peak = report.debt.peak_waiting as f64;
        assert!((peak / debt - 1.0).abs() < 0.05, "{delay_s} + {start_up_s} s: {peak}");
        assert_eq!(report.outcomes.values().sum::<u64>(), report.offered);
        let turnover = &report.turnover[0];
        assert_eq!((turnover.most, turnover.ordered, turnover.crashed), (2, 1, 0));
        // Who was late waited for the replica that had been ordered, or for the decision.
        let causes = &report.accounting.causes.late_first_token;
        if delay_s <= 0.0 {
            assert!(causes[&Cause::StartUp] > causes.get(&Cause::Queue).copied().unwrap_or(0));
        } else {
            assert!(causes[&Cause::Queue] > 0, "{causes:?}");
        }
    }
}

#[test]
fn halving_the_time_to_decide_and_to_start_halves_peak_debt() {
    let peak =
        |delay_s, start_up_s| report(autoscaled(delay_s, start_up_s)).debt.peak_waiting as f64;
    let (whole, half) = (peak(60.0, 50.0), peak(30.0, 25.0));
    assert!((whole / half - 2.0).abs() < 0.1, "{whole} {half}");
}

#[test]
fn a_timetable_that_is_ahead_of_the_load_leaves_no_debt() {
    let report = report(|pool| {
        pool["start_up_s"] = json!(60.0);
        pool["scheduled_replicas"] = json!([{ "at_s": 35.0, "replicas": 2 }]);
    });
    assert!(report.debt.peak_waiting <= 2, "{:?}", report.debt);
    let at = |t_s: f64| report.series.iter().rfind(|p| p.t_s <= t_s).copied().expect("a point");
    let seen = [30.0, 60.0, 97.0].map(|t_s| (at(t_s).starting, at(t_s).replicas));
    assert_eq!(seen, [(0, 1), (1, 1), (0, 2)]);
}

#[test]
fn total_cost_is_provisioned_hours_times_price_and_its_lines_sum() {
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 5] = [
        ("fixed", |_| ()),
        ("cold", |pool| {
            pool["start_up_s"] = json!(40.0);
            pool["cold_start"] = json!(true);
        }),
        ("scheduled", |pool| {
            pool["start_up_s"] = json!(10.0);
            pool["scheduled_replicas"] =
                json!([{ "at_s": 90.0, "replicas": 3 }, { "at_s": 200.0, "replicas": 2 }]);
        }),
        ("failing", |pool| {
            pool["start_up_s"] = json!(20.0);
            pool["replicas"] = json!(2);
            pool["failures"] =
                json!({ "crashes": [{ "at_s": 50.0 }, { "at_s": 51.0, "replica": 1 }] });
        }),
        ("failing by chance", |pool| {
            pool["start_up_s"] = json!(20.0);
            pool["replicas"] = json!(3);
            pool["failures"] = json!({ "mean_time_between_h": 0.1 });
        }),
    ];
    for (name, change) in cases {
        let Simulated { report, run, .. } = simulated(change);
        let cost = report.cost.as_ref().expect("a price");
        let sum: f64 = cost.lines.iter().map(|line| line.usd).sum();
        assert!((sum / cost.total - 1.0).abs() < 1e-9, "{name}: {sum} of {}", cost.total);
        assert!((cost.total / (cost.gpu_hours * 3.6) - 1.0).abs() < 1e-12, "{name}");
        let stints = &run.pools[0].stints;
        let paid_s: f64 = stints.iter().map(|stint| (stint.to - stint.from).as_secs()).sum();
        let start_s: f64 = stints.iter().map(|stint| (stint.ready - stint.from).as_secs()).sum();
        if name == "fixed" {
            assert!(stints.is_empty() && line(&report, "start_up") <= 0.0);
        } else {
            assert!((cost.gpu_hours * 3600.0 / paid_s - 1.0).abs() < 1e-9, "{name}");
            assert!((line(&report, "start_up") * 1000.0 / start_s - 1.0).abs() < 1e-9, "{name}");
            assert!(line(&report, "idle") >= 0.0);
        }
    }
}

#[test]
fn a_cold_start_is_simulated_and_a_warm_up_does_not_hide_it() {
    let cold = |pool: &mut Value| {
        pool["start_up_s"] = json!(40.0);
        pool["cold_start"] = json!(true);
    };
    let Simulated { report, run, requests } = simulated(cold);
    // Two a second are held for 40 s, then the replica is ready.
    let start_up = Picos::from_secs(40.0);
    assert_eq!((run.stamps[0].scheduled, run.stamps[0].held), (Some(start_up), start_up));
    assert!(requests.iter().zip(&run.stamps).all(|(r, s)| s.queued >= Some(r.due)));
    assert!((report.debt.peak_waiting as f64 - 80.0).abs() <= 1.0 || report.debt.peak_waiting > 80);
    let first = report.series[0];
    assert_eq!((first.starting, first.replicas), (1, 0));
    // Who is due at t is held for 40 − t seconds and then queues behind 2 t others for a third of a
    // second each: start-up is the main part up to 24 s.
    let causes = &report.accounting.causes.late_first_token;
    assert!(causes[&Cause::StartUp].abs_diff(48) <= 1, "{causes:?}");
    // Two a second are due before it is ready at 40 s, and each waits too long.
    let due = requests.iter().filter(|request| request.due < start_up).count() as u64;
    let turnover = &report.turnover[0];
    assert_eq!((turnover.due_while_starting, due), (due, 80));
    assert!(turnover.lost_while_starting > 70 && turnover.lost_while_starting <= due);
    let later = answer(&scenario_with_warmup(cold)).expect("an answer").report;
    assert_eq!(later.series[0].starting, 1, "what the warm-up leaves out of shares is still there");
    assert!(later.turnover[0].start_up_hours > 0.0);
}

fn scenario_with_warmup(pool: impl FnOnce(&mut Value)) -> Scenario {
    let mut scenario = step_of_load(pool);
    scenario.warmup = Picos::from_secs(60.0);
    scenario
}

#[test]
fn a_crash_loses_what_was_on_the_replica_and_clients_may_try_again() {
    let crash = |pool: &mut Value| {
        pool["replicas"] = json!(2);
        pool["start_up_s"] = json!(30.0);
        pool["failures"] = json!({ "crashes": [{ "at_s": 200.2, "replica": 0 }] });
    };
    let Simulated { report, run, .. } = simulated(crash);
    let lost = run.stamps.iter().filter(|stamps| stamps.fate == Fate::Failed);
    let lost: Vec<_> = lost.collect();
    assert!(!lost.is_empty());
    assert!(lost.iter().all(|s| s.replica == 0 && s.ended == Some(Picos::from_secs(200.2))));
    assert_eq!(report.turnover[0].crashed, 1);
    assert!(report.series.iter().any(|point| point.crashed == 1 && point.replicas == 1));
    let done = |t_s: f64| report.series.iter().rfind(|p| p.t_s <= t_s).expect("a point").replicas;
    assert_eq!((done(229.0), done(232.0)), (1, 2));
    let mut patient = step_of_load(crash);
    patient.classes[0].clients.retries = Some(
        goodput_engine::workload::Retries::new(3, [goodput_engine::workload::RetryOn::Error])
            .expect("retries"),
    );
    let again = answer(&patient).expect("an answer").run;
    assert!(again.stamps.iter().all(|stamps| stamps.fate == Fate::Completed));
    assert!(again.stamps.iter().any(|stamps| stamps.attempts == 2));
}

#[test]
fn a_drained_replica_completes_what_it_holds_and_takes_no_more() {
    let Simulated { report, run, requests } = simulated(|pool| {
        pool["replicas"] = json!(2);
        pool["scheduled_replicas"] = json!([{ "at_s": 150.1, "replicas": 1 }]);
    });
    assert!(run.stamps.iter().all(|stamps| stamps.fate == Fate::Completed));
    // The newest goes; both are as old, so the last.
    let on_it = requests.iter().zip(&run.stamps).filter(|(_, stamps)| stamps.replica == 1);
    let last = on_it.map(|(_, stamps)| stamps).max_by_key(|stamps| stamps.ended).expect("some");
    assert!(last.queued.expect("queued").as_secs() <= 150.1);
    let gone = run.pools[0].stints.iter().find(|stint| stint.replica == 1).expect("a stint");
    assert_eq!(Some(gone.to), last.ended.max(Some(gone.to).filter(|to| to.as_secs() <= 150.1)));
    assert_eq!(report.turnover[0].drained, 1);
}

#[test]
fn a_fleet_that_never_scales_equals_the_fixed_one() {
    let fixed = report(|pool| pool["replicas"] = json!(2));
    let idle_autoscaler = report(|pool| {
        pool["replicas"] = json!(2);
        pool["start_up_s"] = json!(77.0);
        pool["slow_start_s"] = json!(0.0);
        pool["autoscaler"] =
            json!({ "target": 1.0, "min_replicas": 2, "max_replicas": 2, "interval_s": 3.0 });
    });
    let text = |report: &SimReport| {
        let without = SimReport { turnover: Vec::new(), ..report.clone() };
        serde_json::to_string(&without).expect("a report")
    };
    assert_eq!(idle_autoscaler.turnover[0].most, 2);
    assert_eq!(text(&fixed), text(&idle_autoscaler));
}

#[test]
fn slow_start_spares_a_new_replica_while_others_have_room() {
    let run = |slow_start_s: f64| {
        simulated(|pool| {
            pool["max_num_seqs"] = json!(16);
            pool["scheduled_replicas"] = json!([{ "at_s": 120.0, "replicas": 2 }]);
            pool["slow_start_s"] = json!(slow_start_s);
        })
    };
    let of_new = |s: &Simulated| {
        let early = |stamps: &&goodput_engine::slo::RequestStamps| {
            stamps.replica == 1 && stamps.queued.is_some_and(|queued| queued.as_secs() < 130.0)
        };
        s.run.stamps.iter().filter(early).count()
    };
    assert!(of_new(&run(200.0)) <= of_new(&run(0.0)));
    let completed = |s: &Simulated| s.run.stamps.iter().all(|x| x.fate == Fate::Completed);
    assert!(completed(&run(200.0)) && completed(&run(0.0)));
}

/// A replacement is a replica like any other.
#[test]
fn gaps_are_counted_on_replicas_that_replaced_others() {
    let scenario = scenario(|document| {
        fixed(100, 20, 2.0)(document);
        document["workload"]["horizon_s"] = json!(30.0);
        document["workload"]["classes"][0]["slo"]["itl_percentile"] =
            json!({ "percentile": 50.0, "ms": 0.001 });
        let pool = &mut document["fleet"]["pools"][0];
        pool["start_up_s"] = json!(5.0);
        pool["failures"] = json!({ "crashes": [{ "at_s": 10.0, "replica": 0 }] });
    });
    let Simulated { requests, run, .. } = answer(&scenario).expect("an answer");
    let rows = requests.iter().zip(&run.stamps).filter(|(_, s)| s.fate == Fate::Completed);
    let (before, after): (Vec<_>, Vec<_>) =
        rows.partition(|(request, _)| request.due < Picos::from_secs(10.0));
    assert!(before.len() > 10 && after.len() > 10);
    for (_, stamps) in before.into_iter().chain(after) {
        assert_eq!(stamps.gaps_above, 19, "{stamps:?}");
    }
}

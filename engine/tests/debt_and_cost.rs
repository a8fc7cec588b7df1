//! Debt that is useless to work off, and books by class.

mod common;

use common::{fixed, scenario};
use goodput_engine::accounts::answer;
use goodput_engine::sim::StintEnd;
use goodput_engine::slo::Fate;
use serde_json::json;

/// Three times what a replica sustains: soon all that waits is past its limit, while tokens flow at
/// full rate.
#[test]
fn an_overloaded_fleet_works_off_a_useless_backlog_at_full_throughput() {
    let scenario = scenario(|document| {
        fixed(512, 256, 60.0)(document);
        document["workload"]["horizon_s"] = json!(120.0);
        document["fleet"]["pools"][0]["max_num_seqs"] = json!(64);
    });
    let simulated = answer(&scenario).expect("an answer");
    let report = &simulated.report;
    assert!(report.debt.growth_rps > 10.0 && report.debt.drain_while_serving_s.is_none());
    let limit_s = 1.0;
    for point in report.series.iter().step_by(7) {
        let counted = simulated.requests.iter().zip(&simulated.run.stamps).filter(|(r, stamps)| {
            let queued = stamps.queued.is_some_and(|queued| queued.as_secs() <= point.t_s);
            let waits = stamps.scheduled.is_none_or(|s| s.as_secs() > point.t_s);
            let late = point.t_s - r.due.as_secs() > limit_s;
            queued && waits && late && stamps.fate == Fate::Completed
        });
        let (ours, theirs) = (counted.count() as u64, point.waiting_past_limit);
        assert!(ours.abs_diff(theirs) <= 1, "{} s: {ours} {theirs}", point.t_s);
        assert!(theirs <= point.waiting);
    }
    for point in &report.series {
        assert!(point.waiting <= report.debt.peak_waiting);
        assert!(point.waiting_past_limit <= report.debt.peak_past_limit);
        assert!(point.oldest_age_s <= report.debt.oldest_age_s);
        assert!(point.backlog_tokens <= report.debt.peak_tokens);
        assert!(point.backlog_work_s <= report.debt.peak_work_s, "{point:?}");
    }
    assert!(report.debt.share_past_limit_at_peak > 0.9, "{:?}", report.debt);
    assert!(report.debt.past_limit_at_end > 1000);
    let goodput = &report.goodput;
    assert!(goodput.good_output_tps < 0.1 * goodput.output_tps, "{goodput:?}");
    let answered = simulated.run.stamps.iter().filter(|s| s.fate == Fate::Completed).count();
    assert!((goodput.output_tps - answered as f64 * 256.0 / 120.0).abs() < 1e-6);
}

#[test]
fn costs_of_classes_and_idle_time_sum_to_the_total_line_by_line() {
    let scenario = scenario(|document| {
        document["workload"]["horizon_s"] = json!(60.0);
        document["fleet"]["pools"][0]["price_per_gpu_hour"] = json!(2.5);
        document["fleet"]["pools"][0]["num_gpu_blocks"] = json!(900);
        let mut other = document["workload"]["classes"][0].clone();
        other["name"] = json!("other");
        other["arrivals"]["rate_rps"] = json!(30.0);
        document["workload"]["classes"].as_array_mut().expect("classes").push(other);
    });
    let cost = answer(&scenario).expect("an answer").report.cost.expect("a price");
    assert_eq!(cost.classes.len(), 2);
    for line in &cost.lines {
        let of_classes: Vec<f64> = cost
            .classes
            .iter()
            .flat_map(|class| &class.lines)
            .filter(|other| other.line == line.line)
            .map(|other| other.usd)
            .collect();
        let sum: f64 = of_classes.iter().sum();
        let expected = if line.line == "idle" { 0.0 } else { line.usd };
        assert!((sum - expected).abs() < 1e-9 * cost.total, "{}: {sum} of {expected}", line.line);
    }
    let idle = cost.lines.iter().find(|line| line.line == "idle").expect("always").usd;
    let classes: f64 = cost.classes.iter().map(|class| class.usd).sum();
    assert!((classes + idle - cost.total).abs() < 1e-9 * cost.total);
}

/// Full replicas that fail in mid-step, come and go: the step that nobody finished is billed until it
/// was cut off, so that no replica costs more than the time it was there.
#[test]
fn no_replica_is_billed_for_more_time_than_it_was_there() {
    let scenario = scenario(|document| {
        document["workload"]["horizon_s"] = json!(90.0);
        let class = &mut document["workload"]["classes"][0];
        class["arrivals"]["rate_rps"] = json!(120.0);
        class["route"] = json!([{ "pool": "one", "share": 0.6 }, { "pool": "two", "share": 0.4 }]);
        let pool = &mut document["fleet"]["pools"][0];
        pool["price_per_gpu_hour"] = json!(3.0);
        let mut other = pool.clone();
        (pool["name"], other["name"]) = (json!("one"), json!("two"));
        let crash = |at_s: f64, replica: u32| json!({ "at_s": at_s, "replica": replica });
        pool["replicas"] = json!(2);
        pool["failures"] = json!({
            "crashes": [crash(21.003, 0), crash(40.001, 1), crash(60.007, 0), crash(89.99, 1)],
        });
        other["max_num_batched_tokens"] = json!(8192);
        other["start_up_s"] = json!(5.0);
        other["failures"] = json!({ "crashes": [crash(33.33, 0), crash(70.01, 1)] });
        other["autoscaler"] = json!({
            "target": 50.0, "min_replicas": 1, "max_replicas": 3, "interval_s": 10.0,
        });
        document["fleet"]["pools"].as_array_mut().expect("pools").push(other);
    });
    let simulated = answer(&scenario).expect("an answer");
    let crashes = simulated.run.pools.iter().flat_map(|pool| &pool.stints);
    assert!(crashes.filter(|stint| stint.end == StintEnd::Crashed).count() >= 5);
    for (index, pool) in (0_u32..).zip(&simulated.run.pools) {
        let rows = simulated.requests.iter().zip(&simulated.run.stamps);
        let of_pool = rows.filter(|(request, _)| request.pool == index);
        let shared: i64 = of_pool.map(|(_, stamps)| stamps.busy.0).sum();
        let ready: i64 = pool.stints.iter().map(|stint| (stint.to - stint.ready).0).sum();
        // Full all the time, but for a rounding error of each step's shares.
        assert!(shared <= pool.busy.0 && pool.busy.0 - shared < 1_000_000_000, "{shared}");
        assert!(pool.busy.0 <= ready && pool.busy.0 > ready / 10 * 9, "{} {ready}", pool.busy.0);
    }
    let report = simulated.report;
    let pools = report.pools.iter().filter_map(|pool| pool.cost.as_ref());
    for cost in pools.chain(&report.cost) {
        let lines: f64 = cost.lines.iter().map(|line| line.usd).sum();
        assert!((lines - cost.total).abs() <= 1e-9 * cost.total, "{lines} of {}", cost.total);
        assert!(cost.lines.iter().all(|line| line.usd >= 0.0), "{:?}", cost.lines);
    }
}

/// The books are of the whole run, the figures beside them of the window: both are there, each with
/// its own requests, and what is between them is the warm-up's.
#[test]
fn the_cost_of_a_run_and_of_its_window_are_told_apart() {
    let cost = |warmup_s: f64| {
        let scenario = scenario(move |document| {
            fixed(512, 64, 2.0)(document);
            document["workload"]["horizon_s"] = json!(300.0);
            document["workload"]["warmup_s"] = json!(warmup_s);
            document["fleet"]["pools"][0]["price_per_gpu_hour"] = json!(3.6);
        });
        let report = answer(&scenario).expect("an answer").report;
        let cost = report.cost.clone().expect("a price");
        (report, cost)
    };
    let (report, whole) = cost(0.0);
    assert_eq!(whole.after_warmup, None);
    assert_eq!(whole.good, report.goodput.good);
    let (report, of_run) = cost(100.0);
    let after = of_run.after_warmup.expect("a warm-up");
    // The warm-up changes what is counted and nothing else.
    assert_eq!((of_run.good, &of_run.lines), (whole.good, &whole.lines));
    assert_eq!((after.good, of_run.good), (report.goodput.good, 600));
    assert_eq!(after.good, 400);
    assert!((of_run.total - after.total - 100.0 * 3.6 / 3600.0).abs() < 1e-9, "{of_run:?}");
    let per_good = after.per_good_request.expect("some are good");
    let per_hour = report.goodput.good_per_gpu_hour.expect("hours");
    assert!((per_good * per_hour / 3.6 - 1.0).abs() < 1e-12);
    let lines: f64 = of_run.lines.iter().map(|line| line.usd).sum();
    assert!((lines - of_run.total).abs() < 1e-9);
}

//! A size over time: how many replicas each part of the horizon takes, and what a fixed fleet, one
//! with a timetable and one with an autoscaler make of it, each simulated on the same requests.

use serde::{Deserialize, Serialize};

use super::report::{PlanAnswer, PlanReport};
use crate::accounts::report::{MixRate, SimReport};
use crate::accounts::{Simulated, answer};
use crate::fleet::{Autoscaler, Scaling, Signal};
use crate::scenario::{MAX_REPLICAS, Scenario};
use crate::stats;
use crate::units::Picos;

/// Seeds over which the three fleets are compared.
const SEEDS: u64 = 5;
/// Replicas that a timetable gets beyond its proportion, window by window, until it holds; at most.
const MOST_SPARE: u32 = 8;
/// Where a document has no autoscaler: between two looks, and after a decision none for fewer. As
/// the Kubernetes Horizontal Pod Autoscaler does by default.
const INTERVAL_S: f64 = 15.0;
const DOWN_COOLDOWN_S: f64 = 300.0;

/// Replicas over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverTime {
    /// Length of a window, seconds.
    pub window_s: f64,
    /// What each window takes.
    pub windows: Vec<WindowSize>,
    /// The most of any window: the answer of the plan.
    pub peak_replicas: u32,
    /// Their mean over the horizon.
    pub mean_replicas: f64,
    /// The fleets, on the same requests: fixed, scheduled, autoscaled.
    pub fleets: Vec<FleetOverTime>,
    /// The timetable that was simulated, as a document writes it.
    pub timetable: Vec<(f64, u32)>,
    /// From a rise of the load to replicas that serve it, seconds: who scales has to foresee the
    /// load so far ahead, or it is owed meanwhile.
    pub forecast_horizon_s: f64,
    /// The parts of that, in words.
    pub lag: String,
}

/// One window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WindowSize {
    /// Its start, seconds.
    pub from_s: f64,
    /// Expected demand.
    pub required: MixRate,
    /// Replicas in proportion to the work, where the busiest window takes the answer.
    pub replicas: u32,
}

/// One way to have as many replicas as it takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetOverTime {
    /// `fixed`, `scheduled` or `autoscaled`.
    pub kind: String,
    /// How it was set, in words.
    pub how: String,
    /// Replicas paid for in the mean, start-up included.
    pub mean_replicas: f64,
    /// Mean attainment.
    pub attainment: f64,
    /// Seeds in which the contract held.
    pub holds_in: u32,
    /// Of so many.
    pub runs: u32,
    /// Mean good requests per second.
    pub good_rps: f64,
    /// Mean of the peak debt, seconds of work.
    pub peak_debt_s: f64,
    /// Mean of the most requests that waited.
    pub peak_waiting: f64,
    /// USD for the runs' time, in the mean; `null` without a price.
    pub cost: Option<f64>,
    /// USD per good request; `null` without a price or a good request.
    pub cost_per_good_request: Option<f64>,
}

/// The plan over time; an error says why there is none.
///
/// # Errors
/// The plan has no count, there are several pools, or the scenario cannot be simulated.
pub fn over_time(scenario: &Scenario, plan: &PlanReport) -> Result<OverTime, String> {
    if scenario.has_several_pools() {
        return Err("the fleet has several pools: ask for one pool and what is routed there".into());
    }
    let PlanAnswer::Replicas { replicas: peak, .. } = plan.answer else {
        return Err("no count of replicas holds the contract".to_owned());
    };
    let fixed = with(scenario, peak, Scaling::Fixed);
    let first = answer(&fixed).map_err(|why| why.to_string())?;
    let windows = sizes(&first.report, peak);
    let (scheduled, spare) = timetable(scenario, &windows)?;
    let autoscaler = autoscaler(scenario, &first, peak);
    let Scaling::Schedule(entries) = &scheduled.pool.life.scaling else {
        return Err("the timetable was lost".to_owned());
    };
    let timetable: Vec<(f64, u32)> =
        entries.iter().map(|(at, replicas)| (at.as_secs(), *replicas)).collect();
    let begins_with = windows.first().map_or(peak, |window| window.replicas);
    let timetable = std::iter::once((0.0, scheduled.pool.replicas)).chain(timetable).collect();
    let (forecast_horizon_s, lag) = lag(scenario, &autoscaler.0);
    let ahead = crate::accounts::words::span_ms(1e3 * scenario.pool.life.start_up.as_secs());
    let autoscaled = with(scenario, begins_with, Scaling::Auto(autoscaler.0));
    let fleets = [
        ("fixed", format!("{peak} replicas all the time"), fixed),
        (
            "scheduled",
            format!("what each window takes and {spare} more, ordered {ahead} ahead"),
            scheduled,
        ),
        ("autoscaled", autoscaler.1, autoscaled),
    ];
    let fleets = fleets.into_iter().map(|(kind, how, scenario)| fleet(kind, how, &scenario));
    let mean = windows.iter().map(|window| f64::from(window.replicas)).sum::<f64>();
    Ok(OverTime {
        window_s: first.report.supply.peak_window_s,
        peak_replicas: peak,
        mean_replicas: mean / windows.len().max(1) as f64,
        fleets: fleets.collect::<Result<_, String>>()?,
        timetable,
        forecast_horizon_s,
        lag,
        windows,
    })
}

/// The scenario with so many replicas at first and who decides about them.
fn with(scenario: &Scenario, replicas: u32, scaling: Scaling) -> Scenario {
    let mut changed = scenario.clone();
    changed.pool.replicas = replicas;
    changed.pool.life.scaling = scaling;
    changed
}

/// Replicas in proportion to the work of each window, where the busiest takes `peak`.
fn sizes(report: &SimReport, peak: u32) -> Vec<WindowSize> {
    let supply = &report.supply;
    let prefill = supply.prefill_time_share;
    let part = |share: f64, of: f64, all: f64| if all > 0.0 { share * of / all } else { 0.0 };
    let work = |mix: &MixRate| {
        part(prefill, mix.prefill_tps, supply.sustainable.prefill_tps)
            + part(1.0 - prefill, mix.decode_tps, supply.sustainable.decode_tps)
    };
    let busiest = work(&supply.required_peak);
    let size = |mix: &MixRate| {
        let exact = f64::from(peak) * work(mix) / busiest;
        // Equal but for rounding is equal.
        whole((exact - 1e-9).ceil()).clamp(1, peak)
    };
    let windows = supply.demand.iter().enumerate();
    let window = |(index, mix): (usize, &MixRate)| WindowSize {
        from_s: index as f64 * supply.peak_window_s,
        required: *mix,
        replicas: size(mix),
    };
    windows.map(window).collect()
}

/// A timetable that orders what each window takes ahead of it, with as few more as let it hold in
/// the first seed; and how many those are.
fn timetable(scenario: &Scenario, windows: &[WindowSize]) -> Result<(Scenario, u32), String> {
    let lead = scenario.pool.life.start_up;
    let mut found = None;
    for spare in 0..=MOST_SPARE {
        let wanted = |window: &WindowSize| (window.replicas + spare).min(MAX_REPLICAS);
        let first = windows.first().map_or(1, wanted);
        let mut entries: Vec<(Picos, u32)> = Vec::new();
        let mut now = first;
        for (window, next) in windows.iter().zip(windows.iter().skip(1)) {
            let (had, wants) = (wanted(window), wanted(next));
            // More are ordered ahead, fewer let go when the window begins.
            let from = Picos::from_secs(next.from_s);
            let at = if wants > had { (from - lead).max(Picos(1)) } else { from };
            if wants != now && entries.last().is_none_or(|(last, _)| at > *last) {
                entries.push((at, wants));
                now = wants;
            } else if let Some((_, replicas)) = entries.last_mut() {
                // Ordered earlier than something else takes effect: the larger of both stands.
                *replicas = (*replicas).max(wants);
                now = *replicas;
            }
        }
        let changed = with(scenario, first, Scaling::Schedule(entries));
        let holds = answer(&changed).map_err(|why| why.to_string())?.report.contract_holds;
        found = Some((changed, spare));
        if holds {
            break;
        }
    }
    found.ok_or_else(|| "there is no window".to_owned())
}

/// The document's autoscaler, or one that wants as many replicas as have each what it has at the
/// peak in the fixed fleet; and that in words.
fn autoscaler(scenario: &Scenario, fixed: &Simulated, peak: u32) -> (Autoscaler, String) {
    if let Scaling::Auto(autoscaler) = &scenario.pool.life.scaling {
        return (autoscaler.clone(), "the autoscaler of the scenario".to_owned());
    }
    let supply = &fixed.report.supply;
    let until = supply.peak_from_s + supply.peak_window_s;
    let at_peak = fixed.report.series.iter();
    let at_peak = at_peak.filter(|point| (supply.peak_from_s..=until).contains(&point.t_s));
    let outstanding: Vec<f64> = at_peak.map(|p| (p.waiting + p.running) as f64).collect();
    let each = stats::mean(&outstanding).unwrap_or(1.0) / f64::from(peak);
    let target = each.max(1.0);
    let autoscaler = Autoscaler {
        signal: Signal::Outstanding,
        target,
        interval: Picos::from_secs(INTERVAL_S),
        delay: Picos::ZERO,
        up_cooldown: Picos::ZERO,
        down_cooldown: Picos::from_secs(DOWN_COOLDOWN_S),
        min: 1,
        max: peak.saturating_mul(2).min(MAX_REPLICAS),
    };
    let how = format!(
        "{} outstanding requests a replica, as the fixed fleet has at its peak; a look every \
         {INTERVAL_S} s, none fewer for {DOWN_COOLDOWN_S} s: the scenario has no autoscaler",
        crate::accounts::words::three_digits(target)
    );
    (autoscaler, how)
}

/// From a rise of the load to replicas that serve it.
fn lag(scenario: &Scenario, autoscaler: &Autoscaler) -> (f64, String) {
    let Autoscaler { interval, delay, .. } = autoscaler;
    let start_up = scenario.pool.life.start_up;
    let words = |span: Picos| crate::accounts::words::span_ms(span.as_millis());
    let all = (*interval + *delay + start_up).as_secs();
    let lag = format!(
        "{} until it is looked at, at most, {} until it is ordered, {} until it takes requests",
        words(*interval),
        words(*delay),
        words(start_up)
    );
    (all, lag)
}

/// What a fleet makes of the same requests, in the mean over a few seeds.
fn fleet(kind: &str, how: String, scenario: &Scenario) -> Result<FleetOverTime, String> {
    let run = |offset: u64| {
        let seed = scenario.seed.wrapping_add(offset);
        let changed = Scenario { seed, ..scenario.clone() };
        answer(&changed).map(|simulated| simulated.report).map_err(|why| why.to_string())
    };
    let reports = (0..SEEDS).map(run).collect::<Result<Vec<SimReport>, String>>()?;
    let gpus = f64::from(scenario.pool.gpus_per_replica);
    let mean = |value: &dyn Fn(&SimReport) -> Option<f64>| {
        stats::mean(&reports.iter().filter_map(value).collect::<Vec<_>>())
    };
    let replicas = |report: &SimReport| {
        let span_h = (report.ended_s.max(report.horizon_s) - report.warmup_s) / 3600.0;
        let good = report.goodput.good as f64;
        let gpu_hours = good / report.goodput.good_per_gpu_hour?;
        Some(gpu_hours / gpus / span_h).filter(|replicas| replicas.is_finite())
    };
    let holds = reports.iter().filter(|report| report.contract_holds).count();
    Ok(FleetOverTime {
        kind: kind.to_owned(),
        how,
        mean_replicas: mean(&replicas).unwrap_or(0.0),
        attainment: mean(&|report| Some(report.attainment)).unwrap_or(0.0),
        holds_in: u32::try_from(holds).unwrap_or(u32::MAX),
        runs: u32::try_from(reports.len()).unwrap_or(u32::MAX),
        good_rps: mean(&|report| Some(report.goodput.good_rps)).unwrap_or(0.0),
        peak_debt_s: mean(&|report| Some(report.debt.peak_work_s)).unwrap_or(0.0),
        peak_waiting: mean(&|report| Some(report.debt.peak_waiting as f64)).unwrap_or(0.0),
        cost: mean(&|report| report.cost.as_ref().map(|cost| cost.total)),
        cost_per_good_request: mean(&|report| report.cost.as_ref()?.per_good_request),
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
fn whole(x: f64) -> u32 {
    x as u32
}

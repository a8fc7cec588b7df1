//! From a checked scenario to its report.

use super::account_for::account_for;
use super::accounting::Accounting;
use super::cost::{Provision, books};
use super::debt::{WorkRate, debt, series};
use super::latency::histogram;
use super::report::{
    ClassReport, Cost, Goodput, GoodputKind, KvUse, LengthSummary, SeriesPoint, SimReport,
};
use super::supply::{peak_windows, supply};
use super::tally::{self, Latencies, Row};
use super::verdict::Evidence;
use super::words::{percent, span_ms, thousands};
use crate::problem::Problem;
use crate::scenario::{Pool, Scenario};
use crate::sim::{
    CutOff, FleetSim, FleetSpec, Progress, ReplicaSpec, RunLimits, Saturation, SimRun, saturate,
};
use crate::slo::{Fate, Outcome};
use crate::units::Picos;
use crate::workload::{OfferedRequest, Quality, demand};

/// Why a scenario has no simulated answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unanswerable {
    /// The weights do not fit: the estimate says which layout would hold them.
    #[error("the model does not fit in memory")]
    DoesNotFit,
    /// Only token rates are declared: they give supply and debt, never a latency.
    #[error("declared token rates give supply and debt, never a latency")]
    DeclaredRatesOnly,
    /// The workload offers nothing in this draw.
    #[error("no request is due before the horizon in this draw")]
    NobodyAsks,
    /// No request of the workload fits a replica.
    #[error("no request is short enough for max_model_len or the KV blocks of a replica")]
    NothingFits,
    /// The workload could not be generated.
    #[error("{0}")]
    Workload(Problem),
}

impl Unanswerable {
    /// The same as a problem of the document.
    pub fn problem(&self) -> Problem {
        let (path, hint) = match self {
            Self::DoesNotFit => {
                ("fleet.pools[0]", "run the estimate: it names the smallest layout")
            }
            Self::DeclaredRatesOnly => (
                "fleet.pools[0].step_time.source",
                "use the estimate, or give a step law: catalog, physics, datasheet or coefficients",
            ),
            Self::NobodyAsks => {
                ("workload.horizon_s", "lengthen the horizon, raise the rates, or try another seed")
            }
            Self::NothingFits => {
                ("workload.classes", "shorter prompts and outputs, or a larger max_model_len")
            }
            Self::Workload(problem) => return problem.clone(),
        };
        Problem::error(path, self.to_string(), hint)
    }
}

/// A scenario that was simulated: its report, and the rows behind it.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// The report.
    pub report: SimReport,
    /// The requests offered.
    pub requests: Vec<OfferedRequest>,
    /// What happened to them.
    pub run: SimRun,
}

/// Simulates `scenario` to the end and reports.
///
/// # Errors
/// See [`Unanswerable`].
pub fn answer(scenario: &Scenario) -> Result<Simulated, Unanswerable> {
    let answer = Answer::prepare(scenario)?;
    let mut sim = answer.start();
    while let Progress::Running { .. } = sim.advance(u64::MAX) {}
    Ok(answer.report(sim.finish()))
}

/// The replicas of a pool as the simulator takes them.
///
/// # Errors
/// The model does not fit, or only token rates are declared.
pub fn fleet_spec(pool: &Pool) -> Result<FleetSpec, Unanswerable> {
    if pool.memory.does_not_fit.is_some() {
        return Err(Unanswerable::DoesNotFit);
    }
    let step_time = pool.step_time().ok_or(Unanswerable::DeclaredRatesOnly)?;
    let scheduler = &pool.scheduler;
    let replica = ReplicaSpec {
        law: step_time.law.clone(),
        usable_blocks: pool.usable_blocks(),
        block_size: scheduler.block_size,
        window_blocks_per_seq: pool.window_blocks_per_seq(),
        max_num_seqs: scheduler.max_num_seqs,
        max_num_batched_tokens: scheduler.max_num_batched_tokens,
        max_model_len: scheduler.max_model_len,
        chunked_prefill: scheduler.chunked_prefill,
        prefix_caching: scheduler.prefix_caching,
        reserve_full_isl: scheduler.reserve_full_isl,
        async_scheduling: scheduler.async_scheduling,
        api_overhead: pool.api_overhead,
    };
    Ok(FleetSpec { replica, replicas: pool.replicas, admission: pool.admission.clone() })
}

/// A scenario with its requests, its fleet and what a saturated replica sustains.
#[derive(Debug)]
pub struct Answer<'a> {
    scenario: &'a Scenario,
    requests: Vec<OfferedRequest>,
    fleet: FleetSpec,
    saturation: Saturation,
}

impl<'a> Answer<'a> {
    /// Generates the workload and measures a saturated replica.
    ///
    /// # Errors
    /// See [`Unanswerable`].
    pub fn prepare(scenario: &'a Scenario) -> Result<Self, Unanswerable> {
        let fleet = fleet_spec(&scenario.pool)?;
        let requests = scenario.offered().map_err(Unanswerable::Workload)?;
        if requests.is_empty() {
            return Err(Unanswerable::NobodyAsks);
        }
        let saturation = saturate(&requests, &fleet.replica).ok_or(Unanswerable::NothingFits)?;
        Ok(Self { scenario, requests, fleet, saturation })
    }

    /// The same with a workload and a saturated replica that are known already, e.g. those of
    /// another fleet size.
    ///
    /// # Errors
    /// The model does not fit, or only token rates are declared.
    pub fn serving(
        scenario: &'a Scenario,
        requests: Vec<OfferedRequest>,
        saturation: Saturation,
    ) -> Result<Self, Unanswerable> {
        let fleet = fleet_spec(&scenario.pool)?;
        Ok(Self { scenario, requests, fleet, saturation })
    }

    /// Requests to simulate.
    pub fn offered(&self) -> usize {
        self.requests.len()
    }

    /// What one saturated replica does.
    pub fn saturation(&self) -> &Saturation {
        &self.saturation
    }

    /// A run that has not begun.
    pub fn start(&self) -> FleetSim<'_> {
        let limits = RunLimits::to_the_end(self.scenario.horizon);
        FleetSim::new(&self.requests, &self.fleet, limits)
            .asked_by(&self.scenario.classes, self.scenario.seed)
    }

    /// Counts a finished run.
    pub fn report(&self, run: SimRun) -> Simulated {
        let mut report = self.count(&run);
        let rows = tally::rows(&self.requests, &run.stamps, &self.scenario.contracts);
        let window = tally::window(&rows, self.scenario.warmup);
        report.accounting = account_for(self.scenario, &self.fleet.replica, window);
        Simulated { report, requests: self.requests.clone(), run }
    }

    /// The same without the accounting of every request, for a caller with many runs.
    pub fn count(&self, run: &SimRun) -> SimReport {
        let Scenario { horizon, warmup, contracts, classes, .. } = self.scenario;
        let rows = tally::rows(&self.requests, &run.stamps, contracts);
        let window = tally::window(&rows, *warmup);
        let demand = demand(classes, &self.requests, *horizon, peak_windows(*horizon));
        let saturated = (&self.saturation, self.fleet.replicas);
        let supply = supply(&self.requests, &demand, run, saturated, *horizon);
        let series = self.series(run);
        let missed = tally::missed(window, contracts);
        let classes = self.classes(window);
        let missed_targets = tally::missed_targets(window, contracts);
        let attained =
            classes.iter().all(|c| c.offered == 0 || c.attainment >= c.attainment_target);
        let contract_holds = !window.is_empty() && attained && missed_targets.is_empty();
        let evidence = Evidence {
            contract_holds,
            attained,
            missed_targets: &missed_targets,
            untold: untold(window, run),
            attainment: tally::attainment(window),
            offered: window.len() as u64,
            missed: &missed,
            lost: lost(window),
            supply: &supply,
            contracts,
        };
        let latencies = Latencies::of(window);
        let (ttft_histogram, tpot_histogram) =
            (histogram(&latencies.ttft_ms), histogram(&latencies.tpot_ms));
        let [ttft_ms, tpot_ms, e2e_ms, longest_stall_ms, queue_wait_ms] = latencies.percentiles();
        SimReport {
            verdict: evidence.verdict(),
            name: self.scenario.name.clone(),
            seed: self.scenario.seed,
            horizon_s: horizon.as_secs(),
            warmup_s: warmup.as_secs(),
            ended_s: run.ended.as_secs(),
            complete: run.cut_off.is_none(),
            cut_off_by: run.cut_off,
            offered: window.len() as u64,
            outcomes: tally::outcomes(window),
            missed,
            attainment: evidence.attainment,
            attainment_target: contracts.iter().map(|c| c.attainment_target).fold(1.0, f64::min),
            contract_holds,
            goodput: self.goodput(window, run),
            ttft_ms,
            tpot_ms,
            e2e_ms,
            longest_stall_ms,
            queue_wait_ms,
            classes,
            debt: debt(&series, run, *horizon, &supply),
            supply,
            kv: self.kv(run),
            cost: self.cost(&rows, run),
            series,
            ttft_histogram,
            tpot_histogram,
            accounting: Accounting::default(),
        }
    }

    /// The fleet over time.
    fn series(&self, run: &SimRun) -> Vec<SeriesPoint> {
        let work = WorkRate::new(&self.saturation, self.fleet.replicas);
        let asked = (self.requests.as_slice(), self.scenario.contracts.as_slice());
        series(run, asked, &work, self.fleet.replicas)
    }

    /// Each class alone.
    fn classes(&self, window: &[Row]) -> Vec<ClassReport> {
        let max_model_len = self.fleet.replica.max_model_len;
        let classes = (0_u32..).zip(&self.scenario.classes).zip(&self.scenario.contracts);
        classes
            .map(|((index, class), contract)| {
                let of_class = |row: &&Row| row.request.class == index;
                let rows: Vec<Row> = window.iter().filter(of_class).copied().collect();
                let requests: Vec<OfferedRequest> = rows.iter().map(|row| *row.request).collect();
                let (input_tokens, output_tokens) = LengthSummary::of(&requests, max_model_len);
                let [ttft_ms, tpot_ms, e2e_ms, ..] = Latencies::of(&rows).percentiles();
                ClassReport {
                    name: class.name.clone(),
                    offered: rows.len() as u64,
                    outcomes: tally::outcomes(&rows),
                    attainment: tally::attainment(&rows),
                    attainment_target: contract.attainment_target,
                    ttft_ms,
                    tpot_ms,
                    e2e_ms,
                    input_tokens,
                    output_tokens,
                }
            })
            .collect()
    }

    fn goodput(&self, window: &[Row], run: &SimRun) -> Goodput {
        let classes = &self.scenario.classes;
        let unchecked = classes.iter().any(|class| class.quality == Quality::NotChecked);
        let good = window.iter().filter(|row| row.outcome == Outcome::Good).count() as u64;
        let seconds = (self.scenario.horizon - self.scenario.warmup).as_secs();
        // The hours that served the window: those of the warm-up served others.
        let hours = (self.paid(run) - self.scenario.warmup).as_secs() / 3600.0;
        let gpu_hours = f64::from(self.scenario.pool.gpus()) * hours;
        let output_tps = |counts: fn(&Row) -> bool| {
            let counted = window.iter().filter(|row| counts(row));
            let tokens = counted.map(|row| u64::from(row.request.output_tokens));
            tokens.sum::<u64>() as f64 / seconds
        };
        let answered: fn(&Row) -> bool = |row| row.stamps.fate == Fate::Completed;
        let input = window.iter().filter(|row| answered(row));
        let input: u64 = input.map(|row| u64::from(row.request.input_tokens)).sum();
        Goodput {
            kind: if unchecked { GoodputKind::LatencyOnlyGoodput } else { GoodputKind::SloGoodput },
            good,
            good_rps: good as f64 / seconds,
            good_per_gpu_hour: good as f64 / gpu_hours,
            input_tps: input as f64 / seconds,
            output_tps: output_tps(answered),
            good_output_tps: output_tps(|row| row.outcome == Outcome::Good),
            quality: classes.iter().map(|class| quality_words(&class.quality)).collect(),
        }
    }

    /// The fleet is paid for until the last request is decided, and for the horizon at least.
    fn paid(&self, run: &SimRun) -> Picos {
        run.ended.max(self.scenario.horizon)
    }

    fn kv(&self, run: &SimRun) -> KvUse {
        let replica = &self.fleet.replica;
        let per_replica = replica.usable_blocks * u64::from(replica.block_size);
        let capacity_tokens = per_replica * u64::from(self.fleet.replicas);
        let share = |tokens: f64| tokens / (capacity_tokens as f64).max(1.0);
        let horizon_s = self.scenario.horizon.as_secs();
        KvUse {
            capacity_tokens,
            mean_share: share(run.usage.kv_token_s / horizon_s),
            peak_share: share(
                run.samples.iter().map(|s| s.kv_used_tokens).max().unwrap_or(0) as f64
            ),
            preemptions: run.stamps.iter().map(|stamps| u64::from(stamps.preemptions)).sum(),
            recomputed_tokens: run.recomputed_tokens,
            mean_running: run.usage.running_s / horizon_s,
            peak_running: run.samples.iter().map(|sample| sample.running).max().unwrap_or(0),
        }
    }

    fn cost(&self, rows: &[Row], run: &SimRun) -> Option<Cost> {
        let pool = &self.scenario.pool;
        let price = pool.price.as_ref()?;
        let provision = Provision {
            price_per_gpu_hour: price.usd_per_gpu_hour,
            price_source: &price.source,
            gpus_per_replica: pool.gpus_per_replica,
            replicas: pool.replicas,
            paid: self.paid(run),
        };
        let names = self.scenario.classes.iter().map(|class| class.name.as_str());
        Some(books(rows, &provision, &names.collect::<Vec<_>>()))
    }
}

/// Why the counts do not say whether the contract holds, where they do not.
fn untold(window: &[Row], run: &SimRun) -> Option<String> {
    if window.is_empty() {
        return Some(
            "No request is due between warm-up and horizon, so nothing is seen".to_owned(),
        );
    }
    let limit = match run.cut_off? {
        CutOff::Steps => format!("after {} steps", thousands(run.steps as f64)),
        CutOff::Time => "at the end of the time it can count".to_owned(),
    };
    Some(format!(
        "The run was cut off at {} of simulated time by a limit of the simulator ({limit}), so \
         whether the contract holds is not known: shorten the horizon",
        span_ms(run.ended.as_millis()),
    ))
}

/// Requests that left without a whole answer.
fn lost(window: &[Row]) -> u64 {
    let lost = |row: &&Row| !matches!(row.stamps.fate, Fate::Completed | Fate::Unfinished);
    window.iter().filter(lost).count() as u64
}

fn quality_words(quality: &Quality) -> String {
    match quality {
        Quality::NotChecked => "not checked".to_owned(),
        Quality::Assumed { pass_rate, by } => {
            format!("{} of answers pass, assumed by {by}", percent(*pass_rate))
        }
        Quality::Verified { pass_rate, source } => {
            format!("{} of answers passed {source}", percent(*pass_rate))
        }
    }
}

//! From a checked scenario to its report.

use super::account_for::account_for;
use super::accounting::Accounting;
use super::closed_loop::{closed_loop, unyielding};
use super::cost::{Provision, books};
use super::debt::{debt, series};
use super::goodput::goodput;
use super::prefix_cache::{class_sharing, prefix_cache};
use super::recount::within;
use super::report::{ClassReport, Cost, KvUse, LengthSummary, SeriesPoint, SimReport, Supply};
use super::supply::{Saturations, peak_windows, supply};
use super::tally::{self, Latencies, Row};
use super::verdict::{Evidence, proviso};
use super::words::{span_ms, thousands};
use crate::problem::Problem;
use crate::scenario::{Pool, Scenario};
use crate::sim::{CutOff, FleetSim, FleetSpec, Progress, ReplicaSpec, RunLimits, SimRun, WorkRate};
use crate::slo::gap_limits;
use crate::units::Picos;
use crate::workload::{Hidden, OfferedRequest, demand, digest};

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
    saturations: Saturations,
}

impl<'a> Answer<'a> {
    /// Generates the workload and measures a saturated replica.
    ///
    /// # Errors
    /// See [`Unanswerable`].
    pub fn prepare(scenario: &'a Scenario) -> Result<Self, Unanswerable> {
        let fleet = fleet_spec(&scenario.pool)?;
        let mix = scenario.mix().map_err(Unanswerable::Workload)?;
        if mix.is_empty() {
            return Err(Unanswerable::NobodyAsks);
        }
        let Scenario { classes, horizon, .. } = scenario;
        let saturations =
            Saturations::of(classes, &mix, *horizon, (&fleet.replica, fleet.replicas))
                .ok_or(Unanswerable::NothingFits)?;
        let requests = if scenario.has_followers() {
            scenario.offered().map_err(Unanswerable::Workload)?
        } else {
            mix
        };
        Ok(Self { scenario, requests, fleet, saturations })
    }

    /// The same with a workload and a saturated replica that are known already, e.g. those of
    /// another fleet size.
    ///
    /// # Errors
    /// The model does not fit, or only token rates are declared.
    pub fn serving(
        scenario: &'a Scenario,
        requests: Vec<OfferedRequest>,
        saturations: Saturations,
    ) -> Result<Self, Unanswerable> {
        let fleet = fleet_spec(&scenario.pool)?;
        Ok(Self { scenario, requests, fleet, saturations })
    }

    /// How far a run has come that has decided so many requests, 0 to 1. How much the users of a
    /// closed loop will ask is not known before, so with them it goes by time.
    pub fn share_done(&self, run: &FleetSim, decided: u64) -> f64 {
        if self.scenario.has_followers() {
            (run.now().as_secs() / self.scenario.horizon.as_secs()).min(1.0)
        } else {
            decided as f64 / self.requests.len().max(1) as f64
        }
    }

    /// A run that has not begun.
    pub fn start(&self) -> FleetSim<'_> {
        let limits = RunLimits::to_the_end(self.scenario.horizon);
        FleetSim::new(&self.requests, &self.fleet, limits)
            .weighing(self.work_rate())
            .asked_by(&self.scenario.classes, self.scenario.seed)
            .counting_gaps_above(&gap_limits(&self.scenario.contracts))
    }

    /// Whether the first token that is shown is another than the first, or matters as such.
    fn hides_tokens(&self) -> bool {
        let Scenario { classes, contracts, .. } = self.scenario;
        classes.iter().any(|class| class.hidden != Hidden::None)
            || contracts.iter().any(|contract| contract.ttfvt.is_some())
    }

    /// Counts a finished run.
    pub fn report(&self, mut run: SimRun) -> Simulated {
        let mut report = self.count(&run);
        let requests = run.requests.take().unwrap_or_else(|| self.requests.clone());
        let rows = tally::rows(&requests, &run.stamps, &self.scenario.contracts);
        let window = tally::window(&rows, self.scenario.warmup);
        report.accounting = account_for(self.scenario, &self.fleet.replica, window);
        report.requests_digest = format!("{:016x}", digest(&requests));
        Simulated { report, requests, run }
    }

    /// The same without the accounting of every request, for a caller with many runs.
    pub fn count(&self, run: &SimRun) -> SimReport {
        let Scenario { name, seed, horizon, warmup, contracts, .. } = self.scenario;
        let requests = run.requests.as_deref().unwrap_or(&self.requests);
        let rows = tally::rows(requests, &run.stamps, contracts);
        let supply = self.supply(requests, &self.saturations_of(run), run);
        let unyielding = unyielding(self.scenario, requests, &supply);
        let (window, series) = (tally::window(&rows, *warmup), self.series(requests, run));
        let (outcomes, all) = (tally::outcomes(window), Latencies::of(window));
        let evidence = Evidence {
            attained: tally::attained(window, contracts),
            missed_targets: &tally::missed_targets(window, contracts),
            untold: untold(window, run),
            attainment: tally::attainment(window),
            outcomes: &outcomes,
            proviso: proviso(&self.scenario.pool),
            supply: &supply,
            unyielding,
            contracts,
        };
        let [ttft, ttfvt, tpot, e2e, longest_stall] = all.histograms();
        let [ttft_ms, ttfvt_ms, tpot_ms, e2e_ms, longest_stall_ms, queue_wait_ms] =
            all.percentiles();
        SimReport {
            verdict: evidence.verdict(),
            name: name.clone(),
            seed: *seed,
            requests_digest: String::new(),
            horizon_s: horizon.as_secs(),
            warmup_s: warmup.as_secs(),
            ended_s: run.ended.as_secs(),
            complete: run.cut_off.is_none(),
            cut_off_by: run.cut_off,
            offered: window.len() as u64,
            attempts: tally::attempts(window),
            missed: tally::missed(window, contracts),
            attainment: evidence.attainment,
            attainment_target: contracts.iter().map(|c| c.attainment_target).fold(1.0, f64::min),
            contract_holds: evidence.contract_holds(),
            goodput: goodput(self.scenario, window, self.paid(run)),
            ttft_ms,
            ttfvt_ms: self.hides_tokens().then_some(ttfvt_ms),
            tpot_ms,
            e2e_ms,
            longest_stall_ms,
            queue_wait_ms,
            classes: self.classes(window, &rows, run),
            debt: debt(&series, (requests, contracts), run, *horizon, (&unyielding, &supply)),
            prefix_cache: prefix_cache(self.scenario, window, (requests, run), &supply),
            supply,
            kv: self.kv(run),
            cost: self.cost(&rows, run),
            series,
            ttft_histogram: ttft,
            ttfvt_histogram: self.hides_tokens().then_some(ttfvt),
            tpot_histogram: tpot,
            e2e_histogram: e2e,
            longest_stall_histogram: longest_stall,
            within: within(window, contracts),
            accounting: Accounting::default(),
            outcomes,
        }
    }

    /// What a saturated replica does of the mix of a run: where closed loops asked, what they asked
    /// is known only now.
    fn saturations_of(&self, run: &SimRun) -> Saturations {
        let Scenario { classes, horizon, .. } = self.scenario;
        let replicas = (&self.fleet.replica, self.fleet.replicas);
        let of = |asked: &Vec<_>| Saturations::of(classes, asked, *horizon, replicas);
        run.requests.as_ref().and_then(of).unwrap_or(self.saturations)
    }

    /// What was asked for against what could be done.
    fn supply(
        &self,
        requests: &[OfferedRequest],
        saturations: &Saturations,
        run: &SimRun,
    ) -> Supply {
        let Scenario { horizon, classes, .. } = self.scenario;
        let demand = demand(classes, requests, *horizon, peak_windows(*horizon));
        supply(requests, &demand, run, (saturations, self.fleet.replicas), *horizon)
    }

    /// The fleet over time.
    fn series(&self, requests: &[OfferedRequest], run: &SimRun) -> Vec<SeriesPoint> {
        let asked = (requests, self.scenario.contracts.as_slice());
        series(run, asked, &self.work_rate(), self.fleet.replicas)
    }

    /// By the mix that was expected: that of a closed loop is known when the run has ended, and
    /// the peaks are looked for while it goes on.
    fn work_rate(&self) -> WorkRate {
        WorkRate::new(&self.saturations.mean, self.fleet.replicas)
    }

    /// Each class alone, of the `window` and of `all` requests.
    fn classes(&self, window: &[Row], all: &[Row], run: &SimRun) -> Vec<ClassReport> {
        let max_model_len = self.fleet.replica.max_model_len;
        let classes = (0_u32..).zip(&self.scenario.classes).zip(&self.scenario.contracts);
        classes
            .map(|((index, class), contract)| {
                let of_class = |row: &&Row| row.request.class == index;
                let rows: Vec<Row> = window.iter().filter(of_class).copied().collect();
                let requests: Vec<OfferedRequest> = rows.iter().map(|row| *row.request).collect();
                let (input_tokens, output_tokens) = LengthSummary::of(&requests, max_model_len);
                let [ttft_ms, ttfvt_ms, tpot_ms, e2e_ms, ..] = Latencies::of(&rows).percentiles();
                let hides = class.hidden != Hidden::None || contract.ttfvt.is_some();
                ClassReport {
                    name: class.name.clone(),
                    offered: rows.len() as u64,
                    outcomes: tally::outcomes(&rows),
                    attainment: tally::attainment(&rows),
                    attainment_target: contract.attainment_target,
                    ttft_ms,
                    ttfvt_ms: hides.then_some(ttfvt_ms),
                    tpot_ms,
                    e2e_ms,
                    input_tokens,
                    output_tokens,
                    sharing: class_sharing(class, &rows, run.unasked.get(index as usize)),
                    closed_loop: class.arrivals.closed_loop().map(|crowd| {
                        let rows: Vec<Row> = all.iter().filter(of_class).copied().collect();
                        let Scenario { warmup, horizon, .. } = self.scenario;
                        closed_loop(crowd, &rows, *warmup, *horizon)
                    }),
                }
            })
            .collect()
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
        CutOff::Attempts => {
            let attempts = run.samples.last().map_or(0, |sample| sample.attempts);
            format!("after {} attempts", thousands(attempts as f64))
        }
        CutOff::Time => "at the end of the time it can count".to_owned(),
    };
    Some(format!(
        "The run was cut off at {} of simulated time by a limit of the simulator ({limit}), so \
         whether the contract holds is not known: shorten the horizon",
        span_ms(run.ended.as_millis()),
    ))
}

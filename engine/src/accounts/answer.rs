//! From a checked scenario to its report.

use super::account_for::account_for;
use super::accounting::Accounting;
use super::closed_loop::closed_loop;
use super::cost::{books_together, pool_books};
use super::debt::{debt, series};
use super::goodput::goodput;
use super::headline::judge;
use super::parts::{Part, Served, together};
use super::pool_report::{kv_use, pool_report, turnover};
use super::prefix_cache::{class_sharing, prefix_cache};
use super::provision::Provisioned;
use super::recount::within;
use super::report::{
    ClassReport, Cost, LengthSummary, PoolReport, ReplicaTurnover, SeriesPoint, SimReport, Supply,
};
use super::spec::{Unanswerable, fleet_spec};
use super::supply::Saturations;
use super::tally::{self, Latencies, Row};
use super::verdict::{Binding, Evidence};
use super::words::{span_ms, thousands};
use crate::scenario::{Pool, Scenario};
use crate::sim::{
    CutOff, FleetSim, FleetSpec, PoolRun, PoolSpec, Progress, RunLimits, SimRun, WorkRate,
};
use crate::slo::gap_limits;
use crate::units::Picos;
use crate::workload::{Hidden, OfferedRequest, digest};

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

/// A scenario with its requests, its fleet and what a saturated replica sustains.
#[derive(Debug)]
pub struct Answer<'a> {
    scenario: &'a Scenario,
    requests: Vec<OfferedRequest>,
    fleet: FleetSpec,
    parts: Vec<Part<'a>>,
}

impl<'a> Answer<'a> {
    /// Generates the workload and measures a saturated replica.
    ///
    /// # Errors
    /// See [`Unanswerable`].
    pub fn prepare(scenario: &'a Scenario) -> Result<Self, Unanswerable> {
        let fleet = fleet_spec(scenario)?;
        let mix = scenario.mix().map_err(Unanswerable::Workload)?;
        if mix.is_empty() {
            return Err(Unanswerable::NobodyAsks);
        }
        let parts = Part::all(scenario, &fleet, &mix, None);
        if parts.iter().all(|part| part.saturations.is_none()) {
            return Err(Unanswerable::NothingFits);
        }
        let requests = if scenario.has_followers() {
            scenario.offered().map_err(Unanswerable::Workload)?
        } else {
            mix
        };
        Ok(Self { scenario, requests, fleet, parts })
    }

    /// The same with a workload and saturated replicas, one of each pool, that are known already,
    /// e.g. those of another fleet size.
    ///
    /// # Errors
    /// The model does not fit, or only token rates are declared.
    pub fn serving(
        scenario: &'a Scenario,
        requests: Vec<OfferedRequest>,
        saturations: Vec<Option<Saturations>>,
    ) -> Result<Self, Unanswerable> {
        let fleet = fleet_spec(scenario)?;
        let parts = Part::all(scenario, &fleet, &[], Some(saturations));
        Ok(Self { scenario, requests, fleet, parts })
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
            .weighing(&self.work_rates())
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
        report.accounting = account_for(self.scenario, (&self.fleet, &run.pools), window);
        report.requests_digest = format!("{:016x}", digest(&requests));
        Simulated { report, requests, run }
    }

    /// The same without the accounting of every request, for a caller with many runs.
    pub fn count(&self, run: &SimRun) -> SimReport {
        let Scenario { name, seed, horizon, warmup, contracts, .. } = self.scenario;
        let requests = run.requests.as_deref().unwrap_or(&self.requests);
        let rows = tally::rows(requests, &run.stamps, contracts);
        let (window, series) = (tally::window(&rows, *warmup), self.series(requests, run));
        let served = Served::all(&self.parts, &self.fleet, requests, run);
        let supply = self.supply(&served, requests);
        let binding = Binding::of(&served).unwrap_or_else(|| Binding::all_of(&supply));
        let untold = untold(window, run);
        let mut evidence =
            Evidence::of(self.scenario, window, untold, binding, supply.required.rps);
        let debt = debt(&series, (requests, contracts), run, *horizon, &served);
        evidence.crowd = self.scenario.users().map(|users| (users, debt.waiting_at_end));
        let all = Latencies::of(window);
        let [ttft, ttfvt, tpot, e2e, longest_stall] = all.histograms();
        let [ttft_ms, ttfvt_ms, tpot_ms, e2e_ms, longest_stall_ms, queue_wait_ms] =
            all.percentiles();
        let mut report = SimReport {
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
            expectations: Vec::new(),
            goodput: goodput(self.scenario, window, self.gpu_hours(run)),
            ttft_ms,
            ttfvt_ms: self.hides_tokens().then_some(ttfvt_ms),
            tpot_ms,
            e2e_ms,
            longest_stall_ms,
            queue_wait_ms,
            classes: self.classes(window, &rows, run),
            debt,
            prefix_cache: prefix_cache(self.scenario, window, (requests, run), &supply),
            kv: kv_use(&self.fleet, run, *horizon),
            cost: self.cost(&rows, run),
            pools: self.pool_reports(&served, run),
            turnover: self.turnover(window, run),
            supply,
            series,
            ttft_histogram: ttft,
            ttfvt_histogram: self.hides_tokens().then_some(ttfvt),
            tpot_histogram: tpot,
            e2e_histogram: e2e,
            longest_stall_histogram: longest_stall,
            within: within(window, contracts),
            accounting: Accounting::default(),
            outcomes: tally::outcomes(window),
        };
        report.expectations = judge(&self.scenario.expectations, &report);
        report
    }

    /// What was asked for against what could be done.
    fn supply(&self, served: &[Served], requests: &[OfferedRequest]) -> Supply {
        let parts: Vec<_> = served.iter().filter_map(|served| served.supply.as_ref()).collect();
        together(&parts, requests, self.scenario).unwrap_or_else(Supply::of_nothing)
    }

    /// The fleet over time.
    fn series(&self, requests: &[OfferedRequest], run: &SimRun) -> Vec<SeriesPoint> {
        let asked = (requests, self.scenario.contracts.as_slice());
        series(run, asked)
    }

    /// By the mix that was expected: that of a closed loop is known when the run has ended, and
    /// the peaks are looked for while it goes on.
    fn work_rates(&self) -> Vec<WorkRate> {
        self.parts.iter().map(Part::work_rate).collect()
    }

    /// Each class alone, of the `window` and of `all` requests.
    fn classes(&self, window: &[Row], all: &[Row], run: &SimRun) -> Vec<ClassReport> {
        let max_model_len =
            |r: &OfferedRequest| self.fleet.pools[r.pool as usize].replica.max_model_len;
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

    /// The hours that served the window: those of the warm-up served others.
    fn gpu_hours(&self, run: &SimRun) -> f64 {
        let (warmup, paid) = (self.scenario.warmup, self.paid(run));
        let hours = (paid - warmup).as_secs() / 3600.0;
        let pools = self.scenario.pools().zip(self.fleet.pools.iter().zip(&run.pools));
        let scaled: Vec<_> = pools
            .map(|(pool, (spec, did))| (pool, Provisioned::new(spec, did).scaled(warmup, paid)))
            .collect();
        if scaled.iter().all(|(_, scaled)| scaled.is_none()) {
            let gpus: u32 = self.scenario.pools().map(Pool::gpus).sum();
            return f64::from(gpus) * hours;
        }
        let of_pool = |(pool, scaled): &(&Pool, Option<(f64, f64)>)| match scaled {
            None => f64::from(pool.gpus()) * hours,
            Some((replica_s, _)) => f64::from(pool.gpus_per_replica) * replica_s / 3600.0,
        };
        scaled.iter().map(of_pool).sum()
    }

    fn pool_reports(&self, served: &[Served], run: &SimRun) -> Vec<PoolReport> {
        if !self.scenario.has_several_pools() {
            return Vec::new();
        }
        let pools = served.iter().zip(&self.fleet.pools).zip(&run.pools);
        let paid = self.paid(run);
        pools.map(|((served, spec), did)| pool_report(served, (spec, did), (run, paid))).collect()
    }

    fn turnover(&self, window: &[Row], run: &SimRun) -> Vec<ReplicaTurnover> {
        let paid = self.paid(run);
        let pools = (0_u32..).zip(self.scenario.pools());
        let pools = pools.zip(self.fleet.pools.iter().zip(&run.pools));
        let of_pool = |((index, pool), of): ((u32, &Pool), (&PoolSpec, &PoolRun))| {
            let rows = window.iter().filter(|row| row.request.pool == index);
            turnover(&pool.name, of, rows, paid)
        };
        pools.filter_map(of_pool).collect()
    }

    fn cost(&self, rows: &[Row], run: &SimRun) -> Option<Cost> {
        let paid = self.paid(run);
        let several = self.scenario.has_several_pools();
        let of_pool = |((index, pool), (spec, did)): ((u32, &Pool), (&PoolSpec, &PoolRun))| {
            let of_pool: Vec<Row>;
            let rows = if several {
                of_pool = rows.iter().filter(|row| row.request.pool == index).copied().collect();
                &of_pool
            } else {
                rows
            };
            let provisioned = Provisioned::new(spec, did);
            pool_books(self.scenario, (pool, &provisioned), rows, paid)
        };
        let pools = (0..).zip(self.scenario.pools()).zip(self.fleet.pools.iter().zip(&run.pools));
        let books: Vec<Option<Cost>> = pools.map(of_pool).collect();
        books_together(&books, rows)
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

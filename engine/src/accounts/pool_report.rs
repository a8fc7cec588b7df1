//! One pool of several, alone: the report of what is routed to it.

use super::cost::pool_books;
use super::parts::Served;
use super::provision::{Provisioned, is_within};
use super::report::{KvUse, PoolReport, ReplicaTurnover, VerdictState};
use super::tally::{self, Latencies, Row};
use super::verdict::{Binding, Evidence};
use crate::sim::{FleetSpec, PoolRun, PoolSpec, SimRun, StintEnd};
use crate::slo::Outcome;
use crate::units::Picos;

/// The report of what a pool served, which `did` so much of `run`; it is `paid` for until then.
pub fn pool_report(
    served: &Served,
    (spec, did): (&PoolSpec, &PoolRun),
    (run, paid): (&SimRun, Picos),
) -> PoolReport {
    let scenario = &served.part.scenario;
    let (pool, contracts) = (&scenario.pool, &scenario.contracts);
    let provisioned = Provisioned::new(spec, did);
    let rows = tally::rows(&served.requests, &served.stamps, contracts);
    let window = tally::window(&rows, scenario.warmup);
    let state = Binding::of(std::slice::from_ref(served)).map(|binding| {
        let untold = (window.is_empty() || run.cut_off.is_some()).then(String::new);
        let offered_rps = binding.supply.required.rps;
        Evidence::of(scenario, window, untold, binding, offered_rps).verdict().state
    });
    let [ttft_ms, _, tpot_ms, e2e_ms, ..] = Latencies::of(window).percentiles();
    PoolReport {
        name: pool.name.clone(),
        model: pool.model.name.clone(),
        gpu: pool.gpu.name.clone(),
        replicas: provisioned.most(),
        gpus: provisioned.most() * pool.gpus_per_replica,
        state: match state {
            _ if served.requests.is_empty() => VerdictState::Idle,
            state => state.unwrap_or(VerdictState::NotMeasuredHere),
        },
        offered: window.len() as u64,
        outcomes: tally::outcomes(window),
        attainment: tally::attainment(window),
        ttft_ms,
        tpot_ms,
        e2e_ms,
        supply: served.supply.as_ref().map(|part| part.supply.clone()),
        peak_waiting: did.peaks.waiting,
        peak_work_s: did.peaks.work_s,
        kv: pool_kv(spec, did, &served.stamps, scenario.horizon),
        cost: pool_books(scenario, (pool, &provisioned), &rows, paid),
    }
}

/// How the replicas of a pool came and went, which is asked the `rows` of the window; `None` where
/// all were there all the time.
pub fn turnover<'a>(
    name: &str,
    (spec, did): (&PoolSpec, &PoolRun),
    rows: impl Iterator<Item = &'a Row<'a>>,
    paid: Picos,
) -> Option<ReplicaTurnover> {
    if did.stints.is_empty() {
        return None;
    }
    let provisioned = Provisioned::new(spec, did);
    let (paid_s, start_up_s) = provisioned
        .scaled(Picos::ZERO, paid)
        .unwrap_or((f64::from(spec.replicas) * paid.as_secs(), 0.0));
    let starting = provisioned.starting();
    let due: Vec<&Row> = rows.filter(|row| is_within(&starting, row.request.due)).collect();
    let ended = |end: StintEnd| did.stints.iter().filter(|stint| stint.end == end).count() as u64;
    Some(ReplicaTurnover {
        pool: name.to_owned(),
        most: provisioned.most(),
        mean: paid_s / paid.as_secs(),
        ordered: did.stints.iter().filter(|stint| stint.ready > stint.from).count() as u64,
        crashed: ended(StintEnd::Crashed),
        drained: ended(StintEnd::Drained),
        cancelled: ended(StintEnd::Cancelled),
        replica_hours: paid_s / 3600.0,
        start_up_hours: start_up_s / 3600.0,
        due_while_starting: due.len() as u64,
        lost_while_starting: due.iter().filter(|row| row.outcome != Outcome::Good).count() as u64,
    })
}

/// KV memory and live sequences of the whole fleet.
pub fn kv_use(fleet: &FleetSpec, run: &SimRun, horizon: Picos) -> KvUse {
    let capacity_tokens = fleet.pools.iter().map(capacity_tokens).sum();
    let sum = |of: fn(&PoolRun) -> f64| run.pools.iter().map(of).fold(0.0, |sum, one| sum + one);
    let peak = run.samples.iter().map(|sample| sample.kv_used_tokens).max().unwrap_or(0);
    let share = |tokens: f64| tokens / (capacity_tokens as f64).max(1.0);
    KvUse {
        capacity_tokens,
        mean_share: share(sum(|pool| pool.usage.kv_token_s) / horizon.as_secs()),
        peak_share: share(peak as f64),
        preemptions: run.stamps.iter().map(|stamps| u64::from(stamps.preemptions)).sum(),
        recomputed_tokens: run.recomputed_tokens,
        mean_running: sum(|pool| pool.usage.running_s) / horizon.as_secs(),
        peak_running: run.samples.iter().map(|sample| sample.running).max().unwrap_or(0),
    }
}

fn pool_kv(
    spec: &PoolSpec,
    did: &PoolRun,
    stamps: &[crate::slo::RequestStamps],
    horizon: Picos,
) -> KvUse {
    let capacity_tokens = capacity_tokens(spec);
    let share = |tokens: f64| tokens / (capacity_tokens as f64).max(1.0);
    KvUse {
        capacity_tokens,
        mean_share: share(did.usage.kv_token_s / horizon.as_secs()),
        peak_share: share(did.peak_kv_tokens as f64),
        preemptions: stamps.iter().map(|stamps| u64::from(stamps.preemptions)).sum(),
        recomputed_tokens: did.recomputed_tokens,
        mean_running: did.usage.running_s / horizon.as_secs(),
        peak_running: did.peak_running,
    }
}

fn capacity_tokens(spec: &PoolSpec) -> u64 {
    let per_replica = spec.replica.usable_blocks * u64::from(spec.replica.block_size);
    per_replica * u64::from(spec.most_replicas())
}

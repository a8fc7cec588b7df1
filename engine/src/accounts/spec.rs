//! A scenario as the simulator takes it, and why there may be none.

use crate::problem::Problem;
use crate::scenario::{Pool, Scenario};
use crate::sim::{FleetSpec, PoolSpec, ReplicaSpec, SchedulingPolicy};

/// Why a scenario has no simulated answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unanswerable {
    /// The weights do not fit: the estimate says which layout would hold them.
    #[error("the model does not fit in memory")]
    DoesNotFit {
        /// Index of the pool.
        pool: usize,
    },
    /// Only token rates are declared: they give supply and debt, never a latency.
    #[error("declared token rates give supply and debt, never a latency")]
    DeclaredRatesOnly {
        /// Index of the pool.
        pool: usize,
    },
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
            Self::DoesNotFit { pool } => {
                (format!("fleet.pools[{pool}]"), "run the estimate: it names the smallest layout")
            }
            Self::DeclaredRatesOnly { pool } => (
                format!("fleet.pools[{pool}].step_time.source"),
                "use the estimate, or give a step law: catalog, physics, datasheet or coefficients",
            ),
            Self::NobodyAsks => (
                "workload.horizon_s".to_owned(),
                "lengthen the horizon, raise the rates, or try another seed",
            ),
            Self::NothingFits => (
                "workload.classes".to_owned(),
                "shorter prompts and outputs, or a larger max_model_len",
            ),
            Self::Workload(problem) => return problem.clone(),
        };
        Problem::error(path, self.to_string(), hint)
    }

    /// The same of the pool with that index.
    fn in_pool(self, pool: usize) -> Self {
        match self {
            Self::DoesNotFit { .. } => Self::DoesNotFit { pool },
            Self::DeclaredRatesOnly { .. } => Self::DeclaredRatesOnly { pool },
            other => other,
        }
    }
}

/// One replica of a pool as the simulator takes it; where it schedules by priority, of requests that
/// all have the same.
///
/// # Errors
/// The model does not fit, or only token rates are declared.
pub fn replica_spec(pool: &Pool) -> Result<ReplicaSpec, Unanswerable> {
    if pool.memory.does_not_fit.is_some() {
        return Err(Unanswerable::DoesNotFit { pool: 0 });
    }
    let step_time = pool.step_time().ok_or(Unanswerable::DeclaredRatesOnly { pool: 0 })?;
    let scheduler = &pool.scheduler;
    Ok(ReplicaSpec {
        law: step_time.law.clone(),
        usable_blocks: pool.usable_blocks(),
        block_size: scheduler.block_size,
        window_blocks_per_seq: pool.window_blocks_per_seq(),
        max_num_seqs: scheduler.max_num_seqs,
        max_num_batched_tokens: scheduler.max_num_batched_tokens,
        scheduling_policy: if scheduler.by_priority {
            SchedulingPolicy::Priority(Vec::new())
        } else {
            SchedulingPolicy::Fcfs
        },
        long_prefill_token_threshold: scheduler.long_prefill_token_threshold,
        stream_interval: scheduler.stream_interval,
        max_model_len: scheduler.max_model_len,
        chunked_prefill: scheduler.chunked_prefill,
        prefix_caching: scheduler.prefix_caching,
        reserve_full_isl: scheduler.reserve_full_isl,
        async_scheduling: scheduler.async_scheduling,
        api_overhead: pool.api_overhead,
    })
}

/// The fleet of a scenario as the simulator takes it.
///
/// # Errors
/// As [`replica_spec`], for the first pool that has none.
pub fn fleet_spec(scenario: &Scenario) -> Result<FleetSpec, Unanswerable> {
    let pools = scenario.pools().enumerate().map(|(index, pool)| {
        let mut replica = replica_spec(pool).map_err(|why| why.in_pool(index))?;
        if let SchedulingPolicy::Priority(of_classes) = &mut replica.scheduling_policy {
            of_classes.extend(scenario.classes.iter().map(|class| class.priority));
        }
        Ok(PoolSpec { replica, replicas: pool.replicas, life: pool.life.clone() })
    });
    Ok(FleetSpec {
        pools: pools.collect::<Result<_, _>>()?,
        routing: scenario.routing,
        admission: scenario.admission.clone(),
    })
}

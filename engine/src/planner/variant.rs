//! One scenario with one thing changed: another fleet size, another load, one constraint relaxed.

use crate::scenario::{Scenario, Service};
use crate::workload::Quality;

/// Steps of α in 1: the multiples of a mix that are tried are whole numbers of fiftieths.
pub const ALPHA_STEPS: u32 = 50;

/// A constraint that is relaxed alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Constraint {
    /// KV memory × 1.25.
    KvMemory,
    /// `max_num_seqs` × 1.25.
    Seats,
    /// `max_num_batched_tokens` × 2.
    TokenBudget,
    /// Step time − 20 %.
    StepTime,
    /// Evenly spaced arrivals.
    EvenArrivals,
    /// No errors, every answer acceptable.
    ErrorsAndQuality,
}

impl Constraint {
    /// All of them, in the order in which equal gains are listed.
    pub const ALL: [Self; 6] = [
        Self::StepTime,
        Self::KvMemory,
        Self::Seats,
        Self::TokenBudget,
        Self::EvenArrivals,
        Self::ErrorsAndQuality,
    ];

    /// As the report writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::KvMemory => "kv_memory",
            Self::Seats => "seats",
            Self::TokenBudget => "token_budget",
            Self::StepTime => "step_time",
            Self::EvenArrivals => "even_arrivals",
            Self::ErrorsAndQuality => "errors_and_quality",
        }
    }

    /// What was changed, in words.
    pub fn label(self) -> &'static str {
        match self {
            Self::KvMemory => "KV memory × 1.25",
            Self::Seats => "max_num_seqs × 1.25",
            Self::TokenBudget => "max_num_batched_tokens × 2",
            Self::StepTime => "step time − 20 %",
            Self::EvenArrivals => "evenly spaced arrivals",
            Self::ErrorsAndQuality => "no errors, every answer acceptable",
        }
    }
}

/// What is changed in a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variant {
    /// Replicas.
    pub replicas: u32,
    /// α × [`ALPHA_STEPS`]: the whole mix at a multiple of its rates.
    pub alpha_steps: u32,
    /// Relaxed, if any.
    pub relaxed: Option<Constraint>,
    /// Added to the scenario's seed.
    pub seed_offset: u64,
}

impl Variant {
    /// `replicas` replicas at the scenario's own load.
    pub fn size(replicas: u32, seed_offset: u64) -> Self {
        Self { replicas, alpha_steps: ALPHA_STEPS, relaxed: None, seed_offset }
    }

    /// Whether it serves the scenario's own workload, whatever serves it.
    pub fn is_own_load(self) -> bool {
        self.alpha_steps == ALPHA_STEPS && self.relaxed.is_none()
    }

    /// α.
    pub fn alpha(self) -> f64 {
        f64::from(self.alpha_steps) / f64::from(ALPHA_STEPS)
    }

    /// The scenario changed so.
    ///
    /// At α, rates are multiplied and the axis of time stays: a peak is as long and α times as
    /// high. A replayed trace has no rates, so its time is compressed by α instead.
    pub fn apply(self, scenario: &Scenario) -> Scenario {
        let mut changed = scenario.clone();
        changed.seed = scenario.seed.wrapping_add(self.seed_offset);
        changed.pool.replicas = self.replicas;
        if let Some(constraint) = self.relaxed {
            relax(&mut changed, constraint);
        }
        if self.alpha_steps != ALPHA_STEPS {
            for class in &mut changed.classes {
                class.arrivals = class.arrivals.scaled(self.alpha());
            }
        }
        changed
    }
}

fn relax(scenario: &mut Scenario, constraint: Constraint) {
    let pool = &mut scenario.pool;
    match constraint {
        Constraint::KvMemory => {
            pool.memory.kv_capacity_blocks += pool.memory.kv_capacity_blocks / 4;
            pool.memory.kv_capacity_tokens += pool.memory.kv_capacity_tokens / 4;
        }
        Constraint::Seats => pool.scheduler.max_num_seqs += pool.scheduler.max_num_seqs.div_ceil(4),
        Constraint::TokenBudget => pool.scheduler.max_num_batched_tokens *= 2,
        Constraint::StepTime => shorten_steps(scenario),
        Constraint::EvenArrivals => {
            let horizon = scenario.horizon;
            for class in &mut scenario.classes {
                class.arrivals = class.arrivals.evened(horizon);
            }
        }
        Constraint::ErrorsAndQuality => {
            for class in &mut scenario.classes {
                class.error_rate = 0.0;
                class.quality = Quality::NotChecked;
                class.route = class.route.of_the_class_quality();
            }
        }
    }
}

fn shorten_steps(scenario: &mut Scenario) {
    const FACTOR: f64 = 0.8;
    let budget = u64::from(scenario.pool.scheduler.max_num_batched_tokens);
    if let Service::Steps(step_time) = &mut scenario.pool.service {
        step_time.scale *= FACTOR;
        step_time.step_overhead_s *= FACTOR;
        step_time.law =
            step_time.resolved.compile(budget, step_time.scale, step_time.step_overhead_s);
    }
}

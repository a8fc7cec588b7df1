//! One scenario with one thing changed: another fleet size, another load, one constraint relaxed.

use crate::accounts::peak_windows;
use crate::fleet::{Admission, Crash};
use crate::scenario::{Scenario, Service};
use crate::units::Picos;
use crate::workload::{Hidden, Lengths, Quality, TrafficClass};

/// A window with so many times the mean is a peak.
const ABOVE_THE_MEAN: f64 = 1.05;

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
    /// Replicas that start take requests at once.
    StartUpLag,
    /// Evenly spaced arrivals.
    EvenArrivals,
    /// No limit at the door or in the queue.
    Admission,
    /// No errors, every answer acceptable.
    ErrorsAndQuality,
}

impl Constraint {
    /// All of them, in the order in which equal gains are listed.
    pub const ALL: [Self; 8] = [
        Self::StepTime,
        Self::KvMemory,
        Self::Seats,
        Self::TokenBudget,
        Self::StartUpLag,
        Self::EvenArrivals,
        Self::Admission,
        Self::ErrorsAndQuality,
    ];

    /// As the report writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::KvMemory => "kv_memory",
            Self::Seats => "seats",
            Self::TokenBudget => "token_budget",
            Self::StepTime => "step_time",
            Self::StartUpLag => "start_up_lag",
            Self::EvenArrivals => "even_arrivals",
            Self::Admission => "admission",
            Self::ErrorsAndQuality => "errors_and_quality",
        }
    }

    /// Whether it could constrain a scenario at all: without it, nothing changes and nothing is
    /// simulated.
    pub fn is_there(self, scenario: &Scenario) -> bool {
        let life = &scenario.pool.life;
        match self {
            Self::StartUpLag => !life.is_constant() && life.start_up > Picos::ZERO,
            Self::Admission => scenario.admission.is_limited(),
            _ => true,
        }
    }

    /// What was changed, in words.
    pub fn label(self) -> &'static str {
        match self {
            Self::KvMemory => "KV memory × 1.25",
            Self::Seats => "max_num_seqs × 1.25",
            Self::TokenBudget => "max_num_batched_tokens × 2",
            Self::StepTime => "step time − 20 %",
            Self::StartUpLag => "no start-up time",
            Self::EvenArrivals => "evenly spaced arrivals",
            Self::Admission => "nobody turned away (no admission limit)",
            Self::ErrorsAndQuality => "no errors, every answer acceptable",
        }
    }
}

/// What α multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stretch {
    /// All rates, and the users of closed loops.
    Rate,
    /// All outputs, their budgets and what they hide.
    Outputs,
    /// The coefficient of variation of the gaps between arrivals, where it has one.
    Burst,
}

impl Stretch {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Rate, Self::Outputs, Self::Burst];

    /// As the report writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Outputs => "outputs",
            Self::Burst => "burst",
        }
    }

    /// What is multiplied, in words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Rate => "this mix",
            Self::Outputs => "the output lengths",
            Self::Burst => "the variation of gaps between arrivals",
        }
    }

    /// Whether a class has it to be multiplied.
    pub fn applies_to(self, class: &TrafficClass) -> bool {
        match self {
            Self::Rate => true,
            Self::Outputs => class.output != Lengths::Fixed(1),
            Self::Burst => class.arrivals.bunched(1.0).is_some(),
        }
    }

    fn apply(self, class: &mut TrafficClass, alpha: f64) {
        match self {
            Self::Rate => class.arrivals = class.arrivals.scaled(alpha),
            Self::Outputs => {
                class.output = class.output.scaled(alpha);
                class.max_output_tokens =
                    class.max_output_tokens.map(|tokens| times(tokens, alpha));
                if let Hidden::Added(lengths) = &mut class.hidden {
                    *lengths = lengths.scaled(alpha);
                }
            }
            Self::Burst => {
                if let Some(bunched) = class.arrivals.bunched(alpha) {
                    class.arrivals = bunched;
                }
            }
        }
    }
}

/// `alpha` times as many, at least one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
fn times(tokens: u32, alpha: f64) -> u32 {
    ((f64::from(tokens) * alpha).round() as u32).max(1)
}

/// What is changed in a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variant {
    /// Replicas.
    pub replicas: u32,
    /// What α multiplies.
    pub stretch: Stretch,
    /// α × [`ALPHA_STEPS`].
    pub alpha_steps: u32,
    /// Relaxed, if any.
    pub relaxed: Option<Constraint>,
    /// So many replicas fail at the worst moment.
    pub failing: u32,
    /// Added to the scenario's seed.
    pub seed_offset: u64,
}

impl Variant {
    /// `replicas` replicas at the scenario's own load.
    pub fn size(replicas: u32, seed_offset: u64) -> Self {
        Self {
            replicas,
            stretch: Stretch::Rate,
            alpha_steps: ALPHA_STEPS,
            relaxed: None,
            failing: 0,
            seed_offset,
        }
    }

    /// Whether it serves the scenario's own workload, whatever serves it and whatever fails.
    pub fn is_own_load(self) -> bool {
        self.alpha_steps == ALPHA_STEPS && self.relaxed.is_none()
    }

    /// α.
    pub fn alpha(self) -> f64 {
        f64::from(self.alpha_steps) / f64::from(ALPHA_STEPS)
    }

    /// The scenario changed so.
    ///
    /// At α of its rate, rates are multiplied and the axis of time stays: a peak is as long and α times as
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
                self.stretch.apply(class, self.alpha());
            }
        }
        if self.failing > 0 {
            let at = worst_moment(scenario);
            let crashes = (0..self.failing).map(|replica| Crash { at, replica });
            changed.pool.life.failures.crashes.extend(crashes);
        }
        changed
    }
}

/// When a failure hurts most: in the middle of the busiest window, or of the measurement window where
/// all are alike.
pub fn worst_moment(scenario: &Scenario) -> Picos {
    let Scenario { horizon, warmup, classes, .. } = scenario;
    let windows = i64::from(peak_windows(*horizon));
    let edge = |window: i64| Picos(horizon.0 / windows * window);
    let expected = |window: &i64| -> f64 {
        classes.iter().map(|class| class.expected(edge(*window), edge(*window + 1))).sum()
    };
    let counted = |window: &i64| edge(*window) >= *warmup;
    let middle = Picos(i64::midpoint(warmup.0, horizon.0));
    let Some(busiest) =
        (0..windows).filter(counted).max_by(|a, b| expected(a).total_cmp(&expected(b)))
    else {
        return middle;
    };
    let mean = (0..windows).map(|window| expected(&window)).sum::<f64>() / windows as f64;
    if expected(&busiest) > ABOVE_THE_MEAN * mean {
        Picos(i64::midpoint(edge(busiest).0, edge(busiest + 1).0))
    } else {
        middle
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
        Constraint::StartUpLag => pool.life.start_up = Picos::ZERO,
        Constraint::EvenArrivals => {
            let horizon = scenario.horizon;
            for class in &mut scenario.classes {
                class.arrivals = class.arrivals.evened(horizon);
            }
        }
        Constraint::Admission => scenario.admission = Admission::default(),
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

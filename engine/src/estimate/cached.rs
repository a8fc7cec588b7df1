//! How much of a prompt is found in the prefix cache, by arithmetic.
//!
//! A replica's free blocks are a queue: what is written pushes what was used longest ago out. So a
//! block is found again if it is used again within the time that it takes to write all blocks that
//! are not held (Che, Tung and Wang 2002): free tokens ÷ tokens written per second. A prefix that is
//! asked for `r` times a second on a replica is found with probability 1 − e^(−r·T); the history of
//! a session if its user thinks for less than T and the router sends the turn where the last one
//! was, which of n replicas is one time in n.

use super::demand::{self, ClassDemand};
use super::lengths::nodes;
use super::service::ReplicaModel;
use super::sessions::SessionTurns;
use crate::math;
use crate::scenario::Scenario;
use crate::units::Picos;
use crate::workload::{OfferedRequest, SharedPrefix, TrafficClass};

/// Times that what is found is worked out again.
const ROUNDS: u32 = 4;

/// Fills in what each of `classes` finds, at the rate that is offered.
pub fn find(scenario: &Scenario, classes: &mut [ClassDemand]) {
    let shares = |class: &TrafficClass| class.shared_prefix.is_some() || class.session.is_some();
    let scheduler = &scenario.pool.scheduler;
    if !scheduler.prefix_caching || !scenario.classes.iter().any(shares) {
        return;
    }
    // What is found decides how much is written, and that how long it is kept. The fleet begins
    // without a queue, so everything is found at first.
    for round in 0..ROUNDS {
        let kept_s = match round {
            0 => Some(f64::INFINITY),
            _ => kept_s(scenario, classes),
        };
        let Some(kept_s) = kept_s else { return };
        let cache = Cache {
            block: f64::from(scheduler.block_size),
            kept_s,
            replicas: f64::from(scenario.pool.most_replicas()),
        };
        let rates: Vec<f64> = classes.iter().map(|class| rate(class, scenario)).collect();
        for class in classes.iter_mut() {
            let prefix = cache.prefix_share(scenario, &rates, class.class);
            let (mean, square) = cache.found(class.class, scenario, prefix);
            for lengths in [&mut class.lengths.offered, &mut class.lengths.served] {
                lengths.cached = mean.min((lengths.input - 1.0).max(0.0));
                lengths.cached_squared = square.min(lengths.input_squared);
            }
        }
    }
}

/// Tokens that the mean request that is served would find if no block were ever taken.
pub fn if_kept(scenario: &Scenario, classes: &[ClassDemand]) -> f64 {
    let cache = Cache {
        block: f64::from(scenario.pool.scheduler.block_size),
        kept_s: f64::INFINITY,
        replicas: f64::from(scenario.pool.most_replicas()),
    };
    let (mut sum, mut all) = (0.0, 0.0);
    for class in classes {
        let rate = rate(class, scenario) * class.lengths.served_share;
        let prefix = if class.class.shared_prefix.is_some() { 1.0 } else { 0.0 };
        sum += rate * cache.found(class.class, scenario, prefix).0;
        all += rate;
    }
    if scenario.pool.scheduler.prefix_caching && all > 0.0 { sum / all } else { 0.0 }
}

/// Requests of a class per second, as far as they are known beforehand.
fn rate(class: &ClassDemand, scenario: &Scenario) -> f64 {
    let arrivals = class.class.expected(Picos::ZERO, scenario.horizon);
    let of_users = || {
        let crowd = class.class.arrivals.closed_loop()?;
        Some(f64::from(crowd.users) / crowd.think.mean_s().max(1.0))
    };
    of_users().unwrap_or(class.turns * arrivals / scenario.horizon.as_secs())
}

/// How long a free block of a replica stays what it is; `None` where nothing is served.
fn kept_s(scenario: &Scenario, classes: &[ClassDemand]) -> Option<f64> {
    let mean = demand::between(classes, Picos::ZERO, scenario.horizon);
    let model = ReplicaModel::of(&scenario.pool);
    let field = model.steps(&mean.served).filter(|_| mean.served_rps > 0.0)?;
    let at = field.at_rate(mean.served_rps / f64::from(scenario.pool.most_replicas()));
    let at = at.unwrap_or_else(|| field.saturated().0);
    let capacity =
        scenario.pool.usable_blocks() as f64 * f64::from(scenario.pool.scheduler.block_size);
    let free = (capacity - at.kv_held_tokens).max(0.0);
    let written_tps = at.rate_rps * (mean.served.computed() + mean.served.output);
    Some(free / written_tps.max(1e-9))
}

struct Cache {
    /// Tokens per block.
    block: f64,
    /// How long a free block stays what it is.
    kept_s: f64,
    replicas: f64,
}

impl Cache {
    fn whole_blocks(&self, tokens: f64) -> f64 {
        (tokens / self.block).floor() * self.block
    }

    /// Share of the requests of a class that find their shared prefix.
    fn prefix_share(&self, scenario: &Scenario, rates: &[f64], class: &TrafficClass) -> f64 {
        let Some(prefix) = &class.shared_prefix else { return 0.0 };
        // Other classes may ask for the same ones.
        let mut asked = vec![0.0; prefix.count() as usize];
        for (other, rate) in scenario.classes.iter().zip(rates) {
            let same = other.shared_prefix.filter(|other| other.first() == prefix.first());
            for (sum, share) in asked.iter_mut().zip(same.iter().flat_map(SharedPrefix::popularity))
            {
                *sum += rate * share / self.replicas;
            }
        }
        // Nobody's times ever is no number.
        let found = |rps: &f64| if *rps > 0.0 { 1.0 - math::exp(-rps * self.kept_s) } else { 0.0 };
        prefix.popularity().iter().zip(&asked).map(|(share, rps)| share * found(rps)).sum()
    }

    /// Mean and mean square of the tokens that a request of `class` finds whose shared prefix is
    /// found with that probability.
    fn found(&self, class: &TrafficClass, scenario: &Scenario, prefix: f64) -> (f64, f64) {
        let shared = |input: f64| {
            let tokens = class.shared_prefix.map_or(0.0, |p| f64::from(p.tokens()));
            self.whole_blocks(tokens.min(input - 1.0))
        };
        let (mut sum, mut squares, mut weights) = (0.0, 0.0, 0.0);
        let mut add = |share: f64, tokens: f64, weight: f64| {
            sum += weight * share * tokens;
            squares += weight * share * tokens * tokens;
        };
        let Some(turns) = SessionTurns::of(class, scenario) else {
            for (input, weight) in nodes(&class.input, usize::MAX) {
                add(prefix, shared(input), weight);
                weights += weight;
            }
            return (sum / weights, squares / weights);
        };
        for (session, i, weight) in turns.weighted() {
            weights += weight;
            let mut missed = 1.0;
            for back in 1..=i {
                // The last turn of this session on this replica was so many turns ago.
                let there = if missed > 1e-6 { missed / self.replicas } else { 0.0 };
                missed -= there;
                let since = session[i].due - session[i - back].due;
                let kept = if since.as_secs() <= self.kept_s { there } else { 0.0 };
                add(kept, self.whole_blocks(carried(&session[i - back])), weight);
                add(there - kept, prefix * shared(session[i].input_tokens.into()), weight);
            }
            add(missed * prefix, shared(session[0].input_tokens.into()), weight);
        }
        (sum / weights.max(1e-12), squares / weights.max(1e-12))
    }
}

/// Tokens of a turn that the next one finds: its last token was never computed.
fn carried(turn: &OfferedRequest) -> f64 {
    let computed = turn.input_tokens + turn.output_tokens - 1;
    f64::from(turn.carried_tokens().min(computed))
}

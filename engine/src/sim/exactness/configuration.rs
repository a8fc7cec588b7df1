//! Random configurations under all kinds of pressure, the awkward ones more often than in life.

use std::num::NonZeroU32;

use super::life;
use super::people::People;
use crate::fleet::Routing;
use crate::sim::{FleetSpec, PoolSpec, ReplicaSpec, RunLimits, SchedulingPolicy};
use crate::step_time::{CompiledLaw, StepCoefficients};
use crate::units::Picos;
use crate::workload::{Hidden, Leg, Lineage, OfferedRequest, Route, TrafficClass};

/// SplitMix64: the same configurations everywhere and for ever.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Uniform below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    pub fn within(&mut self, low: u32, high: u32) -> u32 {
        low + u32::try_from(self.below(u64::from(high - low) + 1)).expect("a small range")
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).expect("an index")]
    }

    pub fn unit(&mut self) -> f64 {
        self.below(1 << 53) as f64 / (1_u64 << 53) as f64
    }
}

/// Of all draws that are not those of a configuration.
pub const SEED: u64 = 7;

/// Everything a run needs.
#[derive(Debug)]
pub struct Configuration {
    pub fleet: FleetSpec,
    pub requests: Vec<OfferedRequest>,
    /// None of every other configuration: nobody stands behind its requests.
    pub classes: Vec<TrafficClass>,
    pub limits: RunLimits,
    /// Gaps of each class above these are counted.
    pub gap_limits: Vec<Option<Picos>>,
}

impl Configuration {
    /// The configuration of a seed. Every third has evenly spaced arrivals and round step times,
    /// so that all kinds of events coincide.
    pub fn of(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let round = seed.is_multiple_of(3);
        let longest = (dice.pick(&[20, 150, 700]), dice.pick(&[3, 40, 120, 300]));
        let replica = replica(&mut dice, round, longest);
        let mut requests = requests(&mut dice, round, longest);
        if dice.one_in(2) {
            share_prefixes(&mut dice, &mut requests, longest.0);
        }
        let horizon = requests.last().map_or(Picos::ZERO, |last| last.due);
        let horizon = if dice.one_in(3) { Picos(horizon.0 / 2) } else { horizon };
        let mut limits = RunLimits::to_the_end(horizon.max(Picos(1)));
        if dice.one_in(5) {
            limits.until = if round { at_round(&mut dice) } else { at_random(&mut dice) };
        }
        if dice.one_in(5) {
            limits.max_steps = 1 + dice.below(1500);
        }
        let fleet = FleetSpec::open(replica, dice.within(1, 4));
        let gap_limits = Vec::new();
        let plain = Self { fleet, requests, classes: Vec::new(), limits, gap_limits };
        let configuration =
            if dice.one_in(2) { plain } else { plain.with_people(&mut dice, round, longest) };
        // By dice of their own, so that what was found at a seed is found there again.
        let mut configuration =
            configuration.with_contracts(&mut Dice::new(seed ^ 0x7ab1_e5ee), round);
        configuration.begin_sessions(); // what a turn carries on depends on what it hides
        configuration.with_pools(&mut Dice::new(seed ^ 0x9001), round, longest);
        configuration.with_life(&mut Dice::new(seed ^ 0x11fe), round);
        configuration.with_rules(&mut Dice::new(seed ^ 0x5c4e_d01e));
        configuration
    }

    /// The same with hidden tokens, and limits on gaps about as long as steps are.
    fn with_contracts(mut self, dice: &mut Dice, round: bool) -> Self {
        for request in &mut self.requests {
            request.hidden_tokens = match dice.below(4) {
                0 => 0,
                1 => request.output_tokens,
                _ => dice.within(0, request.output_tokens),
            };
        }
        let shown = self.classes.iter_mut().filter(|class| class.hidden == Hidden::None);
        for class in shown {
            class.hidden = Hidden::Share(dice.pick(&[0.0, 0.5, 0.9, 1.0]));
        }
        let limit = |dice: &mut Dice| {
            let round_ms = 5.0 * dice.below(5) as f64;
            let any_ms = 30.0 * dice.unit() * dice.unit();
            Picos::from_millis(if round { round_ms } else { any_ms })
        };
        let classes = self.classes.len().max(1);
        self.gap_limits = (0..classes).map(|_| (!dice.one_in(4)).then(|| limit(dice))).collect();
        self
    }

    /// Every other scheduler has rules that it does not have by default.
    fn with_rules(&mut self, dice: &mut Dice) {
        for pool in &mut self.fleet.pools {
            if dice.one_in(2) {
                pool.replica.long_prefill_token_threshold = dice.pick(&[0, 1, 5, 16, 30, 200]);
            }
            pool.replica.stream_interval = dice.pick(&[1, 1, 1, 2, 3, 7, 40]);
            if dice.one_in(2) {
                let of_classes = (0..3).map(|_| dice.pick(&[-1, 0, 1])).collect();
                pool.replica.scheduling_policy = SchedulingPolicy::Priority(of_classes);
            }
        }
        if self.classes.is_empty() {
            for request in &mut self.requests {
                request.class = dice.within(0, 2);
            }
        }
    }

    /// In every third fleet replicas come and go.
    fn with_life(&mut self, dice: &mut Dice, round: bool) {
        if !dice.one_in(3) {
            return;
        }
        for pool in &mut self.fleet.pools {
            pool.life = life::of(dice, round, pool.replicas);
        }
    }

    /// Every other fleet chooses replicas by another policy, and has other pools beside the first.
    fn with_pools(&mut self, dice: &mut Dice, round: bool, longest: (u32, u32)) {
        if dice.one_in(2) {
            return;
        }
        self.fleet.routing = dice.pick(&[
            Routing::LeastOutstanding,
            Routing::RoundRobin,
            Routing::Random,
            Routing::PowerOfTwo,
            Routing::LeastKv,
            Routing::LeastKv,
            Routing::Affinity { most_over_mean: 1.25 },
        ]);
        let others = dice.pick(&[0, 0, 1, 2]);
        for _ in 0..others {
            let replica = replica(dice, round, longest);
            self.fleet.pools.push(PoolSpec::constant(replica, dice.within(1, 3)));
        }
        for request in &mut self.requests {
            request.pool = dice.within(0, others);
        }
        for class in &mut self.classes {
            let share = 1.0 / f64::from(others + 1);
            let leg = |pool| Leg { pool, share, quality: None };
            class.route = Route::new((0..=others).map(leg).collect()).expect("a route");
        }
    }

    /// The same with all kinds of people behind the requests, of whom some are turned away.
    fn with_people(mut self, dice: &mut Dice, round: bool, longest: (u32, u32)) -> Self {
        let mut people = People::new(dice, round);
        self.classes = people.classes(longest);
        self.fleet.admission = people.admission();
        let given = self.classes.iter().filter(|class| class.arrivals.closed_loop().is_none());
        let given = given.count();
        if given == 0 {
            self.requests.clear();
        }
        for request in &mut self.requests {
            request.class = dice.within(1, u32::try_from(given).expect("few")) - 1;
        }
        if given < self.classes.len() || self.classes.iter().any(|class| class.session.is_some()) {
            // Users in a closed loop and sessions ask until the horizon.
            let longest_s = dice.pick(&[0.1, 1.0, 3.0]);
            self.limits.horizon = self.limits.horizon.max(Picos::from_secs(longest_s));
        }
        if dice.one_in(10) {
            self.limits.max_attempts = self.requests.len() + dice.within(0, 60) as usize;
        }
        self
    }

    /// Requests of classes with sessions begin them.
    fn begin_sessions(&mut self) {
        let mut places = vec![0_u32; self.classes.len()];
        for (number, request) in (1..).zip(&mut self.requests) {
            let Some(class) = self.classes.get(request.class as usize) else { return };
            let place = &mut places[request.class as usize];
            if let Some(session) = &class.session {
                let more = session.turns_of(SEED, class.position.into(), *place) > 1;
                *request = request.carrying(more);
                request.lineage.session = NonZeroU32::new(number);
                request.lineage.place = *place;
            }
            *place += 1;
        }
    }
}

/// Prompts begin with one of a few prefixes, small and large ones.
fn share_prefixes(dice: &mut Dice, requests: &mut [OfferedRequest], longest: u32) {
    let (count, tokens) = (dice.pick(&[1, 2, 7]), dice.within(1, longest));
    let everybody = dice.one_in(2);
    for request in requests {
        if everybody || !dice.one_in(4) {
            let prefix_tokens = tokens.min(request.input_tokens - 1);
            let prefix = NonZeroU32::new(dice.within(1, count));
            request.lineage = Lineage { prefix, prefix_tokens, ..Lineage::NONE };
        }
    }
}

fn at_round(dice: &mut Dice) -> Picos {
    Picos::from_millis(dice.below(1500) as f64 * 10.0)
}

fn at_random(dice: &mut Dice) -> Picos {
    Picos::from_secs(dice.unit() * 15.0)
}

fn law(dice: &mut Dice, round: bool) -> CompiledLaw {
    let scale = |value: f64, dice: &mut Dice| if dice.one_in(6) { 0.0 } else { value };
    let coefficients = if round {
        StepCoefficients {
            c0_s: dice.pick(&[0.01, 0.02, 0.005]),
            cw_s: 0.0,
            cw_experts_s: 0.0,
            expert_share: 0.0,
            c1_s_per_token: dice.pick(&[0.0, 0.0, 0.001]),
            p: 1.0,
            c2_s_per_pair: 0.0,
            c3_s_per_decode_seq: dice.pick(&[0.0, 0.0, 0.001]),
            c4_s_per_kv_token: dice.pick(&[0.0, 0.0, 0.0, 0.000_01]),
        }
    } else {
        StepCoefficients {
            c0_s: 1e-3 + 5e-3 * dice.unit(),
            cw_s: scale(5e-3, dice),
            cw_experts_s: scale(1e-2, dice),
            expert_share: 0.06,
            c1_s_per_token: scale(4e-5, dice),
            p: 1.0 + 2.0 * dice.unit(),
            c2_s_per_pair: scale(2e-9, dice),
            c3_s_per_decode_seq: scale(2e-5, dice),
            c4_s_per_kv_token: scale(3e-7 * dice.unit(), dice),
        }
    };
    CompiledLaw::new(&coefficients.law(), 64, 1.0, 0.0)
}

fn replica(dice: &mut Dice, round: bool, (input, output): (u32, u32)) -> ReplicaSpec {
    let block_size = dice.pick(&[1, 2, 4, 16, 16, 16, 7, 32, 3]);
    let tokens = (input + output) * dice.pick(&[1, 2, 3, 40]);
    ReplicaSpec {
        law: law(dice, round),
        usable_blocks: u64::from(dice.within(tokens * 2 / 3, tokens) / block_size + 1),
        block_size,
        window_blocks_per_seq: if dice.one_in(4) { dice.within(1, 4) } else { 0 },
        max_num_seqs: dice.within(1, 24),
        max_num_batched_tokens: dice.pick(&[3, 32, 128, 600, 600, 2048, 2048]),
        long_prefill_token_threshold: 0,
        stream_interval: 1,
        scheduling_policy: SchedulingPolicy::Fcfs,
        max_model_len: 1000,
        chunked_prefill: !dice.one_in(4),
        prefix_caching: !dice.one_in(4),
        reserve_full_isl: !dice.one_in(3),
        async_scheduling: dice.one_in(2),
        api_overhead: if dice.one_in(3) { Picos::from_millis(10.0) } else { Picos::ZERO },
    }
}

fn requests(
    dice: &mut Dice,
    round: bool,
    (longest_input, longest_output): (u32, u32),
) -> Vec<OfferedRequest> {
    let count = dice.within(1, 60);
    let gap_s = dice.pick(&[0.0, 0.01, 0.03, 0.1]);
    let impatient = dice.one_in(2);
    let mut due_s = 0.0;
    (0..count)
        .map(|_| {
            due_s += if round { gap_s } else { 2.0 * gap_s * dice.unit() };
            let patience = if round { 0.01 * dice.below(100) as f64 } else { dice.unit() };
            OfferedRequest {
                class: 0,
                pool: 0,
                due: Picos::from_secs(due_s),
                input_tokens: dice.within(1, longest_input),
                output_tokens: dice.within(1, longest_output),
                hidden_tokens: 0,
                patience: (impatient && dice.one_in(2)).then(|| Picos::from_secs(patience).into()),
                fails: dice.one_in(20),
                acceptable: true,
                lineage: Lineage::NONE,
            }
        })
        .collect()
}

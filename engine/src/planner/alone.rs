//! What no number of replicas can mend: which requests would not be good if each had a replica to
//! itself, or would not get to one.

use crate::estimate::{LengthMoments, Prompt, ReplicaModel};
use crate::fleet::BucketLevel;
use crate::scenario::Scenario;
use crate::sim::ReplicaSpec;
use crate::slo::{Contract, Limit, PercentileTarget, Ranked};
use crate::units::{Picos, Span};
use crate::workload::{OfferedRequest, RetryOn, TrafficClass};

/// Why a request is lost even alone, in the order in which causes are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// It fits neither `max_model_len` nor the KV blocks.
    TooLong,
    /// It finds the token bucket at the door empty.
    TurnedAway,
    /// The server fails it.
    Error,
    /// Its answer is not acceptable.
    Quality,
    /// Its first token is late, or its user gone, on an idle replica.
    Ttft,
    /// Its output budget is spent before anything is shown.
    NothingShown,
    /// Its first visible token is late with nobody beside it.
    Ttfvt,
    /// Its tokens are slow with nobody beside it.
    Tpot,
    /// It completes late, or is timed out, with nobody beside it.
    E2e,
}

impl Cause {
    /// All of them, in order.
    pub const ALL: [Self; 9] = [
        Self::TooLong,
        Self::TurnedAway,
        Self::Error,
        Self::Quality,
        Self::Ttft,
        Self::NothingShown,
        Self::Ttfvt,
        Self::Tpot,
        Self::E2e,
    ];

    /// As the report writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::TurnedAway => "token_bucket",
            Self::Error => "errors",
            Self::Quality => "quality",
            Self::Ttft => "zero_load_ttft",
            Self::NothingShown => "nothing_shown",
            Self::Ttfvt => "zero_load_ttfvt",
            Self::Tpot => "zero_load_tpot",
            Self::E2e => "zero_load_e2e",
        }
    }
}

/// Requests of one class that would be lost alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lost {
    /// Offered in the measurement window.
    pub offered: u64,
    /// Lost for each cause, in the order of [`Cause::ALL`]; each request for its first.
    by_cause: [u64; Cause::ALL.len()],
    /// Requests ranked against each percentile target of the class.
    pub ranked: Vec<Ranked>,
}

impl Lost {
    /// Share of those that the causes before it left.
    pub fn share(&self, cause: Cause) -> f64 {
        let index = cause as usize;
        let before: u64 = self.by_cause[..index].iter().sum();
        let left = self.offered - before;
        if left > 0 { self.by_cause[index] as f64 / left as f64 } else { 0.0 }
    }

    /// The losses of another draw on top.
    pub fn add(&mut self, other: &Self) {
        self.offered += other.offered;
        for (sum, more) in self.by_cause.iter_mut().zip(other.by_cause) {
            *sum += more;
        }
        self.ranked.resize(other.ranked.len(), Ranked::default());
        for (sum, more) in self.ranked.iter_mut().zip(&other.ranked) {
            sum.population += more.population;
            sum.beyond += more.beyond;
        }
    }

    /// Share of the offered that is left: the best attainment of this draw.
    pub fn best_attainment(&self) -> f64 {
        let lost: u64 = self.by_cause.iter().sum();
        (self.offered - lost) as f64 / self.offered.max(1) as f64
    }
}

/// The losses of every class among `requests`, those due before the warm-up left out.
pub fn losses(scenario: &Scenario, spec: &ReplicaSpec, requests: &[OfferedRequest]) -> Vec<Lost> {
    let model = ReplicaModel::of(&scenario.pool);
    let ranked = |contract: &Contract| vec![Ranked::default(); contract.percentile_targets.len()];
    let of_class = |contract| Lost { ranked: ranked(contract), ..Lost::default() };
    let mut lost: Vec<Lost> = scenario.contracts.iter().map(of_class).collect();
    let mut bucket = bucket(scenario);
    for request in requests {
        // Whoever fits no replica is told so before the bucket is asked.
        let fits = !spec.can_never_fit(request.input_tokens, request.output_tokens);
        let turned_away = bucket
            .as_mut()
            .is_some_and(|bucket| fits && !bucket.take(request.due + spec.api_overhead));
        if request.due < scenario.warmup {
            continue;
        }
        let class = request.class as usize;
        lost[class].offered += 1;
        let of_class = (&scenario.classes[class], &scenario.contracts[class]);
        let alone = Alone::of(spec, &model, request).filter(|_| !turned_away);
        let cause = match alone {
            None if turned_away => Some(Cause::TurnedAway),
            _ => cause(alone.as_ref(), of_class, request),
        };
        if let Some(cause) = cause {
            lost[class].by_cause[cause as usize] += 1;
        }
        for (target, ranked) in of_class.1.percentile_targets.iter().zip(&mut lost[class].ranked) {
            if let Some(beyond) = beyond(target, alone.as_ref(), of_class.0, request) {
                ranked.population += 1;
                ranked.beyond += u64::from(beyond);
            }
        }
    }
    lost
}

/// The token bucket at the door, where whom it turns away is the same whatever the fleet: nobody tries
/// again, and nobody asks only when an earlier answer is there.
fn bucket(scenario: &Scenario) -> Option<BucketLevel> {
    let asks_once = |class: &TrafficClass| {
        let tries_again = class.clients.retries.as_ref();
        let tries_again = tries_again.is_some_and(|r| r.tries_again(0, RetryOn::Rejected));
        !tries_again && class.session.is_none() && class.arrivals.closed_loop().is_none()
    };
    let is_told = scenario.classes.iter().all(asks_once);
    scenario.admission.token_bucket.filter(|_| is_told).map(BucketLevel::full)
}

/// What a request takes that has a replica to itself, seconds.
#[expect(clippy::struct_field_names, reason = "the unit belongs into the name")]
struct Alone {
    ttft_s: f64,
    ttfvt_s: f64,
    /// Of a step; of one token none.
    tpot_s: f64,
    e2e_s: f64,
}

impl Alone {
    /// `None` of what fits no replica.
    fn of(spec: &ReplicaSpec, model: &ReplicaModel, request: &OfferedRequest) -> Option<Self> {
        if spec.can_never_fit(request.input_tokens, request.output_tokens) {
            return None;
        }
        let (input, output) = (f64::from(request.input_tokens), f64::from(request.output_tokens));
        let alone = model.steps(&LengthMoments::fixed(input, output))?;
        // At best all that others have computed of its prompt is found.
        let block = if spec.prefix_caching { spec.block_size } else { u32::MAX };
        let shared = request.lineage.prefix_tokens.max(request.lineage.history_tokens);
        let cached = f64::from(shared.min(request.input_tokens - 1) / block * block);
        let ttft_s = alone.zero_load_ttft_s(Prompt { tokens: input, cached });
        let tpot_s = if request.output_tokens > 1 { alone.zero_load_tpot_s() } else { 0.0 };
        let ttfvt_s = ttft_s + f64::from(request.hidden_tokens) * tpot_s;
        Some(Self { ttft_s, ttfvt_s, tpot_s, e2e_s: ttft_s + (output - 1.0) * tpot_s })
    }
}

/// A simulation rounds steps to picoseconds: what is equal but for that is in time.
fn late(limit: Option<Picos>, s: f64) -> bool {
    limit.is_some_and(|limit| s > limit.as_secs() * (1.0 + 1e-9))
}

fn cause(
    alone: Option<&Alone>,
    (class, contract): (&TrafficClass, &Contract),
    request: &OfferedRequest,
) -> Option<Cause> {
    let Some(alone) = alone else { return Some(Cause::TooLong) };
    // Another attempt of a client that tries again may not fail.
    let fails_for_good = class.lasting_error_rate() >= class.error_rate;
    if request.fails && fails_for_good {
        return Some(Cause::Error);
    }
    if !request.acceptable {
        return Some(Cause::Quality);
    }
    let Alone { ttft_s, ttfvt_s, tpot_s, e2e_s } = *alone;
    // The median gap is the average one, since each is longer than the one before by the same, and
    // no other percentile that a contract may name is shorter.
    let itl = contract.itl.map(|limit| limit.at);
    if late(contract.ttft, ttft_s) || late(request.patience.map(Span::picos), ttft_s) {
        Some(Cause::Ttft)
    } else if contract.ttfvt.is_some() && request.shows_nothing() {
        Some(Cause::NothingShown)
    } else if late(contract.ttfvt, ttfvt_s) {
        Some(Cause::Ttfvt)
    } else if [contract.tpot, contract.longest_stall, itl].into_iter().any(|at| late(at, tpot_s)) {
        Some(Cause::Tpot)
    } else if late(contract.e2e, e2e_s) || late(class.clients.timeout, e2e_s) {
        Some(Cause::E2e)
    } else {
        None
    }
}

/// Whether a request that is alone is beyond the limit of a percentile target; `None` where it has
/// nothing to rank.
fn beyond(
    target: &PercentileTarget,
    alone: Option<&Alone>,
    class: &TrafficClass,
    request: &OfferedRequest,
) -> Option<bool> {
    let (has_gaps, limit) = (request.output_tokens > 1, Some(target.limit));
    if target.of == Limit::Itl || (matches!(target.of, Limit::Tpot | Limit::Stall) && !has_gaps) {
        return None;
    }
    let Some(Alone { ttft_s, ttfvt_s, tpot_s, e2e_s }) = alone else { return Some(true) };
    if late(request.patience.map(Span::picos), *ttft_s) {
        return Some(true);
    }
    let fails = request.fails && class.lasting_error_rate() >= class.error_rate;
    Some(match target.of {
        Limit::Ttft => late(limit, *ttft_s),
        Limit::Ttfvt => request.shows_nothing() || late(limit, *ttfvt_s),
        Limit::Tpot | Limit::Stall | Limit::Itl => late(limit, *tpot_s),
        Limit::E2e => fails || late(limit, *e2e_s) || late(class.clients.timeout, *e2e_s),
    })
}

//! What prompts have in common, and a prefix cache may have kept: shared prefixes and the turns of
//! a session.

use std::num::NonZeroU32;

use rand_distr::{Distribution, Zipf};

use super::generate::{MAX_REQUESTS, too_many};
use super::{Lengths, MAX_LENGTH_TOKENS, OfferedRequest, ThinkTime, TrafficClass, Turn};
use crate::counted::typed;
use crate::math;
use crate::problem::Problem;
use crate::rng::{Key, Stream, keyed};
use crate::units::Picos;

/// Prefixes that prompts of a class begin with: system prompts, tool lists, documents. Each prompt
/// begins with one of them, chosen by Zipf's law; the law of prompt lengths is of the whole prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SharedPrefix {
    tokens: u32,
    count: u32,
    zipf_exponent: f64,
    /// The number of its first prefix among all of the workload.
    first: u32,
}

impl SharedPrefix {
    /// The most prefixes of one class.
    pub const MOST: u32 = 100_000;
    /// The largest exponent: the second prefix is then asked for a thousandth as often as the first.
    pub const STEEPEST: f64 = 10.0;

    /// `count` prefixes of `tokens` tokens; the r-th is asked for in proportion to
    /// r^(−`zipf_exponent`), so that 0 makes all alike.
    pub fn new(tokens: u32, count: u32, zipf_exponent: f64) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        if !(1..=MAX_LENGTH_TOKENS).contains(&tokens) {
            problems.push(Problem::error(
                "tokens",
                format!("a shared prefix has {tokens} tokens"),
                format!(
                    "give 1 to {most}, or leave the shared prefix out",
                    most = typed(f64::from(MAX_LENGTH_TOKENS))
                ),
            ));
        }
        if !(1..=Self::MOST).contains(&count) {
            problems.push(Problem::error(
                "count",
                format!("there are {count} shared prefixes"),
                format!("give 1 to {}", typed(f64::from(Self::MOST))),
            ));
        }
        if !(0.0..=Self::STEEPEST).contains(&zipf_exponent) {
            problems.push(Problem::error(
                "zipf_exponent",
                format!("the exponent of their popularity is {zipf_exponent:?}"),
                format!("give 0 (all alike) to {}", Self::STEEPEST),
            ));
        }
        if problems.is_empty() {
            Ok(Self { tokens, count, zipf_exponent, first: 0 })
        } else {
            Err(problems)
        }
    }

    /// The same with its prefixes numbered from `first` on: classes with the same first number
    /// share them.
    #[must_use]
    pub fn numbered_from(self, first: u32) -> Self {
        Self { first, ..self }
    }

    /// Tokens of each.
    pub fn tokens(&self) -> u32 {
        self.tokens
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The number of its first prefix among all of the workload.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// The share of requests that begin with each, the most popular first.
    pub fn popularity(&self) -> Vec<f64> {
        let weight = |rank: u32| math::pow(f64::from(rank), -self.zipf_exponent);
        let weights: Vec<f64> = (1..=self.count).map(weight).collect();
        let all: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / all).collect()
    }

    /// Tokens that a prompt of `input` tokens shares: its last one is always its own.
    pub fn shared_by(&self, input: u32) -> u32 {
        self.tokens.min(input.saturating_sub(1))
    }

    /// The number of the prefix of one request.
    fn draw(&self, key: Key) -> Option<NonZeroU32> {
        let law = Zipf::new(f64::from(self.count), self.zipf_exponent).ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank from 1 to count"
        )]
        let rank = (law.sample(&mut keyed(key)) as u32).clamp(1, self.count);
        NonZeroU32::new(self.first + rank)
    }
}

/// Several requests of one user, each of which goes on where the last one ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// How many turns a session has, if none is lost.
    pub turns: Lengths,
    /// From the end of a turn to the next one.
    pub think: ThinkTime,
    /// New tokens of each later turn; `None`: as many as a first prompt has beside its shared prefix.
    pub new_tokens: Option<Lengths>,
}

impl Session {
    /// Turns of the session that the `place`-th arrival of a class begins.
    pub fn turns_of(&self, seed: u64, class: u64, place: u32) -> u32 {
        let key = Key { seed, stream: Stream::Turns, class, request: place.into(), attempt: 0 };
        self.turns.draw(key, place as usize).unwrap_or(1)
    }

    /// Mean number of turns, of a table of quantiles of the law.
    pub fn mean_turns(&self) -> f64 {
        let n = 1_000_u32;
        let at = |i: u32| f64::from(self.turns.quantile((f64::from(i) + 0.5) / f64::from(n)));
        (0..n).map(at).sum::<f64>() / f64::from(n)
    }

    /// When the next turn is due, `turn` of its session, the last one having been due at
    /// `last_due` and having ended at `ended`.
    pub fn due(
        &self,
        (seed, class): (u64, u64),
        turn: Turn,
        (last_due, ended): (Picos, Picos),
    ) -> Picos {
        self.think.next_due((seed, class), turn, (last_due, ended))
    }
}

/// What the prompt of a request has in common with those of others. What two prompts share is
/// always where both begin, and never the last token of either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lineage {
    /// The number of the shared prefix it begins with.
    pub prefix: Option<NonZeroU32>,
    /// Tokens of that prefix in it.
    pub prefix_tokens: u32,
    /// The number of its session.
    pub session: Option<NonZeroU32>,
    /// Which arrival of its class began that session: what keys its draws, and the same whatever
    /// part of the class a pool serves. 0 without a session.
    pub place: u32,
    /// Tokens that it shares with the turn before, the prefix included; 0 of a first turn.
    pub history_tokens: u32,
    /// What the next turn begins with.
    pub carries: Carries,
}

impl Lineage {
    /// Of a prompt that is like no other.
    pub const NONE: Self = Self {
        prefix: None,
        prefix_tokens: 0,
        session: None,
        place: 0,
        history_tokens: 0,
        carries: Carries::Nothing,
    };
}

/// What of a request the next turn of its session begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Carries {
    /// There is no next turn.
    #[default]
    Nothing,
    /// The prompt: hidden tokens stood between it and what was shown, and are not carried on.
    Prompt,
    /// The prompt and the answer.
    Everything,
}

/// What a router may know of a request when it arrives, beside its class: never what is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoutingKeys {
    /// Which arrival of its class began its session.
    pub session: Option<u32>,
    /// The number of its shared prefix, from 1.
    pub prefix: Option<NonZeroU32>,
}

impl OfferedRequest {
    /// By what a router may tell requests apart that share something.
    pub fn routing_keys(&self) -> RoutingKeys {
        let Lineage { prefix, session, place, .. } = self.lineage;
        RoutingKeys { session: session.map(|_| place), prefix }
    }

    /// The same as a turn of its session: what it carries on if `more` turns follow.
    pub(crate) fn carrying(self, more: bool) -> Self {
        let carries = match (more, self.hidden_tokens) {
            (false, _) => Carries::Nothing,
            (true, 0) => Carries::Everything,
            (true, _) => Carries::Prompt,
        };
        Self { lineage: Lineage { carries, ..self.lineage }, ..self }
    }

    /// Tokens that the next turn of its session shares with it; 0 if there is none.
    pub fn carried_tokens(&self) -> u32 {
        match self.lineage.carries {
            Carries::Nothing => 0,
            Carries::Prompt => self.input_tokens,
            Carries::Everything => self.input_tokens.saturating_add(self.output_tokens),
        }
    }
}

impl TrafficClass {
    /// The shared prefix of a request with a prompt of `input` tokens.
    pub(super) fn prefix_of(&self, key: Key, input: u32) -> Lineage {
        let Some(prefix) = &self.shared_prefix else { return Lineage::default() };
        let prefix_tokens = prefix.shared_by(input);
        Lineage { prefix: prefix.draw(key), prefix_tokens, ..Lineage::default() }
    }

    /// All turns of the session that the `place`-th arrival of this class begins, the first due at
    /// zero and every turn served at once; none is longer than `max_model_len` or due at the horizon.
    /// None at all where the class has no sessions.
    pub fn session_alone(
        &self,
        seed: u64,
        place: u32,
        (horizon, max_model_len): (Picos, u32),
    ) -> Vec<OfferedRequest> {
        let Some(session) = &self.session else { return Vec::new() };
        let more = session.turns_of(seed, self.position.into(), place) > 1;
        let Ok(first) = self.request_of(seed, 0, place.into(), Picos::ZERO, None) else {
            return Vec::new();
        };
        self.session_of(seed, place, first.carrying(more), (horizon, max_model_len))
    }

    /// The same of a session whose first turn is known.
    fn session_of(
        &self,
        seed: u64,
        place: u32,
        first: OfferedRequest,
        (horizon, max_model_len): (Picos, u32),
    ) -> Vec<OfferedRequest> {
        let Some(session) = &self.session else { return vec![first] };
        let (mut turns, mut last) = (vec![first], first);
        while last.lineage.carries != Carries::Nothing {
            let number = u32::try_from(turns.len()).unwrap_or(u32::MAX);
            let turn = Turn::of_session(place, number);
            let due = session.due((seed, self.position.into()), turn, (last.due, last.due));
            let next = self.next_turn((seed, first.class), (place, number), &last, due);
            let fits = |r: &OfferedRequest| {
                r.input_tokens.saturating_add(r.output_tokens) <= max_model_len && r.due < horizon
            };
            let Some(next) = next.filter(fits) else { break };
            turns.push(next);
            last = next;
        }
        turns
    }

    /// What the session of `last` asks at its next turn, the `number`-th from 0, due at `due`: all
    /// that was said so far, what the model did not show left out, and what the user says now.
    ///
    /// `last` is the `place`-th arrival of this class, the `class`-th, or its turn `number − 1`.
    pub fn next_turn(
        &self,
        (seed, class): (u64, u32),
        (place, number): (u32, u32),
        last: &OfferedRequest,
        due: Picos,
    ) -> Option<OfferedRequest> {
        let session = self.session.as_ref()?;
        let request = Turn::of_session(place, number).index();
        // Where the session began, what it said before may be cached.
        let fresh = self.request_of(seed, class, request, due, Some(last.pool)).ok()?;
        let said = last.input_tokens.saturating_add(last.output_tokens - last.hidden_tokens);
        let new = if let Some(lengths) = &session.new_tokens {
            let stream = Stream::InputTokens;
            lengths
                .draw(Key { seed, stream, class: self.position.into(), request, attempt: 0 }, 0)?
        } else {
            let prefix = self.shared_prefix.as_ref();
            fresh.input_tokens - prefix.map_or(0, |p| p.shared_by(fresh.input_tokens))
        };
        let lineage = Lineage { history_tokens: last.carried_tokens(), ..last.lineage };
        let asked = OfferedRequest { input_tokens: said.saturating_add(new), lineage, ..fresh };
        let more = number + 1 < session.turns_of(seed, self.position.into(), place);
        Some(asked.carrying(more))
    }
}

/// `given` requests and all turns that follow them in `[0, horizon)` if every turn is served at
/// once, by due moment, then class: what stands for sessions before they are served. None is longer
/// than the `max_model_len` of its pool.
///
/// # Errors
/// They are more than [`MAX_REQUESTS`].
pub fn unfolded(
    classes: &[TrafficClass],
    given: Vec<OfferedRequest>,
    seed: u64,
    (horizon, max_model_len): (Picos, &[u32]),
) -> Result<Vec<OfferedRequest>, Problem> {
    if classes.iter().all(|class| class.session.is_none()) {
        return Ok(given);
    }
    let mut all = given.clone();
    for first in given {
        let class = &classes[first.class as usize];
        let bounds = (horizon, max_model_len[first.pool as usize]);
        let asked = class.session_of(seed, first.lineage.place, first, bounds);
        for turn in asked.into_iter().skip(1) {
            if all.len() as u64 >= MAX_REQUESTS {
                return Err(too_many(all.len() as f64));
            }
            all.push(turn);
        }
    }
    all.sort_by_key(|request| (request.due, request.class));
    Ok(all)
}

#[cfg(test)]
mod tests;

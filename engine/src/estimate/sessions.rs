//! What the turns of a session are like in the mean: of sessions that are drawn for it, always the
//! same ones, since what a turn asks depends on all before it.

use super::lengths::{ClassLengths, Pair};
use crate::scenario::Scenario;
use crate::workload::{OfferedRequest, TrafficClass};

/// Sessions that are drawn, and turns after which no more are.
const SESSIONS: u32 = 512;
const ENOUGH_TURNS: usize = 10_000;
/// Their seed, of no scenario more than of another.
const SEED: u64 = 0;

/// Sessions of a class.
#[derive(Debug, Clone)]
pub struct SessionTurns {
    sessions: Vec<Vec<OfferedRequest>>,
    horizon_s: f64,
}

impl SessionTurns {
    /// Of `class`; `None` where it has no sessions.
    pub fn of(class: &TrafficClass, scenario: &Scenario) -> Option<Self> {
        class.session.as_ref()?;
        let bounds = (scenario.horizon, scenario.max_model_len_of(class));
        let (mut sessions, mut turns) = (Vec::new(), 0);
        for place in 0..SESSIONS {
            let session = class.session_alone(SEED, place, bounds);
            turns += session.len();
            sessions.push(session);
            if turns >= ENOUGH_TURNS {
                break;
            }
        }
        Some(Self { sessions, horizon_s: scenario.horizon.as_secs() })
    }

    /// The turns of each session, with the share of sessions that ask it before the horizon.
    pub fn weighted(&self) -> impl Iterator<Item = (&[OfferedRequest], usize, f64)> {
        self.sessions.iter().flat_map(|session| {
            let weight =
                |turn: &OfferedRequest| (1.0 - turn.due.as_secs() / self.horizon_s).max(0.0);
            session.iter().enumerate().map(move |(i, turn)| (session.as_slice(), i, weight(turn)))
        })
    }

    /// Turns that a session asks before the horizon, in the mean.
    pub fn per_session(&self) -> f64 {
        let all: f64 = self.weighted().map(|(_, _, weight)| weight).sum();
        all / self.sessions.len().max(1) as f64
    }

    /// Lengths of the turns.
    pub fn lengths(&self, class: &TrafficClass, longest: u32) -> ClassLengths {
        let pair = |(session, i, weight): (&[OfferedRequest], usize, f64)| -> Pair {
            (session[i].input_tokens.into(), session[i].output_tokens.into(), weight)
        };
        let drawn: Vec<Pair> = self.weighted().map(pair).collect();
        let budget = class.max_output_tokens.map_or(f64::INFINITY, f64::from);
        ClassLengths::of_drawn(&drawn, budget, longest.into())
    }
}

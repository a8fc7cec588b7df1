//! The mix of a scenario with sessions, as one of several replicas meets it: turns in the order of
//! their due moments, each session begun at some moment of the horizon.
//!
//! A replica is measured for some thousand requests, and the horizon begins without any session. So
//! every session is moved by a random part of the horizon, and what reaches beyond its end comes
//! before the others of the next lap: any stretch has first turns and later ones as the whole mix.
//! A turn goes to any of the replicas, whatever the turn before did: so it finds what the last one
//! of its session that came here has left.

use std::num::NonZeroU32;

use rand::RngExt;

use crate::rng::{Key, Stream, keyed};
use crate::sim::ReplicaSpec;
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// An endless list of turns.
#[derive(Debug)]
pub struct Turns {
    lap: Vec<Turn>,
    /// Sessions are numbered anew in every lap.
    sessions: u64,
    replicas: u32,
    next: u64,
}

#[derive(Debug, Clone, Copy)]
struct Turn {
    request: OfferedRequest,
    /// When in the lap.
    at: Picos,
    /// Its session began in the lap before.
    wrapped: bool,
}

/// A draw that no request of the scenario makes.
fn key(request: u64, attempt: u64) -> Key {
    Key { seed: 0, stream: Stream::Saturation, class: 1, request, attempt }
}

impl Turns {
    /// The turns that one of `replicas` replicas of `spec` meets; `None` where there are no
    /// sessions, or nothing fits.
    pub fn of(requests: &[OfferedRequest], spec: &ReplicaSpec, replicas: u32) -> Option<Self> {
        let session = |r: &OfferedRequest| r.lineage.session.map(|id| u64::from(id.get()));
        let sessions = requests.iter().filter_map(session).max()?;
        let end = requests.iter().map(|request| request.due).max()?.0 + 1;
        let moved = |(index, request): (u64, &OfferedRequest)| {
            let who = session(request).map_or((index, 1), |id| (id, 0));
            let by = keyed(key(who.0, who.1)).random_range(0..end);
            let at = request.due.0 + by;
            let wrapped = at >= end;
            let request = OfferedRequest { due: Picos::ZERO, patience: None, ..*request };
            Turn { request, at: Picos(if wrapped { at - end } else { at }), wrapped }
        };
        let fits = |turn: &Turn| {
            !spec.can_never_fit(turn.request.input_tokens, turn.request.output_tokens)
        };
        let mut lap: Vec<Turn> = (0..).zip(requests).map(moved).filter(fits).collect();
        lap.sort_by_key(|turn| turn.at);
        (!lap.is_empty()).then_some(Self { lap, sessions, replicas: replicas.max(1), next: 0 })
    }

    /// Turns of a lap that come to this replica, about.
    pub fn per_lap(&self) -> usize {
        self.lap.len() / self.replicas as usize
    }
}

impl Iterator for Turns {
    type Item = OfferedRequest;

    fn next(&mut self) -> Option<OfferedRequest> {
        loop {
            let laps = self.next / self.lap.len() as u64;
            let index = usize::try_from(self.next % self.lap.len() as u64).ok()?;
            let turn = self.lap[index];
            self.next += 1;
            if keyed(key(self.next, 2)).random_range(0..self.replicas) > 0 {
                continue;
            }
            let mut request = turn.request;
            if let Some(session) = request.lineage.session {
                // One lap ahead, so that a session that began in the lap before the first has one.
                let lap = laps + u64::from(!turn.wrapped);
                let number = u64::from(session.get()) + lap * self.sessions;
                // Far more sessions than a measurement has requests lie between two of a number.
                let number = u32::try_from(number % u64::from(u32::MAX)).unwrap_or(0);
                request.lineage.session = NonZeroU32::new(number + 1);
            }
            return Some(request);
        }
    }
}

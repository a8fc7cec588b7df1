//! One request inside the fleet: what the fleet knows of it, and what its engine keeps beside.

use crate::slo::{Fate, RequestStamps};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// Where a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Not yet due, or refused.
    Outside,
    /// At the router, which finds no replica that takes requests.
    Held,
    /// In a queue, never scheduled or preempted.
    Waiting,
    /// In a batch.
    Running,
    /// Decided.
    Gone,
}

/// One request, on whichever replica it is; `S` is what the engine of that replica keeps of it.
#[derive(Debug, Clone)]
pub struct Job<S> {
    /// What happened so far.
    pub stamps: RequestStamps,
    /// Where it is.
    pub place: Place,
    /// Fails after it was served.
    pub fails: bool,
    /// Prompt length.
    pub input: u32,
    /// Tokens it will generate.
    pub output: u32,
    /// When it is due.
    pub due: Picos,
    /// The engine's own.
    pub state: S,
}

impl<S: Default> Job<S> {
    /// A request that nobody has seen yet.
    #[inline]
    pub fn new(request: &OfferedRequest) -> Self {
        Self {
            stamps: RequestStamps::UNSEEN,
            place: Place::Outside,
            fails: request.fails,
            input: request.input_tokens,
            output: request.output_tokens,
            due: request.due,
            state: S::default(),
        }
    }
}

impl<S> Job<S> {
    /// Tokens to generate.
    pub fn decode_left(&self) -> u32 {
        self.output - self.stamps.generated
    }

    /// Age since due at `now` of a request in a queue; zero if the queue took it this moment.
    pub fn age_in_queue(&self, now: Picos) -> Picos {
        if self.stamps.queued < Some(now) { now - self.due } else { Picos::ZERO }
    }

    /// It leaves at `at`.
    pub fn end(&mut self, fate: Fate, at: Picos) {
        self.place = Place::Gone;
        self.stamps.fate = fate;
        self.stamps.ended = Some(at);
    }

    /// What happened to it until `at`, when the run ends. Its engine has been settled.
    pub fn stamps_at(mut self, at: Picos) -> RequestStamps {
        if !matches!(self.place, Place::Outside | Place::Gone) {
            self.stamps.ended = Some(at);
        }
        self.stamps
    }
}

//! One request inside the fleet: what the fleet knows of it, and what its engine keeps beside.

use crate::slo::{Fate, RequestStamps};
use crate::units::Picos;
use crate::workload::{Carries, Lineage, OfferedRequest};

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
    /// Index of its class.
    pub class: u32,
    /// Prompt length.
    pub input: u32,
    /// Tokens it will generate.
    pub output: u32,
    /// The first so many of them are not shown.
    pub hidden: u32,
    /// When it is due.
    pub due: Picos,
    /// What its prompt has in common with others, if anything.
    pub lineage: Option<Lineage>,
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
            class: request.class,
            input: request.input_tokens,
            output: request.output_tokens,
            hidden: request.hidden_tokens,
            due: request.due,
            lineage: Some(request.lineage).filter(|of| of.prefix.or(of.session).is_some()),
            state: S::default(),
        }
    }

    /// What is left of whoever has gone, and there is of whoever is to come.
    pub fn nobody() -> Self {
        Self {
            stamps: RequestStamps::UNSEEN,
            place: Place::Gone,
            fails: false,
            class: 0,
            input: 0,
            output: 0,
            hidden: 0,
            due: Picos::ZERO,
            lineage: None,
            state: S::default(),
        }
    }
}

impl<S> Job<S> {
    /// Tokens that the next turn of its session shares with it; 0 if there is none.
    pub fn carried_tokens(&self) -> u32 {
        match self.lineage.as_ref().map_or(Carries::Nothing, |lineage| lineage.carries) {
            Carries::Nothing => 0,
            Carries::Prompt => self.input,
            Carries::Everything => self.input + self.output,
        }
    }

    /// Some of its tokens are not shown, and the last that left was the first that is.
    pub fn shows_first(&self) -> bool {
        self.hides_some() && self.stamps.generated == self.shown_with()
    }

    /// Some of its tokens are not shown, and others are.
    pub fn hides_some(&self) -> bool {
        self.hidden > 0 && self.hidden < self.output
    }

    /// The token that leaves with the first that is shown, of a request that hides some.
    pub fn shown_with(&self) -> u32 {
        self.stamps.sent_with(self.hidden + 1, self.output)
    }

    /// Whether an event of its stream ends with its `token`-th token.
    pub fn sends(&self, token: u32) -> bool {
        self.stamps.sent_with(token, self.output) == token
    }

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
    pub fn stamps_at(&self, at: Picos) -> RequestStamps {
        let open = !matches!(self.place, Place::Outside | Place::Gone);
        let ended = if open { Some(at) } else { self.stamps.ended };
        RequestStamps { ended, ..self.stamps }
    }
}

//! Who stands behind each attempt: the request it belongs to, what its client puts up with, and
//! what follows when it ends.
//!
//! Replicas serve *attempts*. Those from the list that was given come first and have the numbers
//! of their requests; tries after the first, and requests of users in a closed loop, are numbered
//! as they come up.

use crate::fleet::Routing;
use crate::rng::{Key, Stream, hash};
use crate::slo::{Fate, RequestStamps};
use crate::units::Picos;
use crate::workload::{ClientBehaviour, ClosedLoop, OfferedRequest, RetryOn, TrafficClass, Turn};

/// The clients of a run.
#[derive(Debug)]
pub struct Clients<'a> {
    given: &'a [OfferedRequest],
    /// None of a run whose requests nobody stands behind: they wait for ever.
    classes: &'a [TrafficClass],
    seed: u64,
    /// Users ask nothing that would be due from here on.
    horizon: Picos,
    /// Some users leave when a stream stalls.
    minds_stalls: bool,
    /// The index of each given request within its class, if anybody draws by it.
    places: Vec<u32>,
    /// Requests of users in closed loops, numbered after those that were given.
    made: Vec<(OfferedRequest, Turn)>,
    /// Attempts, numbered after the first ones of what was given.
    later: Vec<Attempt>,
}

/// One attempt of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// Which request.
    pub request: u32,
    /// Which attempt of it, from 0.
    pub number: u32,
    /// When its client sends it.
    pub sent: Picos,
}

impl<'a> Clients<'a> {
    /// Requests that wait for ever, but for the patience each of them has.
    pub fn nobody(given: &'a [OfferedRequest], routing: Routing) -> Self {
        Self::of(given, &[], (0, Picos::ZERO), routing)
    }

    /// The people of `classes`, whose requests these are.
    pub fn of(
        given: &'a [OfferedRequest],
        classes: &'a [TrafficClass],
        (seed, horizon): (u64, Picos),
        routing: Routing,
    ) -> Self {
        let minds_stalls = classes.iter().any(|class| class.clients.stall_patience.is_some());
        let retry = classes.iter().any(|class| class.clients.retries.is_some());
        let by_chance = matches!(routing, Routing::Random | Routing::PowerOfTwo);
        let draw = minds_stalls || retry || by_chance;
        let places = if draw { places(given, classes.len()) } else { Vec::new() };
        let (made, later) = (Vec::new(), Vec::new());
        Self { given, classes, seed, horizon, minds_stalls, places, made, later }
    }

    /// Attempts so far, those to come included.
    pub fn attempts(&self) -> usize {
        self.given.len() + self.later.len()
    }

    /// An attempt by its number.
    pub fn attempt(&self, id: u32) -> Attempt {
        match (id as usize).checked_sub(self.given.len()) {
            None => Attempt { request: id, number: 0, sent: self.given[id as usize].due },
            Some(later) => self.later[later],
        }
    }

    /// The request of an attempt, as its user first asked it.
    pub fn request(&self, id: u32) -> &OfferedRequest {
        self.asked(self.attempt(id).request)
    }

    /// Requests of users in closed loops so far.
    pub fn made(&self) -> impl ExactSizeIterator<Item = &OfferedRequest> {
        self.made.iter().map(|(request, _)| request)
    }

    /// Attempts beyond the first ones of what was given.
    pub fn later(&self) -> &[Attempt] {
        &self.later
    }

    /// Priority of its class.
    pub fn priority(&self, id: u32) -> i32 {
        self.class(id).map_or(0, |class| class.priority)
    }

    /// How long its client waits for all of it, from sending.
    pub fn timeout(&self, id: u32) -> Option<Picos> {
        self.behaviour(id)?.timeout
    }

    /// Whether some users leave when a stream stalls.
    pub fn anybody_minds_stalls(&self) -> bool {
        self.minds_stalls
    }

    /// How long its user waits for the next token.
    pub fn stall_patience(&self, id: u32) -> Option<Picos> {
        let patience = self.behaviour(id)?.stall_patience?;
        patience.draw(Key { attempt: 0, ..self.key(id, Stream::StallPatience) })
    }

    /// The first request of every user in a closed loop, each with the number of its attempt.
    pub fn first_turns(&mut self) -> Vec<(u32, OfferedRequest)> {
        let mut asked = Vec::new();
        let classes = (0..).zip(self.classes);
        for (class, crowd) in classes.filter_map(|(i, c)| Some((i, c.arrivals.closed_loop()?))) {
            for user in 0..crowd.users {
                let due = crowd.first_due(self.seed, self.position(class), user);
                asked.extend(self.ask(class, Turn { user, number: 0 }, due));
            }
        }
        asked
    }

    /// The next attempt after `id` ended at `now` as `ended`, if its client tries again: its
    /// number and what is asked. Clients heed what those who are turned away are told.
    pub fn try_again(
        &mut self,
        id: u32,
        ended: &RequestStamps,
        now: Picos,
        retry_after: Option<Picos>,
    ) -> Option<(u32, OfferedRequest)> {
        let retries = self.behaviour(id)?.retries.as_ref()?;
        let Attempt { request, number, .. } = self.attempt(id);
        let wrong = wrong(ended)?;
        if !retries.tries_again(number, wrong) {
            return None;
        }
        let back_off = retries.back_off(number, self.key(id, Stream::BackOff));
        let told = retry_after.filter(|_| wrong == RetryOn::Rejected).unwrap_or(Picos::ZERO);
        let next = Attempt { request, number: number + 1, sent: now + back_off.max(told) };
        let key = self.key_of(next, Stream::Error);
        let fails = self.class(id).is_some_and(|class| class.attempt_fails(key));
        let asked = OfferedRequest { fails, ..*self.asked(request) };
        self.later.push(next);
        Some((self.last_id(), asked))
    }

    /// What the user of `id` asks next after its request was decided at `now`, if it is a user in
    /// a closed loop and the horizon has not come.
    pub fn next_turn(&mut self, id: u32, now: Picos) -> Option<(u32, OfferedRequest)> {
        let made = (self.attempt(id).request as usize).checked_sub(self.given.len())?;
        let (last, turn) = self.made[made];
        let crowd: ClosedLoop = *self.classes[last.class as usize].arrivals.closed_loop()?;
        let turn = turn.next();
        let due = crowd.due(self.seed, self.position(last.class), turn, (last.due, now));
        self.ask(last.class, turn, due)
    }

    fn ask(&mut self, class: u32, turn: Turn, due: Picos) -> Option<(u32, OfferedRequest)> {
        if due >= self.horizon {
            return None;
        }
        let request = self.classes[class as usize].turn(self.seed, class, turn, due)?;
        let number = index_u32(self.given.len() + self.made.len());
        self.made.push((request, turn));
        self.later.push(Attempt { request: number, number: 0, sent: due });
        Some((self.last_id(), request))
    }

    /// What keys the draws of a class.
    fn position(&self, class: u32) -> u64 {
        self.classes.get(class as usize).map_or(0, |class| class.position).into()
    }

    fn last_id(&self) -> u32 {
        index_u32(self.attempts() - 1)
    }

    fn asked(&self, request: u32) -> &OfferedRequest {
        match (request as usize).checked_sub(self.given.len()) {
            None => &self.given[request as usize],
            Some(made) => &self.made[made].0,
        }
    }

    fn class(&self, id: u32) -> Option<&'a TrafficClass> {
        self.classes.get(self.request(id).class as usize)
    }

    fn behaviour(&self, id: u32) -> Option<&'a ClientBehaviour> {
        self.class(id).map(|class| &class.clients)
    }

    /// What keys a draw of one attempt of a request.
    pub fn key(&self, id: u32, stream: Stream) -> Key {
        self.key_of(self.attempt(id), stream)
    }

    /// The session that a request is part of: of a closed loop, all that one user asks.
    pub fn session(&self, id: u32) -> Option<u64> {
        let made = (self.attempt(id).request as usize).checked_sub(self.given.len())?;
        let (request, turn) = &self.made[made];
        Some(hash(&[self.position(request.class), u64::from(turn.user)]))
    }

    fn key_of(&self, attempt: Attempt, stream: Stream) -> Key {
        let request = match (attempt.request as usize).checked_sub(self.given.len()) {
            None => self.places[attempt.request as usize].into(),
            Some(made) => self.made[made].1.index(),
        };
        Key {
            seed: self.seed,
            stream,
            class: self.position(self.asked(attempt.request).class),
            request,
            attempt: attempt.number.into(),
        }
    }
}

/// In which way an attempt that has ended went wrong, if trying again makes sense: what can never
/// fit never will.
fn wrong(ended: &RequestStamps) -> Option<RetryOn> {
    match ended.fate {
        Fate::Rejected => Some(RetryOn::Rejected),
        Fate::Failed => Some(RetryOn::Error),
        Fate::TimedOut => Some(RetryOn::TimedOut),
        Fate::Cancelled if ended.first_token.is_none() => Some(RetryOn::CancelledBeforeFirst),
        Fate::Cancelled => Some(RetryOn::CancelledMidStream),
        Fate::Completed | Fate::TooLong | Fate::Unfinished => None,
    }
}

/// The index of each request within its class: its identity in the draws of its client.
fn places(requests: &[OfferedRequest], classes: usize) -> Vec<u32> {
    let named = requests.iter().map(|request| request.class as usize + 1).max();
    let mut next = vec![0; classes.max(named.unwrap_or(0))];
    let place = |request: &OfferedRequest| {
        let next = &mut next[request.class as usize];
        *next += 1;
        *next - 1
    };
    requests.iter().map(place).collect()
}

fn index_u32(index: usize) -> u32 {
    u32::try_from(index).expect("attempts are bounded far below 2^32")
}

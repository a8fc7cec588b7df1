//! Who stands behind each attempt: the request it belongs to, what its client puts up with, and
//! what follows when it ends.
//!
//! Replicas serve *attempts*. Those from the list that was given come first and have the numbers
//! of their requests; tries after the first, and requests of users in a closed loop, are numbered
//! as they come up.

use crate::fleet::Routing;
use crate::rng::{Key, Stream, hash};
use crate::sim::UnaskedTurns;
use crate::slo::{Fate, RequestStamps};
use crate::units::Picos;
use crate::workload::{
    ClientBehaviour, ClosedLoop, OfferedRequest, RetryOn, RoutingKeys, TrafficClass, Turn,
};

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
    /// Some clients give up after a time.
    times_out: bool,
    /// Some clients try again, or ask more when they have an answer.
    asks_more: bool,
    /// The index of each given request within its class, if anybody draws by it.
    places: Vec<u32>,
    /// Requests of users in closed loops and later turns of sessions, numbered after those that were
    /// given.
    made: Vec<(OfferedRequest, Turn)>,
    /// Attempts, numbered after the first ones of what was given.
    later: Vec<Attempt>,
    /// Turns that were never asked, per class; of none where no class has sessions.
    unasked: Vec<UnaskedTurns>,
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
        let sessions = classes.iter().any(|class| class.session.is_some());
        let in_a_loop = classes.iter().any(|class| class.arrivals.closed_loop().is_some());
        let times_out = classes.iter().any(|class| class.clients.timeout.is_some());
        let asks_more = retry || sessions || in_a_loop;
        let by_chance = matches!(routing, Routing::Random | Routing::PowerOfTwo);
        let keyed = minds_stalls || retry || by_chance;
        let places = if keyed { places(given, classes.len()) } else { Vec::new() };
        let (made, later) = (Vec::new(), Vec::new());
        let unasked = vec![UnaskedTurns::default(); if sessions { classes.len() } else { 0 }];
        Self {
            given,
            classes,
            seed,
            horizon,
            minds_stalls,
            times_out,
            asks_more,
            places,
            made,
            later,
            unasked,
        }
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

    /// Requests of users in closed loops and later turns of sessions so far.
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

    /// Whether anything may follow when an attempt ends.
    pub fn ask_more_than_given(&self) -> bool {
        self.asks_more
    }

    /// How long its client waits for all of it, from sending.
    pub fn timeout(&self, id: u32) -> Option<Picos> {
        if !self.times_out {
            return None;
        }
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

    /// What the user of `id` asks next after its request was decided at `now` as `ended`, if it is
    /// one of a session that goes on or in a closed loop, and the horizon has not come. No turn of
    /// a session is longer than `max_model_len`.
    pub fn next_turn(
        &mut self,
        id: u32,
        ended: &RequestStamps,
        now: Picos,
        max_model_len: u32,
    ) -> Option<(u32, OfferedRequest)> {
        if self.class(id).is_some_and(|class| class.session.is_some()) {
            return self.next_of_session(id, ended, now, max_model_len);
        }
        let made = (self.attempt(id).request as usize).checked_sub(self.given.len())?;
        let (last, turn) = self.made[made];
        let crowd: ClosedLoop = *self.classes[last.class as usize].arrivals.closed_loop()?;
        let turn = turn.next();
        let due = crowd.due(self.seed, self.position(last.class), turn, (last.due, now));
        self.ask(last.class, turn, due)
    }

    /// The next turn of the session of `id`; where there would be one and is not, all that were to
    /// come are counted.
    fn next_of_session(
        &mut self,
        id: u32,
        ended: &RequestStamps,
        now: Picos,
        max_model_len: u32,
    ) -> Option<(u32, OfferedRequest)> {
        let request = self.attempt(id).request;
        let last = *self.asked(request);
        let (place, number) = self.turn_of_session(request);
        let class = &self.classes[last.class as usize];
        let session = class.session.as_ref()?;
        let of_class = (self.seed, self.position(last.class));
        let turns = session.turns_of(of_class.0, of_class.1, place);
        let left = turns.saturating_sub(number + 1);
        if left == 0 {
            return None;
        }
        let turn = Turn::of_session(place, number + 1);
        let due = session.due(of_class, turn, (last.due, now));
        let who = ((self.seed, last.class), (place, number + 1));
        let next = class.next_turn(who.0, who.1, &last, due)?;
        let unasked = &mut self.unasked[last.class as usize];
        let why_not = if ended.fate != Fate::Completed {
            Some(&mut unasked.after_a_lost_turn)
        } else if next.input_tokens.saturating_add(next.output_tokens) > max_model_len {
            Some(&mut unasked.beyond_max_model_len)
        } else {
            (due >= self.horizon).then_some(&mut unasked.after_the_horizon)
        };
        if let Some(count) = why_not {
            *count += u64::from(left);
            return None;
        }
        Some(self.add(next, turn))
    }

    /// Which arrival of its class began the session of a request, and which turn of it that is.
    fn turn_of_session(&self, request: u32) -> (u32, u32) {
        match (request as usize).checked_sub(self.given.len()) {
            None => (self.given[request as usize].lineage.place, 0),
            Some(made) => self.made[made].1.in_session(),
        }
    }

    /// Turns that were never asked, per class; of none where no class has sessions.
    pub fn unasked(&self) -> &[UnaskedTurns] {
        &self.unasked
    }

    fn ask(&mut self, class: u32, turn: Turn, due: Picos) -> Option<(u32, OfferedRequest)> {
        if due >= self.horizon {
            return None;
        }
        let request = self.classes[class as usize].turn(self.seed, class, turn, due)?;
        Some(self.add(request, turn))
    }

    fn add(&mut self, request: OfferedRequest, turn: Turn) -> (u32, OfferedRequest) {
        let number = index_u32(self.given.len() + self.made.len());
        self.made.push((request, turn));
        self.later.push(Attempt { request: number, number: 0, sent: request.due });
        (self.last_id(), request)
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

    /// What an attempt has in common with others that should meet it on one replica: the user of a
    /// closed loop or of a session, else the shared prefix. The same whatever part of the traffic a
    /// pool serves.
    pub fn affinity(&self, id: u32) -> Option<u64> {
        let number = self.attempt(id).request;
        let asked = self.asked(number);
        let in_a_loop = self.class(id).is_some_and(|class| class.arrivals.closed_loop().is_some());
        let made = (number as usize).checked_sub(self.given.len()).filter(|_| in_a_loop);
        let user = made.map(|made| self.made[made].1.user);
        let RoutingKeys { session, prefix } = asked.routing_keys();
        match user.or(session) {
            Some(user) => Some(hash(&[self.position(asked.class), user.into()])),
            None => prefix.map(|prefix| hash(&[prefix.get().into()])),
        }
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

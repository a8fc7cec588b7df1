//! Whom a request belongs to: its class, and what its client will put up with.

use crate::rng::{Key, Stream};
use crate::units::Picos;
use crate::workload::{ClientBehaviour, OfferedRequest, TrafficClass};

/// The clients of a run.
#[derive(Debug)]
pub struct Clients<'a> {
    requests: &'a [OfferedRequest],
    /// None of a run whose requests nobody stands behind: they wait for ever.
    classes: &'a [TrafficClass],
    seed: u64,
    /// The index of each request within its class, if anybody draws by it.
    places: Vec<u32>,
}

impl<'a> Clients<'a> {
    /// Requests that wait for ever, but for the patience each of them has.
    pub fn nobody(requests: &'a [OfferedRequest]) -> Self {
        Self { requests, classes: &[], seed: 0, places: Vec::new() }
    }

    /// The people of `classes`, whose requests these are.
    pub fn of(requests: &'a [OfferedRequest], classes: &'a [TrafficClass], seed: u64) -> Self {
        let draws = classes.iter().any(|class| class.clients.stall_patience.is_some());
        let places = if draws { places(requests, classes.len()) } else { Vec::new() };
        Self { requests, classes, seed, places }
    }

    /// A request.
    pub fn request(&self, id: u32) -> &'a OfferedRequest {
        &self.requests[id as usize]
    }

    /// Priority of its class.
    pub fn priority(&self, id: u32) -> i32 {
        self.class(id).map_or(0, |class| class.priority)
    }

    /// How long its client waits for all of it.
    pub fn timeout(&self, id: u32) -> Option<Picos> {
        self.behaviour(id)?.timeout
    }

    /// Whether some users leave when a stream stalls.
    pub fn anybody_minds_stalls(&self) -> bool {
        self.classes.iter().any(|class| class.clients.stall_patience.is_some())
    }

    /// How long its user waits for the next token.
    pub fn stall_patience(&self, id: u32) -> Option<Picos> {
        let patience = self.behaviour(id)?.stall_patience?;
        patience.draw(self.key(id, Stream::StallPatience))
    }

    fn class(&self, id: u32) -> Option<&'a TrafficClass> {
        self.classes.get(self.request(id).class as usize)
    }

    fn behaviour(&self, id: u32) -> Option<&'a ClientBehaviour> {
        self.class(id).map(|class| &class.clients)
    }

    fn key(&self, id: u32, stream: Stream) -> Key {
        Key {
            seed: self.seed,
            stream,
            class: self.class(id).map_or(0, |class| class.position).into(),
            request: self.places[id as usize].into(),
            attempt: 0,
        }
    }
}

/// The index of each request within its class: its identity in the draws of its client.
fn places(requests: &[OfferedRequest], classes: usize) -> Vec<u32> {
    let mut next = vec![0; classes];
    let place = |request: &OfferedRequest| {
        let next = &mut next[request.class as usize];
        *next += 1;
        *next - 1
    };
    requests.iter().map(place).collect()
}

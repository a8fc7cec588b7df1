//! One replica under a benchmark's clients: requests wait in the client while too many are in
//! flight, and their clocks run from sending.
//!
//! A closed loop of `c` clients is `c` in flight and everything due at the start; a burst has no
//! cap; an open loop has due moments. [`super::simulate`] serves users, who do not wait for each
//! other; this serves benchmark tools, which may.

use super::ReplicaSpec;
use super::jobs::Jobs;
use super::replica::{Leaping, ReplicaEngine};
use crate::slo::RequestStamps;
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// One request of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClientRequest {
    /// When its client sent it: when it was due, or when another returned.
    pub sent: Picos,
    /// What happened to it.
    pub stamps: RequestStamps,
}

/// Runs `requests`, in order of their due moments, through a replica of `spec` with at most `cap`
/// in flight, until all are done. Requests that can never fit are not sent and count as too long.
pub fn drive_clients(
    requests: &[OfferedRequest],
    spec: &ReplicaSpec,
    cap: Option<u32>,
) -> Vec<ClientRequest> {
    serve_clients::<Leaping>(requests, spec, cap)
}

/// The same with a replica engine of the caller's choice.
pub fn serve_clients<'a, R: ReplicaEngine<'a>>(
    requests: &'a [OfferedRequest],
    spec: &'a ReplicaSpec,
    cap: Option<u32>,
) -> Vec<ClientRequest> {
    let mut clients = Clients::<R> {
        spec,
        requests,
        cap: u64::from(cap.unwrap_or(u32::MAX).max(1)),
        jobs: Jobs::to_come(requests.len()),
        sent: Vec::with_capacity(requests.len()),
        queued: 0,
        replica: R::new(spec, Picos::ZERO),
        refused: 0,
    };
    let mut now = Picos::ZERO;
    while let Some(at) = clients.next(now) {
        now = at;
    }
    let rows = (0..).zip(&clients.sent);
    rows.map(|(id, &sent)| ClientRequest { sent, stamps: clients.jobs.stamps(id) }).collect()
}

struct Clients<'a, R: ReplicaEngine<'a>> {
    spec: &'a ReplicaSpec,
    requests: &'a [OfferedRequest],
    cap: u64,
    jobs: Jobs<R::State>,
    /// Sent so far, in order; the first `queued` of them have reached the replica.
    sent: Vec<Picos>,
    queued: usize,
    replica: R,
    refused: u64,
}

impl<'a, R: ReplicaEngine<'a>> Clients<'a, R> {
    /// Takes the next event, not before `now`; at equal moments requests arrive before a step
    /// ends, as in a fleet. Returns its moment, `None` when everything is done.
    fn next(&mut self, now: Picos) -> Option<Picos> {
        let send = self.requests.get(self.sent.len()).map(|request| request.due.max(now));
        let send = send.filter(|_| self.in_flight() < self.cap);
        let arrive = self.sent.get(self.queued).map(|sent| *sent + self.spec.api_overhead);
        let at = [send, arrive, self.replica.end()].into_iter().flatten().min()?;
        if send == Some(at) {
            self.send(at);
        } else if arrive == Some(at) {
            self.arrive(at);
        } else {
            self.replica.boundary(at, u64::MAX, &mut self.jobs);
        }
        Some(at)
    }

    fn in_flight(&self) -> u64 {
        let load = self.replica.load();
        self.sent.len() as u64 - self.refused - load.completed - load.failed
    }

    fn send(&mut self, at: Picos) {
        self.sent.push(at);
    }

    fn arrive(&mut self, at: Picos) {
        let index = self.queued;
        self.queued += 1;
        let request = &self.requests[index];
        let id = u32::try_from(index).expect("a benchmark has far fewer than 2^32 requests");
        self.jobs.enter(id, request);
        if self.spec.can_never_fit(request.input_tokens, request.output_tokens) {
            self.jobs[id].end(crate::slo::Fate::TooLong, at);
            self.refused += 1;
            return;
        }
        self.replica.push(id, at, &mut self.jobs);
    }
}

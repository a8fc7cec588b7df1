//! One replica to which things happen at given moments: requests arrive, leave in mid-stream, and
//! somebody looks.

use super::configuration::{Configuration, Dice};
use crate::sim::job::{Job, Place};
use crate::sim::jobs::Jobs;
use crate::sim::replica::{Held, Leaping, News, Refusals, ReplicaEngine, ReplicaLoad, Stepwise};
use crate::sim::{ReplicaSpec, Sample};
use crate::slo::{Fate, RequestStamps};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// What happens at a moment; arrivals before boundaries, everything else after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Happens {
    Arrival(u32),
    Leaving(u32),
    Cut,
    Look,
}

/// A moment, and requests whose first token left then or that were served.
type Told = (Picos, Vec<u32>, Vec<u32>);

/// A replica, its outstanding requests, and when each stream last gave a token.
type Look = (Sample, u64, Vec<(u32, Picos)>);

/// What can be seen of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    looks: Vec<Look>,
    /// Boundaries that brought something.
    news: Vec<Told>,
    stamps: Vec<RequestStamps>,
    load: ReplicaLoad,
    refusals: Refusals,
    held: Held,
}

/// Both engines show the same.
pub fn agrees(seed: u64) {
    let Configuration { fleet, requests, limits, gap_limits, .. } = Configuration::of(seed);
    let mut dice = Dice::new(!seed);
    let script = script(&requests, &mut dice, seed.is_multiple_of(3));
    let stop = dice.one_in(2).then_some(limits.until.min(Picos::from_secs(dice.unit() * 10.0)));
    let horizon = limits.horizon;
    let (asked, replica) = ((requests.as_slice(), gap_limits.as_slice()), &fleet.pools[0].replica);
    let stepwise = play::<Stepwise>(replica, asked, &script, (horizon, stop));
    let leaping = play::<Leaping>(replica, asked, &script, (horizon, stop));
    for (stepwise, leaping) in stepwise.looks.iter().zip(&leaping.looks) {
        assert_eq!(stepwise, leaping, "seed {seed}");
    }
    for (id, (stepwise, leaping)) in stepwise.stamps.iter().zip(&leaping.stamps).enumerate() {
        assert_eq!(stepwise, leaping, "request {id} of seed {seed}");
    }
    assert_eq!(stepwise, leaping, "seed {seed}");
}

fn script(requests: &[OfferedRequest], dice: &mut Dice, round: bool) -> Vec<(Picos, Happens)> {
    let mut script = Vec::new();
    for (id, request) in (0..).zip(requests) {
        script.push((request.due, Happens::Arrival(id)));
        let mut later = |happens, dice: &mut Dice| {
            let stay = if round { 0.01 * dice.below(300) as f64 } else { 3.0 * dice.unit() };
            script.push((request.due + Picos::from_secs(stay), happens));
        };
        if dice.one_in(2) {
            later(Happens::Leaving(id), dice);
        }
        if dice.one_in(2) {
            later(Happens::Look, dice);
        }
        if dice.one_in(8) {
            later(Happens::Cut, dice);
        }
    }
    script.sort_unstable();
    script
}

fn play<'a, R: ReplicaEngine<'a>>(
    spec: &'a ReplicaSpec,
    (requests, gap_limits): (&[OfferedRequest], &[Option<Picos>]),
    script: &[(Picos, Happens)],
    (horizon, stop): (Picos, Option<Picos>),
) -> Seen {
    let mut replica = R::new(spec, horizon);
    replica.count_gaps_above(gap_limits);
    let mut jobs = Jobs::<R::State>::to_come(0);
    for request in requests {
        jobs.push(request);
    }
    let (mut looks, mut news) = (Vec::new(), Vec::new());
    let mut script = script.iter().copied().peekable();
    let stop = stop.unwrap_or(Picos::LAST);
    let mut last = Picos::ZERO;
    loop {
        let arrives = |happens| matches!(happens, Happens::Arrival(_));
        let boundary_first = match (replica.end(), script.peek()) {
            (Some(end), Some(&(at, happens))) => end < at || (end == at && !arrives(happens)),
            (Some(_), None) => true,
            (None, _) => false,
        };
        if boundary_first {
            let end = replica.end().expect("just seen").min(Picos::LAST);
            if end > stop {
                break;
            }
            replica.boundary(end, u64::MAX, &mut jobs);
            let News { first_tokens, served } = replica.news();
            if !replica.news().is_empty() {
                news.push((end, first_tokens.clone(), served.clone()));
            }
            last = last.max(end);
            continue;
        }
        let Some((at, happens)) = script.next_if(|(at, _)| *at <= stop) else { break };
        last = at;
        match happens {
            Happens::Arrival(id) => {
                let request = &requests[id as usize];
                if !spec.can_never_fit(request.input_tokens, request.output_tokens) {
                    replica.push(id, at, &mut jobs);
                }
            }
            Happens::Leaving(id) => replica.leave(id, Fate::Cancelled, at, &mut jobs),
            Happens::Cut => replica.cut(at, &mut jobs),
            Happens::Look => {
                let mut sample = Sample { at, ..Sample::default() };
                replica.add_to(&mut sample, &jobs);
                let outstanding = u64::from(replica.load().outstanding);
                looks.push((sample, outstanding, last_tokens(&replica, at, &jobs)));
            }
        }
    }
    let ended = if replica.end().is_some() { stop } else { last };
    replica.settle(ended, &mut jobs);
    Seen {
        looks,
        news,
        load: *replica.load(),
        refusals: *replica.refusals(),
        held: *replica.held(),
        stamps: jobs.rows_at(ended).iter().collect(),
    }
}

/// When each request that streams at `at` last gave a token.
fn last_tokens<'a, R: ReplicaEngine<'a>>(
    replica: &R,
    at: Picos,
    jobs: &Jobs<R::State>,
) -> Vec<(u32, Picos)> {
    let streams =
        |job: &Job<R::State>| job.stamps.first_token.is_some() && job.place != Place::Gone;
    let ids = 0..u32::try_from(jobs.len()).expect("a few");
    let streaming = ids.map(|id| (id, &jobs[id])).filter(|(_, job)| streams(job));
    streaming.map(|(id, job)| (id, replica.last_event(at, job))).collect()
}

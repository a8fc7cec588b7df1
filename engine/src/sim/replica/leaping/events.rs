//! Gaps between the events of a stream, where they hold one token or several, and those that are not
//! one step.
//!
//! Where each token is an event, a gap is a step, and steps are counted for all at once
//! ([`super::gaps`]). An event of several tokens ends every so many steps, at steps of each request's
//! own: so the ends of steps are kept, and the events of a request are gone through when it stops
//! decoding.

use std::collections::VecDeque;

use super::job::{JobState, LeapJob};
use super::{Leap, Leaping};
use crate::sim::jobs::Jobs;
use crate::units::Picos;

/// When steps ended.
#[derive(Debug, Default)]
pub struct Moments {
    /// Steps done before each run of steps, and the run.
    runs: VecDeque<(i64, Leap)>,
    /// With so many runs somebody looks which are needed.
    enough: usize,
}

/// Fewer runs than these are all kept.
const FEW: usize = 256;

impl Moments {
    /// The first steps of `leap`, up to the next such run, are over; before them `done` were.
    pub fn push(&mut self, done: i64, leap: Leap) {
        self.runs.push_back((done, leap));
    }

    /// Whether there are so many that those nobody will ask about should be forgotten.
    pub fn are_many(&self) -> bool {
        self.runs.len() > self.enough.max(FEW)
    }

    /// Nobody will ask about the first `done` steps.
    pub fn forget_before(&mut self, done: i64) {
        let first = self.runs.partition_point(|(before, _)| *before < done);
        let first = if done == i64::MAX { first } else { first.saturating_sub(1) };
        self.runs.drain(..first);
        self.enough = 2 * self.runs.len();
    }

    /// When the `step`-th step ended.
    fn end_of(&self, step: i64) -> Picos {
        let after = self.runs.partition_point(|(before, _)| *before < step);
        let run = after.checked_sub(1).and_then(|index| self.runs.get(index));
        run.map_or(Picos::ZERO, |(before, leap)| leap.time(step - before))
    }
}

impl JobState {
    /// It loses its blocks.
    pub fn span_preemption(&mut self) {
        if self.last_event >= Picos::ZERO {
            self.last_event = Picos(-1 - self.last_event.0);
        }
    }

    /// When the last event of its stream left, and whether it was preempted since.
    fn last_event(&self) -> (Picos, bool) {
        match self.last_event {
            Picos(at) if at >= 0 => (Picos(at), false),
            Picos(at) => (Picos(-1 - at), true),
        }
    }
}

impl Leaping<'_> {
    /// Whether events of streams hold several tokens.
    pub(super) fn streams_in_events(&self) -> bool {
        self.spec.stream_interval > 1
    }

    /// A request that lost its blocks has computed them again, and its next token is there.
    pub(super) fn end_preemption(&self, job: &mut LeapJob, now: Picos) {
        let gap = now - job.state.last_token;
        job.stamps.stream.preempted += gap;
        if !self.streams_in_events() {
            self.above.gap(job, gap);
            job.stamps.add_gap(gap, true);
        }
    }

    /// A request has generated a token with the last part of its prompt.
    pub(super) fn begin_event(&self, job: &mut LeapJob, now: Picos) {
        if self.streams_in_events() && job.sends(job.stamps.generated) {
            if job.stamps.generated > 1 {
                self.end_gap(job, now);
            }
            job.state.last_event = now;
        }
    }

    /// Of a decoding request, the events since its last one, up to the last boundary.
    pub(super) fn add_events(&self, job: &mut LeapJob) {
        let first = job.state.target - job.input + 1;
        let mut token = job.stamps.sent_with(first + 1, job.output);
        while token <= job.stamps.generated {
            let at = self.moments.end_of(job.step_of(token));
            if at > job.state.last_event().0 {
                self.end_gap(job, at);
                job.state.last_event = at;
            }
            if token == job.output {
                return;
            }
            token = job.stamps.sent_with(token + 1, job.output);
        }
    }

    /// When the last event of a stream had left after `steps` steps.
    pub(super) fn last_event_by(&self, steps: i64, job: &LeapJob) -> Picos {
        let (last, _) = job.state.last_event();
        if !job.is_decoding() {
            return last;
        }
        let first = job.state.target - job.input + 1;
        let generated = job.decode_generated(steps);
        let token = generated - (generated - 1) % u32::from(self.spec.stream_interval);
        if token <= first {
            return last;
        }
        let step = job.step_of(token);
        match &self.leap {
            Some(leap) if step > self.done => leap.time(step - self.done),
            _ => self.moments.end_of(step),
        }
    }

    /// The run is cut off at `now`, and the gap since the last event of a stream is open.
    pub(super) fn end_open_gap(&self, job: &mut LeapJob, now: Picos) {
        let waits = !job.is_decoding() && !job.is_stalled();
        if waits {
            job.stamps.stream.preempted += now - job.state.last_token;
        }
        if self.streams_in_events() {
            return self.end_gap(job, now);
        }
        let open = match self.leap {
            Some(leap) if job.is_decoding() && self.done > job.state.since => now - leap.start,
            _ => now - job.state.last_token,
        };
        job.stamps.add_gap(open, waits);
        self.above.gap(job, open);
    }

    fn end_gap(&self, job: &mut LeapJob, at: Picos) {
        let (last, spans_preemption) = job.state.last_event();
        self.above.gap(job, at - last);
        job.stamps.add_gap(at - last, spans_preemption);
    }

    /// Forgets when steps ended that nobody will ask about.
    pub(super) fn forget_moments(&mut self, jobs: &Jobs<JobState>) {
        if self.moments.are_many() {
            let decoding =
                self.admitted.iter().map(|id| &jobs[*id]).filter(|job| job.is_decoding());
            let oldest = decoding.map(|job| job.state.since).min();
            self.moments.forget_before(oldest.unwrap_or(self.done));
        }
    }
}

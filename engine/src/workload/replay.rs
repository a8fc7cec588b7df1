//! A trace, replayed: as it was, in other time, in other numbers, again and again.

use rand::RngExt;

use super::arrivals::Due;
use crate::counted::typed;
use crate::problem::Problem;
use crate::rng::{Key, Stream, keyed};
use crate::units::{MAX_HORIZON_S, Picos};

/// The most times that a request may be repeated, and the most that time may be stretched.
pub const MAX_FACTOR: f64 = 1_000.0;

/// The most times one request may come: [`MAX_FACTOR`].
const MOST_COPIES: u64 = 1_000;

/// The shortest loop, seconds: it bounds the laps of the longest scenario.
const SHORTEST_LOOP_S: f64 = 1.0;

/// The moments of a trace and what is done with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// In order of time; at least one.
    dues: Vec<Picos>,
    /// It begins again after this much time, not before its last moment.
    loop_every: Option<Picos>,
    /// Below 1 this share of its requests is kept, above 1 each comes so often in the mean.
    rate_factor: f64,
    /// The requests due in this span, spread evenly over it.
    even_over: Option<Picos>,
}

impl Replay {
    /// The moments as recorded, given in seconds from the start of the trace. Reports the first
    /// moment that is out of range and the first that is out of order, with paths such as
    /// `due_s[7]`.
    pub fn new(due_s: &[f64]) -> Result<Self, Vec<Problem>> {
        let problems = check(due_s);
        if !problems.is_empty() {
            return Err(problems);
        }
        let dues = due_s.iter().map(|due| Picos::from_secs(*due)).collect();
        Ok(Self { dues, loop_every: None, rate_factor: 1.0, even_over: None })
    }

    /// All moments `factor` times as late, and the loop as long.
    pub fn stretched(self, factor: f64) -> Result<Self, Problem> {
        let in_range = (1.0 / MAX_FACTOR..=MAX_FACTOR).contains(&factor);
        let last_s = self.dues.last().map_or(0.0, |last| last.as_secs() * factor);
        if !in_range || last_s > MAX_HORIZON_S {
            return Err(Problem::error(
                "time_factor",
                format!(
                    "time is stretched by {factor}, to {last_s} s",
                    factor = typed(factor),
                    last_s = typed(last_s)
                ),
                format!(
                    "give {} to {}, and no request after {} s",
                    1.0 / MAX_FACTOR,
                    typed(MAX_FACTOR),
                    typed(MAX_HORIZON_S)
                ),
            ));
        }
        Ok(self.in_time(factor))
    }

    /// Begins again every `seconds` (of the trace, before it is stretched).
    pub fn looped(self, seconds: f64) -> Result<Self, Problem> {
        let last_s = self.dues.last().map_or(0.0, |last| last.as_secs());
        if !(last_s.max(SHORTEST_LOOP_S)..=MAX_HORIZON_S).contains(&seconds) {
            return Err(Problem::error(
                "loop_every_s",
                format!("the trace is to begin again after {seconds} s", seconds = typed(seconds)),
                format!(
                    "give at least the {last_s} s of its last request, and {SHORTEST_LOOP_S} to \
                     {longest} s",
                    longest = typed(MAX_HORIZON_S)
                ),
            ));
        }
        Ok(Self { loop_every: Some(Picos::from_secs(seconds)), ..self })
    }

    /// Below 1, each request is kept with that chance; above, each is repeated so often in the
    /// mean, the repetitions at random moments before the request that follows. What a higher
    /// factor offers contains what a lower one does.
    pub fn at_rate(self, factor: f64) -> Result<Self, Problem> {
        if !(1.0 / MAX_FACTOR..=MAX_FACTOR).contains(&factor) {
            return Err(Problem::error(
                "rate_factor",
                format!("the rate of the trace is multiplied by {factor}", factor = typed(factor)),
                format!("give {} to {MAX_FACTOR}", 1.0 / MAX_FACTOR),
            ));
        }
        Ok(Self { rate_factor: factor, ..self })
    }

    /// The same in `factor` times the time.
    pub(super) fn in_time(mut self, factor: f64) -> Self {
        let later = |moment: Picos| Picos::from_secs(moment.as_secs() * factor);
        for due in &mut self.dues {
            *due = later(*due);
        }
        self.loop_every = self.loop_every.map(later);
        self.even_over = self.even_over.map(later);
        self
    }

    /// The same requests without chance: those before `horizon`, evenly over it.
    pub(super) fn evened(mut self, horizon: Picos) -> Self {
        self.even_over = Some(horizon);
        self
    }

    /// Requests of the trace before `horizon`, each counted once.
    pub fn recorded_before(&self, horizon: Picos) -> usize {
        self.dues.partition_point(|due| *due < horizon)
    }

    /// Requests of the trace.
    pub fn recorded(&self) -> usize {
        self.dues.len()
    }

    /// Whether it begins again.
    pub fn is_looped(&self) -> bool {
        self.loop_every.is_some()
    }

    /// Requests expected in `[from, to)`.
    pub(super) fn expected(&self, from: Picos, to: Picos) -> f64 {
        if let Some(span) = self.even_over {
            let within = |moment: Picos| moment.min(span).as_secs();
            let rate = self.counted_before(span) / span.as_secs();
            return rate * (within(to) - within(from)).max(0.0);
        }
        self.counted_before(to) - self.counted_before(from)
    }

    fn counted_before(&self, moment: Picos) -> f64 {
        let (laps, rest) = match self.loop_every {
            Some(every) => (moment.0.div_euclid(every.0), Picos(moment.0.rem_euclid(every.0))),
            None => (0, moment),
        };
        let recorded = laps as f64 * self.dues.len() as f64 + self.recorded_before(rest) as f64;
        recorded * self.rate_factor
    }

    /// What is due, in order of time.
    pub(super) fn dues(&self, seed: u64, class: u64) -> Box<dyn Iterator<Item = Due> + '_> {
        let raw = self.raw(seed, class);
        let Some(span) = self.even_over else { return Box::new(raw) };
        // More than any scenario holds need not be gathered.
        let most = usize::try_from(super::MAX_REQUESTS).unwrap_or(usize::MAX).saturating_add(1);
        let requests: Vec<Due> = raw.take_while(|due| due.at < span).take(most).collect();
        let gap_s = span.as_secs() / requests.len().max(1) as f64;
        let even =
            move |(i, due): (usize, Due)| Due { at: Picos::from_secs(i as f64 * gap_s), ..due };
        Box::new(requests.into_iter().enumerate().map(even))
    }

    fn raw(&self, seed: u64, class: u64) -> impl Iterator<Item = Due> + '_ {
        let laps = if self.loop_every.is_some() { u64::MAX } else { 1 };
        let lap_start = |lap: u64| {
            let every = self.loop_every.map_or(0, |every| every.0);
            let start = Picos(every.checked_mul(i64::try_from(lap).ok()?)?);
            (start.as_secs() <= MAX_HORIZON_S).then_some(start)
        };
        let starts = (0..laps).map_while(move |lap| lap_start(lap).map(|start| (lap, start)));
        starts.flat_map(move |(lap, start)| {
            (0..self.dues.len())
                .flat_map(move |record| self.copies(seed, class, (lap, start), record))
        })
    }

    /// One request of the trace as often as it comes.
    fn copies(&self, seed: u64, class: u64, (lap, start): (u64, Picos), record: usize) -> Vec<Due> {
        let at = self.dues[record] + start;
        let request = lap.wrapping_mul(self.dues.len() as u64).wrapping_add(record as u64);
        if self.rate_factor.total_cmp(&1.0).is_eq() {
            return vec![Due { at, request, record }];
        }
        let uniform = |attempt: u64| -> f64 {
            keyed(Key { seed, stream: Stream::Replay, class, request, attempt }).random()
        };
        let next = match self.dues.get(record + 1) {
            Some(next) => *next + start,
            None => self.loop_every.map_or(at, |every| self.dues[0] + start + every),
        };
        let gap_s = (next - at).as_secs();
        let mut copies: Vec<Due> = (0..MOST_COPIES)
            .take_while(|copy| *copy as f64 + uniform(0) < self.rate_factor)
            .map(|copy| {
                let later = if copy == 0 { 0.0 } else { gap_s * uniform(copy) };
                // Copies are requests of their own: other patience, other quality.
                let request = request.wrapping_add(copy << 40);
                Due { at: at + Picos::from_secs(later), request, record }
            })
            .collect();
        copies.sort_by_key(|due| due.at);
        copies
    }
}

fn check(due_s: &[f64]) -> Vec<Problem> {
    let mut problems = Vec::new();
    if due_s.is_empty() {
        problems.push(Problem::error(
            "due_s",
            "the trace has no requests",
            "give the moment of at least one request",
        ));
    }
    if let Some(i) = due_s.iter().position(|due| !(0.0..=MAX_HORIZON_S).contains(due)) {
        problems.push(Problem::error(
            format!("due_s[{i}]"),
            format!("this request is due at {:?} s", due_s[i]),
            format!(
                "give seconds from the start of the trace, 0 to {longest}",
                longest = typed(MAX_HORIZON_S)
            ),
        ));
    }
    if let Some(i) = due_s.windows(2).position(|pair| pair[1] < pair[0]) {
        problems.push(Problem::error(
            format!("due_s[{}]", i + 1),
            format!(
                "this request is due at {:?} s, before the one at {:?} s",
                due_s[i + 1],
                due_s[i]
            ),
            "sort the requests by time, lengths along with them",
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace() -> Replay {
        Replay::new(&[0.0, 0.5, 0.5, 3.25]).unwrap()
    }

    fn moments(replay: &Replay, horizon_s: f64) -> Vec<f64> {
        let horizon = Picos::from_secs(horizon_s);
        replay.dues(1, 0).take_while(|due| due.at < horizon).map(|due| due.at.as_secs()).collect()
    }

    #[test]
    fn a_trace_is_replayed_as_recorded() {
        assert_eq!(moments(&trace(), 99.0), [0.0, 0.5, 0.5, 3.25]);
        let counted = trace().expected(Picos::from_secs(0.5), Picos::from_secs(3.25));
        assert!((counted - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_bad_trace_says_where() {
        for (due_s, paths) in [
            (vec![], vec!["due_s"]),
            (vec![0.0, -1.0], vec!["due_s[1]", "due_s[1]"]),
            (vec![0.0, f64::NAN, 1.0], vec!["due_s[1]"]),
            (vec![0.0, 2.0, 1.0, 0.5], vec!["due_s[2]"]),
            (vec![1e9], vec!["due_s[0]"]),
        ] {
            let problems = Replay::new(&due_s).unwrap_err();
            assert_eq!(problems.iter().map(|p| &p.path).collect::<Vec<_>>(), paths, "{due_s:?}");
        }
        for (result, path) in [
            (trace().stretched(0.0), "time_factor"),
            (trace().stretched(f64::NAN), "time_factor"),
            (Replay::new(&[2e6]).unwrap().stretched(2.0), "time_factor"),
            (trace().looped(3.0), "loop_every_s"),
            (Replay::new(&[0.0]).unwrap().looped(0.0), "loop_every_s"),
            (trace().at_rate(0.0), "rate_factor"),
            (trace().at_rate(1e6), "rate_factor"),
        ] {
            assert_eq!(result.unwrap_err().path, path);
        }
    }

    #[test]
    fn a_loop_begins_again_with_new_requests_and_the_same_records() {
        let looped = trace().looped(4.0).unwrap().stretched(0.5).unwrap();
        let due: Vec<_> = looped.dues(1, 0).take(9).collect();
        let seen: Vec<_> = due.iter().map(|d| (d.at.as_secs(), d.request, d.record)).collect();
        let one = [(0.0, 0_u32), (0.25, 1), (0.25, 2), (1.625, 3)];
        let expected: Vec<_> = (0..3_u32)
            .flat_map(|lap| {
                one.map(|(at, i)| {
                    let request = u64::from(lap * 4 + i);
                    (at + 2.0 * f64::from(lap), request, usize::try_from(i).unwrap())
                })
            })
            .take(9)
            .collect();
        assert_eq!(seen, expected);
        for end in [0.1, 2.0, 3.0, 40.0] {
            let counted = looped.expected(Picos::ZERO, Picos::from_secs(end));
            assert!((counted - moments(&looped, end).len() as f64).abs() < 1e-9, "{end}");
        }
    }

    #[test]
    fn thinning_keeps_a_share_and_repeating_adds_to_the_same_requests() {
        let due_s: Vec<f64> = (0..20_000).map(|i| f64::from(i) * 0.1).collect();
        let trace = Replay::new(&due_s).unwrap();
        let requests = |factor: f64| {
            let replay = trace.clone().at_rate(factor).unwrap();
            let due: Vec<_> = replay.dues(1, 0).collect();
            assert!(due.windows(2).all(|pair| pair[0].at <= pair[1].at));
            let expected = replay.expected(Picos::ZERO, Picos::from_secs(1e5));
            assert!((expected - 20_000.0 * factor).abs() < 1e-6);
            // A share of 20,000 requests: at most half a standard deviation each.
            assert!((due.len() as f64 - expected).abs() < 4.0 * 0.5 * 20_000.0_f64.sqrt());
            due.iter().map(|d| (d.request, d.at)).collect::<std::collections::BTreeSet<_>>()
        };
        let mut before = requests(0.1);
        for factor in [0.4, 1.0, 1.3, 2.7] {
            let now = requests(factor);
            assert!(before.is_subset(&now), "{factor}");
            before = now;
        }
    }
}

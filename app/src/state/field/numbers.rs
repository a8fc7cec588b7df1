//! Which numbers arrivals and lengths of each kind have: name in the document, looks and place.
//!
//! The one list by which forms are laid out, edits write and problems find their field.

use goodput_engine::scenario::doc::{
    ArrivalsDoc, Burstiness, LengthsDoc, LognormalDoc, NoiseDoc, ThinkTimeDoc,
};

use super::{FieldKind, Slot};
use crate::parse::Quantity;

/// A number of arrivals or of lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// Its place below them in the document.
    pub name: &'static str,
    /// How it looks.
    pub kind: FieldKind,
}

/// The rate of arrivals whose rate is constant.
pub const RATE: Named = rate("rate_rps", "Rate");

/// What stands in a field that says where lengths end and is empty.
const NO_END: &str = "no end";

/// A number and its place.
pub(super) type Number<'a> = (Named, Slot<'a>);

impl Named {
    pub(super) const fn real(
        name: &'static str,
        label: &'static str,
        unit: &'static str,
        quantity: Quantity,
    ) -> Self {
        Self { name, kind: FieldKind::real(label, unit, quantity) }
    }

    pub(super) const fn whole(self) -> Self {
        Self { name: self.name, kind: FieldKind { whole: true, ..self.kind } }
    }

    pub(super) const fn or_empty(self, meaning: &'static str) -> Self {
        Self { name: self.name, kind: self.kind.or_empty(meaning) }
    }

    /// Whether it says where lengths end, which most do not say.
    pub fn is_end(&self) -> bool {
        self.kind.when_empty == Some(NO_END)
    }
}

pub(super) const fn rate(name: &'static str, label: &'static str) -> Named {
    Named::real(name, label, "req/s", Quantity::Rate)
}

pub(super) const fn seconds(name: &'static str, label: &'static str) -> Named {
    Named::real(name, label, "s", Quantity::Seconds)
}

const fn tokens(name: &'static str, label: &'static str) -> Named {
    Named::real(name, label, "tokens", Quantity::Tokens)
}

pub(super) const fn plain(name: &'static str, label: &'static str, unit: &'static str) -> Named {
    Named::real(name, label, unit, Quantity::Plain)
}

/// The numbers of arrivals, without the points of a profile.
pub fn of_arrivals(arrivals: &ArrivalsDoc) -> Vec<Named> {
    arrivals_numbers(&mut without_recording(arrivals)).into_iter().map(|(named, _)| named).collect()
}

/// Reads one; `None` where these arrivals have no such number.
pub(super) fn get_of_arrivals(arrivals: &ArrivalsDoc, wanted: Named) -> Option<f64> {
    let mut copy = without_recording(arrivals);
    find(arrivals_numbers(&mut copy), wanted)?.get()
}

/// The place of one.
pub(super) fn place_in_arrivals(arrivals: &mut ArrivalsDoc, wanted: Named) -> Option<Slot<'_>> {
    find(arrivals_numbers(arrivals), wanted)
}

/// The numbers of lengths, without rows, samples and parts.
pub fn of_lengths(lengths: &LengthsDoc) -> Vec<Named> {
    lengths_numbers(&mut without_samples(lengths)).into_iter().map(|(named, _)| named).collect()
}

/// Reads one; `None` where these lengths have no such number.
pub(super) fn get_of_lengths(lengths: &LengthsDoc, wanted: Named) -> Option<f64> {
    let mut copy = without_samples(lengths);
    find(lengths_numbers(&mut copy), wanted)?.get()
}

/// The place of one.
pub(super) fn place_in_lengths(lengths: &mut LengthsDoc, wanted: Named) -> Option<Slot<'_>> {
    find(lengths_numbers(lengths), wanted)
}

pub(super) fn find(numbers: Vec<Number<'_>>, wanted: Named) -> Option<Slot<'_>> {
    numbers.into_iter().find(|(named, _)| named.name == wanted.name).map(|(_, slot)| slot)
}

/// A copy to read numbers from: a recording may be long, and no number is in it.
fn without_recording(arrivals: &ArrivalsDoc) -> ArrivalsDoc {
    match arrivals {
        ArrivalsDoc::Trace { due_s: _, time_factor, rate_factor, loop_every_s } => {
            ArrivalsDoc::Trace {
                due_s: Vec::new(),
                time_factor: *time_factor,
                rate_factor: *rate_factor,
                loop_every_s: *loop_every_s,
            }
        }
        other => other.clone(),
    }
}

fn without_samples(lengths: &LengthsDoc) -> LengthsDoc {
    match lengths {
        LengthsDoc::Recorded { tokens: _, factor } => {
            LengthsDoc::Recorded { tokens: Vec::new(), factor: *factor }
        }
        LengthsDoc::Empirical { .. } => LengthsDoc::Empirical { samples: Vec::new() },
        other => other.clone(),
    }
}

fn arrivals_numbers(arrivals: &mut ArrivalsDoc) -> Vec<Number<'_>> {
    use ArrivalsDoc as A;
    let real = |named, value| (named, Slot::Real(value));
    let (mut numbers, noise) = match arrivals {
        A::Poisson { rate_rps } | A::Constant { rate_rps } => (vec![real(RATE, rate_rps)], None),
        A::Gamma { rate_rps, cv, burstiness } => {
            let mut numbers = vec![real(RATE, rate_rps)];
            numbers.extend(gaps([CV, BURSTINESS], cv, burstiness));
            (numbers, None)
        }
        A::Bursts { quiet_rps, burst_rps, mean_quiet_s, mean_burst_s } => {
            let numbers = vec![
                real(rate("quiet_rps", "Between bursts"), quiet_rps),
                real(rate("burst_rps", "In a burst"), burst_rps),
                real(seconds("mean_quiet_s", "Between them, mean"), mean_quiet_s),
                real(seconds("mean_burst_s", "A burst, mean"), mean_burst_s),
            ];
            (numbers, None)
        }
        A::Profile { points: _, noise } => (Vec::new(), Some(noise)),
        A::Trace { due_s: _, time_factor, rate_factor, loop_every_s } => {
            let loop_every = seconds("loop_every_s", "Again every").or_empty("it ends");
            let numbers = vec![
                real(plain("time_factor", "Time", "×"), time_factor),
                real(plain("rate_factor", "Rate", "×"), rate_factor),
                (loop_every, Slot::MaybeReal(loop_every_s)),
            ];
            (numbers, None)
        }
        A::ClosedLoop { users, think_time } => {
            let named = Named::real("users", "Users", "", Quantity::Count).whole();
            let mut numbers = vec![(named, Slot::Whole(users))];
            numbers.extend(think_numbers(think_time, THINK_TIME));
            (numbers, None)
        }
        shape => shape_numbers(shape),
    };
    if let Some(NoiseDoc::Gamma(law)) = noise {
        numbers.extend(gaps([NOISE_CV, NOISE_BURSTINESS], &mut law.cv, &mut law.burstiness));
    }
    numbers
}

/// Names of think times: of all alike, of the shortest and the longest, of the mean.
const THINK_TIME: [&str; 4] =
    ["think_time.s", "think_time.min_s", "think_time.max_s", "think_time.mean_s"];

/// Of what users do between two requests, under these names.
pub(super) fn think_numbers<'a>(
    think_time: &'a mut ThinkTimeDoc,
    [same, shortest, longest, mean]: [&'static str; 4],
) -> Vec<Number<'a>> {
    let real = |name, label, value| (seconds(name, label), Slot::Real(value));
    match think_time {
        ThinkTimeDoc::Fixed { s } => vec![real(same, "Think time", s)],
        ThinkTimeDoc::Uniform { min_s, max_s } => vec![
            real(shortest, "Think time, shortest", min_s),
            real(longest, "Think time, longest", max_s),
        ],
        ThinkTimeDoc::Exponential { mean_s } => vec![real(mean, "Think time, mean", mean_s)],
    }
}

/// Of rates by their shape over time, and what is around them.
fn shape_numbers(arrivals: &mut ArrivalsDoc) -> (Vec<Number<'_>>, Option<&mut NoiseDoc>) {
    use ArrivalsDoc as A;
    let rows: (Vec<(Named, &mut f64)>, _) = match arrivals {
        A::Sinusoid { min_rps, max_rps, period_s, phase, noise } => {
            let begins = Named::real("phase", "Begins after low", "% of it", Quantity::Share);
            let numbers = vec![
                (rate("min_rps", "Lowest"), min_rps),
                (rate("max_rps", "Highest"), max_rps),
                (seconds("period_s", "One wave"), period_s),
                (begins, phase),
            ];
            (numbers, noise)
        }
        A::Spike { base_rps, peak_rps, start_s, duration_s, ramp_s, noise } => {
            let numbers = vec![
                (rate("base_rps", "Before and after"), base_rps),
                (rate("peak_rps", "In the spike"), peak_rps),
                (seconds("start_s", "Begins at"), start_s),
                (seconds("duration_s", "Lasts"), duration_s),
                (seconds("ramp_s", "Up and down in"), ramp_s),
            ];
            (numbers, noise)
        }
        A::Ramp { from_rps, to_rps, start_s, duration_s, noise } => {
            let numbers = vec![
                (rate("from_rps", "From"), from_rps),
                (rate("to_rps", "To"), to_rps),
                (seconds("start_s", "Begins at"), start_s),
                (seconds("duration_s", "Takes"), duration_s),
            ];
            (numbers, noise)
        }
        A::Day { mean_rps, peak_over_mean, peak_hour, noise } => {
            (day(mean_rps, peak_over_mean, peak_hour), noise)
        }
        A::Week { mean_rps, peak_over_mean, peak_hour, weekend_factor, noise } => {
            let mut numbers = day(mean_rps, peak_over_mean, peak_hour);
            numbers.push((plain("weekend_factor", "At weekends", "×"), weekend_factor));
            (numbers, noise)
        }
        _ => return (Vec::new(), None),
    };
    let (numbers, noise) = rows;
    (numbers.into_iter().map(|(named, value)| (named, Slot::Real(value))).collect(), Some(noise))
}

fn day<'a>(
    mean_rps: &'a mut f64,
    peak_over_mean: &'a mut f64,
    peak_hour: &'a mut f64,
) -> Vec<(Named, &'a mut f64)> {
    vec![
        (rate("mean_rps", "Mean"), mean_rps),
        (plain("peak_over_mean", "Peak over mean", "×"), peak_over_mean),
        (plain("peak_hour", "Peak at hour", "h"), peak_hour),
    ]
}

const CV: Named = plain("cv", "CV of gaps", "");
const BURSTINESS: Named = Named::real("burstiness", "Burstiness", "1/CV²", Quantity::Burstiness);
const NOISE_CV: Named = Named { name: "noise.gamma.cv", ..CV };
const NOISE_BURSTINESS: Named = Named { name: "noise.gamma.burstiness", ..BURSTINESS };

/// How gaps vary: by one of two numbers. Of two that are given one may be emptied.
fn gaps<'a>(
    [by_cv, by_burstiness]: [Named; 2],
    cv: &'a mut Option<f64>,
    burstiness: &'a mut Option<Burstiness>,
) -> Vec<Number<'a>> {
    match (cv.is_some(), burstiness.is_some()) {
        (_, false) => vec![(by_cv, Slot::MaybeReal(cv))],
        (false, true) => vec![(by_burstiness, Slot::MaybeBurstiness(burstiness))],
        (true, true) => vec![
            (by_cv.or_empty("as burstiness says"), Slot::MaybeReal(cv)),
            (by_burstiness.or_empty("as the CV says"), Slot::MaybeBurstiness(burstiness)),
        ],
    }
}

fn lengths_numbers(lengths: &mut LengthsDoc) -> Vec<Number<'_>> {
    use LengthsDoc as L;
    let mean = tokens("mean", "Mean");
    let sd = tokens("sd", "Standard deviation");
    match lengths {
        L::Fixed { tokens: length } => {
            vec![(tokens("tokens", "Length").whole(), Slot::Whole(length))]
        }
        L::Uniform { min, max, mean: stated_mean, sd: stated_sd } => {
            let mut numbers = vec![
                (tokens("min", "Shortest").whole(), Slot::Whole(min)),
                (tokens("max", "Longest").whole(), Slot::Whole(max)),
            ];
            numbers.extend(stated(vec![(mean, stated_mean), (sd, stated_sd)], 0));
            numbers
        }
        L::Lognormal(law) => lognormal_numbers(law),
        L::Gamma { mean: of_law, cv, sd: stated_sd, min, max } => {
            let mut numbers = vec![(mean, Slot::Real(of_law))];
            numbers.extend(stated(vec![(plain("cv", "CV", ""), cv), (sd, stated_sd)], 1));
            numbers.extend(ends(Some(min), max));
            numbers
        }
        L::Pareto { min, alpha, p99, mean: stated_mean, max } => {
            let mut numbers = vec![(tokens("min", "Shortest"), Slot::Real(min))];
            let exponent = plain("alpha", "Tail exponent", "");
            let by = vec![(exponent, alpha), (tokens("p99", "p99"), p99), (mean, stated_mean)];
            numbers.extend(stated(by, 1));
            numbers.extend(ends(None, max));
            numbers
        }
        L::Mixture { parts: _, min, max } => ends(Some(min), max),
        L::Quantiles { .. } | L::Empirical { .. } => Vec::new(),
        L::Recorded { tokens: _, factor } => {
            vec![(plain("factor", "Length", "×"), Slot::Real(factor))]
        }
    }
}

fn lognormal_numbers(law: &mut LognormalDoc) -> Vec<Number<'_>> {
    let LognormalDoc { mean, p99, sd, sigma, p5, p50, p90, p95, min, max } = law;
    let by = vec![
        (tokens("mean", "Mean"), mean),
        (tokens("p5", "p5"), p5),
        (tokens("p50", "p50"), p50),
        (tokens("p90", "p90"), p90),
        (tokens("p95", "p95"), p95),
        (tokens("p99", "p99"), p99),
        (tokens("sd", "Standard deviation"), sd),
        (plain("sigma", "σ of the logarithm", ""), sigma),
    ];
    let mut numbers = stated(by, 2);
    numbers.extend(ends(Some(min), max));
    numbers
}

/// Of the numbers by which a law may be known those that are given; all of them where too few are.
/// Where it is known by more than `enough`, each may be emptied: they may contradict each other.
fn stated<'a>(by: Vec<(Named, &'a mut Option<f64>)>, enough: usize) -> Vec<Number<'a>> {
    let given = by.iter().filter(|(_, value)| value.is_some()).count();
    let shown = by.into_iter().filter(|(_, value)| given < enough || value.is_some());
    let number = |(named, value): (Named, &'a mut Option<f64>)| {
        let named = if given == enough { named } else { named.or_empty("not given") };
        (named, Slot::MaybeReal(value))
    };
    shown.map(number).collect()
}

fn ends<'a>(min: Option<&'a mut Option<u32>>, max: &'a mut Option<u32>) -> Vec<Number<'a>> {
    let end = |name, label, value| {
        (tokens(name, label).whole().or_empty(NO_END), Slot::MaybeWhole(value))
    };
    let shortest = min.map(|min| end("min", "Shortest", min));
    shortest.into_iter().chain([end("max", "Longest", max)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_shows_what_it_is_known_by() {
        let names = |lengths: &LengthsDoc| {
            let numbers = of_lengths(lengths).into_iter().filter(|named| !named.is_end());
            numbers.map(|named| (named.name, named.kind.when_empty.is_some())).collect::<Vec<_>>()
        };
        let law = |law: LognormalDoc| LengthsDoc::Lognormal(law);
        let two = LognormalDoc { p50: Some(200.0), p90: Some(900.0), ..LognormalDoc::default() };
        assert_eq!(names(&law(two)), [("p50", false), ("p90", false)]);
        let three = LognormalDoc { mean: Some(300.0), ..two };
        assert_eq!(names(&law(three)), [("mean", true), ("p50", true), ("p90", true)]);
        assert_eq!(names(&law(LognormalDoc { p90: None, ..two })).len(), 8, "too little: choose");
        let tail =
            LengthsDoc::Pareto { min: 9.0, alpha: Some(2.0), p99: None, mean: None, max: None };
        assert_eq!(names(&tail), [("min", false), ("alpha", false)]);
    }

    #[test]
    fn infinite_burstiness_is_read_and_written() {
        let mut arrivals = ArrivalsDoc::Gamma {
            rate_rps: 2.0,
            cv: None,
            burstiness: Some(Burstiness(f64::INFINITY)),
        };
        let named = of_arrivals(&arrivals)[1];
        let value = get_of_arrivals(&arrivals, named);
        assert_eq!(named.kind.text(value), "inf");
        assert_eq!(named.kind.read("inf"), Ok(Some(f64::INFINITY)));
        place_in_arrivals(&mut arrivals, named).expect("a place").set(Some(0.25));
        assert_eq!(get_of_arrivals(&arrivals, named), Some(0.25));
        assert!(named.kind.read("-1").is_err());
    }
}

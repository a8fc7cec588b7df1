//! Where handles are on the pictures of lengths and arrivals, and what numbers they stand for.

use goodput_engine::scenario::doc::{ArrivalsDoc, ClassDoc, LengthsDoc, RatePointDoc, ScenarioDoc};

use super::{Frame, Grip};
use crate::format;
use crate::state::field::{ClassField, LengthField, Named, Place, of_arrivals, of_lengths};

/// So much per unit across, or up.
const ACROSS: [f64; 3] = [0.0, 1.0, 0.0];
const UP: [f64; 3] = [0.0, 0.0, 1.0];

/// What lengths are known by: the picture holds all of it.
pub fn of_law(class: &ClassDoc, place: Place) -> Vec<Grip> {
    let Some(lengths) = place.get(class) else { return Vec::new() };
    let field = |field| ClassField::Length(place, field);
    let one = |name: String, number: LengthField| {
        let field = field(number);
        Some(Grip::new(name, [field.get(class)?, 0.0], vec![(field, ACROSS)]))
    };
    if let LengthsDoc::Quantiles { table } = lengths {
        let name = |p: f64| format!("p{}", format::significant(100.0 * p));
        let row = |(i, row): (usize, _)| one(name(row), LengthField::QuantileTokens(i));
        return table.iter().map(|row| row.p).enumerate().filter_map(row).collect();
    }
    // A deviation is no length, and one length for all has no picture.
    let is_length =
        |named: &Named| named.kind.unit == "tokens" && !matches!(named.name, "sd" | "tokens");
    let numbers = of_lengths(lengths).into_iter().filter(is_length);
    numbers
        .filter_map(|named| one(named.kind.label.to_owned(), LengthField::Number(named)))
        .collect()
}

/// What a rate over time is known by; nothing for one that is typed as hours of a day.
pub(super) fn of_rate(arrivals: &ArrivalsDoc, end_s: f64) -> Vec<Grip> {
    let grip = |name, at, numbers: &[_]| named(arrivals, name, at, numbers);
    match *arrivals {
        ArrivalsDoc::Profile { ref points, .. } => {
            let point = |(i, point): (usize, &RatePointDoc)| {
                let numbers =
                    vec![(ClassField::PointTime(i), ACROSS), (ClassField::PointRate(i), UP)];
                Grip::new(format!("Point {}", i + 1), [point.t_s, point.rate_rps], numbers)
            };
            points.iter().enumerate().map(point).collect()
        }
        ArrivalsDoc::Poisson { rate_rps }
        | ArrivalsDoc::Constant { rate_rps }
        | ArrivalsDoc::Gamma { rate_rps, .. } => {
            vec![grip("Rate", [end_s / 2.0, rate_rps], &[("rate_rps", UP)])]
        }
        ArrivalsDoc::Bursts { quiet_rps, burst_rps, .. } => vec![
            grip("Between bursts", [end_s / 3.0, quiet_rps], &[("quiet_rps", UP)]),
            grip("In a burst", [end_s / 1.5, burst_rps], &[("burst_rps", UP)]),
        ],
        _ => of_shape(arrivals, end_s),
    }
}

/// Of a rate that has a shape.
fn of_shape(arrivals: &ArrivalsDoc, end_s: f64) -> Vec<Grip> {
    let grip = |name, at, numbers: &[_]| named(arrivals, name, at, numbers);
    match *arrivals {
        ArrivalsDoc::Sinusoid { min_rps, max_rps, period_s, phase, .. } => {
            let (mean, half) = (f64::midpoint(min_rps, max_rps), (max_rps - min_rps) / 2.0);
            let at = |turn: f64| (((turn - phase + 1.0) % 1.0) * period_s).min(end_s);
            let whole = [("min_rps", [-half, 0.0, 1.0]), ("max_rps", [half, 0.0, 1.0])];
            let crest = [("max_rps", UP), ("min_rps", [2.0 * mean, 0.0, -1.0])];
            vec![
                grip("Mean", [at(0.25), mean], &whole),
                grip("Amplitude", [at(0.5), max_rps], &crest),
            ]
        }
        ArrivalsDoc::Spike { base_rps, peak_rps, start_s, duration_s, ramp_s, .. } => {
            let (up_s, down_s) = (start_s + ramp_s, start_s + ramp_s + duration_s);
            // Where it is seen: before the spike or after it.
            let rest_s = down_s + ramp_s;
            let base_s =
                if start_s > end_s - rest_s { start_s / 2.0 } else { f64::midpoint(rest_s, end_s) };
            let begin = [("start_s", [-ramp_s, 1.0, 0.0]), ("peak_rps", UP)];
            vec![
                grip("Before and after", [base_s, base_rps], &[("base_rps", UP)]),
                grip("Start and height of the spike", [up_s, peak_rps], &begin),
                grip("End of the spike", [down_s, peak_rps], &[("duration_s", [-up_s, 1.0, 0.0])]),
            ]
        }
        ArrivalsDoc::Ramp { from_rps, to_rps, start_s, duration_s, .. } => vec![
            grip(
                "Start of the ramp",
                [start_s, from_rps],
                &[("start_s", ACROSS), ("from_rps", UP)],
            ),
            grip(
                "End of the ramp",
                [start_s + duration_s, to_rps],
                &[("duration_s", [-start_s, 1.0, 0.0]), ("to_rps", UP)],
            ),
        ],
        _ => Vec::new(),
    }
}

/// A handle for numbers of arrivals by their names.
fn named(arrivals: &ArrivalsDoc, name: &str, at: [f64; 2], numbers: &[(&str, [f64; 3])]) -> Grip {
    let all = of_arrivals(arrivals);
    let number = |(name, by): &(&str, [f64; 3])| {
        let named = all.iter().find(|named| named.name == *name)?;
        Some((ClassField::Arrivals(*named), *by))
    };
    Grip::new(name.to_owned(), at, numbers.iter().filter_map(number).collect())
}

/// How many points the profile of a class has.
pub fn points(doc: &ScenarioDoc, index: usize) -> usize {
    match doc.workload.classes.get(index).map(|class| &class.arrivals) {
        Some(ArrivalsDoc::Profile { points, .. }) => points.len(),
        _ => 0,
    }
}

/// The points of a profile with one more where somebody asks for it; `None` where there is one.
pub fn with_point(
    arrivals: &ArrivalsDoc,
    frame: &Frame,
    [x, y]: [f64; 2],
) -> Option<Vec<RatePointDoc>> {
    let ArrivalsDoc::Profile { points, .. } = arrivals else { return None };
    let t_s = frame[0].snapped(frame[0].value(x)).clamp(0.0, frame[0].high);
    let rate_rps = frame[1].snapped(frame[1].value(y)).max(0.0);
    let place = points.partition_point(|point| point.t_s < t_s);
    let taken = points.get(place).is_some_and(|point| point.t_s.total_cmp(&t_s).is_eq());
    let mut points = points.clone();
    points.insert(place, RatePointDoc { t_s, rate_rps });
    (!taken).then_some(points)
}

/// The point after which a profile has the most room for another, within the horizon.
pub fn widest(arrivals: &ArrivalsDoc, horizon_s: f64) -> usize {
    let ArrivalsDoc::Profile { points, .. } = arrivals else { return 0 };
    let seen = |point: &RatePointDoc| point.t_s.min(horizon_s);
    let gaps = points.windows(2).map(|pair| seen(&pair[1]) - seen(&pair[0]));
    gaps.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(i, _)| i)
}

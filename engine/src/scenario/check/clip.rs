//! Lengths whose range contradicts what else is said of them.
//!
//! A range cuts a law: what is beyond an end becomes that end. So a mean or a percentile that is
//! stated outside the range can never come true, and is refused. A stated mean inside it moves when
//! the law is cut, and demand with it: by more than a tenth, as far as a fleet of ten grows by one,
//! that is a warning with both numbers.

use super::findings::Findings;
use super::lengths::lengths_of;
use crate::counted::typed;
use crate::math;
use crate::problem::Problem;
use crate::scenario::doc::LengthsDoc;
use crate::workload::Lengths;

/// A stated mean that a range moves by a larger share is warned about.
const MOVES: f64 = 0.1;
/// Even steps of the logarithm in which a mean is integrated; Simpson's rule takes an even number.
const STEPS: u32 = 400;
/// What is shorter than this share of the shortest length adds nothing to an integral up to that.
const NOTHING: f64 = 1e-6;

/// What of lengths is stated, each with its field and its words, and the range that they are cut to.
struct Stated {
    values: Vec<(&'static str, &'static str, f64)>,
    mean: Option<f64>,
    min: Option<u32>,
    max: Option<u32>,
}

impl Stated {
    fn of(doc: &LengthsDoc) -> Option<Self> {
        let (stated, min, max) = match doc {
            LengthsDoc::Lognormal(doc) => {
                let stated = vec![
                    ("mean", "the mean", doc.mean),
                    ("p5", "the 5th percentile", doc.p5),
                    ("p50", "the median", doc.p50),
                    ("p90", "the 90th percentile", doc.p90),
                    ("p95", "the 95th percentile", doc.p95),
                    ("p99", "the 99th percentile", doc.p99),
                ];
                (stated, doc.min, doc.max)
            }
            LengthsDoc::Gamma { mean, min, max, .. } => {
                (vec![("mean", "the mean", Some(*mean))], *min, *max)
            }
            LengthsDoc::Pareto { min, p99, mean, max, .. } => {
                let stated = vec![
                    ("min", "the shortest length", Some(*min)),
                    ("mean", "the mean", *mean),
                    ("p99", "the 99th percentile", *p99),
                ];
                (stated, None, *max)
            }
            _ => return None,
        };
        let mean = stated.iter().find(|(field, ..)| *field == "mean").and_then(|stated| stated.2);
        let values = stated.into_iter().filter_map(|(field, what, v)| Some((field, what, v?)));
        Some(Self { values: values.collect(), mean, min, max })
    }
}

/// Each stated value that the range does not allow.
pub(super) fn contradictions(doc: &LengthsDoc) -> Vec<Problem> {
    let Some(stated) = Stated::of(doc) else { return Vec::new() };
    let range = match (stated.min, stated.max) {
        (None, None) => return Vec::new(),
        (Some(min), None) => format!("{min} or more"),
        (None, Some(max)) => format!("up to {max}"),
        (Some(min), Some(max)) => format!("{min} to {max}"),
    };
    let problem = |(field, what, value): &(&str, &str, f64)| {
        let below = stated.min.filter(|min| *value < f64::from(*min));
        let above = stated.max.filter(|max| *value > f64::from(*max));
        let (end, bound, verb) = match (below, above) {
            (Some(min), _) => ("shortest", min, "a `min` of at most"),
            (None, Some(max)) => ("longest", max, "a `max` of at least"),
            (None, None) => return None,
        };
        let (value, bound) = (typed(*value), typed(f64::from(bound)));
        Some(Problem::error(
            *field,
            format!(
                "{what} is to be {value} tokens, and the {end} length {bound}: no draw gives both"
            ),
            format!("give {range}, {verb} {value}, or leave that end of the range out"),
        ))
    };
    stated.values.iter().filter_map(problem).collect()
}

/// Warns of every stated mean that its range moves, in a mixture of those of its parts.
pub(super) fn warn(doc: &LengthsDoc, lengths: &Lengths, path: &str, findings: &mut Findings) {
    if let LengthsDoc::Mixture { parts, min, max } = doc {
        for (i, part) in parts.iter().enumerate() {
            if let Ok(lengths) = lengths_of(&part.tokens) {
                let part_path = format!("{path}.parts[{i}].tokens");
                warn(&part.tokens, &lengths, &part_path, findings);
                warn_of_part(&lengths, (*min, *max), part_path, findings);
            }
        }
    }
    let Some(stated) = Stated::of(doc) else { return };
    let Some(mean) = stated.mean else { return };
    if stated.min.is_none() && stated.max.is_none() {
        return;
    }
    let cut = mean_within(lengths, mean, &stated);
    if (cut / mean - 1.0).abs() > MOVES {
        findings.warning(
            format!("{path}.mean"),
            format!(
                "the mean is to be {} tokens, and that of the lengths cut to their range is {}",
                typed(mean),
                cut.round()
            ),
            "state a mean and a spread that leave little outside the range, or widen it",
        );
    }
}

/// Warns of a part whose mean the range of its mixture moves.
fn warn_of_part(
    lengths: &Lengths,
    (min, max): (Option<u32>, Option<u32>),
    path: String,
    findings: &mut Findings,
) {
    if min.is_none() && max.is_none() {
        return;
    }
    let (low, high) = (min.unwrap_or(0), max.unwrap_or(u32::MAX));
    let mean = |cut: fn(u32, u32, u32) -> u32| {
        let at = |i: u32| lengths.quantile((f64::from(i) + 0.5) / f64::from(STEPS));
        (0..STEPS).map(|i| f64::from(cut(at(i), low, high))).sum::<f64>() / f64::from(STEPS)
    };
    let (free, cut) =
        (mean(|tokens, _, _| tokens), mean(|tokens, low, high| tokens.max(low).min(high)));
    if (cut / free - 1.0).abs() > MOVES {
        findings.warning(
            path,
            format!(
                "the mean of this part is {} tokens, and {} when cut to the range of the mixture",
                typed(free.round()),
                typed(cut.round())
            ),
            "widen the `min` and `max` of the mixture, or give parts that lie within",
        );
    }
}

/// Mean of lengths that are cut to a range, from their distribution function F: with a longest one,
/// min + ∫ (1 − F) from there to max; without, what is below the shortest, ∫ F, is added to the
/// mean of the law.
fn mean_within(lengths: &Lengths, mean: f64, stated: &Stated) -> f64 {
    // A share of a cut law jumps at its ends, so it is taken just inside.
    let above = |tokens: f64| 1.0 - lengths.share_at(tokens);
    match (stated.min, stated.max) {
        (min, Some(max)) => {
            let min = f64::from(min.unwrap_or(1)).min(f64::from(max));
            min + integral(&above, min, f64::from(max))
        }
        (Some(min), None) => match lengths {
            Lengths::Clipped(law, _) => {
                let min = f64::from(min);
                mean + integral(&|tokens| law.share_at(tokens), NOTHING * min, min)
            }
            _ => mean,
        },
        (None, None) => mean,
    }
}

/// ∫ f(x) dx from `low` to `high`, both above 0, by Simpson's rule over the logarithm of x.
fn integral(f: &impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    if high <= low {
        return 0.0;
    }
    let (from, to) = (math::ln(low), math::ln(high));
    let step = (to - from) / f64::from(STEPS);
    let at = |i: u32| {
        // The end itself is beyond a jump of what is cut there.
        let x = math::exp(from + f64::from(i) * step).min(high * (1.0 - 1e-12));
        x * f(x)
    };
    let weight = |i: u32| match i {
        0 | STEPS => 1.0,
        i if i % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=STEPS).map(|i| weight(i) * at(i)).sum();
    sum * step / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(json: &str) -> (LengthsDoc, Lengths) {
        let doc: LengthsDoc = serde_json::from_str(json).expect("lengths");
        let lengths = lengths_of(&doc).expect("lengths that contradict nothing");
        (doc, lengths)
    }

    /// Means of cut laws in closed form: an exponential of mean m cut at M has m (1 − e^(−M/m)), and
    /// from below at L, L + m e^(−L/m). A Pareto law of exponent 2 cut at M has 2 min − min² / M.
    #[test]
    fn the_mean_of_a_cut_law_is_what_arithmetic_says() {
        let e = math::exp;
        let cases = [
            (r#"{"kind":"gamma","mean":500,"cv":1,"max":1000}"#, 500.0 * (1.0 - e(-2.0))),
            (r#"{"kind":"gamma","mean":500,"cv":1,"min":250}"#, 250.0 + 500.0 * e(-0.5)),
            (
                r#"{"kind":"gamma","mean":500,"cv":1,"min":250,"max":1000}"#,
                250.0 + 500.0 * (e(-0.5) - e(-2.0)),
            ),
            (r#"{"kind":"pareto","min":100,"mean":200,"max":1000}"#, 200.0 - 10.0),
        ];
        for (json, expected) in cases {
            let (doc, lengths) = lengths(json);
            let stated = Stated::of(&doc).expect("a mean");
            let mean = mean_within(&lengths, stated.mean.expect("a mean"), &stated);
            assert!((mean / expected - 1.0).abs() < 2e-3, "{json}: {mean} {expected}");
        }
    }

    #[test]
    fn a_range_that_leaves_the_mean_where_it_is_says_nothing() {
        let warned = |json: &str| {
            let (doc, lengths) = lengths(json);
            let mut findings = Findings::default();
            warn(&doc, &lengths, "x", &mut findings);
            findings.into_problems()
        };
        let wild = warned(r#"{"kind":"lognormal","mean":540,"sd":48600,"max":10000}"#);
        assert_eq!((wild.len(), wild[0].path.as_str()), (1, "x.mean"));
        assert!(wild[0].message.starts_with("the mean is to be 540 tokens"), "{}", wild[0]);
        for quiet in [
            r#"{"kind":"lognormal","mean":500,"p99":2000,"max":4000}"#,
            r#"{"kind":"lognormal","p50":415,"p90":834,"max":900}"#,
            r#"{"kind":"gamma","mean":300,"cv":1,"min":1,"max":4000}"#,
        ] {
            assert_eq!(warned(quiet), [], "{quiet}");
        }
    }

    /// The range of a mixture cuts its parts too, whichever law they have.
    #[test]
    fn a_part_that_the_range_of_its_mixture_moves_is_warned_about() {
        let warned = |range: &str| -> Vec<String> {
            let parts = r#"{"weight":1,"tokens":{"kind":"fixed","tokens":100}},
                {"weight":1,"tokens":{"kind":"lognormal","mean":500,"p99":3000}}"#;
            let json = format!(r#"{{"kind":"mixture","parts":[{parts}]{range}}}"#);
            let (doc, lengths) = lengths(&json);
            let mut findings = Findings::default();
            warn(&doc, &lengths, "lengths", &mut findings);
            findings.into_problems().into_iter().map(|problem| problem.path).collect()
        };
        assert_eq!(warned(""), [""; 0]);
        assert_eq!(warned(r#","max":100000"#), [""; 0]);
        assert_eq!(warned(r#","min":600"#), ["lengths.parts[0].tokens", "lengths.parts[1].tokens"]);
        assert_eq!(warned(r#","max":400"#), ["lengths.parts[1].tokens"]);
    }
}

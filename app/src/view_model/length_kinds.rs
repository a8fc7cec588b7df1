//! Kinds of length distributions: what can be chosen, and what carries over from one to another.

use goodput_engine::math;
use goodput_engine::scenario::doc::{LengthsDoc, LognormalDoc, MixturePartDoc};
use goodput_engine::scenario::lengths_of;
use goodput_engine::workload::{Lengths, Shape, shape};

use crate::controls::Choice;

/// Kinds: name in the document, and what is read.
const KINDS: [(&str, &str); 9] = [
    ("fixed", "all alike"),
    ("uniform", "every length alike"),
    ("lognormal", "lognormal"),
    ("gamma", "gamma"),
    ("pareto", "Pareto tail"),
    ("mixture", "mixture"),
    ("quantiles", "quantile table"),
    ("empirical", "observed lengths"),
    ("recorded", "as recorded"),
];

/// By which numbers a law may be known, as people know them.
const LOGNORMAL_FORMS: [(&str, &str); 5] = [
    ("mean_p99", "mean and p99"),
    ("p50_p90", "p50 and p90"),
    ("p5_p95", "most: p5 to p95"),
    ("mean_sd", "mean and deviation"),
    ("p50_sigma", "p50 and σ"),
];
const GAMMA_FORMS: [(&str, &str); 2] = [("cv", "mean and CV"), ("sd", "mean and deviation")];
const PARETO_FORMS: [(&str, &str); 3] =
    [("p99", "shortest and p99"), ("mean", "shortest and mean"), ("alpha", "tail exponent")];

/// Where a document has a form that no choice has.
const OTHER: (&str, &str) = ("other", "other numbers");

/// What can be chosen; of a part of a mixture, neither a mixture nor a recording.
pub fn choices(part: bool) -> Vec<Choice> {
    let kinds = KINDS.iter().filter(|(name, _)| !(part && matches!(*name, "mixture" | "recorded")));
    kinds.map(|(name, label)| Choice::new(*name, *label)).collect()
}

/// The kind of a document's lengths, as the document names it.
pub fn kind_of(lengths: &LengthsDoc) -> &'static str {
    match lengths {
        LengthsDoc::Fixed { .. } => "fixed",
        LengthsDoc::Uniform { .. } => "uniform",
        LengthsDoc::Lognormal(_) => "lognormal",
        LengthsDoc::Gamma { .. } => "gamma",
        LengthsDoc::Pareto { .. } => "pareto",
        LengthsDoc::Mixture { .. } => "mixture",
        LengthsDoc::Quantiles { .. } => "quantiles",
        LengthsDoc::Empirical { .. } => "empirical",
        LengthsDoc::Recorded { .. } => "recorded",
    }
}

/// The forms that a law of a kind may have; none where it has but one.
pub fn forms(kind: &str, now: &str) -> Vec<Choice> {
    let forms: &[(&str, &str)] = match kind {
        "lognormal" => &LOGNORMAL_FORMS,
        "gamma" => &GAMMA_FORMS,
        "pareto" => &PARETO_FORMS,
        _ => &[],
    };
    let other = (now == OTHER.0).then_some(&OTHER);
    forms.iter().chain(other).map(|(name, label)| Choice::new(*name, *label)).collect()
}

/// The form of a law; nothing for a kind that has but one.
pub fn form_of(lengths: &LengthsDoc) -> &'static str {
    let stated: Vec<&str> = match lengths {
        LengthsDoc::Lognormal(law) => {
            let all = [
                ("mean", law.mean),
                ("p5", law.p5),
                ("p50", law.p50),
                ("p90", law.p90),
                ("p95", law.p95),
                ("p99", law.p99),
                ("sd", law.sd),
                ("sigma", law.sigma),
            ];
            all.into_iter().filter_map(|(name, value)| value.map(|_| name)).collect()
        }
        LengthsDoc::Gamma { cv, sd, .. } => named([("cv", cv), ("sd", sd), ("", &None)]),
        LengthsDoc::Pareto { alpha, p99, mean, .. } => {
            named([("alpha", alpha), ("p99", p99), ("mean", mean)])
        }
        _ => return "",
    };
    let joined = stated.join("_");
    let known = LOGNORMAL_FORMS.iter().chain(&GAMMA_FORMS).chain(&PARETO_FORMS);
    known.map(|(name, _)| *name).find(|name| *name == joined).unwrap_or(OTHER.0)
}

fn named(all: [(&'static str, &Option<f64>); 3]) -> Vec<&'static str> {
    all.into_iter().filter_map(|(name, value)| value.map(|_| name)).collect()
}

/// What carries over: a few numbers of the lengths as they are, usual ones where they are not
/// valid.
struct Known {
    mean: f64,
    sd: f64,
    p5: f64,
    p50: f64,
    p90: f64,
    p95: f64,
    p99: f64,
}

/// Two of these numbers differ by this factor where all lengths were alike, so that there is a
/// law: 3 is a usual p99 over a mean.
const USUAL_TAIL: f64 = 3.0;

impl Known {
    fn of(lengths: &LengthsDoc) -> Self {
        let Ok(lengths) = lengths_of(lengths) else {
            return Self {
                mean: 512.0,
                sd: 512.0,
                p5: 90.0,
                p50: 384.0,
                p90: 1_024.0,
                p95: 1_500.0,
                p99: 2_048.0,
            };
        };
        let shape = shape(&lengths, 64);
        let at = |p: f64| f64::from(lengths.quantile(p)).max(1.0);
        Self {
            mean: shape.mean.max(1.0),
            sd: deviation(&lengths, &shape),
            p5: at(0.05),
            p50: at(0.5),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
        }
    }
}

/// Standard deviation: that of the law, else that of its histogram.
fn deviation(lengths: &Lengths, shape: &Shape) -> f64 {
    if let Lengths::Lognormal(law) = lengths {
        return law.mean() * math::exp_m1(law.sigma() * law.sigma()).sqrt();
    }
    let bins = shape.shares.iter().zip(shape.edges.windows(2));
    let square = |(share, edges): (&f64, &[f64])| {
        let off = f64::midpoint(edges[0], edges[1]) - shape.mean;
        share * off * off
    };
    bins.map(square).sum::<f64>().sqrt()
}

/// The same lengths as another kind, about as long; `None` where only a file has it or nothing
/// would change.
pub fn as_kind(lengths: &LengthsDoc, kind: &str) -> Option<LengthsDoc> {
    if kind_of(lengths) == kind {
        return None;
    }
    let known = Known::of(lengths);
    match kind {
        "fixed" => Some(LengthsDoc::Fixed { tokens: whole(known.mean) }),
        "uniform" => {
            let (min, max) = (whole(known.p5), whole(known.p95));
            Some(LengthsDoc::Uniform { min, max, mean: None, sd: None })
        }
        "lognormal" => Some(lognormal(&known, "mean_p99", LognormalDoc::default())),
        "gamma" => Some(gamma(&known, "cv", None, None)),
        // An exponent of 2 or more: below it a mean is hardly ever met.
        "pareto" => {
            Some(pareto(&known, known.p5.clamp(known.mean / 2.0, known.mean), "mean", None))
        }
        "mixture" if !matches!(lengths, LengthsDoc::Recorded { .. }) => {
            // Parts of the same lengths are those lengths, until one of them is edited.
            let part = |weight| MixturePartDoc { weight, tokens: lengths.clone() };
            Some(LengthsDoc::Mixture { parts: vec![part(9.0), part(1.0)], min: None, max: None })
        }
        "quantiles" => Some(LengthsDoc::quantiles(&[
            (0.0, (known.p50 / 4.0).round().max(1.0)),
            (0.5, known.p50),
            (0.9, known.p90),
            (0.99, known.p99),
        ])),
        "empirical" => Some(match lengths {
            LengthsDoc::Recorded { tokens, factor } if factor.total_cmp(&1.0).is_eq() => {
                LengthsDoc::Empirical { samples: tokens.clone() }
            }
            _ => LengthsDoc::Empirical {
                samples: [known.p50 / 2.0, known.p50, known.p50, known.p90, known.p99]
                    .map(whole)
                    .to_vec(),
            },
        }),
        _ => None,
    }
}

/// The same law by other numbers; `None` where there is nothing to change.
pub fn as_form(lengths: &LengthsDoc, form: &str) -> Option<LengthsDoc> {
    let known = Known::of(lengths);
    if form == OTHER.0 || form == form_of(lengths) {
        return None;
    }
    match lengths {
        LengthsDoc::Lognormal(law) => Some(lognormal(&known, form, *law)),
        LengthsDoc::Gamma { min, max, .. } => Some(gamma(&known, form, *min, *max)),
        LengthsDoc::Pareto { min, max, .. } => Some(pareto(&known, *min, form, *max)),
        _ => None,
    }
}

fn lognormal(known: &Known, form: &str, ends: LognormalDoc) -> LengthsDoc {
    let above = |tokens: f64, than: f64| {
        Some(if tokens > than * 1.02 { tokens.round() } else { (than * USUAL_TAIL).round() })
    };
    let law = LognormalDoc { min: ends.min, max: ends.max, ..LognormalDoc::default() };
    let (mean, p50) = (Some(known.mean.round()), Some(known.p50.round()));
    LengthsDoc::Lognormal(match form {
        "p50_p90" => LognormalDoc { p50, p90: above(known.p90, known.p50), ..law },
        "p5_p95" => {
            LognormalDoc { p5: Some(known.p5.round()), p95: above(known.p95, known.p5), ..law }
        }
        "mean_sd" => LognormalDoc { mean, sd: above(known.sd, known.mean / 50.0), ..law },
        "p50_sigma" => {
            let cv = known.sd / known.mean;
            LognormalDoc { p50, sigma: Some(digits(math::ln_1p(cv * cv).sqrt().max(0.05))), ..law }
        }
        _ => LognormalDoc { mean, p99: above(known.p99, known.mean), ..law },
    })
}

fn gamma(known: &Known, form: &str, min: Option<u32>, max: Option<u32>) -> LengthsDoc {
    let (mean, sd) = (known.mean.round(), known.sd.max(known.mean / 20.0));
    let (cv, sd) = match form {
        "sd" => (None, Some(sd.round().max(1.0))),
        _ => (Some(digits(sd / known.mean)), None),
    };
    LengthsDoc::Gamma { mean, cv, sd, min, max }
}

fn pareto(known: &Known, min: f64, form: &str, max: Option<u32>) -> LengthsDoc {
    let min = min.round().max(1.0);
    let mean = known.mean.max(min * 1.1);
    let (alpha, p99, mean) = match form {
        "alpha" => (Some(digits(mean / (mean - min))), None, None),
        "p99" => (None, Some(known.p99.max(min * 2.0).round()), None),
        _ => (None, None, Some(mean.round().max(min + 1.0))),
    };
    LengthsDoc::Pareto { min, alpha, p99, mean, max }
}

/// Three digits after the first: what a person would type.
fn digits(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to int casts saturate, and lengths are positive"
)]
fn whole(tokens: f64) -> u32 {
    tokens.round().max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changing_the_kind_keeps_about_the_length() {
        let lognormal = LengthsDoc::lognormal(512.0, 2_391.0);
        assert_eq!(as_kind(&lognormal, "fixed"), Some(LengthsDoc::Fixed { tokens: 512 }));
        assert_eq!(as_kind(&lognormal, "lognormal"), None);
        assert_eq!(as_kind(&lognormal, "recorded"), None);
        let fixed = LengthsDoc::Fixed { tokens: 100 };
        let expected = LengthsDoc::lognormal(100.0, 300.0);
        assert_eq!(as_kind(&fixed, "lognormal"), Some(expected));
    }

    #[test]
    fn every_kind_becomes_every_other_and_is_about_as_long() {
        let start = LengthsDoc::lognormal(512.0, 2_391.0);
        let kinds = || KINDS.iter().map(|(kind, _)| *kind);
        let fixed = LengthsDoc::Fixed { tokens: 300 };
        let from = kinds().filter_map(|kind| as_kind(&start, kind));
        for from in from.chain([start.clone(), fixed]) {
            let before = Known::of(&from);
            for to in kinds() {
                let Some(changed) = as_kind(&from, to) else { continue };
                assert!(lengths_of(&changed).is_ok(), "{from:?} → {changed:?} is valid");
                let after = Known::of(&changed);
                let off = (after.mean / before.mean).max(before.mean / after.mean);
                assert!(off < 2.0, "{from:?} → {changed:?}: {} and {}", before.mean, after.mean);
            }
        }
    }

    #[test]
    fn a_law_by_other_numbers_is_the_same_law() {
        let laws = [
            LengthsDoc::lognormal(512.0, 2_391.0),
            as_kind(&LengthsDoc::lognormal(512.0, 2_391.0), "gamma").expect("a law"),
            LengthsDoc::Pareto { min: 100.0, alpha: Some(2.5), p99: None, mean: None, max: None },
        ];
        for law in laws {
            let before = Known::of(&law);
            for form in forms(kind_of(&law), form_of(&law)) {
                let Some(changed) = as_form(&law, &form.value) else { continue };
                assert_eq!(form_of(&changed), form.value);
                let after = Known::of(&changed);
                for (a, b) in [(before.mean, after.mean), (before.p90, after.p90)] {
                    assert!((a / b - 1.0).abs() < 0.02, "{law:?} → {changed:?}: {a} and {b}");
                }
            }
        }
    }

    #[test]
    fn numbers_that_no_choice_has_are_a_choice_of_their_own() {
        let law = LognormalDoc { mean: Some(9.0), p50: Some(8.0), ..LognormalDoc::default() };
        let lengths = LengthsDoc::Lognormal(law);
        assert_eq!(form_of(&lengths), "other");
        assert!(forms("lognormal", "other").iter().any(|choice| choice.value == "other"));
        assert!(!forms("lognormal", "mean_p99").iter().any(|choice| choice.value == "other"));
        assert_eq!(as_form(&lengths, "other"), None);
        assert_eq!(form_of(&LengthsDoc::Fixed { tokens: 1 }), "");
    }
}

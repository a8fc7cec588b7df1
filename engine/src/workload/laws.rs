//! Laws of lengths by a few numbers: uniform, gamma, Pareto.

use super::lengths::{MAX_LENGTH_TOKENS, whole_tokens};
use crate::counted::typed;
use crate::math;
use crate::problem::Problem;

/// How far a further stated number may be from the law, relative: numbers are rounded by people.
const AGREEMENT: f64 = 0.01;

/// Every length of a range alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uniform {
    min: u32,
    max: u32,
}

/// A gamma law of lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GammaLengths {
    shape: f64,
    scale: f64,
}

/// A Pareto law of lengths: the share beyond x is (min / x)^alpha.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParetoLengths {
    min: f64,
    alpha: f64,
}

impl Uniform {
    /// From `min` to `max` tokens, both included. A `mean` and an `sd` that are stated beside must
    /// be those of the law.
    pub fn new(
        min: u32,
        max: u32,
        mean: Option<f64>,
        sd: Option<f64>,
    ) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        for (field, tokens) in [("min", min), ("max", max)] {
            out_of_range(field, f64::from(tokens), &mut problems);
        }
        if problems.is_empty() && max < min {
            problems.push(Problem::error(
                "max",
                format!("the longest, {max} tokens, is below the shortest, {min}"),
                format!("give {min} or more"),
            ));
        }
        if problems.is_empty() {
            let law = Self { min, max };
            let law_is = format!("a uniform law from {min} to {max}");
            contradicts("mean", mean, law.mean(), &law_is, &mut problems);
            contradicts("sd", sd, law.sd(), &law_is, &mut problems);
        }
        if problems.is_empty() { Ok(Self { min, max }) } else { Err(problems) }
    }

    /// Shortest and longest, tokens.
    pub fn range(self) -> (u32, u32) {
        (self.min, self.max)
    }

    /// Every length times `factor`.
    #[must_use]
    pub(super) fn scaled(self, factor: f64) -> Self {
        let times = |tokens: u32| whole_tokens(f64::from(tokens) * factor);
        Self { min: times(self.min), max: times(self.max) }
    }

    fn width(self) -> f64 {
        f64::from(self.max - self.min) + 1.0
    }

    fn mean(self) -> f64 {
        f64::midpoint(self.min.into(), self.max.into())
    }

    fn sd(self) -> f64 {
        ((self.width() * self.width() - 1.0) / 12.0).sqrt()
    }

    /// Half a token wider on both sides, so that rounded it gives every length as often.
    pub(super) fn quantile(self, p: f64) -> f64 {
        f64::from(self.min) - 0.5 + p * self.width()
    }

    pub(super) fn share_at(self, tokens: f64) -> f64 {
        ((tokens - f64::from(self.min) + 0.5) / self.width()).clamp(0.0, 1.0)
    }
}

impl GammaLengths {
    /// By the mean, tokens, and the standard deviation, as `cv` over the mean or as `sd` tokens; 1
    /// is exponential. Both may be stated where they agree.
    pub fn new(mean: f64, cv: Option<f64>, sd: Option<f64>) -> Result<Self, Vec<Problem>> {
        const CV: std::ops::RangeInclusive<f64> = 0.01..=20.0;
        let mut problems = Vec::new();
        out_of_range("mean", mean, &mut problems);
        let found = match (cv, sd) {
            (Some(cv), _) => Some(("cv", cv)),
            (None, Some(sd)) => Some(("sd", sd / mean)),
            (None, None) => None,
        };
        let Some((field, spread)) = found else {
            problems.push(Problem::error(
                "cv",
                "a mean alone does not make a gamma law",
                "give `cv` (1 is exponential) or `sd`",
            ));
            return Err(problems);
        };
        if problems.is_empty() && !CV.contains(&spread) {
            problems.push(Problem::error(
                field,
                format!(
                    "the standard deviation is {spread} times the mean",
                    spread = typed(spread)
                ),
                format!("give {} to {} times the mean", CV.start(), CV.end()),
            ));
        }
        if problems.is_empty() && field == "cv" {
            let law_is = format!("a gamma law of mean {mean} and cv {spread}");
            contradicts("sd", sd, spread * mean, &law_is, &mut problems);
        }
        if problems.is_empty() {
            let shape = 1.0 / (spread * spread);
            Ok(Self { shape, scale: mean / shape })
        } else {
            Err(problems)
        }
    }

    /// Every length times `factor`.
    #[must_use]
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self { scale: self.scale * factor, ..self }
    }

    /// Shape and scale (tokens) of the law.
    pub fn shape_and_scale(self) -> (f64, f64) {
        (self.shape, self.scale)
    }

    /// Where `below` is at most and `above` beyond.
    pub(super) fn quantile(self, below: f64, above: f64) -> f64 {
        self.scale * math::gamma_quantile(self.shape, below, above)
    }

    pub(super) fn share_at(self, tokens: f64) -> f64 {
        math::gamma_shares(self.shape, tokens / self.scale).0
    }
}

impl ParetoLengths {
    /// By the shortest length, tokens, and how heavy the tail is: by `alpha`, by the 99th
    /// percentile or by the mean. `is_bounded` says that lengths are cut somewhere: without that
    /// an alpha of 1 or less has no mean.
    pub fn new(
        min: f64,
        alpha: Option<f64>,
        p99: Option<f64>,
        mean: Option<f64>,
        is_bounded: bool,
    ) -> Result<Self, Vec<Problem>> {
        const ALPHA: std::ops::RangeInclusive<f64> = 0.1..=100.0;
        let mut problems = Vec::new();
        out_of_range("min", min, &mut problems);
        for (field, tokens) in [("p99", p99), ("mean", mean)] {
            let Some(tokens) = tokens else { continue };
            out_of_range(field, tokens, &mut problems);
            if problems.is_empty() && tokens <= min {
                problems.push(Problem::error(
                    field,
                    format!(
                        "`{field}` of {tokens} tokens is not above the shortest of {min}",
                        tokens = typed(tokens),
                        min = typed(min)
                    ),
                    format!("give more than {min}"),
                ));
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let (field, found) = match (alpha, p99, mean) {
            (Some(alpha), ..) => ("alpha", alpha),
            (None, Some(p99), _) => ("p99", math::ln(100.0) / math::ln(p99 / min)),
            (None, None, Some(mean)) => ("mean", mean / (mean - min)),
            (None, None, None) => {
                return Err(vec![Problem::error(
                    "alpha",
                    "the shortest length alone does not make a Pareto law",
                    "give `alpha`, `p99` or `mean`",
                )]);
            }
        };
        if !ALPHA.contains(&found) || (found <= 1.0 && !is_bounded) {
            return Err(vec![Problem::error(
                field,
                format!(
                    "the tail exponent is {found}: it has no finite mean up to 1",
                    found = typed(found)
                ),
                format!("give more than 1 and up to {}, or a `max`, then from 0.1", ALPHA.end()),
            )]);
        }
        let law_is = format!("a Pareto law from {min} with a tail exponent of {found:.3}");
        let (has_p99, has_mean) =
            (min * math::pow(100.0, 1.0 / found), found / (found - 1.0) * min);
        if field != "p99" {
            contradicts("p99", p99, has_p99, &law_is, &mut problems);
        }
        if field != "mean" {
            contradicts("mean", mean, has_mean, &law_is, &mut problems);
        }
        if problems.is_empty() { Ok(Self { min, alpha: found }) } else { Err(problems) }
    }

    /// Every length times `factor`.
    #[must_use]
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self { min: self.min * factor, ..self }
    }

    /// Shortest length, tokens, and tail exponent.
    pub fn min_and_alpha(self) -> (f64, f64) {
        (self.min, self.alpha)
    }

    /// Where the share `above` is beyond.
    pub(super) fn quantile(self, above: f64) -> f64 {
        self.min * math::pow(above, -1.0 / self.alpha)
    }

    pub(super) fn share_at(self, tokens: f64) -> f64 {
        if tokens < self.min { 0.0 } else { 1.0 - math::pow(self.min / tokens, self.alpha) }
    }
}

fn out_of_range(field: &str, tokens: f64, problems: &mut Vec<Problem>) {
    if !(1.0..=f64::from(MAX_LENGTH_TOKENS)).contains(&tokens) {
        problems.push(Problem::error(
            field,
            format!("the length is {tokens} tokens", tokens = typed(tokens)),
            format!("give 1 to {most} tokens", most = typed(f64::from(MAX_LENGTH_TOKENS))),
        ));
    }
}

/// A stated number that is not the law's.
fn contradicts(field: &str, stated: Option<f64>, is: f64, law: &str, problems: &mut Vec<Problem>) {
    let Some(stated) = stated else { return };
    let agrees = (stated / is - 1.0).abs() <= AGREEMENT;
    if !agrees {
        problems.push(Problem::error(
            field,
            format!("`{field}` is {stated}, but {law} has {is:.1}", stated = typed(stated)),
            format!("leave `{field}` out, or change the law"),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_are_refused_by_field_and_say_what_the_law_has() {
        let none = None;
        let cases: Vec<(Vec<Problem>, &str, &str)> = vec![
            // A published catalogue states this: the true mean and deviation are 4,250 and 2,165.
            (Uniform::new(500, 8_000, Some(4_000.0), none).unwrap_err(), "mean", "has 4250.0"),
            (Uniform::new(500, 8_000, none, Some(2_500.0)).unwrap_err(), "sd", "has 2165.4"),
            (Uniform::new(9, 8, none, none).unwrap_err(), "max", "below the shortest"),
            (Uniform::new(0, 8, none, none).unwrap_err(), "min", "1 to"),
            // And this, called exponential: its deviation is its mean.
            (
                GammaLengths::new(45_000.0, Some(1.0), Some(35_000.0)).unwrap_err(),
                "sd",
                "has 45000.0",
            ),
            (GammaLengths::new(100.0, none, none).unwrap_err(), "cv", "alone"),
            (GammaLengths::new(100.0, Some(0.0), none).unwrap_err(), "cv", "0.01 to 20"),
            (GammaLengths::new(540.0, none, Some(48_600.0)).unwrap_err(), "sd", "90 times"),
            (GammaLengths::new(f64::NAN, Some(1.0), none).unwrap_err(), "mean", "NaN"),
            (ParetoLengths::new(10.0, none, none, none, true).unwrap_err(), "alpha", "alone"),
            (ParetoLengths::new(10.0, Some(0.9), none, none, false).unwrap_err(), "alpha", "`max`"),
            (ParetoLengths::new(10.0, none, Some(9.0), none, true).unwrap_err(), "p99", "above"),
            (
                ParetoLengths::new(10.0, Some(2.0), none, Some(30.0), true).unwrap_err(),
                "mean",
                "has 20.0",
            ),
        ];
        for (problems, path, says) in cases {
            assert_eq!((problems.len(), problems[0].path.as_str()), (1, path), "{problems:?}");
            assert!(problems[0].to_string().contains(says), "{}", problems[0]);
        }
    }

    #[test]
    fn what_agrees_may_be_stated() {
        assert!(Uniform::new(500, 8_000, Some(4_250.0), Some(2_165.0)).is_ok());
        assert!(GammaLengths::new(45_000.0, Some(1.0), Some(45_000.0)).is_ok());
        let pareto = ParetoLengths::new(10.0, Some(2.0), Some(100.0), Some(20.0), false);
        assert_eq!(pareto.unwrap().min_and_alpha(), (10.0, 2.0));
    }

    #[test]
    fn laws_invert_their_shares() {
        let uniform = Uniform::new(3, 900, None, None).unwrap();
        let gamma = GammaLengths::new(300.0, Some(1.7), None).unwrap();
        let pareto = ParetoLengths::new(40.0, None, Some(9_000.0), None, true).unwrap();
        for p in [0.01, 0.2, 0.5, 0.9, 0.999] {
            for share in [
                uniform.share_at(uniform.quantile(p)),
                gamma.share_at(gamma.quantile(p, 1.0 - p)),
                pareto.share_at(pareto.quantile(1.0 - p)),
            ] {
                assert!((share - p).abs() < 1e-9, "{share} for {p}");
            }
        }
        assert!((pareto.quantile(0.01) - 9_000.0).abs() < 1e-6);
    }
}

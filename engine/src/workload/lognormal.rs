//! The lognormal law of lengths, by whichever two numbers somebody knows of it.

use super::lengths::MAX_LENGTH_TOKENS;
use crate::counted::typed;
use crate::math;
use crate::problem::Problem;

/// How far a further stated number may be from the law, relative: numbers are rounded by people.
const AGREEMENT: f64 = 0.01;

/// The widest law, standard deviation of the logarithm.
const MAX_SIGMA: f64 = 5.0;

/// A lognormal law of lengths, by the mean and standard deviation of the logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lognormal {
    mu: f64,
    sigma: f64,
}

/// What is stated of a lognormal law, tokens (`sigma` of the logarithm). Two make a law: the mean
/// with any other; else two quantiles, or one and `sigma`. What is stated beyond must agree.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LognormalStated {
    /// Mean.
    pub mean: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Standard deviation.
    pub sd: Option<f64>,
    /// Standard deviation of the logarithm.
    pub sigma: Option<f64>,
    /// 5th percentile.
    pub p5: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
}

/// A stated quantile: field, share, tokens.
type Stated = (&'static str, f64, f64);

impl LognormalStated {
    /// The law, or every number that is out of range or contradicts the others.
    pub fn law(&self) -> Result<Lognormal, Vec<Problem>> {
        let problems = self.out_of_range();
        if !problems.is_empty() {
            return Err(problems);
        }
        let (law, from) = self.two_of_them()?;
        let stated = self.fields().into_iter().filter(|(field, _)| !from.contains(field));
        let problems: Vec<_> = stated
            .filter_map(|(field, stated)| {
                let (stated, is) = (stated?, law.of_field(field));
                ((stated / is - 1.0).abs() > AGREEMENT).then(|| {
                    Problem::error(
                        field,
                        format!(
                            "`{field}` is {stated}, but the law of {} and {} has {}",
                            from[0],
                            from[1],
                            three_digits(is),
                            stated = typed(stated)
                        ),
                        format!("leave `{field}` out, or one of the other two"),
                    )
                })
            })
            .collect();
        if problems.is_empty() { Ok(law) } else { Err(problems) }
    }

    fn fields(&self) -> [(&'static str, Option<f64>); 8] {
        [
            ("mean", self.mean),
            ("p99", self.p99),
            ("sd", self.sd),
            ("sigma", self.sigma),
            ("p5", self.p5),
            ("p50", self.p50),
            ("p90", self.p90),
            ("p95", self.p95),
        ]
    }

    /// Stated quantiles, ascending by share.
    fn quantiles(&self) -> Vec<Stated> {
        let all = [
            ("p5", 0.05, self.p5),
            ("p50", 0.5, self.p50),
            ("p90", 0.9, self.p90),
            ("p95", 0.95, self.p95),
            ("p99", 0.99, self.p99),
        ];
        all.into_iter().filter_map(|(field, p, tokens)| Some((field, p, tokens?))).collect()
    }

    fn out_of_range(&self) -> Vec<Problem> {
        let limit = f64::from(MAX_LENGTH_TOKENS);
        let problem = |(field, value): (&str, Option<f64>)| {
            let value = value?;
            let (low, high, what) = match field {
                "sigma" => (1e-3, MAX_SIGMA, "the standard deviation of the logarithm is"),
                "sd" => (1e-3, 100.0 * limit, "the standard deviation is"),
                _ => (1.0, limit, "the length is"),
            };
            let unit = if field == "sigma" { "" } else { " tokens" };
            (!(low..=high).contains(&value)).then(|| {
                Problem::error(
                    field,
                    format!("{what} {value}{unit}", value = typed(value)),
                    format!("give {} to {}{unit}", typed(low), typed(high)),
                )
            })
        };
        self.fields().into_iter().filter_map(problem).collect()
    }

    /// The law of two of the stated numbers, and which they are.
    fn two_of_them(&self) -> Result<(Lognormal, [&'static str; 2]), Vec<Problem>> {
        let quantiles = self.quantiles();
        let quantile = |field: &str| quantiles.iter().find(|(name, ..)| *name == field).copied();
        match (self.mean, self.sigma, self.sd) {
            (Some(mean), sigma, sd) => {
                if let Some(p99) = quantile("p99") {
                    Ok((Lognormal::from_mean_quantile(mean, p99)?, ["mean", "p99"]))
                } else if let Some(sd) = sd {
                    let cv = sd / mean;
                    let sigma = math::ln_1p(cv * cv).sqrt();
                    Ok((Lognormal::from_mean_sigma(mean, sigma, "sd")?, ["mean", "sd"]))
                } else if let Some(sigma) = sigma {
                    Ok((Lognormal::from_mean_sigma(mean, sigma, "sigma")?, ["mean", "sigma"]))
                } else if let Some(&any) = quantiles.last() {
                    Ok((Lognormal::from_mean_quantile(mean, any)?, ["mean", any.0]))
                } else {
                    Err(vec![too_little("the mean alone")])
                }
            }
            (None, sigma, _) => match (quantiles.as_slice(), sigma) {
                ([low, .., high], _) => {
                    Ok((Lognormal::from_quantiles(*low, *high)?, [low.0, high.0]))
                }
                ([(field, p, tokens)], Some(sigma)) => {
                    let mu = math::ln(*tokens) - sigma * math::normal_quantile(*p);
                    Ok((Lognormal { mu, sigma }, [*field, "sigma"]))
                }
                ([(field, ..)], None) => Err(vec![too_little(&format!("`{field}` alone"))]),
                ([], _) => Err(vec![too_little("neither a mean nor a quantile")]),
            },
        }
    }
}

fn too_little(what: &str) -> Problem {
    Problem::error(
        "",
        format!("{what} does not make a lognormal law"),
        "give `mean` and `p99`, `mean` and `sd`, `p50` and `p90`, or `p5` and `p95`",
    )
}

/// As people write it: three digits.
fn three_digits(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

impl Lognormal {
    /// The law with the given mean and 99th percentile, tokens.
    pub fn from_mean_p99(mean: f64, p99: f64) -> Result<Self, Vec<Problem>> {
        LognormalStated { mean: Some(mean), p99: Some(p99), ..LognormalStated::default() }.law()
    }

    /// With z the quantile of the standard normal and L = ln(tokens / mean), σ solves
    /// σ²/2 − zσ + L = 0. Where both roots are positive both have this mean and quantile; the
    /// larger one puts nearly all requests at almost nothing, so the smaller is meant. None exists
    /// for a quantile above mean · exp(z²/2), for p99 about 15 times the mean.
    fn from_mean_quantile(mean: f64, (field, p, tokens): Stated) -> Result<Self, Vec<Problem>> {
        let z = math::normal_quantile(p);
        let log_ratio = math::ln(tokens / mean);
        if field == "p99" && tokens <= mean {
            return Err(vec![Problem::error(
                field,
                format!(
                    "the 99th percentile of {} tokens is not above the mean of {}",
                    typed(tokens),
                    typed(mean)
                ),
                "give a higher 99th percentile, or fixed lengths",
            )]);
        }
        let discriminant = z * z - 2.0 * log_ratio;
        if discriminant < 0.0 {
            let heaviest = mean * math::exp(z * z / 2.0);
            let what = if field == "p99" { "a 99th percentile" } else { field };
            return Err(vec![Problem::error(
                field,
                format!(
                    "no lognormal law has a mean of {} and {what} of {} tokens: the tail is too heavy",
                    typed(mean),
                    typed(tokens)
                ),
                format!("give {what} up to {}, or a table of quantiles", typed(heaviest.floor())),
            )]);
        }
        let sigma = if log_ratio > 0.0 {
            2.0 * log_ratio / (z + discriminant.sqrt())
        } else {
            z + discriminant.sqrt()
        };
        Self::from_mean_sigma(mean, sigma, field)
    }

    fn from_mean_sigma(mean: f64, sigma: f64, field: &str) -> Result<Self, Vec<Problem>> {
        Self::checked(math::ln(mean) - sigma * sigma / 2.0, sigma, field)
    }

    fn from_quantiles(low: Stated, high: Stated) -> Result<Self, Vec<Problem>> {
        let ((low_field, low_p, low_tokens), (high_field, high_p, high_tokens)) = (low, high);
        if high_tokens <= low_tokens {
            return Err(vec![Problem::error(
                high_field,
                format!(
                    "`{high_field}` of {} tokens is not above `{low_field}` of {}",
                    typed(high_tokens),
                    typed(low_tokens)
                ),
                format!("give more than {}, or fixed lengths", typed(low_tokens)),
            )]);
        }
        let (low_z, high_z) = (math::normal_quantile(low_p), math::normal_quantile(high_p));
        let sigma = math::ln(high_tokens / low_tokens) / (high_z - low_z);
        Self::checked(math::ln(low_tokens) - sigma * low_z, sigma, high_field)
    }

    fn checked(mu: f64, sigma: f64, field: &str) -> Result<Self, Vec<Problem>> {
        if sigma <= MAX_SIGMA {
            return Ok(Self { mu, sigma });
        }
        Err(vec![Problem::error(
            field,
            format!("the law is so wide (σ {}) that its tail makes the mean", three_digits(sigma)),
            format!("give numbers closer together (σ up to {MAX_SIGMA}), or a table of quantiles"),
        )])
    }

    /// The number that a field states.
    fn of_field(self, field: &str) -> f64 {
        let at = |p: f64| math::exp(self.mu + self.sigma * math::normal_quantile(p));
        match field {
            "mean" => self.mean(),
            "sd" => self.mean() * math::exp_m1(self.sigma * self.sigma).sqrt(),
            "sigma" => self.sigma,
            "p5" => at(0.05),
            "p50" => at(0.5),
            "p90" => at(0.9),
            "p95" => at(0.95),
            _ => at(0.99),
        }
    }

    /// Mean length, tokens.
    pub fn mean(self) -> f64 {
        math::exp(self.mu + self.sigma * self.sigma / 2.0)
    }

    /// Every length times `factor`.
    #[must_use]
    pub(super) fn scaled(self, factor: f64) -> Self {
        Self { mu: self.mu + math::ln(factor), ..self }
    }

    /// Mean of the logarithm of the length.
    pub fn mu(self) -> f64 {
        self.mu
    }

    /// Standard deviation of the logarithm of the length.
    pub fn sigma(self) -> f64 {
        self.sigma
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stated(fields: &[(&str, f64)]) -> LognormalStated {
        let get = |name: &str| fields.iter().find(|(field, _)| *field == name).map(|(_, v)| *v);
        LognormalStated {
            mean: get("mean"),
            p99: get("p99"),
            sd: get("sd"),
            sigma: get("sigma"),
            p5: get("p5"),
            p50: get("p50"),
            p90: get("p90"),
            p95: get("p95"),
        }
    }

    #[test]
    fn a_law_that_does_not_exist_is_refused_by_field() {
        type Case = (&'static [(&'static str, f64)], &'static str, &'static str);
        let cases: &[Case] = &[
            (&[("mean", 512.0), ("p99", 512.0)], "p99", "not above the mean"),
            (&[("mean", 100.0), ("p99", 1_500.0)], "p99", "up to 1,496"),
            (&[("mean", 0.0), ("p99", 10.0)], "mean", "1 to"),
            (&[("mean", f64::NAN), ("p99", 10.0)], "mean", "NaN"),
            (&[("mean", 10.0), ("p99", f64::INFINITY)], "p99", "inf"),
            (&[("mean", 100.0)], "", "does not make"),
            (&[("p90", 100.0)], "", "`p90` alone"),
            (&[("sd", 100.0), ("sigma", 1.0)], "", "neither"),
            (&[("p50", 100.0), ("p90", 90.0)], "p90", "not above `p50`"),
            (&[("p50", 1.0), ("p90", 1e7)], "p90", "so wide"),
            (&[("mean", 100.0), ("sigma", 9.0)], "sigma", "0.001 to 5"),
            (&[("mean", 512.0), ("p99", 2_048.0), ("p50", 500.0)], "p50", "has 400"),
            (&[("p50", 100.0), ("p90", 300.0), ("sd", 5.0)], "sd", "law of p50 and p90"),
        ];
        for (fields, path, says) in cases {
            let problems = stated(fields).law().unwrap_err();
            assert_eq!((problems.len(), problems[0].path.as_str()), (1, *path), "{problems:?}");
            assert!(problems[0].to_string().contains(says), "{}", problems[0]);
        }
        assert!(Lognormal::from_mean_p99(100.0, 1_496.0).is_ok());
    }

    #[test]
    fn what_agrees_may_be_said_twice() {
        let law = stated(&[("mean", 512.0), ("p99", 2_048.0), ("p50", 400.0)]).law().unwrap();
        assert_eq!(law, Lognormal::from_mean_p99(512.0, 2_048.0).unwrap());
    }

    #[test]
    fn a_hundred_to_four_thousand_is_a_law() {
        let law = stated(&[("p5", 100.0), ("p95", 4_000.0)]).law().unwrap();
        assert!((math::exp(law.mu()) - 632.455_5).abs() < 1e-3, "the geometric middle");
    }

    proptest! {
        #[test]
        fn any_two_numbers_of_a_law_give_it_back(median in 20.0..1e4_f64, sigma in 0.05..2.0_f64) {
            let law = Lognormal { mu: math::ln(median), sigma };
            let say = |field: &'static str| (field, law.of_field(field));
            for pair in [
                ["mean", "p99"], ["mean", "sd"], ["mean", "sigma"], ["mean", "p50"], ["mean", "p5"],
                ["p50", "p90"], ["p5", "p95"], ["p90", "sigma"], ["p50", "p99"],
            ] {
                let back = stated(&pair.map(say)).law().unwrap();
                prop_assert!((back.sigma / sigma - 1.0).abs() < 1e-6, "{pair:?} {back:?}");
                prop_assert!((back.mu - law.mu).abs() < 1e-6, "{pair:?} {back:?}");
            }
        }
    }
}

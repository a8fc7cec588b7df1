//! Lengths as workload catalogues describe them: a family with a mean, a deviation and a range,
//! which need not agree. What is honoured is said field by field, and nothing else is.
//!
//! The shape is that of kubernetes-sigs/inference-perf's distributions (`type`, `min`, `max`,
//! `mean`, `std_dev`).

use serde::{Deserialize, Serialize};

use super::doc::{LengthsDoc, LognormalDoc};
use super::lengths_of;
use crate::counted::typed;
use crate::problem::{Problem, Severity};
use crate::workload::Lengths;

/// A distribution as a catalogue states it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a distribution of lengths")]
pub struct DescribedLengths {
    /// Family: `fixed`, `uniform`, `normal`, `lognormal`, `gamma`, `exponential`.
    #[serde(rename = "type")]
    pub family: String,
    /// Shortest, tokens.
    #[serde(default)]
    pub min: Option<f64>,
    /// Longest, tokens.
    #[serde(default)]
    pub max: Option<f64>,
    /// Mean, tokens.
    #[serde(default)]
    pub mean: Option<f64>,
    /// Standard deviation, tokens.
    #[serde(default, alias = "sd")]
    pub std_dev: Option<f64>,
}

/// What a description comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HonouredLengths {
    /// Its law, in the shape of a scenario.
    pub lengths: LengthsDoc,
    /// What is drawn from that.
    pub realised: RealisedLengths,
    /// The numbers that are not honoured, or not met, by field.
    pub warnings: Vec<Problem>,
}

/// What is drawn from a law, ends and whole tokens included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RealisedLengths {
    /// Mean, tokens.
    pub mean_tokens: f64,
    /// Median, tokens.
    pub p50_tokens: u32,
    /// Nine of ten are this long at most, tokens.
    pub p90_tokens: u32,
    /// 99 of 100 are this long at most, tokens.
    pub p99_tokens: u32,
}

impl RealisedLengths {
    /// Draws that stand for all: the middles of as many equal shares.
    const SHARES: u32 = 4_000;

    fn of(lengths: &Lengths) -> Self {
        let middle = |i: u32| (f64::from(i) + 0.5) / f64::from(Self::SHARES);
        let sum: f64 = (0..Self::SHARES).map(|i| f64::from(lengths.quantile(middle(i)))).sum();
        Self {
            mean_tokens: sum / f64::from(Self::SHARES),
            p50_tokens: lengths.quantile(0.5),
            p90_tokens: lengths.quantile(0.9),
            p99_tokens: lengths.quantile(0.99),
        }
    }
}

impl DescribedLengths {
    /// Reads the description as a catalogue writes it.
    ///
    /// # Errors
    /// It is no JSON object with these fields.
    pub fn read(json: &str) -> Result<Self, Problem> {
        serde_json::from_str(json).map_err(|error| {
            Problem::error(
                "lengths",
                format!("the description cannot be read: {error}"),
                r#"write it as {"type": "lognormal", "mean": 500, "std_dev": 900, "max": 8000}"#,
            )
        })
    }

    /// Lengths with everything they honour, and a warning for each number they cannot.
    ///
    /// # Errors
    /// The family is not known here, or too little is said to make a law of it.
    pub fn honoured(&self) -> Result<HonouredLengths, Vec<Problem>> {
        let mut warnings = Vec::new();
        let doc = self.honour(&mut warnings).map_err(|problem| vec![problem])?;
        let realised = RealisedLengths::of(&lengths_of(&doc)?);
        // The law may be sound and its range still move its mean: what results is said.
        let range_matters = self.max.is_some() && self.family != "uniform";
        let is_off = |mean: f64| (realised.mean_tokens / mean - 1.0).abs() > 0.05;
        if let Some(mean) = self.mean.filter(|&mean| range_matters && is_off(mean)) {
            let met = realised.mean_tokens;
            warnings.push(Problem::warning(
                "mean",
                format!("cut to its range the mean is {met:.0} tokens, not {mean}"),
                "raise the range, or state the mean that is meant",
            ));
        }
        Ok(HonouredLengths { lengths: doc, realised, warnings })
    }

    fn honour(&self, warnings: &mut Vec<Problem>) -> Result<LengthsDoc, Problem> {
        let (min, max) = (Self::end("min", self.min)?, Self::end("max", self.max)?);
        match self.family.as_str() {
            "fixed" => {
                let tokens = Self::end("mean", Some(self.needed("mean", self.mean)?))?;
                Ok(LengthsDoc::Fixed { tokens: tokens.unwrap_or(1) })
            }
            "uniform" => {
                let (Some(min), Some(max)) = (min, max) else {
                    return Err(missing("min", "a uniform law needs its ends", "`min` and `max`"));
                };
                let doc = |mean, sd| LengthsDoc::Uniform { min, max, mean, sd };
                Ok(agreeing(doc, self.mean, self.std_dev, warnings))
            }
            "exponential" => {
                let mean = self.needed("mean", self.mean)?;
                let doc = |_, sd| LengthsDoc::Gamma { mean, cv: Some(1.0), sd, min, max };
                Ok(agreeing(doc, None, self.std_dev, warnings))
            }
            "gamma" => Ok(LengthsDoc::Gamma {
                mean: self.needed("mean", self.mean)?,
                cv: None,
                sd: Some(self.needed("std_dev", self.std_dev)?),
                min,
                max,
            }),
            "normal" => {
                warnings.push(Problem::warning(
                    "type",
                    "lengths are not normal: they have no negative side, and a long one",
                    "read as a gamma law of the same mean and deviation",
                ));
                Self { family: "gamma".to_owned(), ..self.clone() }.honour(warnings)
            }
            "lognormal" => Ok(LengthsDoc::Lognormal(LognormalDoc {
                mean: Some(self.needed("mean", self.mean)?),
                sd: Some(self.needed("std_dev", self.std_dev)?),
                min,
                max,
                ..LognormalDoc::default()
            })),
            other => Err(Problem::error(
                "type",
                format!("a {other:?} distribution with no parts cannot be drawn from"),
                "give `lognormal`, `gamma`, `exponential`, `uniform`, `normal` or `fixed`, or \
                 describe its modes as a mixture",
            )),
        }
    }

    fn needed(&self, field: &str, value: Option<f64>) -> Result<f64, Problem> {
        value.ok_or_else(|| {
            missing(field, &format!("a {} law needs `{field}`", self.family), &format!("`{field}`"))
        })
    }

    /// An end of the range in whole tokens; 0 means no end below.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within 0 to ten million"
    )]
    fn end(field: &str, value: Option<f64>) -> Result<Option<u32>, Problem> {
        let limit = f64::from(crate::workload::MAX_LENGTH_TOKENS);
        match value {
            None => Ok(None),
            Some(tokens) if !(0.0..=limit).contains(&tokens) => Err(Problem::error(
                field,
                format!("the length is {tokens} tokens", tokens = typed(tokens)),
                format!("give 0 to {limit} tokens"),
            )),
            Some(tokens) => Ok(Some((tokens.round() as u32).max(1))),
        }
    }
}

fn missing(field: &str, message: &str, what: &str) -> Problem {
    Problem::error(field, message, format!("give {what}"))
}

/// The lengths without what contradicts them, each contradiction a warning.
fn agreeing(
    doc: impl Fn(Option<f64>, Option<f64>) -> LengthsDoc,
    mean: Option<f64>,
    sd: Option<f64>,
    warnings: &mut Vec<Problem>,
) -> LengthsDoc {
    let refused = lengths_of(&doc(mean, sd)).err().unwrap_or_default();
    let contradicts = |field: &str| refused.iter().any(|problem| problem.path == field);
    let kept = (mean.filter(|_| !contradicts("mean")), sd.filter(|_| !contradicts("sd")));
    let said = refused.iter().filter(|problem| ["mean", "sd"].contains(&problem.path.as_str()));
    warnings.extend(said.map(|problem| Problem {
        path: if problem.path == "sd" { "std_dev".to_owned() } else { problem.path.clone() },
        severity: Severity::Warning,
        hint: "not honoured: the family and its other numbers are".to_owned(),
        ..problem.clone()
    }));
    doc(kept.0, kept.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(json: &str) -> DescribedLengths {
        DescribedLengths::read(json).unwrap()
    }

    /// E9: what a published catalogue of workloads states.
    #[test]
    fn what_contradicts_itself_is_read_with_a_warning_by_field() {
        for (json, warned, says) in [
            (
                r#"{"type":"lognormal","mean":540,"std_dev":48600,"min":1,"max":10000}"#,
                vec!["mean"],
                "cut to its range",
            ),
            (
                r#"{"type":"exponential","mean":45000,"std_dev":35000,"min":0,"max":150000}"#,
                vec!["std_dev"],
                "has 45000",
            ),
            (
                r#"{"type":"uniform","min":500,"max":8000,"mean":4000,"std_dev":2500}"#,
                vec!["mean", "std_dev"],
                "has 4250",
            ),
            (r#"{"type":"normal","mean":300,"std_dev":150,"max":1000}"#, vec!["type"], "negative"),
        ] {
            let HonouredLengths { lengths, realised, warnings } =
                described(json).honoured().unwrap();
            let paths: Vec<_> = warnings.iter().map(|w| w.path.as_str()).collect();
            assert_eq!(paths, warned, "{json}");
            assert!(warnings.iter().all(|w| w.severity == Severity::Warning));
            assert!(warnings[0].message.contains(says), "{}", warnings[0]);
            let law = lengths_of(&lengths).unwrap();
            assert!(realised.p50_tokens <= realised.p99_tokens);
            assert!(f64::from(law.quantile(0.9999)) >= realised.mean_tokens, "{json}");
        }
    }

    #[test]
    fn what_makes_no_law_is_refused_by_field() {
        for (json, path) in [
            (r#"{"type":"bimodal","mean":300}"#, "type"),
            (r#"{"type":"uniform","min":5}"#, "min"),
            (r#"{"type":"lognormal","mean":5}"#, "std_dev"),
            (r#"{"type":"exponential"}"#, "mean"),
            (r#"{"type":"fixed","mean":1e12}"#, "mean"),
            (r#"{"type":"gamma","mean":5,"std_dev":1e9}"#, "sd"),
        ] {
            assert_eq!(described(json).honoured().unwrap_err()[0].path, path, "{json}");
        }
    }

    #[test]
    fn what_is_no_description_says_how_one_is_written() {
        for json in ["", "{", r#"{"type":"gamma","meen":5}"#, "[]", r#"{"mean":5}"#] {
            let problem = DescribedLengths::read(json).unwrap_err();
            assert!(problem.hint.contains("std_dev"), "{json}: {problem}");
        }
    }

    #[test]
    fn what_agrees_is_read_without_a_word() {
        let json = r#"{"type":"uniform","min":500,"max":8000,"mean":4250,"std_dev":2165}"#;
        let HonouredLengths { lengths, realised, warnings } = described(json).honoured().unwrap();
        assert_eq!(warnings, []);
        assert!((realised.mean_tokens / 4_250.0 - 1.0).abs() < 1e-3);
        let (mean, sd) = (Some(4_250.0), Some(2_165.0));
        assert_eq!(lengths, LengthsDoc::Uniform { min: 500, max: 8_000, mean, sd });
    }
}

//! Lengths as workload catalogues describe them: a family with a mean, a deviation and a range,
//! which need not agree. What is honoured is said field by field, and nothing else is.
//!
//! The shape is that of kubernetes-sigs/inference-perf's distributions (`type`, `min`, `max`,
//! `mean`, `std_dev`).

use serde::Deserialize;

use super::doc::{LengthsDoc, LognormalDoc};
use super::lengths_of;
use crate::counted::typed;
use crate::problem::{Problem, Severity};

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

impl DescribedLengths {
    /// Lengths with everything they honour, and a warning for each number they cannot.
    ///
    /// # Errors
    /// The family is not known here, or too little is said to make a law of it.
    pub fn lengths(&self) -> Result<(LengthsDoc, Vec<Problem>), Vec<Problem>> {
        let mut warnings = Vec::new();
        let doc = self.honour(&mut warnings).map_err(|problem| vec![problem])?;
        let lengths = lengths_of(&doc)?;
        // The law may be sound and its range still move its mean: what results is said.
        let range_matters = self.max.is_some() && self.family != "uniform";
        if let Some(mean) = self.mean.filter(|_| range_matters) {
            let n = 4_000;
            let at = |i: u32| f64::from(lengths.quantile((f64::from(i) + 0.5) / f64::from(n)));
            let realised = (0..n).map(at).sum::<f64>() / f64::from(n);
            if (realised / mean - 1.0).abs() > 0.05 {
                warnings.push(Problem::warning(
                    "mean",
                    format!("cut to its range the mean is {realised:.0} tokens, not {mean}"),
                    "raise the range, or state the mean that is meant",
                ));
            }
        }
        Ok((doc, warnings))
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
        serde_json::from_str(json).unwrap()
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
            let (doc, warnings) = described(json).lengths().unwrap();
            let paths: Vec<_> = warnings.iter().map(|w| w.path.as_str()).collect();
            assert_eq!(paths, warned, "{json}");
            assert!(warnings.iter().all(|w| w.severity == Severity::Warning));
            assert!(warnings[0].message.contains(says), "{}", warnings[0]);
            assert!(lengths_of(&doc).is_ok(), "what is honoured is sound");
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
            assert_eq!(described(json).lengths().unwrap_err()[0].path, path, "{json}");
        }
    }

    #[test]
    fn what_agrees_is_read_without_a_word() {
        let (doc, warnings) =
            described(r#"{"type":"uniform","min":500,"max":8000,"mean":4250,"std_dev":2165}"#)
                .lengths()
                .unwrap();
        assert_eq!(warnings, []);
        let (mean, sd) = (Some(4_250.0), Some(2_165.0));
        assert_eq!(doc, LengthsDoc::Uniform { min: 500, max: 8_000, mean, sd });
    }
}

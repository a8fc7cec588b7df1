//! One check: what was compared, how far off it was, what it must and should reach.

use goodput_engine::stats;

/// A prediction beside a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Of what.
    pub label: String,
    /// As published.
    pub measured: f64,
    /// As predicted.
    pub predicted: f64,
}

impl Pair {
    /// Both numbers of `label`.
    pub fn new(label: impl Into<String>, measured: f64, predicted: f64) -> Self {
        Self { label: label.into(), measured, predicted }
    }

    /// predicted ÷ measured − 1.
    pub fn error(&self) -> f64 {
        self.predicted / self.measured - 1.0
    }
}

/// How far off many predictions are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// How many there are.
    pub count: usize,
    /// Mean absolute relative error.
    pub mean: f64,
    /// Median of it.
    pub median: f64,
    /// 90th percentile of it.
    pub p90: f64,
    /// The largest.
    pub worst: f64,
    /// Median of the signed error: above 0, predictions are too high.
    pub bias: f64,
}

impl Errors {
    /// Of `pairs`; `None` of none.
    pub fn of<'a>(pairs: impl IntoIterator<Item = &'a Pair>) -> Option<Self> {
        let mut signed: Vec<f64> = pairs.into_iter().map(Pair::error).collect();
        signed.sort_by(f64::total_cmp);
        let mut sizes: Vec<f64> = signed.iter().map(|error| error.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        Some(Self {
            count: sizes.len(),
            mean: stats::mean(&sizes)?,
            median: stats::nearest_rank(&sizes, 0.5)?,
            p90: stats::nearest_rank(&sizes, 0.9)?,
            worst: *sizes.last()?,
            bias: stats::nearest_rank(&signed, 0.5)?,
        })
    }
}

/// A share that is to be small.
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    /// Of what: `mean`, `worst`, a name.
    pub name: String,
    /// What it is.
    pub reached: f64,
    /// What it must be at most; nothing is asked of a measure without.
    pub must: Option<f64>,
    /// What it should be at most.
    pub aim: Option<f64>,
}

/// Whether a bound holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Within the aim, or nothing is asked.
    Aim,
    /// Within what it must be.
    Must,
    /// Beyond it.
    Missed,
}

impl Measure {
    /// A measure that must be within one bound and should be within another.
    pub fn bound(name: impl Into<String>, reached: f64, must: f64, aim: f64) -> Self {
        Self { name: name.into(), reached, must: Some(must), aim: Some(aim) }
    }

    /// A measure of which nothing is asked.
    pub fn told(name: impl Into<String>, reached: f64) -> Self {
        Self { name: name.into(), reached, must: None, aim: None }
    }

    /// Which of its bounds it keeps.
    pub fn verdict(&self) -> Verdict {
        // What is no number keeps no bound.
        let within = |bound: Option<f64>| bound.is_none_or(|bound| self.reached <= bound);
        match (within(self.must), within(self.aim)) {
            (true, true) => Verdict::Aim,
            (true, false) => Verdict::Must,
            (false, _) => Verdict::Missed,
        }
    }
}

/// One row of the table of checks.
#[derive(Debug, Clone)]
pub struct Check {
    /// What is checked, in a user's words.
    pub title: String,
    /// Where the measurements come from.
    pub source: String,
    /// How the prediction was made, and what was fitted.
    pub method: String,
    /// What was reached.
    pub measures: Vec<Measure>,
    /// Everything that was compared.
    pub pairs: Vec<Pair>,
    /// Groups of what was compared, with why they are off.
    pub findings: Vec<String>,
}

impl Check {
    /// The worst of its verdicts.
    pub fn verdict(&self) -> Verdict {
        self.measures.iter().map(Measure::verdict).max().unwrap_or(Verdict::Aim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_relative_to_what_was_measured() {
        let pairs = [("a", 10.0, 11.0), ("b", 10.0, 8.0), ("c", 4.0, 4.0)];
        let pairs = pairs.map(|(label, measured, predicted)| Pair::new(label, measured, predicted));
        let errors = Errors::of(&pairs).unwrap();
        assert!((errors.mean - 0.1).abs() < 1e-12 && (errors.worst - 0.2).abs() < 1e-12);
        assert!((errors.median - 0.1).abs() < 1e-12 && errors.bias.abs() < 1e-12);
        assert_eq!(Errors::of(&[]), None);
    }

    #[test]
    fn a_bound_that_is_just_met_is_met_and_no_number_meets_none() {
        let verdict = |reached| Measure::bound("mean", reached, 0.06, 0.04).verdict();
        assert_eq!(
            [0.04, 0.06, 0.061].map(verdict),
            [Verdict::Aim, Verdict::Must, Verdict::Missed]
        );
        assert_eq!(verdict(f64::NAN), Verdict::Missed);
        assert_eq!(Measure::told("V9", 0.9).verdict(), Verdict::Aim);
    }
}

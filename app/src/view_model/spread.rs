//! The shape of lengths that are typed as mean and p99, when one of them is changed.

use goodput_engine::scenario::doc::{LengthsDoc, LognormalDoc};

use crate::format;

/// How far p99 lies above the mean of a lognormal law, and what it was in the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// In words.
    pub line: String,
    /// The p99 with which the shape is what it was; `None` where it is.
    pub p99_as_before: Option<f64>,
}

/// The spread of lengths that are typed as mean and p99. Each is kept when the other is changed, so
/// that whoever doubles the mean alone makes the law narrower: that is said, with the way back.
pub fn spread(now: &LengthsDoc, before: Option<&LengthsDoc>) -> Option<Spread> {
    let mean_and_p99 = |doc: &LengthsDoc| match doc {
        LengthsDoc::Lognormal(LognormalDoc { mean: Some(mean), p99: Some(p99), .. }) => {
            Some((*mean, *p99)).filter(|(mean, p99)| *mean > 0.0 && *p99 > 0.0)
        }
        _ => None,
    };
    let (mean, p99) = mean_and_p99(now)?;
    let ratio = p99 / mean;
    let times = |ratio: f64| format!("{}{}×", format::significant(ratio), format::THIN);
    let line = format!("p99 is {} the mean", times(ratio));
    let was = before.and_then(mean_and_p99).map(|(mean, p99)| p99 / mean);
    Some(match was.filter(|was| (was / ratio - 1.0).abs() > 0.005) {
        Some(was) => Spread {
            line: format!(
                "{line}, was {}: mean and p99 are each kept when the other changes, so the shape is \
                 another",
                times(was)
            ),
            p99_as_before: Some((mean * was).round()),
        },
        None => Spread { line, p99_as_before: None },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_the_mean_alone_says_that_the_shape_is_another() {
        let law = |mean, p99| {
            LengthsDoc::Lognormal(LognormalDoc {
                mean: Some(mean),
                p99: Some(p99),
                ..LognormalDoc::default()
            })
        };
        let before = law(1_000.0, 3_988.0);
        let doubled = spread(&law(2_000.0, 3_988.0), Some(&before)).expect("mean and p99");
        assert!(doubled.line.contains("1.99") && doubled.line.contains("was 3.99"), "{doubled:?}");
        assert_eq!(doubled.p99_as_before, Some(7_976.0), "with it the shape is what it was");
        let scaled = spread(&law(2_000.0, 7_976.0), Some(&before)).expect("mean and p99");
        assert_eq!(scaled.p99_as_before, None);
        assert_eq!(spread(&before, None).expect("mean and p99").p99_as_before, None);
        assert_eq!(spread(&LengthsDoc::Fixed { tokens: 5 }, Some(&before)), None);
    }
}

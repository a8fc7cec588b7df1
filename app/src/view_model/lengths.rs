//! Words and small pictures of length distributions.

use std::fmt::Write;

use goodput_engine::accounts::report::LengthSummary;
use goodput_engine::scenario::doc::{
    LengthsDoc, LognormalDoc, MixturePartDoc, QuantileDoc, ScenarioDoc,
};
use goodput_engine::scenario::lengths_of;
use goodput_engine::workload::{Lengths, Shape, shape};

use crate::controls::Choice;
use crate::format;
use crate::parse::{self, Quantity};

/// Lengths that may be pasted.
const MAX_PASTED: usize = 10_000;

/// Where a report has the `index`-th class of its document: it lists the enabled ones alone.
pub fn place_in_report(doc: &ScenarioDoc, index: usize) -> Option<usize> {
    let (before, from) = doc.workload.classes.split_at_checked(index)?;
    let there = from.first()?.enabled;
    there.then(|| before.iter().filter(|class| class.enabled).count())
}

/// Kinds of length distributions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LengthsKind {
    Fixed,
    Uniform,
    Lognormal,
    Gamma,
    Pareto,
    Mixture,
    Quantiles,
    Empirical,
    Recorded,
}

impl LengthsKind {
    /// The kind of a document's lengths.
    pub fn of(doc: &LengthsDoc) -> Self {
        match doc {
            LengthsDoc::Fixed { .. } => Self::Fixed,
            LengthsDoc::Uniform { .. } => Self::Uniform,
            LengthsDoc::Lognormal(_) => Self::Lognormal,
            LengthsDoc::Gamma { .. } => Self::Gamma,
            LengthsDoc::Pareto { .. } => Self::Pareto,
            LengthsDoc::Mixture { .. } => Self::Mixture,
            LengthsDoc::Quantiles { .. } => Self::Quantiles,
            LengthsDoc::Empirical { .. } => Self::Empirical,
            LengthsDoc::Recorded { .. } => Self::Recorded,
        }
    }

    /// Its name in the document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Uniform => "uniform",
            Self::Lognormal => "lognormal",
            Self::Gamma => "gamma",
            Self::Pareto => "pareto",
            Self::Mixture => "mixture",
            Self::Quantiles => "quantiles",
            Self::Empirical => "empirical",
            Self::Recorded => "recorded",
        }
    }

    /// What can be chosen, and what the document has though it cannot be made here.
    pub fn choices(self) -> Vec<Choice> {
        let mut choices = vec![
            Choice::new("fixed", "all alike"),
            Choice::new("lognormal", "lognormal"),
            Choice::new("quantiles", "quantile table"),
            Choice::new("empirical", "pasted lengths"),
            Choice::new("recorded", "as recorded"),
        ];
        if !choices.iter().any(|choice| choice.value == self.name()) {
            choices.push(Choice::new(self.name(), self.name()));
        }
        choices
    }
}

/// Lengths that the page shows and does not edit, in words.
pub fn summary(doc: &LengthsDoc) -> String {
    let or_dash = |tokens: Option<f64>| tokens.map_or("–".to_owned(), |t| format::fixed(t, 0));
    match doc {
        LengthsDoc::Uniform { min, max, .. } => format!("every length from {min} to {max} alike"),
        LengthsDoc::Lognormal(law) => {
            let stated = [
                ("mean", law.mean),
                ("sd", law.sd),
                ("p5", law.p5),
                ("p50", law.p50),
                ("p90", law.p90),
                ("p95", law.p95),
                ("p99", law.p99),
            ];
            let said = stated.iter().filter_map(|(name, tokens)| Some((name, (*tokens)?)));
            let mut words: Vec<String> =
                said.map(|(name, tokens)| format!("{name} {}", format::fixed(tokens, 0))).collect();
            words.extend(law.sigma.map(|sigma| format!("σ {}", format::significant(sigma))));
            words.extend(law.max.map(|max| format!("at most {max}")));
            words.join(", ")
        }
        LengthsDoc::Gamma { mean, cv, sd, .. } => match (cv, sd) {
            (Some(cv), _) => format!(
                "mean {}, coefficient of variation {}",
                format::fixed(*mean, 0),
                format::significant(*cv)
            ),
            (None, sd) => format!("mean {}, sd {}", format::fixed(*mean, 0), or_dash(*sd)),
        },
        LengthsDoc::Pareto { min, max, .. } => format!(
            "from {} with a heavy tail{}",
            format::fixed(*min, 0),
            max.map_or(String::new(), |max| format!(", at most {max}"))
        ),
        LengthsDoc::Mixture { parts, .. } => {
            let total: f64 = parts.iter().map(|part| part.weight).sum();
            let part = |part: &MixturePartDoc| {
                let kind = LengthsKind::of(&part.tokens).name();
                format!("{} {kind}", format::percent(part.weight / total))
            };
            parts.iter().map(part).collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    }
}

/// Whether the fields for a mean and a 99th percentile hold all that a law states.
pub fn is_mean_and_p99(doc: &LengthsDoc) -> bool {
    match doc {
        LengthsDoc::Lognormal(law) => {
            let LognormalDoc { sd, sigma, p5, p50, p90, p95, min, max, .. } = law;
            let others = [sd, sigma, p5, p50, p90, p95];
            others.iter().all(|field| field.is_none()) && min.is_none() && max.is_none()
        }
        _ => false,
    }
}

/// The same lengths as another kind, about as long; `None` where only a file has it or nothing
/// would change.
pub fn as_kind(doc: &LengthsDoc, kind: &str) -> Option<LengthsDoc> {
    if LengthsKind::of(doc).name() == kind {
        return None;
    }
    let shape = engine_lengths(doc).map(|lengths| shape(&lengths, 1));
    let (mean, p50, p90, p99) =
        shape.map_or((512.0, 384.0, 1_024.0, 2_048.0), |s| (s.mean, s.p50, s.p90, s.p99));
    match kind {
        "fixed" => Some(LengthsDoc::Fixed { tokens: whole(mean) }),
        // A lognormal needs a tail: where all are alike, a usual one.
        "lognormal" => Some(LengthsDoc::lognormal(
            mean.round(),
            if p99 > mean * 1.05 { p99.round() } else { (mean * 3.0).round() },
        )),
        "quantiles" => {
            let row = |p: f64, tokens: f64| QuantileDoc { p, tokens: tokens.round().max(1.0) };
            Some(LengthsDoc::Quantiles {
                table: vec![row(0.0, p50 / 4.0), row(0.5, p50), row(0.9, p90), row(0.99, p99)],
            })
        }
        "empirical" => Some(LengthsDoc::Empirical {
            samples: [p50 / 2.0, p50, p50, p90, p99].map(whole).to_vec(),
        }),
        _ => None,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to int casts saturate, and lengths are positive"
)]
fn whole(tokens: f64) -> u32 {
    tokens.round().max(1.0) as u32
}

/// The engine's distribution, if the document's numbers make one.
fn engine_lengths(doc: &LengthsDoc) -> Option<Lengths> {
    lengths_of(doc).ok()
}

/// A histogram of 268 × 56 on a log axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// x, y, width, height of each bar.
    pub bars: Vec<(f64, f64, f64, f64)>,
    /// Outline of the baseline's shape; may be empty.
    pub ghost: String,
    /// Decades and their names.
    pub ticks: Vec<(f64, String)>,
    /// In words.
    pub label: String,
}

const WIDTH: f64 = 268.0;
const HEIGHT: f64 = 50.0;
const BASE: f64 = 56.0;
const BINS: usize = 32;

/// The picture of a distribution, and of the baseline's as an outline; `None` for lengths that are
/// all alike or no distribution.
pub fn picture(now: &LengthsDoc, before: Option<&LengthsDoc>) -> Option<Picture> {
    let now = shape(&engine_lengths(now)?, BINS);
    let before = before.and_then(engine_lengths).map(|lengths| shape(&lengths, BINS));
    if now.edges.len() < 3 {
        return None;
    }
    let (low, high) = range(&now, before.as_ref())?;
    let place = |tokens: f64| {
        let span = goodput_engine::math::ln(high / low);
        (goodput_engine::math::ln(tokens.max(low) / low) / span * WIDTH).clamp(0.0, WIDTH)
    };
    let tallest = now.shares.iter().copied().fold(0.0, f64::max);
    let bars = now.shares.iter().zip(now.edges.windows(2)).map(|(share, edges)| {
        let (x, height) = (place(edges[0]), share / tallest * HEIGHT);
        (x, BASE - height, (place(edges[1]) - x - 1.0).max(0.5), height)
    });
    Some(Picture {
        bars: bars.collect(),
        ghost: before.as_ref().map_or_else(String::new, |shape| outline(shape, place)),
        ticks: decades(low, high).map(|at| (place(at), format::short(at))).collect(),
        label: format!(
            "Histogram on a log axis: mean {}, p50 {}, p99 {} tokens",
            format::significant(now.mean),
            format::significant(now.p50),
            format::significant(now.p99)
        ),
    })
}

fn range(now: &Shape, before: Option<&Shape>) -> Option<(f64, f64)> {
    let edges = |shape: &Shape| Some((*shape.edges.first()?, *shape.edges.last()?));
    let (mut low, mut high) = edges(now)?;
    if let Some((other_low, other_high)) = before.and_then(edges) {
        (low, high) = (low.min(other_low), high.max(other_high));
    }
    (low > 0.0 && high > low).then_some((low, high))
}

fn outline(shape: &Shape, place: impl Fn(f64) -> f64) -> String {
    let tallest = shape.shares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut path = String::new();
    for (share, edges) in shape.shares.iter().zip(shape.edges.windows(2)) {
        let y = BASE - share / tallest * HEIGHT;
        let command = if path.is_empty() { 'M' } else { 'L' };
        let (a, b) = (place(edges[0]), place(edges[1]));
        let _never = write!(path, "{command}{a:.1} {y:.1}L{b:.1} {y:.1}");
    }
    path
}

fn decades(low: f64, high: f64) -> impl Iterator<Item = f64> {
    [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6].into_iter().filter(move |at| (low..=high).contains(at))
}

/// Mean, p50, p90, p99 and the share over the limit.
pub fn realised(summary: &LengthSummary) -> [String; 5] {
    let tokens = |x: f64| format::fixed(x, 0);
    [
        tokens(summary.mean),
        tokens(summary.p50),
        tokens(summary.p90),
        tokens(summary.p99),
        format::percent(summary.share_over_max_model_len),
    ]
}

/// Lengths as text, for editing.
pub fn list(samples: &[u32]) -> String {
    samples.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

/// Pasted lengths, separated by white space, `;` or `,` with a space; or why they are none.
pub fn read_list(text: &str) -> Result<Vec<u32>, String> {
    let parts = text.split(|c: char| c.is_whitespace() || c == ';');
    let words: Vec<&str> =
        parts.map(|part| part.trim_end_matches(',')).filter(|part| !part.is_empty()).collect();
    if words.is_empty() {
        return Err("Nothing is pasted: give lengths in tokens, separated by spaces".into());
    }
    if words.len() > MAX_PASTED {
        let max = format::count(MAX_PASTED as u64);
        return Err(format!("{} lengths: at most {max} are read here", words.len()));
    }
    words
        .iter()
        .map(|word| {
            let value =
                parse::whole(word, Quantity::Tokens).map_err(|why| format!("“{word}” {why}"))?;
            if (1.0..=f64::from(u32::MAX)).contains(&value) {
                Ok(whole(value))
            } else {
                Err(format!("“{word}” is no length: give 1 token or more"))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_that_is_switched_off_has_no_place_in_a_report() {
        let preset = goodput_engine::scenario::presets::preset("multi-tenant");
        let mut doc = preset.expect("a preset of three classes").doc.clone();
        doc.workload.classes[1].enabled = false;
        let places = [0, 1, 2, 3].map(|index| place_in_report(&doc, index));
        assert_eq!(places, [Some(0), None, Some(1), None]);
    }

    #[test]
    fn pasted_lengths_are_read_or_refused_with_the_word() {
        assert_eq!(read_list("12 2k\n300; 4,000, 5"), Ok(vec![12, 2_000, 300, 4_000, 5]));
        assert!(read_list(" ").is_err());
        assert!(read_list("12 1.5 3").is_err_and(|why| why.contains("“1.5”")));
        assert!(read_list("0").is_err_and(|why| why.contains("1 token")));
    }

    #[test]
    fn changing_the_kind_keeps_about_the_length() {
        let lognormal = LengthsDoc::lognormal(512.0, 2_391.0);
        assert_eq!(as_kind(&lognormal, "fixed"), Some(LengthsDoc::Fixed { tokens: 512 }));
        assert_eq!(as_kind(&lognormal, "lognormal"), None);
        assert_eq!(as_kind(&lognormal, "recorded"), None);
        let fixed = LengthsDoc::Fixed { tokens: 100 };
        let expected = LengthsDoc::lognormal(100.0, 300.0);
        assert_eq!(as_kind(&fixed, "lognormal"), Some(expected));
        for kind in ["quantiles", "empirical"] {
            let changed = as_kind(&lognormal, kind).expect("a distribution");
            assert!(engine_lengths(&changed).is_some(), "{changed:?} is valid");
        }
    }

    #[test]
    fn a_shape_has_bars_an_outline_and_decades() {
        let now = LengthsDoc::lognormal(2_000.0, 7_977.0);
        let before = LengthsDoc::lognormal(1_000.0, 3_988.0);
        let picture = picture(&now, Some(&before)).expect("a shape");
        assert!(picture.bars.len() == BINS && picture.ghost.starts_with('M'));
        assert!(
            picture.bars.iter().all(|b| b.0 >= 0.0 && b.0 + b.2 <= WIDTH + 0.5 && b.3 <= HEIGHT)
        );
        assert!(picture.ticks.iter().any(|(_, text)| text == "1k"), "{:?}", picture.ticks);
        assert_eq!(super::picture(&LengthsDoc::Fixed { tokens: 5 }, None), None);
    }
}

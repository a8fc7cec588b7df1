//! Where the time of answers goes: bars to scale, the stages in a table, and the finding in words.

use goodput_engine::accounts::{ClassLifeCycle, LifeAbout, Stage};
use goodput_engine::scenario::doc::SloDoc;

use crate::charts::Look;
use crate::format;

/// The life cycle of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct Life {
    /// What takes the most, in a sentence.
    pub finding: String,
    /// A bar for each percentile, all to one scale.
    pub bars: Vec<Bar>,
    /// The stages that some request spends time in.
    pub rows: Vec<Row>,
}

/// The life of the requests about a percentile.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// `p99`.
    pub name: String,
    /// How long they take and how many they are.
    pub said: String,
    /// Stages: their look, and where they begin and how wide they are, per cent.
    pub pieces: Vec<(Option<Look>, f64, f64)>,
    /// Limits within the scale: their name, and where, per cent.
    pub limits: Vec<(String, f64)>,
}

/// A stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What it is.
    pub name: &'static str,
    /// How it looks in the bars.
    pub look: Option<Look>,
    /// Its mean at each percentile: as text, in full, and its share.
    pub cells: Vec<(String, Option<f64>, String)>,
}

/// A stage as people say it, and how it looks; what makes an answer late looks as late ones do.
fn words(stage: Stage) -> (&'static str, Option<Look>) {
    match stage {
        Stage::Retries => ("Earlier attempts and waiting to try again", Some(Look::Cancelled)),
        Stage::Admission => ("Admission", Some(Look::Rejected)),
        Stage::Queue => ("Queue", Some(Look::Late)),
        Stage::Prefill => ("Prefill to the first token", None),
        Stage::Decode => ("Decode to completion", Some(Look::Good)),
        Stage::BesidePrefill => ("Steps longer for prompts beside it", Some(Look::Slow)),
        Stage::Preempted => ("Preempted and computed again", Some(Look::Stalled)),
    }
}

/// The view of a class under its limits.
pub fn life(class: &ClassLifeCycle, slo: &SloDoc) -> Life {
    let scale_ms = class.about.iter().filter_map(|about| about.mean_e2e_ms).fold(0.0, f64::max);
    let per_cent = |ms: f64| if scale_ms > 0.0 { 100.0 * ms / scale_ms } else { 0.0 };
    let stages: Vec<Stage> = Stage::ALL
        .into_iter()
        .filter(|stage| class.about.iter().any(|about| mean_ms(about, *stage) > 0.0))
        .collect();
    let cell = |stage: Stage| {
        move |about: &LifeAbout| match about.mean_e2e_ms {
            Some(whole) => {
                let ms = mean_ms(about, stage);
                (format::millis(ms), Some(ms), format::percent(ms / whole.max(f64::MIN_POSITIVE)))
            }
            None => (format::NONE.to_owned(), None, String::new()),
        }
    };
    let row = |stage: &Stage| {
        let (name, look) = words(*stage);
        Row { name, look, cells: class.about.iter().map(cell(*stage)).collect() }
    };
    Life {
        finding: finding(class),
        bars: class.about.iter().map(|about| bar(about, slo, &per_cent)).collect(),
        rows: stages.iter().map(row).collect(),
    }
}

fn mean_ms(about: &LifeAbout, stage: Stage) -> f64 {
    about.stages_ms.iter().find(|(known, _)| *known == stage).map_or(0.0, |(_, ms)| *ms)
}

fn name(about: &LifeAbout) -> String {
    format!("p{}", format::significant(100.0 * about.share))
}

fn bar(about: &LifeAbout, slo: &SloDoc, per_cent: &dyn Fn(f64) -> f64) -> Bar {
    let mut start = 0.0;
    let piece = |(stage, ms): &(Stage, f64)| {
        let (from, width) = (start, per_cent(*ms));
        start += width;
        (*ms > 0.0).then_some((words(*stage).1, from, width))
    };
    let pieces = about.stages_ms.iter().filter_map(piece).collect();
    let limit = |(name, ms): (&str, Option<f64>)| {
        let ms = ms?;
        Some((format!("{name} limit {}", format::millis(ms)), per_cent(ms)))
    };
    let limits = [("TTFT", slo.ttft_ms), ("E2E", slo.e2e_ms)].into_iter().filter_map(limit);
    let limits = limits.filter(|(_, at)| *at <= 100.0).collect();
    let never = match about.never {
        0 => String::new(),
        n => format!("; {} about it never complete", format::count(n)),
    };
    let said = match (about.e2e_ms, about.mean_e2e_ms) {
        (Some(at), Some(mean)) => format!(
            "{} takes {}; mean of the {} about it {}{never}",
            name(about),
            format::millis(at),
            format::plural(about.requests, "request", "requests"),
            format::millis(mean),
        ),
        (None, _) => format!("{} is never{never}", name(about)),
        (Some(_), None) => String::new(),
    };
    Bar { name: name(about), said, pieces, limits }
}

/// `At p50 decode to completion takes 4.1 s of 4.5 s; at p99 queue takes 35.8 s of 42 s`.
fn finding(class: &ClassLifeCycle) -> String {
    let most = |about: &LifeAbout| {
        if about.e2e_ms.is_none() {
            return Some(format!("at {} the answer never comes", name(about)));
        }
        let (stage, ms) = about.stages_ms.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let of = format::millis(about.mean_e2e_ms?);
        let stage = words(*stage).0.to_lowercase();
        Some(format!("at {} {stage} takes {} of {of}", name(about), format::millis(*ms)))
    };
    let clauses: Vec<String> = class.about.iter().filter_map(most).collect();
    super::words::clause(&clauses.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(share: f64, stages_ms: Vec<(Stage, f64)>) -> LifeAbout {
        let sum: f64 = stages_ms.iter().map(|(_, ms)| ms).sum();
        let some = (!stages_ms.is_empty()).then_some(sum);
        let requests = u64::from(some.is_some()) * 10;
        LifeAbout {
            share,
            e2e_ms: some,
            requests,
            never: 10 - requests,
            mean_e2e_ms: some,
            stages_ms,
        }
    }

    fn class(about: Vec<LifeAbout>) -> ClassLifeCycle {
        ClassLifeCycle { name: "chat".into(), offered: 1_000, about }
    }

    #[test]
    fn bars_are_to_one_scale_and_end_where_their_answers_do() {
        let fast = vec![(Stage::Queue, 0.0), (Stage::Prefill, 100.0), (Stage::Decode, 900.0)];
        let slow = vec![(Stage::Queue, 3_000.0), (Stage::Prefill, 100.0), (Stage::Decode, 900.0)];
        let slo = SloDoc { ttft_ms: Some(2_000.0), e2e_ms: Some(9_000.0), ..SloDoc::default() };
        let life = life(&class(vec![about(0.5, fast), about(0.99, slow)]), &slo);
        let ends = |bar: &Bar| bar.pieces.last().map_or(0.0, |(_, start, width)| start + width);
        assert!(
            (ends(&life.bars[0]) - 25.0).abs() < 1e-9 && (ends(&life.bars[1]) - 100.0).abs() < 1e-9
        );
        assert_eq!(life.bars[1].limits.len(), 1, "the limit on E2E is beyond the scale");
        assert_eq!(life.rows.len(), 3, "nobody was preempted");
        assert!(life.finding.contains("at p99 queue takes 3"), "{}", life.finding);
        assert!(life.finding.starts_with("At p50 decode"), "{}", life.finding);
    }

    #[test]
    fn a_percentile_that_is_never_says_so() {
        let life = life(&class(vec![about(0.99, vec![])]), &SloDoc::default());
        assert!(life.bars[0].said.contains("p99 is never; 10 about it never complete"));
        assert!(life.bars[0].pieces.is_empty() && life.rows.is_empty());
        assert_eq!(life.finding, "At p99 the answer never comes");
    }
}

//! Where the time of an answer goes, stage by stage: the life cycle of the requests of a class whose
//! whole answers (E2E) take about the median time, and about the 99th percentile.
//!
//! Percentiles of stages do not sum to a percentile of the whole. Means over the same requests do:
//! those within half a percentile of it.

use serde::{Deserialize, Serialize};

use super::tally::{self, Row};
use crate::scenario::Scenario;
use crate::slo::{self, RequestStamps};
use crate::stats;
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// Requests this far from a percentile, in ranks as a share of all, are looked at with it.
const HALF_A_PERCENTILE: f64 = 0.005;

/// What a request spends its time in, in the order of its life. The stages of a completed request
/// sum to its E2E, to the picosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// From due to the queue of the last attempt, of a client who had to try again.
    Retries,
    /// From due to a replica's queue, of one who had not.
    Admission,
    /// In the queue until the first step that works on it.
    Queue,
    /// Until its first token.
    Prefill,
    /// From the first token on, but for what others took.
    Decode,
    /// By which its steps were longer for the prompts computed beside it.
    BesidePrefill,
    /// In gaps of its stream in which it lost its blocks, waited and was computed again.
    Preempted,
}

impl Stage {
    /// All, in the order of a life.
    pub const ALL: [Self; 7] = [
        Self::Retries,
        Self::Admission,
        Self::Queue,
        Self::Prefill,
        Self::Decode,
        Self::BesidePrefill,
        Self::Preempted,
    ];
}

/// The life cycles of all classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LifeCycle {
    /// Each class alone, in the order of the report.
    pub classes: Vec<ClassLifeCycle>,
}

/// The life cycle of a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassLifeCycle {
    /// Its name.
    pub name: String,
    /// Requests due in the window: what percentiles are over.
    pub offered: u64,
    /// About the median, and about the 99th percentile.
    pub about: Vec<LifeAbout>,
}

/// The stages of the requests about a percentile of E2E.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LifeAbout {
    /// Which, 0 to 1.
    pub share: f64,
    /// E2E at this percentile, milliseconds; `null` where it is never.
    pub e2e_ms: Option<f64>,
    /// Requests within half a percentile of it that complete: the means are over them.
    pub requests: u64,
    /// Those within half a percentile of it that never complete.
    pub never: u64,
    /// Mean E2E of those that do, milliseconds; `null` of none.
    pub mean_e2e_ms: Option<f64>,
    /// Mean of each stage over the same requests, milliseconds: they sum to `mean_e2e_ms`. Empty
    /// where there are none.
    pub stages_ms: Vec<(Stage, f64)>,
}

/// The life cycles of the measurement window of a run.
pub fn life_cycle(
    scenario: &Scenario,
    (requests, stamps): (&[OfferedRequest], &[RequestStamps]),
) -> LifeCycle {
    let rows = tally::rows(requests, stamps, &scenario.contracts);
    let window = tally::window(&rows, scenario.warmup);
    let classes = (0_u32..).zip(&scenario.classes).map(|(index, class)| {
        let mut of_class: Vec<&Row> =
            window.iter().filter(|row| row.request.class == index).collect();
        // Those that never complete rank last.
        let e2e = |row: &&Row| slo::e2e(row.request, row.stamps).unwrap_or(Picos(i64::MAX));
        of_class.sort_by_key(e2e);
        ClassLifeCycle {
            name: class.name.clone(),
            offered: of_class.len() as u64,
            about: [0.5, 0.99].map(|share| about(&of_class, share)).into(),
        }
    });
    LifeCycle { classes: classes.collect() }
}

/// The requests about one percentile, of rows in order of E2E.
fn about(rows: &[&Row], share: f64) -> LifeAbout {
    let rank = |share: f64| stats::rank_of(share, rows.len());
    let (from, to) = (rank(share - HALF_A_PERCENTILE), rank(share + HALF_A_PERCENTILE));
    let band = match (from, to) {
        (Some(from), Some(to)) => &rows[from..=to],
        _ => &[],
    };
    let lives: Vec<[Picos; 7]> =
        band.iter().filter_map(|row| stages(row.request, row.stamps)).collect();
    let at = rank(share).and_then(|at| slo::e2e(rows[at].request, rows[at].stamps));
    // Of many long answers the sum is beyond what picoseconds of one run are counted in.
    let total = |i: usize| lives.iter().map(|life| i128::from(life[i].0)).sum::<i128>();
    let mean_ms = |picos: i128| picos as f64 / 1e9 / lives.len().max(1) as f64;
    let any = !lives.is_empty();
    let stage = |(i, stage): (usize, Stage)| (stage, mean_ms(total(i)));
    LifeAbout {
        share,
        e2e_ms: at.map(Picos::as_millis),
        requests: lives.len() as u64,
        never: (band.len() - lives.len()) as u64,
        mean_e2e_ms: any.then(|| mean_ms((0..Stage::ALL.len()).map(total).sum())),
        stages_ms: Stage::ALL.into_iter().enumerate().map(stage).filter(|_| any).collect(),
    }
}

/// The stages of a completed request, as in [`Stage::ALL`]; `None` of one that is not.
fn stages(request: &OfferedRequest, stamps: &RequestStamps) -> Option<[Picos; 7]> {
    slo::e2e(request, stamps)?;
    let (queued, scheduled) = (stamps.queued?, stamps.scheduled?);
    let (first, ended) = (stamps.first_token?, stamps.ended?);
    let before = queued - request.due;
    let (retries, admission) =
        if stamps.attempts > 1 { (before, Picos::ZERO) } else { (Picos::ZERO, before) };
    let (beside, preempted) = (stamps.stream.beside_prefill, stamps.stream.preempted);
    let decode = ended - first - beside - preempted;
    Some([retries, admission, scheduled - queued, first - scheduled, decode, beside, preempted])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::{Simulated, answer};
    use crate::scenario::doc::ScenarioDoc;
    use crate::scenario::{check, presets};

    fn served(doc: &ScenarioDoc) -> (Scenario, Simulated) {
        let scenario = check(doc).expect("a valid document").scenario;
        let simulated = answer(&scenario).expect("simulated");
        (scenario, simulated)
    }

    fn cycle(scenario: &Scenario, simulated: &Simulated) -> LifeCycle {
        life_cycle(scenario, (&simulated.requests, &simulated.run.stamps))
    }

    /// Presets of several kinds, and the first with few blocks and clients who try again.
    fn documents() -> Vec<ScenarioDoc> {
        let mut docs: Vec<ScenarioDoc> = ["chat-peak", "outputs-double", "multi-tenant"]
            .map(|name| presets::preset(name).expect("a preset").doc.clone())
            .into();
        let mut scarce = docs[0].clone();
        scarce.fleet.pools[0].num_gpu_blocks = Some(600);
        scarce.fleet.pools[0].step_time.api_overhead_ms = 3.0;
        docs.push(scarce);
        let retried = r#"{"version":1,"workload":{"horizon_s":200,"classes":[{"name":"chat",
            "arrivals":{"kind":"poisson","rate_rps":30.0},
            "input_tokens":{"kind":"fixed","tokens":1024},
            "output_tokens":{"kind":"lognormal","mean":300,"p99":900},
            "retries":{"max_attempts":4,"on":["rejected"]},"slo":{"ttft_ms":2000.0}}]},
            "fleet":{"admission":{"max_queue_age_s":1.0},
            "pools":[{"gpu":"h100-sxm","model":"llama-3.1-8b","replicas":1}]}}"#;
        docs.push(crate::scenario::doc::parse(retried).expect("a document"));
        docs
    }

    #[test]
    fn the_stages_of_every_request_sum_to_its_e2e_and_none_is_negative() {
        let mut seen = [Picos::ZERO; 7];
        for doc in documents() {
            let (_, simulated) = served(&doc);
            for (request, stamps) in simulated.requests.iter().zip(&simulated.run.stamps) {
                let (Some(e2e), Some(life)) = (slo::e2e(request, stamps), stages(request, stamps))
                else {
                    assert_eq!(slo::e2e(request, stamps), None, "{stamps:?}");
                    continue;
                };
                assert_eq!(life.iter().map(|span| span.0).sum::<i64>(), e2e.0, "{stamps:?}");
                assert!(life.iter().all(|span| *span >= Picos::ZERO), "{life:?} of {stamps:?}");
                for (seen, span) in seen.iter_mut().zip(life) {
                    *seen = (*seen).max(span);
                }
            }
        }
        assert!(seen.iter().all(|span| *span > Picos::ZERO), "every stage happens: {seen:?}");
    }

    #[test]
    fn mean_stages_sum_to_the_mean_about_the_percentile_that_the_report_gives() {
        for doc in documents() {
            let (scenario, simulated) = served(&doc);
            let report = &simulated.report;
            let cycle = cycle(&scenario, &simulated);
            assert_eq!(cycle.classes.len(), report.classes.len());
            for (class, reported) in cycle.classes.iter().zip(&report.classes) {
                assert_eq!((&class.name, class.offered), (&reported.name, reported.offered));
                let [median, tail] = &class.about[..] else { panic!("{class:?}") };
                assert_eq!(median.e2e_ms, reported.e2e_ms.p50);
                assert_eq!(tail.e2e_ms, reported.e2e_ms.p99);
                for about in [median, tail] {
                    let Some(mean) = about.mean_e2e_ms else {
                        assert!(about.requests == 0 && about.stages_ms.is_empty());
                        continue;
                    };
                    let sum: f64 = about.stages_ms.iter().map(|(_, ms)| ms).sum();
                    assert!((sum / mean - 1.0).abs() < 1e-12, "{sum} and {mean}");
                    let share = (about.requests + about.never) as f64 / class.offered as f64;
                    assert!(share < 0.01 + 2.0 / class.offered as f64, "{about:?}");
                }
                let both = median.mean_e2e_ms.zip(median.e2e_ms);
                assert!(both.is_none_or(|(mean, at)| (mean / at - 1.0).abs() < 0.1), "{median:?}");
            }
        }
    }
}

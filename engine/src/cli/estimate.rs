//! `goodput estimate`.

use goodput_engine::accounts::words::{span_ms, three_digits};
use goodput_engine::estimate::report::EstimateReport;
use goodput_engine::estimate::{Capacity, CapacityAxis, capacity, estimate};
use goodput_engine::scenario::Scenario;
use serde::Serialize;

use super::args::{Axis, EstimateArgs};
use super::output::{Answer, Failure};
use super::text::Page;
use super::{input, text};

/// The estimate, and capacity over what was asked for.
#[derive(Debug, Serialize)]
struct Output {
    #[serde(flatten)]
    report: EstimateReport,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    capacity: Vec<Capacity>,
}

pub fn run(args: &EstimateArgs) -> Result<Answer, Failure> {
    let checked = input::scenario(&args.scenario.scenario)?;
    let report = estimate(&checked.scenario);
    let tables = args.capacity_over.iter().map(|axis| capacity(&checked.scenario, axis.axis()));
    let capacity = tables.collect::<Result<Vec<_>, _>>()?;
    let mut words = text::estimate(&report);
    for table in &capacity {
        words.push_str(&in_words(table));
    }
    let output = Output { report, capacity };
    Ok(Answer::new(&output, words)?.with_findings(checked.severities()))
}

/// The estimate of a scenario, which is also what verbs that simulate say of a model that does
/// not fit.
pub fn of(scenario: &Scenario) -> Result<Answer, Failure> {
    let report = estimate(scenario);
    Answer::new(&report, text::estimate(&report))
}

impl Axis {
    fn axis(self) -> CapacityAxis {
        match self {
            Self::Output => CapacityAxis::Output,
            Self::Prompt => CapacityAxis::Prompt,
            Self::Batch => CapacityAxis::Batch,
        }
    }
}

fn in_words(capacity: &Capacity) -> String {
    let mut page = Page::default();
    let over = match capacity.over {
        CapacityAxis::Output => "mean output tokens",
        CapacityAxis::Prompt => "mean prompt tokens",
        CapacityAxis::Batch => "sequences decoding",
    };
    page.heading(&format!("By {over:<27} req/s   prefill/s  decode/s   TPOT   delivered decode/s"));
    for point in &capacity.points {
        let mark = if point.is_present { " (present)" } else { "" };
        let or_dash = |value: Option<f64>, words: fn(f64) -> String| {
            value.map_or_else(|| "–".to_owned(), words)
        };
        page.row(
            &format!("{}{mark}", three_digits(point.value)),
            &format!(
                "{:>8} {:>10} {:>9} {:>8} {:>12}",
                three_digits(point.sustainable_rps),
                three_digits(point.sustainable_prefill_tps),
                three_digits(point.sustainable_decode_tps),
                or_dash(point.tpot_ms, span_ms),
                or_dash(point.deliverable_decode_tps, three_digits)
            ),
        );
    }
    for why in &capacity.left_out {
        page.row("left out", why);
    }
    page.into_text()
}

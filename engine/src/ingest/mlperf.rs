//! Summaries of `MLPerf`'s load generator (`mlperf_log_summary.txt`) for language models.
//!
//! Documented at <https://github.com/mlcommons/inference> (`loadgen/`, `inference_rules.adoc`); labels
//! read in summaries of rounds 4.0 to 5.1. Labels and nanoseconds. Latencies count from the moment a
//! sample was scheduled, so that waiting in the client is in them; time to output token is (latency −
//! first token) ÷ (n − 1). Tokens are those of answers to the round's data set.

use std::borrow::Cow;

use super::gathered::Gathered;
use super::reading::Reading;
use super::registry::{Body, FormatDescription};
use super::stat::Stat;
use super::tree::Node;
use super::{BenchmarkPoint, Definition, Latency, Load, Refusal, TokenKind, Weighting, runs};

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "mlperf_summary",
    title: "MLPerf load generator summary",
    looks_for: "a text with a line MLPerf Results Summary",
    docs: "https://github.com/mlcommons/inference",
    sniff: |head| head.json.is_none() && head.text.contains("MLPerf Results Summary"),
    parse,
};

fn parse(text: &str) -> Result<Body, Refusal> {
    // In lower case, since cases vary between labels and rounds.
    let labelled = text.lines().filter_map(|line| line.split_once(':'));
    let entry = |(label, value): (&str, &str)| {
        (Cow::Owned(label.trim().to_lowercase()), Node::Text(Cow::Owned(value.trim().to_owned())))
    };
    let run = Node::Map(labelled.map(entry).collect());
    let mut gathered = Gathered::default();
    runs::add(&mut gathered, 1, &[run], of_run)?;
    runs::finish(gathered)
}

const LATENCIES: [(Latency, &[&str], Definition); 3] = [
    (Latency::Ttft, &[" first token latency (ns)"], Definition::DueToFirstToken),
    (
        Latency::Tpot,
        &[" time to output token (ns)", " time per output token (ns)"],
        Definition::ExcludesFirstToken,
    ),
    (Latency::E2e, &[" latency (ns)"], Definition::DueToLastToken),
];

fn of_run(reading: &mut Reading, run: &Node) -> Result<BenchmarkPoint, &'static str> {
    let word = |label: &str| run.get(label).and_then(Node::text).unwrap_or_default();
    if word("mode").starts_with("Accuracy") {
        return Err("an accuracy run measures no speed");
    }
    let mut point = BenchmarkPoint {
        label: Some(format!("{}, {}", word("sut name"), word("scenario"))),
        completed_rps: reading
            .quantity(run, &["completed samples per second", "samples per second"]),
        token_rates: reading
            .token_rates(run, &[(TokenKind::Output, "completed tokens per second")]),
        ..BenchmarkPoint::default()
    };
    if point.token_rates.is_empty() {
        point.token_rates = reading.token_rates(run, &[(TokenKind::Output, "tokens per second")]);
    }
    let offline = word("scenario") == "Offline";
    point.load = match word("scenario") {
        "Offline" => Load::Unbounded,
        "SingleStream" | "Single Stream" => Load::Concurrency { requests: 1 },
        "Server" | "Interactive" => {
            point.sent_rps = reading.quantity(run, &["scheduled samples per second"]);
            let asked = reading.quantity(run, &["target_qps"]).filter(|rps| *rps > 0.0);
            asked.map_or(Load::Unstated, |rps| Load::RequestRate { rps })
        }
        _ => Load::Unstated,
    };
    for (latency, endings, definition) in LATENCIES {
        let stat =
            |label: &str| statistic(endings.iter().find_map(|ending| label.strip_suffix(ending))?);
        *point.latency_mut(latency) =
            reading.flat_stats(run, &stat, 1e-6, (definition, Weighting::PerRequest));
    }
    if offline {
        (point.ttft, point.e2e) = (None, None);
        reading.remark(
            "Offline issues all samples at once: TTFT and latency say how long the run was and \
             were left out",
        );
    }
    if word("result is") != "VALID" {
        reading.remark("MLPerf does not call this run valid: read why in the summary");
    }
    Ok(point)
}

/// `mean`, `min`, `99.00 percentile`.
fn statistic(words: &str) -> Option<Stat> {
    match words.strip_suffix(" percentile") {
        Some(rank) => Stat::parse(&format!("p{rank}")),
        None => Stat::parse(words),
    }
}

//! The same requests under other tools' rules, each with its formula and source, and under our own
//! over three denominators.
//!
//! A rule is one entry of [`RULES`]: which requests it counts, which it calls good, and what it
//! divides by. All of them read the limits of the same contract; a tool that has no such limit
//! ignores it, and that is part of its rule.

use serde::{Deserialize, Serialize};

use super::Case;
use crate::slo::{Contract, Fate, Limit};

/// Good requests over one denominator.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Share {
    /// Good requests.
    pub good: u64,
    /// Out of so many.
    pub of: u64,
    /// Their ratio; `null` of none.
    pub share: Option<f64>,
}

impl Share {
    fn new(good: u64, of: u64) -> Self {
        Self { good, of, share: (of > 0).then(|| good as f64 / of as f64) }
    }
}

/// Good requests over what was offered, over what was let in, and over what was completed. Only
/// the first is attainment: the others rise when more is refused.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Denominators {
    /// Every request due in the window.
    pub offered: Share,
    /// Those neither refused at the door nor too long.
    pub admitted: Share,
    /// Those that were answered to the end.
    pub completed: Share,
}

impl Denominators {
    /// Of `cases`.
    pub fn of(cases: &[Case]) -> Self {
        let count = |of: fn(&Case) -> bool| cases.iter().filter(|case| of(case)).count() as u64;
        let good = count(Case::is_good);
        Self {
            offered: Share::new(good, cases.len() as u64),
            admitted: Share::new(good, count(Case::admitted)),
            completed: Share::new(good, count(|case| case.fate == Fate::Completed)),
        }
    }
}

/// What a tool would have said of these requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Stable id of the rule.
    pub rule: String,
    /// Tool and the name it gives the number.
    pub tool: String,
    /// How the number comes about.
    pub formula: String,
    /// Where that is written.
    pub source: String,
    /// What it leaves out that Goodput counts, in words; empty if nothing.
    pub leaves_out: String,
    /// What it calls good out of what it counts.
    pub share: Share,
    /// Good requests per second: our own of the measurement window, as everywhere; other tools' of
    /// the run, from the first request due to the last answer.
    pub good_rps: Option<f64>,
}

/// One rule.
struct Rule {
    id: &'static str,
    tool: &'static str,
    formula: &'static str,
    source: &'static str,
    leaves_out: &'static str,
    counts: fn(&Case, &Contract) -> bool,
    good: fn(&Case) -> bool,
}

/// The rule of this program.
const OWN_RULE: &str = "goodput";

const RULES: &[Rule] = &[
    Rule {
        id: OWN_RULE,
        tool: "Goodput, attainment",
        formula: "good ÷ offered; good = answered, acceptable, and within TTFT, TPOT, longest \
                  stall and E2E, all clocks from due",
        source: "this program",
        leaves_out: "",
        counts: |_, _| true,
        good: Case::is_good,
    },
    Rule {
        id: "vllm",
        tool: "vLLM bench serve, request_goodput",
        formula: "successes with ttft, tpot and e2el within --goodput ÷ duration; the share is of \
                  successes",
        source: "vllm/benchmarks/serve.py, calculate_metrics (main, 2026)",
        leaves_out: "failed requests, stalls, quality, and waiting in the client; an answer of at \
                     most one token has TPOT 0",
        counts: |case, _| case.called_success,
        good: |case| case.called_success && within(case),
    },
    Rule {
        id: "sglang",
        tool: "SGLang bench_serving, request_throughput",
        formula: "successes ÷ duration: it prints no goodput, so that every success counts, \
                  however late",
        source: "docs/developer_guide/bench_serving.md (2026)",
        leaves_out: "every limit, failed requests and quality",
        counts: |case, _| case.called_success,
        good: |case| case.called_success,
    },
    Rule {
        id: "guidellm",
        tool: "GuideLLM, successful requests",
        formula: "successful ÷ (successful + incomplete + errored): it prints no goodput up to 0.7",
        source: "guidellm docs/guides/metrics.md (0.7)",
        leaves_out: "every limit and quality",
        counts: |_, _| true,
        good: |case| case.called_success,
    },
    Rule {
        id: "inference-perf",
        tool: "inference-perf, goodput_percentage",
        formula: "successes within its constraints (in seconds) ÷ successes",
        source: "kubernetes-sigs/inference-perf, goodput_metrics (0.5 and later)",
        leaves_out: "failed requests, stalls and quality",
        counts: |case, _| case.called_success,
        good: |case| case.called_success && within(case),
    },
    Rule {
        id: "aiperf",
        tool: "AIPerf, good_request_fraction",
        formula: "good_request_count ÷ (request_count + error_request_count); its goodput is \
                  good_request_count ÷ benchmark_duration",
        source: "aiperf docs/tutorials/goodput.md and metrics/types (2026)",
        leaves_out: "cancelled requests, stalls and quality",
        counts: |case, _| !matches!(case.fate, Fate::Cancelled | Fate::Unfinished),
        good: |case| {
            let answered = case.called_success && case.output_tokens != Some(0);
            answered && within(case)
        },
    },
    Rule {
        id: "blis",
        tool: "BLIS, slo_attainment",
        formula: "completed within ttft, itl (the mean of a request) and e2e ÷ injected, over \
                  classes that have a limit",
        source: "inference-sim/inference-sim sim/cluster/metrics.go (2026)",
        leaves_out: "stalls, quality, and classes without a limit",
        counts: |_, contract| Limit::ALL.iter().any(|limit| contract.limit(*limit).is_some()),
        good: |case| case.fate == Fate::Completed && within(case),
    },
];

/// Whether none of the limits that tools know was missed, by their clocks.
fn within(case: &Case) -> bool {
    let known = [Limit::Ttft, Limit::Tpot, Limit::E2e];
    known.iter().all(|limit| !case.missed_from_send.contains(*limit))
}

/// What rates are per second of.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spans {
    /// The measurement window, seconds; of the requests of a file it is the run.
    pub window_s: Option<f64>,
    /// From the first request due to the last answer, seconds.
    pub run_s: Option<f64>,
}

/// Every rule applied to `cases`.
pub fn readings(cases: &[Case], contracts: &[Contract], spans: Spans) -> Vec<Reading> {
    let no_limits = Contract::default();
    let contract = |case: &Case| {
        let class = case.class.unwrap_or(0) as usize;
        contracts.get(class).unwrap_or(&no_limits)
    };
    let reading = |rule: &Rule| {
        let counted = || cases.iter().filter(|case| (rule.counts)(case, contract(case)));
        let good = counted().filter(|case| (rule.good)(case)).count() as u64;
        let span_s = if rule.id == OWN_RULE { spans.window_s } else { spans.run_s };
        Reading {
            rule: rule.id.to_owned(),
            tool: rule.tool.to_owned(),
            formula: rule.formula.to_owned(),
            source: rule.source.to_owned(),
            leaves_out: rule.leaves_out.to_owned(),
            share: Share::new(good, counted().count() as u64),
            good_rps: span_s.filter(|span| *span > 0.0).map(|span| good as f64 / span),
        }
    };
    RULES.iter().map(reading).collect()
}

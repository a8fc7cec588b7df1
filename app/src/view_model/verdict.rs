//! The verdict: a state, a sentence, its causes.

use goodput_engine::accounts::report::{SimReport, VerdictState};
use goodput_engine::estimate::report::{EstimateReport, EstimateVerdict};
use goodput_engine::planner::report::PlanReport;

use super::words;
use crate::format;

/// The verdict in a shape, a word and a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictView {
    /// Class of its colours and name of its shape.
    pub state: &'static str,
    /// The word.
    pub word: &'static str,
    /// The sentence.
    pub sentence: String,
    /// The line of causes; may be empty.
    pub why: String,
}

/// The verdict of a simulation; what holds comes from its plan, once there is one.
pub fn simulated(report: &SimReport, plan: Option<&PlanReport>) -> VerdictView {
    let (state, word) = names(report.verdict.state);
    let mut clauses: Vec<String> =
        report.verdict.causes.iter().map(|cause| words::clause(cause)).collect();
    clauses.extend(plan.map(|plan| plan.sentence.clone()));
    VerdictView { state, word, sentence: report.verdict.sentence.clone(), why: clauses.join(". ") }
}

/// The verdict of the instant estimate: shown alone when nothing fits, else until the first
/// simulation is there.
pub fn estimated(report: &EstimateReport) -> VerdictView {
    if report.verdict == EstimateVerdict::DoesNotFit {
        let (state, word) = names(VerdictState::DoesNotFit);
        return VerdictView { state, word, sentence: does_not_fit(report), why: layouts(report) };
    }
    let sentence = report.supply.as_ref().map_or_else(String::new, |supply| {
        format!(
            "By arithmetic, {} are asked for at the peak and {} can be sustained",
            format::tps(supply.required_peak.decode_tps),
            format::tps(supply.sustainable_decode_tps),
        )
    });
    VerdictView { state: "none", word: "Estimate", sentence, why: "The simulation follows".into() }
}

fn does_not_fit(report: &EstimateReport) -> String {
    let Some(pool) = report.memory.pools.first() else { return String::new() };
    format!(
        "{} of weights on each GPU, and {} usable there",
        format::bytes(pool.weights_bytes_per_gpu),
        format::bytes(pool.usable_bytes_per_gpu),
    )
}

fn layouts(report: &EstimateReport) -> String {
    report.smallest_fitting.map_or_else(
        || "No layout of a power of two of GPUs holds the weights".into(),
        |fit| {
            let gpus = format::plural(u64::from(fit.gpus), "GPU", "GPUs");
            format!(
                "{gpus} is the smallest layout: tensor_parallel {}, pipeline_parallel {}",
                fit.tensor_parallel, fit.pipeline_parallel
            )
        },
    )
}

/// Class and word of a state.
pub fn names(state: VerdictState) -> (&'static str, &'static str) {
    match state {
        VerdictState::Holds => ("holds", "Holds"),
        VerdictState::LateButStable => ("late", "Late but stable"),
        VerdictState::Overloaded => ("over", "Overloaded"),
        VerdictState::DoesNotFit => ("nofit", "Does not fit"),
        VerdictState::NotMeasuredHere => ("unmeasured", "Not measured here"),
    }
}

//! The verdict: a state, a sentence, its causes.

use goodput_engine::accounts::report::{SimReport, VerdictState};
use goodput_engine::estimate::report::{EstimateReport, EstimateVerdict, SupplyEstimate};
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

/// A simulation and its estimate, to compare with another.
#[derive(Clone, Copy)]
pub struct Compared<'a> {
    /// What would happen.
    pub report: &'a SimReport,
    /// What is asked for.
    pub demand: &'a SupplyEstimate,
}

/// What changed from one scenario to the next, in the words of demand and supply; nothing where
/// no demand changed.
pub fn change(before: Compared, now: Compared) -> Option<String> {
    let ratio = |now: f64, before: f64| now / before;
    let rate = ratio(now.demand.required_rps, before.demand.required_rps);
    let decode = ratio(now.demand.required_decode_tps, before.demand.required_decode_tps);
    let residency =
        ratio(now.demand.kv_token_steps_per_request, before.demand.kv_token_steps_per_request);
    let changed = |x: f64| x.is_finite() && (x - 1.0).abs() >= 0.005;
    if ![rate, decode, residency].into_iter().any(changed) {
        return None;
    }
    let times = |x: f64| format!("×{THIN}{x:.1}", THIN = format::THIN);
    let rate =
        if changed(rate) { format!("Rate {}", times(rate)) } else { "Rate unchanged".to_owned() };
    let input = format::fixed(now.demand.required_prefill_tps / now.demand.required_rps, 0);
    let adequate = match (before.report.contract_holds, now.report.contract_holds) {
        (true, false) => ": no longer adequate",
        (true, true) => ": still adequate",
        (false, true) => ": now adequate",
        (false, false) => ": not adequate before either",
    };
    let supply = |x: &SimReport| format::significant(x.supply.sustainable.decode_tps);
    Some(format!(
        "{rate}; decode demand {}, KV residency {} ({input} in){adequate}. Sustainable supply {} → {}",
        times(decode),
        times(residency),
        supply(before.report),
        format::tps(now.report.supply.sustainable.decode_tps),
    ))
}

/// The verdict of a simulation; what holds comes from its plan, once there is one, and `change`
/// says what is different from the baseline.
pub fn simulated(
    report: &SimReport,
    plan: Option<&PlanReport>,
    change: Option<String>,
) -> VerdictView {
    let (state, word) = names(report.verdict.state);
    let causes = report.verdict.causes.iter().map(|cause| words::clause(cause));
    let mut clauses: Vec<String> = change.into_iter().chain(causes).collect();
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

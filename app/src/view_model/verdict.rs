//! The verdict: a state, a sentence, its causes.

use goodput_engine::accounts::report::{SimReport, VerdictState};
use goodput_engine::estimate::report::{EstimateReport, EstimateVerdict, SupplyEstimate};
use goodput_engine::planner::report::PlanReport;

use super::{arithmetic, words};
use crate::format;
use crate::state::judged;

/// The verdict in a shape, a word and a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictView {
    /// Class of its colours and name of its shape.
    pub state: &'static str,
    /// The word.
    pub word: &'static str,
    /// The sentence.
    pub sentence: String,
    /// What is different from the baseline, or from when the answer was another: of this visit and
    /// not of the scenario.
    pub change: Option<String>,
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

/// What `edits` edits changed since the contract or the supply at the peak was judged otherwise.
pub fn turn(before: Compared, now: Compared, edits: usize) -> Option<String> {
    let by = if edits == 1 { "edit" } else { "edits" };
    change(before, now).map(|change| format!("By the {by}: {change}"))
}

/// What changed from one scenario to the next, in the words of demand and supply; nothing where
/// neither changed.
pub fn change(before: Compared, now: Compared) -> Option<String> {
    let ratio = |now: f64, before: f64| now / before;
    let rate = ratio(now.demand.required_rps, before.demand.required_rps);
    let decode = ratio(now.demand.required_decode_tps, before.demand.required_decode_tps);
    let residency =
        ratio(now.demand.kv_token_steps_per_request, before.demand.kv_token_steps_per_request);
    let changed = |x: f64| x.is_finite() && (x - 1.0).abs() >= 0.005;
    // Where replicas come and go, of those in the window with the least to spare.
    let supply = |x: &SimReport| match &x.supply.over_time {
        Some(over_time) => over_time.tightest_sustainable.decode_tps,
        None => x.supply.sustainable.decode_tps,
    };
    let supplies = format!(
        "Sustainable supply {} → {}",
        format::significant(supply(before.report)),
        format::tps(supply(now.report)),
    );
    let adequate = adequacy(before.report, now.report);
    if ![rate, decode, residency].into_iter().any(changed) {
        let other_supply = changed(ratio(supply(now.report), supply(before.report)));
        return other_supply.then(|| format!("Demand unchanged{adequate}. {supplies}"));
    }
    let times = |x: f64| format!("×{THIN}{x:.1}", THIN = format::THIN);
    let rate =
        if changed(rate) { format!("Rate {}", times(rate)) } else { "Rate unchanged".to_owned() };
    let input = format::fixed(now.demand.required_prefill_tps / now.demand.required_rps, 0);
    Some(format!(
        "{rate}; decode demand {}, KV residency {} ({input} in){adequate}. {supplies}",
        times(decode),
        times(residency),
    ))
}

/// Whether the fleet is enough, and was.
fn adequacy(before: &SimReport, now: &SimReport) -> &'static str {
    match (before.contract_holds, now.contract_holds) {
        (true, false) => ": no longer adequate",
        (true, true) => ": still adequate",
        (false, true) => ": now adequate",
        (false, false) => match (judged(before).1, judged(now).1) {
            (true, false) => ": supply no longer covers the peak",
            (false, true) => ": supply covers the peak now",
            _ => ": not adequate before either",
        },
    }
}

/// The verdict of a simulation; what holds comes from its plan, once there is one, and `change`
/// says what is different.
pub fn simulated(
    report: &SimReport,
    plan: Option<&PlanReport>,
    change: Option<String>,
) -> VerdictView {
    let (state, word) = names(report.verdict.state);
    let causes = report.verdict.causes.iter().map(|cause| words::clause(cause));
    let why: Vec<String> = causes.chain(plan.map(|plan| plan.sentence.clone())).collect();
    let sentence = report.verdict.sentence.clone();
    VerdictView { state, word, sentence, change, why: why.join(". ") }
}

/// The verdict of the instant estimate: shown alone when nothing fits, else until the first
/// simulation is there.
pub fn estimated(report: &EstimateReport) -> VerdictView {
    if report.verdict == EstimateVerdict::DoesNotFit {
        let (state, word) = names(VerdictState::DoesNotFit);
        let sentence = does_not_fit(report);
        return VerdictView { state, word, sentence, change: None, why: layouts(report) };
    }
    let sentence = report.supply.as_ref().map_or_else(String::new, |supply| {
        format!(
            "By arithmetic, {} are asked for at the peak and {} can be sustained",
            format::tps(supply.required_peak.tps(supply.binds)),
            format::tps(supply.sustainable_at_peak.tps(supply.binds)),
        )
    });
    let proviso = report.supply.as_ref().map(arithmetic::proviso).unwrap_or_default();
    let why = format!("The simulation follows{proviso}");
    VerdictView { state: "none", word: "Estimate", sentence, change: None, why }
}

fn does_not_fit(report: &EstimateReport) -> String {
    let pools = &report.memory.pools;
    let too_small = pools.iter().find(|pool| pool.num_gpu_blocks.is_none());
    let Some(pool) = too_small.or(pools.first()) else { return String::new() };
    let of = if pools.len() > 1 { format!("Pool {}: ", pool.name) } else { String::new() };
    format!(
        "{of}{} of weights on each GPU, and {} usable there",
        format::bytes(pool.weights_bytes_per_gpu),
        format::bytes(pool.usable_bytes_per_gpu),
    )
}

fn layouts(report: &EstimateReport) -> String {
    report.smallest_fitting.map_or_else(
        || "No layout of a power of two of GPUs holds the weights".into(),
        |fit| {
            let gpus = format::plural(u64::from(fit.gpus), "GPU", "GPUs");
            match fit.pipeline_parallel {
                1 => format!("{gpus} is the smallest layout: tensor_parallel {}", fit.tensor_parallel),
                // Nothing here has stages: what can be set is said, not what would be needed.
                stages => format!(
                    "No tensor_parallel holds it ({gpus} in {stages} pipeline stages would, which \
                     are not simulated): choose a GPU with more memory, fewer bits per weight, or a \
                     smaller model"
                ),
            }
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
        VerdictState::Idle => ("none", "Idle"),
    }
}

#[cfg(test)]
mod tests {
    use goodput_engine::scenario::{self, CatalogRef};
    use goodput_engine::{accounts, estimate};

    use super::*;
    use crate::state::edit::tests::small_doc;

    /// Advice is about what the page can set.
    #[test]
    fn what_does_not_fit_is_not_told_to_use_stages_that_nobody_can_set() {
        let why = |model: &str, tensor_parallel| {
            let mut doc = small_doc();
            doc.fleet.pools[0].model = CatalogRef::Id(model.to_owned());
            doc.fleet.pools[0].tensor_parallel = tensor_parallel;
            let scenario = scenario::check(&doc).expect("a scenario").scenario;
            let view = estimated(&estimate::estimate(&scenario));
            assert_eq!(view.state, "nofit");
            view.why
        };
        let by_size = why("llama-3.1-70b", 1);
        assert!(by_size.contains("smallest layout: tensor_parallel"), "{by_size}");
        for text in [by_size, why("llama-3.1-405b", 8)] {
            assert!(!text.contains("pipeline_parallel"), "{text}");
        }
        let never = why("llama-3.1-405b", 8);
        assert!(never.contains("No tensor_parallel holds it"), "{never}");
        assert!(never.contains("choose a GPU with more memory"), "{never}");
    }

    /// Outputs doubled by hand: the line says which demand grew and what supply fell to.
    #[test]
    fn an_edit_that_turns_the_answer_says_which_demand_grew() {
        use goodput_engine::scenario::doc::LengthsDoc;
        let of = |mean: f64, replicas| {
            let mut doc = small_doc();
            doc.workload.horizon_s = 60.0;
            doc.workload.classes[0].output_tokens = LengthsDoc::lognormal(mean, 4.0 * mean);
            doc.fleet.pools[0].replicas = replicas;
            let scenario = scenario::check(&doc).expect("a scenario").scenario;
            let report = accounts::answer(&scenario).expect("an answer").report;
            (report, estimate::estimate(&scenario).supply.expect("steps"))
        };
        let (mut before, demand) = of(200.0, 2);
        let (mut after, doubled) = of(400.0, 2);
        (before.contract_holds, after.contract_holds) = (true, false);
        let old = Compared { report: &before, demand: &demand };
        let now = Compared { report: &after, demand: &doubled };
        let said = turn(old, now, 1).expect("it turned");
        assert!(said.starts_with("By the edit: "), "{said}");
        for part in ["Rate unchanged; decode demand ×\u{202f}2.0", "no longer adequate", " → "] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let back = turn(now, old, 2).expect("it turned back");
        assert!(back.starts_with("By the edits: ") && back.contains("now adequate"), "{back}");
        let (mut fewer, as_before) = of(200.0, 1);
        fewer.contract_holds = false;
        let fewer = Compared { report: &fewer, demand: &as_before };
        let said = turn(old, fewer, 1).expect("it turned");
        assert!(said.contains("Demand unchanged: no longer adequate. Sustainable"), "{said}");
    }

    /// Every share in the line of causes is of one outcome, as in the waterfall.
    #[test]
    fn the_shares_of_the_verdict_are_those_of_the_waterfall() {
        let mut doc = small_doc();
        doc.workload.horizon_s = 120.0;
        doc.workload.classes[0].slo.tpot_ms = Some(7.0);
        doc.workload.classes[0].slo.ttft_ms = Some(30.0);
        doc.workload.classes[0].error_rate = 0.1;
        let scenario = scenario::check(&doc).expect("a scenario").scenario;
        let report = accounts::answer(&scenario).expect("an answer").report;
        let view = simulated(&report, None, None);
        let (chart, _) = super::super::figures::outcomes(&report);
        assert!(!chart.losses.is_empty());
        for row in chart.losses.iter().filter(|row| row.tenths > 0) {
            let share = accounts::words::percent(row.tenths as f64 / 1e3);
            assert!(view.why.contains(&share), "{} {share} in “{}”", row.name, view.why);
        }
        let sum = chart.losses.iter().map(|row| row.tenths).sum::<u64>() + chart.good.tenths;
        assert_eq!(sum, 1_000);
    }
}

//! Aggregated rows of `InferenceX` (before: `InferenceMAX`), one object per run or a list of them.
//!
//! Documented at <https://github.com/SemiAnalysisAI/InferenceX>; keys read in `process_result.py` of
//! 2025-10 to 2026-10. A row is a run of a client that descends from vLLM's: every `*_ms` of it
//! became seconds under the name without `_ms`, every TPOT also an interactivity (tokens/s of one
//! user, so that its p99 is the fast end of the slow tail), every rate one per GPU. `isl` and `osl`
//! are what was asked for. The raw files are read as vLLM's.

use super::reading::Reading;
use super::registry::{FormatDescription, Head};
use super::runs::{keep_settings, of_json};
use super::stat::Stat;
use super::tree::Node;
use super::{BenchmarkPoint, Definition, Latency, Load, TokenKind, TokenRate, Weighting};

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "inferencex",
    title: "InferenceX aggregated rows (JSON)",
    looks_for: "JSON with hw, conc and tput_per_gpu",
    docs: "https://github.com/SemiAnalysisAI/InferenceX",
    sniff: |head: &Head| {
        let own = ["hw", "conc", "tput_per_gpu"];
        head.json.as_ref().is_some_and(|keys| own.iter().all(|key| keys.has(key)))
    },
    parse: |text| of_json(text, of_run),
};

const LATENCIES: [(Latency, &str, Definition, Weighting); 4] = [
    (Latency::Ttft, "_ttft", Definition::SendToFirstToken, Weighting::PerRequest),
    (Latency::Tpot, "_tpot", Definition::ExcludesFirstToken, Weighting::PerRequest),
    (Latency::Itl, "_itl", Definition::GapBetweenEvents, Weighting::PerEvent),
    (Latency::E2e, "_e2el", Definition::SendToLastToken, Weighting::PerRequest),
];

fn of_run(reading: &mut Reading, run: &Node) -> Result<BenchmarkPoint, &'static str> {
    if run.get("tput_per_gpu").is_none() {
        return Err("an object without tput_per_gpu is no result");
    }
    let client_cap = reading.count(run, &["conc"]);
    let mut point = BenchmarkPoint {
        load: client_cap.map_or(Load::Unstated, |requests| Load::Concurrency { requests }),
        client_cap,
        input: reading.asked_length(run, "isl"),
        output: reading.asked_length(run, "osl"),
        ..BenchmarkPoint::default()
    };
    let words = |key: &str| run.get(key).and_then(Node::words);
    point.context.gpu = words("hw");
    point.context.model = words("model").or_else(|| words("infmax_model_prefix"));
    point.context.engine_version = match (words("framework"), words("image")) {
        (Some(framework), Some(image)) => Some(format!("{framework}, {image}")),
        (one, other) => one.or(other),
    };
    point.context.tensor_parallel = reading.count(run, &["tp"]);
    let settings = ["precision", "spec_decoding", "mtp", "disagg", "ep", "dp_attention"];
    keep_settings(&mut point, run, &settings);
    rates(reading, run, &mut point);
    for (latency, suffix, definition, weighting) in LATENCIES {
        let stat = |key: &str| key.strip_suffix(suffix).and_then(Stat::parse);
        *point.latency_mut(latency) = reading.flat_stats(run, &stat, 1e3, (definition, weighting));
    }
    Ok(point)
}

/// Rates per GPU times the GPUs they were divided by: all of them on one node, those of a stage
/// where prefill and decode have GPUs of their own.
fn rates(reading: &mut Reading, run: &Node, point: &mut BenchmarkPoint) {
    let stage = |reading: &mut Reading, key: &str| reading.count(run, &[key]).filter(|n| *n > 0);
    let apart = stage(reading, "num_prefill_gpu").zip(stage(reading, "num_decode_gpu"));
    let split = run.get("disagg") == Some(&Node::Bool(true))
        || run.get("is_multinode") == Some(&Node::Bool(true));
    let (prefill, decode, all) = match apart {
        Some((prefill, decode)) if split => (prefill, decode, prefill + decode),
        _ if split => return,
        _ => {
            let size = |reading: &mut Reading, key: &str| reading.count(run, &[key]).unwrap_or(1);
            let Some(tp) = point.context.tensor_parallel else { return };
            let all =
                tp.saturating_mul(size(reading, "pp")).saturating_mul(size(reading, "pcp_size"));
            (all, all, all)
        }
    };
    point.context.gpu_count = Some(all);
    let mut rate = |key: &str, gpus: u64| Some(reading.quantity(run, &[key])? * gpus as f64);
    let input = rate("input_tput_per_gpu", prefill);
    let output = rate("output_tput_per_gpu", decode);
    let total = rate("tput_per_gpu", all);
    // Which GPUs a rate was divided by changed over time: only rates that add up are sure.
    if let (Some(input), Some(output), Some(total)) = (input, output, total)
        && (input + output - total).abs() > 0.01 * total
    {
        reading.remark(
            "input_tput_per_gpu and output_tput_per_gpu do not add up to tput_per_gpu: by how many \
             GPUs each was divided is not known, and none was taken",
        );
        return;
    }
    let rates = [(TokenKind::Input, input), (TokenKind::Output, output), (TokenKind::Total, total)];
    point.token_rates =
        rates.into_iter().filter_map(|(kind, tps)| Some(TokenRate { kind, tps: tps? })).collect();
}

//! Files that tools leave beside their results and that hold no result: refused with their reason
//! instead of as unknown.

use super::Refusal;
use super::registry::Head;

/// What a file is known by, what it is, and what to upload instead.
struct Other {
    keys: &'static [&'static str],
    what: &'static str,
    hint: &'static str,
}

const OTHERS: [Other; 4] = [
    Other {
        keys: &["telemetry_data", "gpu_uuid"],
        what: "this is AIPerf's GPU telemetry: it holds no latency and no throughput",
        hint: "upload profile_export_aiperf.json of the same run",
    },
    Other {
        keys: &["experiments", "service_kind"],
        what: "this is perf_analyzer's raw export: its answers would have to be tokenised",
        hint: "upload profile_export_genai_perf.json of the same run",
    },
    Other {
        keys: &["global", "reports"],
        what: "this is inference-perf's validation of its reports, not a report",
        hint: "upload the reports it is about",
    },
    Other {
        keys: &["engine_kwargs", "kv_cache", "dataset_hash"],
        what: "this is LLMServingSim's account of how a run was set up: it holds no measurement",
        hint: "upload requests.jsonl of the same run",
    },
];

/// How to come by a trace that can be read.
const AS_TRACE: &str =
    "draw requests from it and upload them as CSV with arrival_s, input_tokens and output_tokens";

/// The reason, if the file is one of these.
pub(super) fn refusal(head: &Head) -> Option<Refusal> {
    let Some(keys) = &head.json else { return of_table(head.first_line) };
    // A ServeGen data set: windows by their second, each with densities written as Python.
    if keys.keys.first().is_some_and(|key| key.parse::<u64>().is_ok())
        && head.text.contains("\"input_tokens\": \"{")
    {
        return Some(Refusal::not_recognised(
            "these are the lengths of a ServeGen client, as densities: no requests, no arrivals",
            AS_TRACE,
        ));
    }
    if keys.has("metrics") && head.text.contains("\"aggregation_type\"") {
        return Some(Refusal::not_recognised(
            "this is AIPerf's aggregate over several trials: means of means have no sample",
            "upload the summaries of the trials",
        ));
    }
    OTHERS
        .iter()
        .find(|other| other.keys.iter().all(|key| keys.has(key)))
        .map(|other| Refusal::not_recognised(other.what, other.hint))
}

/// The same for tables.
fn of_table(first_line: &str) -> Option<Refusal> {
    let cells: Vec<&str> = first_line.split(',').map(str::trim).collect();
    // A ServeGen client: second, rate, CV, family, shape and scale, without a header.
    if let [second, rate, cv, family, shape, scale] = cells[..] {
        let numbers =
            [second, rate, cv, shape, scale].iter().all(|cell| cell.parse::<f64>().is_ok());
        if numbers && ["", "Gamma", "Weibull"].contains(&family) {
            return Some(Refusal::not_recognised(
                "these are the rates of a ServeGen client over time: no requests, no lengths",
                AS_TRACE,
            ));
        }
    }
    (cells.contains(&"num_prefill_tokens") && cells.contains(&"num_decode_tokens")).then(|| {
        Refusal::not_recognised(
            "this is a Vidur table of lengths without arrived_at: when requests came is not known",
            "add an arrived_at column in seconds",
        )
    })
}

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
        keys: &["build_commit", "avg_ts"],
        what: "this is llama-bench: one stream without a server, so no load to plan with",
        hint: "measure the server with vLLM bench serve, GuideLLM or AIPerf",
    },
];

/// The reason, if the file is one of these.
pub(super) fn refusal(head: &Head) -> Option<Refusal> {
    let keys = head.json.as_ref()?;
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

//! Every term of the page: what it means, its formula, and the names that other tools give it.
//!
//! The definitions are those the engine counts by. What other tools call the same, or call by the
//! same name and compute otherwise, was read in their sources (vLLM bench serve and SGLang
//! `bench_serving` of 2026, GuideLLM 0.2 to 0.8, AIPerf 0.1 to 0.14, inference-perf 0.5 and 0.6,
//! llmperf).

mod cost;
mod fleet;

use cost::COST;
use fleet::FLEET;

/// One term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// Its anchor: lower case, hyphens.
    pub id: &'static str,
    /// As the page spells it.
    pub name: &'static str,
    /// What it means, in one or two sentences.
    pub meaning: &'static str,
    /// How it is computed; empty where the meaning says it all.
    pub formula: &'static str,
    /// What other tools call it, and what they compute under its name.
    pub elsewhere: &'static str,
}

/// A chapter of the glossary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chapter {
    /// Its heading.
    pub title: &'static str,
    /// Its terms, in the order of reading.
    pub terms: &'static [Term],
}

const fn term(
    id: &'static str,
    name: &'static str,
    meaning: &'static str,
    formula: &'static str,
    elsewhere: &'static str,
) -> Term {
    Term { id, name, meaning, formula, elsewhere }
}

/// All terms.
pub const CHAPTERS: [Chapter; 6] = [
    Chapter { title: "What people feel", terms: LATENCIES },
    Chapter { title: "What counts as good", terms: CONTRACT },
    Chapter { title: "What is asked and what is there", terms: SUPPLY },
    Chapter { title: "Pools, replicas and what they keep", terms: FLEET },
    Chapter { title: "Where a request can end", terms: OUTCOMES },
    Chapter { title: "What it costs, and how far to trust it", terms: COST },
];

const LATENCIES: &[Term] = &[
    term(
        "ttft",
        "Time to first token (TTFT)",
        "From the moment a request is due until its first token: admission, retries, routing, \
         queue, prefill and the server's own overhead included. A request that never gets a \
         token counts as infinitely late in percentiles over offered requests.",
        "first token − due",
        "vLLM bench serve and SGLang start their clock after the client's max_concurrency \
         semaphore, so a wait there is in none of their numbers. vLLM's per-request API metrics \
         start at scheduling and leave the queue out.",
    ),
    term(
        "ttfvt",
        "Time to first visible token (TTFVT)",
        "From the moment a request is due until the first token that its user sees: the first \
         after those that a reasoning model hides. An answer whose budget is spent before it shows \
         anything never gets one. Missing this limit counts as a late first token.",
        "token number (hidden + 1) − due",
        "AIPerf and genai-perf: time_to_first_output_token, beside time_to_first_token, which a \
         reasoning token ends. GuideLLM: time_to_first_output_token_ms. Leaderboards say time to \
         first answer token. vLLM bench serve has no such number: its TTFT ends with the first \
         chunk of any kind.",
    ),
    term(
        "tpot",
        "Time per output token (TPOT)",
        "The average gap between the tokens of one request. One token passes every limit.",
        "(completed − first token) ÷ (output tokens − 1)",
        "GuideLLM, AIPerf and genai-perf call this inter_token_latency. GuideLLM's own \
         time_per_output_token includes the first token from 0.4 on. llmperf's inter_token_latency \
         is E2E ÷ output tokens. inference-perf before April 2026 divided by chunks, about half of \
         the right value.",
    ),
    term(
        "itl",
        "Inter-token latency (ITL)",
        "The gap between two events of one stream. An event may carry several tokens (stream \
         interval, speculative decoding), so this is no TPOT.",
        "event i + 1 − event i",
        "vLLM pools the gaps between chunks of all requests. AIPerf calls them \
         inter_chunk_latency.",
    ),
    term(
        "itl-percentile",
        "ITL percentile of a request",
        "A limit on a percentile of each request's own gaps: with p95 ≤ 50 ms no more than 5 % of \
         its gaps may be longer. A simulation counts the gaps above the limit, which decides it \
         exactly (nearest rank); a file with its list of gaps is judged from that list. Missing it \
         counts as a stall.",
        "gaps above the limit ≤ n − ⌈p × n⌉, of the n gaps of one request",
        "Tools print ITL percentiles over the gaps of all requests pooled, where long answers \
         outvote short ones and one bad stream disappears. BLIS limits the mean gap of a request, \
         which is TPOT.",
    ),
    term(
        "stall",
        "Longest stall",
        "The longest gap between two events of one stream. Two streams with equal TPOT can differ \
         by seconds here, and people notice.",
        "max of (event i + 1 − event i)",
        "No common tool sets a limit on it; vLLM's goodput knows ttft, tpot and e2el only.",
    ),
    term(
        "e2e",
        "Whole answer (E2E)",
        "From the moment a request is due until its last token.",
        "completed − due",
        "vLLM: e2el. SGLang: e2e_latency. GuideLLM (in seconds), AIPerf and inference-perf: \
         request_latency.",
    ),
    term(
        "queue-wait",
        "Queue wait",
        "From the moment a request is due until the engine first schedules it.",
        "first scheduled − due",
        "vLLM's metrics count from the arrival at its front end.",
    ),
];

const CONTRACT: &[Term] = &[
    term(
        "slo",
        "Contract (SLO)",
        "Inclusive limits on TTFT, first visible token, TPOT, longest stall, a percentile of its own \
         gaps and E2E of each request of a class, and the share of offered requests that must be within all of them.",
        "",
        "vLLM: --goodput ttft:1000 tpot:50, in milliseconds. inference-perf: in seconds.",
    ),
    term(
        "good",
        "Good request",
        "Neither refused nor failed, cancelled or timed out; within every limit of its class; \
         and of acceptable quality.",
        "",
        "",
    ),
    term(
        "goodput",
        "SLO goodput",
        "Good requests per second, and the share of all offered requests that are good \
         (attainment). Losses of every kind stay in the denominator.",
        "good ÷ offered; good ÷ second",
        "vLLM: request_goodput, good ÷ duration, a rate. inference-perf: goodput_percentage, over \
         successful requests only, so failures make it no worse.",
    ),
    term(
        "latency-only-goodput",
        "Latency-only goodput",
        "The same where nobody looked at the answers: every answer counts as acceptable, and the \
         name says so.",
        "",
        "",
    ),
    term(
        "quality",
        "Quality of answers",
        "Verified (an evaluation with a threshold), assumed (a rate, and who assumed it), or not \
         checked.",
        "",
        "",
    ),
    term(
        "marginal",
        "Marginal and joint",
        "Marginal: how many missed one limit, whatever else they missed. Joint: how many are within \
         every limit at once, which is what counts. Misses often go together, so shares of single \
         limits can neither be added nor multiplied.",
        "",
        "Dashboards show one percentile for each limit: marginals.",
    ),
    term(
        "attainment-target",
        "Good share, target",
        "The share of offered requests that must be good for the contract to hold.",
        "",
        "",
    ),
];

const SUPPLY: &[Term] = &[
    term(
        "required",
        "Required supply",
        "The prefill and decode tokens per second that the offered requests ask for. Decode is \
         the output rate; prefill is the input rate.",
        "rate × mean length",
        "A benchmark's output tokens per second are what it completed, not what was asked.",
    ),
    term(
        "sustainable",
        "Sustainable supply",
        "The rate of this mix above which work piles up without bound. It moves with lengths, \
         batch and memory: it is no constant of the fleet. Beside a peak it is that of the mix at \
         the peak.",
        "saturated token rate of this mix",
        "Benchmarks at an infinite rate come near it, for their own lengths.",
    ),
    term(
        "deliverable",
        "Deliverable supply",
        "The largest multiple of this mix at which the contract still holds; never above \
         sustainable.",
        "α × demand at its peak, or sustainable if that is less",
        "",
    ),
    term(
        "alpha",
        "Headroom (α)",
        "The largest factor on all rates of the mix at which the contract holds, in the seed that is \
         shown. A peak that is soon over may pass what is sustainable, so α may be more than \
         deliverable ÷ required.",
        "largest multiple that holds",
        "",
    ),
    term(
        "verdict",
        "Verdict",
        "Holds; late but stable (the work gets done, the contract is broken, debt does not grow); \
         overloaded (more is required than is sustainable, and debt grows by the difference).",
        "",
        "",
    ),
    term(
        "queue-debt",
        "Queue debt",
        "Work accepted and not finished: requests, tokens, and the seconds the fleet would need \
         for them. It grows while more is required than is sustainable. Useless backlog is the part \
         that waits though its limit has passed: serving it keeps throughput up and makes nobody \
         happy.",
        "growth = required − sustainable; drain = backlog ÷ (sustainable − arriving)",
        "Queue length counts requests and forgets how long they are.",
    ),
    term(
        "binding",
        "What binds",
        "Each limit is relaxed alone and everything is simulated again; the one that gains most \
         binds.",
        "gain in α, relaxed alone",
        "",
    ),
    term(
        "replicas",
        "Replicas that hold it",
        "The smallest number of replicas with which the contract holds, here and with one more, in \
         95 % of simulated windows: runs from warm-up to horizon, each with a seed of its own.",
        "GPUs = replicas × GPUs each",
        "",
    ),
];

const OUTCOMES: &[Term] = &[
    term(
        "outcome",
        "Outcome",
        "Exactly one for every offered request; they sum to all of them. Served to the end, it \
         is read from the set of limits that were missed.",
        "",
        "",
    ),
    term("rejected", "Rejected", "Turned away at the door by an admission limit.", "", ""),
    term(
        "too_long",
        "Too long",
        "Prompt and answer exceed max_model_len, or all KV memory together: it could never run.",
        "",
        "",
    ),
    term("error", "Error", "Served, and then failed by the server.", "", ""),
    term("timed_out", "Timed out", "Ended by a time limit of server or client.", "", ""),
    term(
        "cancelled",
        "Cancelled",
        "The user left, before the first token or in the middle of the stream. Its prefill is \
         burnt all the same.",
        "",
        "",
    ),
    term(
        "late_first_token",
        "Late first token",
        "Missed the limit on the first token, or on the first visible one, alone.",
        "",
        "",
    ),
    term(
        "late_and_slow",
        "Late and slow",
        "Missed a limit on its first token and another one.",
        "",
        "",
    ),
    term(
        "stalled",
        "Stalled",
        "In time at first, then a gap above the stall limit, or more gaps above their limit than the percentile allows.",
        "",
        "",
    ),
    term("slow_tokens", "Slow tokens", "In time at first, TPOT above its limit.", "", ""),
    term("late_completion", "Late completion", "Missed the E2E limit alone.", "", ""),
    term("low_quality", "Low quality", "Within every limit, and not an acceptable answer.", "", ""),
    term(
        "unfinished",
        "Unfinished",
        "Not decided when the run was cut off. A limit already passed counts as missed.",
        "",
        "",
    ),
];

/// Whether every word of `search` occurs in the term, in any case.
pub fn matches(term: &Term, search: &str) -> bool {
    let text = [term.name, term.meaning, term.formula, term.elsewhere].join(" ").to_lowercase();
    search.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use goodput_engine::slo::Outcome;

    use super::*;

    fn find(id: &str) -> Option<&'static Term> {
        CHAPTERS.iter().flat_map(|chapter| chapter.terms).find(|term| term.id == id)
    }

    #[test]
    fn anchors_are_unique_and_nothing_is_empty() {
        let terms: Vec<_> = CHAPTERS.iter().flat_map(|chapter| chapter.terms).collect();
        let ids: BTreeSet<_> = terms.iter().map(|term| term.id).collect();
        assert_eq!(ids.len(), terms.len());
        assert!(terms.iter().all(|term| !term.name.is_empty() && term.meaning.ends_with('.')));
    }

    #[test]
    fn every_outcome_is_explained() {
        for outcome in Outcome::ALL {
            let name = outcome.name();
            let id = if name.starts_with("cancelled") { "cancelled" } else { name };
            assert!(find(id).is_some(), "{name}");
        }
    }

    #[test]
    fn a_search_finds_what_other_tools_call_it() {
        let found = |search: &str| -> Vec<_> {
            let all = CHAPTERS.iter().flat_map(|chapter| chapter.terms);
            all.filter(|term| matches(term, search)).map(|term| term.id).collect()
        };
        assert_eq!(found("inter_token_latency GuideLLM"), ["tpot"]);
        assert!(found("E2EL").contains(&"e2e"));
        assert!(found("no such words").is_empty());
    }
}

//! The report of a simulated scenario: plain data in the reader's vocabulary.
//!
//! Every number carries its unit in its name; `null` where there is none to give. Rates are means
//! over the horizon unless a name says peak.

mod cost;
mod pool;
mod sharing;
mod supply;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::accounting::Accounting;
pub use super::headline::ExpectationResult;
pub use super::latency::{Histogram, Percentiles};
pub use super::recount::WithinLimits;
use crate::sim::CutOff;
use crate::slo::Outcome;
pub use crate::workload::LengthSummary;
pub use cost::{ClassCost, Cost, CostAfterWarmup, CostLine};
pub use pool::{PoolReport, ReplicaTurnover};
pub use sharing::{ClassSharing, HitCounts, PrefixCache, SessionReport};
pub use supply::{MixRate, SaturatedBy, Supply, SupplyOverTime, TokenKind, WithoutReplicas};

/// Everything a simulation says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimReport {
    /// Does the contract hold?
    pub verdict: Verdict,
    /// Name of the scenario.
    pub name: String,
    /// Seed of the run.
    pub seed: u64,
    /// Fingerprint of the requests that were served, 16 hexadecimal digits: equal ones are the same
    /// requests, in a terminal and in a browser.
    #[serde(default)]
    pub requests_digest: String,
    /// Requests due in `[warmup_s, horizon_s)` are counted.
    pub horizon_s: f64,
    /// Start of the counted window.
    pub warmup_s: f64,
    /// When the last request was decided.
    pub ended_s: f64,
    /// False when a limit of the simulator cut the run off; the rest is then a partial result.
    pub complete: bool,
    /// That limit: `steps`, `attempts` or `time`; `null` of a complete run.
    pub cut_off_by: Option<CutOff>,
    /// Requests due in the window: the denominator of every share.
    pub offered: u64,
    /// Every outcome with its count; they sum to `offered`.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// What clients sent for them.
    #[serde(default)]
    pub attempts: Attempts,
    /// How many missed each limit, whatever else happened to them.
    pub missed: MissedCounts,
    /// good ÷ offered.
    pub attainment: f64,
    /// Smallest attainment target among classes.
    pub attainment_target: f64,
    /// Whether every class meets its own attainment and percentile targets.
    pub contract_holds: bool,
    /// What the scenario expects of its numbers, and whether they are so; absent where nothing is
    /// expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expectations: Vec<ExpectationResult>,
    /// Good requests per second and per GPU-hour, under their right name.
    pub goodput: Goodput,
    /// From due to first token, over offered requests.
    pub ttft_ms: Percentiles,
    /// From due to the first token that is shown, over offered requests; absent where no class
    /// hides tokens or limits it, because it is the first token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttfvt_ms: Option<Percentiles>,
    /// Time per output token after the first, over offered requests with two or more tokens.
    pub tpot_ms: Percentiles,
    /// From due to completion, over offered requests.
    pub e2e_ms: Percentiles,
    /// Longest gap in a stream, over offered requests.
    pub longest_stall_ms: Percentiles,
    /// From due to first scheduled, over offered requests.
    pub queue_wait_ms: Percentiles,
    /// Each class alone.
    pub classes: Vec<ClassReport>,
    /// Token demand against what the fleet sustains for this mix.
    pub supply: Supply,
    /// Work accepted and unfinished.
    pub debt: Debt,
    /// KV memory and live sequences.
    pub kv: KvUse,
    /// What the prefix cache did; absent where no prompts share anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_cache: Option<PrefixCache>,
    /// Absent when no price is set.
    pub cost: Option<Cost>,
    /// Each pool alone, where there are several, in the order of the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolReport>,
    /// How replicas came and went, of each pool in which any did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turnover: Vec<ReplicaTurnover>,
    /// The fleet over time.
    pub series: Vec<SeriesPoint>,
    /// TTFT of offered requests on a log axis.
    pub ttft_histogram: Histogram,
    /// TTFVT of offered requests on a log axis; absent as its percentiles are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttfvt_histogram: Option<Histogram>,
    /// TPOT of offered requests on a log axis.
    pub tpot_histogram: Histogram,
    /// E2E of offered requests on a log axis.
    pub e2e_histogram: Histogram,
    /// Longest gap in the streams of offered requests on a log axis.
    pub longest_stall_histogram: Histogram,
    /// How many of those in each histogram are within their limit.
    pub within: WithinLimits,
    /// Where every request went, and what would have saved the lost ones.
    pub accounting: Accounting,
}

/// Attempts of clients. Those after the first are load that the offered requests do not show.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Attempts {
    /// Attempts for the requests of the window, the first ones included.
    pub sent: u64,
    /// `sent` ÷ offered: the load that reaches the door is this many times what is offered.
    pub per_request: f64,
    /// Requests that were tried more than once.
    pub retried: u64,
}

/// The verdict in a word, a sentence and its causes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The word.
    pub state: VerdictState,
    /// One sentence with the numbers that decide it.
    pub sentence: String,
    /// Causes, most important first, each a clause.
    pub causes: Vec<String>,
}

/// The three-way verdict and the two reasons not to give one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictState {
    /// The contract holds.
    Holds,
    /// All work is done, the contract is broken, debt does not grow.
    LateButStable,
    /// More is asked than the fleet sustains: debt grows at the difference.
    Overloaded,
    /// The weights do not fit: nothing else can be said.
    DoesNotFit,
    /// Outside the range that was measured, or the run does not reach far enough to tell.
    NotMeasuredHere,
    /// Of one pool of several: nothing is asked of it.
    Idle,
}

/// Requests that missed each limit; one request may be in several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MissedCounts {
    /// First token after its limit or never.
    pub ttft: u64,
    /// First visible token after its limit or never.
    #[serde(default)]
    pub ttfvt: u64,
    /// Average time per token above its limit.
    pub tpot: u64,
    /// A gap above its limit.
    pub stall: u64,
    /// More gaps above their limit than the percentile allows.
    #[serde(default)]
    pub itl: u64,
    /// Completion after its limit or never.
    pub e2e: u64,
    /// Completed answers that were not acceptable.
    pub quality: u64,
    /// Unacceptable answers that had also missed a latency limit.
    pub quality_and_latency: u64,
}

/// Good requests, never without their denominator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Goodput {
    /// `slo_goodput`, or `latency_only_goodput` when some class's quality is not checked.
    pub kind: GoodputKind,
    /// Good requests.
    pub good: u64,
    /// Good requests per second of the window.
    pub good_rps: f64,
    /// Good requests per GPU-hour provisioned; `null` where no GPU was.
    pub good_per_gpu_hour: Option<f64>,
    /// Prompt tokens of answered requests per second of the window.
    pub input_tps: f64,
    /// Output tokens of answered requests per second of the window: the throughput that hides
    /// late answers.
    pub output_tps: f64,
    /// Output tokens of good requests per second of the window.
    pub good_output_tps: f64,
    /// What is known about quality, per class, in words.
    pub quality: Vec<String>,
}

/// Whether goodput looked at answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoodputKind {
    /// Latency and answers.
    SloGoodput,
    /// Latency alone: nobody checked answers in at least one class.
    LatencyOnlyGoodput,
}

/// One class alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassReport {
    /// Its name.
    pub name: String,
    /// Requests due in the window.
    pub offered: u64,
    /// Every outcome with its count.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// good ÷ offered.
    pub attainment: f64,
    /// Its target.
    pub attainment_target: f64,
    /// From due to first token.
    pub ttft_ms: Percentiles,
    /// From due to the first token that is shown; absent where the class hides none and has no
    /// limit on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttfvt_ms: Option<Percentiles>,
    /// Time per output token after the first.
    pub tpot_ms: Percentiles,
    /// From due to completion.
    pub e2e_ms: Percentiles,
    /// Realised prompt lengths, tokens.
    pub input_tokens: LengthSummary,
    /// Realised output lengths, tokens.
    pub output_tokens: LengthSummary,
    /// What came of its users, where it is a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_loop: Option<ClosedLoopReport>,
    /// What its prompts share, where they may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<ClassSharing>,
}

/// A closed loop: users = rate · (response + think time), and only those who are not thinking are
/// in flight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClosedLoopReport {
    /// People.
    pub users: u32,
    /// From the end of a request to the next one of that user, seconds.
    pub mean_think_time_s: f64,
    /// Requests due per second of the window: an outcome, not an input.
    pub rate_rps: f64,
    /// From due to decided, whatever the outcome, seconds; `null` if none is due in the window.
    pub mean_response_s: Option<f64>,
    /// Requests due and undecided, mean over the window.
    pub mean_in_flight: f64,
}

/// Work accepted and unfinished.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Debt {
    /// Most requests waiting at any moment; like every peak below, never less than at a sample.
    pub peak_waiting: u64,
    /// Most seconds of fleet work accepted and unfinished.
    pub peak_work_s: f64,
    /// When `peak_work_s` was reached, seconds.
    pub peak_at_s: f64,
    /// Most prefill plus decode tokens accepted and unfinished.
    pub peak_tokens: u64,
    /// Oldest age since due of a waiting request, over the run.
    pub oldest_age_s: f64,
    /// Most requests whose clients waited to try again at a sampled moment: debt that was moved to
    /// the callers.
    #[serde(default)]
    pub peak_deferred: u64,
    /// Requests waiting when the horizon ends.
    pub waiting_at_end: u64,
    /// Seconds of fleet work when the horizon ends.
    pub work_at_end_s: f64,
    /// Required less sustainable while positive, at the peak; where replicas come and go, where
    /// that is most of what those sustain that take requests: requests per second.
    pub growth_rps: f64,
    /// The same in output tokens per second.
    pub growth_decode_tps: f64,
    /// From the end of the horizon, with no further arrivals, until nothing is left; `null` where
    /// that never comes, since no replica takes requests any more.
    pub drain_s: Option<f64>,
    /// To work the most debt off while the mean demand goes on arriving: work ÷ (1 − required ÷
    /// sustainable); `null` where the mean demand is all that the fleet sustains, or more. Where
    /// replicas come and go, by those that take requests when the horizon ends.
    pub drain_while_serving_s: Option<f64>,
    /// Most requests that waited, never scheduled, at any moment though a limit on their first token or their
    /// completion had passed: serving them makes nobody happy.
    pub peak_past_limit: u64,
    /// Their share of all that waited, never scheduled, at that moment.
    pub share_past_limit_at_peak: f64,
    /// Such requests when the horizon ends.
    pub past_limit_at_end: u64,
}

/// KV memory and live sequences, over all replicas.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct KvUse {
    /// What the fleet holds, tokens; where it is scaled, at its largest.
    pub capacity_tokens: u64,
    /// Time-weighted mean share in use over the horizon.
    pub mean_share: f64,
    /// Highest sampled share in use.
    pub peak_share: f64,
    /// Times a sequence lost its blocks.
    pub preemptions: u64,
    /// Tokens computed a second time.
    pub recomputed_tokens: u64,
    /// Mean sequences in batches over the horizon.
    pub mean_running: f64,
    /// Most sequences in batches at a sampled moment.
    pub peak_running: u64,
}

/// The fleet at one moment; rates are means over the interval that ends there.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Moment, seconds.
    pub t_s: f64,
    /// Requests due so far.
    pub offered: u64,
    /// Requests completed so far.
    pub completed: u64,
    /// Requests in queues.
    pub waiting: u64,
    /// Those that were never scheduled and whose limit on first token or completion has passed.
    pub waiting_past_limit: u64,
    /// Sequences in batches.
    pub running: u64,
    /// KV tokens held.
    pub kv_used_tokens: u64,
    /// Age of the oldest waiting request, seconds.
    pub oldest_age_s: f64,
    /// Prefill plus decode tokens accepted and unfinished.
    pub backlog_tokens: u64,
    /// Seconds of fleet work accepted and unfinished.
    pub backlog_work_s: f64,
    /// The part of `backlog_work_s` that waits in queues.
    pub waiting_work_s: f64,
    /// Replicas serving, draining ones included.
    pub replicas: u32,
    /// Replicas ordered and not ready yet.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub starting: u32,
    /// Replicas that take no more requests and finish what they have.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub draining: u32,
    /// Replicas that failed, their replacements starting.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub crashed: u32,
    /// Requests due per second.
    pub offered_rps: f64,
    /// Prompt tokens due per second.
    pub required_prefill_tps: f64,
    /// Output tokens due per second.
    pub required_decode_tps: f64,
    /// Prompt tokens computed per second.
    pub prefill_tps: f64,
    /// Output tokens streamed per second.
    pub decode_tps: f64,
    /// Requests whose clients wait to try again.
    #[serde(default)]
    pub deferred: u64,
    /// The part of `backlog_tokens` that is prefill: prompt tokens, and tokens to compute again.
    #[serde(default)]
    pub backlog_prefill_tokens: u64,
    /// Times a sequence lost its blocks so far.
    #[serde(default)]
    pub preemptions: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde passes it")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

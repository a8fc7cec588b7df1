//! The report of a simulated scenario: plain data in the reader's vocabulary.
//!
//! Every number carries its unit in its name; `null` where there is none to give. Rates are means
//! over the horizon unless a name says peak.

mod cost;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::accounting::Accounting;
use crate::sim::CutOff;
use crate::slo::Outcome;
pub use crate::workload::LengthSummary;
pub use cost::{ClassCost, Cost, CostLine};

/// Everything a simulation says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimReport {
    /// Does the contract hold?
    pub verdict: Verdict,
    /// Name of the scenario.
    pub name: String,
    /// Seed of the run.
    pub seed: u64,
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
    /// Good requests per second and per GPU-hour, under their right name.
    pub goodput: Goodput,
    /// From due to first token, over offered requests.
    pub ttft_ms: Percentiles,
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
    /// Absent when no price is set.
    pub cost: Option<Cost>,
    /// The fleet over time.
    pub series: Vec<SeriesPoint>,
    /// TTFT of offered requests on a log axis.
    pub ttft_histogram: Histogram,
    /// TPOT of offered requests on a log axis.
    pub tpot_histogram: Histogram,
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
}

/// Requests that missed each limit; one request may be in several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MissedCounts {
    /// First token after its limit or never.
    pub ttft: u64,
    /// Average time per token above its limit.
    pub tpot: u64,
    /// A gap above its limit.
    pub stall: u64,
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
    /// Good requests per GPU-hour provisioned.
    pub good_per_gpu_hour: f64,
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

/// Nearest-rank percentiles over a stated population; `null` where the value is never.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Percentiles {
    /// Requests in the population.
    pub population: u64,
    /// Mean over those that have a value.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90th.
    pub p90: Option<f64>,
    /// 95th.
    pub p95: Option<f64>,
    /// 99th.
    pub p99: Option<f64>,
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

/// Prefill and decode rates of one mix: both at once.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct MixRate {
    /// Requests per second.
    pub rps: f64,
    /// Input tokens per second.
    pub prefill_tps: f64,
    /// Output tokens per second.
    pub decode_tps: f64,
}

impl MixRate {
    /// Tokens of one kind per second.
    pub fn tps(&self, kind: TokenKind) -> f64 {
        match kind {
            TokenKind::Prefill => self.prefill_tps,
            TokenKind::Decode => self.decode_tps,
        }
    }

    /// `factor` times as much.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        Self {
            rps: factor * self.rps,
            prefill_tps: factor * self.prefill_tps,
            decode_tps: factor * self.decode_tps,
        }
    }
}

/// Token demand against supply. Neither supply is a constant of the fleet: both are for this mix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Supply {
    /// Mean demand over the horizon.
    pub required: MixRate,
    /// Expected demand in every window of `peak_window_s`, from the start on: the rates of the
    /// arrival processes at the mean lengths that were drawn.
    pub demand: Vec<MixRate>,
    /// Demand in the busiest of them: the one with most work.
    pub required_peak: MixRate,
    /// When that window starts, seconds.
    pub peak_from_s: f64,
    /// Length of a window, seconds.
    pub peak_window_s: f64,
    /// Measured in a run that never starves: above this rate work accumulates without bound. Of
    /// the mix of the whole horizon.
    pub sustainable: MixRate,
    /// The same of the mix in the busiest window, which is what `required_peak` is held against;
    /// equal to `sustainable` where classes keep their shares.
    pub sustainable_at_peak: MixRate,
    /// The kind of token that takes most of a saturated replica's time at the peak.
    pub binds: TokenKind,
    /// Standard error of `sustainable`, relative: its run ends at 1 %, or when its budget is spent.
    /// `null` where too little was seen to tell.
    pub sustainable_relative_error: Option<f64>,
    /// What was done in the horizon.
    pub completed: MixRate,
    /// Mean requests in a batch of one replica while saturated.
    pub saturated_batch: f64,
    /// What stops a saturated replica from taking one more: seats, KV memory or token budget.
    pub saturated_by: SaturatedBy,
    /// Share of a saturated replica's time that goes to prefill, by the marginal terms.
    pub prefill_time_share: f64,
    /// Only declared token rates are known: supply and debt, never a latency.
    pub simplified: bool,
}

impl Supply {
    /// Whether the mix in the busiest window is another than that of the whole horizon.
    pub fn is_another_mix_at_peak(&self) -> bool {
        self.sustainable_at_peak != self.sustainable
    }
}

/// Prompts or outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// Prompt tokens.
    Prefill,
    /// Output tokens.
    Decode,
}

/// What a saturated replica runs out of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SaturatedBy {
    /// `max_num_seqs`.
    Seats,
    /// KV blocks.
    KvMemory,
    /// `max_num_batched_tokens`.
    TokenBudget,
    /// Declared token rates.
    DeclaredRate,
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
    /// Required less sustainable while positive, at the peak: requests per second.
    pub growth_rps: f64,
    /// The same in output tokens per second.
    pub growth_decode_tps: f64,
    /// From the end of the horizon, with no further arrivals, until nothing is left.
    pub drain_s: f64,
    /// To work the most debt off while the mean demand goes on arriving: work ÷ (1 − required ÷
    /// sustainable); `null` where the mean demand is all that the fleet sustains, or more.
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
    /// What the fleet holds, tokens.
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
    /// Replicas serving.
    pub replicas: u32,
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
}

/// Counts on a log axis, and what never came.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Histogram {
    /// Bin edges in milliseconds, ascending, one more than counts.
    pub edges_ms: Vec<f64>,
    /// Requests in each bin.
    pub counts: Vec<u64>,
    /// Requests without a value.
    pub never: u64,
}

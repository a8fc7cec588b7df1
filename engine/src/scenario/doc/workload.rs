//! Who asks: traffic classes with arrivals, lengths, patience, quality and limits.

use serde::{Deserialize, Serialize};

use super::clients::{RetriesDoc, ThinkTimeDoc};
use super::defaults::{self, is_default};
use super::{ArrivalsDoc, HiddenTokensDoc, LengthsDoc, PairingDoc};
use crate::slo::Limit;

/// The offered load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a workload")]
pub struct WorkloadDoc {
    /// Seed of every random draw.
    #[serde(default = "defaults::seed", skip_serializing_if = "defaults::is_seed")]
    pub seed: u64,
    /// Requests due in `[0, horizon_s)` are offered, seconds.
    #[serde(default = "defaults::horizon_s", skip_serializing_if = "defaults::is_horizon_s")]
    pub horizon_s: f64,
    /// Requests due before this are simulated but not counted, seconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warmup_s: f64,
    /// Traffic classes, at least one.
    pub classes: Vec<ClassDoc>,
}

/// One kind of traffic and its contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a traffic class")]
pub struct ClassDoc {
    /// Unique name.
    pub name: String,
    /// Whether it is offered. A class that is not is checked all the same.
    #[serde(default = "defaults::on", skip_serializing_if = "defaults::is_on")]
    pub enabled: bool,
    /// Whose traffic it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// The pools that serve it; all of it the first one when absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub route: Vec<LegDoc>,
    /// When requests are due.
    pub arrivals: ArrivalsDoc,
    /// Prompt lengths, tokens.
    pub input_tokens: LengthsDoc,
    /// Output lengths the model would produce, tokens.
    pub output_tokens: LengthsDoc,
    /// How prompts and answers go together.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pairing: PairingDoc,
    /// Tokens that a reasoning model generates and does not show.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hidden_tokens: Option<HiddenTokensDoc>,
    /// What prompts begin with: a prefix cache keeps it from one to the next.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shared_prefix: Option<SharedPrefixDoc>,
    /// Each arrival begins a session of several turns; without, it is one request.
    #[serde(default, skip_serializing_if = "is_default")]
    pub session: Option<SessionDoc>,
    /// Output budget: generation stops here, tokens, hidden ones included.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_output_tokens: Option<u32>,
    /// Share of answers cut by the budget that pass, 0 to 1; absent, as of all others.
    #[serde(default, skip_serializing_if = "is_default")]
    pub truncated_pass_rate: Option<f64>,
    /// How long a user waits for the first token before giving up.
    #[serde(default, skip_serializing_if = "is_default")]
    pub patience: Option<PatienceDoc>,
    /// How long a user who has a first token waits for the next one before leaving.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stall_patience: Option<PatienceDoc>,
    /// From sending to the last token: what is not complete by then is cut off, seconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeout_s: Option<f64>,
    /// Trying again after an attempt that went wrong; without, a client never does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub retries: Option<RetriesDoc>,
    /// How urgent the class is: as in vLLM a lower number is more urgent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub priority: i32,
    /// Share of requests that the server fails after serving them, 0 to 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub error_rate: f64,
    /// What is known about the quality of answers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub quality: QualityDoc,
    /// Latency limits and the share that must be good.
    #[serde(default, skip_serializing_if = "is_default")]
    pub slo: SloDoc,
}

impl ClassDoc {
    /// A class with every other setting at its default.
    pub fn new(
        name: &str,
        arrivals: ArrivalsDoc,
        input_tokens: LengthsDoc,
        output_tokens: LengthsDoc,
    ) -> Self {
        Self {
            name: name.to_owned(),
            enabled: true,
            tenant: String::new(),
            route: Vec::new(),
            arrivals,
            input_tokens,
            output_tokens,
            pairing: PairingDoc::default(),
            hidden_tokens: None,
            shared_prefix: None,
            session: None,
            max_output_tokens: None,
            truncated_pass_rate: None,
            patience: None,
            stall_patience: None,
            timeout_s: None,
            retries: None,
            priority: 0,
            error_rate: 0.0,
            quality: QualityDoc::default(),
            slo: SloDoc::default(),
        }
    }
}

/// One pool of a route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a pool of a route")]
pub struct LegDoc {
    /// Name of the pool.
    pub pool: String,
    /// Share of the requests of the class that go there, above 0 and up to 1; they sum to 1.
    pub share: f64,
    /// What is known about answers of that pool, where it is not what is known of the class.
    #[serde(default, skip_serializing_if = "is_default")]
    pub quality: Option<QualityDoc>,
}

/// Prefixes that prompts begin with: system prompts, tool lists, documents. Each prompt of the class
/// begins with one of `count` prefixes of `tokens` tokens; `input_tokens` is the length of the whole
/// prompt, whose last token is always its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a shared prefix")]
pub struct SharedPrefixDoc {
    /// Tokens of each prefix.
    pub tokens: u32,
    /// How many there are.
    pub count: u32,
    /// The r-th most popular is asked for in proportion to r^(-zipf_exponent); 0: all alike.
    #[serde(default, skip_serializing_if = "is_default")]
    pub zipf_exponent: f64,
    /// Classes of one tenant that give the same name, `tokens` and `count` share these prefixes;
    /// without a name they are the class's own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

/// Several requests of one user: each turn after the first is sent a think time after the one
/// before completed. Its prompt is all that was said so far, hidden tokens left out, and new
/// tokens. A turn that is lost ends its session, and so does one that would be longer than
/// `max_model_len`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a session")]
pub struct SessionDoc {
    /// Turns of a session: a law of whole numbers, as of lengths.
    pub turns: LengthsDoc,
    /// From the end of a turn to the next one.
    pub think_time: ThinkTimeDoc,
    /// New tokens of each later turn; without, as many as a prompt of `input_tokens` has beside its
    /// shared prefix.
    #[serde(default, skip_serializing_if = "is_default")]
    pub new_tokens: Option<LengthsDoc>,
}

/// How long users wait for a token: the first one, or the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum PatienceDoc {
    /// Everybody waits as long.
    Fixed {
        /// Seconds.
        s: f64,
    },
    /// Lognormal by its median and 90th percentile.
    Lognormal {
        /// Median, seconds.
        median_s: f64,
        /// 90th percentile, seconds, above the median.
        p90_s: f64,
    },
}

/// What is known about answers. Where quality is not checked the result is *latency-only goodput*.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", deny_unknown_fields)]
pub enum QualityDoc {
    /// Nobody looked.
    #[default]
    #[serde(deserialize_with = "super::no_more_fields")]
    NotChecked,
    /// A rate somebody assumed.
    Assumed {
        /// Share of answers that pass, 0 to 1.
        pass_rate: f64,
        /// Who assumed it.
        by: String,
    },
    /// A rate from an evaluation.
    Verified {
        /// Share of answers that passed, 0 to 1.
        pass_rate: f64,
        /// The evaluation and its threshold.
        source: String,
    },
}

/// Inclusive limits; an absent one always passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "latency limits")]
pub struct SloDoc {
    /// From due to first token, milliseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ttft_ms: Option<f64>,
    /// From due to the first token that is shown, the first after the hidden ones of a reasoning
    /// model, milliseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ttfvt_ms: Option<f64>,
    /// Average time per output token after the first, milliseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tpot_ms: Option<f64>,
    /// Longest gap between two stream events, milliseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub longest_stall_ms: Option<f64>,
    /// A percentile of each request's own gaps between stream events.
    #[serde(default, skip_serializing_if = "is_default")]
    pub itl_percentile: Option<ItlPercentileDoc>,
    /// From due to completion, milliseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub e2e_ms: Option<f64>,
    /// Share of offered requests that must be good, 0 to 1.
    #[serde(
        default = "defaults::attainment_target",
        skip_serializing_if = "defaults::is_attainment_target"
    )]
    pub attainment_target: f64,
    /// Percentiles over offered requests that must be within a limit, beside the attainment.
    #[serde(default, skip_serializing_if = "is_default")]
    pub percentile_targets: Vec<PercentileTargetDoc>,
}

/// A percentile of the gaps between the stream events of one request: each request is held to it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a percentile of a request's own gaps")]
pub struct ItlPercentileDoc {
    /// Which: 50, 75, 90, 95, 99 or 99.9.
    pub percentile: f64,
    /// Its inclusive limit, milliseconds.
    pub ms: f64,
}

/// A percentile over the offered requests of a class: a request that never got a first token
/// ranks last, so that turning the slow part away meets no target.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a percentile target")]
pub struct PercentileTargetDoc {
    /// Of what: `ttft`, `ttfvt`, `tpot`, `stall` or `e2e`.
    pub of: Limit,
    /// Which, above 0 and up to 100, e.g. 95.
    pub percentile: f64,
    /// Its inclusive limit, milliseconds.
    pub limit_ms: f64,
}

impl Default for SloDoc {
    fn default() -> Self {
        Self {
            ttft_ms: None,
            ttfvt_ms: None,
            tpot_ms: None,
            longest_stall_ms: None,
            itl_percentile: None,
            e2e_ms: None,
            attainment_target: defaults::attainment_target(),
            percentile_targets: Vec::new(),
        }
    }
}

//! What to measure next: command lines of four benchmark tools that ask one replica for the
//! scenario's own mix at the loads that pin a step law down, and what each of them cannot ask for.
//!
//! Three concurrencies say most: one request alone (the floor of a step), the batch of the present
//! load, and as many as there are seats (KV memory, preemption). One open load at the present rate
//! then shows waiting, which concurrency hides.

mod aiperf;
mod guidellm;
mod inference_perf;
mod vllm;

use serde::{Deserialize, Serialize};

use crate::catalog;
use crate::estimate::estimate;
use crate::problem::Problem;
use crate::scenario::Scenario;
use crate::slo::{Contract, Limit};
use crate::stats;
use crate::units::Picos;
use crate::workload::{Arrivals, Hidden, OfferedRequest, SharedPrefix, TrafficClass};

/// Requests of a run at a concurrency: so many times as many, so that ramp and drain are small.
const GENERATIONS: u64 = 10;
/// And at least so many, for a p90.
const FEWEST: u64 = 100;
/// Length of a run at a rate, seconds.
const RATE_RUN_S: f64 = 300.0;

/// What to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rerun {
    /// The mix that every tool is asked for.
    pub mix: MixToMeasure,
    /// Loads on one replica.
    pub loads: Vec<LoadToMeasure>,
    /// One entry per tool.
    pub tools: Vec<Tool>,
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Whose options these are: name and version of the documentation that was read.
    pub documented: String,
    /// Command lines, in the order of the loads; a configuration file where it takes one.
    pub commands: Vec<String>,
    /// What it cannot be asked for of this scenario.
    pub cannot: Vec<String>,
}

/// Lengths over all requests of the scenario, whatever their class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MixToMeasure {
    /// Model by its name on Hugging Face, where it is known.
    pub model: String,
    /// Prompt lengths, tokens.
    pub input_tokens: Spread,
    /// Answer lengths, tokens.
    pub output_tokens: Spread,
    /// What every prompt begins with, where there is one class.
    pub shared_prefix: Option<PrefixToMeasure>,
}

/// Prefixes that prompts begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixToMeasure {
    /// Tokens of each.
    pub tokens: u32,
    /// How many there are.
    pub count: u32,
}

/// A spread of lengths, tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub std_dev: f64,
    /// Shortest drawn.
    pub min: u32,
    /// Longest drawn.
    pub max: u32,
}

/// A load on one replica.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LoadToMeasure {
    /// So many in flight.
    Concurrency {
        /// Requests in flight.
        requests: u64,
        /// Requests of the run.
        num_prompts: u64,
    },
    /// An open load.
    Rate {
        /// Requests/s.
        rps: f64,
        /// Shape of the gamma law of the gaps, 1 for Poisson; absent: evenly spaced.
        burstiness: Option<f64>,
        /// Requests of the run.
        num_prompts: u64,
    },
}

/// The command lines for a scenario of one pool.
///
/// # Errors
/// Nothing is asked, or the fleet has several pools.
pub fn rerun(scenario: &Scenario) -> Result<Rerun, Problem> {
    if scenario.has_several_pools() {
        let message = "a benchmark measures one pool, and this fleet has several";
        let hint = "give a scenario of one pool and what is routed there";
        return Err(Problem::error("fleet.pools", message, hint));
    }
    let requests = scenario.mix()?;
    let nothing = || {
        let message = "no request is due before the horizon in this draw";
        Problem::error("workload.horizon_s", message, "lengthen the horizon or raise the rates")
    };
    let mix = MixToMeasure {
        model: model_name(scenario),
        input_tokens: Spread::of(&requests, |r| r.input_tokens).ok_or_else(nothing)?,
        output_tokens: Spread::of(&requests, |r| r.output_tokens).ok_or_else(nothing)?,
        shared_prefix: shared_prefix(&scenario.classes),
    };
    let loads = loads(scenario, &requests);
    let asked = Asked { scenario, mix: &mix, loads: &loads };
    let tools = vec![
        vllm::tool(&asked),
        guidellm::tool(&asked),
        aiperf::tool(&asked),
        inference_perf::tool(&asked),
    ];
    Ok(Rerun { mix, loads, tools })
}

/// What a tool is asked for.
struct Asked<'a> {
    scenario: &'a Scenario,
    mix: &'a MixToMeasure,
    loads: &'a [LoadToMeasure],
}

impl MixToMeasure {
    /// Prompt lengths beside what all begin with: every one of these tools puts a prefix before a
    /// prompt and does not count it in.
    fn own_input(&self) -> Spread {
        let shared = self.shared_prefix.map_or(0, |prefix| prefix.tokens);
        let Spread { mean, std_dev, min, max } = self.input_tokens;
        let less = |tokens: u32| tokens.saturating_sub(shared).max(1);
        Spread {
            mean: (mean - f64::from(shared)).max(1.0),
            std_dev,
            min: less(min),
            max: less(max),
        }
    }
}

/// By its name on Hugging Face; a model by numbers, which no catalogue knows, by its own.
fn model_name(scenario: &Scenario) -> String {
    let name = &scenario.pool.model.name;
    catalog::model(name).map_or(name, |entry| &entry.hf_id).clone()
}

/// Several classes differ, and no tool sends several prefixes of different lengths.
fn shared_prefix(classes: &[TrafficClass]) -> Option<PrefixToMeasure> {
    let [class] = classes else { return None };
    let prefix: &SharedPrefix = class.shared_prefix.as_ref()?;
    Some(PrefixToMeasure { tokens: prefix.tokens(), count: prefix.count() })
}

impl Spread {
    fn of(requests: &[OfferedRequest], length: fn(&OfferedRequest) -> u32) -> Option<Self> {
        let lengths: Vec<f64> = requests.iter().map(|request| f64::from(length(request))).collect();
        let mean = stats::mean(&lengths)?;
        let squares: Vec<f64> =
            lengths.iter().map(|tokens| (tokens - mean) * (tokens - mean)).collect();
        Some(Self {
            mean,
            std_dev: stats::mean(&squares)?.sqrt(),
            min: requests.iter().map(length).min()?,
            max: requests.iter().map(length).max()?,
        })
    }

    /// Whether all are as long.
    fn is_fixed(&self) -> bool {
        self.min == self.max
    }
}

fn loads(scenario: &Scenario, requests: &[OfferedRequest]) -> Vec<LoadToMeasure> {
    let seats = u64::from(scenario.pool.scheduler.max_num_seqs);
    let supply = estimate(scenario).supply;
    let batch = supply.as_ref().and_then(|supply| supply.mean_batch).map(whole);
    let mut concurrencies: Vec<u64> = [Some(1), batch, Some(seats)].into_iter().flatten().collect();
    concurrencies.retain(|requests| (1..=seats).contains(requests));
    concurrencies.sort_unstable();
    concurrencies.dedup();
    let mut loads: Vec<LoadToMeasure> = concurrencies
        .into_iter()
        .map(|requests| {
            let num_prompts = (GENERATIONS * requests).max(FEWEST);
            LoadToMeasure::Concurrency { requests, num_prompts }
        })
        .collect();
    let open = requests.len() as f64 / scenario.horizon.as_secs();
    let rps = open / f64::from(scenario.pool.replicas);
    if !scenario.has_closed_loop() && rps > 0.0 {
        let num_prompts = whole(rps * RATE_RUN_S).max(FEWEST);
        loads.push(LoadToMeasure::Rate { rps, burstiness: burstiness(scenario), num_prompts });
    }
    loads
}

/// Of the class with the most requests: a tool has one.
fn burstiness(scenario: &Scenario) -> Option<f64> {
    let expected = |index: usize| scenario.classes[index].expected(Picos::ZERO, scenario.horizon);
    let classes = 0..scenario.classes.len();
    let most = classes.max_by(|a, b| expected(*a).total_cmp(&expected(*b)))?;
    match &scenario.classes[most].arrivals {
        Arrivals::Even(_) => None,
        Arrivals::Gamma(_, gaps) => Some(gaps.shape()),
        _ => Some(1.0),
    }
}

impl Asked<'_> {
    /// The limits that every class has, at their loosest, each with its kind, milliseconds: what a
    /// tool with one set of limits can count by.
    fn limits(&self) -> Vec<(Limit, f64)> {
        let contracts = &self.scenario.contracts;
        let loosest = |limit: Limit| {
            let of = |contract: &Contract| contract.limit(limit).map(Picos::as_millis);
            let all: Option<Vec<f64>> = contracts.iter().map(of).collect();
            Some((limit, all?.into_iter().reduce(f64::max)?))
        };
        Limit::ALL.into_iter().filter_map(loosest).collect()
    }

    /// Whether some limit of some class is none that a tool counts by.
    fn counts_otherwise(&self) -> bool {
        let contracts = &self.scenario.contracts;
        let counted = [Limit::Ttft, Limit::Tpot, Limit::E2e];
        let alike = |limit: Limit| {
            contracts.iter().all(|contract| contract.limit(limit) == contracts[0].limit(limit))
        };
        let other = |limit: &Limit| !counted.contains(limit);
        contracts.iter().any(|contract| {
            let has = |limit: Limit| contract.limit(limit).is_some();
            !contract.percentile_targets.is_empty() || Limit::ALL.into_iter().filter(other).any(has)
        }) || !counted.into_iter().all(alike)
    }

    /// What no tool can be asked for, beside what `can` says.
    fn cannot(&self, can: &Can) -> Vec<String> {
        let classes = &self.scenario.classes;
        let any = |yes: bool, words: &str| yes.then(|| words.to_owned());
        let spread = !(self.mix.input_tokens.is_fixed() && self.mix.output_tokens.is_fixed());
        let shaped = |arrivals: &Arrivals| match arrivals {
            Arrivals::Poisson(profile) | Arrivals::Even(profile) | Arrivals::Gamma(profile, _) => {
                !profile.is_constant()
            }
            Arrivals::Bursts(_) | Arrivals::Trace(_) => true,
            Arrivals::ClosedLoop(_) => false,
        };
        [
            any(spread, can.lengths),
            any(classes.len() > 1, "classes: one law of lengths stands for all of them"),
            any(
                classes.iter().any(|class| shaped(&class.arrivals)),
                "rates that change over time: the run is at the mean rate",
            ),
            any(
                !can.gamma && classes.iter().any(|c| matches!(c.arrivals, Arrivals::Gamma(..))),
                "gaps that vary other than Poisson's: the run is Poisson",
            ),
            any(self.scenario.has_closed_loop(), "think times: the run keeps as many in flight"),
            any(
                classes.iter().any(|class| class.shared_prefix.is_some())
                    && !(can.prefixes && self.mix.shared_prefix.is_some()),
                "shared prefixes: every prompt is its own",
            ),
            any(
                can.one_prefix && self.mix.shared_prefix.is_some_and(|prefix| prefix.count > 1),
                "several shared prefixes: all prompts begin with one",
            ),
            any(self.scenario.has_sessions(), "sessions: each turn is sent as a prompt of its own"),
            any(
                classes.iter().any(|class| class.hidden != Hidden::None),
                "hidden tokens: the time to the first visible token is not measured",
            ),
            any(
                classes
                    .iter()
                    .any(|class| class.patience.is_some() || class.clients.retries.is_some()),
                "users who leave, and clients that try again",
            ),
            any(
                classes.iter().any(|class| class.pass_rate(0.0).is_some()),
                "whether an answer is acceptable",
            ),
            any(
                self.counts_otherwise(),
                "limits on the first visible token, on stalls, on percentiles, or of a class alone: \
                 judge its records by them (`goodput review --slo`)",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// What a tool can be asked for.
struct Can {
    /// How far it draws lengths like the scenario's, in words.
    lengths: &'static str,
    /// Prompts that begin alike.
    prefixes: bool,
    /// And all of them with the same.
    one_prefix: bool,
    /// Gaps of a gamma law.
    gamma: bool,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
fn whole(x: f64) -> u64 {
    x.round() as u64
}

/// A number without needless digits.
fn number(x: f64) -> String {
    let text = format!("{x:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A command over several lines.
fn command(words: &[String]) -> String {
    words.join(" \\\n    ")
}

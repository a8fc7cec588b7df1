//! What can be typed.

mod files;

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use goodput_engine::accounts::accounting::Dimension;

pub use files::*;

/// Plan capacity for LLM serving: required against sustainable supply, replicas, queue debt,
/// SLO goodput and cost per good request. The same engine as the page, the same numbers for the
/// same link.
#[derive(Debug, Parser)]
#[command(
    name = "goodput",
    version,
    arg_required_else_help = true,
    after_help = AFTER_HELP
)]
pub struct Cli {
    /// Print one JSON value (the default when standard output is no terminal).
    #[arg(long, global = true, conflicts_with = "text")]
    pub json: bool,
    /// Print text for people (the default on a terminal).
    #[arg(long, global = true)]
    pub text: bool,
    /// Exit with 3 when a finding or warning is at least this severe.
    #[arg(long, global = true, value_name = "SEVERITY")]
    pub fail_on: Option<FailOn>,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

const AFTER_HELP: &str = "\
Examples:
  goodput catalog presets | jq -r '.[0].link'       a link to start from
  goodput estimate scenario.json                    memory, supply, what binds; at once
  goodput estimate s.json --capacity-over output    tokens/s against output length
  goodput simulate '#s=1.…' --requests out.csv      every request, one line each
  goodput simulate s.json --by prompt,output        outcomes as a heat map
  goodput plan scenario.json                        how many replicas hold the contract
  goodput plan s.json --confidence 0.99 --serve     more surely, and as `vllm serve` commands
  goodput plan s.json --inverse --over-time         what this fleet could do; sizes over time
  goodput diff before.json after.json               what an edit does, request by request
  goodput sweep grid.json --out results.jsonl       a grid of scenarios, on all cores, resumable
  goodput review bench.json trace.csv               what the files say and do not say
  goodput review run.json --slo ttft=1s,tpot=50ms   who of its requests was good, and why not
  goodput calibrate bench.json --scenario s.json    fit the step time to a benchmark
  goodput replay run.jsonl --scenario s.json --fit  predicted beside measured, request by request
  goodput lengths described.json                    what of a catalogue's lengths can be
  goodput link encode scenario.json                 a link for a colleague
  goodput bench                                     requests simulated per second

A SCENARIO is a JSON file, - for standard input, or a share link or its fragment.

Exit codes:
  0  done
  1  the input has problems; standard output holds {\"problems\": [{path, severity, message, hint}]}
  2  wrong usage, or a file cannot be written
  3  done, but a finding or warning reaches --fail-on";

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// The instant answer: memory, supply, capacity and fluid queue debt by arithmetic alone.
    Estimate(EstimateArgs),
    /// The full report: outcomes, percentiles, goodput, debt, KV memory and cost.
    Simulate(SimulateArgs),
    /// The smallest fleet that holds the contract, the distance to the cliff, what binds, and what
    /// else would help at what price.
    Plan(PlanArgs),
    /// Two scenarios side by side: inputs that differ, results, and what became of each request.
    Diff(DiffArgs),
    /// What people ask of every plan, each simulated: outputs double, a fifth more requests, one replica
    /// less, a cold start at the peak, a cold prefix cache, prompts with twice the p99.
    WhatIf(ScenarioArg),
    /// Many scenarios, on all cores: one line of JSON each, in order.
    Sweep(SweepArgs),
    /// What benchmark and trace files say, and what they do not.
    Review(ReviewArgs),
    /// Fit one scalar on the step time to benchmark points, each under its own conditions.
    Calibrate(CalibrateArgs),
    /// Simulate the very requests of a per-request log, and hold what comes out beside it.
    Replay(ReplayArgs),
    /// From the rate a benchmark reports to the rate a plan may count on, one condition at a time,
    /// each simulated.
    Bridge(BridgeArgs),
    /// Command lines of vLLM, GuideLLM, AIPerf and inference-perf that measure this scenario where a
    /// step law is pinned down, and what each of them cannot ask for.
    Rerun(ScenarioArg),
    /// Lengths as a workload catalogue describes them, as a scenario states them: which of their
    /// numbers are honoured, and what is drawn.
    Lengths(LengthsArgs),
    /// Share links.
    Link {
        /// Which way.
        #[command(subcommand)]
        direction: LinkVerb,
    },
    /// What is known, as a JSON array.
    Catalog {
        /// Of what.
        #[arg(value_enum)]
        list: CatalogList,
    },
    /// How fast the simulator is on this machine, beside its stepwise reference.
    Bench(BenchArgs),
}

/// `lengths`.
#[derive(Debug, Args)]
pub struct LengthsArgs {
    /// The description as JSON, a file with it, or - for standard input: `type`, `min`, `max`,
    /// `mean`, `std_dev`, as inference-perf writes them.
    #[arg(value_name = "DESCRIPTION")]
    pub described: String,
}

/// What to measure, and how often.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Only workloads whose name contains this.
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Runs of each, of which the fastest counts.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub repeats: u32,
    /// Put the ratio to the same workloads in WebAssembly beside them, as `cargo xtask bench` wrote
    /// them.
    #[arg(long, value_name = "FILE")]
    pub beside: Option<String>,
}

/// One scenario.
#[derive(Debug, Args)]
pub struct ScenarioArg {
    /// A JSON file, - for standard input, or a share link or its fragment.
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
}

/// `plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArg,
    /// The share of windows (runs from warm-up to horizon) in which the fleet has to hold, 0.5 to
    /// 0.99, instead of the scenario's `targets.confidence`, which is 0.95 where nobody says.
    #[arg(long, value_name = "SHARE")]
    pub confidence: Option<f64>,
    /// Also what the fleet of the scenario could do: the largest rate, the longest mean output, the
    /// most bunched arrivals, the tightest TTFT and TPOT, the most users, months of headroom.
    #[arg(long)]
    pub inverse: bool,
    /// Also what each part of the horizon takes, and what a fixed, a scheduled and an autoscaled
    /// fleet make of it: debt, goodput and cost of each, simulated.
    #[arg(long)]
    pub over_time: bool,
    /// Also the size by these benchmark results of one replica alone, without a simulation: the load
    /// that it last took within the contract of the first class. May be given several times.
    #[arg(long, value_name = "FILE")]
    pub measured: Vec<PathBuf>,
    /// Also the plan as `vllm serve` commands, and what no flag of theirs sets.
    #[arg(long)]
    pub serve: bool,
    /// Growth of the load, per cent a month, for which the months of headroom are counted.
    #[arg(long, value_name = "PERCENT", default_value_t = 10.0, requires = "inverse", value_parser = growth)]
    pub growth: f64,
    /// Simulate a fleet in so many windows at most, to choose it and again to confirm it: fewer
    /// answer sooner and less surely.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub windows: Option<u32>,
}

fn growth(text: &str) -> Result<f64, String> {
    let percent: f64 = text.parse().map_err(|why| format!("{text:?}: {why}"))?;
    if (0.0..=1_000.0).contains(&percent) {
        Ok(percent)
    } else {
        Err("give per cent a month, 0 to 1000".to_owned())
    }
}

/// `estimate`.
#[derive(Debug, Args)]
pub struct EstimateArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArg,
    /// Also what the fleet sustains and delivers as outputs, prompts or batches grow: capacity is
    /// not a constant. May be given several times.
    #[arg(long, value_name = "AXIS")]
    pub capacity_over: Vec<Axis>,
}

/// What capacity is drawn over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Axis {
    /// Output length.
    Output,
    /// Prompt length.
    Prompt,
    /// Sequences decoding together on one replica.
    Batch,
}

/// `simulate`.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArg,
    /// Seed instead of the scenario's own.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Runs, with consecutive seeds; the report is of the first, with a summary over all.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub replications: u32,
    /// Write one line per request of the measurement window: moments in seconds to the picosecond,
    /// an empty cell for what never came (it ranks as infinite in percentiles). Not `-`: standard
    /// output holds the report.
    #[arg(long, value_name = "FILE.csv")]
    pub requests: Option<PathBuf>,
    /// Write the fleet over time. Not `-`, as above.
    #[arg(long, value_name = "FILE.csv")]
    pub series: Option<PathBuf>,
    /// Break outcomes out by these, crossed: `--by prompt,output` is a heat map. May be given
    /// several times. Each dimension alone is always in the report.
    #[arg(long, value_name = "DIMENSION[,DIMENSION]")]
    pub by: Vec<Crossing>,
    /// Also simulate without each setting that cost requests (the door, patience, time-outs, errors,
    /// `max_model_len`),
    /// and count whom that saves and whom it loses.
    #[arg(long)]
    pub lift_settings: bool,
}

/// Dimensions to cross.
#[derive(Debug, Clone)]
pub struct Crossing(pub Vec<Dimension>);

impl FromStr for Crossing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let dimension = |name: &str| {
            let known = Dimension::ALL.into_iter().find(|known| known.name() == name.trim());
            known.ok_or_else(|| {
                let names = Dimension::ALL.map(Dimension::name).join(", ");
                format!("{name:?} is none of {names}")
            })
        };
        let dimensions = text.split(',').map(dimension).collect::<Result<Vec<_>, _>>()?;
        let twice = (1..dimensions.len()).any(|at| dimensions[..at].contains(&dimensions[at]));
        if twice || dimensions.len() > MOST_CROSSED {
            return Err(format!("give up to {MOST_CROSSED} dimensions, each once"));
        }
        Ok(Self(dimensions))
    }
}

/// More would be cells of a request each.
const MOST_CROSSED: usize = 3;

/// `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The first scenario: a JSON file, - for standard input, or a share link or its fragment.
    #[arg(value_name = "A")]
    pub a: String,
    /// The second, likewise.
    #[arg(value_name = "B")]
    pub b: String,
    /// Runs of each, with consecutive seeds: differences are taken seed by seed.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub replications: u32,
}

/// `sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// A grid, {"scenario": …, "grid": {"fleet.pools[0].replicas": [1, 2, 4], …}}, or scenarios or
    /// links, one a line; - for standard input.
    #[arg(value_name = "GRID")]
    pub grid: String,
    /// Only the scenarios of this shard: I/N takes numbers I, I + N, I + 2N … from zero. Lines keep
    /// their numbers, so that shards are merged by sorting on them.
    #[arg(long, value_name = "I/N", default_value = "0/1")]
    pub shard: Shard,
    /// Threads; all cores without. The output is the same for any number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Write to this file instead of standard output. If it holds lines of this sweep already, they
    /// are kept and the sweep goes on behind them.
    #[arg(long, value_name = "FILE.jsonl")]
    pub out: Option<PathBuf>,
    /// Full reports instead of headline numbers: some hundred kilobytes a line.
    #[arg(long)]
    pub full: bool,
}

/// Shard `index` of `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From zero, below `count`.
    pub index: usize,
    /// At least one.
    pub count: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(index, count)| {
            Some(Self { index: index.trim().parse().ok()?, count: count.trim().parse().ok()? })
        });
        numbers.filter(|shard| shard.index < shard.count).ok_or_else(|| {
            format!("{text:?} is no shard: give I/N with I from 0 to N − 1, e.g. 0/8")
        })
    }
}

/// Share links.
#[derive(Debug, Subcommand)]
pub enum LinkVerb {
    /// Document to link.
    Encode(ScenarioArg),
    /// Link to document.
    Decode {
        /// A share link or its fragment, or - for standard input.
        link: String,
    },
}

/// Lists of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CatalogList {
    /// GPUs with their datasheet numbers.
    Gpus,
    /// Models with their KV bytes per token.
    Models,
    /// Step-time coefficients with their provenance.
    Calibrations,
    /// The public price sheet: dated quotes per GPU-hour, by plan and region.
    Prices,
    /// Worked examples with their links.
    Presets,
}

/// Severities, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum FailOn {
    /// Worth knowing.
    Note,
    /// May mislead.
    Warning,
    /// No answer until mended.
    Error,
}

//! Arguments of the verbs that read benchmark files.

use std::path::PathBuf;

use clap::Args;
use goodput_engine::ingest::{Decimals, TableReading};
use goodput_engine::review::Decision;

use super::Crossing;
use crate::cli::output::Failure;

/// `review`.
#[derive(Debug, Args)]
pub struct ReviewArgs {
    /// Benchmark results or request traces, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What a table does not say itself.
    #[command(flatten)]
    pub tables: TableArgs,
    /// Judge every request of the files by these inclusive limits, each with its unit:
    /// `ttft=1s,tpot=50ms,stall=400ms,itl_p95=80ms,e2e=20s`.
    #[arg(long, value_name = "LIMITS")]
    pub slo: Option<String>,
    /// Break outcomes out by these, crossed, e.g. prompt,output. May be given several times.
    #[arg(long, value_name = "DIMENSION[,DIMENSION]", requires = "slo")]
    pub by: Vec<Crossing>,
    /// Write the review as one page of HTML that opens anywhere. Not `-`: standard output holds the
    /// report.
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    /// Write the findings as a table.
    #[arg(long, value_name = "FILE.csv")]
    pub findings: Option<PathBuf>,
    /// Who signs it.
    #[arg(long, value_name = "NAME")]
    pub reviewer: Option<String>,
    /// When, as it is to be printed.
    #[arg(long, value_name = "DAY", requires = "reviewer")]
    pub date: Option<String>,
    /// What the reviewer decided: `open`, `accepted`, `accepted_in_part` or `rejected`.
    #[arg(long, value_name = "DECISION", requires = "reviewer", value_parser = decision)]
    pub decision: Option<Decision>,
    /// In the reviewer's words.
    #[arg(long, value_name = "TEXT", requires = "reviewer")]
    pub note: Option<String>,
}

/// How tables of benchmark rows are to be read.
#[derive(Debug, Args)]
pub struct TableArgs {
    /// Read the column HEADER of a table as NAME, which is one of the template's or a tool's, such as
    /// `ttft_p50_ms`, `output_tps`, `concurrency`; its unit may stand in either. A column without a
    /// name is `column 3`. May be given several times.
    #[arg(long = "column", value_name = "NAME=HEADER")]
    pub columns: Vec<String>,
    /// What parts decimals in a table: `point` or `comma`. The other mark parts thousands.
    #[arg(long, value_name = "MARK", value_parser = decimals)]
    pub decimals: Option<Decimals>,
}

impl TableArgs {
    /// What is said about tables, checked.
    pub fn reading(&self) -> Result<TableReading, Failure> {
        let mut reading = TableReading::default();
        reading.decimals = self.decimals;
        for column in &self.columns {
            let wrong = |why: &str| Failure::Usage(format!("--column {column}: {why}"));
            let (name, header) = column
                .split_once('=')
                .ok_or_else(|| wrong("write a name, = and the column's header"))?;
            reading.rename(name, header).map_err(|why| wrong(&why))?;
        }
        Ok(reading)
    }
}

fn decimals(text: &str) -> Result<Decimals, String> {
    match text {
        "point" => Ok(Decimals::Point),
        "comma" => Ok(Decimals::Comma),
        _ => Err("decimals are parted by a point or a comma".to_owned()),
    }
}

fn decision(text: &str) -> Result<Decision, String> {
    let known = Decision::ALL.into_iter().find(|decision| decision.name() == text);
    let names = || Decision::ALL.map(Decision::name).join(", ");
    known.ok_or_else(|| format!("a decision is one of {}", names()))
}

/// `calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateArgs {
    /// Benchmark results, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What a table does not say itself.
    #[command(flatten)]
    pub tables: TableArgs,
    /// The scenario whose pool the benchmark ran on: model, GPU, parallelism, scheduler.
    #[arg(long)]
    pub scenario: Option<String>,
    /// Fit the coefficients of the step law, as far as the points determine them, instead of one
    /// factor: intervals, errors on points left out, range of trust, what to measure next.
    #[arg(long)]
    pub law: bool,
    /// Write the scenario with the fitted law in its pool, for `simulate`, `plan` and `link`. Not `-`:
    /// standard output holds the report.
    #[arg(long, value_name = "SCENARIO.json", requires_all = ["law", "scenario"])]
    pub into: Option<PathBuf>,
    /// GPU it ran on (catalogue id), where neither the file nor a scenario says so.
    #[arg(long)]
    pub gpu: Option<String>,
    /// Model it served (catalogue id), where neither the file nor a scenario says so.
    #[arg(long)]
    pub model: Option<String>,
    /// Tensor-parallel size, where neither the file nor a scenario says so.
    #[arg(long)]
    pub tensor_parallel: Option<u32>,
}

/// `replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// A per-request log: when each request was sent, its tokens, TTFT and E2E; - for standard
    /// input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The scenario whose pool the run was served by.
    #[arg(long)]
    pub scenario: String,
    /// Fit the step law to the requests with even numbers first, and compare the others.
    #[arg(long)]
    pub fit: bool,
    /// Limits by which requests are good, each with its unit: ttft=1s,tpot=50ms,e2e=20s. Without,
    /// those of the scenario, if it has one class.
    #[arg(long, value_name = "LIMITS")]
    pub slo: Option<String>,
    /// Write one line per request, predicted beside measured. Not `-`: standard output holds the
    /// report.
    #[arg(long, value_name = "FILE.csv")]
    pub requests: Option<PathBuf>,
}

/// `bridge`.
#[derive(Debug, Args)]
pub struct BridgeArgs {
    /// A benchmark result, as `review` reads it; - for standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The scenario of production, whose pool the benchmark measured.
    #[arg(long)]
    pub scenario: String,
    /// Begin at this run of the file, by the row that `review` prints; without, at the one with the
    /// highest output rate.
    #[arg(long)]
    pub row: Option<u64>,
}

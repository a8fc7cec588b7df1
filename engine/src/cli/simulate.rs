//! `goodput simulate`.

use goodput_engine::accounts::accounting::Accounting;
use goodput_engine::accounts::report::SimReport;
use goodput_engine::accounts::{Simulated, Unanswerable, answer, cross};
use goodput_engine::compare::{SettingLifted, lift_settings};
use goodput_engine::problem::Problem;
use goodput_engine::scenario::{Pool, Scenario};
use goodput_engine::stats;
use serde::Serialize;

use super::args::{Crossing, SimulateArgs};
use super::csv::{RequestTable, check_table, write_file, write_series};
use super::output::{Answer, Failure, warn};
use super::{accounting, estimate, input, text};

/// The report of the first run, and a summary over all where there are several.
#[derive(Debug, Serialize)]
struct Output<'a> {
    #[serde(flatten)]
    report: &'a SimReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    replications: Option<Replications>,
    #[serde(skip_serializing_if = "Option::is_none")]
    settings_lifted: Option<Vec<SettingLifted>>,
}

/// Runs with consecutive seeds.
#[derive(Debug, Serialize)]
struct Replications {
    runs: usize,
    first_seed: u64,
    /// Runs in which every class met its target.
    contract_holds_in: usize,
    attainment: Spread,
    good_rps: Spread,
    ttft_p95_ms: Option<Spread>,
    tpot_p95_ms: Option<Spread>,
    cost_per_good_request: Option<Spread>,
}

/// A number over runs. Runs in which it never comes are not in it: see `runs`.
#[derive(Debug, Serialize)]
struct Spread {
    runs: usize,
    mean: f64,
    min: f64,
    max: f64,
    /// Of the mean; 0 of one run.
    standard_error: f64,
}

pub fn run(args: &SimulateArgs) -> Result<Answer, Failure> {
    check_tables(args)?;
    let checked = input::scenario(&args.scenario.scenario)?;
    let mut scenario = checked.scenario.clone();
    scenario.seed = args.seed.unwrap_or(scenario.seed);
    let mut first = match answer(&scenario) {
        Ok(simulated) => simulated,
        Err(why @ (Unanswerable::DoesNotFit { .. } | Unanswerable::DeclaredRatesOnly { .. })) => {
            return instead(args, &scenario, &why, checked.severities());
        }
        Err(why) => return Err(why.problem().into()),
    };
    if let Some(path) = &args.requests {
        write_file(path, |out| requests(&scenario, &first).write(out))?;
    }
    if let Some(path) = &args.series {
        write_file(path, |out| write_series(&first.report.series, out))?;
    }
    for Crossing(by) in &args.by {
        let run = (first.requests.as_slice(), &first.run);
        let crossed = cross(&scenario, run, by).map_err(|why| why.problem())?;
        first.report.accounting.crossed.push(crossed);
    }
    let replications = replications(&scenario, &first.report, args.replications)?;
    let mut text = text::simulation(&first.report);
    text.push_str(&accounting::in_words(&first.report.accounting));
    let mut settings_lifted = None;
    if args.lift_settings {
        let run = (first.requests.as_slice(), first.run.stamps.as_slice());
        let lifted = lift_settings(&scenario, run).map_err(|why| why.problem())?;
        text.push_str(&accounting::lifted(&lifted));
        settings_lifted = Some(lifted);
    }
    let output = Output { report: &first.report, replications, settings_lifted };
    let red = first.report.expectations.iter().any(|expected| !expected.met);
    Ok(Answer::new(&output, text)?.with_findings(checked.severities()).red(red))
}

/// What there is to say when there is nothing to simulate: the estimate. It is an answer, so no
/// file that was asked for is a reason to fail; nothing is written, and standard error says why.
fn instead(
    args: &SimulateArgs,
    scenario: &Scenario,
    why: &Unanswerable,
    severities: Vec<goodput_engine::problem::Severity>,
) -> Result<Answer, Failure> {
    let problem = why.problem();
    let note = format!("{why}: this is the estimate");
    warn(&[Problem::warning(problem.path, note, problem.hint)]);
    for path in args.requests.iter().chain(&args.series) {
        let message = format!("not written, since there is no simulation to write of: {why}");
        warn(&[Problem::warning(
            path.display().to_string(),
            message,
            "a file of an earlier run that has this name is as it was",
        )]);
    }
    Ok(estimate::of(scenario)?.with_findings(severities))
}

/// Where the tables may go.
fn check_tables(args: &SimulateArgs) -> Result<(), Failure> {
    args.requests.iter().chain(&args.series).try_for_each(|path| check_table(path))?;
    if args.requests.is_some() && args.requests == args.series {
        return Err(Failure::Usage(
            "--requests and --series name the same file: each is a table of its own".to_owned(),
        ));
    }
    Ok(())
}

fn requests<'a>(scenario: &'a Scenario, simulated: &'a Simulated) -> RequestTable<'a> {
    let usd_per_replica_s = |pool: &Pool| {
        let usd_per_gpu_h = pool.price.as_ref()?.usd_per_gpu_hour;
        Some(usd_per_gpu_h * f64::from(pool.gpus_per_replica) / 3600.0)
    };
    RequestTable {
        requests: &simulated.requests,
        stamps: &simulated.run.stamps,
        class_names: scenario.classes.iter().map(|class| class.name.as_str()).collect(),
        contracts: &scenario.contracts,
        warmup: scenario.warmup,
        usd_per_replica_s: scenario.pools().map(usd_per_replica_s).collect(),
    }
}

fn replications(
    scenario: &Scenario,
    first: &SimReport,
    runs: u32,
) -> Result<Option<Replications>, Failure> {
    if runs <= 1 {
        return Ok(None);
    }
    let mut reports = vec![first.clone()];
    for offset in 1..u64::from(runs) {
        let mut other = scenario.clone();
        other.seed = scenario.seed.wrapping_add(offset);
        let mut report = answer(&other).map_err(|why| why.problem())?.report;
        // Thousands of them would hold gigabytes of series that nobody asked for.
        report.series = Vec::new();
        report.accounting = Accounting::default();
        reports.push(report);
    }
    let spread = |value: fn(&SimReport) -> Option<f64>| {
        Spread::of(&reports.iter().filter_map(value).collect::<Vec<_>>())
    };
    let always = |value: fn(&SimReport) -> Option<f64>| {
        spread(value).ok_or_else(|| Failure::Usage("there is no run".to_owned()))
    };
    Ok(Some(Replications {
        runs: reports.len(),
        first_seed: scenario.seed,
        contract_holds_in: reports.iter().filter(|report| report.contract_holds).count(),
        attainment: always(|report| Some(report.attainment))?,
        good_rps: always(|report| Some(report.goodput.good_rps))?,
        ttft_p95_ms: spread(|report| report.ttft_ms.p95),
        tpot_p95_ms: spread(|report| report.tpot_ms.p95),
        cost_per_good_request: spread(|report| {
            report.cost.as_ref().and_then(|cost| cost.per_good_request)
        }),
    }))
}

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        let (mean, standard_error) = stats::mean_with_error(values)?;
        Some(Self {
            runs: values.len(),
            mean,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            standard_error,
        })
    }
}

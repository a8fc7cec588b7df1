//! `goodput replay`.

use std::io::{self, Write};

use goodput_engine::accounts::words::{percent, plural, thousands, three_digits};
use goodput_engine::calibration::replay::{
    Compared, LawFit, MeasureReplay, ReplayReport, RequestReplay, RunReport, Times, replay,
};
use goodput_engine::ingest::Parsed;
use goodput_engine::scenario::Scenario;
use goodput_engine::slo::{Contract, parse_limits};

use super::args::ReplayArgs;
use super::csv::{self, write_file};
use super::input;
use super::output::{Answer, Failure};
use super::text::Page;

pub fn run(args: &ReplayArgs) -> Result<Answer, Failure> {
    if let Some(path) = &args.requests {
        csv::check_table(path)?;
    }
    let typed = args.slo.as_deref().map(parse_limits).transpose()?;
    let checked = input::scenario(&args.scenario)?;
    let contract = typed.or_else(|| only_contract(&checked.scenario));
    let file = input::one_benchmark_file(&args.file)?;
    let records = file.parsed.as_ref().map(Parsed::records).unwrap_or_default();
    let pool = &checked.scenario.pool;
    let report = replay(records, pool, contract.as_ref(), args.fit)
        .map_err(|problem| problem.under(&file.file))?;
    if let Some(path) = &args.requests {
        write_file(path, |out| write_requests(&report, out))?;
    }
    Ok(Answer::new(&report, in_words(&report))?.with_findings(checked.severities()))
}

/// The contract of a scenario that has one class: a log does not say of which class a request is.
fn only_contract(scenario: &Scenario) -> Option<Contract> {
    match scenario.contracts.as_slice() {
        [contract] => Some(contract.clone()),
        _ => None,
    }
}

const REQUEST_COLUMNS: [&str; 12] = [
    "run",
    "request",
    "due_s",
    "input_tokens",
    "output_tokens",
    "measured_ttft_ms",
    "predicted_ttft_ms",
    "measured_tpot_ms",
    "predicted_tpot_ms",
    "measured_e2e_ms",
    "predicted_e2e_ms",
    "compared",
];

/// One line per request that was replayed; what never came is an empty cell.
fn write_requests(report: &ReplayReport, out: impl Write) -> io::Result<()> {
    let mut table = ::csv::Writer::from_writer(out);
    table.write_record(REQUEST_COLUMNS)?;
    for run in &report.runs {
        for request in &run.requests {
            table.write_record(cells(run.row, request))?;
        }
    }
    table.flush()
}

fn cells(run: u32, request: &RequestReplay) -> [String; 12] {
    let (measured, predicted) = (request.measured, request.predicted);
    let millis = |seconds: Option<f64>| seconds.map_or(String::new(), |s| (1e3 * s).to_string());
    [
        run.to_string(),
        request.number.to_string(),
        request.due_s.to_string(),
        request.input_tokens.to_string(),
        request.measured.output_tokens.to_string(),
        millis(Some(measured.ttft_s)),
        millis(predicted.map(|times| times.ttft_s)),
        millis(measured.tpot_s()),
        millis(predicted.and_then(Times::tpot_s)),
        millis(Some(measured.e2e_s)),
        millis(predicted.map(|times| times.e2e_s)),
        request.compared.to_string(),
    ]
}

fn in_words(report: &ReplayReport) -> String {
    let mut page = Page::default();
    if let Some(fit) = &report.fit {
        fitted(&mut page, fit);
    }
    for run in &report.runs {
        one_run(&mut page, run);
    }
    page.heading("Supposed");
    for assumption in &report.assumptions {
        page.line(&format!("  {assumption}"));
    }
    page.into_text()
}

fn fitted(page: &mut Page, fit: &LawFit) {
    page.line(&format!(
        "Step law fitted to {} of the requests ({}): mean error {} with the pool's own law, {} \
         with the fit",
        thousands(fit.requests as f64),
        fit.fitted_on,
        percent(fit.error_before),
        percent(fit.error_after)
    ));
    let (found, prior) = (&fit.coefficients, &fit.prior);
    for (name, found, prior) in [
        ("fixed, per step", found.c0_s, prior.c0_s),
        ("weights, per step", found.cw_s, prior.cw_s),
        ("arithmetic, per token", found.c1_s_per_token, prior.c1_s_per_token),
        ("attention, per pair", found.c2_s_per_pair, prior.c2_s_per_pair),
        ("per decode sequence", found.c3_s_per_decode_seq, prior.c3_s_per_decode_seq),
        ("per KV token read", found.c4_s_per_kv_token, prior.c4_s_per_kv_token),
    ] {
        let factor = three_digits(found / prior);
        page.row(name, &format!("{found:.3e} s, {factor} times the pool's"));
    }
}

fn one_run(page: &mut Page, run: &RunReport) {
    page.heading(&format!(
        "Run {}: {} simulated, {} compared",
        run.row,
        plural(run.simulated, "request", "requests"),
        thousands(run.compared as f64)
    ));
    for excluded in &run.excluded {
        let rows = plural(excluded.rows, "request", "requests");
        page.row("left out", &format!("{rows}: {}", excluded.reason));
    }
    page.row("", "predicted / measured (error)");
    for measure in &run.measures {
        latency(page, measure);
    }
    page.row("makespan, s", &beside(run.makespan_s));
    page.row("output tok/s", &beside(run.output_tps));
    if let Some(peak) = run.waiting_peak {
        page.row("most never scheduled", &beside(peak));
    }
    page.row("preemptions", &format!("{} / not in file", run.predicted_preemptions));
    page.row("error per request", &percent(run.per_request_error));
    if let Some(good) = run.good {
        let counts = format!(
            "{} / {} ({} judged differently; {} within 1 % of a limit)",
            good.predicted, good.measured, good.differ, good.near_a_limit
        );
        page.row("good requests", &counts);
    }
}

fn latency(page: &mut Page, latency: &MeasureReplay) {
    for (statistic, compared) in
        [("mean", latency.mean), ("p50", latency.p50), ("p90", latency.p90), ("p99", latency.p99)]
    {
        page.row(&format!("{} {statistic}", latency.measure), &beside(compared));
    }
}

fn beside(compared: Compared) -> String {
    let digits = |value: Option<f64>| value.map_or_else(|| "never".to_owned(), three_digits);
    let error =
        compared.error.map_or_else(String::new, |error| format!(" ({:+.1} %)", 1e2 * error));
    format!("{} / {}{error}", digits(compared.predicted), digits(compared.measured))
}

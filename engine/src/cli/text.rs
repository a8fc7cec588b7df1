//! Reports as text for people: a sentence, then the numbers that stand behind it.

use std::fmt::Write;

use goodput_engine::accounts::report::{MixRate, Percentiles, SimReport};
use goodput_engine::accounts::words::{percent, plural, span_ms, thousands, three_digits};
use goodput_engine::estimate::report::{
    ClassWorkload, EstimateReport, EstimateVerdict, MemoryReport, SmallestFitting, SupplyEstimate,
};
use goodput_engine::ingest::TraceSummary;
use goodput_engine::planner::report::{FleetRow, PlanAnswer, PlanReport};
use goodput_engine::problem::Severity;

/// Lines of a label and a value, the values under each other.
#[derive(Debug, Default)]
pub struct Page(String);

impl Page {
    /// A line of its own.
    pub fn line(&mut self, text: &str) -> &mut Self {
        self.0.push_str(text);
        self.0.push('\n');
        self
    }

    /// An empty line and a heading.
    pub fn heading(&mut self, text: &str) -> &mut Self {
        self.line("").line(text)
    }

    /// A label and its value.
    pub fn row(&mut self, label: &str, value: &str) -> &mut Self {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "  {label:<28} {value}");
        self
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.0
    }
}

/// A value or a dash.
fn or_dash(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), text)
}

/// Whole dollars from a thousand on, three digits below, and as many decimals as a fraction of a
/// cent needs to show two of its digits.
fn usd(value: f64) -> String {
    if value >= 1000.0 {
        format!("${}", thousands(value))
    } else if value >= 0.01 || value <= 0.0 {
        format!("${}", three_digits(value))
    } else {
        let mut decimals = 2;
        let mut shifted = value * 100.0;
        while shifted < 10.0 && decimals < 12 {
            (decimals, shifted) = (decimals + 1, shifted * 10.0);
        }
        format!("${value:.decimals$}")
    }
}

fn mix(rate: &MixRate) -> String {
    format!(
        "{} req/s, {} prefill tok/s, {} decode tok/s",
        three_digits(rate.rps),
        three_digits(rate.prefill_tps),
        three_digits(rate.decode_tps)
    )
}

/// A severity as lines begin with it.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// What a request trace holds.
pub fn trace(page: &mut Page, trace: &TraceSummary) {
    let rate = or_dash(trace.mean_rate_rps, three_digits);
    page.row("mean rate", &format!("{rate} req/s over {}", span_ms(1e3 * trace.span_s)));
    page.row("CV of the gaps", &or_dash(trace.gap_cv, three_digits));
    let (minute, ten) = (three_digits(trace.peak_minute_rps), three_digits(trace.peak_10s_rps));
    page.row("busiest minute and 10 s", &format!("{minute} and {ten} req/s"));
    for (label, lengths) in [("input", &trace.input_tokens), ("output", &trace.output_tokens)] {
        let (mean, p99) = (three_digits(lengths.mean), three_digits(lengths.p99));
        page.row(&format!("{label} tokens"), &format!("{mean} mean, {p99} p99"));
    }
}

/// The estimate.
pub fn estimate(report: &EstimateReport) -> String {
    let mut page = Page::default();
    let simplified = report.supply.as_ref().is_some_and(|supply| supply.simplified);
    page.line(match report.verdict {
        EstimateVerdict::Holds if simplified => {
            "Enough supply, simplified: declared rates say nothing about latency"
        }
        EstimateVerdict::Holds => {
            "Holds, by estimate: queues and bursts are not in it, simulate for those"
        }
        EstimateVerdict::LateButStable => {
            "Late but stable, by estimate: all work is done, a limit is missed"
        }
        EstimateVerdict::Overloaded => {
            "Overloaded, by estimate: more is asked than the fleet sustains"
        }
        EstimateVerdict::DoesNotFit => "Does not fit: the weights leave no room for a request",
    });
    if let Some(estimate) = &report.supply {
        workload(&mut page, &estimate.workload);
    }
    memory(&mut page, &report.memory);
    if let Some(SmallestFitting { gpus, tensor_parallel, pipeline_parallel }) =
        report.smallest_fitting
    {
        let layout = format!(
            "{} = TP{tensor_parallel} × {}",
            plural(u64::from(gpus), "GPU", "GPUs"),
            plural(u64::from(pipeline_parallel), "stage", "stages")
        );
        page.row("smallest layout that fits", &layout);
    }
    if let Some(estimate) = &report.supply {
        supply(&mut page, estimate);
    }
    page.into_text()
}

/// Realised lengths of each class, by its distributions.
fn workload(page: &mut Page, classes: &[ClassWorkload]) {
    page.heading("Workload, tokens                   mean        p50        p90        p99");
    for class in classes {
        let expected = thousands(class.expected_requests);
        let noun = if expected == "1" { "request" } else { "requests" };
        let requests = format!("{expected} {noun} expected");
        let of =
            if class.tenant.is_empty() { String::new() } else { format!(" ({})", class.tenant) };
        page.row(&format!("{}{of}", class.name), &requests);
        for (label, lengths) in [("input", &class.input_tokens), ("output", &class.output_tokens)] {
            let [mean, p50, p90, p99] =
                [lengths.mean, lengths.p50, lengths.p90, lengths.p99].map(thousands);
            page.row(&format!("  {label}"), &format!("{mean:>10} {p50:>10} {p90:>10} {p99:>10}"));
        }
        let over = class.input_tokens.share_over_max_model_len;
        page.row("  beyond max_model_len", &percent(over));
        if class.share_at_max_output_tokens > 0.0 {
            page.row("  cut by the output budget", &percent(class.share_at_max_output_tokens));
        }
        if let Some(hidden) = class.mean_hidden_tokens {
            page.row("  hidden of the output, mean", &thousands(hidden));
        }
    }
}

fn memory(page: &mut Page, report: &MemoryReport) {
    const GB: f64 = 1e9;
    for pool in &report.pools {
        page.heading("Memory of one replica");
        page.row("KV cache per token", &format!("{} B", thousands(pool.kv_bytes_per_token)));
        let weights = three_digits(pool.weights_bytes_per_gpu / GB);
        let usable = three_digits(pool.usable_bytes_per_gpu / GB);
        page.row("weights per GPU", &format!("{weights} GB of {usable} GB usable"));
        if let (Some(tokens), Some(blocks)) = (pool.kv_capacity_tokens, pool.num_gpu_blocks) {
            let capacity = format!(
                "{} in {} ({})",
                plural(tokens, "token", "tokens"),
                plural(blocks, "block", "blocks"),
                pool.source
            );
            page.row("KV capacity", &capacity);
        }
        let full = or_dash(pool.max_concurrent_full_length, three_digits);
        page.row("full-length sequences", &full);
    }
}

fn supply(page: &mut Page, estimate: &SupplyEstimate) {
    page.heading(if estimate.simplified {
        "Supply (simplified: declared rates)"
    } else {
        "Supply"
    });
    page.row(
        "required",
        &mix(&MixRate {
            rps: estimate.required_rps,
            prefill_tps: estimate.required_prefill_tps,
            decode_tps: estimate.required_decode_tps,
        }),
    );
    page.row("required at the peak", &mix(&estimate.required_peak));
    page.row(
        "sustainable",
        &mix(&MixRate {
            rps: estimate.sustainable_rps,
            prefill_tps: estimate.sustainable_prefill_tps,
            decode_tps: estimate.sustainable_decode_tps,
        }),
    );
    let deliverable =
        or_dash(estimate.deliverable_rps, |rps| format!("{} req/s", three_digits(rps)));
    page.row("deliverable", &deliverable);
    page.row(
        "utilization",
        &format!(
            "{}, {} at the peak",
            percent(estimate.utilization),
            percent(estimate.utilization_peak)
        ),
    );
    page.row("binds", binds(&estimate.binding_constraint));
    let alive = or_dash(estimate.required_live_sequences, three_digits);
    let kv_tokens = or_dash(estimate.required_kv_tokens, three_digits);
    page.row("kept alive by demand", &format!("{alive} sequences, {kv_tokens} KV tokens"));
    page.row("replicas, at least", &estimate.replicas_floor.to_string());
    if !estimate.simplified {
        page.heading("At the mean rate, without queueing");
        page.row("sequences decoding", &or_dash(estimate.mean_batch, three_digits));
        page.row("TTFT", &or_dash(estimate.ttft_ms, span_ms));
        page.row("TTFT of an idle replica", &or_dash(estimate.zero_load_ttft_ms, span_ms));
        page.row("TPOT", &or_dash(estimate.tpot_ms, span_ms));
        page.row("TPOT of a request alone", &or_dash(estimate.zero_load_tpot_ms, span_ms));
    }
    page.heading("Debt, cost and origin");
    let debt = estimate.debt_series.iter().map(|d| d.debt_work_s).fold(0.0, f64::max);
    page.row("largest fluid debt", &format!("{} s of fleet work", three_digits(debt)));
    page.row("cost per month", &or_dash(estimate.cost_per_month, usd));
    let band = or_dash(estimate.step_time_band, |band| format!("±{}", percent(band)));
    page.row("step time", &format!("{}, {band}", estimate.origin.label()));
    for distrust in &estimate.outside_trusted_range {
        page.row("outside where trusted", &distrust.message);
    }
    for beyond in &estimate.outside_measured_range {
        page.row("outside measurements", beyond);
    }
}

/// A binding constraint in words.
fn binds(constraint: &str) -> &str {
    match constraint {
        "prefill_compute" => "computing prompts (prefill)",
        "decode_compute" => "computing outputs (decode)",
        "kv_memory" => "KV memory",
        "seats" => "seats (max_num_seqs)",
        "token_budget" => "tokens per step (max_num_batched_tokens)",
        "declared_rate" => "the declared rate",
        "too_long" => "no request fits a replica",
        other => other,
    }
}

/// The simulated report.
pub fn simulation(report: &SimReport) -> String {
    let mut page = Page::default();
    page.line(&report.verdict.sentence);
    for cause in &report.verdict.causes {
        page.line(&format!("  {cause}"));
    }
    page.heading(&format!("Of {}", plural(report.offered, "offered request", "offered requests")));
    for (outcome, count) in report.outcomes.iter().filter(|(_, count)| **count > 0) {
        let share = *count as f64 / report.offered.max(1) as f64;
        page.row(outcome.name(), &format!("{} ({})", thousands(*count as f64), percent(share)));
    }
    page.heading("Latency over offered requests          p50        p95        p99");
    for (label, percentiles) in [
        ("TTFT", &report.ttft_ms),
        ("TPOT", &report.tpot_ms),
        ("E2E", &report.e2e_ms),
        ("longest stall", &report.longest_stall_ms),
        ("queue wait", &report.queue_wait_ms),
    ] {
        page.row(label, &three_percentiles(percentiles));
    }
    page.heading("Supply");
    page.row("required", &mix(&report.supply.required));
    page.row("required at the peak", &mix(&report.supply.required_peak));
    let error = or_dash(report.supply.sustainable_relative_error, percent);
    page.row("sustainable", &format!("{} (±{error})", mix(&report.supply.sustainable)));
    let goodput = &report.goodput;
    page.row(
        "goodput",
        &format!(
            "{} good req/s, {} per GPU-hour, beside {} input and {} output tok/s",
            three_digits(goodput.good_rps),
            three_digits(goodput.good_per_gpu_hour),
            three_digits(goodput.input_tps),
            three_digits(goodput.output_tps)
        ),
    );
    page.row(
        "largest debt",
        &format!(
            "{} s of fleet work, {} waiting, {} past a limit",
            three_digits(report.debt.peak_work_s),
            plural(report.debt.peak_waiting, "request", "requests"),
            thousands(report.debt.peak_past_limit as f64)
        ),
    );
    page.row(
        "KV memory in use",
        &format!(
            "{} mean, {} peak, {}",
            percent(report.kv.mean_share),
            percent(report.kv.peak_share),
            plural(report.kv.preemptions, "preemption", "preemptions")
        ),
    );
    if let Some(cost) = &report.cost {
        page.row("cost per good request", &or_dash(cost.per_good_request, usd));
        page.row("cost per month", &usd(cost.per_month));
    }
    page.into_text()
}

fn three_percentiles(percentiles: &Percentiles) -> String {
    let text = |value: Option<f64>| value.map_or_else(|| "never".to_owned(), span_ms);
    format!(
        "{:>16} {:>10} {:>10}",
        text(percentiles.p50),
        text(percentiles.p95),
        text(percentiles.p99)
    )
}

/// The plan.
pub fn plan(report: &PlanReport) -> String {
    let mut page = Page::default();
    page.line(&report.sentence);
    if let PlanAnswer::Infeasible { lever, .. } | PlanAnswer::SupplyOnly { lever, .. } =
        &report.answer
    {
        page.line(&format!("  What would help: {lever}"));
    }
    if !report.undecided.is_empty() {
        page.line(&undecided(report));
    }
    if !report.fleets.is_empty() {
        page.heading("Fleet                        good      holds in   TTFT p95   cost per month");
        for row in &report.fleets {
            fleet(&mut page, row);
        }
    }
    page.heading("This fleet");
    page.row("replicas, at least", &report.replicas_floor.to_string());
    let open = report.undecided.iter().any(|name| name == "alpha");
    let up_to = match report.alpha {
        Some(alpha) => format!("{} × this mix", three_digits(alpha)),
        None if open => "not decided".to_owned(),
        None => "–".to_owned(),
    };
    page.row("holds up to", &up_to);
    page.row("deliverable", &report.deliverable.as_ref().map_or_else(|| "–".to_owned(), mix));
    for relaxation in &report.binding {
        let mark = if relaxation.binds { "  binds" } else { "" };
        page.row(&relaxation.label, &format!("+{}{mark}", percent(relaxation.gain)));
    }
    page.into_text()
}

/// What the budget left open.
fn undecided(report: &PlanReport) -> String {
    let names: Vec<&str> = report
        .undecided
        .iter()
        .map(|name| match name.as_str() {
            "replicas" => "how many replicas hold",
            "fleets" => "some of the fleets below",
            "alpha" => "how far this fleet is from the cliff, and so what binds",
            constraint => constraint,
        })
        .collect();
    format!(
        "  Not decided within the budget ({} of {} units of work done): {}",
        thousands(report.budget.spent_work as f64),
        thousands(report.budget.max_work as f64),
        names.join(", ")
    )
}

fn fleet(page: &mut Page, row: &FleetRow) {
    let mark = match (row.is_answer, row.is_present) {
        (true, true) => " (answer, present)",
        (true, false) => " (answer)",
        (false, true) => " (present)",
        (false, false) => "",
    };
    let ttft = row.ttft_p95_ms.map_or_else(|| "never".to_owned(), span_ms);
    page.row(
        &format!("{}{mark}", plural(u64::from(row.replicas), "replica", "replicas")),
        &format!(
            "{:>7}  {:>9}  {ttft:>9}   {}",
            percent(row.attainment),
            format!("{} of {}", row.holds_in, row.runs),
            or_dash(row.cost_per_month, usd)
        ),
    );
}

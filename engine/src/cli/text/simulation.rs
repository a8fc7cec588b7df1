//! The simulated report in words and rows.

use goodput_engine::accounts::report::{Percentiles, SimReport, SupplyOverTime};
use goodput_engine::accounts::words::{percent, plural, span_ms, thousands, three_digits};

use goodput_engine::sim::UnaskedTurns;

use super::{Page, at_peak, mix, or_dash, pools, usd};

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
    expectations(&mut page, report);
    clients(&mut page, report);
    page.heading("Latency over offered requests          p50        p95        p99");
    for (label, percentiles) in [
        ("TTFT", Some(&report.ttft_ms)),
        ("first visible token", report.ttfvt_ms.as_ref()),
        ("TPOT", Some(&report.tpot_ms)),
        ("E2E", Some(&report.e2e_ms)),
        ("longest stall", Some(&report.longest_stall_ms)),
        ("queue wait", Some(&report.queue_wait_ms)),
    ] {
        if let Some(percentiles) = percentiles {
            page.row(label, &three_percentiles(percentiles));
        }
    }
    supply(&mut page, report);
    sharing(&mut page, report);
    if let Some(cost) = &report.cost {
        page.row(
            "cost per good request",
            &format!(
                "{}: {} for the whole run, {}",
                or_dash(cost.per_good_request, usd),
                usd(cost.total),
                plural(cost.good, "good request", "good requests")
            ),
        );
        if let Some(after) = &cost.after_warmup {
            page.row(
                "  after the warm-up",
                &format!(
                    "{}: {}, {}",
                    or_dash(after.per_good_request, usd),
                    usd(after.total),
                    plural(after.good, "good request", "good requests")
                ),
            );
        }
        page.row("cost per month", &usd(cost.per_month));
    }
    pools::simulated(&mut page, report);
    page.into_text()
}

fn supply(page: &mut Page, report: &SimReport) {
    page.heading("Supply");
    page.row("required", &mix(&report.supply.required));
    page.row("required at the peak", &mix(&report.supply.required_peak));
    let error = or_dash(report.supply.sustainable_relative_error, percent);
    page.row("sustainable", &format!("{} (±{error})", mix(&report.supply.sustainable)));
    if let Some(rps) = report.supply.sustainable_once_queued_rps {
        let text = format!("{} req/s: what runs takes the memory of the cache", three_digits(rps));
        page.row("once a queue stands", &text);
    }
    at_peak(page, report.supply.is_another_mix_at_peak(), &report.supply.sustainable_at_peak);
    if let Some(there) = &report.supply.over_time {
        over_time(page, there);
    }
    let goodput = &report.goodput;
    page.row(
        "goodput",
        &format!(
            "{} good req/s, {} per GPU-hour, beside {} input and {} output tok/s",
            three_digits(goodput.good_rps),
            or_dash(goodput.good_per_gpu_hour, three_digits),
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
}

/// What takes requests when: the rates above are of the most replicas.
fn over_time(page: &mut Page, there: &SupplyOverTime) {
    let most = plural(u64::from(there.most_replicas), "replica", "replicas");
    page.row(
        "by those that take requests",
        &format!(
            "{} of at most {most} on average: {} req/s",
            three_digits(there.mean_replicas),
            three_digits(there.sustainable.rps)
        ),
    );
    page.row(
        "where that is least for what is asked",
        &format!(
            "{} from {} on: {} of {} req/s",
            three_digits(there.tightest_replicas),
            span_ms(1e3 * there.tightest_from_s),
            three_digits(there.tightest_sustainable.rps),
            three_digits(there.tightest_required.rps)
        ),
    );
}

/// What prompts share and how much of it was found, if anything may be.
fn sharing(page: &mut Page, report: &SimReport) {
    let Some(cache) = &report.prefix_cache else { return };
    page.heading("Prefix cache");
    let found = or_dash(cache.counts.hit_rate, percent);
    let off = if cache.enabled { "" } else { " (prefix caching is off)" };
    page.row("found of all prompt tokens", &format!("{found}{off}"));
    page.row(
        "required prefill",
        &format!(
            "{} input tok/s, {} found, {} computed again: {} to compute",
            three_digits(cache.required_prefill_tps),
            three_digits(cache.hits_tps),
            three_digits(cache.recomputed_tps),
            three_digits(cache.computed_prefill_tps)
        ),
    );
    for class in &report.classes {
        let Some(sharing) = &class.sharing else { continue };
        let found = or_dash(sharing.counts.hit_rate, percent);
        page.row(&class.name, &format!("{found} of its prompt tokens found"));
        if sharing.share_no_longer_than_prefix > 0.0 {
            page.row(
                "  prompts no longer than the prefix",
                &percent(sharing.share_no_longer_than_prefix),
            );
        }
        let Some(session) = &sharing.session else { continue };
        let UnaskedTurns { after_a_lost_turn, beyond_max_model_len, after_the_horizon } =
            session.unasked;
        let asked = format!(
            "{}, {}",
            plural(session.sessions, "session", "sessions"),
            plural(session.turns, "turn", "turns")
        );
        page.row("  asked", &asked);
        let [lost, long, late] = [after_a_lost_turn, beyond_max_model_len, after_the_horizon]
            .map(|count| thousands(count as f64));
        page.row(
            "  turns never asked",
            &format!(
                "{lost} after a lost turn, {long} beyond max_model_len, {late} after the horizon"
            ),
        );
    }
}

/// What clients did beside asking once, if anything.
fn expectations(page: &mut Page, report: &SimReport) {
    if !report.expectations.is_empty() {
        page.heading("Expected");
    }
    for expected in &report.expectations {
        let bounds = [("at least", expected.at_least), ("at most", expected.at_most)];
        let bounds = bounds.into_iter().filter_map(|(word, bound)| Some((word, bound?)));
        let written = if expected.of.starts_with("cost.") { usd } else { three_digits };
        let bounds: Vec<String> =
            bounds.map(|(word, bound)| format!("{word} {}", written(bound))).collect();
        let value = expected.value.map_or_else(|| "nothing to give".to_owned(), written);
        let met = if expected.met { "met" } else { "NOT MET" };
        page.row(&expected.of, &format!("{met}: {value}, {}", bounds.join(" and ")));
    }
}

fn clients(page: &mut Page, report: &SimReport) {
    if report.attempts.retried > 0 {
        let sent = three_digits(report.attempts.per_request);
        let deferred = thousands(report.debt.peak_deferred as f64);
        let text = format!("{sent} per request, up to {deferred} waiting to try again");
        page.row("attempts", &text);
    }
    for class in &report.classes {
        let Some(crowd) = &class.closed_loop else { continue };
        let text = format!(
            "{} ask {} req/s, {} in flight on average",
            thousands(f64::from(crowd.users)),
            three_digits(crowd.rate_rps),
            three_digits(crowd.mean_in_flight)
        );
        page.row(&format!("users of {}", class.name), &text);
    }
}

fn three_percentiles(percentiles: &Percentiles) -> String {
    // Of nobody, nothing is late.
    let none = if percentiles.population == 0 { "–" } else { "never" };
    let text = |value: Option<f64>| value.map_or_else(|| none.to_owned(), span_ms);
    format!(
        "{:>16} {:>10} {:>10}",
        text(percentiles.p50),
        text(percentiles.p95),
        text(percentiles.p99)
    )
}

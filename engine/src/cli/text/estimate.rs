//! The estimate in words and rows.

use goodput_engine::accounts::report::MixRate;
use goodput_engine::accounts::words::{percent, plural, span_ms, thousands, three_digits};
use goodput_engine::estimate::report::{
    ClassWorkload, EstimateReport, EstimateVerdict, MemoryReport, SmallestFitting, SupplyEstimate,
};

use super::{Page, at_peak, mix, or_dash, pools, usd};

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
        EstimateVerdict::NotDecided => {
            "Not decided by the estimate: what it leaves out may decide, simulate"
        }
        EstimateVerdict::LateButStable => {
            "Late but stable, by estimate: all work that is let in is done, the contract is missed"
        }
        EstimateVerdict::Overloaded => {
            "Overloaded, by estimate: more is asked than the fleet sustains"
        }
        EstimateVerdict::DoesNotFit => "Does not fit: the weights leave no room for a request",
    });
    for reason in report.supply.iter().flat_map(|supply| &supply.verdict_reasons) {
        page.row("why", reason);
    }
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
    pools::estimated(&mut page, &report.pools);
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
        if let Some(sharing) = &class.sharing {
            let found = thousands(sharing.mean_cached_tokens);
            page.row("  of the input found cached, mean", &found);
            if sharing.share_no_longer_than_prefix > 0.0 {
                page.row(
                    "  no longer than the shared prefix",
                    &percent(sharing.share_no_longer_than_prefix),
                );
            }
            if let Some(turns) = sharing.turns_per_session {
                page.row("  turns per session, mean", &three_digits(turns));
            }
        }
        if let Some(hidden) = class.mean_hidden_tokens {
            page.row("  hidden of the output, mean", &thousands(hidden));
        }
    }
}

fn memory(page: &mut Page, report: &MemoryReport) {
    const GB: f64 = 1e9;
    for pool in &report.pools {
        if pool.name.is_empty() {
            page.heading("Memory of one replica");
        } else {
            page.heading(&format!("Memory of one replica of pool {}", pool.name));
        }
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
    after_hits(page, estimate);
    page.row("required at the peak", &mix(&estimate.required_peak));
    page.row(
        "sustainable",
        &mix(&MixRate {
            rps: estimate.sustainable_rps,
            prefill_tps: estimate.sustainable_prefill_tps,
            decode_tps: estimate.sustainable_decode_tps,
        }),
    );
    at_peak(page, estimate.is_another_mix_at_peak(), &estimate.sustainable_at_peak);
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
    page.row("supply floor, replicas", &estimate.replicas_floor.to_string());
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
    reservations(page, estimate);
}

/// What prefix hits take off the prefill.
fn after_hits(page: &mut Page, estimate: &SupplyEstimate) {
    let Some(hit_rate) = estimate.prefix_hit_rate else { return };
    let left = three_digits(estimate.required_prefill_after_hits_tps);
    let text = format!("{left} input tok/s: {} found cached", percent(hit_rate));
    page.row("prefill after prefix hits", &text);
}

/// Where an estimate may not be trusted, and what it does not see.
fn reservations(page: &mut Page, estimate: &SupplyEstimate) {
    for distrust in &estimate.outside_trusted_range {
        page.row("outside where trusted", &distrust.message);
    }
    for beyond in &estimate.outside_measured_range {
        page.row("outside measurements", beyond);
    }
    for feature in &estimate.leaves_out {
        page.row("left out", feature);
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
        "nothing_asked" => "nothing is asked",
        other => other,
    }
}

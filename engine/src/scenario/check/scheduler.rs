//! Checks of the engine's settings: by the rules that vLLM 0.19 itself enforces when it starts.

use super::findings::Findings;
use crate::counted::typed;
use crate::fleet::ModelShape;
use crate::scenario::Scheduler;
use crate::scenario::doc::{FleetDoc, PoolDoc, SchedulingPolicyDoc, WorkloadDoc};

/// The settings of a pool's engine.
pub(super) fn check(
    doc: &PoolDoc,
    model: Option<&ModelShape>,
    path: &str,
    findings: &mut Findings,
) -> Option<Scheduler> {
    let counts_fit = check_numbers(doc, path, findings);
    check_budget(doc, counts_fit, path, findings);
    check_partial_prefills(doc, path, findings);
    let max_model_len = check_max_model_len(doc, model, path, findings)?;
    if !doc.enable_chunked_prefill && doc.max_num_batched_tokens < max_model_len {
        findings.error(
            format!("{path}.max_num_batched_tokens"),
            format!(
                "without chunked prefill a prompt is computed in one step, and a budget of {} \
                 tokens is below max_model_len {max_model_len}",
                doc.max_num_batched_tokens
            ),
            format!(
                "give at least {max_model_len}, lower max_model_len, or set enable_chunked_prefill"
            ),
        );
    }
    Some(Scheduler {
        max_num_seqs: doc.max_num_seqs,
        max_num_batched_tokens: doc.max_num_batched_tokens,
        by_priority: doc.scheduling_policy == SchedulingPolicyDoc::Priority,
        long_prefill_token_threshold: doc.long_prefill_token_threshold,
        stream_interval: u16::try_from(doc.stream_interval).unwrap_or(u16::MAX),
        max_model_len,
        block_size: doc.block_size,
        chunked_prefill: doc.enable_chunked_prefill,
        prefix_caching: doc.enable_prefix_caching,
        reserve_full_isl: doc.scheduler_reserve_full_isl,
        async_scheduling: doc.async_scheduling,
    })
}

/// Numbers that are right or wrong by themselves. Whether the seats and the budget are right.
fn check_numbers(doc: &PoolDoc, path: &str, findings: &mut Findings) -> bool {
    let mut count = |field: &str, what: &str, value: u64, most: u64| {
        findings.count(format!("{path}.{field}"), what, value, &(1..=most))
    };
    let counts = [
        count("max_num_seqs", "the number of seats", doc.max_num_seqs.into(), 65_536),
        count(
            "max_num_batched_tokens",
            "the token budget of a step",
            doc.max_num_batched_tokens.into(),
            1 << 20,
        ),
        count(
            "stream_interval",
            "the tokens of a stream event",
            doc.stream_interval.into(),
            u16::MAX.into(),
        ),
    ];
    let share = doc.gpu_memory_utilization;
    if !(share > 0.0 && share <= 1.0) {
        findings.error(
            format!("{path}.gpu_memory_utilization"),
            format!("the share of GPU memory the engine may use is {share}", share = typed(share)),
            "give a share above 0 and up to 1 (100 %), e.g. 0.9 (90 %)",
        );
    }
    if !(doc.block_size.is_power_of_two() && doc.block_size <= 256) {
        findings.error(
            format!("{path}.block_size"),
            format!("a KV block has {} tokens", doc.block_size),
            "give a power of two from 1 to 256, e.g. 16",
        );
    }
    if doc.num_gpu_blocks.is_some_and(|blocks| !(2..=1 << 40).contains(&blocks)) {
        findings.error(
            format!("{path}.num_gpu_blocks"),
            "the engine keeps one block for itself, so this many leave none or cannot be",
            "give the number from the engine's log, 2 or more, or leave it out",
        );
    }
    counts.iter().all(|fine| *fine)
}

/// Scheduling by priority where all are alike.
pub(super) fn warn_about_priorities(
    fleet: &FleetDoc,
    workload: &WorkloadDoc,
    findings: &mut Findings,
) {
    let mut enabled = workload.classes.iter().filter(|class| class.enabled);
    let first = enabled.next().map_or(0, |class| class.priority);
    if enabled.any(|class| class.priority != first) {
        return;
    }
    for (index, pool) in fleet.pools.iter().enumerate() {
        if pool.scheduling_policy == SchedulingPolicyDoc::Priority {
            // A step on the way: the policy is chosen before priorities are given.
            findings.note(
                format!("fleet.pools[{index}].scheduling_policy"),
                format!(
                    "all classes have priority {first}: among equals who came first goes first"
                ),
                "give classes a `priority` (a lower number is more urgent), or leave it at fcfs",
            );
        }
    }
}

fn check_budget(doc: &PoolDoc, in_range: bool, path: &str, findings: &mut Findings) {
    if in_range && doc.max_num_batched_tokens < doc.max_num_seqs {
        findings.error(
            format!("{path}.max_num_batched_tokens"),
            format!(
                "a budget of {} tokens is below max_num_seqs {}: not every seat could decode",
                typed(f64::from(doc.max_num_batched_tokens)),
                typed(f64::from(doc.max_num_seqs))
            ),
            format!("give at least {}, or lower max_num_seqs", doc.max_num_seqs),
        );
    }
}

/// How prompts are split, as far as vLLM V1 does it: its scheduler has the threshold, and refuses to
/// start with any limit on the prompts that are computed in part at once
/// (<https://github.com/vllm-project/vllm/issues/39737>, 0.19).
fn check_partial_prefills(doc: &PoolDoc, path: &str, findings: &mut Findings) {
    findings.count(
        format!("{path}.long_prefill_token_threshold"),
        "the most prompt tokens of one request in a step",
        doc.long_prefill_token_threshold.into(),
        &(0..=1 << 20),
    );
    for (field, prompts) in [
        ("max_num_partial_prefills", doc.max_num_partial_prefills),
        ("max_long_partial_prefills", doc.max_long_partial_prefills),
    ] {
        if prompts != 1 {
            findings.error(
                format!("{path}.{field}"),
                format!(
                    "{prompts} prompts are to be computed in part at once, and vLLM V1 does not \
                     start with another number than 1 (\"Concurrent Partial Prefill is not \
                     supported\")"
                ),
                "leave it out: long_prefill_token_threshold lets as many prompts share a step as \
                 its budget holds",
            );
        }
    }
}

fn check_max_model_len(
    doc: &PoolDoc,
    model: Option<&ModelShape>,
    path: &str,
    findings: &mut Findings,
) -> Option<u32> {
    let own = model.map(|model| model.max_context_tokens);
    let most = own.unwrap_or(u32::MAX);
    match doc.max_model_len {
        None => own,
        Some(length) if (1..=most).contains(&length) => Some(length),
        Some(length) => {
            findings.error(
                format!("{path}.max_model_len"),
                format!("the longest sequence is {} tokens", typed(f64::from(length))),
                format!(
                    "give 1 to {most}, what the model was made for, or leave it out",
                    most = typed(f64::from(most))
                ),
            );
            None
        }
    }
}

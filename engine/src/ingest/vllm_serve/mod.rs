//! Results of `vllm bench serve` (before v0.10: `benchmarks/benchmark_serving.py`).
//!
//! Documented at <https://docs.vllm.ai/en/latest/benchmarking/cli.html>; keys read in the source
//! of 2024-11 to 0.25. One JSON object per run; `--append-result` writes one after another, a
//! sweep's `summary.json` is a list of them. `--save-detailed` (and every file before that flag)
//! adds one list entry per request. The file says nothing about GPU, GPU count or engine version
//! unless `--metadata` was used.

pub(super) mod point;
mod records;
pub(super) mod run;
pub(super) mod values;

use self::run::{Document, Run};
use self::values::Values;
use super::gathered::Gathered;
use super::registry::{Body, FormatDescription, Head};
use super::{BenchmarkPoint, Refusal, json};

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "vllm_bench_serve",
    title: "vLLM bench serve JSON",
    looks_for: "a JSON object with request_throughput, output_throughput and model_id or \
                num_prompts",
    docs: "https://docs.vllm.ai/en/latest/benchmarking/cli.html",
    sniff,
    parse,
};

/// SGLang writes the same throughput keys, with `dataset_name` and without `model_id`.
fn sniff(head: &Head) -> bool {
    head.json.as_ref().is_some_and(|keys| {
        let named = keys.has("model_id") || (keys.has("num_prompts") && !keys.has("dataset_name"));
        keys.has("request_throughput") && keys.has("output_throughput") && named
    })
}

fn parse(text: &str) -> Result<Body, Refusal> {
    let text = json::quote_not_finite(text);
    let mut gathered = Gathered::default();
    json::for_each_value(&text, |line, document: Document| match document {
        Document::One(run) => add(&mut gathered, line, &run, point::of_run),
        Document::Many(runs) => {
            runs.iter().try_for_each(|run| add(&mut gathered, line, run, point::of_run))
        }
    })?;
    Ok(gathered.finish("runs"))
}

/// Point and records of one run. `point` is the only thing in which the tools that descend from
/// vLLM's client differ.
pub(super) fn add(
    gathered: &mut Gathered,
    line: u64,
    run: &Run,
    point: fn(&mut Values, u64) -> BenchmarkPoint,
) -> Result<(), Refusal> {
    if !run.is_result() {
        return Err(Refusal::broken(
            format!("line {line} holds a JSON object that is not a benchmark result"),
            "a result has at least duration, completed and a throughput",
        )
        .at_line(line));
    }
    gathered.make_room(run.lists.longest() + 1)?;
    for key in &run.repeated_keys {
        let text = format!("{key} occurs twice in one object; the last was taken");
        gathered.remarks.add(line, text);
    }
    let (index, row) = (gathered.next_index(), gathered.next_row());
    let mut values = Values { run, line, remarks: &mut gathered.remarks };
    gathered.points.push(point(&mut values, row));
    match records::of_run(run, index, line, &mut gathered.remarks) {
        Ok(records) => gathered.records.extend(records),
        Err(reason) => {
            gathered.remarks.add(line, reason);
            gathered.exclude(
                run.lists.longest() as u64,
                "the per-request lists are of different lengths",
            );
        }
    }
    Ok(())
}

//! Results of `vllm bench serve` (before v0.10: `benchmarks/benchmark_serving.py`).
//!
//! Documented at <https://docs.vllm.ai/en/latest/benchmarking/cli.html>; keys read in the source
//! of 2024-11 to 0.25. One JSON object per run; `--append-result` writes one after another, a
//! sweep's `summary.json` is a list of them. `--save-detailed` (and every file before that flag)
//! adds one list entry per request. The file says nothing about GPU, GPU count or engine version
//! unless `--metadata` was used.

mod point;
mod records;
mod run;

use self::run::{Document, Run};
use super::parsed::{Contents, Notes, RowRemarks};
use super::registry::{Body, FormatDescription, Head};
use super::{BenchmarkPoint, MAX_ROWS, Refusal, RequestRecord, json};

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
        Document::One(run) => gathered.add(line, &run),
        Document::Many(runs) => runs.iter().try_for_each(|run| gathered.add(line, run)),
    })?;
    Ok(gathered.finish())
}

/// Points and records as the runs come.
#[derive(Default)]
struct Gathered {
    points: Vec<BenchmarkPoint>,
    records: Vec<RequestRecord>,
    remarks: RowRemarks,
    without_records: u64,
}

impl Gathered {
    fn add(&mut self, line: u64, run: &Run) -> Result<(), Refusal> {
        if !run.is_result() {
            return Err(Refusal::broken(
                format!("line {line} holds a JSON object that is not a benchmark result"),
                "a result has at least duration, completed and request_throughput",
            )
            .at_line(line));
        }
        let found = self.records.len() + run.lists.longest() + self.points.len() + 1;
        if found > MAX_ROWS {
            return Err(Refusal::too_large(found, "runs and requests or more", MAX_ROWS));
        }
        for key in &run.repeated_keys {
            self.remarks.add(line, format!("{key} occurs twice in one object; the last was taken"));
        }
        let index = u32::try_from(self.points.len()).unwrap_or(u32::MAX);
        let ordinal = self.points.len() as u64 + 1;
        self.points.push(point::of_run(run, ordinal, line, &mut self.remarks));
        match records::of_run(run, index, line, &mut self.remarks) {
            Ok(records) => self.records.extend(records),
            Err(reason) => {
                self.without_records += run.lists.longest() as u64;
                self.remarks.add(line, reason);
            }
        }
        Ok(())
    }

    fn finish(self) -> Body {
        let mut notes = if self.records.is_empty() && self.without_records == 0 {
            let mut notes = Notes::new("runs");
            notes.rows_read = self.points.len() as u64;
            notes.rows_used = notes.rows_read;
            notes
        } else {
            let mut notes = Notes::new("requests");
            notes.rows_used = self.records.len() as u64;
            notes.rows_read = notes.rows_used + self.without_records;
            notes.exclude(self.without_records, "the per-request lists are of different lengths");
            notes
        };
        notes.remark_all(self.remarks);
        let contents = Contents::Benchmark { points: self.points, records: self.records };
        Body { tool_version: None, contents, notes }
    }
}

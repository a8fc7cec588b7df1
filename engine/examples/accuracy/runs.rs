//! Two runs of vLLM 0.19 that were published request by request: a law is fitted to every other
//! request, or to the row of means alone, and read on the others.

use goodput_engine::calibration::law::fit_law;
use goodput_engine::calibration::replay::{RunReport, replay};
use goodput_engine::calibration::{Conditions, Observation};
use goodput_engine::fleet::{KvPrecision, WeightPrecision};
use goodput_engine::ingest::{BenchmarkPoint, RequestRecord, read};
use goodput_engine::scenario::Pool;
use goodput_engine::scenario::doc::{LengthsDoc, PoolDoc, ScenarioDoc};
use goodput_engine::units::Picos;
use goodput_engine::workload::{Lineage, OfferedRequest};

use super::benchmark::{Aggregates, pool_of, with_law};
use super::check::{Check, Errors, Measure, Pair};
use super::data::{Published, Row};
use super::experiment::{Experiment, Load, one_replica};

const MODEL: &str = "Llama-3.1-8B";

/// One run and what its engine was.
struct Run {
    gpu: &'static str,
    file: &'static str,
    num_gpu_blocks: u64,
    max_num_seqs: u32,
}

/// The second one's block count is not known and never binds.
const RUNS: [Run; 2] = [
    Run {
        gpu: "RTX-4090",
        file: "runs/llmservingsim_vllm_RTX4090_Llama-3.1-8B.csv",
        num_gpu_blocks: 2_588,
        max_num_seqs: 256,
    },
    Run {
        gpu: "RTX-PRO-6000-SE",
        file: "runs/llmservingsim_vllm_RTXPRO6000_Llama-3.1-8B.csv",
        num_gpu_blocks: 25_000,
        max_num_seqs: 128,
    },
];

impl Run {
    fn document(&self) -> ScenarioDoc {
        let precisions = (WeightPrecision::Bf16, KvPrecision::Bf16);
        let pool = one_replica((self.gpu, MODEL), 1, precisions.0, precisions.1);
        let length = LengthsDoc::Fixed { tokens: 100 };
        let experiment = Experiment {
            pool: PoolDoc {
                num_gpu_blocks: Some(self.num_gpu_blocks),
                max_num_seqs: self.max_num_seqs,
                ..pool
            },
            load: Load::Clients { clients: 1, requests: 1 },
            input_tokens: length.clone(),
            output_tokens: length,
            repeated_prompts: None,
        };
        experiment.document()
    }

    fn records(&self, published: &Published) -> Result<Vec<RequestRecord>, String> {
        let path = published.0.join(self.file);
        let bytes = std::fs::read(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        let parsed = read(self.file, &bytes).map_err(|why| format!("{}: {why:?}", self.file))?;
        Ok(parsed.records().to_vec())
    }

    /// Its row of means.
    fn means(&self, published: &Published) -> Result<Aggregates, String> {
        let table = published.table("serving/serving_points.csv")?;
        let of_run =
            |row: &Row| row.text("src").starts_with("llmservingsim") && row.text("gpu") == self.gpu;
        let row = table.rows().find(of_run).ok_or_else(|| format!("no row of {}", self.gpu))?;
        Ok(Aggregates {
            model: MODEL.to_owned(),
            clients: 1,
            requests: 300,
            input_tokens: row.number("isl")?,
            output_tokens: row.number("osl")?,
            ttft_ms: row.number("ttft_mean_ms")?,
            tpot_ms: row.number("tpot_mean_ms")?,
            output_tps: row.number("out_tok_s")?,
        })
    }
}

/// The requests of a run as they were sent.
fn conditions(records: &[RequestRecord]) -> Result<Conditions, String> {
    let request = |record: &RequestRecord| {
        Some(OfferedRequest {
            class: 0,
            pool: 0,
            due: Picos::from_secs(record.start_s?),
            input_tokens: record.input_tokens?,
            output_tokens: record.output_tokens?,
            hidden_tokens: 0,
            patience: None,
            fails: false,
            acceptable: true,
            lineage: Lineage::NONE,
        })
    };
    let requests: Option<Vec<OfferedRequest>> = records.iter().map(request).collect();
    let mut requests = requests.ok_or("a request without moment or lengths")?;
    requests.sort_by_key(|request| request.due);
    Ok(Conditions {
        requests,
        cap: None,
        replicas: 1,
        rate_rps: None,
        input_tokens: 0.0,
        output_tokens: 0.0,
        load: String::new(),
        assumptions: Vec::new(),
    })
}

/// What a replay says of a run, number by number.
fn pairs(gpu: &str, run: &RunReport) -> Vec<Pair> {
    let latencies = run.measures.iter().flat_map(|latency| {
        let of = |name: &str| format!("{gpu}, {} {name}", latency.measure);
        [(of("p50"), latency.p50), (of("p90"), latency.p90), (of("p99"), latency.p99)]
    });
    let makespan = (format!("{gpu}, makespan in s"), run.makespan_s);
    let both = latencies.chain([makespan]).filter_map(|(label, compared)| {
        Some(Pair::new(label, compared.measured?, compared.predicted.unwrap_or(f64::INFINITY)))
    });
    both.collect()
}

/// The figures beyond a bound, of which the likely reason is the same.
fn beyond(pairs: &[Pair], bound: f64) -> Vec<String> {
    let beyond = pairs.iter().filter(|pair| pair.error().abs() > bound);
    let line = |pair: &Pair| {
        format!(
            "{}: off by {:+.1} %. Likely reason: few requests lie near this rank and their values \
             jump there (some were preempted, some not), so that a request more or less before it \
             moves the figure",
            pair.label,
            100.0 * pair.error()
        )
    };
    beyond.map(line).collect()
}

fn first(runs: Vec<RunReport>) -> Result<RunReport, String> {
    runs.into_iter().next().ok_or_else(|| "a file without a run".to_owned())
}

/// Fitted to half of the requests, and to the row of means alone.
///
/// # Errors
/// The tables are not as expected.
pub fn checks(published: &Published) -> Result<[Check; 2], String> {
    let (mut halves, mut means) = (Vec::new(), Vec::new());
    for run in &RUNS {
        let records = run.records(published)?;
        let pool = pool_of(&run.document())?;
        let fitted = replay(&records, &pool, None, true).map_err(|why| why.to_string())?;
        halves.extend(pairs(run.gpu, &first(fitted.runs)?));
        let pool = fitted_to_means(run, &run.means(published)?, &records, &pool)?;
        let read = replay(&records, &pool, None, false).map_err(|why| why.to_string())?;
        means.extend(pairs(run.gpu, &first(read.runs)?));
    }
    let of = |pairs: Vec<Pair>, words: (&str, &str), bounds: (f64, f64)| {
        let errors = Errors::of(&pairs).ok_or("nothing was replayed")?;
        Ok(Check {
            title: words.0.to_owned(),
            source: "LLMServingSim@5daddb21 (MIT), vLLM 0.19 with Llama-3.1-8B".to_owned(),
            method: words.1.to_owned(),
            measures: vec![
                Measure::bound("worst", errors.worst, bounds.0, bounds.1),
                Measure::told("mean", errors.mean),
            ],
            findings: beyond(&pairs, bounds.0),
            pairs,
        })
    };
    let half = (
        "Two runs request by request, fitted on one half and read on the other",
        "A law is fitted to the requests with even numbers; percentiles of those with odd ones are \
         read. TTFT, TPOT and E2E at p50, p90 and p99, and the makespan.",
    );
    let row = (
        "The same runs from their row of means alone",
        "Known are when requests came and how long they were, and from the benchmark's own row mean \
         TTFT, mean TPOT and output tokens per second: a law is fitted to those three, and all \
         percentiles are read.",
    );
    let checks: Result<[Check; 2], &str> =
        (|| Ok([of(halves, half, (0.02, 0.01))?, of(means, row, (0.05, 0.03))?]))();
    checks.map_err(str::to_owned)
}

/// The pool with the law that its row of means says.
fn fitted_to_means(
    run: &Run,
    means: &Aggregates,
    records: &[RequestRecord],
    pool: &Pool,
) -> Result<Pool, String> {
    let point: BenchmarkPoint = means.point()?;
    let of = [(conditions(records)?, Observation::all(&point))];
    let law = fit_law(&of, pool).map_err(|why| why.problem().to_string())?;
    let law = law.ok_or("no row to fit to")?;
    pool_of(&with_law(&run.document(), law.coefficients))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_sent_in_order_of_their_moments() {
        let text = "input_tokens,output_tokens,arrival_s,scheduled_s,ttft_ms,e2e_ms\n\
                    20,5,0.5,0.5,30.0,90.0\n10,4,0.25,0.3,20.0,60.0\n";
        let parsed = read("run.csv", text.as_bytes()).unwrap();
        let sent = conditions(parsed.records()).unwrap().requests;
        let due: Vec<f64> = sent.iter().map(|request| request.due.as_secs()).collect();
        assert_eq!((sent.len(), sent[0].input_tokens), (2, 10));
        assert!(due[0] < due[1], "{due:?}");
    }
}

//! Two runs of vLLM 0.19 that were published request by request: a law is fitted to every other
//! request, or to the row of means alone, and read on the others.

use goodput_engine::calibration::law::fit_law;
use goodput_engine::calibration::replay::{MeasureReplay, RunReport, replay};
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

/// What the worst figure must and should be, of halves and of rows of means.
const BOUNDS: [(f64, f64); 2] = [(0.02, 0.01), (0.05, 0.03)];

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

/// What was measured of the requests with even numbers against those with odd ones: two halves of one
/// run differ by so much, with nothing predicted.
fn halves_apart(gpu: &str, run: &RunReport) -> Vec<Pair> {
    let half = |odd: bool| {
        let of_half = run.requests.iter().filter(|request| (request.number % 2 == 1) == odd);
        MeasureReplay::all(&of_half.collect::<Vec<_>>())
    };
    let (even, odd) = (half(false), half(true));
    let figures = even.iter().zip(&odd).flat_map(|(even, odd)| {
        let of = |name: &str| format!("{gpu}, {} {name}", odd.measure);
        [
            (of("p50"), even.p50, odd.p50),
            (of("p90"), even.p90, odd.p90),
            (of("p99"), even.p99, odd.p99),
        ]
    });
    let both = figures
        .filter_map(|(label, even, odd)| Some(Pair::new(label, odd.measured?, even.measured?)));
    both.collect()
}

/// Measured E2E of the requests that are compared, in milliseconds, ascending.
fn measured_e2e_ms(run: &RunReport) -> Vec<f64> {
    let compared = run.requests.iter().filter(|request| request.compared);
    let mut values: Vec<f64> = compared.map(|request| 1e3 * request.measured.e2e_s).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// How many places in the order of `values` lie between two of their size.
fn ranks_between(values: &[f64], a: f64, b: f64) -> usize {
    let (low, high) = if a <= b { (a, b) } else { (b, a) };
    values.iter().filter(|value| low < **value && **value < high).count() + 1
}

/// Why an E2E figure of a run is beyond `bound`: how few requests that is, and how far apart the
/// measured halves are there.
fn beyond(gpu: &str, run: &RunReport, bound: f64) -> Vec<String> {
    let (values, apart) = (measured_e2e_ms(run), halves_apart(gpu, run));
    let of_run = pairs(gpu, run).into_iter().filter(|pair| pair.error().abs() > bound);
    let places = |pair: &Pair| {
        let count = values.len();
        let next = values.iter().find(|value| **value > pair.measured);
        let jump = next.map_or(0.0, |next| 100.0 * (next / pair.measured - 1.0));
        format!(
            ", which is {} of {count} requests: measured values jump by {jump:.1} % from this rank to \
             the next (some were preempted, some not)",
            ranks_between(&values, pair.measured, pair.predicted)
        )
    };
    let halves = |pair: &Pair| {
        let halves = apart.iter().find(|halves| halves.label == pair.label);
        halves.map_or(String::new(), |halves| {
            let error = 100.0 * halves.error();
            format!("; what was measured of the even half is {error:+.1} % from the odd one")
        })
    };
    let line = |pair: Pair| {
        let places = if pair.label.contains("e2e_ms") { places(&pair) } else { String::new() };
        let (error, halves) = (100.0 * pair.error(), halves(&pair));
        format!("{}: off by {error:+.1} %{places}{halves}", pair.label)
    };
    of_run.map(line).collect()
}

fn first(runs: Vec<RunReport>) -> Result<RunReport, String> {
    runs.into_iter().next().ok_or_else(|| "a file without a run".to_owned())
}

/// Fitted to half of the requests, and to the row of means alone.
///
/// # Errors
/// The tables are not as expected.
pub fn checks(published: &Published) -> Result<[Check; 2], String> {
    let (mut halves, mut means, mut apart) = (Vec::new(), Vec::new(), Vec::new());
    let mut reasons = (Vec::new(), Vec::new());
    for run in &RUNS {
        let records = run.records(published)?;
        let pool = pool_of(&run.document())?;
        let fitted = replay(&records, &pool, None, true).map_err(|why| why.to_string())?;
        let report = first(fitted.runs)?;
        halves.extend(pairs(run.gpu, &report));
        apart.extend(halves_apart(run.gpu, &report));
        reasons.0.extend(beyond(run.gpu, &report, BOUNDS[0].0));
        let pool = fitted_to_means(run, &run.means(published)?, &records, &pool)?;
        let read = replay(&records, &pool, None, false).map_err(|why| why.to_string())?;
        let report = first(read.runs)?;
        means.extend(pairs(run.gpu, &report));
        reasons.1.extend(beyond(run.gpu, &report, BOUNDS[1].0));
    }
    let apart = Errors::of(&apart).ok_or("nothing was replayed")?;
    let of = |pairs: Vec<Pair>, words: (&str, &str), bounds: (f64, f64), findings: Vec<String>| {
        let errors = Errors::of(&pairs).ok_or("nothing was replayed")?;
        Ok(Check {
            title: words.0.to_owned(),
            source: "LLMServingSim@5daddb21 (MIT), vLLM 0.19 with Llama-3.1-8B".to_owned(),
            method: words.1.to_owned(),
            measures: vec![
                Measure::bound("worst", errors.worst, bounds.0, bounds.1),
                Measure::told("mean", errors.mean),
                Measure::told("worst between the measured halves", apart.worst),
                Measure::told("mean between them", apart.mean),
            ],
            findings,
            pairs,
        })
    };
    let half = (
        "Two runs request by request, fitted on one half and read on the other",
        "A law is fitted to the requests with even numbers; percentiles of those with odd ones are \
         read. TTFT, TPOT and E2E at p50, p90 and p99, and the makespan. Beside it, how far what was \
         measured of the two halves lies apart, with nothing predicted: a figure of 150 requests is \
         no surer than that.",
    );
    let row = (
        "The same runs from their row of means alone",
        "Known are when requests came and how long they were, and from the benchmark's own row mean \
         TTFT, mean TPOT and output tokens per second: a law is fitted to those three, and all \
         percentiles are read.",
    );
    let checks: Result<[Check; 2], &str> =
        (|| Ok([of(halves, half, BOUNDS[0], reasons.0)?, of(means, row, BOUNDS[1], reasons.1)?]))();
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
    fn places_between_two_values_are_counted_from_either_side() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        for (a, b, places) in [(2.0, 4.5, 3), (4.5, 2.0, 3), (2.0, 2.5, 1), (1.0, 5.0, 4)] {
            assert_eq!(ranks_between(&values, a, b), places, "{a} {b}");
        }
    }

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

//! Steady stages of vLLM V1 on H100, nothing fitted per experiment: time per output token, and time to
//! first token.
//!
//! The clients of these stages re-use a few dozen prompts, so that after the first round all of a
//! prompt but its last block is in the prefix cache: the scenarios say so (`repeated_prompts`).

use goodput_engine::calibration::Prediction;
use goodput_engine::fleet::{KvPrecision, WeightPrecision};
use goodput_engine::scenario::doc::LengthsDoc;

use super::check::{Check, Errors, Measure, Pair};
use super::data::{Published, Row, Table, rounded, whole};
use super::experiment::{Experiment, Load, one_replica};
use super::findings::by_group;

/// Time per step beside the kernels (scheduler, sampling), and time per request before it is queued
/// (server, tokeniser), the same for all experiments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overheads {
    /// Milliseconds per step.
    pub step_ms: f64,
    /// Milliseconds per request.
    pub api_ms: f64,
}

/// A stage with what was measured.
#[derive(Debug, Clone)]
pub struct Stage {
    /// Model, parallelism and load in words.
    pub label: String,
    /// Model and tensor parallelism.
    pub group: String,
    /// Its conditions.
    pub experiment: Experiment,
    /// (E2E − TTFT) ÷ (n − 1), means of the stage, milliseconds.
    pub tpot_ms: f64,
    /// Median, milliseconds, where it was published.
    pub ttft_p50_ms: Option<f64>,
}

/// Seconds simulated of a stage: they are steady, and every prompt is cached after the first ten.
const SECONDS: f64 = 300.0;

/// The 68 stages whose time per output token was compared with kernel times.
///
/// # Errors
/// The tables are not as expected.
pub fn tpot_stages(published: &Published) -> Result<Vec<Stage>, String> {
    let settings = published.table("serving/serving_points.csv")?;
    let stages = published.table("iteration/tpot_check.csv")?;
    stages.rows().map(|row| tpot_stage(row, &settings)).collect()
}

fn tpot_stage(row: Row, settings: &Table) -> Result<Stage, String> {
    let experiment = row.text("exp");
    let named = |point: &Row| point.noted("exp") == Some(experiment);
    let point =
        settings.rows().find(named).ok_or_else(|| format!("no settings of {experiment}"))?;
    let (model, tensor_parallel) = (row.text("model"), row.count("tp")?);
    let lengths = (row.number("isl")?, row.number("osl")?);
    let ttft_p50_ms = row.number("ttft_p50_measured_ms").ok();
    let measured = (row.number("tpot_measured_ms")?, ttft_p50_ms);
    stage((model, tensor_parallel), (row.number("rate_rps")?, lengths), point, measured)
}

/// Stages with percentiles of the time to first token, but for those in overload.
///
/// # Errors
/// The table is not as expected.
pub fn ttft_stages(published: &Published) -> Result<Vec<Stage>, String> {
    let points = published.table("serving/serving_points.csv")?;
    let of_set = |row: &Row| {
        row.text("src") == "blis-training"
            && row.noted("stage") != Some("summary")
            && row.noted("workload") != Some("reasoning")
    };
    points.rows().filter(of_set).map(ttft_stage).collect()
}

fn ttft_stage(row: Row) -> Result<Stage, String> {
    let model = known_model(row.text("model"))?;
    let (isl, osl) = (row.number("isl")?, row.number("osl")?);
    let tpot_ms = (row.number("e2e_mean_ms")? - row.number("ttft_mean_ms")?) / (osl - 1.0);
    let measured = (tpot_ms, Some(row.number("ttft_p50_ms")?));
    stage((model, row.count("tp")?), (row.number("load_value")?, (isl, osl)), row, measured)
}

fn known_model(hugging_face: &str) -> Result<&'static str, String> {
    Ok(match hugging_face {
        "codellama/CodeLlama-34b-Instruct-hf" => "CodeLlama-34B",
        "meta-llama/Llama-2-70b-hf" => "Llama-2-70B",
        "meta-llama/Llama-2-7b-hf" => "Llama-2-7B",
        "mistralai/Mixtral-8x7B-v0.1" => "Mixtral-8x7B",
        other => return Err(format!("a stage of {other}, which is none of the models expected")),
    })
}

fn stage(
    (model, tensor_parallel): (&str, u32),
    (rate_rps, (isl, osl)): (f64, (f64, f64)),
    settings: Row,
    (tpot_ms, ttft_p50_ms): (f64, Option<f64>),
) -> Result<Stage, String> {
    let bf16 = (WeightPrecision::Bf16, KvPrecision::Bf16);
    let mut pool = one_replica(("H100-SXM", model), tensor_parallel, bf16.0, bf16.1);
    // What is not known reads `nan` there.
    let number = |name: &str| {
        let number = settings.noted(name).and_then(|text| text.parse::<f64>().ok());
        number.filter(|number| number.is_finite())
    };
    if let Some(tokens) = number("max_num_batched_tokens") {
        pool.max_num_batched_tokens = whole(tokens)?;
    }
    if let Some(seqs) = number("max_num_seqs") {
        pool.max_num_seqs = whole(seqs)?;
    }
    pool.gpu_memory_utilization = number("gpu_mem_util").unwrap_or(pool.gpu_memory_utilization);
    pool.max_model_len = Some(4_096);
    let workload = settings.noted("workload").unwrap_or("general");
    Ok(Stage {
        label: format!(
            "{model} TP{tensor_parallel}, {} at {rate_rps:.1}/s, {} batched tokens",
            workload.split(' ').next().unwrap_or(workload),
            pool.max_num_batched_tokens,
        ),
        group: format!("{model} TP{tensor_parallel}"),
        experiment: Experiment {
            pool,
            load: Load::Even { rate_rps, seconds: SECONDS },
            input_tokens: LengthsDoc::Fixed { tokens: rounded(isl)? },
            output_tokens: LengthsDoc::Fixed { tokens: rounded(osl)? },
            repeated_prompts: Some(unique_prompts(workload)),
        },
        tpot_ms,
        ttft_p50_ms,
    })
}

/// Prompts that the client has of each workload: groups × prompts of a group.
fn unique_prompts(workload: &str) -> u32 {
    match workload.split(' ').next() {
        Some("codegen") => 11 * 4,
        Some("roleplay") => 10 * 5,
        Some("reasoning") => 23,
        _ => 9 * 5,
    }
}

impl Stage {
    /// What the clients would have measured with `overheads`.
    pub fn predict(&self, overheads: Overheads) -> Result<Prediction, String> {
        let mut experiment = self.experiment.clone();
        experiment.pool.step_time.step_overhead_ms = overheads.step_ms;
        experiment.pool.step_time.api_overhead_ms = overheads.api_ms;
        experiment.predict().map_err(|why| format!("{}: {why}", self.label))
    }
}

/// Steps of the search for an overhead.
const GRID: u32 = 40;

/// The overhead of 0 to `most_ms` at which `errors` of the pairs it gives are smallest.
fn best(
    most_ms: f64,
    pairs: &dyn Fn(f64) -> Result<Vec<Pair>, String>,
) -> Result<(f64, Vec<Pair>), String> {
    let mut best: Option<(f64, f64, Vec<Pair>)> = None;
    for step in 0..=GRID {
        let at = most_ms * f64::from(step) / f64::from(GRID);
        let pairs = pairs(at)?;
        let mean = Errors::of(&pairs).map_or(f64::INFINITY, |errors| errors.mean);
        if best.as_ref().is_none_or(|(least, ..)| mean < *least) {
            best = Some((mean, at, pairs));
        }
    }
    best.map(|(_, at, pairs)| (at, pairs)).ok_or_else(|| "nothing to fit to".to_owned())
}

/// TPOT of every stage with one overhead per step.
fn tpot_pairs(stages: &[Stage], step_ms: f64) -> Result<Vec<Pair>, String> {
    let pair = |stage: &Stage| {
        let run = stage.predict(Overheads { step_ms, api_ms: 0.0 })?;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        Ok(Pair::new(&stage.label, stage.tpot_ms, mean(&run.tpot_ms)))
    };
    stages.iter().map(pair).collect()
}

/// Median TTFT of every stage that has one.
fn ttft_pairs(stages: &[Stage], overheads: Overheads) -> Result<Vec<Pair>, String> {
    let measured = stages.iter().filter_map(|stage| Some((stage, stage.ttft_p50_ms?)));
    let pair = |(stage, measured): (&Stage, f64)| {
        let run = stage.predict(overheads)?;
        let median = goodput_engine::stats::nearest_rank(&run.ttft_ms, 0.5);
        let median = median.ok_or_else(|| format!("{}: nothing was served", stage.label))?;
        Ok(Pair::new(&stage.label, measured, median))
    };
    measured.map(pair).collect()
}

const SOURCE: &str = "inference-sim/training@ed5c1d2690 and its sim-to-real successor (no licence \
                      file: numbers as facts)";

/// Time per output token of the 68 stages; also the overhead per step that was fitted to them.
///
/// # Errors
/// The tables are not as expected.
pub fn tpot(published: &Published) -> Result<(Check, f64), String> {
    let stages = tpot_stages(published)?;
    let plain = Errors::of(&tpot_pairs(&stages, 0.0)?).ok_or("no stage")?;
    let (step_ms, pairs) = best(2.0, &|step_ms| tpot_pairs(&stages, step_ms))?;
    let errors = Errors::of(&pairs).ok_or("no stage")?;
    let groups: Vec<&str> = stages.iter().map(|stage| stage.group.as_str()).collect();
    let check = Check {
        title: format!("Time per output token, {} stages of 6 models on H100", pairs.len()),
        source: SOURCE.to_owned(),
        method: format!(
            "Simulated from the catalogue's kernel times, prompts cached as in the benchmark. \
             Fitted here, one number for all stages: {step_ms:.2} ms per step for scheduler and \
             sampling. Without it: mean {:.1} %, worst {:.1} %.",
            100.0 * plain.mean,
            100.0 * plain.worst
        ),
        measures: vec![
            Measure::bound("mean", errors.mean, 0.06, 0.04),
            Measure::bound("worst", errors.worst, 0.25, 0.15),
        ],
        findings: by_group(&groups, &pairs),
        pairs,
    };
    Ok((check, step_ms))
}

/// The two stages that must be met each.
const NAMED: [(&str, &str); 2] = [
    ("Llama-2-7B TP1, codegen at 5.0/s", "Llama-2-7B at 5/s"),
    ("Llama-2-70B TP4, codegen at 5.0/s", "Llama-2-70B TP4 at 5/s"),
];

/// Median time to first token below saturation, with the overhead per step of [`tpot`].
///
/// # Errors
/// The tables are not as expected.
pub fn ttft(published: &Published, step_ms: f64) -> Result<Check, String> {
    let stages = ttft_stages(published)?;
    let with = |api_ms: f64| ttft_pairs(&stages, Overheads { step_ms, api_ms });
    let plain = Errors::of(&with(0.0)?).ok_or("no stage")?;
    let (api_ms, pairs) = best(20.0, &with)?;
    let errors = Errors::of(&pairs).ok_or("no stage")?;
    let mut measures = Vec::new();
    for (label, name) in NAMED {
        let pair = pairs.iter().find(|pair| pair.label.starts_with(label));
        let pair = pair.ok_or_else(|| format!("no stage {label}"))?;
        measures.push(Measure::bound(name, pair.error().abs(), 0.15, 0.08));
    }
    measures.push(Measure::told("mean of all", errors.mean));
    measures.push(Measure::told("worst of all", errors.worst));
    let groups: Vec<&str> = stages.iter().map(|stage| stage.group.as_str()).collect();
    Ok(Check {
        title: format!("Median time to first token below saturation, {} stages", pairs.len()),
        source: SOURCE.to_owned(),
        method: format!(
            "As above, with the same {step_ms:.2} ms per step. Waiting for the running step and the \
             scheduling lag are simulated. Fitted here, one number for all stages: {api_ms:.1} ms \
             per request for server and tokeniser. Without it: mean {:.1} %. Llama-2-7B has no row \
             of its own and is served by the physics law of the GPU.",
            100.0 * plain.mean
        ),
        measures,
        findings: by_group(&groups, &pairs),
        pairs,
    })
}

//! Most throughput of TensorRT-LLM, all requests at once: another engine on the kernels of vLLM, so that
//! what is off says how far a law carries from one engine to another. Nothing is asked of it.

use goodput_engine::calibration::Prediction;
use goodput_engine::fleet::{KvPrecision, WeightPrecision};
use goodput_engine::scenario::doc::LengthsDoc;

use super::check::{Check, Errors, Measure, Pair};
use super::data::{Published, Row, rounded};
use super::experiment::{Experiment, Load, one_replica};
use super::findings::by_group;

/// Requests where a table does not say how many there were; longer runs are cut there too.
const REQUESTS: u32 = 1_500;

/// One published row.
struct Point {
    group: String,
    label: String,
    experiment: Experiment,
    output_tps: f64,
}

/// The rows of GPUs, models and precisions whose kernels were timed.
fn has_kernels(row: &Row) -> bool {
    let of = |name| row.text(name);
    let engine = of("src").starts_with("trtllm") || of("src").starts_with("shaamil101");
    let known = matches!(
        (of("model"), of("gpu"), of("precision")),
        ("Llama-3.1-8B" | "Llama-3.1-70B" | "Llama-3.3-70B", "H100-SXM" | "H200-SXM", "fp8")
            | ("Llama-3.3-70B", "B200-SXM" | "GB200", "fp4")
    );
    engine && known && row.number("out_tok_s").is_ok()
}

fn point(row: Row) -> Result<Point, String> {
    let (model, gpu, precision) = (row.text("model"), row.text("gpu"), row.text("precision"));
    let weights = if precision == "fp8" { WeightPrecision::Fp8 } else { WeightPrecision::Nvfp4 };
    let tensor_parallel = row.count("tp")?;
    let (isl, osl) = (rounded(row.number("isl")?)?, rounded(row.number("osl")?)?);
    let mut pool = one_replica((gpu, model), tensor_parallel, weights, KvPrecision::Fp8);
    pool.max_num_seqs = 2_048;
    pool.max_num_batched_tokens = 8_192;
    pool.enable_prefix_caching = false;
    pool.max_model_len = Some(isl + osl + 1);
    let requests = row.count("load_value").unwrap_or(REQUESTS).min(REQUESTS);
    let version = row.text("engine_version");
    Ok(Point {
        group: format!("{model} {precision} on {gpu} TP{tensor_parallel}"),
        label: format!("{model} {precision}, {gpu} TP{tensor_parallel}, {isl}/{osl}, {version}"),
        experiment: Experiment {
            pool,
            load: Load::Clients { clients: requests, requests },
            input_tokens: LengthsDoc::Fixed { tokens: isl },
            output_tokens: LengthsDoc::Fixed { tokens: osl },
            repeated_prompts: None,
        },
        output_tps: row.number("out_tok_s")?,
    })
}

/// Why whole groups are off, as far as it is known.
const REASONS: [&str; 2] = [
    "8 bits on Hopper are predicted too slow. Likely: kernels of TensorRT-LLM take less time than those of \
     vLLM there, which no law of one says of the other",
    "answers of 8,192 and 16,384 tokens at TP8 are predicted too fast. Likely: that engine admits only what is \
     sure to end in its memory (guaranteed no evict), so that fewer are served at once than here",
];

/// Output tokens per second of every row.
///
/// # Errors
/// The table is not as expected.
pub fn check(published: &Published) -> Result<Check, String> {
    let table = published.table("serving/serving_points.csv")?;
    let points =
        table.rows().filter(has_kernels).map(point).collect::<Result<Vec<Point>, String>>()?;
    let mut pairs = Vec::new();
    for point in &points {
        let run: Prediction =
            point.experiment.predict().map_err(|why| format!("{}: {why}", point.label))?;
        pairs.push(Pair::new(&point.label, point.output_tps, run.output_tps));
    }
    let errors = Errors::of(&pairs).ok_or("no row")?;
    let groups: Vec<&str> = points.iter().map(|point| point.group.as_str()).collect();
    Ok(Check {
        title: format!("Most throughput of TensorRT-LLM, all at once, {} rows", pairs.len()),
        source:
            "NVIDIA/TensorRT-LLM perf-overview@00f37686 (Apache-2.0) and shaamil101 (facts), as \
                 validation experiment V9"
                .to_owned(),
        method: format!(
            "Rows of models whose vLLM kernels were timed, simulated with 2,048 seats, 8,192 tokens \
             per step and a cache in 8 bits, {REQUESTS} requests or as many as the row says if they \
             are fewer. Another engine with other kernels: nothing is asked, and a user of it should \
             fit a law."
        ),
        measures: vec![
            Measure::told("median", errors.median),
            Measure::told("mean", errors.mean),
            Measure::told("worst", errors.worst),
        ],
        findings: REASONS.map(str::to_owned).into_iter().chain(by_group(&groups, &pairs)).collect(),
        pairs,
    })
}

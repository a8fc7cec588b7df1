//! Prompts read faster than a GPU can: a warm prefix cache, or a wrong number.

use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::number;

/// Prompt tokens/s one GPU does not exceed: an 8B model at 16-bit needs 16 GFLOP per token, and
/// 100,000 of them are 1.6 PFLOP/s, above what an H100 sustains. Models of 1 or 2 billion
/// parameters can be faster, which the advice says.
const MOST_TPS_PER_GPU: f64 = 100_000.0;

/// GPUs assumed for the bound when the file does not say: a generous one, to accuse nobody.
const GPUS_IF_UNSTATED: f64 = 2.0;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let point = subject.point;
    let prompt = subject.mean_input().filter(|&tokens| tokens > 0.0)?;
    let gpus = point.context.gpu_count.filter(|&gpus| gpus > 0);
    let bound = MOST_TPS_PER_GPU * gpus.map_or(GPUS_IF_UNSTATED, |gpus| gpus as f64);
    let ttft_ms = point.ttft.as_ref().and_then(|ttft| ttft.percentile(0.5).or(ttft.mean_ms));
    let of_one = ttft_ms.filter(|&ms| ms > 0.0).map(|ms| prompt / ms * 1e3);
    let of_all = subject.completed_rps().map(|rate| prompt * rate);
    let (what, rate) = [("one prompt", of_one), ("all prompts", of_all)]
        .into_iter()
        .filter_map(|(what, rate)| Some((what, rate?)))
        .find(|&(_, rate)| rate > bound)?;
    Some(
        Finding::warning(
            "prefill_rate",
            format!(
                "{what} would have been read at {} tokens/s or more, which is beyond {} for {}: \
                 a warm prefix cache, or a wrong number",
                number(rate),
                number(bound),
                gpus.map_or_else(
                    || "an unstated number of GPUs".to_owned(),
                    |gpus| format!("{gpus} GPUs")
                ),
            ),
        )
        .figure("implied prefill rate", rate, "tokens/s")
        .figure("bound", bound, "tokens/s")
        .advice(
            "ask for the prefix-cache hit rate, restart the server or change the seed between \
             runs, and plan with cold numbers; a model of one or two billion parameters may be \
             this fast",
        ),
    )
}

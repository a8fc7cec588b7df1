//! KV memory: what engines printed at start-up, nothing fitted.

use goodput_engine::catalog;
use goodput_engine::fleet::{GIB, KvFootprint, KvPrecision, Layout, WeightPrecision};
use goodput_engine::scenario::doc::LengthsDoc;

use super::check::{Check, Errors, Measure, Pair};
use super::experiment::{Experiment, Load, one_replica};

/// Blocks of 16 tokens that an engine had.
struct Printed {
    gpu: &'static str,
    model: &'static str,
    max_num_seqs: u32,
    blocks: u32,
}

const PRINTED: [Printed; 2] = [
    Printed { gpu: "RTX-4090", model: "Llama-3.1-8B", max_num_seqs: 256, blocks: 2_588 },
    Printed { gpu: "H100-SXM", model: "Llama-2-7B", max_num_seqs: 128, blocks: 7_463 },
];

/// Tokens that one GPU of eight held in so many GiB.
const KIMI: (f64, f64) = (46.80, 715_072.0);

/// Predicted block counts and bytes beside those of engines.
///
/// # Errors
/// The catalogue does not know a GPU or a model.
pub fn check() -> Result<Check, String> {
    let mut pairs = Vec::new();
    for Printed { gpu, model, max_num_seqs, blocks } in PRINTED {
        let precisions = (WeightPrecision::Bf16, KvPrecision::Bf16);
        let mut pool = one_replica((gpu, model), 1, precisions.0, precisions.1);
        pool.max_num_seqs = max_num_seqs;
        let length = LengthsDoc::Fixed { tokens: 100 };
        let experiment = Experiment {
            pool,
            load: Load::Clients { clients: 1, requests: 1 },
            input_tokens: length.clone(),
            output_tokens: length,
            repeated_prompts: None,
        };
        let predicted = experiment.scenario()?.pool.memory.kv_capacity_blocks;
        let label = format!("{model} on {gpu}, KV blocks");
        pairs.push(Pair::new(label, f64::from(blocks), predicted as f64));
    }
    let kimi = catalog::model("Kimi-K2").map_err(|why| why.to_string())?;
    let layout = Layout::tensor_parallel(8);
    let per_token = KvFootprint::per_gpu(&kimi.shape, &layout, KvPrecision::Bf16).bytes_per_token();
    let (gib, tokens) = KIMI;
    let label = format!("Kimi-K2 TP8, tokens in {gib} GiB of each GPU");
    pairs.push(Pair::new(label, tokens, gib * GIB / per_token as f64));
    let errors = Errors::of(&pairs).ok_or("nothing was measured")?;
    Ok(Check {
        title: "KV memory that engines printed at start-up".to_owned(),
        source: "LLMServingSim@5daddb21 (MIT), inference-sim/training@ed5c1d2690 (no licence file: \
                 numbers as facts), vllm-project/recipes pull request 115"
            .to_owned(),
        method: "Memory arithmetic of the catalogue. The two overheads beside the weights were set \
                 from the first two engines, so that those say how well one set of constants serves \
                 two GPUs; bytes per token of latent attention rest on the architecture alone."
            .to_owned(),
        measures: vec![Measure::bound("worst", errors.worst, 0.05, 0.03)],
        pairs,
        findings: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_of_three_engines_is_known_within_the_bound() {
        let check = check().unwrap();
        assert_eq!(check.pairs.len(), 3);
        assert!(check.measures[0].reached < 0.05, "{:?}", check.pairs);
    }
}

//! Sums of kernel times over the layers of a model, and what of them an engine has to pay.

use std::collections::BTreeMap;

/// What was timed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Configuration {
    /// Id of the GPU.
    pub gpu: String,
    /// Id of the model.
    pub model: String,
    /// GPUs that share each layer.
    pub tensor_parallel: u32,
    /// Of linear weights and experts, as the tables spell it.
    pub precision: String,
    /// Kernels that were timed.
    pub kernels: String,
}

/// Times of one batch shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sum {
    /// Prompt tokens computed.
    pub prefill_tokens: u64,
    /// Twice their attention pairs.
    pub prefill_half_pairs: u64,
    /// Sequences that decode.
    pub decode_seqs: u64,
    /// Cached tokens they read.
    pub kv_tokens: u64,
    /// What depends on the tokens of the step alone: matrix products, all-reduces, experts; ms.
    pub by_tokens_ms: [f64; 3],
    /// All of the step, milliseconds.
    pub total_ms: f64,
}

impl Sum {
    /// Tokens of the step.
    pub fn tokens(&self) -> u64 {
        self.prefill_tokens + self.decode_seqs
    }
}

/// The table, by configuration.
///
/// # Errors
/// A column or number is missing.
pub fn read(text: &str) -> Result<BTreeMap<Configuration, Vec<Sum>>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers().map_err(|why| why.to_string())?.clone();
    let mut sums: BTreeMap<Configuration, Vec<Sum>> = BTreeMap::new();
    for row in reader.records() {
        let row = row.map_err(|why| why.to_string())?;
        let cell = |name: &str| {
            let at = columns.iter().position(|column| column == name);
            at.and_then(|at| row.get(at)).ok_or_else(|| format!("no column {name}"))
        };
        let number = |name: &str| {
            cell(name)?.parse::<f64>().map_err(|why| format!("{name} in line {row:?}: {why}"))
        };
        let count = |name: &str, of: f64| whole(of * number(name)?, name);
        let configuration = Configuration {
            gpu: cell("gpu")?.to_owned(),
            model: cell("model")?.to_owned(),
            tensor_parallel: cell("tp")?.parse().map_err(|why| format!("tp: {why}"))?,
            precision: cell("precision")?.to_owned(),
            kernels: cell("ops_engine")?.to_owned(),
        };
        sums.entry(configuration).or_default().push(Sum {
            prefill_tokens: count("prefill_tokens", 1.0)?,
            prefill_half_pairs: count("prefill_pairs", 2.0)?,
            decode_seqs: count("decode_seqs", 1.0)?,
            kv_tokens: count("kv_tokens", 1.0)?,
            by_tokens_ms: [number("gemm_ms")?, number("comm_ms")?, number("moe_ms")?],
            total_ms: number("total_ms")?,
        });
    }
    Ok(sums)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
fn whole(value: f64, name: &str) -> Result<u64, String> {
    let fits = (0.0..1e15).contains(&value);
    fits.then(|| value.round() as u64).ok_or_else(|| format!("{name}: {value} is no count"))
}

/// The same with kernels that never take longer for fewer tokens. A kernel for more tokens does those
/// that are there and some that are not, so that what it takes bounds what an engine must pay; that a
/// table holds more says which variant its benchmark picked (on B200, matrix products in 8 bits take
/// up to 1.6 times as long for one token as for 32).
pub fn monotone(sums: &[Sum]) -> Vec<Sum> {
    let mut sums = sums.to_vec();
    for part in 0..3 {
        let mut least: BTreeMap<u64, f64> = BTreeMap::new();
        for sum in &sums {
            let least = least.entry(sum.tokens()).or_insert(f64::INFINITY);
            *least = least.min(sum.by_tokens_ms[part]);
        }
        let mut above = f64::INFINITY;
        for ms in least.values_mut().rev() {
            above = above.min(*ms);
            *ms = above;
        }
        for sum in &mut sums {
            let ms = least[&sum.tokens()];
            sum.total_ms -= sum.by_tokens_ms[part] - ms;
            sum.by_tokens_ms[part] = ms;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_tokens_never_take_longer_and_nothing_else_moves() {
        let sum = |tokens: u64, gemm: f64, moe: f64| Sum {
            prefill_tokens: 0,
            prefill_half_pairs: 0,
            decode_seqs: tokens,
            kv_tokens: 100 * tokens,
            by_tokens_ms: [gemm, 1.0, moe],
            total_ms: gemm + 1.0 + moe + 0.5,
        };
        let timed = [sum(1, 6.0, 1.0), sum(2, 3.0, 4.0), sum(4, 4.0, 2.0), sum(8, 5.0, 3.0)];
        let paid = monotone(&timed);
        let gemm: Vec<f64> = paid.iter().map(|sum| sum.by_tokens_ms[0]).collect();
        assert_eq!(gemm, [3.0, 3.0, 4.0, 5.0]);
        let totals: Vec<f64> = paid.iter().map(|sum| sum.total_ms).collect();
        assert_eq!(totals, [5.5, 6.5, 7.5, 9.5]);
        assert_eq!(monotone(&paid), paid, "once is enough");
        assert_eq!(paid[3], timed[3]);
    }

    #[test]
    fn rows_are_read_by_their_columns() {
        let text = "tp,gpu,ops_engine,model,precision,prefill_tokens,prefill_pairs,decode_seqs,\
                    kv_tokens,gemm_ms,comm_ms,moe_ms,total_ms\n\
                    2,G,k,M,fp8,1,0.5,3,384,1.5,0.25,0,2.0\n";
        let sums = read(text).unwrap();
        let (configuration, sums) = sums.first_key_value().unwrap();
        assert_eq!((configuration.tensor_parallel, configuration.gpu.as_str()), (2, "G"));
        assert_eq!((sums[0].prefill_half_pairs, sums[0].tokens()), (1, 4));
        assert!(read("gpu\nG\n").is_err() && read(&text.replace("0.5", "x")).is_err());
    }
}

//! Derives `calibration-data/kv_cache_fp8.csv` from kernel timings: attention on a cache in 8 bits
//! against one in 16, per GPU and width of heads.
//!
//! `cargo run -p goodput-engine --example kv_cache_fp8 -- FOLDER` prints the table; FOLDER holds
//! `attn_decode_ms_by_kv.csv` and `attn_prefill_ms_by_isl.csv`. For every number of heads a straight
//! line goes through time over cached tokens (or attention pairs), with relative least squares; the
//! factor is the median of the ratios of slopes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use goodput_engine::stats::nearest_rank;

/// The range of the step law: longer contexts and larger batches are outside of it.
const LONGEST: f64 = 32_768.0;
/// See [`LONGEST`].
const LARGEST_BATCH: f64 = 512.0;
/// GPUs of the library, all of which have kernels of both formats but the A100.
const GPUS: [&str; 6] = ["H100-SXM", "H200-SXM", "B200-SXM", "GB200", "L40S", "RTX-PRO-6000-SE"];

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: kv_cache_fp8 FOLDER (of kernel timings)");
        return ExitCode::from(2);
    };
    match table(Path::new(&folder)) {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("kv_cache_fp8: {why}");
            ExitCode::FAILURE
        }
    }
}

/// GPU and width of heads.
type Group = (String, String);

fn table(folder: &Path) -> Result<String, String> {
    let read = |name: &str| {
        std::fs::read_to_string(folder.join(name)).map_err(|why| format!("{name}: {why}"))
    };
    let decode = factors(&read("attn_decode_ms_by_kv.csv")?, |batch, kv| batch * kv)?;
    let prefill =
        factors(&read("attn_prefill_ms_by_isl.csv")?, |batch, isl| batch * isl * isl / 2.0)?;
    let mut lines = vec!["gpu,head_dim,decode_factor,prefill_factor,source".to_owned()];
    for gpu in GPUS {
        for head_dim in ["64", "128"] {
            let group = (gpu.to_owned(), head_dim.to_owned());
            let of = |factors: &BTreeMap<Group, f64>| {
                factors.get(&group).copied().ok_or_else(|| format!("no kernels of {group:?}"))
            };
            let (decode, prefill) = (of(&decode)?, of(&prefill)?);
            lines.push(format!("{gpu},{head_dim},{decode:.3},{prefill:.3},aic-kernels"));
        }
    }
    Ok(lines.join("\n") + "\n")
}

/// The median ratio of slopes, 8 over 16 bits, of each group. `work` is what time grows with.
fn factors(text: &str, work: fn(f64, f64) -> f64) -> Result<BTreeMap<Group, f64>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers().map_err(|why| why.to_string())?.clone();
    // By group, number of heads and format: work and milliseconds.
    let mut timed: BTreeMap<(Group, String, String), Vec<(f64, f64)>> = BTreeMap::new();
    for row in reader.records() {
        let row = row.map_err(|why| why.to_string())?;
        let cell = |name: &str| {
            columns
                .iter()
                .zip(&row)
                .find(|(column, _)| *column == name)
                .map_or("", |(_, cell)| cell)
        };
        if cell("window_size") != "0" {
            continue;
        }
        let group = (cell("gpu").to_owned(), cell("head_dim").to_owned());
        let heads = format!("{}/{}", cell("num_heads"), cell("num_key_value_heads"));
        let batch = cell("batch_size").parse::<f64>().map_err(|why| why.to_string())?;
        let timed = timed.entry((group, heads, cell("kv_cache_dtype").to_owned())).or_default();
        for (column, cell) in columns.iter().zip(&row) {
            let (Ok(length), Ok(ms)) = (column.parse::<f64>(), cell.parse::<f64>()) else {
                continue;
            };
            if length <= LONGEST && batch <= LARGEST_BATCH {
                timed.push((work(batch, length), ms));
            }
        }
    }
    let mut ratios: BTreeMap<Group, Vec<f64>> = BTreeMap::new();
    for ((group, heads, format), points) in &timed {
        let wide = timed.get(&(group.clone(), heads.clone(), "bfloat16".to_owned()));
        if let (true, Some(wide)) = (format == "fp8", wide) {
            ratios.entry(group.clone()).or_default().push(slope(points) / slope(wide));
        }
    }
    for ratios in ratios.values_mut() {
        ratios.sort_by(f64::total_cmp);
    }
    let median = |(group, ratios): (Group, Vec<f64>)| Some((group, nearest_rank(&ratios, 0.5)?));
    Ok(ratios.into_iter().filter_map(median).collect())
}

/// The slope of the straight line through `(x, t)` whose relative errors have the smallest squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let mut sums = [0.0; 5];
    for (x, t) in points {
        let weight = 1.0 / (t * t);
        for (sum, term) in sums.iter_mut().zip([1.0, *x, *t, x * x, x * t]) {
            *sum += weight * term;
        }
    }
    let [one, x, t, xx, xt] = sums;
    (one * xt - x * t) / (one * xx - x * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_is_found_beside_a_fixed_time() {
        let line = |x: f64| (x, 0.01 + 3e-6 * x);
        let found = slope(&[128.0, 1e3, 1e4, 1e6].map(line));
        assert!((found / 3e-6 - 1.0).abs() < 1e-9, "{found}");
    }

    #[test]
    fn factors_are_of_like_heads_without_windows() {
        let head =
            "gpu,kv_cache_dtype,num_heads,num_key_value_heads,head_dim,window_size,batch_size";
        let text = format!(
            "{head},1000,2000,99999999\n\
             G,bfloat16,8,1,128,0,1,0.02,0.03,9\nG,fp8,8,1,128,0,1,0.02,0.026,9\n\
             G,fp8,8,1,128,64,1,0.02,0.09,9\nG,fp8,9,3,128,0,1,0.02,0.09,9\n"
        );
        let factors = factors(&text, |batch, kv| batch * kv).unwrap();
        let found = factors[&("G".to_owned(), "128".to_owned())];
        assert!((found - 0.6).abs() < 1e-9 && factors.len() == 1, "{factors:?}");
    }

    #[test]
    fn the_shipped_table_is_what_the_kernels_say() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let kernels = root.join("../shared/calibration/ops");
        if !kernels.is_dir() {
            println!("skipped: no ../shared/calibration/ops");
            return;
        }
        let shipped = std::fs::read_to_string(root.join("calibration-data/kv_cache_fp8.csv"));
        assert_eq!(table(&kernels).unwrap(), shipped.unwrap());
    }
}

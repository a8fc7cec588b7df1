//! Derives `calibration-data/step_time_library.csv`: a step law for each GPU, model, tensor parallelism
//! and precision of which kernels were timed.
//!
//! `cargo run --release -p goodput-engine --example step_time_library -- FOLDER` prints the table;
//! FOLDER holds `opsum_iteration_ms.csv`, the sums over the layers of a model of its kernels' times for
//! 323 batch shapes each. Kernels of a step that take longer for fewer tokens are taken at what more
//! tokens cost ([`sums`]); the law is fitted to what that leaves ([`fit`]).

mod fit;
mod sums;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use goodput_engine::catalog;
use goodput_engine::stats::nearest_rank;

use fit::{Fit, fit};
use sums::{Configuration, Sum, monotone, read};

const COLUMNS: &str = "gpu,model,tensor_parallel,precision,kernels,c0_ms,cw_ms,cw_experts_ms,\
                       c1_ms_per_token,c2_ms_per_pair,c3_ms_per_decode_seq,c4_ms_per_kv_token,\
                       p_minus_1,mape_pct,p95_pct,worst_pct,source";

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: step_time_library FOLDER (of sums of kernel times)");
        return ExitCode::from(2);
    };
    match table(Path::new(&folder), |_| true) {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("step_time_library: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The rows of those configurations that are `wanted`, under their columns.
fn table(folder: &Path, wanted: impl Fn(&Configuration) -> bool) -> Result<String, String> {
    let path = folder.join("opsum_iteration_ms.csv");
    let text =
        std::fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    let sums: BTreeMap<Configuration, Vec<Sum>> = read(&text)?;
    let mut lines = vec![COLUMNS.to_owned()];
    for (configuration, sums) in sums.iter().filter(|(configuration, _)| wanted(configuration)) {
        let found = fit(&monotone(sums), expert_share(&configuration.model)?);
        lines.push(row(configuration, &found));
    }
    Ok(lines.join("\n") + "\n")
}

/// k/E of a model of the catalogue.
fn expert_share(model: &str) -> Result<f64, String> {
    let entry = catalog::models().iter().find(|entry| entry.id == model);
    entry.map(|entry| entry.shape.expert_share()).ok_or_else(|| format!("no model {model}"))
}

fn row(configuration: &Configuration, fit: &Fit) -> String {
    let Configuration { gpu, model, tensor_parallel, precision, kernels } = configuration;
    let law = &fit.coefficients;
    let error = |p: f64| 100.0 * nearest_rank(&fit.errors, p).unwrap_or(f64::NAN);
    let mean = 100.0 * fit.errors.iter().sum::<f64>() / fit.errors.len() as f64;
    let times = [
        law.c0_s,
        law.cw_s,
        law.cw_experts_s,
        law.c1_s_per_token,
        law.c2_s_per_pair,
        law.c3_s_per_decode_seq,
        law.c4_s_per_kv_token,
    ];
    let times = times.map(|seconds| short(1e3 * seconds)).join(",");
    let p = short(law.p - 1.0);
    let errors = [mean, error(0.95), error(1.0)].map(|per_cent| format!("{per_cent:.2}")).join(",");
    format!(
        "{gpu},{model},{tensor_parallel},{precision},{kernels},{times},{p},{errors},aic-kernels"
    )
}

/// Five significant digits; what is below a picosecond is none.
fn short(ms: f64) -> String {
    if ms.abs() < 1e-9 {
        return "0".to_owned();
    }
    let scientific = format!("{ms:.4e}");
    if ms.abs() < 1e-3 {
        return scientific;
    }
    let rounded: f64 = scientific.parse().unwrap_or(ms);
    rounded.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_survive() {
        for (ms, text) in [(12.345_678, "12.346"), (4.879_181e-5, "4.8792e-5"), (1e-12, "0")] {
            assert_eq!(short(ms), text);
        }
    }

    /// Rows of both kinds, dense and with experts; all of them would take minutes.
    #[test]
    fn the_shipped_rows_are_what_the_kernels_say() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let kernels = root.join("../shared/calibration/iteration");
        if !kernels.is_dir() {
            println!("skipped: no ../shared/calibration/iteration");
            return;
        }
        let one = |configuration: &Configuration| {
            configuration.gpu == "B200-SXM"
                && configuration.tensor_parallel == 2
                && configuration.precision != "nvfp4"
        };
        let shipped =
            std::fs::read_to_string(root.join("calibration-data/step_time_library.csv")).unwrap();
        let derived = table(&kernels, one).unwrap();
        assert_eq!(derived.lines().count(), 3, "{derived}");
        for line in derived.lines() {
            assert!(shipped.lines().any(|shipped| shipped == line), "{line}");
        }
    }
}

//! Laws that only the check knows: two loads of each are simulated and exported, a law is fitted to
//! them, and a third load tells how near it came.

use goodput_engine::accounts::replica_spec;
use goodput_engine::calibration::law::calibrate_law;
use goodput_engine::calibration::{BenchmarkedPool, Conditions, Observation, Prediction};
use goodput_engine::fleet::{KvPrecision, WeightPrecision};
use goodput_engine::scenario::Pool;
use goodput_engine::scenario::doc::{LengthsDoc, ScenarioDoc};
use goodput_engine::step_time::StepCoefficients;
use goodput_engine::{math, stats};
use rand::{RngExt, SeedableRng};

use super::benchmark::{Aggregates, pool_of, with_law};
use super::check::{Check, Errors, Measure, Pair};
use super::experiment::{Experiment, Load, one_replica};

/// How many laws are hidden.
const TRIALS: u64 = 200;
/// Clients of the two loads that are fitted, and of the one that is read.
const FITTED: [u32; 2] = [4, 64];
/// See [`FITTED`].
const READ: u32 = 24;
/// Requests of a run per client.
const ROUNDS: u32 = 6;
/// Standard deviations of the logarithms of what is hidden: of the whole law, c0 and cw, c1, c2, c3
/// and c4.
const HIDDEN: [f64; 6] = [0.5, 0.3, 0.35, 0.7, 1.0, 0.4];

fn base() -> StepCoefficients {
    StepCoefficients {
        c0_s: 1.5e-3,
        cw_s: 6e-3,
        cw_experts_s: 0.0,
        expert_share: 0.0,
        c1_s_per_token: 3e-5,
        c2_s_per_pair: 1e-9,
        c3_s_per_decode_seq: 5e-6,
        c4_s_per_kv_token: 5e-8,
        p: 2.0,
    }
}

/// A draw of a normal law (the sum of twelve uniform ones).
fn normal(random: &mut impl RngExt) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

fn hidden(trial: u64) -> StepCoefficients {
    let mut random = rand::rngs::Xoshiro256PlusPlus::seed_from_u64(trial);
    let logs = HIDDEN.map(|sd| sd * normal(&mut random));
    let factor = |term: usize| math::exp(logs[0] + logs[term]);
    let base = base();
    StepCoefficients {
        c0_s: base.c0_s * factor(1),
        cw_s: base.cw_s * factor(1),
        c1_s_per_token: base.c1_s_per_token * factor(2),
        c2_s_per_pair: base.c2_s_per_pair * factor(3),
        c3_s_per_decode_seq: base.c3_s_per_decode_seq * factor(4),
        c4_s_per_kv_token: base.c4_s_per_kv_token * factor(5),
        ..base
    }
}

fn document() -> ScenarioDoc {
    let served = ("H100-SXM", "Llama-3.1-8B");
    let experiment = Experiment {
        pool: one_replica(served, 1, WeightPrecision::Bf16, KvPrecision::Bf16),
        load: Load::Clients { clients: 1, requests: 1 },
        input_tokens: LengthsDoc::Fixed { tokens: 900 },
        output_tokens: LengthsDoc::Fixed { tokens: 200 },
        repeated_prompts: None,
    };
    experiment.document()
}

/// What a benchmark of `clients` would have reported of a pool.
fn measured(pool: &Pool, clients: u32) -> Result<Aggregates, String> {
    let mut run = Aggregates {
        model: pool.model.name.clone(),
        clients,
        requests: ROUNDS * clients.max(8),
        input_tokens: 900.0,
        output_tokens: 200.0,
        ttft_ms: 1.0,
        tpot_ms: 1.0,
        output_tps: 1.0,
    };
    let replica = replica_spec(pool).map_err(|why| why.problem().to_string())?;
    let conditions = Conditions::of(&run.point()?, &BenchmarkedPool::of(pool), &replica)?;
    let truth = Prediction::of(&conditions, &replica);
    let mean = |values: &[f64]| stats::mean(values).unwrap_or(f64::NAN);
    run.ttft_ms = mean(&truth.ttft_ms);
    run.tpot_ms = mean(&truth.tpot_ms);
    run.output_tps = truth.output_tps;
    Ok(run)
}

/// Hidden laws found again.
///
/// # Errors
/// A pool is not as expected.
pub fn check() -> Result<Check, String> {
    trials(TRIALS)
}

fn trials(count: u64) -> Result<Check, String> {
    let document = document();
    let known = pool_of(&with_law(&document, base()))?;
    let replica = replica_spec(&known).map_err(|why| why.problem().to_string())?;
    let (mut pairs, mut covered) = (Vec::new(), 0_usize);
    for trial in 0..count {
        let pool = pool_of(&with_law(&document, hidden(trial)))?;
        let files = [measured(&pool, FITTED[0])?.file(), measured(&pool, FITTED[1])?.file()];
        let law = calibrate_law(&files, &known).map_err(|why| why.problem().to_string())?;
        let law = law.ok_or("no point could be used")?;
        let read = measured(&pool, READ)?.point()?;
        let conditions = Conditions::of(&read, &BenchmarkedPool::of(&known), &replica)?;
        let observations = Observation::all(&read);
        let banded = law.predict((&conditions, &observations), &known);
        for banded in banded.map_err(|why| why.problem().to_string())? {
            covered += usize::from((banded.low..=banded.high).contains(&banded.measured));
            let label = format!("law {trial}, {}", banded.name);
            pairs.push(Pair::new(label, banded.measured, banded.predicted));
        }
    }
    let errors = Errors::of(&pairs).ok_or("nothing was predicted")?;
    let missed = 1.0 - covered as f64 / pairs.len() as f64;
    Ok(Check {
        title: format!("{count} hidden laws, fitted at two loads and read at a third"),
        source: "the simulator itself".to_owned(),
        method: format!(
            "Every coefficient is hidden behind a factor of its own. {} and {} clients are simulated \
             and exported as a benchmark file would have them, a law is fitted to the means in it, \
             and {READ} clients are predicted: mean TTFT, mean TPOT and output tokens per second.",
            FITTED[0], FITTED[1]
        ),
        measures: vec![
            Measure::bound("mean", errors.mean, 0.05, 0.03),
            Measure::told("90th percentile", errors.p90),
            Measure::bound("outside their 90 % interval", missed, 0.15, 0.15),
        ],
        pairs,
        findings: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_laws_are_found_from_two_loads() {
        let check = trials(4).unwrap();
        assert_eq!(check.pairs.len(), 12);
        assert!(check.measures[0].reached < 0.05, "{:?}", check.measures);
        assert!(check.measures[2].reached < 0.25, "{:?}", check.measures);
    }
}

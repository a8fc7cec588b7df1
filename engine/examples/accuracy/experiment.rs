//! One published experiment as a scenario: the document that a user would write of it, checked as any
//! other, and what the simulator would have reported under the benchmark's own load.

use goodput_engine::accounts::replica_spec;
use goodput_engine::calibration::{Conditions, Prediction};
use goodput_engine::fleet::{KvPrecision, WeightPrecision};
use goodput_engine::scenario::doc::{
    ArrivalsDoc, ClassDoc, FleetDoc, LengthsDoc, PoolDoc, ScenarioDoc, SharedPrefixDoc, TargetsDoc,
    VERSION, WorkloadDoc,
};
use goodput_engine::scenario::{GpuRef, ModelRef, Scenario, check};
use goodput_engine::units::Picos;

/// How a benchmark asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// Evenly spaced requests.
    Even {
        /// Requests per second.
        rate_rps: f64,
        /// Seconds of them.
        seconds: f64,
    },
    /// Clients that ask again when they are answered.
    Clients {
        /// How many.
        clients: u32,
        /// Requests in all.
        requests: u32,
    },
}

/// What ran, and what was asked of it.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// One replica of the pool that was measured.
    pub pool: PoolDoc,
    /// How it was asked.
    pub load: Load,
    /// Prompts.
    pub input_tokens: LengthsDoc,
    /// Answers.
    pub output_tokens: LengthsDoc,
    /// Prompts that were sent again and again, so that the prefix cache held them: how many there
    /// were. `None`: no prompt came twice.
    pub repeated_prompts: Option<u32>,
}

/// A pool of one replica with everything else at its default.
pub fn one_replica(
    (gpu, model): (&str, &str),
    tensor_parallel: u32,
    weights: WeightPrecision,
    kv: KvPrecision,
) -> PoolDoc {
    let mut pool = PoolDoc::new(GpuRef::id(gpu), ModelRef::id(model), 1);
    pool.tensor_parallel = tensor_parallel;
    pool.weight_precision = weights;
    pool.kv_precision = kv;
    pool
}

impl Experiment {
    /// The scenario that a user would write of it.
    pub fn document(&self) -> ScenarioDoc {
        let (rate_rps, horizon_s) = match self.load {
            Load::Even { rate_rps, seconds } => (rate_rps, seconds),
            // As many requests; when they are sent is up to the clients.
            Load::Clients { requests, .. } => (1.0, f64::from(requests)),
        };
        let arrivals = ArrivalsDoc::Constant { rate_rps };
        let (input, output) = (self.input_tokens.clone(), self.output_tokens.clone());
        let mut class = ClassDoc::new("benchmark", arrivals, input, output);
        class.shared_prefix = self.repeated_prompts.map(|count| SharedPrefixDoc {
            // All of a prompt but its last token, whatever its length.
            tokens: longest(&self.input_tokens) - 1,
            count,
            zipf_exponent: 0.0,
            name: String::new(),
        });
        ScenarioDoc {
            version: VERSION,
            name: String::new(),
            workload: WorkloadDoc { seed: 1, horizon_s, warmup_s: 0.0, classes: vec![class] },
            fleet: FleetDoc::of(self.pool.clone()),
            targets: TargetsDoc::default(),
        }
    }

    /// The scenario, checked.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn scenario(&self) -> Result<Scenario, String> {
        let checked = check(&self.document());
        checked.map(|checked| checked.scenario).map_err(|problems| {
            let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
            all.join("; ")
        })
    }

    /// What one replica was sent.
    ///
    /// # Errors
    /// The document is invalid.
    pub fn conditions(&self, scenario: &Scenario) -> Result<Conditions, String> {
        let mut requests = scenario.offered().map_err(|why| why.to_string())?;
        let mut cap = None;
        if let Load::Clients { clients, .. } = self.load {
            cap = Some(clients);
            for request in &mut requests {
                request.due = Picos::ZERO;
            }
        }
        Ok(Conditions {
            requests,
            cap,
            replicas: 1,
            rate_rps: None,
            input_tokens: 0.0,
            output_tokens: 0.0,
            load: String::new(),
            assumptions: Vec::new(),
        })
    }

    /// What its clients would have measured.
    ///
    /// # Errors
    /// The document is invalid, or the model does not fit.
    pub fn predict(&self) -> Result<Prediction, String> {
        let scenario = self.scenario()?;
        let spec = replica_spec(&scenario.pool).map_err(|why| why.problem().to_string())?;
        Ok(Prediction::of(&self.conditions(&scenario)?, &spec))
    }
}

fn longest(lengths: &LengthsDoc) -> u32 {
    match lengths {
        LengthsDoc::Fixed { tokens } => *tokens,
        LengthsDoc::Uniform { max, .. } => *max,
        _ => 1 << 20,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Llama-3.1-8B on one H100.
    pub fn example(load: Load) -> Experiment {
        let model = ("H100-SXM", "Llama-3.1-8B");
        Experiment {
            pool: one_replica(model, 1, WeightPrecision::Bf16, KvPrecision::Bf16),
            load,
            input_tokens: LengthsDoc::Fixed { tokens: 600 },
            output_tokens: LengthsDoc::Fixed { tokens: 200 },
            repeated_prompts: None,
        }
    }

    #[test]
    fn clients_keep_as_many_in_flight_and_ask_as_often_as_told() {
        let load = Load::Clients { clients: 8, requests: 80 };
        let run = example(load).predict().unwrap();
        assert_eq!(run.ttft_ms.len(), 80);
        assert!(run.mean_in_flight <= 8.0 + 1e-9 && run.mean_in_flight > 7.9, "{run:?}");
        // Little's law on what clients see.
        let e2e_s = run.e2e_ms.iter().sum::<f64>() / 80.0 / 1e3;
        let rate = run.output_tps / 200.0;
        assert!((run.mean_in_flight / (rate * e2e_s) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn prompts_that_come_again_cost_next_to_nothing_once_they_are_cached() {
        let even = Load::Even { rate_rps: 5.0, seconds: 60.0 };
        let fresh = example(even);
        let repeated = Experiment { repeated_prompts: Some(20), ..fresh.clone() };
        let (fresh, repeated) = (fresh.predict().unwrap(), repeated.predict().unwrap());
        assert_eq!((fresh.ttft_ms.len(), repeated.ttft_ms.len()), (300, 300));
        let median = |values: &[f64]| values[values.len() / 2];
        assert!(median(&repeated.ttft_ms) < 0.8 * median(&fresh.ttft_ms));
        assert!(median(&repeated.tpot_ms) < median(&fresh.tpot_ms));
    }

    #[test]
    fn what_is_wrong_with_an_experiment_is_said() {
        let mut wrong = example(Load::Even { rate_rps: 5.0, seconds: 60.0 });
        wrong.pool.model = ModelRef::id("Llama-9");
        assert!(wrong.predict().unwrap_err().contains("Llama-9"));
    }
}

//! What no number of replicas can mend: how many requests would be good if each had a replica to
//! itself.

use crate::estimate::{LengthMoments, ReplicaModel};
use crate::scenario::Scenario;
use crate::sim::ReplicaSpec;
use crate::slo::Contract;
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// Why requests of a class can never be good, as shares of those offered.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Caps {
    /// They fit neither `max_model_len` nor the KV blocks.
    pub too_long: f64,
    /// The server fails them.
    pub errors: f64,
    /// Their answers are not acceptable.
    pub quality: f64,
    /// Their first token is late, or their user gone, on an idle replica.
    pub ttft: f64,
    /// Their tokens are slow with nobody beside them.
    pub tpot: f64,
    /// They complete late with nobody beside them.
    pub e2e: f64,
}

impl Caps {
    /// The best attainment: what is left when each cause takes its share of the rest.
    pub fn attainment(&self) -> f64 {
        self.named().iter().fold(1.0, |left, (_, share)| left * (1.0 - share))
    }

    /// The causes by name, as the report writes them.
    pub fn named(&self) -> [(&'static str, f64); 6] {
        [
            ("too_long", self.too_long),
            ("errors", self.errors),
            ("quality", self.quality),
            ("zero_load_ttft", self.ttft),
            ("zero_load_tpot", self.tpot),
            ("zero_load_e2e", self.e2e),
        ]
    }
}

/// The caps of every class. Errors and quality by their rates; lengths by those of `requests`, of
/// which those due before the warm-up do not count.
pub fn caps(scenario: &Scenario, spec: &ReplicaSpec, requests: &[OfferedRequest]) -> Vec<Caps> {
    let model = ReplicaModel::of(&scenario.pool);
    let mut counts = vec![Counts::default(); scenario.classes.len()];
    for request in requests.iter().filter(|request| request.due >= scenario.warmup) {
        let class = request.class as usize;
        counts[class].add(spec, &model, &scenario.contracts[class], request);
    }
    scenario
        .classes
        .iter()
        .zip(counts)
        .map(|(class, counts)| Caps {
            errors: class.error_rate,
            quality: 1.0 - class.quality.pass_rate().unwrap_or(1.0),
            ..counts.caps()
        })
        .collect()
}

/// Requests by the first of the causes, in the order of [`Caps::named`], that keeps them from
/// being good.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    offered: u64,
    too_long: u64,
    ttft: u64,
    tpot: u64,
    e2e: u64,
}

impl Counts {
    fn add(
        &mut self,
        spec: &ReplicaSpec,
        model: &ReplicaModel,
        contract: &Contract,
        request: &OfferedRequest,
    ) {
        self.offered += 1;
        let (input, output) = (f64::from(request.input_tokens), f64::from(request.output_tokens));
        if spec.can_never_fit(request.input_tokens, request.output_tokens) {
            self.too_long += 1;
            return;
        }
        let Some(alone) = model.steps(&LengthMoments::fixed(input, output)) else { return };
        let ttft_s = alone.zero_load_ttft_s(input);
        let tpot_s = if request.output_tokens > 1 { alone.zero_load_tpot_s() } else { 0.0 };
        let e2e_s = ttft_s + (output - 1.0) * tpot_s;
        let late = |limit: Option<Picos>, s: f64| limit.is_some_and(|l| s > l.as_secs());
        if late(contract.ttft, ttft_s) || late(request.patience, ttft_s) {
            self.ttft += 1;
        } else if late(contract.tpot, tpot_s) || late(contract.longest_stall, tpot_s) {
            self.tpot += 1;
        } else if late(contract.e2e, e2e_s) {
            self.e2e += 1;
        }
    }

    /// Each cause as a share of what the ones before it left.
    fn caps(&self) -> Caps {
        let mut left = self.offered;
        let mut share = |count: u64| {
            let share = if left > 0 { count as f64 / left as f64 } else { 0.0 };
            left -= count;
            share
        };
        Caps {
            too_long: share(self.too_long),
            ttft: share(self.ttft),
            tpot: share(self.tpot),
            e2e: share(self.e2e),
            ..Caps::default()
        }
    }
}

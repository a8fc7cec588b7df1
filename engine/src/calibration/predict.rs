//! What the simulator would have reported under a benchmark's own conditions, in the benchmark's
//! own definitions: clocks run from sending, rates are over first send to last finish.

use super::conditions::Conditions;
use crate::sim::{ReplicaSpec, drive_clients};
use crate::stats;

/// Statistics of one run of one replica's share of the clients.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// From sending to the first token, milliseconds, ascending.
    pub ttft_ms: Vec<f64>,
    /// (E2E − TTFT) ÷ (n − 1), milliseconds, ascending.
    pub tpot_ms: Vec<f64>,
    /// From sending to the last token, milliseconds, ascending.
    pub e2e_ms: Vec<f64>,
    /// Output tokens per second over all replicas.
    pub output_tps: f64,
    /// Output tokens per second of one replica.
    pub replica_output_tps: f64,
    /// Mean sequences in flight in one replica.
    pub mean_in_flight: f64,
}

impl Prediction {
    /// Simulates `conditions` on a replica of `spec`, every step of it.
    pub fn of(conditions: &Conditions, spec: &ReplicaSpec) -> Self {
        let run = drive_clients(&conditions.requests, spec, conditions.cap);
        let (mut ttft, mut tpot, mut e2e) = (Vec::new(), Vec::new(), Vec::new());
        let (mut tokens, mut last_end) = (0.0, 0.0_f64);
        for client in &run {
            let (Some(first), Some(end)) = (client.stamps.first_token, client.stamps.ended) else {
                continue;
            };
            let n = client.stamps.generated;
            ttft.push((first - client.sent).as_millis());
            e2e.push((end - client.sent).as_millis());
            if n >= 2 {
                tpot.push((end - first).as_millis() / f64::from(n - 1));
            }
            tokens += f64::from(n);
            last_end = last_end.max(end.as_secs());
        }
        for values in [&mut ttft, &mut tpot, &mut e2e] {
            values.sort_unstable_by(f64::total_cmp);
        }
        let in_flight_s = e2e.iter().sum::<f64>() / 1e3;
        let duration_s = last_end - run.first().map_or(0.0, |client| client.sent.as_secs());
        let replica_output_tps = tokens / duration_s;
        Self {
            ttft_ms: ttft,
            tpot_ms: tpot,
            e2e_ms: e2e,
            output_tps: replica_output_tps * f64::from(conditions.replicas),
            replica_output_tps,
            mean_in_flight: in_flight_s / duration_s,
        }
    }
}

/// Mean, or a nearest-rank percentile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// Mean.
    Mean,
    /// Median.
    Median,
}

impl Statistic {
    /// Of ascending values; `None` of none.
    pub fn of(self, sorted: &[f64]) -> Option<f64> {
        match self {
            Self::Mean => stats::mean(sorted),
            Self::Median => stats::nearest_rank(sorted, 0.5),
        }
    }

    /// As it stands in a name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "p50",
        }
    }
}

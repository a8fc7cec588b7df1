//! A bare capacity: tokens per second that somebody states for a replica.

use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// Declared throughput of one replica. It yields supply and queue debt and is labelled
/// *simplified*; nothing in it says how long anyone waits, so it has no latency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredThroughput {
    /// Prompt tokens per second while it does nothing else; none if prompts cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_input_tps: Option<f64>,
    /// Output tokens per second while it does nothing else; none if outputs cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared_output_tps: Option<f64>,
}

impl DeclaredThroughput {
    /// Replica-seconds of work in so many tokens: prompt and output work take turns.
    pub fn work_s(&self, input_tokens: f64, output_tokens: f64) -> f64 {
        let seconds = |tokens: f64, tps: Option<f64>| tps.map_or(0.0, |tps| tokens / tps);
        seconds(input_tokens, self.declared_input_tps)
            + seconds(output_tokens, self.declared_output_tps)
    }

    /// Everything that is wrong with the numbers; paths are relative to the declaration.
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (path, value) in [
            ("declared_input_tps", self.declared_input_tps),
            ("declared_output_tps", self.declared_output_tps),
        ] {
            if value.is_some_and(|tps| !(tps.is_finite() && tps > 0.0)) {
                problems.push(Problem::error(
                    path,
                    format!("{} is no rate in tokens per second", value.unwrap_or_default()),
                    "above 0; leave it out if these tokens cost nothing",
                ));
            }
        }
        if self.declared_input_tps.is_none() && self.declared_output_tps.is_none() {
            problems.push(Problem::error(
                "declared_output_tps",
                "no rate is declared",
                "output tokens per second of one replica, input tokens per second, or both",
            ));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_prompts_and_outputs_adds_up() {
        let both = DeclaredThroughput {
            declared_input_tps: Some(20_000.0),
            declared_output_tps: Some(2_000.0),
        };
        assert!((both.work_s(10_000.0, 1_000.0) - 1.0).abs() < 1e-12);
        let output =
            DeclaredThroughput { declared_input_tps: None, declared_output_tps: Some(120_000.0) };
        // Design: 100 requests/s × 2,000 tokens against 120,000 tokens/s.
        assert!((output.work_s(51_200.0, 200_000.0) - 200.0 / 120.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_declared_and_impossible_rates_are_refused() {
        let declared = |input, output| DeclaredThroughput {
            declared_input_tps: input,
            declared_output_tps: output,
        };
        assert_eq!(declared(None, Some(1.0)).check(), vec![]);
        for (bad, path) in [
            (declared(None, None), "declared_output_tps"),
            (declared(Some(0.0), None), "declared_input_tps"),
            (declared(None, Some(f64::INFINITY)), "declared_output_tps"),
        ] {
            assert_eq!(bad.check()[0].path, path);
        }
    }
}

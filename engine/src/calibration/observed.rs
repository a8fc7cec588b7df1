//! What a point reported that says something about the step time, each number under the
//! definition that the prediction uses.

use super::predict::{Prediction, Statistic};
use crate::ingest::{BenchmarkPoint, Definition, LatencyStats, TokenKind, Weighting};

/// What may pass outside the engine (client, network) before a first token: a first token after a
/// few tens of milliseconds says little about the step time, one after seconds of queueing much.
const TTFT_OUTSIDE_MS: f64 = 200.0;

/// A number of a point and how to predict it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    quantity: Quantity,
    statistic: Statistic,
    /// As reported.
    pub measured: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Quantity {
    Ttft,
    Tpot,
    E2e,
    OutputTps,
}

impl Observation {
    /// Everything usable in `point`: a mean where there is one, else a median. E2E stands in for
    /// TPOT only where that is missing, since it holds the same tokens.
    pub fn all(point: &BenchmarkPoint) -> Vec<Self> {
        let tpot = latency(point.tpot.as_ref(), Quantity::Tpot)
            .or_else(|| latency(stated(point.itl.as_ref()), Quantity::Tpot));
        let e2e = if tpot.is_none() { latency(point.e2e.as_ref(), Quantity::E2e) } else { None };
        let output_tps = point.tps(TokenKind::Output).filter(|tps| *tps > 0.0);
        let output_tps = output_tps.map(|measured| Self {
            quantity: Quantity::OutputTps,
            statistic: Statistic::Mean,
            measured,
        });
        [latency(point.ttft.as_ref(), Quantity::Ttft), tpot, e2e, output_tps]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Mean TTFT and mean TPOT as a run that went as predicted would report them.
    pub fn means(run: &Prediction) -> Vec<Self> {
        let mean = |quantity, values: &[f64]| {
            let measured = Statistic::Mean.of(values).filter(|ms| *ms > 0.0)?;
            Some(Self { quantity, statistic: Statistic::Mean, measured })
        };
        let both = [mean(Quantity::Ttft, &run.ttft_ms), mean(Quantity::Tpot, &run.tpot_ms)];
        both.into_iter().flatten().collect()
    }

    /// What had to be supposed about the definitions of `point`.
    pub fn assumptions(point: &BenchmarkPoint) -> Vec<String> {
        let named = [("TTFT", &point.ttft), ("TPOT", &point.tpot), ("E2E", &point.e2e)];
        let unstated = named.iter().filter(|(_, stats)| {
            stats.as_ref().is_some_and(|stats| stats.definition == Definition::Unstated)
        });
        let names: Vec<&str> = unstated.map(|(name, _)| *name).collect();
        if names.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "{} as vLLM's client defines them (clocks from sending, TPOT = (E2E − TTFT) ÷ (n − 1)) \
             where a file does not say",
            names.join(", ")
        )]
    }

    /// Its name with its unit.
    pub fn name(&self) -> String {
        let word = self.statistic.word();
        match self.quantity {
            Quantity::Ttft => format!("ttft_{word}_ms"),
            Quantity::Tpot => format!("tpot_{word}_ms"),
            Quantity::E2e => format!("e2e_{word}_ms"),
            Quantity::OutputTps => "output_tps".to_owned(),
        }
    }

    /// The same number of a prediction; `None` where it has none (TPOT of one-token answers).
    pub fn predicted(&self, prediction: &Prediction) -> Option<f64> {
        match self.quantity {
            Quantity::Ttft => self.statistic.of(&prediction.ttft_ms),
            Quantity::Tpot => self.statistic.of(&prediction.tpot_ms),
            Quantity::E2e => self.statistic.of(&prediction.e2e_ms),
            Quantity::OutputTps => Some(prediction.output_tps),
        }
    }

    /// Milliseconds that pass beside the engine and dampen what this number says.
    pub fn outside_engine(&self) -> f64 {
        if self.quantity == Quantity::Ttft { TTFT_OUTSIDE_MS } else { 0.0 }
    }
}

/// An ITL that says what it is: one that does not is as likely a gap between stream events.
fn stated(stats: Option<&LatencyStats>) -> Option<&LatencyStats> {
    stats.filter(|stats| stats.definition != Definition::Unstated)
}

/// The middle of a latency, if its definition is the one that is predicted.
fn latency(stats: Option<&LatencyStats>, quantity: Quantity) -> Option<Observation> {
    let stats = stats?;
    let fits = match quantity {
        Quantity::OutputTps => false,
        _ if stats.definition == Definition::Unstated => true,
        Quantity::Ttft => stats.definition == Definition::SendToFirstToken,
        // A mean gap between tokens, weighted by request, is the same number.
        Quantity::Tpot => {
            let per_request = stats.weighting == Weighting::PerRequest;
            stats.definition == Definition::ExcludesFirstToken
                || (stats.definition == Definition::GapBetweenTokens && per_request)
        }
        Quantity::E2e => stats.definition == Definition::SendToLastToken,
    };
    let mean = stats.mean_ms.map(|ms| (Statistic::Mean, ms));
    let middle = mean.or_else(|| stats.percentile(0.5).map(|ms| (Statistic::Median, ms)));
    let (statistic, measured) = middle.filter(|(_, ms)| fits && *ms > 0.0)?;
    Some(Observation { quantity, statistic, measured })
}

//! The statistics of one latency, tagged with what was timed and what one sample is.

use serde::{Deserialize, Serialize};

/// The latencies a point may state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Latency {
    /// Time to first token.
    Ttft,
    /// Time per output token.
    Tpot,
    /// Time per output token with the first token in it.
    Ntpot,
    /// Inter-token latency.
    Itl,
    /// Whole request.
    E2e,
    /// Wait in the client before sending.
    ClientQueue,
}

impl Latency {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Ttft, Self::Tpot, Self::Ntpot, Self::Itl, Self::E2e, Self::ClientQueue];

    /// As operators write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ttft => "TTFT",
            Self::Tpot => "TPOT",
            Self::Ntpot => "NTPOT",
            Self::Itl => "ITL",
            Self::E2e => "E2E",
            Self::ClientQueue => "client queue time",
        }
    }
}

/// Statistics of one latency, milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencyStats {
    /// What exactly was timed.
    pub definition: Definition,
    /// What one sample of the mean is.
    pub weighting: Weighting,
    /// Mean.
    pub mean_ms: Option<f64>,
    /// Standard deviation.
    pub std_ms: Option<f64>,
    /// Smallest.
    pub min_ms: Option<f64>,
    /// Largest.
    pub max_ms: Option<f64>,
    /// By rising share; the median is 0.5.
    pub percentiles: Vec<Percentile>,
}

impl LatencyStats {
    pub(super) fn new(definition: Definition, weighting: Weighting) -> Self {
        Self {
            definition,
            weighting,
            mean_ms: None,
            std_ms: None,
            min_ms: None,
            max_ms: None,
            percentiles: Vec::new(),
        }
    }

    /// The percentile at a share, e.g. 0.99, if the file states it.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        self.percentiles.iter().find(|p| (p.share - share).abs() < 1e-9).map(|p| p.ms)
    }

    /// Mean, else median: the file's idea of the middle, milliseconds.
    pub fn typical_ms(&self) -> Option<f64> {
        self.mean_ms.or_else(|| self.percentile(0.5))
    }

    /// Every value stated (the spread aside), milliseconds.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        [self.mean_ms, self.min_ms, self.max_ms]
            .into_iter()
            .flatten()
            .chain(self.percentiles.iter().map(|p| p.ms))
    }

    /// Adds a percentile, keeping the order; the last of two at one share wins.
    pub(super) fn set_percentile(&mut self, share: f64, ms: f64) {
        self.percentiles.retain(|p| (p.share - share).abs() >= 1e-9);
        let place = self.percentiles.partition_point(|p| p.share < share);
        self.percentiles.insert(place, Percentile { share, ms });
    }

    /// States nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.std_ms.is_none() && self.values().next().is_none()
    }
}

/// One percentile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// Share of the sample at or below, e.g. 0.99.
    pub share: f64,
    /// Milliseconds.
    pub ms: f64,
}

/// What exactly a latency times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Definition {
    /// From the client sending the request (after its own queue) to the first token.
    SendToFirstToken,
    /// (E2E − TTFT) ÷ (n − 1).
    ExcludesFirstToken,
    /// E2E ÷ n, often called NTPOT.
    IncludesFirstToken,
    /// (E2E − TTFT) ÷ stream events, which the tool takes for tokens.
    PerStreamEvent,
    /// Gap between two stream events; an event may hold several tokens.
    GapBetweenEvents,
    /// Gap between two tokens.
    GapBetweenTokens,
    /// From sending to the last token.
    SendToLastToken,
    /// From being due to being sent.
    DueToSend,
    /// From the request's arrival at the server to its first token, by the server's clock.
    ArrivalToFirstToken,
    /// From the request's arrival at the server to its last token, by the server's clock.
    ArrivalToLastToken,
    /// From the moment the request was due to its first token: waiting in the client is in it.
    DueToFirstToken,
    /// From the moment the request was due to its last token.
    DueToLastToken,
    /// The file does not say.
    Unstated,
}

/// What one sample of a mean or percentile is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weighting {
    /// A successful request.
    PerRequest,
    /// A stream event, all requests pooled: long answers weigh more.
    PerEvent,
    /// A token, all requests pooled, or a request counted once per token of its answer.
    PerToken,
    /// The file does not say.
    Unstated,
}

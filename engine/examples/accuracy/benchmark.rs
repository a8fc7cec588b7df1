//! Published or simulated aggregates as the file that `vllm bench serve` would have written of them:
//! what a user uploads.

use goodput_engine::calibration::BenchmarkFile;
use goodput_engine::ingest::{BenchmarkPoint, read_file};
use goodput_engine::scenario::doc::{ScenarioDoc, StepTimeSourceDoc};
use goodput_engine::scenario::{Pool, check};
use goodput_engine::step_time::StepCoefficients;
use serde_json::{Value, json};

/// The means of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregates {
    /// What was served.
    pub model: String,
    /// Requests in flight.
    pub clients: u32,
    /// Requests of the run.
    pub requests: u32,
    /// Mean prompt, tokens.
    pub input_tokens: f64,
    /// Mean answer, tokens.
    pub output_tokens: f64,
    /// Mean, milliseconds.
    pub ttft_ms: f64,
    /// Mean, milliseconds.
    pub tpot_ms: f64,
    /// Output tokens per second.
    pub output_tps: f64,
}

impl Aggregates {
    /// The file of it.
    pub fn file(&self) -> BenchmarkFile {
        let name = format!("{}-clients.json", self.clients);
        let file = read_file(&name, self.json().to_string().as_bytes());
        BenchmarkFile { file, sha256: String::new() }
    }

    /// The point that is read from it.
    ///
    /// # Errors
    /// It is not recognised.
    pub fn point(&self) -> Result<BenchmarkPoint, String> {
        let file = self.file().file;
        let parsed = file.parsed.ok_or_else(|| format!("not recognised: {:?}", file.refused))?;
        parsed.points().first().cloned().ok_or_else(|| "a file without a point".to_owned())
    }

    fn json(&self) -> Value {
        let requests = f64::from(self.requests);
        let total_output = requests * self.output_tokens;
        let total_input = requests * self.input_tokens;
        let duration = total_output / self.output_tps;
        json!({
            "date": "20260101-120000", "endpoint_type": "vllm", "label": null,
            "model_id": self.model, "num_prompts": self.requests, "completed": self.requests,
            "request_rate": "inf", "burstiness": 1.0, "max_concurrency": self.clients,
            "duration": duration, "total_input_tokens": total_input.round(),
            "total_output_tokens": total_output.round(),
            "request_throughput": requests / duration, "output_throughput": self.output_tps,
            "total_token_throughput": (total_input + total_output) / duration,
            "mean_ttft_ms": self.ttft_ms, "mean_tpot_ms": self.tpot_ms,
        })
    }
}

/// A pool as it is checked.
///
/// # Errors
/// What is wrong with the document.
pub fn pool_of(document: &ScenarioDoc) -> Result<Pool, String> {
    let checked = check(document).map_err(|problems| format!("{problems:?}"))?;
    Ok(checked.scenario.pool)
}

/// The same document with a typed law.
pub fn with_law(document: &ScenarioDoc, coefficients: StepCoefficients) -> ScenarioDoc {
    let mut document = document.clone();
    let by = "the check".to_owned();
    document.fleet.pools[0].step_time.source =
        StepTimeSourceDoc::Coefficients { coefficients, by, fitted: None };
    document
}

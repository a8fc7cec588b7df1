//! What a column of a benchmark table means, by its name.

use super::units::{Dimension, Unit, normalised, splits, unit_word};
use crate::ingest::Latency;
use crate::ingest::stat::Stat;

/// Where the cells of a column go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Field {
    Label,
    Date,
    Model,
    EngineVersion,
    Gpu,
    GpuCount,
    TensorParallel,
    Replicate,
    RequestRate,
    MaxConcurrency,
    Burstiness,
    NumPrompts,
    Completed,
    Failed,
    Duration,
    TotalInput,
    TotalOutput,
    MeanInput,
    MeanOutput,
    /// Lengths that were asked for.
    NominalInput,
    NominalOutput,
    SentRate,
    CompletedRate,
    InputRate,
    OutputRate,
    TotalRate,
    Goodput,
    QualityRate,
    Latency(Latency, Stat),
}

impl Field {
    /// The cells are words, not numbers.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Label | Self::Date | Self::Model | Self::EngineVersion | Self::Gpu)
    }

    /// The cells are whole numbers.
    pub(super) fn is_count(self) -> bool {
        matches!(
            self,
            Self::GpuCount
                | Self::TensorParallel
                | Self::Replicate
                | Self::MaxConcurrency
                | Self::NumPrompts
                | Self::Completed
                | Self::Failed
        )
    }

    /// Says something about how fast it was; a table without such a column is none of ours.
    pub(super) fn is_measure(self) -> bool {
        matches!(
            self,
            Self::Latency(..)
                | Self::CompletedRate
                | Self::InputRate
                | Self::OutputRate
                | Self::TotalRate
        )
    }
}

/// What a header cell says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    /// A field, and what to multiply its cells by to get seconds, per second or tokens.
    Known { field: Field, size: f64 },
    /// A field whose unit or statistic has to be asked.
    Ask(String),
    /// A field with a unit it cannot have.
    WrongUnit(String),
    /// Nothing known.
    Unknown,
}

/// Whether a name needs its unit.
#[derive(Clone, Copy, PartialEq)]
enum Bare {
    /// No unit is meant, or the name belongs to a tool that defines it: base units.
    BaseUnit,
    /// It has to be asked.
    Ask,
}

struct Alias(&'static str, Field, Dimension, Bare);

/// Names without their unit. Those of vLLM's result keys are followed by the units its source
/// gives them; hand-made ones are not trusted without.
const ALIASES: &[Alias] = {
    use Bare::{Ask, BaseUnit};
    use Dimension::{Plain, RequestRate, Share, Time, TokenRate, Tokens};
    &[
        Alias("label", Field::Label, Plain, BaseUnit),
        Alias("run_id", Field::Label, Plain, BaseUnit),
        Alias("config", Field::Label, Plain, BaseUnit),
        Alias("date", Field::Date, Plain, BaseUnit),
        Alias("model", Field::Model, Plain, BaseUnit),
        Alias("model_id", Field::Model, Plain, BaseUnit),
        Alias("model_name", Field::Model, Plain, BaseUnit),
        Alias("engine_version", Field::EngineVersion, Plain, BaseUnit),
        Alias("vllm_version", Field::EngineVersion, Plain, BaseUnit),
        Alias("gpu", Field::Gpu, Plain, BaseUnit),
        Alias("gpu_type", Field::Gpu, Plain, BaseUnit),
        Alias("hardware", Field::Gpu, Plain, BaseUnit),
        Alias("gpu_count", Field::GpuCount, Plain, BaseUnit),
        Alias("num_gpus", Field::GpuCount, Plain, BaseUnit),
        Alias("num_of_hardware", Field::GpuCount, Plain, BaseUnit),
        Alias("tensor_parallel", Field::TensorParallel, Plain, BaseUnit),
        Alias("tensor_parallel_size", Field::TensorParallel, Plain, BaseUnit),
        Alias("tp", Field::TensorParallel, Plain, BaseUnit),
        Alias("run_number", Field::Replicate, Plain, BaseUnit),
        Alias("request_rate", Field::RequestRate, RequestRate, BaseUnit),
        Alias("qps", Field::RequestRate, RequestRate, BaseUnit),
        Alias("rate", Field::RequestRate, RequestRate, Ask),
        Alias("requested", Field::RequestRate, RequestRate, Ask),
        Alias("req", Field::RequestRate, RequestRate, Ask),
        Alias("max_concurrency", Field::MaxConcurrency, Plain, BaseUnit),
        Alias("concurrency", Field::MaxConcurrency, Plain, BaseUnit),
        Alias("conc", Field::MaxConcurrency, Plain, BaseUnit),
        Alias("burstiness", Field::Burstiness, Plain, BaseUnit),
        Alias("num_prompts", Field::NumPrompts, Plain, BaseUnit),
        Alias("num_requests", Field::NumPrompts, Plain, BaseUnit),
        Alias("completed", Field::Completed, Plain, BaseUnit),
        Alias("successful_requests", Field::Completed, Plain, BaseUnit),
        Alias("requests", Field::CompletedRate, RequestRate, Ask),
        Alias("results_num_completed_requests", Field::Completed, Plain, BaseUnit),
        Alias("results_num_completed_requests", Field::CompletedRate, RequestRate, Ask),
        Alias("results_number_errors", Field::Failed, Plain, BaseUnit),
        Alias("failed", Field::Failed, Plain, BaseUnit),
        Alias("failed_requests", Field::Failed, Plain, BaseUnit),
        Alias("duration", Field::Duration, Time, BaseUnit),
        Alias("benchmark_duration", Field::Duration, Time, Ask),
        Alias("total_input", Field::TotalInput, Tokens, Ask),
        Alias("total_output", Field::TotalOutput, Tokens, Ask),
        Alias("total_generated", Field::TotalOutput, Tokens, Ask),
        Alias("mean_input", Field::MeanInput, Tokens, Ask),
        Alias("mean_output", Field::MeanOutput, Tokens, Ask),
        Alias("mean_input_token_length", Field::MeanInput, Tokens, BaseUnit),
        Alias("mean_output_token_length", Field::MeanOutput, Tokens, BaseUnit),
        Alias("isl", Field::NominalInput, Tokens, BaseUnit),
        Alias("osl", Field::NominalOutput, Tokens, BaseUnit),
        Alias("input_len", Field::NominalInput, Tokens, BaseUnit),
        Alias("output_len", Field::NominalOutput, Tokens, BaseUnit),
        Alias("input_length", Field::NominalInput, Tokens, BaseUnit),
        Alias("output_length", Field::NominalOutput, Tokens, BaseUnit),
        Alias("sent", Field::SentRate, RequestRate, Ask),
        Alias("achieved", Field::SentRate, RequestRate, Ask),
        Alias("completed", Field::CompletedRate, RequestRate, Ask),
        Alias("request_throughput", Field::CompletedRate, RequestRate, BaseUnit),
        Alias("requests_per_second", Field::CompletedRate, RequestRate, BaseUnit),
        Alias("input", Field::InputRate, TokenRate, Ask),
        Alias("input_throughput", Field::InputRate, TokenRate, BaseUnit),
        Alias("output", Field::OutputRate, TokenRate, Ask),
        Alias("output_throughput", Field::OutputRate, TokenRate, BaseUnit),
        Alias("output_token_throughput", Field::OutputRate, TokenRate, Ask),
        Alias("throughput_token_per_s_token_sec", Field::OutputRate, TokenRate, BaseUnit),
        Alias("total", Field::TotalRate, TokenRate, Ask),
        Alias("total_token_throughput", Field::TotalRate, TokenRate, BaseUnit),
        Alias("goodput", Field::Goodput, RequestRate, Ask),
        Alias("request_goodput", Field::Goodput, RequestRate, BaseUnit),
        Alias("quality_rate", Field::QualityRate, Share, BaseUnit),
    ]
};

/// Names that could mean two things.
const UNCLEAR: &[&str] = &["input_tokens", "output_tokens", "prompt_tokens", "generated_tokens"];

/// What the header cell `name` says.
pub(super) fn meaning(name: &str) -> Meaning {
    let normal = normalised(name);
    if UNCLEAR.contains(&normal.as_str()) {
        return Meaning::Ask(format!(
            "column \"{name}\" could be tokens of one request (mean_input_tokens) or of the whole \
             run (total_input_tokens)"
        ));
    }
    // Some names end in what looks like a unit: "requests_per_second".
    let whole = plain_meaning(name, &normal, None);
    if let Meaning::Known { .. } = whole {
        return whole;
    }
    let parted = splits(&normal).map(|(base, _, unit)| (base, Some(unit)));
    let meanings = parted.chain([(&*normal, None)]).map(|(base, unit)| {
        match latency_meaning(name, base, unit) {
            Meaning::Unknown => plain_meaning(name, base, unit),
            found => found,
        }
    });
    meanings.into_iter().find(|meaning| *meaning != Meaning::Unknown).unwrap_or(Meaning::Unknown)
}

/// A header with this column has a row per request: none of its rows is a load point.
pub(super) fn is_request_id(name: &str) -> bool {
    matches!(normalised(name).as_str(), "request_id" | "req_id" | "request")
}

fn plain_meaning(name: &str, base: &str, unit: Option<Unit>) -> Meaning {
    let candidates = || ALIASES.iter().filter(|alias| alias.0 == base);
    let Some(first) = candidates().next() else { return Meaning::Unknown };
    match unit {
        Some(unit) => match candidates().find(|alias| alias.2 == unit.dimension) {
            Some(alias) => Meaning::Known { field: alias.1, size: unit.size },
            None => Meaning::WrongUnit(wrong_unit(name, first.2)),
        },
        None => match candidates().find(|alias| alias.3 == Bare::BaseUnit) {
            Some(alias) => Meaning::Known { field: alias.1, size: 1.0 },
            None => Meaning::Ask(ask_unit(name, first.2)),
        },
    }
}

/// A latency's name is one of these, a statistic and nothing else. llmperf's time per token has the
/// wait for the first token in it.
const LATENCIES: &[(&str, Latency)] = &[
    ("latency_ms_per_token_inter_token_latency", Latency::Ntpot),
    ("ntpot", Latency::Ntpot),
    ("first_time_to_token", Latency::Ttft),
    ("time_to_first_token", Latency::Ttft),
    ("ttft", Latency::Ttft),
    ("time_per_output_token", Latency::Tpot),
    ("tpot", Latency::Tpot),
    ("inter_token_latency", Latency::Itl),
    ("itl", Latency::Itl),
    ("end_to_end_latency", Latency::E2e),
    ("request_latency", Latency::E2e),
    ("e2e_latency", Latency::E2e),
    ("e2el", Latency::E2e),
    ("e2e", Latency::E2e),
    ("client_queue_time", Latency::ClientQueue),
];

fn latency_meaning(name: &str, base: &str, unit: Option<Unit>) -> Meaning {
    let Some((latency, rest)) =
        LATENCIES.iter().find_map(|(words, latency)| Some((*latency, without_words(base, words)?)))
    else {
        return Meaning::Unknown;
    };
    // The name again in short, as in "time to first token (ttft)".
    let rest = without_words(&rest, &latency.name().to_lowercase()).unwrap_or(rest);
    let mut unit =
        unit.or(
            unit_word("ms").filter(|_| latency == Latency::Ntpot && base.starts_with("latency_ms"))
        );
    let mut stat = None;
    for word in rest.split('_').filter(|word| !["", "latency", "in"].contains(word)) {
        match (unit_word(word), Stat::parse(word)) {
            (Some(found), _) if unit.is_none() => unit = Some(found),
            (None, Some(found)) if stat.is_none() => stat = Some(found),
            _ => return Meaning::Unknown,
        }
    }
    match (unit, stat) {
        (None, _) => Meaning::Ask(ask_unit(name, Dimension::Time)),
        (Some(unit), _) if unit.dimension != Dimension::Time => {
            Meaning::WrongUnit(wrong_unit(name, Dimension::Time))
        }
        // llmperf's wrapper writes no statistic where it means the mean.
        (Some(unit), None) if base.starts_with("latency_ms") => {
            Meaning::Known { field: Field::Latency(latency, Stat::Mean), size: unit.size }
        }
        (_, None) => Meaning::Ask(format!(
            "column \"{name}\" does not say which statistic it is: mean, p50, p99 …?"
        )),
        (Some(unit), Some(stat)) => {
            Meaning::Known { field: Field::Latency(latency, stat), size: unit.size }
        }
    }
}

/// `base` without `words`, where they stand between `_` or the ends.
fn without_words(base: &str, words: &str) -> Option<String> {
    let padded = format!("_{base}_");
    let at = padded.find(&format!("_{words}_"))?;
    Some(format!("{}_{}", &padded[..at], &padded[at + words.len() + 2..]))
}

fn ask_unit(name: &str, dimension: Dimension) -> String {
    format!("column \"{name}\" does not say its unit; it can end in {}", dimension.units())
}

fn wrong_unit(name: &str, dimension: Dimension) -> String {
    format!("column \"{name}\" has a unit it cannot have; it can end in {}", dimension.units())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_and_people_are_understood() {
        let ttft_p99 = Field::Latency(Latency::Ttft, Stat::Percentile(0.99));
        let tpot_mean = Field::Latency(Latency::Tpot, Stat::Mean);
        let ttft_p50 = Field::Latency(Latency::Ttft, Stat::Percentile(0.5));
        let ntpot_p95 = Field::Latency(Latency::Ntpot, Stat::Percentile(0.95));
        let ntpot_mean = Field::Latency(Latency::Ntpot, Stat::Mean);
        for (name, field, size) in [
            ("ttft_p99_ms", ttft_p99, 1e-3),
            ("P99 TTFT (ms)", ttft_p99, 1e-3),
            ("p99_ttft_ms", ttft_p99, 1e-3),
            ("ttft_ms_p99", ttft_p99, 1e-3),
            ("Time to First Token p99 [s]", ttft_p99, 1.0),
            ("Mean time to first token (s)", Field::Latency(Latency::Ttft, Stat::Mean), 1.0),
            ("mean_tpot_ms", tpot_mean, 1e-3),
            ("Mean TPOT (ms)", tpot_mean, 1e-3),
            ("mean_e2el_ms", Field::Latency(Latency::E2e, Stat::Mean), 1e-3),
            ("median_itl_ms", Field::Latency(Latency::Itl, Stat::Percentile(0.5)), 1e-3),
            ("request_rate", Field::RequestRate, 1.0),
            ("duration", Field::Duration, 1.0),
            ("duration_ms", Field::Duration, 1e-3),
            ("Benchmark duration (s)", Field::Duration, 1.0),
            ("Request throughput (req/s)", Field::CompletedRate, 1.0),
            ("requests_per_second", Field::CompletedRate, 1.0),
            ("completed", Field::Completed, 1.0),
            ("completed_rps", Field::CompletedRate, 1.0),
            ("Total Token throughput (tok/s)", Field::TotalRate, 1.0),
            ("total_output_tokens", Field::TotalOutput, 1.0),
            ("output_tps", Field::OutputRate, 1.0),
            ("quality_rate_percent", Field::QualityRate, 0.01),
            (
                "first-time-to-token_mean_in_ms_(ttft)",
                Field::Latency(Latency::Ttft, Stat::Mean),
                1e-3,
            ),
            ("time_to_first_token_in_ms_(ttft)_p50", ttft_p50, 1e-3),
            ("latency_ms_per_token_(inter_token_latency)_p95", ntpot_p95, 1e-3),
            ("latency_ms_per_token_(inter_token_latency)", ntpot_mean, 1e-3),
            ("throughput_token_per_s_(token/sec)", Field::OutputRate, 1.0),
            ("requests_per_minute_(qpm)", Field::CompletedRate, 1.0 / 60.0),
            ("results_num_completed_requests_per_min", Field::CompletedRate, 1.0 / 60.0),
            ("results_num_completed_requests", Field::Completed, 1.0),
        ] {
            assert_eq!(meaning(name), Meaning::Known { field, size }, "{name}");
        }
    }

    #[test]
    fn a_missing_unit_or_statistic_is_asked() {
        for name in
            ["ttft_p99", "TTFT Latency", "benchmark_duration", "output", "rate", "TTFT (ms)"]
        {
            assert!(matches!(meaning(name), Meaning::Ask(_)), "{name}");
        }
    }

    #[test]
    fn a_unit_that_does_not_fit_is_named() {
        for name in ["ttft_p99_rps", "duration_tps", "request_rate_ms", "gpu_count_s", "isl_ms"] {
            assert!(matches!(meaning(name), Meaning::WrongUnit(_)), "{name}");
        }
    }

    #[test]
    fn other_names_are_unknown() {
        for name in [
            "",
            "notes",
            "ttft_slo_ms",
            "p99",
            "mean",
            "tokens_per_second",
            "throughput",
            "throughput_token_per_s_(token/sec)_p50",
        ] {
            assert_eq!(meaning(name), Meaning::Unknown, "{name}");
        }
    }
}

//! Words for uploaded files: what was read, what is missing, how well the simulation agrees.

use goodput_engine::ingest::{
    BenchmarkPoint, Latency, LatencyStats, Load, MissingFact, TokenKind, TraceSummary,
};
use goodput_engine::review::FileReport;

use crate::format;

/// Heads of the table of points.
pub const POINT_HEADS: [&str; 8] =
    ["load", "input", "output", "completed", "failed", "output, tok/s", "TTFT", "TPOT"];

/// What a file is and how much of it was read.
pub fn read_line(report: &FileReport) -> String {
    let what = report.format.clone().unwrap_or_else(|| "file".into()).replace('_', " ");
    let tool = report.tool_version.as_ref().map_or_else(String::new, |v| format!(" ({v})"));
    let rows = report.notes.as_ref().map_or_else(String::new, |notes| {
        format!(
            ": {} of {} {} used",
            format::count(notes.rows_used),
            format::count(notes.rows_read),
            notes.counted
        )
    });
    format!("Read as {what}{tool}{rows}")
}

/// What was left out and noticed.
pub fn remarks(report: &FileReport) -> Vec<String> {
    let Some(notes) = &report.notes else { return Vec::new() };
    let excluded =
        notes.excluded.iter().map(|e| format!("{} left out: {}", format::count(e.rows), e.reason));
    excluded.chain(notes.remarks.iter().cloned()).collect()
}

/// What a planner asks of a trace.
pub fn trace_rows(t: &TraceSummary) -> Vec<(&'static str, String)> {
    let lengths = |l: &goodput_engine::ingest::LengthSummary| {
        format!(
            "mean {}, p50 {}, p99 {} tokens",
            format::fixed(l.mean, 1),
            format::fixed(l.p50, 0),
            format::fixed(l.p99, 0)
        )
    };
    vec![
        ("Requests", format!("{} over {}", format::count(t.requests), format::seconds(t.span_s))),
        ("Mean rate", t.mean_rate_rps.map_or_else(|| format::NONE.into(), precise_rps)),
        (
            "Gap CV",
            t.gap_cv.map_or_else(
                || format::NONE.into(),
                |cv| format!("{} (1 is Poisson)", format::significant(cv)),
            ),
        ),
        ("Busiest minute", peaks(t.peak_minute_rps, t.peak_minute_bin_rps)),
        ("Busiest 10 s", peaks(t.peak_10s_rps, t.peak_10s_bin_rps)),
        ("Input", lengths(&t.input_tokens)),
        ("Output", lengths(&t.output_tokens)),
    ]
}

fn precise_rps(rate: f64) -> String {
    format::with_unit(&format::rounded(rate, 4), "req/s")
}

fn peaks(sliding: f64, bins: f64) -> String {
    format!("{} sliding, {} in fixed bins", precise_rps(sliding), format::rounded(bins, 3))
}

/// One point as a row.
pub fn point_cells(point: &BenchmarkPoint) -> [String; 8] {
    let number = |n: Option<u64>| n.map_or_else(|| format::NONE.into(), format::count);
    let tokens = |l: Option<goodput_engine::ingest::Length>| {
        l.map_or_else(|| format::NONE.into(), |l| format::fixed(l.mean_tokens, 0))
    };
    let rate =
        point.tps(TokenKind::Output).map_or_else(|| format::NONE.into(), format::significant);
    [
        load(point),
        tokens(point.input),
        tokens(point.output),
        number(point.completed),
        number(point.failed),
        rate,
        latency(point.latency(Latency::Ttft)),
        latency(point.latency(Latency::Tpot)),
    ]
}

fn load(point: &BenchmarkPoint) -> String {
    match point.load {
        Load::RequestRate { rps } => format::rps(rps),
        Load::Concurrency { requests } => format!("{requests} in flight"),
        Load::Unbounded => "all at once".into(),
        Load::Ramp { from_rps, to_rps } => {
            format!("{} to {}", format::significant(from_rps), format::rps(to_rps))
        }
        Load::Unstated => "not stated".into(),
    }
}

fn latency(stats: Option<&LatencyStats>) -> String {
    let Some(stats) = stats else { return format::NONE.into() };
    let mean = stats.mean_ms.map(|ms| format!("mean {}", format::millis(ms)));
    let p99 = stats.percentile(0.99).map(|ms| format!("p99 {}", format::millis(ms)));
    let parts: Vec<String> = mean.into_iter().chain(p99).collect();
    if parts.is_empty() { format::NONE.into() } else { parts.join(", ") }
}

/// A fact that nobody can add here.
pub fn missing(fact: MissingFact) -> &'static str {
    match fact {
        MissingFact::Load => "Its load: request rate or concurrency; add it to the file",
        MissingFact::InputTokens => "Prompt lengths; add them to the file",
        MissingFact::OutputTokens => "Output lengths; add them to the file",
        MissingFact::Gpu => "Which GPU",
        MissingFact::GpuCount => "How many GPUs",
        MissingFact::TensorParallel => "tensor_parallel",
        MissingFact::Model => "Which model",
        MissingFact::EngineVersion => "Which engine, which version",
        MissingFact::Quality => "Whether answers were checked",
    }
}

/// A whole number of things.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the parser lets neither negative nor huge numbers pass"
)]
pub fn to_u64(value: f64) -> Option<u64> {
    (value >= 1.0).then_some(value as u64)
}

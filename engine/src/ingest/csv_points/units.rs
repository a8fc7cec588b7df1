//! Units at the end of a column name.

/// What a column measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimension {
    Time,
    RequestRate,
    TokenRate,
    Tokens,
    Share,
    /// Counts of requests or GPUs, and words.
    Plain,
}

impl Dimension {
    /// Units that fit, for messages.
    pub(super) fn units(self) -> &'static str {
        match self {
            Self::Time => "_ms, _s, _us or _ns",
            Self::RequestRate => "_rps",
            Self::TokenRate => "_tps",
            Self::Tokens => "_tokens",
            Self::Share => "none, or _percent",
            Self::Plain => "none",
        }
    }
}

/// A unit: what it measures and its size in seconds, per second, tokens or parts of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    pub dimension: Dimension,
    pub size: f64,
}

const fn unit(dimension: Dimension, size: f64) -> Unit {
    Unit { dimension, size }
}

/// Endings of a normalised name, the longer before those they end in.
const ENDINGS: &[(&str, Unit)] = &[
    ("tokens_per_second", unit(Dimension::TokenRate, 1.0)),
    ("tokens_per_s", unit(Dimension::TokenRate, 1.0)),
    ("tokens_sec", unit(Dimension::TokenRate, 1.0)),
    ("tokens_s", unit(Dimension::TokenRate, 1.0)),
    ("token_s", unit(Dimension::TokenRate, 1.0)),
    ("tok_s", unit(Dimension::TokenRate, 1.0)),
    ("tps", unit(Dimension::TokenRate, 1.0)),
    ("requests_per_second", unit(Dimension::RequestRate, 1.0)),
    ("requests_per_s", unit(Dimension::RequestRate, 1.0)),
    ("requests_s", unit(Dimension::RequestRate, 1.0)),
    ("req_s", unit(Dimension::RequestRate, 1.0)),
    ("rps", unit(Dimension::RequestRate, 1.0)),
    ("per_minute_qpm", unit(Dimension::RequestRate, 1.0 / 60.0)),
    ("per_min", unit(Dimension::RequestRate, 1.0 / 60.0)),
    ("milliseconds", unit(Dimension::Time, 1e-3)),
    ("msec", unit(Dimension::Time, 1e-3)),
    ("in_ms", unit(Dimension::Time, 1e-3)),
    ("ms", unit(Dimension::Time, 1e-3)),
    ("microseconds", unit(Dimension::Time, 1e-6)),
    ("us", unit(Dimension::Time, 1e-6)),
    ("nanoseconds", unit(Dimension::Time, 1e-9)),
    ("ns", unit(Dimension::Time, 1e-9)),
    ("seconds", unit(Dimension::Time, 1.0)),
    ("sec", unit(Dimension::Time, 1.0)),
    ("s", unit(Dimension::Time, 1.0)),
    ("tokens", unit(Dimension::Tokens, 1.0)),
    ("percent", unit(Dimension::Share, 0.01)),
];

/// Lower case, every run of other marks one `_`, points between digits kept: `Mean TTFT (ms)` is
/// `mean_ttft_ms`, `P99.9 TTFT [ms]` is `p99.9_ttft_ms`.
pub(super) fn normalised(name: &str) -> String {
    let marks: Vec<char> = name.trim().to_lowercase().replace(['µ', 'μ'], "u").chars().collect();
    let mut out = String::with_capacity(marks.len());
    for (index, &mark) in marks.iter().enumerate() {
        let digit =
            |at: Option<usize>| at.and_then(|at| marks.get(at)).is_some_and(char::is_ascii_digit);
        let point = mark == '.' && digit(index.checked_sub(1)) && digit(Some(index + 1));
        if mark.is_alphanumeric() || point {
            out.push(mark);
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
    }
    out.truncate(out.trim_end_matches('_').len());
    out
}

/// Every way to part a unit from the end of a normalised name, the longest unit first: the name
/// before it, the ending, and the unit. `time_to_first_token_s` may end in tokens/s or in seconds.
pub(super) fn splits(name: &str) -> impl Iterator<Item = (&str, &str, Unit)> {
    ENDINGS.iter().filter_map(move |(ending, unit)| {
        let base = name.strip_suffix(ending)?.strip_suffix('_')?;
        (!base.is_empty()).then_some((base, *ending, *unit))
    })
}

/// A unit that stands alone, as `ms` in `ttft_ms_p99`.
pub(super) fn unit_word(word: &str) -> Option<Unit> {
    ENDINGS
        .iter()
        .find(|(ending, unit)| *ending == word && unit.dimension == Dimension::Time)
        .map(|(_, unit)| *unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_case_marks_and_units() {
        for (name, base, dimension, size) in [
            ("Mean TTFT (ms)", "mean_ttft", Dimension::Time, 1e-3),
            (" P99.9 TTFT [ms] ", "p99.9_ttft", Dimension::Time, 1e-3),
            ("ttft_p99_s", "ttft_p99", Dimension::Time, 1.0),
            ("TPOT mean (µs)", "tpot_mean", Dimension::Time, 1e-6),
            ("Request throughput (req/s)", "request_throughput", Dimension::RequestRate, 1.0),
            (
                "Output token throughput (tok/s)",
                "output_token_throughput",
                Dimension::TokenRate,
                1.0,
            ),
            ("out_tokens/s", "out", Dimension::TokenRate, 1.0),
            ("mean_input_tokens", "mean_input", Dimension::Tokens, 1.0),
        ] {
            let normal = normalised(name);
            let first = splits(&normal).next().map(|(base, _, unit)| (base, unit));
            assert_eq!(first, Some((base, Unit { dimension, size })), "{name}");
        }
        for bare in ["request_rate", "ms", "tokens", "", "duration", "gpus"] {
            assert_eq!(splits(bare).next(), None, "{bare}");
        }
    }
}

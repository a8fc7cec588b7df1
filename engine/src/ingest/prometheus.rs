//! Length histograms of a running server, from the text of its `/metrics` page.
//!
//! The format is Prometheus' text exposition 0.0.4: one line a bucket, `name_bucket{le="…"} n`,
//! counts cumulative up to `le="+Inf"`. vLLM 0.25 has `vllm:request_prompt_tokens` and
//! `vllm:request_generation_tokens`, both over all requests finished since the server started.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Refusal;
use super::parsed::{Contents, Notes};
use super::registry::{Body, FormatDescription};
use crate::problem::Problem;

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "vllm_metrics",
    title: "/metrics page of a running vLLM server",
    looks_for: "lines that begin with vllm:request_prompt_tokens_bucket",
    docs: "https://docs.vllm.ai/en/stable/usage/metrics.html",
    sniff: |head| head.json.is_none() && head.text.contains("vllm:request_prompt_tokens_bucket"),
    parse,
};

/// Lengths of all requests that a server finished since it started: of a workload, and no latency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServedLengths {
    /// Prompts.
    pub input_tokens: LengthHistogram,
    /// Answers.
    pub output_tokens: LengthHistogram,
}

fn parse(text: &str) -> Result<Body, Refusal> {
    let histogram = |family| {
        length_histogram(text, family)
            .map_err(|p| Refusal::broken(format!("{}: {}", p.path, p.message), p.hint))
    };
    let input_tokens = histogram(PROMPT_TOKENS)?;
    let output_tokens = histogram(GENERATION_TOKENS)?;
    let mut notes = Notes::new("requests");
    notes.rows_read = input_tokens.count;
    notes.rows_used = input_tokens.count;
    for (what, histogram) in [("prompts", &input_tokens), ("outputs", &output_tokens)] {
        for remark in &histogram.remarks {
            notes.remark(format!("{what}: {remark}"));
        }
    }
    let contents = Contents::Lengths(Box::new(ServedLengths { input_tokens, output_tokens }));
    Ok(Body { tool_version: None, contents, notes })
}

/// Prompt lengths of a vLLM server.
pub const PROMPT_TOKENS: &str = "vllm:request_prompt_tokens";

/// Output lengths of a vLLM server.
pub const GENERATION_TOKENS: &str = "vllm:request_generation_tokens";

/// The longest page that is read, bytes.
const MAX_BYTES: usize = 16 << 20;

/// How far a share is moved where lengths jump: a table of quantiles has one length per share.
const JUMP: f64 = 1e-9;

/// A histogram of lengths as a table of quantiles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LengthHistogram {
    /// Shares of requests and their lengths, tokens, ascending in both.
    pub rows: Vec<(f64, f64)>,
    /// Requests counted.
    pub count: u64,
    /// Mean length by the histogram's own sum, tokens; `None` where the page has none.
    pub mean: Option<f64>,
    /// What was assumed, one sentence each.
    pub remarks: Vec<String>,
}

/// The histogram `family` on a `/metrics` page. Series that differ in other labels (engines of one
/// server) are added up.
///
/// # Errors
/// The page has no such histogram, nothing was counted in it, or its counts fall.
pub fn length_histogram(text: &str, family: &str) -> Result<LengthHistogram, Problem> {
    let refuse = |message: String, hint: &str| Problem::error(family, message, hint);
    if text.len() > MAX_BYTES {
        return Err(refuse(
            format!("the page has {} MB", text.len() / 1_000_000),
            "paste the lines of this histogram alone",
        ));
    }
    let series = read(text, family)?;
    if series.buckets.is_empty() {
        return Err(refuse(
            format!("the page has no `{family}_bucket` lines"),
            "paste the text of the server's /metrics page, lines with `le=` included",
        ));
    }
    let Some(total) = series.total() else {
        return Err(refuse(
            "the bucket `le=\"+Inf\"` is missing, so the shares are not known".to_owned(),
            "paste all lines of the histogram",
        ));
    };
    if total <= 0.0 {
        return Err(refuse(
            "no request has been counted yet".to_owned(),
            "paste the page of a server that has finished requests",
        ));
    }
    if let Some((edge, count)) = series.falls() {
        return Err(refuse(
            format!("the count of the bucket up to {edge} tokens falls to {count}"),
            "paste the page as it is: its counts are cumulative",
        ));
    }
    Ok(series.quantiles(total))
}

/// What a page says about one histogram, series added up.
#[derive(Debug, Default)]
struct Series {
    /// Upper edge in tokens and cumulative count, by the bits of the edge.
    buckets: BTreeMap<u64, (f64, f64)>,
    sum: Option<f64>,
    count: usize,
}

fn read(text: &str, family: &str) -> Result<Series, Problem> {
    let mut found = Series::default();
    for (number, line) in (1..).zip(text.lines()) {
        let Some(rest) = line.trim().strip_prefix(family) else { continue };
        let wrong = |what: &str| {
            Problem::error(
                format!("line {number}"),
                format!("{what} in `{}`", line.trim()),
                "paste the page as the server gives it",
            )
        };
        if let Some(rest) = rest.strip_prefix("_bucket") {
            let (labels, value) = labels_and_value(rest).ok_or_else(|| wrong("no number"))?;
            let edge = label(labels, "le").ok_or_else(|| wrong("no label `le`"))?;
            let edge = if edge == "+Inf" { Ok(f64::INFINITY) } else { edge.parse::<f64>() };
            let edge = edge.ok().filter(|edge| *edge > 0.0).ok_or_else(|| wrong("no edge"))?;
            if !(value >= 0.0 && value.is_finite()) {
                return Err(wrong("no count"));
            }
            // Bits of positive numbers are in the order of the numbers.
            found.buckets.entry(edge.to_bits()).or_insert((edge, 0.0)).1 += value;
            found.count += usize::from(edge.is_infinite());
        } else if let Some(rest) = rest.strip_prefix("_sum") {
            let (_, value) = labels_and_value(rest).ok_or_else(|| wrong("no number"))?;
            *found.sum.get_or_insert(0.0) += value;
        }
    }
    Ok(found)
}

/// The text between braces, empty without, and the number after it; a time stamp may follow.
fn labels_and_value(rest: &str) -> Option<(&str, f64)> {
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inner) => inner.rsplit_once('}')?,
        None => ("", rest),
    };
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some((labels, value))
}

/// The value of a label; values of the labels here hold no escaped quotes before `le`.
fn label<'a>(labels: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("{name}=\"");
    let at = labels
        .match_indices(&start)
        .find(|(at, _)| *at == 0 || labels[..*at].ends_with([',', ' ']))?
        .0;
    labels[at + start.len()..].split('"').next()
}

impl Series {
    fn total(&self) -> Option<f64> {
        self.buckets.values().last().filter(|(edge, _)| edge.is_infinite()).map(|(_, n)| *n)
    }

    /// The first bucket that counts less than the one before.
    fn falls(&self) -> Option<(f64, f64)> {
        let mut before = 0.0;
        self.buckets.values().copied().find(|(_, count)| {
            let falls = *count < before;
            before = *count;
            falls
        })
    }

    fn quantiles(&self, total: f64) -> LengthHistogram {
        let mean = self.sum.map(|sum| sum / total);
        let mut remarks =
            vec!["inside a bucket every length is taken as equally likely".to_owned()];
        if self.count > 1 {
            remarks.push(format!("{} series were added up", self.count));
        }
        let (mut rows, mut of_sum): (Vec<(f64, f64)>, f64) = (Vec::new(), 0.0);
        let (mut low, mut counted) = (0.0_f64, 0.0_f64);
        for &(edge, count) in self.buckets.values() {
            let within = count - counted;
            let high = if edge.is_finite() { edge } else { self.open_end(low, within, of_sum) };
            if within > 0.0 {
                if edge.is_infinite() {
                    remarks.push(format!(
                        "{within:.0} of {total:.0} lengths are beyond the last edge of {low} \
                         tokens: taken as up to {high:.0}"
                    ));
                }
                push(&mut rows, counted / total, low.max(1.0));
                push(&mut rows, count / total, high.max(1.0));
                of_sum += within * f64::midpoint(low, high);
            }
            (low, counted) = (high, count);
        }
        if let Some(mean) = mean {
            let taken = of_sum / total;
            if (taken / mean - 1.0).abs() > 0.02 {
                remarks.push(format!(
                    "the table has a mean of {taken:.0} tokens, the server's own is {mean:.0}"
                ));
            }
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "float to int casts saturate, and counts are not negative"
        )]
        let count = total as u64;
        LengthHistogram { rows, count, mean, remarks }
    }

    /// Where the open bucket may end: as far beyond its mean, by the sum, as that is beyond its
    /// start; without a sum at twice the start, and never beyond ten times it.
    fn open_end(&self, low: f64, within: f64, of_sum: f64) -> f64 {
        let Some(sum) = self.sum.filter(|_| within > 0.0) else { return 2.0 * low.max(1.0) };
        let mean = (sum - of_sum) / within;
        (2.0 * mean - low).clamp(low.max(1.0), 10.0 * low.max(1.0))
    }
}

/// Adds a row; where the lengths jump, a hair further along the shares.
fn push(rows: &mut Vec<(f64, f64)>, share: f64, tokens: f64) {
    match rows.last() {
        Some(&(before, at)) if share <= before => {
            if tokens > at {
                rows.push((before + JUMP, tokens));
            }
        }
        _ => rows.push((share, tokens)),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::workload::QuantileTable;

    const PAGE: &str = "\
# HELP vllm:request_prompt_tokens Number of prefill tokens processed.
# TYPE vllm:request_prompt_tokens histogram
vllm:request_prompt_tokens_bucket{engine=\"0\",le=\"100.0\",model_name=\"example/chat-8b\"} 20.0
vllm:request_prompt_tokens_bucket{engine=\"0\",le=\"200.0\",model_name=\"example/chat-8b\"} 20.0
vllm:request_prompt_tokens_bucket{engine=\"0\",le=\"500.0\",model_name=\"example/chat-8b\"} 80.0
vllm:request_prompt_tokens_bucket{engine=\"0\",le=\"+Inf\",model_name=\"example/chat-8b\"} 100.0 17e11
vllm:request_prompt_tokens_count{engine=\"0\",model_name=\"example/chat-8b\"} 100.0
vllm:request_prompt_tokens_sum{engine=\"0\",model_name=\"example/chat-8b\"} 36000.0
vllm:request_prompt_tokens_created{engine=\"0\",model_name=\"example/chat-8b\"} 1.7e9
";

    #[test]
    fn buckets_become_quantiles_and_the_open_end_is_said() {
        let histogram = length_histogram(PAGE, PROMPT_TOKENS).unwrap();
        assert_eq!((histogram.count, histogram.mean), (100, Some(360.0)));
        let table = QuantileTable::new(&histogram.rows).unwrap();
        // A fifth up to 100, none to 200, three fifths to 500, the rest by the sum: 36,000 less
        // 20 × 50 and 60 × 350 leaves 14,000 for 20, 700 each, so up to 900.
        for (p, tokens) in [(0.1, 50.0), (0.3, 250.0), (0.5, 350.0), (0.9, 700.0), (1.0, 900.0)] {
            assert!((table.at(p) - tokens).abs() < 1.0, "{p}: {}", table.at(p));
        }
        let said = histogram.remarks.join("; ");
        assert!(said.contains("20 of 100 lengths are beyond the last edge of 500"), "{said}");
        assert!(said.contains("equally likely") && !said.contains("the server's own"), "{said}");
    }

    #[test]
    fn engines_of_one_server_are_added_up() {
        let both = format!("{PAGE}{}", PAGE.replace("engine=\"0\"", "engine=\"1\""));
        let (one, two) =
            [PAGE, both.as_str()].map(|page| length_histogram(page, PROMPT_TOKENS).unwrap()).into();
        assert_eq!((one.rows, one.mean, two.count), (two.rows, two.mean, 200));
        assert!(two.remarks.join("; ").contains("2 series"));
    }

    #[test]
    fn what_is_no_histogram_of_lengths_says_why() {
        let broken = PAGE.replace("} 80.0", "} 8.0");
        let without_end: String =
            PAGE.lines().filter(|l| !l.contains("+Inf")).collect::<Vec<_>>().join("\n");
        let nobody = PAGE.replace(" 20.0", " 0").replace(" 80.0", " 0").replace(" 100.0", " 0");
        for (page, says) in [
            ("", "no `vllm:request_prompt_tokens_bucket` lines"),
            (broken.as_str(), "up to 500 tokens falls to 8"),
            (without_end.as_str(), "+Inf"),
            (nobody.as_str(), "no request"),
            ("vllm:request_prompt_tokens_bucket{engine=\"0\"} 3", "no label `le`"),
            ("vllm:request_prompt_tokens_bucket{le=\"9\"} many", "no number"),
            ("vllm:request_prompt_tokens_bucket{le=\"9\"} NaN", "no count"),
            ("vllm:request_prompt_tokens_bucket{le=\"-9\"} 3", "no edge"),
        ] {
            let problem = length_histogram(page, PROMPT_TOKENS).unwrap_err();
            assert!(problem.to_string().contains(says), "{problem}");
        }
    }

    proptest! {
        #[test]
        fn any_histogram_is_a_valid_table_with_its_shares(counts in prop::collection::vec(0..50_u32, 1..9)) {
            let mut page = String::new();
            let (mut total, mut edge) = (0_u32, 3_u32);
            for count in &counts {
                total += count;
                edge *= 3;
                writeln!(page, "x_bucket{{le=\"{edge}\"}} {total}").unwrap();
            }
            writeln!(page, "x_bucket{{le=\"+Inf\"}} {total}").unwrap();
            if let Ok(histogram) = length_histogram(&page, "x") {
                let table = QuantileTable::new(&histogram.rows).unwrap();
                let mut upto = 0;
                let mut edge = 3;
                for count in counts {
                    upto += count;
                    edge *= 3;
                    let share = f64::from(upto) / f64::from(total);
                    if count > 0 {
                        prop_assert!((table.at(share) - f64::from(edge)).abs() < 1e-3 * f64::from(edge));
                    }
                }
            } else {
                prop_assert_eq!(total, 0);
            }
        }

        #[test]
        fn no_page_makes_it_panic(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "x", "_bucket", "_sum", "{", "le=\"", "5", "\"", "} ", "+Inf", "3", "\n", " ", "NaN", "ß",
                ]),
                0..40,
            )
        ) {
            let _ = length_histogram(&pieces.concat(), "x");
        }
    }
}

//! The block vLLM's and SGLang's clients print at the end of a run, as it stands in logs and READMEs.
//!
//! Documented at <https://docs.vllm.ai/en/latest/benchmarking/cli.html>; labels read in blocks of
//! 2024 to 2026. Each label is the name of a key of the JSON in words, so a block becomes a run like
//! the ones in those files. Numbers have two decimals. What was asked for stands in the block or in
//! the lines just above it, if anywhere. Several blocks in one text are several runs.

use std::collections::BTreeMap;

use super::gathered::Gathered;
use super::json::Scalar;
use super::registry::{Body, FormatDescription};
use super::vllm_serve::point as vllm;
use super::vllm_serve::run::Run;
use super::vllm_serve::values::Values;
use super::{Refusal, sglang};

/// The title of a block.
const TITLE: &str = "Serving Benchmark Result ====";

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "serving_console",
    title: "vLLM or SGLang console block",
    looks_for: "a text with a line ==== Serving Benchmark Result ====",
    docs: "https://docs.vllm.ai/en/latest/benchmarking/cli.html",
    sniff: |head| head.json.is_none() && head.text.contains(TITLE),
    parse,
};

fn parse(text: &str) -> Result<Body, Refusal> {
    let mut gathered = Gathered::default();
    let mut block = Block::default();
    let mut passed = 0_u64;
    for (line, content) in (1_u64..).zip(text.lines()) {
        if content.contains(TITLE) {
            block.close(&mut gathered)?;
            block.line = Some(line);
        } else if block.line.is_some() && content.trim_start().starts_with("======") {
            block.close(&mut gathered)?;
        } else if !block.take(content) && !content.trim().is_empty() {
            passed += 1;
        }
    }
    block.close(&mut gathered)?;
    if gathered.points.is_empty() {
        return Err(Refusal::broken(
            "the block holds no figure of a run",
            "paste it from its title to its last line",
        ));
    }
    if passed > 0 {
        gathered.remarks.add(1, format!("{passed} other lines of the text were passed over"));
    }
    Ok(gathered.finish("blocks"))
}

/// A block while its lines come; before its title, what was said about the load.
#[derive(Default)]
struct Block {
    /// Line of the title.
    line: Option<u64>,
    scalars: BTreeMap<String, Scalar>,
}

impl Block {
    /// Takes a line, if it is one of the block's.
    fn take(&mut self, line: &str) -> bool {
        let Some((label, value)) = line.rsplit_once(':') else {
            // A rule between two parts, with its title.
            return self.line.is_some() && line.trim_start().starts_with("--");
        };
        let (label, value) = (label.trim(), value.trim());
        let Some(key) = key_of(label) else { return false };
        let asked = ASKED.contains(&key.as_str());
        if self.line.is_none() && !asked {
            return false;
        }
        let scalar = match value.parse::<f64>() {
            Ok(number) => Scalar::Number(number),
            Err(_) if value.eq_ignore_ascii_case("not set") => Scalar::Null,
            Err(_) => Scalar::Text(value.to_owned()),
        };
        self.scalars.insert(key, scalar);
        true
    }

    /// Ends the block: its figures are a run.
    fn close(&mut self, gathered: &mut Gathered) -> Result<(), Refusal> {
        let Some(line) = self.line.take() else { return Ok(()) };
        let scalars = std::mem::take(&mut self.scalars);
        let figures = scalars.keys().filter(|key| !ASKED.contains(&key.as_str())).count();
        if figures == 0 {
            return Ok(());
        }
        gathered.make_room(1)?;
        let row = gathered.next_row();
        let of_sglang = scalars.contains_key("backend")
            || scalars.keys().any(|key| key.ends_with("e2e_latency_ms"));
        let run = Run { scalars, ..Run::default() };
        let mut values = Values { run: &run, line, remarks: &mut gathered.remarks };
        let point = if of_sglang {
            sglang::of_run(&mut values, row)
        } else {
            vllm::of_run(&mut values, row)
        };
        gathered.points.push(point);
        Ok(())
    }
}

/// Keys of what was asked for, which may stand above the title.
const ASKED: [&str; 3] = ["request_rate", "max_concurrency", "backend"];

/// The key of the result file that a label stands for.
fn key_of(label: &str) -> Option<String> {
    const LABELS: [(&str, &str); 22] = [
        ("backend", "backend"),
        ("traffic request rate", "request_rate"),
        ("request rate configured (rps)", "request_rate"),
        ("max request concurrency", "max_concurrency"),
        ("maximum request concurrency", "max_concurrency"),
        ("successful requests", "completed"),
        ("failed requests", "failed"),
        ("benchmark duration (s)", "duration"),
        ("total input tokens", "total_input_tokens"),
        ("total generated tokens", "total_output_tokens"),
        ("total generated tokens (retokenized)", "total_output_tokens_retokenized"),
        ("request throughput (req/s)", "request_throughput"),
        ("request goodput (req/s)", "request_goodput"),
        ("input token throughput (tok/s)", "input_throughput"),
        ("output token throughput (tok/s)", "output_throughput"),
        ("total token throughput (tok/s)", "total_token_throughput"),
        ("peak output token throughput (tok/s)", "max_output_tokens_per_s"),
        ("peak concurrent requests", "max_concurrent_requests"),
        ("concurrency", "concurrency"),
        ("accept length", "accept_length"),
        ("total input text tokens", "total_input_text_tokens"),
        ("total input vision tokens", "total_input_vision_tokens"),
    ];
    let lower = label.to_lowercase();
    let known = LABELS.iter().find(|(words, _)| *words == lower).map(|(_, key)| *key);
    if let Some(key) = known {
        return Some(key.to_owned());
    }
    // `P99.9 TTFT (ms)` is `p99.9_ttft_ms`, `Mean E2E Latency (ms)` is `mean_e2e_latency_ms`.
    let statistic = lower.strip_suffix(" (ms)")?;
    Some(format!("{}_ms", statistic.replace(' ', "_")))
}

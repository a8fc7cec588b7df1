//! `inference-perf`, which takes a configuration file.

use std::fmt::Write;

use super::{Asked, Can, LoadToMeasure, RATE_RUN_S, Spread, Tool, number, whole};

pub(super) fn tool(asked: &Asked) -> Tool {
    let (closed, open): (Vec<_>, Vec<_>) = asked
        .loads
        .iter()
        .copied()
        .partition(|load| matches!(load, LoadToMeasure::Concurrency { .. }));
    let files = [closed, open].into_iter().filter(|loads| !loads.is_empty());
    Tool {
        name: "inference-perf".to_owned(),
        documented: "inference-perf documentation, docs/config.md, 2026".to_owned(),
        commands: files.map(|loads| file(asked, &loads)).collect(),
        cannot: asked.cannot(&Can {
            lengths: "the tail of the lengths: they are normal, cut at the shortest and longest, \
                      which moves the mean of a wide one: hold the result's against the asked",
            prefixes: false,
            one_prefix: false,
            gamma: false,
        }),
    }
}

/// One configuration file: all loads of a kind are stages of one run.
fn file(asked: &Asked, loads: &[LoadToMeasure]) -> String {
    let mix = asked.mix;
    let mut text = String::from("# inference-perf --config_file config.yml\n");
    text.push_str("api:\n  type: completion\n  streaming: true\n");
    text.push_str("data:\n  type: random\n");
    for (side, spread) in [("input", &mix.input_tokens), ("output", &mix.output_tokens)] {
        distribution(&mut text, side, spread);
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "load:\n  type: {}\n  stages:", kind(loads));
    for load in loads {
        let _ = match load {
            LoadToMeasure::Concurrency { requests, num_prompts } => writeln!(
                text,
                "    - concurrency_level: {requests}\n      num_requests: {num_prompts}"
            ),
            LoadToMeasure::Rate { rps, .. } => {
                let (rate, seconds) = (number(*rps), whole(RATE_RUN_S));
                writeln!(text, "    - rate: {rate}\n      duration: {seconds}")
            }
        };
    }
    let _ = writeln!(text, "server:\n  type: vllm\n  model_name: {}", mix.model);
    text.push_str("  base_url: http://localhost:8000\n  ignore_eos: true");
    text
}

fn kind(loads: &[LoadToMeasure]) -> &'static str {
    match loads {
        [LoadToMeasure::Rate { burstiness: None, .. }, ..] => "constant",
        [LoadToMeasure::Rate { .. }, ..] => "poisson",
        _ => "concurrent",
    }
}

fn distribution(text: &mut String, side: &str, spread: &Spread) {
    let (min, max) = (spread.min, spread.max);
    let (mean, deviation) = (whole(spread.mean), whole(spread.std_dev));
    let _ = writeln!(
        text,
        "  {side}_distribution:\n    min: {min}\n    max: {max}\n    mean: {mean}\n    std_dev: {deviation}"
    );
}

//! `guidellm benchmark`.

use std::fmt::Write;

use super::{Asked, Can, LoadToMeasure, RATE_RUN_S, Spread, Tool, command, number, whole};

pub(super) fn tool(asked: &Asked) -> Tool {
    Tool {
        name: "guidellm".to_owned(),
        documented: "GuideLLM 0.5 documentation of `guidellm benchmark`".to_owned(),
        commands: asked.loads.iter().map(|load| line(asked, *load)).collect(),
        cannot: asked.cannot(&Can {
            lengths: "the tail of the lengths: they are normal, cut at the shortest and longest, \
                      which moves the mean of a wide one: hold the result's against the asked",
            prefixes: true,
            one_prefix: false,
            gamma: false,
        }),
    }
}

fn line(asked: &Asked, load: LoadToMeasure) -> String {
    let mix = asked.mix;
    let lengths = [spread("prompt", &mix.own_input()), spread("output", &mix.output_tokens)];
    let mut data = lengths.join(",");
    if let Some(prefix) = mix.shared_prefix {
        let _ = write!(data, ",prefix_tokens={},prefix_count={}", prefix.tokens, prefix.count);
    }
    let mut words = vec!["guidellm benchmark --target http://localhost:8000".to_owned()];
    words.push(format!("--model {} --data \"{data}\"", mix.model));
    words.push(match load {
        LoadToMeasure::Concurrency { requests, num_prompts } => {
            format!("--profile concurrent --rate {requests} --max-requests {num_prompts}")
        }
        LoadToMeasure::Rate { rps, burstiness, .. } => {
            let profile = if burstiness.is_some() { "poisson" } else { "constant" };
            let rate = number(rps);
            format!("--profile {profile} --rate {rate} --max-seconds {}", number(RATE_RUN_S))
        }
    });
    words.push("--output-path benchmark.json".to_owned());
    command(&words)
}

fn spread(side: &str, spread: &Spread) -> String {
    let mean = whole(spread.mean);
    if spread.is_fixed() {
        return format!("{side}_tokens={mean}");
    }
    let (deviation, min, max) = (whole(spread.std_dev), spread.min, spread.max);
    format!(
        "{side}_tokens={mean},{side}_tokens_stdev={deviation},{side}_tokens_min={min},\
         {side}_tokens_max={max}"
    )
}

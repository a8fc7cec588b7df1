//! `vllm bench serve`.

use super::{Asked, Can, LoadToMeasure, Spread, Tool, command, number, whole};
use crate::slo::Limit;

pub(super) fn tool(asked: &Asked) -> Tool {
    Tool {
        name: "vllm bench serve".to_owned(),
        documented: "vLLM 0.12 documentation of `vllm bench serve`".to_owned(),
        commands: asked.loads.iter().map(|load| line(asked, *load)).collect(),
        cannot: asked.cannot(&Can {
            lengths: "the tail of the lengths: they are uniform around the mean, as wide as the \
                      standard deviation asks, up to twice the mean",
            prefixes: true,
            one_prefix: true,
            gamma: true,
        }),
    }
}

fn line(asked: &Asked, load: LoadToMeasure) -> String {
    let mix = asked.mix;
    let mut words = vec![format!("vllm bench serve --model {}", mix.model)];
    let (input, output) = (mix.own_input(), &mix.output_tokens);
    words.push(format!(
        "--dataset-name random --random-input-len {} --random-output-len {}",
        whole(input.mean),
        whole(output.mean)
    ));
    let range = range_ratio(&input).max(range_ratio(output));
    words.push(format!("--random-range-ratio {} --ignore-eos", number(range)));
    if let Some(prefix) = mix.shared_prefix {
        words.push(format!("--random-prefix-len {}", prefix.tokens));
    }
    words.push(match load {
        LoadToMeasure::Concurrency { requests, num_prompts } => {
            format!("--max-concurrency {requests} --num-prompts {num_prompts}")
        }
        LoadToMeasure::Rate { rps, burstiness, num_prompts } => {
            let shape = burstiness.map_or("inf".to_owned(), number);
            let rate = number(rps);
            format!("--request-rate {rate} --burstiness {shape} --num-prompts {num_prompts}")
        }
    });
    let goodput: Vec<String> = asked.limits().into_iter().filter_map(limit).collect();
    if !goodput.is_empty() {
        words.push(format!("--goodput {}", goodput.join(" ")));
    }
    words.push(
        "--percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,90,95,99".to_owned(),
    );
    words.push("--save-result --save-detailed".to_owned());
    command(&words)
}

/// Lengths are uniform in mean × [1 − r, 1 + r], whose standard deviation is mean × r / √3.
fn range_ratio(spread: &Spread) -> f64 {
    (3.0_f64.sqrt() * spread.std_dev / spread.mean).min(0.99)
}

fn limit((limit, ms): (Limit, f64)) -> Option<String> {
    let name = match limit {
        Limit::Ttft => "ttft",
        Limit::Tpot => "tpot",
        Limit::E2e => "e2el",
        Limit::Ttfvt | Limit::Stall | Limit::Itl => return None,
    };
    Some(format!("{name}:{}", number(ms)))
}

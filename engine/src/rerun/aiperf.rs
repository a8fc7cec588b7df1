//! `aiperf profile`.

use super::{Asked, Can, LoadToMeasure, Tool, command, number, whole};
use crate::slo::Limit;

pub(super) fn tool(asked: &Asked) -> Tool {
    Tool {
        name: "aiperf".to_owned(),
        documented: "AIPerf 0.13 documentation of `aiperf profile`".to_owned(),
        commands: asked.loads.iter().map(|load| line(asked, *load)).collect(),
        cannot: asked.cannot(&Can {
            lengths: "the tail of the lengths: they are normal, cut at one token, which moves the \
                      mean of a wide one: hold the result's against the asked",
            prefixes: true,
            one_prefix: false,
            gamma: true,
        }),
    }
}

fn line(asked: &Asked, load: LoadToMeasure) -> String {
    let (input, output) = (asked.mix.own_input(), &asked.mix.output_tokens);
    let mut words = vec![format!(
        "aiperf profile --model {} --url http://localhost:8000 --endpoint-type chat --streaming",
        asked.mix.model
    )];
    words.push(format!("--isl {} --isl-stddev {}", whole(input.mean), number(input.std_dev)));
    words.push(format!("--osl {} --osl-stddev {}", whole(output.mean), number(output.std_dev)));
    words.push("--extra-inputs ignore_eos:true".to_owned());
    if let Some(prefix) = asked.mix.shared_prefix {
        words.push(format!(
            "--prefix-prompt-length {} --prefix-prompt-pool-size {}",
            prefix.tokens, prefix.count
        ));
    }
    words.push(match load {
        LoadToMeasure::Concurrency { requests, num_prompts } => {
            format!("--concurrency {requests} --request-count {num_prompts}")
        }
        LoadToMeasure::Rate { rps, burstiness, num_prompts } => {
            let pattern = match burstiness {
                None => "constant".to_owned(),
                Some(shape) if (shape - 1.0).abs() < 1e-9 => "poisson".to_owned(),
                Some(shape) => format!("gamma --arrival-smoothness {}", number(shape)),
            };
            let rate = number(rps);
            format!(
                "--request-rate {rate} --arrival-pattern {pattern} --request-count {num_prompts}"
            )
        }
    });
    let goodput: Vec<String> = asked.limits().into_iter().filter_map(limit).collect();
    if !goodput.is_empty() {
        words.push(format!("--goodput \"{}\"", goodput.join(" ")));
    }
    command(&words)
}

/// Its `inter_token_latency` is (E2E − TTFT) ÷ (n − 1): TPOT here.
fn limit((limit, ms): (Limit, f64)) -> Option<String> {
    let name = match limit {
        Limit::Ttft => "time_to_first_token",
        Limit::Tpot => "inter_token_latency",
        Limit::E2e => "request_latency",
        Limit::Ttfvt | Limit::Stall | Limit::Itl => return None,
    };
    Some(format!("{name}:{}", number(ms)))
}

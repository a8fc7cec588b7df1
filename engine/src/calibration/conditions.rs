//! The conditions of a benchmark, as far as its point says, put on one replica of a pool.

use rand_distr::{Distribution, Gamma};

use super::names::{same_gpu, same_model};
use crate::counted::plural;
use crate::ingest::{BenchmarkPoint, Load};
use crate::rng::{Key, Stream, keyed};
use crate::scenario::Pool;
use crate::sim::ReplicaSpec;
use crate::units::Picos;
use crate::workload::{Lineage, OfferedRequest};

/// Requests beyond these are left out of a prediction.
const MOST_REQUESTS: u64 = 2000;
/// Requests where a file does not say how many it sent: at least so many batches of them.
const GENERATIONS: u64 = 8;
/// And at least so many.
const FEWEST_REQUESTS: u64 = 200;
/// A run that failed more of its requests than this measured something else.
const MOST_FAILED: f64 = 0.05;

/// What one replica was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditions {
    /// In order of sending.
    pub requests: Vec<OfferedRequest>,
    /// Requests that clients keep in flight at most; the next waits in the client.
    pub cap: Option<u32>,
    /// Replicas that shared the benchmark's load evenly.
    pub replicas: u32,
    /// Offered rate of one replica.
    pub rate_rps: Option<f64>,
    /// Mean prompt, tokens.
    pub input_tokens: f64,
    /// Mean output, tokens.
    pub output_tokens: f64,
    /// The load in words.
    pub load: String,
    /// What had to be supposed.
    pub assumptions: Vec<String>,
}

/// The part of a pool that a benchmark must agree with.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkedPool {
    /// Id or name of its model.
    pub model: String,
    /// Id or name of its GPU.
    pub gpu: String,
    /// GPUs of one replica.
    pub tensor_parallel: u32,
}

impl BenchmarkedPool {
    /// Of a checked pool.
    pub fn of(pool: &Pool) -> Self {
        Self {
            model: pool.model.name.clone(),
            gpu: pool.gpu.name.clone(),
            tensor_parallel: pool.layout.tensor_parallel,
        }
    }
}

impl Conditions {
    /// The conditions of `point`, or why it cannot be used.
    pub fn of(
        point: &BenchmarkPoint,
        pool: &BenchmarkedPool,
        spec: &ReplicaSpec,
    ) -> Result<Self, String> {
        let mut assumptions = vec![
            "every request has the mean lengths of its point: how they were distributed is not \
             in the file"
                .to_owned(),
            "prompts share no prefix: what the cache held is not in the file".to_owned(),
        ];
        refuse_failed(point)?;
        let replicas = replicas(point, pool, &mut assumptions)?;
        let (input, output) = (whole(point.input, "input")?, whole(point.output, "output")?);
        if spec.can_never_fit(input, output) {
            return Err(format!(
                "{input} input and {output} output tokens fit neither max_model_len {} nor the KV \
                 blocks of the pool; raise them to those of the benchmark",
                spec.max_model_len
            ));
        }
        let share = f64::from(replicas);
        let (rate_rps, concurrency) = match point.load {
            Load::RequestRate { rps } if rps > 0.0 => (Some(rps / share), point.client_cap),
            Load::Concurrency { requests } if requests > 0 => (None, Some(requests)),
            Load::Unbounded => (None, point.client_cap),
            Load::Ramp { .. } => return Err("a ramp has no steady load to compare with".to_owned()),
            _ => {
                return Err(
                    "its load is not stated: give a request rate or a concurrency".to_owned()
                );
            }
        };
        let cap = concurrency.map(|c| u32::try_from(c.div_ceil(u64::from(replicas))));
        let cap = cap.transpose().map_err(|e| format!("its concurrency is out of range: {e}"))?;
        let count = count(point, replicas, rate_rps, cap, &mut assumptions);
        let burstiness = burstiness(point, rate_rps, &mut assumptions)?;
        let dues = dues(count, rate_rps, burstiness);
        Ok(Self {
            requests: dues.into_iter().map(|due| request(due, input, output)).collect(),
            cap,
            replicas,
            rate_rps,
            input_tokens: point.input.map_or(0.0, |length| length.mean_tokens),
            output_tokens: point.output.map_or(0.0, |length| length.mean_tokens),
            load: words(&point.load, burstiness, point.client_cap),
            assumptions,
        })
    }

    /// Clients of one replica that ask again when they are answered, with prompts and outputs of so
    /// many tokens.
    pub fn closed_loop(clients: u32, requests: u32, (input, output): (u32, u32)) -> Self {
        Self {
            requests: (0..requests).map(|_| request(Picos::ZERO, input, output)).collect(),
            cap: Some(clients),
            replicas: 1,
            rate_rps: None,
            input_tokens: f64::from(input),
            output_tokens: f64::from(output),
            load: format!("{clients} in flight"),
            assumptions: Vec::new(),
        }
    }
}

fn request(due: Picos, input_tokens: u32, output_tokens: u32) -> OfferedRequest {
    OfferedRequest {
        class: 0,
        pool: 0,
        due,
        input_tokens,
        output_tokens,
        hidden_tokens: 0,
        patience: None,
        fails: false,
        acceptable: true,
        lineage: Lineage::NONE,
    }
}

fn refuse_failed(point: &BenchmarkPoint) -> Result<(), String> {
    if point.completed == Some(0) {
        return Err("no request completed: every latency in it means nothing".to_owned());
    }
    let failed = point.failed.unwrap_or(0);
    let tried = point.num_prompts.or(point.completed.map(|done| done + failed)).unwrap_or(0);
    if tried > 0 && failed as f64 > MOST_FAILED * tried as f64 {
        return Err(format!(
            "{failed} of {tried} requests failed: what was left is another load than the one asked \
             for"
        ));
    }
    Ok(())
}

/// Replicas of the pool that ran the benchmark, from the GPUs the point declares.
fn replicas(
    point: &BenchmarkPoint,
    pool: &BenchmarkedPool,
    assumptions: &mut Vec<String>,
) -> Result<u32, String> {
    let context = &point.context;
    let tensor_parallel = u64::from(pool.tensor_parallel);
    match context.tensor_parallel {
        Some(size) if size != tensor_parallel => {
            return Err(format!(
                "it ran on TP{size}, the pool is TP{tensor_parallel}: one does not tell about the \
                 other"
            ));
        }
        None => assumptions.push(format!(
            "tensor parallelism of the benchmark: TP{tensor_parallel}, as the pool's"
        )),
        _ => {}
    }
    let same = |same: fn(&str, &str) -> bool, stated: &Option<String>, ours: &str| {
        stated.as_ref().is_none_or(|stated| same(stated, ours))
    };
    let same_model = same(same_model, &context.model, &pool.model);
    let same_gpu = same(same_gpu, &context.gpu, &pool.gpu);
    for (what, stated, ours, is_same) in [
        ("model", &context.model, &pool.model, same_model),
        ("GPU", &context.gpu, &pool.gpu, same_gpu),
    ] {
        match stated {
            None => assumptions.push(format!("{what} of the benchmark: {ours}, as the pool's")),
            Some(stated) if !is_same => {
                return Err(format!("its {what} is {stated}, the pool's is {ours}"));
            }
            _ => {}
        }
    }
    let Some(gpus) = context.gpu_count else {
        let gpus = plural(tensor_parallel, "GPU", "GPUs");
        assumptions.push(format!("the benchmark ran on one replica ({gpus})"));
        return Ok(1);
    };
    if gpus == 0 || gpus % tensor_parallel != 0 {
        return Err(format!("{gpus} GPUs make no whole number of TP{tensor_parallel} replicas"));
    }
    if gpus > tensor_parallel {
        assumptions.push("several replicas shared the load of a benchmark evenly".to_owned());
    }
    u32::try_from(gpus / tensor_parallel).map_err(|e| format!("its GPU count is out of range: {e}"))
}

fn whole(length: Option<crate::ingest::Length>, side: &str) -> Result<u32, String> {
    let mean = length.map(|length| length.mean_tokens);
    let mean = mean.ok_or_else(|| format!("its mean {side} length is not stated"))?;
    let rounded = mean.round();
    if (1.0..=1e8).contains(&rounded) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        Ok(rounded as u32)
    } else {
        Err(format!("a mean {side} length of {mean} tokens cannot be simulated"))
    }
}

fn count(
    point: &BenchmarkPoint,
    replicas: u32,
    rate_rps: Option<f64>,
    cap: Option<u32>,
    assumptions: &mut Vec<String>,
) -> u64 {
    let by_duration = rate_rps.zip(point.duration_s).map(|(rps, s)| whole_count(rps * s));
    let stated = point.num_prompts.or(point.completed).map(|n| n.div_ceil(u64::from(replicas)));
    let Some(count) = stated.or(by_duration) else {
        let count = FEWEST_REQUESTS.max(GENERATIONS * u64::from(cap.unwrap_or(0)));
        assumptions
            .push("where a file does not say how many requests it sent, a few hundred".to_owned());
        return count.min(MOST_REQUESTS);
    };
    if count > MOST_REQUESTS {
        assumptions
            .push(format!("of longer runs the first {MOST_REQUESTS} requests stand for all"));
    }
    count.clamp(1, MOST_REQUESTS)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
fn whole_count(requests: f64) -> u64 {
    requests.max(1.0) as u64
}

/// Shape of the gaps; infinite where they are even.
fn burstiness(
    point: &BenchmarkPoint,
    rate_rps: Option<f64>,
    assumptions: &mut Vec<String>,
) -> Result<f64, String> {
    match point.burstiness {
        _ if rate_rps.is_none() => Ok(1.0),
        None => {
            assumptions.push("arrivals were Poisson where a file gives a rate alone".to_owned());
            Ok(1.0)
        }
        Some(shape) if shape > 0.0 => Ok(shape),
        Some(shape) => Err(format!("a burstiness of {shape} is no shape of gaps: above 0")),
    }
}

/// When requests are sent: at a rate with gamma gaps of mean 1 / rate, or all at once.
fn dues(count: u64, rate_rps: Option<f64>, burstiness: f64) -> Vec<Picos> {
    let Some(rate) = rate_rps else {
        return (0..count).map(|_| Picos::ZERO).collect();
    };
    // vLLM draws gamma gaps of shape k and scale 1 / (rate · k); k → ∞ is evenly spaced.
    let law = Gamma::new(burstiness, 1.0 / (rate * burstiness)).ok();
    let mut at = 0.0;
    (0..count)
        .map(|request| {
            let key = Key { seed: 1, stream: Stream::Arrivals, class: 0, request, attempt: 0 };
            let due = Picos::from_secs(at);
            at += law
                .filter(|_| burstiness.is_finite())
                .map_or(1.0 / rate, |law| law.sample(&mut keyed(key)));
            due
        })
        .collect()
}

fn words(load: &Load, burstiness: f64, client_cap: Option<u64>) -> String {
    let capped = client_cap.map_or(String::new(), |cap| format!(", at most {cap} in flight"));
    match load {
        Load::RequestRate { rps } if (burstiness - 1.0).abs() < 1e-9 => {
            format!("{rps} requests/s, Poisson{capped}")
        }
        Load::RequestRate { rps } if burstiness.is_infinite() => {
            format!("{rps} requests/s, evenly spaced{capped}")
        }
        Load::RequestRate { rps } => format!("{rps} requests/s, burstiness {burstiness}{capped}"),
        Load::Concurrency { requests } => format!("{requests} in flight"),
        _ => format!("all at once{capped}"),
    }
}

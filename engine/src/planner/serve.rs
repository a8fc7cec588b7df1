//! The plan as `vllm serve` commands: every setting of a pool under the flag that sets it, and what
//! no flag sets.
//!
//! Flags are those of vLLM's engine arguments (`ModelConfig`, `ParallelConfig`, `CacheConfig` and
//! `SchedulerConfig`; <https://docs.vllm.ai/en/latest/configuration/engine_args.html>). All are
//! written out, defaults too: vLLM's own depend on the GPU and change between versions.

use serde::{Deserialize, Serialize};

use super::report::{PlanAnswer, PlanReport};
use crate::catalog;
use crate::counted::plural;
use crate::fleet::{Admission, KvPrecision, Routing, Scaling, WeightPrecision};
use crate::scenario::doc::{PoolDoc, ScenarioDoc};
use crate::scenario::{CatalogRef, Pool, Scenario};

/// What to run, pool by pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServePlan {
    /// In the order of the document.
    pub pools: Vec<ServePool>,
    /// What of the scenario no flag of the engine sets.
    pub not_expressed: Vec<String>,
}

/// One pool's command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServePool {
    /// Its name; empty where it has none.
    pub pool: String,
    /// How many such servers: the answer of the plan, or the present ones where it has no count.
    pub replicas: u32,
    /// They are the answer of the plan.
    pub is_answer: bool,
    /// GPUs of one.
    pub gpus_per_replica: u32,
    /// The command of one, ready to paste.
    pub command: String,
    /// What has to be seen to before it runs so.
    pub notes: Vec<String>,
}

/// The commands of a plan.
pub fn serve(doc: &ScenarioDoc, scenario: &Scenario, plan: &PlanReport) -> ServePlan {
    let pools = doc.fleet.pools.iter().zip(scenario.pools());
    ServePlan {
        pools: pools.map(|(doc, pool)| serve_pool(doc, pool, plan)).collect(),
        not_expressed: not_expressed(doc, scenario),
    }
}

fn serve_pool(doc: &PoolDoc, pool: &Pool, plan: &PlanReport) -> ServePool {
    let of_pool = |plan: &&PlanReport| plan.pool.as_ref().is_none_or(|name| *name == pool.name);
    let plan = std::iter::once(plan).chain(&plan.other_pools).find(of_pool);
    let counted = plan.and_then(|plan| match plan.answer {
        PlanAnswer::Replicas { replicas, .. } => Some(replicas),
        _ => None,
    });
    let mut notes = Vec::new();
    let model = model(doc, &mut notes);
    let mut flags = flags(doc, pool);
    flags.extend(weights(doc, &mut notes));
    flags.extend(cache(doc, &mut notes));
    ServePool {
        pool: pool.name.clone(),
        replicas: counted.unwrap_or(pool.replicas),
        is_answer: counted.is_some(),
        gpus_per_replica: pool.gpus_per_replica,
        command: format!("vllm serve {model} \\\n  {}", flags.join(" \\\n  ")),
        notes,
    }
}

/// The model's name on Hugging Face.
fn model(doc: &PoolDoc, notes: &mut Vec<String>) -> String {
    let known = match &doc.model {
        CatalogRef::Id(id) => catalog::model(id).ok().map(|entry| entry.hf_id.clone()),
        CatalogRef::Custom(_) => None,
    };
    known.filter(|id| !id.is_empty()).unwrap_or_else(|| {
        notes.push("the model is given by numbers: put its name or path for MODEL".to_owned());
        "MODEL".to_owned()
    })
}

fn flags(doc: &PoolDoc, pool: &Pool) -> Vec<String> {
    let scheduler = &pool.scheduler;
    let mut flags = vec![
        format!("--tensor-parallel-size {}", doc.tensor_parallel),
        format!("--max-model-len {}", scheduler.max_model_len),
        format!("--max-num-seqs {}", scheduler.max_num_seqs),
        format!("--max-num-batched-tokens {}", scheduler.max_num_batched_tokens),
        format!("--long-prefill-token-threshold {}", scheduler.long_prefill_token_threshold),
        format!("--stream-interval {}", scheduler.stream_interval),
        format!("--block-size {}", scheduler.block_size),
        format!("--gpu-memory-utilization {}", doc.gpu_memory_utilization),
        format!("--scheduling-policy {}", if scheduler.by_priority { "priority" } else { "fcfs" }),
    ];
    if let Some(blocks) = doc.num_gpu_blocks {
        flags.push(format!("--num-gpu-blocks-override {blocks}"));
    }
    for (name, on) in [
        ("enable-chunked-prefill", scheduler.chunked_prefill),
        ("enable-prefix-caching", scheduler.prefix_caching),
        ("async-scheduling", scheduler.async_scheduling),
        ("scheduler-reserve-full-isl", scheduler.reserve_full_isl),
    ] {
        flags.push(format!("--{}{name}", if on { "" } else { "no-" }));
    }
    flags
}

/// How the weights come to their precision: vLLM quantises to 8-bit floats while it loads, and for
/// the rest loads a checkpoint that is quantised.
fn weights(doc: &PoolDoc, notes: &mut Vec<String>) -> Option<String> {
    let native = match &doc.model {
        CatalogRef::Id(id) => catalog::model(id).ok().map(|entry| entry.native_weights),
        CatalogRef::Custom(_) => None,
    };
    if native == Some(doc.weight_precision) {
        return None;
    }
    match doc.weight_precision {
        WeightPrecision::Bf16 => Some("--dtype bfloat16".to_owned()),
        WeightPrecision::Fp8 => Some("--quantization fp8".to_owned()),
        other => {
            let format = serde_json::to_value(other).unwrap_or_default();
            let format = format.as_str().map_or_else(|| format.to_string(), str::to_owned);
            notes.push(format!(
                "weights in {format} are a checkpoint of its own: put its name for the model's"
            ));
            None
        }
    }
}

fn cache(doc: &PoolDoc, notes: &mut Vec<String>) -> Option<String> {
    match doc.kv_precision {
        KvPrecision::Bf16 => Some("--kv-cache-dtype auto".to_owned()),
        KvPrecision::Fp8 => Some("--kv-cache-dtype fp8".to_owned()),
        KvPrecision::Q8_0 | KvPrecision::Q4_0 => {
            notes.push("vLLM has no such KV cache: that format is llama.cpp's".to_owned());
            None
        }
    }
}

/// What is no setting of an engine.
fn not_expressed(doc: &ScenarioDoc, scenario: &Scenario) -> Vec<String> {
    let mut all = vec![
        "how many servers there are: start as many, each with its own GPUs and port".to_owned(),
        format!("the router in front of them: {}", router(scenario.routing)),
    ];
    if scenario.admission != Admission::default() {
        all.push(
            "the limits at the door (fleet.admission): the router or gateway holds them".into(),
        );
    }
    let scaled = scenario.pools().filter(|pool| pool.life.scaling != Scaling::Fixed).count();
    if scaled > 0 {
        let pools = plural(scaled as u64, "pool", "pools");
        all.push(format!("what scales {pools}: the autoscaler or timetable of the platform"));
    }
    if scenario.has_several_pools() {
        all.push("which class goes to which pool: routes of the gateway".to_owned());
    }
    let classes = doc.workload.classes.iter().filter(|class| class.enabled);
    let budgets: Vec<String> = classes
        .filter_map(|class| Some((&class.name, class.max_output_tokens?)))
        .map(|(name, tokens)| format!("max_tokens {tokens} for {name}"))
        .collect();
    if scenario.pools().any(|pool| pool.scheduler.by_priority) {
        let of_each = scenario.classes.iter();
        let priorities: Vec<String> =
            of_each.map(|class| format!("{} for {}", class.priority, class.name)).collect();
        all.push(format!("the priority that requests carry: {}", priorities.join(", ")));
    }
    if !budgets.is_empty() {
        all.push(format!("output budgets, which requests carry: {}", budgets.join(", ")));
    }
    all.push("the contract: no flag makes an engine keep it".to_owned());
    all
}

fn router(routing: Routing) -> &'static str {
    match routing {
        Routing::LeastOutstanding => "to the server with the fewest requests queued or running",
        Routing::RoundRobin => "to each server in turn",
        Routing::Random => "to any server, all alike",
        Routing::PowerOfTwo => "to the less loaded of two that chance picks",
        Routing::LeastKv => "to the server with the fewest KV blocks held",
        Routing::Affinity { .. } => "requests of one session to one server",
    }
}

//! A scenario that most tests vary.
#![allow(dead_code, reason = "each test binary uses a part")]

use goodput_engine::scenario::doc::ScenarioDoc;
use goodput_engine::scenario::{Scenario, check, doc};
use serde_json::{Value, json};

/// Llama-3.1-8B on one H100 for chat, as a document; `edit` changes it.
pub fn document(edit: impl FnOnce(&mut Value)) -> Value {
    let mut document = json!({
        "version": 1,
        "workload": {
            "classes": [{
                "name": "chat",
                "arrivals": { "kind": "poisson", "rate_rps": 10.0 },
                "input_tokens": { "kind": "lognormal", "mean": 512.0, "p99": 2400.0 },
                "output_tokens": { "kind": "lognormal", "mean": 256.0, "p99": 1100.0 },
                "slo": { "ttft_ms": 1000.0, "tpot_ms": 50.0 }
            }]
        },
        "fleet": { "pools": [{ "gpu": "h100-sxm", "model": "llama-3.1-8b", "replicas": 1 }] }
    });
    edit(&mut document);
    document
}

/// The same, checked.
pub fn scenario(edit: impl FnOnce(&mut Value)) -> Scenario {
    let document = document(edit).to_string();
    let doc: ScenarioDoc = doc::parse(&document).expect("a well-formed document");
    check(&doc).expect("a valid document").scenario
}

/// Evenly spaced arrivals of fixed lengths.
pub fn fixed(input: u32, output: u32, rate_rps: f64) -> impl FnOnce(&mut Value) {
    move |document| {
        let class = &mut document["workload"]["classes"][0];
        class["arrivals"] = json!({ "kind": "constant", "rate_rps": rate_rps });
        class["input_tokens"] = json!({ "kind": "fixed", "tokens": input });
        class["output_tokens"] = json!({ "kind": "fixed", "tokens": output });
    }
}

//! A small program in another language recomputes every headline figure from the exports of random
//! scenarios. It runs where `python3` is there, and says so where it is not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use goodput_engine::rng::{Key, Stream, keyed};
use rand::Rng;
use serde_json::{Value, json};

/// Scenarios; enough for every outcome to occur many times.
const SCENARIOS: u64 = 200;

/// One of `values`, drawn.
fn one_of<T: Clone>(draw: &mut impl Rng, values: &[T]) -> T {
    let index = usize::try_from(draw.next_u64() % values.len() as u64).expect("an index");
    values[index].clone()
}

fn class(draw: &mut impl Rng, name: &str) -> Value {
    let arrivals = one_of(
        draw,
        &[
            json!({ "kind": "poisson", "rate_rps": 12.0 }),
            json!({ "kind": "poisson", "rate_rps": 45.0 }),
            json!({ "kind": "constant", "rate_rps": 20.0 }),
        ],
    );
    let input = one_of(
        draw,
        &[
            json!({ "kind": "lognormal", "mean": 400.0, "p99": 3000.0 }),
            json!({ "kind": "fixed", "tokens": 700 }),
            json!({ "kind": "empirical", "samples": [1, 64, 65, 900, 5000] }),
        ],
    );
    let output = one_of(
        draw,
        &[
            json!({ "kind": "lognormal", "mean": 120.0, "p99": 700.0 }),
            json!({ "kind": "fixed", "tokens": 1 }),
            json!({ "kind": "empirical", "samples": [1, 2, 33, 400] }),
        ],
    );
    let patience = one_of(draw, &[Value::Null, Value::Null, json!({ "kind": "fixed", "s": 2.5 })]);
    json!({
        "name": name,
        "arrivals": arrivals,
        "input_tokens": input,
        "output_tokens": output,
        "patience": patience,
        "hidden_tokens": one_of(draw, &[
            Value::Null,
            json!({ "kind": "share", "share": 0.7 }),
            json!({ "kind": "added", "tokens": { "kind": "fixed", "tokens": 60 } }),
        ]),
        "max_output_tokens": one_of(draw, &[Value::Null, json!(300), json!(61)]),
        "error_rate": one_of(draw, &[0.0, 0.0, 0.05]),
        "quality": one_of(draw, &[
            json!({ "state": "not_checked" }),
            json!({ "state": "assumed", "pass_rate": 0.9, "by": "a test" }),
        ]),
        "slo": slo(draw),
    })
}

fn slo(draw: &mut impl Rng) -> Value {
    let limit = |draw: &mut _, values: &[f64]| -> Value {
        let mut values: Vec<Value> = values.iter().map(|value| json!(value)).collect();
        values.push(Value::Null);
        one_of(draw, &values)
    };
    json!({
        "ttft_ms": limit(draw, &[60.0, 400.0, 2000.0]),
        "tpot_ms": limit(draw, &[9.0, 14.5, 40.0]),
        "longest_stall_ms": limit(draw, &[25.0, 80.0]),
        "ttfvt_ms": limit(draw, &[700.0, 2500.0]),
        "itl_percentile": one_of(draw, &[
            Value::Null,
            Value::Null,
            json!({ "percentile": 95.0, "ms": 14.0 }),
            json!({ "percentile": 50.0, "ms": 9.0 }),
            json!({ "percentile": 99.9, "ms": 40.0 }),
        ]),
        "e2e_ms": limit(draw, &[1500.0, 6000.0]),
    })
}

fn scenario(index: u64) -> Value {
    let key = Key { seed: 11, stream: Stream::Patience, class: 0, request: index, attempt: 0 };
    let draw = &mut keyed(key);
    let mut classes = vec![class(draw, "a")];
    if one_of(draw, &[true, false]) {
        classes.push(class(draw, "b, or not"));
    }
    json!({
        "version": 1,
        "workload": {
            "seed": index,
            "horizon_s": 12.0,
            "warmup_s": one_of(draw, &[0.0, 0.0, 3.0]),
            "classes": classes,
        },
        "fleet": { "pools": [{
            "gpu": "h100-sxm",
            "model": "llama-3.1-8b",
            "replicas": one_of(draw, &[1, 1, 2]),
            "max_num_seqs": one_of(draw, &[8, 48, 256]),
            "max_model_len": 4096,
            "num_gpu_blocks": one_of(draw, &[400, 1500, 20_000]),
            "price_per_gpu_hour": one_of(draw, &[json!(2.5), Value::Null]),
        }]},
    })
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("independent");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a writable folder");
    folder
}

#[test]
fn another_program_finds_the_same_figures() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: python3 is not there");
        return;
    }
    let folder = folder();
    for index in 0..SCENARIOS {
        let path = |what: &str| folder.join(format!("{index:03}.{what}"));
        fs::write(path("scenario.json"), scenario(index).to_string()).expect("writable");
        let run = Command::new(env!("CARGO_BIN_EXE_goodput"))
            .arg("simulate")
            .arg(path("scenario.json"))
            .arg("--requests")
            .arg(path("requests.csv"))
            .output()
            .expect("the binary runs");
        assert!(run.status.success(), "{index}: {}", String::from_utf8_lossy(&run.stdout));
        fs::write(path("report.json"), run.stdout).expect("writable");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent/recompute.py");
    let check = Command::new("python3").arg("-B").arg(script).arg(&folder).output();
    let check = check.expect("python3 runs");
    let said = String::from_utf8_lossy(&check.stdout);
    println!("{said}{}", String::from_utf8_lossy(&check.stderr));
    assert!(check.status.success(), "{said}{}", String::from_utf8_lossy(&check.stderr));
}

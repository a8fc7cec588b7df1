//! The binary, its answers and its input files.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::common::document;

/// What a run of the binary gave.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().expect("it exits by itself"),
            out: String::from_utf8(output.stdout.clone()).expect("text"),
            err: String::from_utf8(output.stderr.clone()).expect("text"),
        }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err))
    }

    pub fn problems(&self) -> Vec<Value> {
        assert_eq!(self.code, 1, "{}{}", self.out, self.err);
        let problems = self.json()["problems"].as_array().expect("a list").clone();
        for problem in &problems {
            for key in ["path", "severity", "message", "hint"] {
                assert!(problem[key].is_string(), "{problem}");
            }
        }
        problems
    }
}

pub fn goodput(args: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_goodput")).args(args).output();
    Run::of(&output.expect("the binary runs"))
}

pub fn goodput_reads(args: &[&str], input: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_goodput"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let written = child.stdin.take().expect("piped").write_all(input);
    // It may refuse its arguments without reading.
    assert!(written.map_or_else(|why| why.kind() == ErrorKind::BrokenPipe, |()| true));
    Run::of(&child.wait_with_output().expect("it ends"))
}

/// A file of this test run.
pub fn file(name: &str, contents: impl AsRef<[u8]>) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, contents).expect("a writable folder");
    path.to_str().expect("a plain path").to_owned()
}

/// A minute of two classes that lose requests in many ways.
pub fn busy_minute() -> Value {
    document(|document| {
        document["workload"]["horizon_s"] = json!(60.0);
        let chat = json!({
            "name": "chat",
            "arrivals": { "kind": "poisson", "rate_rps": 40.0 },
            "input_tokens": { "kind": "lognormal", "mean": 512.0, "p99": 2400.0 },
            "output_tokens": { "kind": "lognormal", "mean": 256.0, "p99": 1100.0 },
            "error_rate": 0.02,
            "patience": { "kind": "fixed", "s": 5.0 },
            "quality": { "state": "assumed", "pass_rate": 0.95, "by": "a test" },
            "slo": { "ttft_ms": 600.0, "tpot_ms": 22.0, "e2e_ms": 20_000.0 }
        });
        let one_word = json!({
            "name": "one, word",
            "arrivals": { "kind": "constant", "rate_rps": 5.0 },
            "input_tokens": { "kind": "empirical", "samples": [200, 900, 5000] },
            "output_tokens": { "kind": "fixed", "tokens": 1 },
            "slo": { "ttft_ms": 1000.0 }
        });
        document["workload"]["classes"] = json!([chat, one_word]);
        document["fleet"]["pools"][0]["max_num_seqs"] = json!(48);
        document["fleet"]["pools"][0]["max_model_len"] = json!(4096);
        document["fleet"]["pools"][0]["price_per_gpu_hour"] = json!(3.0);
        document["fleet"]["pools"][0]["price_source"] = json!("a test");
    })
}

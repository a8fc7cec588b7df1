//! The `goodput` binary as other programs see it: standard output, exit codes, files.

#[path = "cli/accounting.rs"]
mod accounting;
#[path = "cli/calibrate_law.rs"]
mod calibrate_law;
mod common;
#[path = "cli/diff.rs"]
mod diff;
#[path = "cli/plan.rs"]
mod plan;
#[path = "cli/program.rs"]
mod program;
#[path = "cli/replay.rs"]
mod replay;
#[path = "cli/review.rs"]
mod review;
#[path = "cli/sweep.rs"]
mod sweep;
#[path = "cli/tables.rs"]
mod tables;

use std::io::Read;
use std::process::{Command, Stdio};

use program::{busy_minute, file, goodput, goodput_reads};
use serde_json::{Value, json};

#[test]
fn every_verb_says_what_it_does_and_exits_with_zero() {
    let help = goodput(&["--help"]);
    assert_eq!(help.code, 0);
    for word in ["Examples:", "estimate", "Exit codes:", "--fail-on", "catalog presets"] {
        assert!(help.out.contains(word), "{word}");
    }
    for verb in [
        "estimate",
        "simulate",
        "plan",
        "diff",
        "sweep",
        "review",
        "calibrate",
        "replay",
        "bridge",
        "rerun",
        "lengths",
        "link",
        "catalog",
        "bench",
    ] {
        let help = goodput(&[verb, "--help"]);
        assert_eq!((help.code, help.out.contains("Usage:")), (0, true), "{verb}");
    }
}

#[test]
fn wrong_usage_exits_with_two_and_prints_nothing() {
    for args in [
        &["no-such-verb"][..],
        &["simulate"],
        &["catalog", "nothing"],
        &["simulate", "-", "--replications", "0"],
        &["estimate", "-", "--json", "--text"],
        &["--fail-on", "panic", "estimate", "-"],
    ] {
        let run = goodput(args);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{args:?}");
        assert!(!run.err.is_empty());
    }
}

#[test]
fn a_bad_document_exits_with_one_and_all_its_problems() {
    let document = common::document(|document| {
        document["fleet"]["pools"][0]["gpu"] = json!("h1000");
        document["workload"]["classes"][0]["error_rate"] = json!(7);
    });
    let run = goodput_reads(&["estimate", "-"], document.to_string().as_bytes());
    let paths: Vec<String> = run.problems().iter().map(|p| p["path"].to_string()).collect();
    assert!(paths.iter().any(|path| path.contains("gpu")), "{paths:?}");
    assert!(paths.iter().any(|path| path.contains("error_rate")), "{paths:?}");
    for input in ["", "{", "[]", "{\"version\": 99}", "no json", "\u{fffd}"] {
        for verb in ["estimate", "simulate", "plan"] {
            goodput_reads(&[verb, "-"], input.as_bytes()).problems();
        }
    }
    goodput_reads(&["estimate", "-"], b"\xff\xfe\x00binary").problems();
    goodput(&["estimate", "no-such-file.json"]).problems();
}

#[test]
fn a_link_and_its_document_give_the_same_bytes() {
    let document = file("linked.json", busy_minute().to_string());
    let link =
        goodput(&["link", "encode", &document]).json()["link"].as_str().expect("a link").to_owned();
    let url = format!("https://example.org/goodput/{link}");
    let back = goodput(&["link", "decode", &url]);
    let again = file("decoded.json", &back.out);
    for verb in ["estimate", "simulate"] {
        let by_file = goodput(&[verb, &document]);
        assert_eq!(by_file.code, 0);
        for source in [link.as_str(), &url, &again] {
            assert_eq!(goodput(&[verb, source]).out, by_file.out, "{verb} {source}");
        }
        assert_eq!(goodput_reads(&[verb, "-"], link.as_bytes()).out, by_file.out);
    }
    for broken in ["#nothing", "#s=1.abc", "https://example.org/", "#s=9.abcdefgh.xyz"] {
        goodput(&["link", "decode", broken]).problems();
        goodput(&["estimate", broken]).problems();
    }
    assert_eq!(goodput_reads(&["link", "decode", "-"], link.as_bytes()).json(), back.json());
}

#[test]
fn every_preset_can_be_estimated_and_simulated_from_its_link() {
    let presets = goodput(&["catalog", "presets"]).json();
    let presets = presets.as_array().expect("a list");
    assert!(presets.len() >= 4);
    for preset in presets {
        assert!(preset["scenario"].is_object() && preset["name"].is_string());
        let link = preset["link"].as_str().expect("a link");
        let estimate = goodput(&["estimate", link]);
        assert_eq!(estimate.code, 0, "{}", estimate.err);
        let supply = estimate.json();
        assert!(supply["required_decode_tps"].as_f64().expect("a rate") > 0.0);
        let simulated = goodput(&["simulate", link]);
        assert_eq!(simulated.code, 0, "{}", simulated.err);
        if supply["simplified"] == json!(true) {
            assert_eq!(simulated.out, estimate.out, "bare rates have no latency to simulate");
        } else {
            assert!(simulated.json()["offered"].as_u64().expect("a count") > 0);
        }
    }
}

#[test]
fn catalogues_list_what_their_names_promise() {
    let models = goodput(&["catalog", "models"]).json();
    let qwen = models.as_array().expect("a list").iter().find(|m| m["id"] == "Qwen2.5-7B");
    assert_eq!(qwen.expect("it is known")["kv_bytes_per_token"], 57_344);
    for list in ["gpus", "calibrations"] {
        let entries = goodput(&["catalog", list]).json();
        assert!(entries.as_array().expect("a list").len() > 10, "{list}");
    }
}

#[test]
fn what_does_not_fit_has_no_latency_replica_or_cost_from_any_verb() {
    let document = common::document(|document| {
        document["fleet"]["pools"][0]["model"] = json!("llama-3.1-405b");
        document["fleet"]["pools"][0]["price_per_gpu_hour"] = json!(3.0);
    });
    let path = file("huge.json", document.to_string());
    for verb in ["estimate", "simulate", "plan"] {
        let run = goodput(&[verb, &path]);
        assert_eq!(run.code, 0, "{}", run.err);
        let json = run.json();
        let keys: Vec<&String> = json.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["memory", "smallest_fitting", "verdict"], "{verb}");
        assert_eq!(
            (&json["verdict"], &json["smallest_fitting"]["gpus"]),
            (&json!("does_not_fit"), &json!(16))
        );
    }
}

#[test]
fn a_plan_names_a_count_and_what_binds() {
    let document = common::document(|document| {
        document["workload"]["horizon_s"] = json!(30.0);
        document["workload"]["classes"][0]["arrivals"]["rate_rps"] = json!(60.0);
        document["fleet"]["pools"][0]["max_num_seqs"] = json!(32);
    });
    let run = goodput_reads(&["plan", "-"], document.to_string().as_bytes());
    let plan = run.json();
    assert_eq!((run.code, &plan["answer"]["kind"]), (0, &json!("replicas")), "{}", run.err);
    assert!(plan["answer"]["replicas"].as_u64() >= plan["replicas_floor"].as_u64());
    assert_eq!(plan["binding"].as_array().expect("gains").len(), 6);
}

#[test]
fn replications_differ_in_their_seeds_and_are_summed_up() {
    let path = file("seeds.json", busy_minute().to_string());
    let one = goodput(&["simulate", &path, "--seed", "7"]).json();
    let three = goodput(&["simulate", &path, "--seed", "7", "--replications", "3"]).json();
    assert_eq!((&one["seed"], &one["replications"]), (&json!(7), &Value::Null));
    assert_eq!(one["attainment"], three["attainment"], "the report is of the first");
    let mean: f64 = ["7", "8", "9"]
        .iter()
        .map(|seed| goodput(&["simulate", &path, "--seed", seed]).json()["attainment"].as_f64())
        .map(|attainment| attainment.expect("a share") / 3.0)
        .sum();
    let summary = &three["replications"]["attainment"];
    assert!((summary["mean"].as_f64().expect("a mean") - mean).abs() < 1e-12);
    assert!(summary["standard_error"].as_f64().expect("a number") > 0.0);
}

#[test]
fn findings_decide_the_exit_code_only_where_asked() {
    // A class without limits is a warning.
    let document = common::document(|document| {
        document["workload"]["classes"][0]["slo"] = json!({});
    });
    let path = file("warned.json", document.to_string());
    let plain = goodput(&["estimate", &path]);
    assert_eq!(plain.code, 0);
    assert!(plain.err.starts_with("warning: workload.classes[0].slo"), "{}", plain.err);
    for (severity, code) in [("note", 3), ("warning", 3), ("error", 0)] {
        let run = goodput(&["estimate", &path, "--fail-on", severity]);
        assert_eq!((run.code, &run.out), (code, &plain.out), "{severity}");
    }
    let junk = file("junk.bin", [0_u8, 159, 146, 150]);
    assert_eq!(goodput(&["review", &junk]).code, 0);
    assert_eq!(goodput(&["review", &junk, "--fail-on", "error"]).code, 3);
}

/// Whoever writes an expectation down has asked: a pipeline stops without another flag.
#[test]
fn an_expectation_that_is_not_met_ends_with_3() {
    for (at_most, code, word) in [(1e6, 0, "met:"), (1e-6, 3, "NOT MET")] {
        let path = file(
            "expected.json",
            common::document(|document| {
                document["workload"]["horizon_s"] = json!(20.0);
                document["targets"] =
                    json!({ "expectations": [{ "of": "ttft_ms.p99", "at_most": at_most }] });
            })
            .to_string(),
        );
        assert_eq!(goodput(&["simulate", &path]).code, code, "{at_most}");
        let told = goodput(&["simulate", &path, "--text"]);
        assert!(told.out.contains(word), "{}", told.out);
    }
}

#[test]
fn a_file_that_cannot_be_opened_does_not_hide_the_others() {
    let good = file("good.json", review::vllm_result());
    let folder = env!("CARGO_TARGET_TMPDIR");
    let run = goodput(&["review", &good, folder, "no-such-file.json"]);
    let review = run.json();
    assert_eq!(run.code, 0, "{}", run.err);
    let files = review["files"].as_array().expect("one entry per file");
    assert_eq!(files[0]["points"].as_array().map(Vec::len), Some(1));
    for refused in &files[1..] {
        assert_eq!(refused["refused"]["kind"], "unreadable");
    }
    assert!(run.err.contains(folder) && run.err.contains("no-such-file.json"), "{}", run.err);
    assert_eq!(goodput(&["review", &good, folder, "--fail-on", "error"]).code, 3);
    assert_eq!(goodput(&["review", folder, "no-such-file.json"]).problems().len(), 2);
}

#[test]
fn declared_rates_give_a_count_by_supply_once() {
    let document = common::document(|document| {
        common::fixed(512, 2000, 100.0)(document);
        document["fleet"]["pools"][0]["step_time"] =
            json!({ "source": { "kind": "declared", "declared_output_tps": 120_000.0 } });
    });
    let path = file("declared-plan.json", document.to_string());
    let plan = goodput(&["plan", &path]).json();
    assert_eq!(plan["answer"]["kind"], "supply_only");
    assert_eq!((&plan["answer"]["replicas"], &plan["replicas_floor"]), (&json!(2), &json!(2)));
    let text = goodput(&["plan", &path, "--text"]).out;
    assert!(text.starts_with("By supply alone, at least 2 replicas (2 GPUs"), "{text}");
    assert_eq!(text.matches("declared token rates").count(), 1, "{text}");
}

/// Four L4 with Llama-3.2-3B in a multi-round benchmark (vllm-project/production-stack #425): offered
/// 4.1 req/s of 21,074 prompt tokens, computed 27,824 prompt tokens per second, 335 in flight. It was
/// read as a latency of 47.6 s; there is no such number, because the queue never stopped growing.
#[test]
fn a_measured_rate_below_the_demand_is_a_debt_and_a_floor_and_no_latency() {
    let measured_tps = 27_824.0;
    let llama_3b = json!({
        "name": "Llama-3.2-3B", "params_total_billions": 3.21, "hidden_size": 3072,
        "num_attention_heads": 24, "vocab_size": 128_256, "max_context_tokens": 131_072,
        "layer_groups": [{ "attention": "full", "layers": 28, "kv_heads": 8, "head_dim": 128 }],
    });
    let document = common::document(|document| {
        common::fixed(21_074, 100, 4.1)(document);
        document["workload"]["horizon_s"] = json!(300.0);
        let pool = &mut document["fleet"]["pools"][0];
        *pool = json!({
            "gpu": "l4", "model": llama_3b, "replicas": 4, "max_model_len": 32768,
            "step_time": {
                "source": { "kind": "declared", "declared_input_tps": measured_tps / 4.0 }
            },
        });
    });
    let path = file("four-l4.json", document.to_string());
    let estimate = goodput(&["estimate", &path]).json();
    assert_eq!(estimate["verdict"], "overloaded");
    let number = |key: &str| estimate[key].as_f64().expect("a number");
    assert!((number("required_prefill_tps") / measured_tps - 3.105).abs() < 0.001);
    assert!(estimate["ttft_ms"].is_null(), "it is a function of time");
    let growth = 4.1 - number("sustainable_rps");
    assert!((growth - 2.78).abs() < 0.005, "{growth}");
    assert!((335.0 / growth - 120.5).abs() < 0.5, "335 are reached after two minutes");
    let plan = goodput(&["plan", &path]).json();
    assert_eq!(
        (&plan["answer"]["kind"], &plan["replicas_floor"]),
        (&json!("supply_only"), &json!(13))
    );
}

#[test]
fn one_of_a_thing_is_not_several() {
    let document = common::document(|document| {
        document["workload"]["horizon_s"] = json!(30.0);
        document["workload"]["classes"][0]["arrivals"]["rate_rps"] = json!(2.0);
    });
    let path = file("one.json", document.to_string());
    for verb in ["estimate", "simulate", "plan"] {
        let text = goodput(&[verb, &path, "--text"]).out;
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.windows(2) {
            let several = ["replicas", "GPUs", "stages", "requests", "preemptions", "blocks"];
            let what = pair[1].trim_end_matches(|c: char| !c.is_alphanumeric());
            let one = pair[0].trim_start_matches('(') == "1";
            assert!(!(one && several.contains(&what)), "{} {}: {text}", pair[0], pair[1]);
        }
        assert!(verb != "plan" || text.contains("1 replica (1 GPU = 1 × TP1) holds"), "{text}");
    }
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_goodput"))
        .args(["catalog", "calibrations"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut out = child.stdout.take().expect("piped");
    out.read_exact(&mut [0; 10]).expect("it prints more than this");
    drop(out);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn text_is_for_people_and_json_for_programs() {
    let path = file("text.json", busy_minute().to_string());
    for verb in ["estimate", "simulate"] {
        let text = goodput(&[verb, &path, "--text"]);
        assert_eq!(text.code, 0);
        assert!(text.out.contains("required") && serde_json::from_str::<Value>(&text.out).is_err());
        assert!(goodput(&[verb, &path]).json().is_object(), "no terminal, so JSON");
    }
}

//! `goodput diff` as other programs see it.

use serde_json::{Value, json};

use crate::program::{busy_minute, file, goodput};

/// The busy minute and an edit of it, as files.
fn files(name: &str, edit: impl FnOnce(&mut Value)) -> (String, String) {
    let mut edited = busy_minute();
    edit(&mut edited);
    let before = file(&format!("{name}-before.json"), busy_minute().to_string());
    (before, file(&format!("{name}-after.json"), edited.to_string()))
}

fn diff(a: &str, b: &str, more: &[&str]) -> Value {
    let run = goodput(&[&["diff", a, b], more].concat());
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    run.json()
}

/// A number of a report, or the null in its place, by a path such as `ttft_ms.p95`.
fn number<'a>(report: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(report, |value, key| value.get(key))
}

#[test]
fn differences_are_those_of_two_simulations_to_the_last_digit() {
    let (a, b) = files("replicas", |document| {
        document["fleet"]["pools"][0]["replicas"] = json!(2);
    });
    let comparison = diff(&a, &b, &[]);
    let inputs = comparison["inputs"].as_array().expect("a list");
    assert_eq!(inputs.len(), 1, "{inputs:?}");
    assert_eq!(inputs[0]["b"], json!(2));
    let [of_a, of_b] = [&a, &b].map(|path| goodput(&["simulate", path]).json());
    for change in comparison["results"].as_array().expect("a list") {
        let name = change["name"].as_str().expect("a name");
        let paths = ["", "goodput.", "supply."].map(|section| format!("{section}{name}"));
        let found = paths.iter().find(|path| number(&of_a, path).is_some());
        let path = found.unwrap_or_else(|| panic!("{name} is in no report"));
        let [before, after] =
            [&of_a, &of_b].map(|report| number(report, path).and_then(Value::as_f64));
        assert_eq!((before, after), (change["a"].as_f64(), change["b"].as_f64()), "{path}");
        let delta = after.zip(before).map(|(after, before)| after - before);
        assert_eq!(change["delta"].as_f64(), delta, "{path}");
    }
}

#[test]
fn requests_are_followed_from_outcome_to_outcome_and_sum_to_the_reports() {
    let (a, b) = files("outcomes", |document| {
        document["fleet"]["pools"][0]["replicas"] = json!(2);
    });
    let comparison = diff(&a, &b, &[]);
    let moved = comparison["moved"].as_array().expect("the same requests");
    let requests = |cell: &&Value| cell["requests"].as_u64().expect("a count");
    for (side, path) in [("from", &a), ("to", &b)] {
        let report = goodput(&["simulate", path]).json();
        let outcomes = report["outcomes"].as_object().expect("counts").clone();
        for (outcome, count) in outcomes {
            let of_it = moved.iter().filter(|cell| cell[side] == json!(outcome));
            assert_eq!(
                of_it.map(|cell| requests(&cell)).sum::<u64>(),
                count.as_u64().expect("a count")
            );
        }
    }
    assert!(moved.iter().any(|cell| cell["from"] != cell["to"]), "one more replica saves some");
}

#[test]
fn one_scenario_differs_from_itself_in_nothing() {
    let (a, b) = files("same", |_| ());
    let comparison = diff(&a, &b, &["--replications", "3"]);
    assert_eq!(comparison["inputs"], json!([]));
    assert_eq!(comparison["sentence"], json!("every number is the same"));
    for change in comparison["results"].as_array().expect("a list") {
        assert_eq!(change["worsens"], json!(false), "{change}");
        assert!(change["over_seeds"]["mean"].as_f64().is_none_or(|mean| mean == 0.0), "{change}");
    }
}

#[test]
fn a_tighter_output_budget_follows_the_same_requests_and_another_rate_does_not() {
    let (a, b) = files("budget", |document| {
        document["workload"]["classes"][0]["max_output_tokens"] = json!(64);
    });
    assert!(diff(&a, &b, &[])["moved"].is_array());
    let (a, b) = files("rate", |document| {
        document["workload"]["classes"][0]["arrivals"]["rate_rps"] = json!(60.0);
    });
    assert!(diff(&a, &b, &[])["moved"].is_null());
}

#[test]
fn a_side_that_does_not_fit_is_named_and_its_inputs_are_still_compared() {
    let (a, b) = files("size", |document| {
        document["fleet"]["pools"][0]["model"] = json!("Llama-3.1-405B");
    });
    let comparison = diff(&a, &b, &[]);
    assert_eq!(comparison["unanswered"][0]["side"], json!("b"));
    assert_eq!(
        (&comparison["results"], comparison["inputs"].as_array().map(Vec::len)),
        (&json!([]), Some(1))
    );
    let twice = goodput(&["diff", "-", "-"]);
    assert_eq!((twice.code, twice.out.as_str()), (2, ""));
}

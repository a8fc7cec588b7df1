//! Lengths and what is said of them by field.

use super::*;
use crate::workload::{Arrivals, Lengths};

#[test]
fn length_rules() {
    let input = |lengths| class(|c| c.input_tokens = lengths);
    let row = |p, tokens| QuantileDoc { p, tokens };
    let recorded = |lengths: usize| {
        class(|c| {
            c.arrivals = ArrivalsDoc::trace(vec![0.0, 1.0, 2.0]);
            c.input_tokens = LengthsDoc::recorded(vec![5; lengths]);
        })
    };
    each_breaks_one_rule(vec![
        (input(LengthsDoc::Fixed { tokens: 0 }), "workload.classes[0].input_tokens.tokens", "0"),
        (
            input(LengthsDoc::lognormal(100.0, 99.0)),
            "workload.classes[0].input_tokens.p99",
            "not above the mean",
        ),
        (
            input(LengthsDoc::lognormal(100.0, 2_000.0)),
            "workload.classes[0].input_tokens.p99",
            "up to 1,496",
        ),
        (
            input(LengthsDoc::Quantiles { table: vec![row(0.5, 10.0), row(0.9, 9.0)] }),
            "workload.classes[0].input_tokens.table[1].tokens",
            "none below",
        ),
        (
            input(LengthsDoc::Empirical { samples: vec![] }),
            "workload.classes[0].input_tokens.samples",
            "no lengths",
        ),
        (
            input(LengthsDoc::recorded(vec![1])),
            "workload.classes[0].input_tokens",
            "replayed trace",
        ),
        (
            recorded(2),
            "workload.classes[0].input_tokens.tokens",
            "2 recorded lengths for 3 requests",
        ),
    ]);
    let checked = check(&recorded(3)).unwrap().scenario;
    assert_eq!(checked.classes[0].input, Lengths::Recorded(vec![5; 3]));
    assert!(matches!(checked.classes[0].arrivals, Arrivals::Trace(_)));
}

#[test]
fn lengths_that_contradict_themselves_are_refused_by_field() {
    // What a published catalogue of workloads states, and what it would have to say.
    let cases = [
        (r#"{"kind":"uniform","min":500,"max":8000,"mean":4000,"sd":2500}"#, vec!["mean", "sd"]),
        (r#"{"kind":"gamma","mean":45000,"cv":1,"sd":35000}"#, vec!["sd"]),
        (r#"{"kind":"mixture","parts":[]}"#, vec!["parts"]),
        (r#"{"kind":"lognormal","mean":512,"p99":2048,"p50":600}"#, vec!["p50"]),
        (r#"{"kind":"lognormal","mean":512,"p99":100,"min":9,"max":8}"#, vec!["p99", "max"]),
        (r#"{"kind":"pareto","min":100,"alpha":0.8}"#, vec!["alpha"]),
        (r#"{"kind":"lognormal","mean":500,"p99":2000,"max":100}"#, vec!["mean", "p99"]),
        (r#"{"kind":"lognormal","mean":500,"p99":2000,"max":1000}"#, vec!["p99"]),
        (r#"{"kind":"lognormal","mean":500,"p99":2000,"min":5000}"#, vec!["mean", "p99"]),
        (r#"{"kind":"lognormal","p5":100,"p95":4000,"min":200}"#, vec!["p5"]),
        (r#"{"kind":"gamma","mean":500,"cv":1,"max":100}"#, vec!["mean"]),
        (r#"{"kind":"gamma","mean":500,"cv":1,"min":600}"#, vec!["mean"]),
        (r#"{"kind":"pareto","min":100,"mean":500,"max":200}"#, vec!["mean"]),
        (r#"{"kind":"pareto","min":100,"p99":5000,"max":200}"#, vec!["p99"]),
        (r#"{"kind":"pareto","min":100,"alpha":2,"max":50}"#, vec!["min"]),
        (
            r#"{"kind":"mixture","parts":[{"weight":1,"tokens":{"kind":"gamma","mean":500,"cv":1,
            "max":100}}]}"#,
            vec!["parts[0].tokens.mean"],
        ),
        (
            r#"{"kind":"mixture","parts":[{"weight":1,"tokens":{"kind":"fixed","tokens":0}},
            {"weight":1,"tokens":{"kind":"mixture","parts":[]}}]}"#,
            vec!["parts[0].tokens.tokens", "parts[1].tokens.kind"],
        ),
    ];
    for (json, fields) in cases {
        let lengths: LengthsDoc = serde_json::from_str(json).unwrap();
        let paths: Vec<_> = errors(&class(|c| c.output_tokens = lengths))
            .into_iter()
            .map(|problem| problem.path)
            .collect();
        let expected = fields.iter().map(|f| format!("workload.classes[0].output_tokens.{f}"));
        assert!(paths.iter().cloned().eq(expected), "{json}: {paths:?}");
    }
}

#[test]
fn lengths_are_written_as_people_would_write_them() {
    for json in [
        r#"{"kind":"uniform","min":500,"max":8000}"#,
        r#"{"kind":"lognormal","mean":512.0,"p99":2048.0}"#,
        r#"{"kind":"lognormal","p50":415.0,"p90":834.0,"max":4096}"#,
        r#"{"kind":"lognormal","p5":100.0,"p95":4000.0}"#,
        r#"{"kind":"lognormal","mean":540.0,"sd":48600.0,"max":10000}"#,
        r#"{"kind":"lognormal","mean":540.0,"sigma":0.8}"#,
        r#"{"kind":"gamma","mean":300.0,"cv":1.0,"min":1,"max":4000}"#,
        r#"{"kind":"pareto","min":100.0,"alpha":0.8,"max":100000}"#,
        r#"{"kind":"mixture","parts":[{"weight":3.0,"tokens":{"kind":"fixed","tokens":9}},{"weight":1.0,"tokens":{"kind":"uniform","min":1,"max":2}}],"max":8}"#,
    ] {
        let lengths: LengthsDoc = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&lengths).unwrap(), json);
        assert!(check(&class(|c| c.output_tokens = lengths)).is_ok(), "{json}");
    }
}

//! What the page draws is what the program draws: the same requests, to the picosecond and the
//! token, of every kind of arrivals and of lengths. Samplers are the engine's, compiled for another
//! machine with other mathematics beneath: this is where that would show.
use goodput_tests::{Page, Result, goodput, journey};
use serde_json::{Value, json};

/// A law by its name in the document: what is compared, arrivals, and lengths of prompts.
type Law = (&'static str, Value, Value);

fn laws() -> Vec<Law> {
    let poisson = || json!({ "kind": "poisson", "rate_rps": 8.0 });
    let some = || json!({ "kind": "uniform", "min": 100, "max": 500 });
    let arrivals = [
        ("poisson", poisson()),
        ("evenly spaced", json!({ "kind": "constant", "rate_rps": 8.0 })),
        ("gamma", json!({ "kind": "gamma", "rate_rps": 8.0, "cv": 3.0 })),
        (
            "bursts",
            json!({ "kind": "bursts", "quiet_rps": 2.0, "burst_rps": 30.0, "mean_quiet_s": 4.0,
                "mean_burst_s": 1.0 }),
        ),
        (
            "sinusoid",
            json!({ "kind": "sinusoid", "min_rps": 1.0, "max_rps": 15.0, "period_s": 13.0,
                "noise": { "gamma": { "cv": 2.0 } } }),
        ),
        (
            "closed loop",
            json!({ "kind": "closed_loop", "users": 20,
                "think_time": { "kind": "exponential", "mean_s": 2.0 } }),
        ),
    ];
    let lengths = [
        ("lognormal", json!({ "kind": "lognormal", "mean": 512.0, "p99": 2400.0 })),
        ("uniform", json!({ "kind": "uniform", "min": 20, "max": 900 })),
        ("gamma lengths", json!({ "kind": "gamma", "mean": 400.0, "cv": 1.3 })),
        ("pareto", json!({ "kind": "pareto", "min": 50.0, "alpha": 1.6, "max": 6000 })),
        (
            "mixture",
            json!({ "kind": "mixture", "parts": [
                { "weight": 0.7, "tokens": { "kind": "lognormal", "mean": 90.0, "p99": 400.0 } },
                { "weight": 0.3, "tokens": { "kind": "gamma", "mean": 2000.0, "cv": 0.5 } },
            ]}),
        ),
        (
            "quantiles",
            json!({ "kind": "quantiles", "table": [
                { "p": 0.0, "tokens": 10.0 }, { "p": 0.5, "tokens": 200.0 },
                { "p": 1.0, "tokens": 4000.0 },
            ]}),
        ),
        ("empirical", json!({ "kind": "empirical", "samples": [3, 5, 80, 1300, 2100] })),
    ];
    let of_arrivals = arrivals.map(|(name, arrivals)| (name, arrivals, some()));
    let of_lengths = lengths.map(|(name, lengths)| (name, poisson(), lengths));
    of_arrivals.into_iter().chain(of_lengths).collect()
}

fn scenario(arrivals: &Value, lengths: &Value) -> Value {
    json!({
        "version": 1,
        "workload": {
            "seed": 20_261_130,
            "horizon_s": 20.0,
            "classes": [{
                "name": "drawn",
                "arrivals": arrivals,
                "input_tokens": lengths,
                "output_tokens": { "kind": "lognormal", "mean": 60.0, "p99": 300.0 },
                "pairing": { "kind": "correlated", "rank_correlation": 0.4 },
                "hidden_tokens": { "kind": "share", "share": 0.3 },
                "patience": { "kind": "lognormal", "median_s": 20.0, "p90_s": 60.0 },
                "error_rate": 0.05,
                "quality": { "state": "assumed", "pass_rate": 0.9, "by": "this test" },
                "slo": { "ttft_ms": 2000.0 },
            }],
        },
        "fleet": { "pools": [{ "gpu": "h100-sxm", "model": "llama-3.1-8b", "replicas": 1 }] },
    })
}

#[test]
fn a_browser_draws_the_requests_that_the_program_draws() {
    journey(|page| async move {
        let mut seen = Vec::new();
        for (name, arrivals, lengths) in laws() {
            let file =
                std::env::temp_dir().join(format!("goodput-draws-{}.json", std::process::id()));
            std::fs::write(&file, scenario(&arrivals, &lengths).to_string())?;
            let path = file.to_str().ok_or("a path of letters")?;
            let native = goodput::json(&["simulate", path]);
            let link = goodput::json(&["link", "encode", path]);
            std::fs::remove_file(&file)?;
            let (native, link) = (native?, link?);
            let native = native["requests_digest"].as_str().ok_or("no digest")?.to_owned();
            assert_eq!(native.len(), 16, "{name}: {native}");
            assert_eq!(in_page(&page, &link).await?, native, "{name}");
            seen.push(native);
        }
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), laws().len(), "every law draws something else");
        Ok(())
    });
}

/// The digest of what the page's worker drew.
async fn in_page(page: &Page, link: &Value) -> Result<String> {
    let link = link["link"].as_str().ok_or("no link")?;
    page.open(link.trim_start_matches('#')).await?;
    let found = page.script("return document.querySelector('main').dataset.requests").await?;
    Ok(found.as_str().unwrap_or_default().to_owned())
}

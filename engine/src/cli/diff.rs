//! `goodput diff`.

use goodput_engine::accounts::words::{plural, thousands, three_digits};
use goodput_engine::compare::{Comparison, ResultChange, Side, compare};
use goodput_engine::scenario::Scenario;
use goodput_engine::scenario::doc::ScenarioDoc;
use serde_json::Value;

use super::args::DiffArgs;
use super::input;
use super::output::{Answer, Failure, warn};
use super::text::{Page, usd};

pub fn run(args: &DiffArgs) -> Result<Answer, Failure> {
    if args.a == "-" && args.b == "-" {
        return Err(Failure::Usage("only one of the two can come from standard input".to_owned()));
    }
    let (doc_a, scenario_a, mut severities) = side(&args.a)?;
    let (doc_b, scenario_b, of_b) = side(&args.b)?;
    severities.extend(of_b);
    let comparison = compare(
        Side { doc: &doc_a, scenario: &scenario_a },
        Side { doc: &doc_b, scenario: &scenario_b },
        args.replications,
    );
    Ok(Answer::new(&comparison, in_words(&comparison))?.with_findings(severities))
}

type Checked = (ScenarioDoc, Scenario, Vec<goodput_engine::problem::Severity>);

fn side(source: &str) -> Result<Checked, Failure> {
    let (doc, warnings) = input::scenario_doc(source)?;
    warn(&warnings);
    let checked = input::checked(&doc)?;
    let severities = warnings.iter().map(|warning| warning.severity);
    let severities = severities.chain(checked.severities()).collect();
    Ok((doc, checked.scenario, severities))
}

fn in_words(comparison: &Comparison) -> String {
    let mut page = Page::default();
    page.line(&comparison.sentence);
    page.heading(&format!(
        "{} that {}",
        plural(comparison.inputs.len() as u64, "input", "inputs"),
        if comparison.inputs.len() == 1 { "differs" } else { "differ" }
    ));
    for change in &comparison.inputs {
        let written = |value: &Option<Value>| {
            value.as_ref().map_or_else(|| "(default)".to_owned(), Value::to_string)
        };
        page.row(&change.path, &format!("{} → {}", written(&change.a), written(&change.b)));
    }
    if !comparison.results.is_empty() {
        page.heading("Results: first, second, difference");
    }
    for change in &comparison.results {
        page.row(change.name, &result(change));
    }
    if let Some(moved) = &comparison.moved {
        page.heading("The same requests, from outcome to outcome");
        for cell in moved {
            let path = format!("{} → {}", cell.from.name(), cell.to.name());
            page.row(&path, &thousands(cell.requests as f64));
        }
    } else if !comparison.results.is_empty() {
        page.line("");
        page.line("The two offer different requests: they cannot be followed one by one.");
    }
    page.into_text()
}

fn result(change: &ResultChange) -> String {
    let written = if change.name.starts_with("cost.") { usd } else { three_digits };
    let digits = |value: Option<f64>| value.map_or_else(|| "never".to_owned(), written);
    let signed = |value: f64| {
        let sign = if value < 0.0 { "−" } else { "+" };
        format!("{sign}{}", written(value.abs()))
    };
    let delta =
        change.delta.filter(|delta| *delta != 0.0).map(|delta| format!(", {}", signed(delta)));
    let band = change.over_seeds.map(|band| {
        let error = written(band.standard_error);
        format!(" (over seeds {} ± {error})", signed(band.mean))
    });
    [
        format!("{}, {}", digits(change.a), digits(change.b)),
        delta.unwrap_or_default(),
        band.unwrap_or_default(),
        if change.worsens { ", worse" } else { "" }.to_owned(),
    ]
    .concat()
}

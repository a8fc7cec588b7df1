//! `goodput bridge`.

use goodput_engine::accounts::words::{plural, three_digits};
use goodput_engine::bridge::{Bridge, How, Step, bridge};

use super::args::BridgeArgs;
use super::input;
use super::output::{Answer, Failure};
use super::text::Page;

pub fn run(args: &BridgeArgs) -> Result<Answer, Failure> {
    let checked = input::scenario(&args.scenario)?;
    let file = input::one_benchmark_file(&args.file)?;
    let report = bridge(&file, args.row, &checked.scenario)?;
    Ok(Answer::new(&report, in_words(&report))?.with_findings(checked.severities()))
}

fn in_words(report: &Bridge) -> String {
    let mut page = Page::default();
    page.line(&report.sentence);
    let replicas = plural(report.replicas.into(), "replica", "replicas");
    page.heading(&format!(
        "Of {replicas:<26}     req/s     in tok/s    out tok/s     Δ out   benchmark → production"
    ));
    for step in &report.steps {
        row(&mut page, step);
    }
    if !report.alike.is_empty() {
        page.line(&format!("\nThe same in both: {}", report.alike.join(", ")));
    }
    page.heading("Supposed of the benchmark");
    for assumption in &report.assumptions {
        page.line(&format!("  {assumption}"));
    }
    page.into_text()
}

fn row(page: &mut Page, step: &Step) {
    let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), three_digits);
    let [rps, prefill, decode] = match step.rate {
        Some(rate) => [Some(rate.rps), Some(rate.prefill_tps), Some(rate.decode_tps)].map(number),
        None => [None; 3].map(number),
    };
    let change = step.effect.map_or(String::new(), |by| format!("{:+.0} %", 100.0 * by));
    let words = match step.how {
        How::Measured | How::Reproduced => step.benchmark.clone(),
        How::Sustained | How::Delivered => format!("{} → {}", step.benchmark, step.production),
    };
    let condition = &step.condition;
    page.line(&format!("  {condition:<29}{rps:>9}{prefill:>13}{decode:>13}{change:>9}   {words}"));
    if let Some(note) = &step.note {
        page.line(&format!("    {note}"));
    }
}

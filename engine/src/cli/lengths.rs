//! `goodput lengths`.

use goodput_engine::accounts::words::thousands;
use goodput_engine::scenario::{DescribedLengths, HonouredLengths};

use super::args::LengthsArgs;
use super::input;
use super::output::{Answer, Failure};
use super::text::Page;

pub fn run(args: &LengthsArgs) -> Result<Answer, Failure> {
    let is_json = args.described.trim_start().starts_with('{');
    let json = if is_json { args.described.clone() } else { input::text(&args.described)? };
    let honoured = DescribedLengths::read(&json)?.honoured()?;
    let severities: Vec<_> = honoured.warnings.iter().map(|warning| warning.severity).collect();
    Ok(Answer::new(&honoured, in_words(&honoured))?.with_findings(severities))
}

fn in_words(honoured: &HonouredLengths) -> String {
    let HonouredLengths { lengths, realised, warnings } = honoured;
    let mut page = Page::default();
    let json = serde_json::to_string(lengths).unwrap_or_default();
    page.row("for a scenario", &json);
    page.row("mean, tokens", &thousands(realised.mean_tokens));
    for (name, tokens) in
        [("p50", realised.p50_tokens), ("p90", realised.p90_tokens), ("p99", realised.p99_tokens)]
    {
        page.row(&format!("{name}, tokens"), &thousands(f64::from(tokens)));
    }
    for warning in warnings {
        page.line(&warning.to_string());
    }
    page.into_text()
}

//! The checks as a page in Markdown: a table first, then each with what was compared.

use super::check::{Check, Measure, Verdict};

/// The most rows of one check that are listed one by one.
const MOST_PAIRS: usize = 30;

/// The whole page, without its heading.
pub fn page(checks: &[Check]) -> String {
    let mut lines =
        vec!["| check | must | aim | reached | |".to_owned(), "|---|---|---|---|---|".to_owned()];
    lines.extend(checks.iter().map(row));
    for check in checks {
        lines.extend(section(check));
    }
    lines.join("\n") + "\n"
}

fn row(check: &Check) -> String {
    let asked: Vec<&Measure> = check.measures.iter().filter(|m| m.must.is_some()).collect();
    let bounds = |bound: &dyn Fn(&Measure) -> Option<f64>| {
        let bounds =
            asked.iter().filter_map(|m| Some(format!("{} {}", m.name, percent(bound(m)?))));
        bounds.collect::<Vec<_>>().join(", ")
    };
    let reached = check.measures.iter().map(|m| format!("{} {}", m.name, percent(m.reached)));
    format!(
        "| {} | {} | {} | {} | {} |",
        check.title,
        bounds(&|m| m.must),
        bounds(&|m| m.aim),
        reached.collect::<Vec<_>>().join(", "),
        if asked.is_empty() { "no bound" } else { word(check.verdict()) },
    )
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Aim => "aim reached",
        Verdict::Must => "reached",
        Verdict::Missed => "**missed**",
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn section(check: &Check) -> Vec<String> {
    let mut lines = vec![String::new(), format!("## {}", check.title), String::new()];
    lines.push(check.method.clone());
    lines.push(String::new());
    lines.push(format!("Measured by: {}.", check.source));
    lines.push(String::new());
    lines.extend(check.findings.iter().map(|finding| format!("- {finding}")));
    if check.pairs.is_empty() {
        return lines;
    }
    let mut pairs = check.pairs.clone();
    pairs.sort_by(|a, b| b.error().abs().total_cmp(&a.error().abs()));
    let left = pairs.len().saturating_sub(MOST_PAIRS);
    lines.push(String::new());
    if left > 0 {
        lines.push(format!("The {MOST_PAIRS} that are farthest off; {left} are nearer.\n"));
    }
    lines.push("| | measured | predicted | off by |".to_owned());
    lines.push("|---|---|---|---|".to_owned());
    lines.extend(pairs.iter().take(MOST_PAIRS).map(|pair| {
        let off = 100.0 * pair.error();
        let (measured, predicted) = (figure(pair.measured), figure(pair.predicted));
        format!("| {} | {measured} | {predicted} | {off:+.1} % |", pair.label)
    }));
    lines
}

/// Three or four digits, whatever the size.
fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::Pair;
    use super::*;

    fn check(reached: f64) -> Check {
        Check {
            title: "Time per output token".to_owned(),
            source: "somebody's repository".to_owned(),
            method: "Simulated.".to_owned(),
            measures: vec![Measure::bound("mean", reached, 0.06, 0.04), Measure::told("p90", 0.2)],
            pairs: (1..=40)
                .map(|i| Pair::new(format!("run {i}"), 10.0, 10.0 + f64::from(i)))
                .collect(),
            findings: vec!["small models are slow".to_owned()],
        }
    }

    #[test]
    fn the_table_says_what_was_asked_and_reached() {
        let page = page(&[check(0.05), check(0.07)]);
        let row = "| Time per output token | mean 6.0 % | mean 4.0 % | mean 5.0 %, p90 20.0 % |";
        assert!(page.contains(&format!("{row} reached |")), "{page}");
        assert!(page.contains("mean 7.0 %, p90 20.0 % | **missed** |"), "{page}");
    }

    #[test]
    fn the_farthest_runs_come_first_and_the_others_are_counted() {
        let page = page(&[check(0.05)]);
        assert!(page.contains("The 30 that are farthest off; 10 are nearer."), "{page}");
        let first = page.find("| run 40 | 10.00 | 50.00 | +400.0 % |").unwrap();
        assert!(first < page.find("| run 39 |").unwrap() && !page.contains("| run 10 |"));
    }
}

//! The same requests over other denominators and by other tools' rules, each with its formula.

use goodput_engine::accounts::accounting::{Accounting, Share};

use crate::format;

/// One way of counting.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleRow {
    /// Its id, for choosing it.
    pub id: String,
    /// Whose it is and what they call the number.
    pub name: String,
    /// Good requests as a share of those counted, as text.
    pub share: String,
    /// The same in full; `None` where nothing is counted.
    pub exact: Option<f64>,
    /// `1,120 of 3,000`.
    pub counts: String,
    /// How the number comes about.
    pub formula: String,
    /// What it leaves out that Goodput counts.
    pub leaves_out: String,
}

/// Three denominators, then the tools in the order of the engine.
pub fn rules(accounting: &Accounting) -> Vec<RuleRow> {
    let over = &accounting.denominators;
    let own = [
        (over.offered, "offered", "every request that was due", ""),
        (
            over.admitted,
            "admitted",
            "requests neither refused at the door nor too long",
            "refused requests: it rises when more are refused",
        ),
        (
            over.completed,
            "completed",
            "requests answered to the end",
            "refused, cancelled, timed-out and failed requests: it rises when more give up",
        ),
    ];
    let own = own.map(|(share, name, of, leaves_out)| {
        let formula = format!("good ÷ {name}: {of}");
        row(name, format!("Good over {name}"), share, formula, leaves_out)
    });
    // Our own rule is the first denominator.
    let tools = accounting.readings.iter().filter(|reading| reading.rule != "goodput");
    let tools = tools.map(|reading| {
        let formula = reading.formula.clone();
        row(&reading.rule, reading.tool.clone(), reading.share, formula, &reading.leaves_out)
    });
    own.into_iter().chain(tools).collect()
}

fn row(id: &str, name: String, share: Share, formula: String, leaves_out: &str) -> RuleRow {
    RuleRow {
        id: id.to_owned(),
        name,
        share: share.share.map_or_else(|| format::NONE.to_owned(), format::percent),
        exact: share.share,
        counts: format!("{} of {}", format::count(share.good), format::count(share.of)),
        formula,
        leaves_out: leaves_out.to_owned(),
    }
}

/// One way of counting beside attainment, in a sentence.
pub fn compared(rows: &[RuleRow], id: &str) -> Option<String> {
    let attainment = rows.first()?.exact?;
    let chosen = rows.iter().find(|row| row.id == id)?;
    let Some(share) = chosen.exact else {
        return Some(format!("{} counts none of these requests", chosen.name));
    };
    let points = (share - attainment) * 100.0;
    let against = if points.abs() < 0.05 {
        "the same as attainment".to_owned()
    } else {
        let more = if points > 0.0 { "above" } else { "below" };
        let points = format::fixed(points.abs(), 1);
        format!("{points} points {more} attainment, {}", format::percent(attainment))
    };
    Some(format!("{}: {} ({}), {against}", chosen.name, chosen.share, chosen.counts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodput_engine::accounts::accounting::{Denominators, Reading};

    fn share(good: u64, of: u64) -> Share {
        Share { good, of, share: (of > 0).then(|| good as f64 / of as f64) }
    }

    #[test]
    fn every_denominator_and_tool_is_compared_with_attainment() {
        let reading = |rule: &str, share| Reading {
            rule: rule.into(),
            tool: format!("tool {rule}"),
            formula: "good ÷ successes".into(),
            source: String::new(),
            leaves_out: "failed requests".into(),
            share,
            good_rps: None,
        };
        let accounting = Accounting {
            denominators: Denominators {
                offered: share(60, 100),
                admitted: share(60, 80),
                completed: share(60, 60),
            },
            readings: vec![
                reading("goodput", share(60, 100)),
                reading("vllm", share(66, 80)),
                reading("blis", share(0, 0)),
            ],
            ..Accounting::default()
        };
        let rows = rules(&accounting);
        let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, ["offered", "admitted", "completed", "vllm", "blis"]);
        for (id, words) in [
            ("offered", "60\u{202f}% (60 of 100), the same as attainment"),
            ("admitted", "75\u{202f}% (60 of 80), 15 points above attainment, 60\u{202f}%"),
            ("vllm", "82.5\u{202f}% (66 of 80), 22.5 points above"),
            ("blis", "tool blis counts none"),
        ] {
            let said = compared(&rows, id).expect(id);
            assert!(said.contains(words), "{id}: {said}");
        }
        assert_eq!(compared(&rows, "nobody"), None);
    }
}

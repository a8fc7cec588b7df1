//! What the page answers, as numbers: to compare before with after, and the page with the program.
use crate::{Page, Result, goodput};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What the page calls an outcome, and what a report does.
const OUTCOMES: [(&str, &str); 14] = [
    ("Rejected", "rejected"),
    ("Too long", "too_long"),
    ("Error", "error"),
    ("Timed out", "timed_out"),
    ("Gave up waiting", "cancelled_before_first"),
    ("Left mid-stream", "cancelled_mid_stream"),
    ("Late first token", "late_first_token"),
    ("Late and slow", "late_and_slow"),
    ("Stalled", "stalled"),
    ("Slow tokens", "slow_tokens"),
    ("Late completion", "late_completion"),
    ("Low quality", "low_quality"),
    ("Unfinished", "unfinished"),
    ("Good", "good"),
];

/// What the page calls a verdict in `data-verdict`, and what a report does.
const VERDICTS: [(&str, &str); 5] = [
    ("holds", "holds"),
    ("late", "late_but_stable"),
    ("over", "overloaded"),
    ("nofit", "does_not_fit"),
    ("unmeasured", "not_measured_here"),
];

/// Reads the numbers in full, which stand in `data-value` beside the rounded ones.
const READ: &str = "
const text = (css) => document.querySelector(css)?.innerText.trim() ?? '';
const numbers = (css, name, value) => Object.fromEntries(
  [...document.querySelectorAll(css)].map((at) => {
    const exact = value(at)?.getAttribute('data-value');
    return [name(at), exact == null ? null : Number(exact)];
  }));
const readings = (id) => numbers(
  `[data-testid=readings-${id}] div`, (at) => at.querySelector('dt').innerText,
  (at) => at.querySelector('dd'));
return {
  verdict: document.querySelector('[data-testid=verdict]').dataset.verdict,
  word: text('[data-testid=verdict] .vkind b'),
  sentence: text('#verdict'),
  why: text('[data-testid=verdict] .why'),
  tiles: numbers('.tile', (at) => at.dataset.testid.replace('tile-', ''),
    (at) => at.querySelector('.val')),
  ttft_ms: readings('ttft'),
  tpot_ms: readings('tpot'),
  outcomes: numbers('[data-testid=data-outcomes] tbody tr', (at) => at.cells[0].innerText,
    (at) => at.cells[1]),
};";

/// Everything the page says about a scenario.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Answer {
    /// `holds`, `late`, `over`, `nofit`, `unmeasured`, or `none` before there is one.
    pub verdict: String,
    /// The verdict in a word, for people.
    pub word: String,
    /// The verdict in a sentence.
    pub sentence: String,
    /// The causes below it.
    pub why: String,
    /// The headline numbers by name: `goodput` and `supply` as shares, `debt` in seconds of work,
    /// `cost` in dollars per 1,000 good requests, `replicas`; `None` where it is undefined.
    pub tiles: BTreeMap<String, Option<f64>>,
    /// Percentiles from due to first token; `None` where it is never.
    pub ttft_ms: BTreeMap<String, Option<f64>>,
    /// Percentiles of the time per output token.
    pub tpot_ms: BTreeMap<String, Option<f64>>,
    /// Requests by outcome, as the page calls them, with `Offered`; outcomes of nobody are left
    /// out. Empty where nothing is simulated.
    pub outcomes: BTreeMap<String, Option<f64>>,
}

impl Page {
    /// Reads the answer on screen; opens the table of outcomes for it.
    pub async fn answer(&self) -> Result<Answer> {
        let closed = "[data-testid=table-outcomes][aria-expanded=false]";
        let visible = format!("return !!document.querySelector('{closed}')?.offsetParent");
        if self.script(&visible).await? == true {
            self.click(closed).await?;
        }
        Ok(serde_json::from_value(self.script(READ).await?)?)
    }
}

impl Answer {
    /// Without what the search for a fleet adds to the simulation.
    #[must_use]
    pub fn simulated(&self) -> Self {
        let mut without = self.clone();
        without.tiles.remove("replicas");
        without.why.clear();
        without
    }

    /// Good requests as a share of those offered.
    pub fn attainment(&self) -> f64 {
        self.tile("goodput")
    }

    /// A headline number; NaN where it is undefined, which is like no number.
    pub fn tile(&self, name: &str) -> f64 {
        self.tiles.get(name).copied().flatten().unwrap_or(f64::NAN)
    }

    /// Requests of an outcome, as the page calls it.
    pub fn count(&self, outcome: &str) -> f64 {
        self.outcomes.get(outcome).copied().flatten().unwrap_or(0.0)
    }

    /// Fails with every number that is not, to the last bit, what the program says of a link.
    pub fn equals_program(&self, link: &str) -> Result {
        // As many windows as the page takes.
        let plan = goodput::json(&["plan", link, "--windows", "5"])?;
        self.equals(&goodput::json(&["simulate", link])?, &plan)
    }

    /// As [`Answer::equals_program`], for what `goodput simulate` and `goodput plan` said.
    pub fn equals(&self, report: &Value, plan: &Value) -> Result {
        let mut differences = Differences::default();
        differences.compare("verdict", &self.verdict, &verdict_of(&report["verdict"]["state"])?);
        let sentence = report["verdict"]["sentence"].as_str().unwrap_or_default();
        differences.compare("sentence", &self.sentence, &sentence.to_owned());
        let number = |at: &Value| at.as_f64();
        let over = |a: &Value, b: &Value| Some(a.as_f64()? / b.as_f64()?);
        let supply = &report["supply"];
        let tokens = format!("{}_tps", supply["binds"].as_str().unwrap_or_default());
        let tokens = tokens.as_str();
        // Where replicas come and go, of the window with the least to spare.
        let (had, asked) = match &supply["over_time"] {
            Value::Null => (&supply["sustainable_at_peak"], &supply["required_peak"]),
            times => (&times["tightest_sustainable"], &times["tightest_required"]),
        };
        for (name, native) in [
            ("goodput", number(&report["attainment"])),
            ("replicas", number(&plan["answer"]["replicas"])),
            ("supply", over(&had[tokens], &asked[tokens])),
            ("debt", number(&report["debt"]["peak_work_s"])),
            ("cost", number(&report["cost"]["per_good_request"]).map(|usd| usd * 1e3)),
        ] {
            differences.compare(name, &self.tiles.get(name).copied().flatten(), &native);
        }
        for (name, shown) in [("ttft_ms", &self.ttft_ms), ("tpot_ms", &self.tpot_ms)] {
            for percentile in ["p50", "p90", "p95", "p99"] {
                let native = report[name][percentile].as_f64();
                let shown =
                    shown.get(percentile).ok_or_else(|| format!("no {name} {percentile}"))?;
                differences.compare(&format!("{name} {percentile}"), shown, &native);
            }
        }
        differences.compare("offered", &Some(self.count("Offered")), &number(&report["offered"]));
        for (shown, native) in OUTCOMES {
            let native = number(&report["outcomes"][native]);
            differences.compare(shown, &Some(self.count(shown)), &native);
        }
        differences.end()
    }
}

/// What the page calls the verdict of a report.
fn verdict_of(state: &Value) -> Result<String> {
    let known = VERDICTS.iter().find(|(_, native)| *state == **native);
    let (shown, _) = known.ok_or_else(|| format!("no verdict is called {state}"))?;
    Ok((*shown).to_owned())
}

#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn compare<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, page: &T, program: &T) {
        if page != program {
            self.0.push(format!("{what}: {page:?} on the page, {program:?} in the terminal"));
        }
    }

    fn end(self) -> Result {
        if self.0.is_empty() { Ok(()) } else { Err(self.0.join("\n").into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answer(outcomes: &[(&str, f64)]) -> Answer {
        let numbers = |values: &[(&str, f64)]| {
            values.iter().map(|(name, x)| ((*name).to_owned(), Some(*x))).collect()
        };
        let percentiles = [("p50", 1.0), ("p90", 2.0), ("p95", 3.0), ("p99", 4.0)];
        Answer {
            verdict: "late".into(),
            word: "Late but stable".into(),
            sentence: "s".into(),
            why: String::new(),
            tiles: numbers(&[("goodput", 0.75), ("replicas", 2.0), ("supply", 2.0), ("debt", 5.0)]),
            ttft_ms: numbers(&percentiles),
            tpot_ms: numbers(&percentiles),
            outcomes: numbers(outcomes),
        }
    }

    #[test]
    fn every_number_that_differs_is_named() {
        let percentiles = json!({ "p50": 1.0, "p90": 2.0, "p95": 3.0, "p99": 4.0 });
        let mut outcomes: serde_json::Map<String, Value> =
            OUTCOMES.iter().map(|(_, native)| ((*native).to_owned(), json!(0))).collect();
        outcomes.insert("good".into(), json!(3));
        outcomes.insert("error".into(), json!(1));
        let report = json!({
            "verdict": { "state": "late_but_stable", "sentence": "s" },
            "attainment": 0.75, "offered": 4, "outcomes": outcomes,
            "ttft_ms": percentiles, "tpot_ms": percentiles,
            "supply": {
                "binds": "decode",
                "sustainable_at_peak": { "decode_tps": 8 },
                "required_peak": { "decode_tps": 4 },
            },
            "debt": { "peak_work_s": 5 }, "cost": null,
        });
        let plan = json!({ "answer": { "replicas": 2 } });
        let same = answer(&[("Offered", 4.0), ("Good", 3.0), ("Error", 1.0)]);
        same.equals(&report, &plan).unwrap();
        let mut other = same.clone();
        other.outcomes.insert("Error".into(), Some(2.0));
        other.ttft_ms.insert("p99".into(), None);
        let message = other.equals(&report, &plan).unwrap_err().to_string();
        assert_eq!(
            message,
            "ttft_ms p99: None on the page, Some(4.0) in the terminal\n\
             Error: Some(2.0) on the page, Some(1.0) in the terminal"
        );
    }
}
